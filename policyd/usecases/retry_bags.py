"""What a site shows of an operation, from what a user knows of it.

Source: retry 2.1, 2.3; interface, Flags (`--prop`, `--site`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from policyd.core.edition import Rules
from policyd.core.retry import (
    SITES,
    Boolean,
    Integer,
    Noun,
    PropertyType,
    PropertyValue,
    Site,
    Text,
    property_named,
    site_named,
)
from policyd.core.retry.context import target_agent_type, uri_properties
from policyd.core.retry.value import parse_i64
from policyd.findings import InputError, nearest
from policyd.syntax.mistakes import shown

_TAGS = ("int", "text", "bool")


def property_of(text: str) -> tuple[str, PropertyValue]:
    """A property as `--prop` gives it: `name=value` typed by the catalogue, or `name=int:503` and the like.

    >>> property_of("status-code=503"), property_of("x=bool:true")
    (('status-code', Integer(value=503)), ('x', Boolean(value=True)))

    Raises:
        InputError: where it is none.

    Source: interface, Flags.
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise _refused(text, "write `name=value`, e.g. `status-code=503`")
    tag, colon, rest = value.partition(":")
    if colon and tag in _TAGS:
        return name, _typed(text, tag, rest)
    known = property_named(name)
    if known is None or known.type is PropertyType.TEXT:
        return name, Text(value)
    return name, _typed(text, "int" if known.type is PropertyType.INTEGER else "bool", value)


def _typed(text: str, tag: str, value: str) -> PropertyValue:
    if tag == "text":
        return Text(value)
    if tag == "bool":
        if value not in ("true", "false"):
            raise _refused(text, "a boolean is `true` or `false`")
        return Boolean(value == "true")
    number = parse_i64(value)
    if number is None:
        raise _refused(text, "an integer of 64 bits is wanted; a text is written `name=text:…`")
    return Integer(number)


def properties_given(texts: Sequence[str]) -> dict[str, PropertyValue]:
    """All `--prop` in order; a later one of the same name counts.

    Raises:
        InputError: where one is none.
    """
    return dict(property_of(text) for text in texts)


def _refused(text: str, help: str) -> InputError:
    return InputError.of("MANIF091", f"{shown(text)} is no property", None, help)


def site_of(slug: str) -> Site:
    """The site of a slug.

    Raises:
        InputError: for an unknown one.
    """
    site = site_named(slug)
    if site is None:
        near = nearest(slug, [s.slug for s in SITES])
        help = f"did you mean `{near}`?" if near else "see `policyd retry sites`"
        raise InputError.of("MANIF091", f"unknown site {shown(slug)}", None, help)
    return site


@dataclass(frozen=True, slots=True)
class SiteBag:
    """The properties of one operation at a site.

    Attributes:
        site: the place.
        bag: what is known of it.
        open: what the site supplies and is not known.
        notes: what was added, left out or contradicts.
    """

    site: Site
    bag: Mapping[str, PropertyValue]
    open: frozenset[str]
    notes: tuple[str, ...]


def bag_at(site: Site, given: Mapping[str, PropertyValue], rules: Rules) -> SiteBag:
    """What the site shows where the user gives some of it.

    What follows from the noun and what the site always says are added. What the site never supplies is left out,
    except at the guest's own call, where every pair of the guest counts.
    """
    notes: list[str] = []
    bag = dict(given)
    supplied = site.always_present(rules)
    possible = supplied | site.sometimes_present()
    if site.noun is not Noun.GUEST:
        for name in sorted(bag.keys() - possible):
            del bag[name]
            notes.append(f"`{name}` is not supplied at this site and was left out")
    for name, value in _fixed(site, supplied).items():
        if name in bag and bag[name] != value:
            notes.append(f"`{name}` is always `{value.value}` at this site")
        bag[name] = value
    derived = _derived(site, bag)
    for name, value in derived.items():
        if name in bag and bag[name] != value and site.noun is not Noun.GUEST:
            notes.append(f"`{name}` follows from the noun: `{value.value}`")
        if not (site.noun is Noun.GUEST and name in given):
            bag[name] = value
    unknown = possible if "noun-uri" not in bag else supplied
    return SiteBag(site, bag, frozenset(unknown - bag.keys()), tuple(notes))


def _fixed(site: Site, supplied: frozenset[str]) -> dict[str, PropertyValue]:
    found: dict[str, PropertyValue] = {}
    if site.error_type:
        found["error-type"] = Text(site.error_type)
    if len(site.verbs) == 1:
        found["verb"] = Text(site.verbs[0])
    if "error-kind" in supplied:
        found["error-kind"] = Text("operation-error")
    if site.noun is Noun.GOLEM_API:
        found["noun-uri"] = Text("golem://api")
    return found


def _derived(site: Site, bag: Mapping[str, PropertyValue]) -> dict[str, PropertyValue]:
    noun = bag.get("noun-uri")
    if not isinstance(noun, Text):
        return {}
    found = uri_properties(noun.value)
    if site.noun is Noun.DATABASE and "uri-scheme" in found:
        found["db-type"] = found["uri-scheme"]
    if site.noun is Noun.RPC:
        _, _, rest = noun.value.removeprefix("worker://").partition("/")
        agent_type = target_agent_type(rest)
        if agent_type is not None:
            found["target-agent-type"] = Text(agent_type)
    return found
