"""What a first policy test can expect of each agent type: found by search, confirmed as `policyd test` asks it.

Source: questions 1, 2; interface, `init`, `test`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from policyd.core.admission import Facet
from policyd.core.edition import Rules
from policyd.findings import PolicydError
from policyd.usecases.changes import changes_between
from policyd.usecases.check_call import ManifestQuestion, check_manifest
from policyd.usecases.deployments import Described, Selection
from policyd.usecases.holders import Holders, holders_in
from policyd.usecases.proofs import prove_query, steps_for

LOOKED_AT = 40
"""So many kinds of calls of one agent type are looked at for one that says something."""

TELLING = ("secret", "network", "kv", "blob", "rdbms", "agent", "tool", "config", "filesystem", "env")
"""Classes in the order in which a first test should name them."""

DENIED = (
    "secret(?env) : reveal : policyd.example",
    "network() : connect : policyd.example.com:443",
    "kv(?env) : delete : policyd.example",
    "blob(?env) : delete : policyd/example",
    "env(?agent) : read : POLICYD_EXAMPLE",
    "filesystem(?agent) : write : /policyd/example",
    "secret(?app/policyd-example) : reveal : policyd.example",
)
"""Calls of nobody, for agents of which no call of another agent is refused."""

NEVER = (
    "secret(any) : reveal : any",
    "network() : connect : any",
    "kv(any) : delete : any",
    "agent(any) : invoke : any",
    "filesystem(any) : write : any",
    "environment(any) : any : any",
    "account(any) : any : any",
)
"""Queries in the order in which a first test should prove one."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What is expected of one agent type.

    Attributes:
        agent: the type.
        allow: a call that is admitted; empty where none was found.
        deny: a call that is refused; empty where none was found.
        never: a query of which no call is admitted, proved; empty where none of those tried holds.
    """

    agent: str
    allow: str = ""
    deny: str = ""
    never: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found."""
        return not (self.allow or self.deny or self.never)


def expectations(described: Described, selection: Selection, rules: Rules, budget_s: float) -> tuple[Expected, ...]:
    """One row per agent type whose card can be read, by name.

    Args:
        described: the deployment.
        selection: account and component where the manifest leaves them open.
        rules: the edition.
        budget_s: effort of each search and proof, in seconds.
    """
    holders = holders_in(described, selection)
    readable = {name: holder for name, holder in holders.by_name.items() if name not in holders.unreadable}
    asking = _Asking(described, selection, rules)
    calls = {}
    for name, holder in readable.items():
        alone = Holders(holders.source, {name: holder})
        changes = changes_between(Holders("nobody", {}), alone, rules, LOOKED_AT, steps=steps_for(budget_s))
        found = [w for change in changes.holders for w in change.started.witnesses]
        calls[name] = [w.call.rstrip() for w in sorted(found, key=lambda w: _rank(w.cls))]
    return tuple(_expected(name, calls, asking, holders, rules, budget_s) for name in sorted(readable))


def _rank(cls: str) -> int:
    return TELLING.index(cls) if cls in TELLING else len(TELLING)


@dataclass(frozen=True, slots=True)
class _Asking:
    """Asks calls of agent types as a policy test asks them."""

    described: Described
    selection: Selection
    rules: Rules

    def is_word(self, agent: str, call: str, word: Facet) -> bool:
        """Whether the answer is the one that is wanted; a call that cannot be asked has none."""
        try:
            answer = check_manifest(self.described, self.selection, ManifestQuestion(agent, call), self.rules)
        except PolicydError:
            return False
        return answer.verdict.admitted is word


def _expected(
    name: str, calls: dict[str, list[str]], asking: _Asking, holders: Holders, rules: Rules, budget_s: float
) -> Expected:
    allow = next((call for call in calls[name] if asking.is_word(name, call, Facet.YES)), "")
    deny = next((call for call in _unwanted(name, calls) if asking.is_word(name, call, Facet.NO)), "")
    alone = Holders(holders.source, {name: holders.by_name[name]})
    never = next((query for query in NEVER if _is_proved(alone, query, rules, budget_s)), "")
    return Expected(name, allow, deny, never)


def _unwanted(name: str, calls: dict[str, list[str]]) -> Iterator[str]:
    """What other agents may do and this one may not says most; then what nobody needs."""
    own = set(calls[name])
    for other in sorted(calls):
        yield from (call for call in calls[other] if call not in own and "?agent" not in call)
    yield from DENIED


def _is_proved(alone: Holders, query: str, rules: Rules, budget_s: float) -> bool:
    try:
        return prove_query(alone, query, rules, is_never=True, steps=steps_for(budget_s)).word == "holds"
    except PolicydError:
        return False
