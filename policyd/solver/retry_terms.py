"""Bags of a site and predicates over them as terms: what is true, false, missing, or fails to compare.

The domain of the terms holds every bag that the site can have, and some that it cannot: the parts of a noun are only
loosely tied to it. That nothing satisfies a condition is therefore proved; what satisfies one is replayed.

Source: retry 1.4, 3.3, 8.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, assert_never

import z3

from policyd.core.edition import Rules
from policyd.core.retry.catalogue import PropertyType, property_named
from policyd.core.retry.cells import NOUN_NAMES
from policyd.core.retry.context import IDEMPOTENT_METHODS
from policyd.core.retry.evaluate import evaluate_strict
from policyd.core.retry.predicate import (
    And,
    Comparison,
    Constant,
    Not,
    Or,
    Predicate,
    PropCompare,
    PropExists,
    PropIn,
    PropText,
    TextTest,
)
from policyd.core.retry.representatives import Leaf
from policyd.core.retry.sites import REACHABLE_TRAP_TYPES, Idempotence, Noun, Site
from policyd.core.retry.value import I64_MAX, I64_MIN, Boolean, Integer, PropertyValue, Text
from policyd.solver.retry_globs import glob_regex, plain_parts
from policyd.solver.retry_texts import text_value

MAX_ENUMERATED = 66_000
"""Integer domains up to this size are compared with texts value by value."""

MAX_LARGE_ENUMERATIONS = 4
"""So many tests of one question are compared over more than `LARGE` values; others can come out in any way."""

LARGE = 2_000

_RANGES = {"status-code": (100, 999), "uri-port": (0, 65_535), "attempt": (1, I64_MAX)}

_NEVER = {
    Noun.SAGA: ("uri-host", "uri-port"),
    Noun.RPC: ("uri-port",),
    Noun.TRAP: ("uri-port",),
    Noun.GOLEM_API: ("uri-port",),
}
"""Properties that no noun of a kind has, whatever it is about."""


class Sees(NamedTuple):
    """What a predicate comes to: exactly one of four."""

    true: z3.BoolRef
    false: z3.BoolRef
    missing: z3.BoolRef
    error: z3.BoolRef


@dataclass(frozen=True, slots=True)
class PropertyTerms:
    """One property: whether it is there, and its value.

    Attributes:
        type: of the value.
        present: whether the bag has it.
        value: a constant of the sort of the type.
    """

    type: PropertyType
    present: z3.BoolRef
    value: z3.ExprRef


@dataclass
class BagTerms:
    """The bags of a site.

    Attributes:
        site: the place.
        rules: the edition.
        context: of the question.
        domain: what every bag satisfies.
        is_exact: whether every test has its exact meaning; else some can come out in any way.
        notes: what the domain leaves out.
    """

    site: Site
    rules: Rules
    context: z3.Context
    domain: list[z3.BoolRef] = field(default_factory=list)
    is_exact: bool = True
    notes: set[str] = field(default_factory=set)
    properties: dict[str, PropertyTerms] = field(default_factory=dict)
    _leaves: dict[Leaf, Sees] = field(default_factory=dict)
    _enumerated: int = 0

    @classmethod
    def of(cls, site: Site, rules: Rules, names: Iterable[str], context: z3.Context) -> BagTerms:
        """Terms for the properties `names`; those that the site never has are missing."""
        terms = cls(site, rules, context)
        always, sometimes = site.always_present(rules), site.sometimes_present()
        wanted = set(names) | ({"verb"} if "is-idempotent" in names else set())
        if wanted & NOUN_NAMES:
            wanted |= {"noun-uri", "uri-scheme"}
        for name in sorted(wanted):
            known = property_named(name)
            if known is None or name not in always | sometimes:
                continue
            terms.properties[name] = terms._property(name, known.type, is_always=name in always)
        terms.domain += terms._domain()
        return terms

    def _property(self, name: str, kind: PropertyType, *, is_always: bool) -> PropertyTerms:
        present = z3.BoolVal(True, self.context) if is_always else z3.Bool(f"{name}?", self.context)
        match kind:
            case PropertyType.TEXT:
                value: z3.ExprRef = z3.String(name, self.context)
            case PropertyType.INTEGER:
                value = z3.Int(name, self.context)
            case PropertyType.BOOLEAN:
                value = z3.Bool(name, self.context)
            case _:
                assert_never(kind)
        return PropertyTerms(kind, present, value)

    # The domain.

    def _text(self, text: str) -> z3.SeqRef:
        return text_value(text, self.context)

    def _one_of(self, name: str, texts: Iterable[str]) -> z3.BoolRef:
        value = self.properties[name].value
        return self._any(value == self._text(text) for text in texts)

    def _any(self, terms: Iterable[z3.BoolRef]) -> z3.BoolRef:
        listed = list(terms)
        return z3.Or(*listed) if listed else z3.BoolVal(False, self.context)

    def _domain(self) -> Iterator[z3.BoolRef]:
        """What every bag satisfies.

        Source: retry 8.1.
        """
        for name, (low, high) in _RANGES.items():
            if name in self.properties:
                value = self.properties[name].value
                yield z3.And(value >= low, value <= high)
        if "error-type" in self.properties:
            yield self._one_of("error-type", [self.site.error_type])
        if "error-kind" in self.properties:
            yield self._one_of("error-kind", ["operation-error"])
        if "trap-type" in self.properties:
            yield self._one_of("trap-type", REACHABLE_TRAP_TYPES)
        yield from self._verb_domain()
        yield from self._noun_domain()

    def _verb_domain(self) -> Iterator[z3.BoolRef]:
        if "verb" not in self.properties:
            return
        verb = self.properties["verb"].value
        if self.site.verbs:
            yield self._one_of("verb", self.site.verbs)
        elif self.site.noun is Noun.HTTP:
            letters = [z3.Range(self._text(a), self._text(b), self.context) for a, b in ("AZ", "09")]
            letters += [z3.Re(self._text(c), self.context) for c in "!#$%&'*+-.^_`|~"]
            yield z3.InRe(verb, z3.Plus(z3.Union(*letters)))
        if "is-idempotent" in self.properties and self.site.idempotence is Idempotence.FLAG_OR_METHOD:
            yield z3.Implies(self._one_of("verb", sorted(IDEMPOTENT_METHODS)), self.properties["is-idempotent"].value)

    def _noun_domain(self) -> Iterator[z3.BoolRef]:
        if "noun-uri" not in self.properties:
            return
        noun = self.properties["noun-uri"].value
        heads = {Noun.DNS: "dns://", Noun.RPC: "worker://", Noun.TRAP: "wasm://", Noun.SAGA: "urn:worker:"}
        if self.site.noun in heads:
            yield z3.PrefixOf(self._text(heads[self.site.noun]), noun)
        if self.site.noun is Noun.GOLEM_API:
            yield noun == self._text("golem://api")
            if "uri-host" in self.properties:
                yield self.properties["uri-host"].value == self._text("api")
            if "uri-path" in self.properties:
                yield self.properties["uri-path"].value == self._text("")
        scheme = {Noun.DNS: "dns", Noun.RPC: "worker", Noun.TRAP: "wasm", Noun.SAGA: "urn", Noun.GOLEM_API: "golem"}
        if "uri-scheme" in self.properties:
            if self.site.noun is Noun.HTTP:
                yield self._one_of("uri-scheme", ("http", "https"))
                yield self.properties["uri-scheme"].present
            elif self.site.noun in scheme:
                yield self._one_of("uri-scheme", [scheme[self.site.noun]])
        if self.site.noun is Noun.HTTP:
            yield from self._http_domain()
        if self.site.noun is Noun.SAGA and "uri-path" in self.properties:
            yield z3.PrefixOf(self._text("worker:"), self.properties["uri-path"].value)
        for name in _NEVER.get(self.site.noun, ()):
            if name in self.properties:
                yield z3.Not(self.properties[name].present)
        if self.site.noun is Noun.DATABASE and "db-type" in self.properties:
            yield self.properties["db-type"].present == self.properties["uri-scheme"].present
            yield self.properties["db-type"].value == self.properties["uri-scheme"].value
        if self.site.noun in (Noun.RPC, Noun.DATABASE) and "uri-scheme" in self.properties:
            yield self.properties["uri-scheme"].present
        if self.site.noun in (Noun.DATABASE, Noun.GUEST) and "uri-scheme" in self.properties:
            letters, digits = (z3.Range(self._text(a), self._text(b), self.context) for a, b in ("az", "09"))
            marks = (z3.Re(self._text(c), self.context) for c in "+-.")
            scheme_text = z3.Concat(letters, z3.Star(z3.Union(letters, digits, *marks)))
            yield z3.InRe(self.properties["uri-scheme"].value, scheme_text)

    def _http_domain(self) -> Iterator[z3.BoolRef]:
        properties = self.properties
        if "uri-host" in properties:
            host = properties["uri-host"].value
            yield properties["uri-host"].present
            # Colons and brackets stand in addresses of version 6.
            yield z3.InRe(host, z3.Plus(z3.Union(*self._ranges_without("ABCDEFGHIJKLMNOPQRSTUVWXYZ/?#@\\ "))))
        if "uri-path" in properties:
            yield properties["uri-path"].present
            yield z3.PrefixOf(self._text("/"), properties["uri-path"].value)
        if "uri-port" in properties:
            port, scheme = properties["uri-port"], properties["uri-scheme"].value
            for name, number in (("http", 80), ("https", 443)):
                yield z3.Implies(z3.And(port.present, scheme == self._text(name)), port.value != number)

    def _ranges_without(self, excluded: str) -> Iterator[z3.ReRef]:
        """The classes of all characters but some."""
        low = 0
        for end in (*sorted(map(ord, excluded)), 0x30000):
            if low < end:
                yield z3.Range(self._text(chr(low)), self._text(chr(end - 1)), self.context)
            low = end + 1

    # Predicates.

    def strict(self, predicate: Predicate) -> Sees:
        """What a strict evaluation comes to.

        Source: retry 3.3.
        """
        match predicate:
            case And(left, right):
                a, b = self.strict(left), self.strict(right)
                return Sees(
                    z3.And(a.true, b.true),
                    z3.Or(a.false, z3.And(a.true, b.false)),
                    z3.Or(a.missing, z3.And(a.true, b.missing)),
                    z3.Or(a.error, z3.And(a.true, b.error)),
                )
            case Or(left, right):
                a, b = self.strict(left), self.strict(right)
                return Sees(
                    z3.Or(a.true, z3.And(a.false, b.true)),
                    z3.And(a.false, b.false),
                    z3.Or(a.missing, z3.And(a.false, b.missing)),
                    z3.Or(a.error, z3.And(a.false, b.error)),
                )
            case Not(inner):
                a = self.strict(inner)
                return Sees(a.false, a.true, a.missing, a.error)
            case Constant(value):
                return self._plain(z3.BoolVal(value, self.context))
            case _:
                return self.leaf(predicate)

    def lenient(self, predicate: Predicate) -> Sees:
        """What a lenient evaluation comes to.

        Source: retry 3.3.
        """
        match predicate:
            case And(left, right) | Or(left, right):
                a, b = self.lenient(left), self.lenient(right)
                error = z3.Or(a.error, b.error)
                both = z3.And(a.true, b.true) if isinstance(predicate, And) else z3.Or(a.true, b.true)
                true = z3.And(both, z3.Not(error))
                missing = z3.And(z3.Or(a.missing, b.missing), z3.Not(error), z3.Not(true))
                return Sees(true, z3.Not(z3.Or(true, missing, error)), missing, error)
            case Not(inner):
                a = self.lenient(inner)
                return Sees(a.false, a.true, a.missing, a.error)
            case _:
                return self.strict(predicate)

    def _plain(self, holds: z3.BoolRef) -> Sees:
        never = z3.BoolVal(False, self.context)
        return Sees(holds, z3.Not(holds), never, never)

    def leaf(self, leaf: Leaf) -> Sees:
        """What one test comes to."""
        known = self._leaves.get(leaf)
        if known is None:
            known = self._leaves[leaf] = self._leaf(leaf)
        return known

    def _leaf(self, leaf: Leaf) -> Sees:
        terms = self.properties.get(leaf.property)
        true, never = z3.BoolVal(True, self.context), z3.BoolVal(False, self.context)
        if terms is None:
            return self._plain(never) if isinstance(leaf, PropExists) else Sees(never, never, true, never)
        match leaf:
            case PropExists():
                return self._plain(terms.present)
            case PropCompare(comparison, _, value):
                holds, fails = self._compared(terms, leaf.property, comparison, value)
            case PropIn(_, values):
                each = [self._compared(terms, leaf.property, Comparison.EQ, v) for v in values]
                holds = self._any(z3.And(h, z3.Not(f)) for h, f in each)
                fails = z3.And(self._any(f for _, f in each), z3.Not(holds))
            case PropText(test, _, operand):
                holds, fails = self._tested(terms, leaf.property, test, operand)
            case _:
                assert_never(leaf)
        there = terms.present
        return Sees(
            z3.And(there, holds, z3.Not(fails)),
            z3.And(there, z3.Not(holds), z3.Not(fails)),
            z3.Not(there),
            z3.And(there, fails),
        )

    def _compared(
        self, terms: PropertyTerms, name: str, comparison: Comparison, expected: PropertyValue
    ) -> tuple[z3.BoolRef, z3.BoolRef]:
        """Whether a comparison holds, and whether it fails.

        Source: retry 1.4, the table of coercions.
        """
        never, always = z3.BoolVal(False, self.context), z3.BoolVal(True, self.context)
        value = terms.value
        match terms.type, expected:
            case PropertyType.TEXT, Text(text):
                return self._text_order(value, comparison, self._text(text)), never
            case PropertyType.TEXT, Integer(number):
                return self._numeral(value, comparison, number)
            case PropertyType.INTEGER, Integer(number):
                return _order(value, comparison, number), never
            case PropertyType.INTEGER, Text(text):
                return self._by_text(PropCompare(comparison, name, Text(text)), value), never
            case PropertyType.BOOLEAN, Boolean(wanted):
                # INVARIANT: false stands below true.
                one, two = z3.If(value, z3.IntVal(1, self.context), z3.IntVal(0, self.context)), int(wanted)
                return _order(one, comparison, two), never
            case _:
                return never, always

    def _text_order(self, value: z3.SeqRef, comparison: Comparison, text: z3.SeqRef) -> z3.BoolRef:
        # Order by code points is that of the bytes of UTF-8.
        match comparison:
            case Comparison.EQ:
                return value == text
            case Comparison.NEQ:
                return value != text
            case Comparison.LT:
                return value < text
            case Comparison.LTE:
                return value <= text
            case Comparison.GT:
                return text < value
            case Comparison.GTE:
                return text <= value
            case _:
                assert_never(comparison)

    def _numeral(self, value: z3.SeqRef, comparison: Comparison, number: int) -> tuple[z3.BoolRef, z3.BoolRef]:
        digit = z3.Range(self._text("0"), self._text("9"), self.context)
        sign = z3.Union(z3.Re(self._text("+"), self.context), z3.Re(self._text("-"), self.context))
        is_numeral = z3.InRe(value, z3.Concat(z3.Option(sign), z3.Plus(digit)))
        signed = z3.Or(z3.PrefixOf(self._text("+"), value), z3.PrefixOf(self._text("-"), value))
        one = z3.IntVal(1, self.context)
        digits = z3.If(signed, z3.SubString(value, one, z3.Length(value) - 1), value)
        size = z3.StrToInt(digits)
        read = z3.If(z3.PrefixOf(self._text("-"), value), -size, size)
        fails = z3.Not(z3.And(is_numeral, read >= I64_MIN, read <= I64_MAX))
        return _order(read, comparison, number), fails

    def _by_text(self, leaf: PropCompare | PropText, value: z3.ArithRef) -> z3.BoolRef:
        """A test on the decimal text of an integer, value by value; past a bound it can come out in any way."""
        low, high = _RANGES[leaf.property]
        is_large = high - low > LARGE
        self._enumerated += is_large
        if high - low > MAX_ENUMERATED or (is_large and self._enumerated > MAX_LARGE_ENUMERATIONS):
            self.is_exact = False
            return z3.FreshBool(f"{leaf.property} as text", self.context)
        ranges = _ranges(leaf, low, high)
        return self._any(z3.And(value >= a, value <= b) for a, b in ranges)

    def _tested(self, terms: PropertyTerms, name: str, test: TextTest, operand: str) -> tuple[z3.BoolRef, z3.BoolRef]:
        never, always = z3.BoolVal(False, self.context), z3.BoolVal(True, self.context)
        if terms.type is PropertyType.BOOLEAN:
            return never, always
        if terms.type is PropertyType.INTEGER:
            return self._by_text(PropText(test, name, operand), terms.value), never
        match test:
            case TextTest.STARTS_WITH:
                return z3.PrefixOf(self._text(operand), terms.value), never
            case TextTest.CONTAINS:
                return z3.Contains(terms.value, self._text(operand)), never
            case TextTest.MATCHES:
                return self._glob(terms.value, operand), never
            case _:
                assert_never(test)

    def _glob(self, value: z3.SeqRef, pattern: str) -> z3.BoolRef:
        parts = plain_parts(pattern)
        if parts is None:
            self.is_exact = False
            return z3.FreshBool(f"glob {pattern[:20]}", self.context)
        ascii_only = z3.Star(z3.Range(self._text("\0"), self._text("\x7f"), self.context))
        self.domain.append(z3.InRe(value, ascii_only))
        self.notes.add("texts beyond ASCII where a glob reads them")
        return z3.InRe(value, glob_regex(parts, self.context))


def _order(value: z3.ArithRef, comparison: Comparison, number: int) -> z3.BoolRef:
    match comparison:
        case Comparison.EQ:
            return value == number
        case Comparison.NEQ:
            return value != number
        case Comparison.GT:
            return value > number
        case Comparison.GTE:
            return value >= number
        case Comparison.LT:
            return value < number
        case Comparison.LTE:
            return value <= number
        case _:
            assert_never(comparison)


@lru_cache(maxsize=256)
def _ranges(leaf: PropCompare | PropText, low: int, high: int) -> tuple[tuple[int, int], ...]:
    """The integers of a domain of which a test on their decimal text is true, as ranges."""
    found: list[tuple[int, int]] = []
    for number in range(low, high + 1):
        if evaluate_strict(leaf, {leaf.property: Integer(number)}) is True:
            if found and found[-1][1] == number - 1:
                found[-1] = (found[-1][0], number)
            else:
                found.append((number, number))
    return tuple(found)
