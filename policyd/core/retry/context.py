"""Property bags: what predicates see of an operation, one builder per kind of operation.

Source: retry 2.1, 2.2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from policyd.core.retry.duration import WHITE_SPACE
from policyd.core.retry.errors import Label, RetryFormError
from policyd.core.retry.uri import masked_address, parse_uri
from policyd.core.retry.value import Boolean, Integer, PropertyValue, Text

IDEMPOTENT_METHODS = frozenset(("GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"))
_TRIMMED = "".join(WHITE_SPACE)


@dataclass(frozen=True)
class Context:
    """An immutable property bag under construction.

    Attributes:
        properties: name and value, each name once.
    """

    properties: dict[str, PropertyValue] = field(default_factory=dict)

    def with_value(self, name: str, value: PropertyValue) -> Context:
        """The bag with one more property; a value already there is replaced."""
        return Context({**self.properties, name: value})

    def with_text(self, name: str, value: str) -> Context:
        """The bag with one more text."""
        return self.with_value(name, Text(value))

    def with_pairs(self, pairs: Iterable[tuple[str, PropertyValue]]) -> Context:
        """The bag with the pairs of a guest, in order; later ones win, over `verb` and the like too."""
        return Context({**self.properties, **dict(pairs)})


def operation_bag(verb: str, noun: str) -> Context:
    """Verb and noun, and the parts of the noun where it is a URI.

    Source: retry 2.1.
    """
    return Context({"verb": Text(verb), "noun-uri": Text(noun), **uri_properties(noun)})


def uri_properties(noun: str) -> dict[str, PropertyValue]:
    """The `uri-*` properties of a noun; none where it is no URI."""
    uri = parse_uri(noun)
    if uri is None:
        return {}
    found: dict[str, PropertyValue] = {"uri-scheme": Text(uri.scheme), "uri-path": Text(uri.path)}
    if uri.host is not None:
        found["uri-host"] = Text(uri.host)
    if uri.port is not None:
        found["uri-port"] = Integer(uri.port)
    return found


def http_bag(method: str, uri: str) -> Context:
    """An outgoing HTTP request."""
    return operation_bag(method, uri)


def http_response_bag(method: str, uri: str, status: int | None, error_type: str) -> Context:
    """An HTTP request with what came of it; no status when no response did."""
    bag = http_bag(method, uri).with_text("error-type", error_type)
    return bag if status is None else bag.with_value("status-code", Integer(status))


def rpc_bag(verb: str, component_id: str, agent_name: str, function: str) -> Context:
    """A call of another agent."""
    bag = operation_bag(verb, f"worker://{component_id}/{agent_name}")
    bag = bag.with_text("target-component-id", component_id).with_text("function", function)
    agent_type = target_agent_type(agent_name)
    return bag if agent_type is None else bag.with_text("target-agent-type", agent_type)


def key_value_bag(verb: str, bucket: str) -> Context:
    """A key-value operation; no host site builds this bag."""
    return operation_bag(verb, f"kv://{bucket}")


def blob_store_bag(verb: str, container: str) -> Context:
    """A blob store operation; no host site builds this bag."""
    return operation_bag(verb, f"blobstore://{container}")


def database_bag(verb: str, address: str) -> Context:
    """A database operation.

    Raises:
        RetryFormError: RETRY127, when the address is no URL.
    """
    noun = masked_address(address)
    if noun is None:
        raise RetryFormError.at(Label.ADDRESS, (), "the database address is no URL")
    bag = operation_bag(verb, noun)
    scheme = bag.properties.get("uri-scheme")
    return bag if scheme is None else bag.with_value("db-type", scheme)


def dns_bag(hostname: str) -> Context:
    """The resolution of a host name."""
    return operation_bag("resolve", f"dns://{hostname}")


def golem_api_bag(verb: str) -> Context:
    """A call of the platform's own interface."""
    return operation_bag(verb, "golem://api")


def trap_bag(trap_type: str, function: str | None = None) -> Context:
    """A trap of the guest in `function`."""
    noun = f"wasm://{'unknown' if function is None else function}"
    return operation_bag("trap", noun).with_text("trap-type", trap_type)


def saga_bag(agent_urn: str, attempt: int) -> Context:
    """The decision about a saga after its failed attempt `attempt` (from 1).

    Source: retry 6.2.
    """
    bag = operation_bag("saga", agent_urn).with_value("attempt", Integer(attempt))
    return bag.with_text("error-kind", "operation-error")


def enriched(bag: Context, agent_type: str | None, assumes_idempotence: bool | None) -> Context:
    """The bag with what some sites add; None where the agent type is unknown or the edition has no such property.

    Source: retry 2.1.
    """
    if agent_type is not None:
        bag = bag.with_text("agent-type", agent_type)
    if assumes_idempotence is not None:
        bag = bag.with_value("is-idempotent", Boolean(assumes_idempotence))
    return bag


def target_agent_type(agent_name: str) -> str | None:
    """The type in an agent name of the form `type(…)` or `type(…)[phantom]`; None for any other form.

    >>> target_agent_type(" Cart (1) "), target_agent_type("Cart"), target_agent_type("Cart(1)[x]")
    ('Cart', None, 'Cart')

    Source: retry 2.1.
    """
    name = agent_name.strip(_TRIMMED)
    before, found, rest = name.partition("(")
    agent_type = before.strip(_TRIMMED)
    if not found or not agent_type:
        return None
    if rest.endswith(")"):
        arguments = rest[:-1]
    elif rest.endswith("]"):
        # The phantom holds no `]`, so it begins behind the one before the last.
        mark = rest.find(")[", rest.rfind("]", 0, len(rest) - 1) + 1)
        if mark < 0 or mark + 2 == len(rest) - 1:
            return None
        arguments = rest[:mark]
    else:
        return None
    return None if "\n" in arguments else agent_type
