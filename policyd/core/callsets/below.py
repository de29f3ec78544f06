"""Sets of resources that questions can name and grants cannot.

Source: interface, Files and queries.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.core.grants import ResourceKind
from policyd.core.grants.names import ascii_lower
from policyd.core.grants.resources import Resource
from policyd.core.grants.resources.exact import AnyResource, Exact
from policyd.core.grants.resources.network import ANY_PORT, NetworkResource, Ports
from policyd.core.grants.resources.segments import FilePath, SegmentPath
from policyd.core.grants.resources.stores import HttpRoute, StoreKey, TableName


@dataclass(frozen=True, slots=True)
class Everything:
    """Every resource of a call, the symbolic ones included; `any` in questions."""

    def covers(self, narrow: Resource) -> bool:
        """Always."""
        return True

    @property
    def text(self) -> str:
        """The word for it."""
        return "any"


@dataclass(frozen=True, slots=True)
class Below:
    """A resource and everything below it at any depth; `under(x)` in questions.

    Below a path or a key lies what continues it; below a host its subdomains, on the ports named or on any;
    below a store its keys; below a database its schemas and tables.

    Attributes:
        words: the leading words, for hosts from the right; `*` stands for any one word.
        label: the resource as it was written.
        ports: which ports, where these are hosts.
    """

    words: tuple[str, ...]
    label: str
    ports: Ports = ANY_PORT

    def covers(self, narrow: Resource) -> bool:
        """Whether `narrow` begins with these words.

        >>> Below(("stripe",), "stripe").covers(SegmentPath(("stripe", "live", "key"), "."))
        True
        """
        if isinstance(narrow, NetworkResource | Below) and not self.ports.covers(narrow.ports):
            return False
        words = words_of(narrow)
        if isinstance(narrow, SegmentPath) and words[:1] == ("**",):
            return False  # that is every key, of any length
        return len(words) >= len(self.words) and all(w in ("*", n) for w, n in zip(self.words, words, strict=False))

    @property
    def text(self) -> str:
        """The query text."""
        return f"under({self.label})"


def words_of(resource: Resource) -> tuple[str, ...]:
    """The words of a resource from the widest to the narrowest; empty where it has none."""
    match resource:
        case FilePath(segments) | SegmentPath(segments):
            return segments
        case NetworkResource(host):
            return tuple(reversed(ascii_lower(host).split(".")))
        case StoreKey(store, key):
            return (store, key)
        case TableName(database, schema, table):
            return (database, schema, table)
        case HttpRoute(domain, path):
            return (domain, path)
        case Below(words):
            return words
        case Exact(kind, text):
            return (kind, text)
        case _:
            return ()


def below(resource: Resource) -> Below | Everything | Resource:
    """What `under(resource)` means; a pattern stands for everything that it covers and what is below that.

    A store key whose key is `**`, a table whose last parts are stars, and a path ending in `**` stand for
    what is before them. Resources without parts are only themselves; everything and nothing stay as they are.
    """
    match resource:
        case AnyResource():
            return Everything()
        case FilePath(segments):
            return FilePath(segments if segments[-1:] == ("**",) else (*segments, "**"))
        case SegmentPath(segments):
            # Behind the first place `**` is one segment in keys.
            words = () if segments[:1] == ("**",) else tuple("*" if s == "**" else s for s in segments)
        case NetworkResource() | StoreKey() | TableName() | HttpRoute():
            words = words_of(resource)
            if isinstance(resource, StoreKey) and words[1] == "**":
                words = words[:1]
        case _:
            return resource
    while words and words[-1] == "*":
        words = words[:-1]
    if isinstance(resource, NetworkResource):
        return Below(words, resource.text, resource.ports) if words else resource
    return Below(words, resource.text) if words else Everything()


def below_prefix(kind: ResourceKind, text: str) -> Below | None:
    """What `under(text)` means where `text` names only the leading parts of a resource, else None.

    A bucket or container, a database, a database and a schema: no grant can be written for these alone.

    >>> below_prefix(ResourceKind.TABLE, "shop.public").words
    ('shop', 'public')
    """
    parts = tuple(text.split("."))
    most = {ResourceKind.STORE_KEY: 1, ResourceKind.TABLE: 2}.get(kind, 0)
    return Below(parts, text) if len(parts) <= most and all(parts) and parts[-1] != "*" else None
