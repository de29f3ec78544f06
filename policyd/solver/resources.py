"""Resources of calls as terms: words over finite sorts, numbers for ports and oplog indexes.

This is written apart from the call sets on purpose: it shares with them which calls there are, and nothing of
how they compare.

Source: cards 2.2; host-operations 4.
"""

from __future__ import annotations

from collections.abc import Sequence

import z3

from policyd.core.callsets.keys import is_canonical_segment, is_key_segment
from policyd.core.callsets.universe import Form
from policyd.core.grants import Level, PermissionClass, Recipient, ResourceKind
from policyd.core.grants.names import U64_MAX, is_env_var
from policyd.core.grants.resources import (
    CardTarget,
    Exact,
    HttpRoute,
    Invocation,
    OplogRange,
    Resource,
    StoreKey,
    TableName,
)
from policyd.core.grants.resources.exact import ANY, EMPTY, NOTHING
from policyd.solver.names import Names, Term
from policyd.solver.terms import ResourceTerms, all_terms, either
from policyd.solver.words import host_terms, key_terms, path_terms


def resource_terms(
    cls: PermissionClass, verb: str, form: Form, resources: Sequence[Resource], context: z3.Context
) -> list[ResourceTerms]:
    """The terms of all resources of one form that calls of a verb name."""
    match form:
        case Form.EMPTY:
            return [_symbol(EMPTY, context)]
        case Form.ANY:
            return [_symbol(ANY, context)]
        case Form.WHOLE if cls.resource is ResourceKind.STORE_KEY:
            return [_store_keys(resources, context, whole=True)]
        case Form.WHOLE:
            return [_tables(resources, context, whole=True), _symbol(TableName("*", "*", "*"), context)]
        case Form.CANONICAL:
            return [key_terms(resources, ".", is_canonical_segment, 1, context)]
        case Form.VALUE:
            return _values(cls, verb, resources, context)


def _values(cls: PermissionClass, verb: str, resources: Sequence[Resource], context: z3.Context) -> list[ResourceTerms]:
    match cls.resource:
        case ResourceKind.FILES:
            return [path_terms(resources, context)]
        case ResourceKind.NETWORK:
            return [host_terms(resources, context)]
        case ResourceKind.OPLOG:
            return [_ranges(context)]
        case ResourceKind.KEY:
            return [key_terms(resources, ".", is_key_segment, 1, context)]
        case ResourceKind.INITIAL_FILES:
            return [key_terms(resources, "/", lambda s: s not in ("", ".", "..") and "*" not in s, 0, context)]
        case ResourceKind.STORE_KEY:
            return [_store_keys(resources, context, whole=False)]
        case ResourceKind.TABLE:
            return [_tables(resources, context, whole=False)]
        case ResourceKind.ROUTE:
            return [_routes(resources, context)]
        case ResourceKind.CARD:
            return [_holders(resources, context)]
        case ResourceKind.TOOL:
            return [_invocations(resources, context)]
        case ResourceKind.EMPTY | ResourceKind.APPLICATION:
            return [_symbol(NOTHING, context)]
        case _:
            return [_named(kind, fresh, resources, context) for kind, fresh in _kinds(cls.resource, verb)]


_UUID = "ffffffff-ffff-4fff-8fff-ffffffffffff"


def _kinds(kind: ResourceKind, verb: str) -> tuple[tuple[str, str], ...]:
    """The kinds of exact resources that calls name, each with an unlikely text."""
    match kind, verb:
        case ResourceKind.AGENT, "invoke":
            return (("method", "fresh"), ("oplog-index", "999999"), ("invocation-uuid", _UUID))
        case ResourceKind.AGENT, "view":
            return (("method", "fresh"),)
        case ResourceKind.AGENT, "revert":
            return (("oplog-index", "999999"),)
        case ResourceKind.AGENT, "cancel-invocation":
            return (("invocation-uuid", _UUID), ("invocation-name", "fresh"))
        case ResourceKind.AGENT, ("activate-plugin" | "deactivate-plugin"):
            return (("plugin", "fresh"),)
        case ResourceKind.PLAN, _:
            return (("uuid", _UUID), ("name", "fresh"))
        case ResourceKind.UUID, _:
            return (("uuid", _UUID),)
        case ResourceKind.VARIABLE, _:
            return (("variable", "FRESH"),)
        case ResourceKind.REVISION, _:
            return (("revision", "@rev=999999"),)
        case ResourceKind.DOMAIN, _:
            return (("domain", "fresh.example"),)
        case ResourceKind.IDENTITY, _:
            return (("identity", "fresh/fresh"),)
        case _:
            return (("name", "fresh"),)


def _symbol(value: Resource, context: z3.Context) -> ResourceTerms:
    return ResourceTerms([], lambda r: z3.BoolVal(r.covers(value), context), lambda _: value)


def _named(kind: str, fresh: str, resources: Sequence[Resource], context: z3.Context) -> ResourceTerms:
    texts = [r.text for r in resources if isinstance(r, Exact) and r.kind == kind]
    if kind == "variable":
        texts = [t for t in texts if is_env_var(t)]
    names = Names.at(f"{kind}-name", texts, context, fresh)

    def term(pattern: Resource) -> Term | None:
        return names.equals(pattern.text) if isinstance(pattern, Exact) and pattern.kind == kind else None

    return ResourceTerms(
        [names.domain], lambda r: either(r, context, term), lambda model: Exact(kind, names.decoded(model))
    )


def _ranges(context: z3.Context) -> ResourceTerms:
    start, end = z3.Int("start", context), z3.Int("end", context)

    def term(pattern: Resource) -> Term | None:
        if not isinstance(pattern, OplogRange):
            return None
        return z3.And(start >= (pattern.start or 0), end <= (U64_MAX if pattern.end is None else pattern.end))

    def decoded(model: z3.ModelRef) -> Resource:
        first, last = (model.eval(v, model_completion=True).as_long() for v in (start, end))
        return OplogRange(first, last)

    return ResourceTerms([start >= 0, start <= end, end <= U64_MAX], lambda r: either(r, context, term), decoded)


def _parts(name: str, patterns: Sequence[tuple[str, ...]], context: z3.Context, fresh: Sequence[str]) -> list[Names]:
    return [Names.at(f"{name}{n}", [p[n] for p in patterns], context, fresh[n]) for n in range(len(fresh))]


def _literal(names: Names, part: str, stars: tuple[str, ...], context: z3.Context) -> Term:
    return z3.BoolVal(True, context) if part in stars else names.equals(part)


def _store_keys(resources: Sequence[Resource], context: z3.Context, *, whole: bool) -> ResourceTerms:
    patterns = [(r.store, r.key) for r in resources if isinstance(r, StoreKey)]
    store, key = _parts("store", patterns, context, ("fresh", "fresh"))

    def term(pattern: Resource) -> Term | None:
        if not isinstance(pattern, StoreKey):
            return None
        wide = pattern.key in ("*", "**")
        last = z3.BoolVal(wide, context) if whole or wide else key.equals(pattern.key)
        return z3.And(_literal(store, pattern.store, ("*",), context), last)

    # A key that is written `*` or `**` is the request for the whole store; only wide grants cover it.
    domain = [store.domain, key.domain, *(z3.Not(key.equals(s)) for s in ("*", "**"))]

    def decoded(model: z3.ModelRef) -> Resource:
        return StoreKey(store.decoded(model), "**" if whole else key.decoded(model))

    return ResourceTerms(domain, lambda r: either(r, context, term), decoded)


def _tables(resources: Sequence[Resource], context: z3.Context, *, whole: bool) -> ResourceTerms:
    patterns = [(r.database, r.schema, r.table) for r in resources if isinstance(r, TableName)]
    parts = _parts("part", patterns, context, ("fresh", "fresh", "fresh"))

    def term(pattern: Resource) -> Term | None:
        if not isinstance(pattern, TableName):
            return None
        texts = (pattern.database, pattern.schema, pattern.table)
        if whole:
            if texts[1:] != ("*", "*"):
                return None
            return _literal(parts[0], texts[0], ("*",), context)
        return z3.And(*(_literal(n, t, ("*",), context) for n, t in zip(parts, texts, strict=True)))

    def decoded(model: z3.ModelRef) -> Resource:
        database, schema, table = (names.decoded(model) for names in parts)
        return TableName(database, "*", "*") if whole else TableName(database, schema, table)

    # A part of a call is never a bare star.
    domain = [term for names in parts for term in (names.domain, z3.Not(names.equals("*")))]
    return ResourceTerms(domain, lambda r: either(r, context, term), decoded)


def _routes(resources: Sequence[Resource], context: z3.Context) -> ResourceTerms:
    patterns = [(r.domain, r.path) for r in resources if isinstance(r, HttpRoute)]
    domain_name, path = _parts("route", patterns, context, ("fresh", "/fresh"))

    def term(pattern: Resource) -> Term | None:
        if not isinstance(pattern, HttpRoute):
            return None
        return z3.And(_literal(domain_name, pattern.domain, ("*",), context), path.equals(pattern.path))

    domain = [domain_name.domain, path.domain, z3.Not(domain_name.equals("*"))]
    return ResourceTerms(
        domain,
        lambda r: either(r, context, term),
        lambda model: HttpRoute(domain_name.decoded(model), path.decoded(model)),
    )


def _holders(resources: Sequence[Resource], context: z3.Context) -> ResourceTerms:
    recipients = [r.recipient for r in resources if isinstance(r, CardTarget)]
    fresh = ("fresh@example.com", "fresh", "fresh", "fresh:fresh", "Fresh")
    named = [[r.known[n] for r in recipients if len(r.known) > n] for n in range(5)]
    parts = [Names.at(f"holder{n}", named[n], context, fresh[n]) for n in range(5)]

    def term(pattern: Resource) -> Term | None:
        if not isinstance(pattern, CardTarget) or pattern.recipient.is_external_tool_owner:
            return None
        return all_terms(context, [n.equals(t) for n, t in zip(parts, pattern.recipient.known, strict=False)])

    def decoded(model: z3.ModelRef) -> Resource:
        return CardTarget(Recipient(Level.AGENT, tuple(names.decoded(model) for names in parts)))

    return ResourceTerms([n.domain for n in parts], lambda r: either(r, context, term), decoded)


def _invocations(resources: Sequence[Resource], context: z3.Context) -> ResourceTerms:
    calls = list(
        dict.fromkeys(r for r in resources if isinstance(r, Invocation) and not any(a.symbol for a in r.arguments))
    )
    free = Invocation(("fresh",))
    while free in calls:
        free = Invocation((*(free.command or ()), "fresh"))
    which = z3.Int("invocation", context)

    def term(pattern: Resource) -> Term | None:
        if not isinstance(pattern, Invocation) or pattern not in calls:
            return None
        return which == calls.index(pattern)

    def decoded(model: z3.ModelRef) -> Resource:
        number = model.eval(which, model_completion=True).as_long()
        return calls[number] if number < len(calls) else free

    return ResourceTerms([which >= 0, which <= len(calls)], lambda r: either(r, context, term), decoded)
