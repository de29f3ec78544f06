"""Resources that are words over finite sorts: paths, keys and hosts.

Source: cards 2.2 RS-fs, RS-key, RS-ifile, RS-net; host-operations 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import z3

from policyd.core.grants.names import ascii_lower
from policyd.core.grants.resources import FilePath, NetworkResource, Ports, Resource, SegmentPath
from policyd.core.grants.resources.network import ANY_PORT, PORT_MAX, is_ipv4
from policyd.solver.names import Names, Term
from policyd.solver.terms import ResourceTerms, all_terms, either

MAX_WORD = 8
"""Paths of calls are tried up to this many segments beyond the longest pattern."""


def path_terms(resources: Sequence[Resource], context: z3.Context) -> ResourceTerms:
    """Paths as words of bounded length; a pattern matches by the usual table over places of both."""
    patterns = [r.segments for r in resources if isinstance(r, FilePath)]
    size = max((len(p) for p in patterns), default=0) + min(MAX_WORD, 2 + sum(p.count("**") for p in patterns))
    literals = {s for p in patterns for s in p if s not in ("*", "**", ".", "..") and "\0" not in s and "*" not in s}
    word = [Names.at(f"segment{n}", sorted(literals), context) for n in range(size)]
    length = z3.Int("length", context)

    def term(pattern: Resource) -> Term | None:
        if not isinstance(pattern, FilePath):
            return None
        no = z3.BoolVal(False, context)
        row: list[Term] = [z3.BoolVal(True, context)] + [no] * size
        for part in pattern.segments:
            after: list[Term] = []
            for place in range(size + 1):
                if part == "**":
                    after.append(z3.Or(row[place], after[place - 1]) if place else row[0])
                elif place == 0:
                    after.append(no)
                else:
                    one = row[place - 1]
                    after.append(one if part == "*" else z3.And(one, word[place - 1].equals(part)))
            row = after
        return z3.Or(*(z3.And(length == n, row[n]) for n in range(size + 1)))

    def decoded(model: z3.ModelRef) -> Resource:
        count = model.eval(length, model_completion=True).as_long()
        return FilePath(tuple(names.decoded(model) for names in word[:count]))

    domain = [length >= 0, length <= size, *(names.domain for names in word)]
    return ResourceTerms(domain, lambda r: either(r, context, term), decoded, not any("**" in p for p in patterns))


def key_terms(
    resources: Sequence[Resource],
    separator: str,
    is_segment: Callable[[str], bool],
    least: int,
    context: z3.Context,
) -> ResourceTerms:
    """Keys up to one segment longer than the longest pattern, which stand for all longer ones, too."""
    patterns = [r.segments for r in resources if isinstance(r, SegmentPath)]
    size = max((len(p) for p in patterns), default=0) + 1
    literals = sorted({s for p in patterns for s in p if s not in ("*", "**") and is_segment(s)})
    word = [Names.at(f"segment{n}", literals, context) for n in range(size)]
    length = z3.Int("length", context)

    def term(pattern: Resource) -> Term | None:
        if not isinstance(pattern, SegmentPath):
            return None
        if pattern.segments and pattern.segments[0] == "**":
            return z3.BoolVal(True, context)
        literal = [
            names.equals(part) for names, part in zip(word, pattern.segments, strict=False) if part not in ("*", "**")
        ]
        return all_terms(context, [length == len(pattern.segments), *literal])

    def decoded(model: z3.ModelRef) -> Resource:
        count = model.eval(length, model_completion=True).as_long()
        return SegmentPath(tuple(names.decoded(model) for names in word[:count]), separator)

    domain = [length >= least, length <= size, *(names.domain for names in word)]
    return ResourceTerms(domain, lambda r: either(r, context, term), decoded)


def host_terms(resources: Sequence[Resource], context: z3.Context) -> ResourceTerms:
    """Hosts of some labels with a port, or asked for with any port."""
    patterns = [r for r in resources if isinstance(r, NetworkResource)]
    hosts = [tuple(ascii_lower(r.host).split(".")) for r in patterns]
    size = max((len(h) for h in hosts), default=1) + 1
    literals = sorted({label for host in hosts for label in host if label != "*"})
    word = [Names.at(f"label{n}", literals, context) for n in range(size)]
    length, port = z3.Int("length", context), z3.Int("port", context)
    asks_any = z3.Bool("any-port", context)

    def ports(pattern: Ports) -> Term:
        if pattern.form == "any":
            return z3.BoolVal(True, context)
        return z3.And(z3.Not(asks_any), port >= pattern.low, port <= pattern.high)

    def term(pattern: Resource) -> Term | None:
        if not isinstance(pattern, NetworkResource):
            return None
        if pattern.host == "*":
            return ports(pattern.ports)
        labels = ascii_lower(pattern.host).split(".")
        literal = [names.equals(part) for names, part in zip(word, labels, strict=False) if part != "*"]
        return all_terms(context, [length == len(labels), *literal, ports(pattern.ports)])

    def decoded(model: z3.ModelRef) -> Resource:
        count = model.eval(length, model_completion=True).as_long()
        host = ".".join(names.decoded(model) for names in word[:count])
        if z3.is_true(model.eval(asks_any, model_completion=True)):
            return NetworkResource(host, ANY_PORT)
        asked = model.eval(port, model_completion=True).as_long()
        return NetworkResource(host, Ports(asked, asked, "single"))

    domain = [length >= 1, length <= size, port >= 0, port <= PORT_MAX, *(names.domain for names in word)]
    domain.append(_no_odd_numbers(word, length, literals, context))
    return ResourceTerms(domain, lambda r: either(r, context, term), decoded)


def _no_odd_numbers(word: Sequence[Names], length: Term, literals: Sequence[str], context: z3.Context) -> Term:
    """A host whose labels are all numbers is an IPv4 address."""
    no = z3.BoolVal(False, context)
    numbers = [label for label in literals if label.isascii() and label.isdigit()]
    octets = [label for label in numbers if is_ipv4(f"{label}.0.0.0")]
    terms = []
    for count in range(1, len(word) + 1):
        all_numbers = all_terms(context, [z3.Or(no, *(names.equals(n) for n in numbers)) for names in word[:count]])
        allowed = no
        if count == 4:
            allowed = all_terms(context, [z3.Or(no, *(names.equals(n) for n in octets)) for names in word[:4]])
        terms.append(z3.Implies(z3.And(length == count, all_numbers), allowed))
    return all_terms(context, terms)
