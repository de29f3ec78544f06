"""The catalogue of host operations as a person reads it: the list, and one operation in full.

Source: host 2; interface, `ops`, `op`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from policyd.core.edition import Rules
from policyd.core.operations import Catalogue, Operation, RecordClass
from policyd.core.operations.catalogue import Combine, TargetTemplate
from policyd.findings import NoSuchName, nearest
from policyd.syntax.mistakes import shown

RECORDS = {
    RecordClass.RECORDED: "recorded: a replay repeats result and denial",
    RecordClass.FILTERED: "recorded as filtered: a replay shows the same part",
    RecordClass.NOT_RECORDED: "not recorded: a replay may be decided differently",
    RecordClass.RE_EVALUATED: "evaluated again during replay",
    RecordClass.UNGATED: "not gated: no card is asked",
    RecordClass.SERVICE: "asked in a service: nothing is replayed",
    RecordClass.CARRIER: "as the operation that carries the secret",
}
"""What a denial leaves in the log, in words."""


def operation_named(id: str, catalogue: Catalogue, rules: Rules) -> Operation:
    """The operation of that id.

    Raises:
        NoSuchName: if there is none, or none in this edition.
    """
    found = catalogue.named(id)
    if found is None:
        near = nearest(id, catalogue.operations)
        like = [o.id for o in catalogue.search(id)][:5] if len(id) > 2 else []
        help = (
            f"did you mean `{near}`?" if near else f"like it: {', '.join(like)}" if like else "`policyd ops` lists them"
        )
        raise NoSuchName.of("HOST110", f"no operation is called {shown(id)}", None, help)
    if not found.is_part_of(rules):
        raise NoSuchName.of(
            "HOST110",
            f"edition {rules.edition.value} has no operation {shown(id)}",
            None,
            f"ask with `--edition {found.edition}`",
        )
    return found


def listed(catalogue: Catalogue, rules: Rules, word: str = "", cls: str = "") -> tuple[Operation, ...]:
    """The operations of the edition in which a word occurs and that ask for a class."""
    return tuple(o for o in catalogue.search(word, cls) if o.is_part_of(rules))


def listing_text(operations: tuple[Operation, ...]) -> Iterator[str]:
    """The list for a terminal: by family, each with what it asks for."""
    width = max((len(o.id) for o in operations), default=0)
    for family, members in groupby(operations, key=lambda o: o.family):
        yield f"{family}:"
        for operation in members:
            asks = "; ".join(t.text.rstrip() for t in operation.targets[:3]) or "asks for nothing"
            more = f"; and {len(operation.targets) - 3} more" if len(operation.targets) > 3 else ""
            yield f"  {operation.id.ljust(width)}  {asks}{more}"
    count = len(operations)
    yield f"{count} operation{'' if count == 1 else 's'}; `policyd op ID` tells all about one"


def described_text(operation: Operation, rules: Rules) -> Iterator[str]:
    """One operation for a terminal."""
    yield f"{operation.id}  ({operation.side.value} side, {operation.source})"
    for title, names in _entry_points(operation):
        yield f"  {title}: {', '.join(names)}"
    if operation.arguments:
        yield "arguments:"
        about = {p.argument: p for p in operation.parameters}
        for name in operation.arguments:
            parameter = about.get(name)
            words = f": {', '.join(parameter.words)}" if parameter is not None and parameter.words else ""
            kind = parameter.kind.value if parameter is not None else "a name; default: the asker's own"
            optional = ", may be left out" if parameter is not None and parameter.is_optional else ""
            yield f"  {name}  {kind}{words}{optional}"
    yield from _asks(operation, rules)
    yield f"a denial in the log: {record_words(operation)}"
    if operation.denial is not None:
        yield f"a denial shows as{' (with the target)' if operation.denial.carries_target else ''}:"
        for surface, seen in operation.denial.surfaces:
            yield f"  {surface}: {seen}"
    for remark in remarks_of(operation, rules):
        yield f"note: {remark}"


def _entry_points(operation: Operation) -> Iterator[tuple[str, tuple[str, ...]]]:
    if operation.wit:
        yield "imports", operation.wit
    for language, entries in groupby(operation.sdk, key=lambda pair: pair[0]):
        yield language, tuple(name for _, name in entries)
    if operation.rest:
        yield "REST", operation.rest
    if operation.cli:
        yield "CLI", operation.cli


def _asks(operation: Operation, rules: Rules) -> Iterator[str]:
    if operation.is_unknown(rules):
        yield "what it asks for is not published for this edition"
    if not operation.targets:
        if not operation.is_unknown(rules):
            yield "it asks for nothing: no card decides about it"
        return
    how = (
        "each entry stays or goes by itself"
        if operation.combine is Combine.FILTER
        else "all of these are needed, in order"
    )
    yield f"asks for ({how}):" if len(operation.targets) > 1 or operation.combine is Combine.FILTER else "asks for:"
    for template in operation.targets:
        yield f"  {template.text.rstrip()}{_condition(template)}"


def _condition(template: TargetTemplate) -> str:
    words = []
    if template.when:
        words.append(f"with {' or '.join(template.when)}")
    if template.each:
        words.append(f"once per item of {template.each}")
    if template.given:
        words.append(f"if {template.given} is given")
    if template.under:
        words.append(f"under switch {template.under}")
    if template.disguise:
        words.append(f"a refusal shows as {template.disguise}")
    return f"  ({'; '.join(words)})" if words else ""


def record_words(operation: Operation) -> str:
    """What a denial leaves in the log."""
    record = operation.record
    if record.p2 is record.p3:
        return RECORDS[record.p2]
    return f"under WASI P2 {RECORDS[record.p2]}; under P3 {RECORDS[record.p3]}"


def remarks_of(operation: Operation, rules: Rules) -> Iterator[str]:
    """What else a person should know."""
    yield from operation.remarks
    if operation.edition != "both":
        yield f"only edition {operation.edition} has it"
    if operation.fails_under and not rules.is_next(operation.fails_under):
        yield f"an admitted call fails all the same: edition {rules.edition.value} has no part that would run it"
    if operation.may_go_unasked:
        yield "circumstances outside of the cards may decide that nothing is asked (`placement`)"


def operation_json(operation: Operation, rules: Rules) -> dict[str, object]:
    """One operation on the wire."""
    sdk: dict[str, list[str]] = {}
    for language, name in operation.sdk:
        sdk.setdefault(language, []).append(name)
    return {
        "id": operation.id,
        "family": operation.family,
        "side": operation.side.value,
        "wit": list(operation.wit),
        "sdk": sdk,
        "rest": list(operation.rest),
        "cli": list(operation.cli),
        "arguments": [_argument_json(operation, name) for name in operation.arguments],
        "targets": [{"target": t.text.rstrip(), "condition": _condition(t).strip() or None} for t in operation.targets],
        "combine": operation.combine.value,
        "published": not operation.is_unknown(rules),
        "record": {"p2": operation.record.p2.value, "p3": operation.record.p3.value},
        "denial": dict(operation.denial.surfaces) if operation.denial is not None else {},
        "carriesTarget": operation.denial.carries_target if operation.denial is not None else False,
        "remarks": list(remarks_of(operation, rules)),
        "source": operation.source,
    }


def _argument_json(operation: Operation, name: str) -> Mapping[str, object]:
    parameter = next((p for p in operation.parameters if p.argument == name), None)
    return {
        "name": name,
        "kind": parameter.kind.value if parameter is not None else "owner",
        "words": list(parameter.words) if parameter is not None else [],
        "optional": parameter.is_optional if parameter is not None else True,
    }
