"""The places that ask for a retry decision: what they show to predicates, and how they select.

Source: retry 2.3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from policyd.core.edition import Rules
from policyd.core.retry.catalogue import property_named
from policyd.core.retry.resolve import SiteResolver


class Noun(Enum):
    """What the verb and the noun of a site's bag come from."""

    NONE = "none"
    HTTP = "http"
    DNS = "dns"
    RPC = "rpc"
    GOLEM_API = "golem-api"
    DATABASE = "rdbms"
    TRAP = "trap"
    GUEST = "custom"
    SAGA = "saga"


class Idempotence(Enum):
    """What `is-idempotent` says at a site."""

    ABSENT = "absent"
    FLAG = "the worker's flag"
    FLAG_OR_METHOD = "the worker's flag, or the method"


@dataclass(frozen=True, slots=True)
class Site:
    """One step of one row of the site table.

    Attributes:
        slug: as users name it.
        number: the row of retry 2.3.
        title: a few words.
        noun: where verb and noun come from.
        resolver: how it selects.
        error_type: the value of `error-type`; empty where it is absent.
        has_status: whether `status-code` is present.
        enriched: whether `agent-type` is added.
        idempotence: what `is-idempotent` says; absent whatever it is under switch `is_idempotent_property=absent`.
        verbs: the verbs that occur; empty where any may.
        otherwise: what follows when no rule is selected.
        follows: the slug of the first step, for a second one.
        in_function: whether a wait takes place inside the call.
        switch: the edition's switch under which the site asks nothing, empty where none.
    """

    slug: str
    number: int
    title: str
    noun: Noun
    resolver: SiteResolver
    error_type: str = "transient"
    has_status: bool = False
    enriched: bool = False
    idempotence: Idempotence = Idempotence.ABSENT
    verbs: tuple[str, ...] = ()
    otherwise: str = "the failure goes to the guest"
    follows: str = ""
    in_function: bool = False
    switch: str = field(default="")

    def is_asked(self, rules: Rules) -> bool:
        """Whether the site asks for decisions under `rules`."""
        if self.noun is Noun.SAGA:
            return rules.is_next("saga")
        return not (self.switch and rules.is_next(self.switch))

    def always_present(self, rules: Rules) -> frozenset[str]:
        """The properties that every bag of this site has under `rules`.

        Source: retry 2.3, 8.1.
        """
        names: set[str] = set()
        if self.noun is not Noun.NONE:
            names |= {"verb", "noun-uri"}
        if self.noun in _ALWAYS_A_URI:
            names |= {"uri-scheme", "uri-path"}
        names |= _OF_NOUN.get(self.noun, frozenset())
        names |= {"error-type"} if self.error_type else set()
        names |= {"status-code"} if self.has_status else set()
        names |= {"agent-type"} if self.enriched else set()
        idempotent = property_named("is-idempotent")
        assert idempotent is not None
        if (self.idempotence is not Idempotence.ABSENT or self.enriched) and idempotent.is_supplied(rules):
            names.add("is-idempotent")
        return frozenset(names)

    def sometimes_present(self) -> frozenset[str]:
        """The properties that a bag of this site may have besides.

        At the guest's own call any other name may be among them.
        """
        return _MAY_HAVE.get(self.noun, frozenset())


_URI = frozenset(("uri-scheme", "uri-host", "uri-port", "uri-path"))
_ALWAYS_A_URI = frozenset((Noun.GOLEM_API, Noun.SAGA))
_OF_NOUN: dict[Noun, frozenset[str]] = {
    Noun.RPC: frozenset(("function", "target-component-id")),
    Noun.TRAP: frozenset(("trap-type",)),
    Noun.GOLEM_API: frozenset(("uri-host",)),
    Noun.SAGA: frozenset(("attempt", "error-kind")),
}
_MAY_HAVE: dict[Noun, frozenset[str]] = {
    Noun.HTTP: _URI,
    Noun.DNS: _URI,
    Noun.RPC: _URI | {"target-agent-type"},
    Noun.DATABASE: _URI | {"db-type"},
    Noun.TRAP: _URI,
    Noun.GUEST: _URI,
}
_S, _A = SiteResolver.STRICT, SiteResolver.APPLICABLE
_FLAG, _EITHER = Idempotence.FLAG, Idempotence.FLAG_OR_METHOD
_EXPOSED, _RECORDED, _FAILS = "the response is exposed to the guest", "the failure is recorded", "the agent fails"
_RPC_VERBS = ("invoke", "invoke-and-await")
_DATABASE_VERBS = ("execute", "query", "query-stream", "stream-get-columns", "stream-get-next")
_GOLEM_VERBS = ("update-agent", "fork-agent", "revert-agent", "resolve-component-id", "resolve-agent-id-strict", "fork")

SITES: tuple[Site, ...] = (
    Site("http-send-p2", 1, "P2 HTTP, transport retry in the background", Noun.HTTP, _S, enriched=True,
         idempotence=_FLAG, otherwise="the transport error goes to the guest", in_function=True),
    Site("http-send-trap-p2", 2, "P2 HTTP, transport retry handed over to a trap", Noun.HTTP, _A, enriched=True,
         idempotence=_FLAG),
    Site("http-get-p2", 3, "P2 HTTP, transport failure at `get`", Noun.NONE, _A),
    Site("http-request-body-p2", 4, "P2 HTTP, writing the request body", Noun.HTTP, _S, otherwise=_RECORDED,
         in_function=True),
    Site("http-request-body-trap-p2", 4, "P2 HTTP, writing the request body, second step", Noun.NONE, _A,
         otherwise=_RECORDED, follows="http-request-body-p2"),
    Site("http-response-body-p2", 5, "P2 HTTP, reading the response body", Noun.HTTP, _S, otherwise=_RECORDED,
         in_function=True),
    Site("http-response-body-trap-p2", 5, "P2 HTTP, reading the response body, second step", Noun.NONE, _A,
         otherwise=_RECORDED, follows="http-response-body-p2"),
    Site("http-status-p2", 6, "P2 HTTP, response status", Noun.HTTP, SiteResolver.STATUS, "http-status",
         has_status=True, enriched=True, idempotence=_EITHER, otherwise=_EXPOSED, in_function=True),
    Site("http-status-trap-p2", 7, "P2 HTTP, response status handed over to a trap", Noun.HTTP, _A, "http-status",
         has_status=True, enriched=True, idempotence=_FLAG, otherwise=_EXPOSED, follows="http-status-p2"),
    Site("http-send-p3", 8, "P3 HTTP, transport failure", Noun.HTTP, _S, idempotence=_EITHER, in_function=True),
    Site("http-send-trap-p3", 8, "P3 HTTP, transport failure, second step", Noun.HTTP, _A, idempotence=_EITHER,
         follows="http-send-p3"),
    Site("http-status-p3", 9, "P3 HTTP, response status", Noun.HTTP, SiteResolver.STATUS, "http-status",
         has_status=True, idempotence=_EITHER, otherwise=_EXPOSED, in_function=True),
    Site("http-status-atomic-p3", 10, "P3 HTTP, response status in an atomic region", Noun.HTTP, _A,
         has_status=True, enriched=True, idempotence=_FLAG, otherwise=_EXPOSED, follows="http-status-p3"),
    Site("http-response-body-p3", 11, "P3 HTTP, response body", Noun.HTTP, _S, idempotence=_EITHER, in_function=True),
    Site("http-response-body-trap-p3", 11, "P3 HTTP, response body, second step", Noun.HTTP, _A, enriched=True,
         idempotence=_EITHER, follows="http-response-body-p3"),
    Site("dns-p3", 12, "P3 DNS", Noun.DNS, _A, enriched=True, idempotence=_FLAG, verbs=("resolve",)),
    Site("host-call", 13, "key-value, blob store, secrets, streams and other calls inside a function", Noun.NONE, _S,
         otherwise=_RECORDED, in_function=True),
    Site("host-call-trap", 13, "the same calls where they are not eligible inside a function", Noun.NONE, _A,
         otherwise=_RECORDED),
    Site("rpc", 14, "RPC awaited in the call", Noun.RPC, _S, verbs=_RPC_VERBS, otherwise=_RECORDED, in_function=True),
    Site("rpc-trap", 14, "RPC awaited in the call, not eligible inside a function", Noun.RPC, _A, verbs=_RPC_VERBS,
         otherwise=_RECORDED),
    Site("rpc-async", 15, "asynchronous RPC", Noun.RPC, _S, enriched=True, idempotence=_FLAG,
         verbs=("invoke-and-await",), in_function=True),
    Site("golem-api", 16, "calls of the platform's interface", Noun.GOLEM_API, _S, verbs=_GOLEM_VERBS,
         otherwise=_RECORDED, in_function=True),
    Site("golem-api-trap", 16, "calls of the platform's interface, not eligible inside a function", Noun.GOLEM_API, _A,
         verbs=_GOLEM_VERBS, otherwise=_RECORDED),
    Site("rdbms", 17, "database, execute and query on a connection", Noun.DATABASE, _S, enriched=True,
         idempotence=_FLAG, verbs=("execute", "query"), otherwise=_RECORDED, in_function=True),
    Site("rdbms-trap", 17, "database, streams and transactions", Noun.DATABASE, _A, enriched=True, idempotence=_FLAG,
         verbs=_DATABASE_VERBS, otherwise=_RECORDED),
    Site("rdbms-no-pool", 18, "database without a pool", Noun.NONE, _A, otherwise=_RECORDED),
    Site("trap", 19, "trap of the guest", Noun.TRAP, _A, "", enriched=True, idempotence=_FLAG, verbs=("trap",),
         otherwise=_FAILS, switch="trap_retry"),
    Site("guest-resolve", 20, "the guest's own `resolve-retry-policy`", Noun.GUEST, SiteResolver.GUEST, "",
         otherwise="the guest gets no policy"),
    Site("saga", 21, "saga decision", Noun.SAGA, SiteResolver.SAGA, "", verbs=("saga",),
         otherwise="the configured default decides"),
)  # fmt: skip
"""The rows of retry 2.3 in its order, one entry per step that selects in its own way."""

_BY_SLUG = {site.slug: site for site in SITES}


def site_named(slug: str) -> Site | None:
    """The site of a slug; None for an unknown one."""
    return _BY_SLUG.get(slug)


REACHABLE_TRAP_TYPES = ("unknown", "transient-error", "deterministic-trap")
"""The values of `trap-type` that are ever put to a policy.

Source: retry 2.2.
"""
