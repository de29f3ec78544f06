"""Finds that belong to one error, put together to one denial.

An error is often told in layers: the wrapper of an SDK holds the text of an interface, which holds the target. Layers
stand next to each other, so finds with only punctuation between them, or inside the reach of one that holds others,
are one denial. The outermost layer names its shape, the target tells the operation.

Source: host 5.1, 5.5.
"""

from __future__ import annotations

import re
from types import MappingProxyType

from policyd.syntax.denials.call_sites import operations_near
from policyd.syntax.denials.hits import Hit, Scene
from policyd.syntax.denials.inverse import operations_of, operations_of_class
from policyd.syntax.denials.oplog_entries import is_entry
from policyd.syntax.denials.paste import Lines, Page
from policyd.syntax.denials.reading import Denial, OperationGuess, Surface
from policyd.syntax.denials.redaction import redacted_name
from policyd.syntax.denials.shapes import SHAPES

MAX_GAP = 160
MAX_GROUP = 16
"""Finds that make up one denial."""

_TARGETS = frozenset({"E-01"})
_BODIES = frozenset(
    {
        "E-01",
        "E-02",
        "E-03",
        "E-04",
        "E-29",
        "E-30",
        "E-31",
        "E-33",
        "E-34",
        "E-35",
        "E-43",
        "E-44",
        "A-07",
        "A-08",
        "E-18",
    }
)
_CALLS = frozenset({"E-01", "E-20", "E-02", "E-33", "E-18", "E-19", "E-21", "E-28", "E-29", "E-17", "L-02"})
_INNER: dict[str, frozenset[str]] = {
    "E-02": _TARGETS,
    "E-07": _TARGETS | {"E-02"},
    "E-08": _TARGETS | {"E-02"},
    "E-10": _TARGETS,
    "E-26": _CALLS,
    "E-27": _CALLS,
    "E-28": _CALLS,
    "E-46": _CALLS,
    "E-30": _BODIES,
    "E-31": _BODIES,
    "E-32": _BODIES,
    "E-33": frozenset({"A-07", "A-08"}),
    "E-34": frozenset({"E-34", "E-25"}),
    "E-35": frozenset({"E-35"}),
    "A-07": frozenset({"E-33", "E-01"}),
    "A-08": frozenset({"E-33", "E-01"}),
    "E-42": _TARGETS | {"E-02"},
    "E-43": frozenset({"E-33", "E-43"}),
    "E-44": frozenset({"E-44", "E-01"}),
    "E-45": frozenset({"E-01", "E-02", "E-05", "E-06", "E-07", "E-08", "E-29"}),
    "E-41": frozenset({"E-09", "E-10", "E-01"}),
    "O-01": frozenset({"E-29", "E-09"}),
    "E-12": frozenset({"E-12"}),
    "E-25": frozenset({"E-20", "E-22", "E-23", "E-24", "E-25"}),
    "E-09": frozenset({"E-09", "E-10"}),
    "E-14": frozenset({"E-14"}),
}
_BEHIND = frozenset({"E-30", "E-31", "E-33", "E-34", "E-35", "E-43", "E-44", "A-07", "A-08"})
"""Codes and statuses, which may stand behind the text that they belong to; a wrapper never does."""
_SEPARATE = re.compile(r"\n\s*\n|\n\S{0,3}[0-9]{2,4}[-/:]|[.;!]\s+[A-Z]|\}\s*,?\s*\{")
_OTHER_LINE = re.compile(r"[\n;|}]")
_OTHER_ERROR = re.compile(r"[;|}]")
_NEW_OBJECT = re.compile(r"[{\n]\s*[^\s\"'a-z}]|\{")


def groups_of(hits: list[Hit], scene: Scene) -> list[list[Hit]]:
    """The finds of a text, in order of appearance, those of one error together."""
    ordered = sorted(hits, key=lambda hit: (hit.start, SHAPES[hit.shape].rank, -hit.end))
    groups: list[list[Hit]] = []
    for hit in ordered:
        if groups and len(groups[-1]) < MAX_GROUP and _belongs(groups[-1], hit, scene):
            groups[-1].append(hit)
        else:
            groups.append([hit])
    return groups


def _belongs(group: list[Hit], hit: Hit, scene: Scene) -> bool:
    end = max(member.end for member in group)
    if hit.start < end:
        return True
    has_target = any(member.shape == "E-01" for member in group)
    if hit.shape == "E-01" and has_target:
        return False
    shapes = {member.shape for member in group}
    if hit.shape == "E-18" and (has_target or _OTHER_ERROR.search(scene.text, end, hit.start)):
        return False  # the answer of a service can say that a tool is not bound, and so can the next error
    between = scene.text[end : min(hit.start, end + _MAX_BETWEEN)]
    if "\n" in between and (_is_another(group, hit, between, scene) or _begins_anew(group, hit, end, scene)):
        return False
    holders = [member for member in group if hit.start < member.limit]
    if any(hit.shape in _INNER.get(member.shape, frozenset()) for member in holders):
        return hit.shape not in shapes or hit.shape in _INNER.get(hit.shape, frozenset()) or _is_status(hit)
    if hit.start - end > MAX_GAP:
        return False
    gap = scene.text[end : hit.start]
    if _SEPARATE.search(gap):
        return False
    if "E-18" in shapes and _OTHER_LINE.search(gap):
        return False
    if any(hit.shape in _INNER.get(shape, frozenset()) for shape in shapes):
        return hit.shape not in shapes or not _NEW_OBJECT.search(gap)
    # The members of a JSON object come in any order: the code may stand behind the text.
    if hit.shape not in _BEHIND or ("\n" in gap and "code" not in hit.facts):
        return False
    behind = _INNER.get(hit.shape, frozenset())
    return bool(shapes & behind) and hit.shape not in shapes and not _NEW_OBJECT.search(gap)


_STATUSES = frozenset({"E-30", "E-31"})
_STATUS_LINES = _STATUSES | {"E-32"}
_MAX_BETWEEN = 2_000
_BLANK = re.compile(r"\n[ \t]*\n\s*(?P<body>\{)?")


def _is_another(group: list[Hit], hit: Hit, between: str, scene: Scene) -> bool:
    """Whether a find on a further line is an error of its own: behind an empty line, or of another nature.

    The body of an answer stands behind an empty line below its status, and may say that no card decides.
    """
    is_answer = any(member.shape in _STATUSES and "code" not in member.facts for member in group)
    blank = _BLANK.search(between)
    if blank is not None and not (is_answer and (blank["body"] or scene.text[hit.start] == "{")):
        return True
    natures = {bool(member.not_policy or SHAPES[member.shape].not_policy) for member in group}
    return not is_answer and bool(hit.not_policy or SHAPES[hit.shape].not_policy) not in natures


_OPEN_END = re.compile(r"[:=({\[,\\<>|\u2192-]\s*$|\b(?:by|with|of|because|due to|is|was)\s*$")
_CONTINUED = re.compile(
    r"[ \t]|[)\]}(\"'`,;]|\S{0,3}\s*\[?(?:[Cc]aused? (?:by|of)|[Cc]ause|[Ss]ource|[Rr]eason|[Dd]etails?)\b|[0-9]+: "
)
_MARGIN = re.compile(r"[^|>\n]{0,80}[|>] ?")


def _begins_anew(group: list[Hit], hit: Hit, end: int, scene: Scene) -> bool:
    """Whether a find on a further line begins there, behind an error whose line is complete.

    What goes on is indented, in brackets or quotes, named a cause, or behind a line that ends open. The body of an
    answer stands below its status.
    """
    if all(member.shape in _STATUS_LINES and "code" not in member.facts for member in group):
        return False
    text = scene.text
    at = text.rfind("\n", end, hit.start) + 1
    above = text[max(end - _MAX_BETWEEN, text.rfind("\n", 0, at - 1) + 1) : at - 1]
    here = text[at : min(at + _MAX_BETWEEN, hit.end)]
    margin = _MARGIN.match(here)
    cut = margin.end() if margin is not None and above.startswith(margin[0].rstrip()) else 0
    return _OPEN_END.search(above) is None and _CONTINUED.match(here[cut:]) is None


def _is_status(hit: Hit) -> bool:
    return hit.shape in ("E-30", "E-31") and "code" in hit.facts


def denial_of(group: list[Hit], scene: Scene, page: Page, lines: Lines) -> Denial:
    """One denial from the finds of one error."""
    layers = sorted(group, key=lambda hit: SHAPES[hit.shape].rank)
    shapes = tuple(dict.fromkeys(hit.shape for hit in layers))
    outer = layers[0]
    start, end = min(hit.start for hit in group), max(hit.end for hit in group)
    read = next((hit.read for hit in layers if hit.read is not None), None)
    surfaces = tuple(dict.fromkeys(s for hit in layers for s in (hit.surfaces or SHAPES[hit.shape].surfaces)))
    if is_entry(scene.text[scene.line_start(start, 400) : start]):
        surfaces += (Surface.OPLOG,)
    if len(surfaces) > 1:
        surfaces = tuple(s for s in surfaces if s is not Surface.LOG)
    kind = _kind(layers, shapes, read.cls.name if read and read.cls else "", read.verb if read else "")
    operations = _operations(layers, surfaces, scene, start, end)
    if shapes[0] in _SHARED_CODES and operations and (operations[0].is_named or len(operations) == 1):
        kind = _KIND_BY_OPERATION.get(operations[0].operation, _kind_of_family(operations[0].operation, kind))
    not_policy = _not_policy(layers, shapes, has_target=read is not None)
    remark = next((hit.remark for hit in layers if hit.remark), "") or SHAPES[outer.shape].remark
    facts: dict[str, str] = {}
    for hit in layers:
        for name, value in hit.facts.items():
            facts.setdefault(name, value)
    first, last = page.origin(start), page.end_origin(end)
    line, column = lines.place(first)
    return Denial(
        shape=outer.shape,
        surfaces=surfaces,
        kind=kind,
        target=read.target if read else None,
        target_text=redacted_name(read.text) if read else "",
        operations=operations,
        start=first,
        end=last,
        line=line,
        column=column,
        facts=MappingProxyType(dict(sorted(facts.items()))),
        is_denial=not not_policy,
        not_policy=not_policy,
        remark="" if remark == not_policy else remark,
        shapes=shapes,
    )


_KIND_BY_CLASS = {
    "kv": "kv",
    "blob": "blob",
    "rdbms": "rdbms",
    "filesystem": "rest-403",
    "network": "http",
    "env": "debug-connect",
    "config": "config",
    "secret": "secret-reveal",
    "oplog": "oplog",
    "tool": "tool-rpc",
    "card": "card",
}
_KIND_BY_OPERATION = {
    "agent.get-self-metadata": "self-metadata",
    "agent.list": "agent-list",
    "agent.update": "agent-operation",
    "agent.fork": "agent-operation",
    "agent.revert": "agent-operation",
    "oplog.read": "oplog",
    "oplog.search": "oplog",
    "oplog.enrich": "oplog",
    "agent.create-webhook": "webhook",
    "config.get-value": "config",
    "config.get-secret": "config",
}
_SHARED_CODES = frozenset({"E-09", "E-37", "B-01"})
"""Shapes that several interfaces have: the function that is named tells which."""


def _kind_of_family(operation: str, kind: str) -> str:
    return {"fs": "fs", "dns": "socket", "net": "socket"}.get(operation.partition(".")[0], kind)


_DEPLOY = frozenset({"E-34", "E-35"})


def _kind(layers: list[Hit], shapes: tuple[str, ...], cls: str, verb: str) -> str:
    named = set(shapes)
    if named & _DEPLOY:
        return "deploy-refused"
    if "E-43" in named or ("E-32" not in named and named & {"A-07", "A-08"}):
        return "rest-absent"
    if "O-01" in named:
        return "agent-rpc-secret"
    if "E-29" in named and not named & {"E-26", "E-27", "E-28"}:
        return "rest-500-secret"
    if "E-18" in named or "L-02" in named:
        return "tool-rpc"
    if named & {"E-05", "E-06"}:
        return "rdbms-no-target"
    stated = next((hit.kind for hit in layers if hit.kind), "")
    if stated:
        return stated
    kind = SHAPES[layers[0].shape].kind
    if kind == "agent-rpc" and cls == "tool":
        return "tool-rpc"
    if kind != "permission":
        return kind
    if cls == "agent":
        if verb == "invoke":
            return "agent-rpc"
        return "agent-operation" if verb in ("update-revision", "fork", "revert", "cancel-invocation") else "rest-403"
    return _KIND_BY_CLASS.get(cls, "rest-403" if cls else "permission")


def _not_policy(layers: list[Hit], shapes: tuple[str, ...], *, has_target: bool) -> str:
    for hit in layers:
        why = hit.not_policy or SHAPES[hit.shape].not_policy
        # With a target in it, an answer 401 is a denial that crossed a hop inside the platform.
        if why and not (hit.shape == "E-31" and (has_target or "E-01" in shapes)):
            return why
    absent = next((hit for hit in layers if hit.shape == "E-32" and hit.facts["status"] == "401"), None)
    if absent is not None and "E-01" not in shapes:
        return SHAPES["E-31"].not_policy
    return ""


_OUTSIDE = (
    "svc.",
    "debug.",
    "account",
    "application",
    "environment",
    "component",
    "card.list",
    "card.get",
    "card.revoke-managed",
    "plan.",
    "report.",
    "token.",
)
_SERVED = frozenset({"E-30", "E-31", "E-32"})
_IN_GUEST = frozenset({"E-07", "E-08", "E-45", "E-46", "E-26", "E-27", "E-28", "E-10"})


def _operations(
    layers: list[Hit], surfaces: tuple[Surface, ...], scene: Scene, start: int, end: int
) -> tuple[OperationGuess, ...]:
    shapes = {hit.shape for hit in layers}
    read = next((hit.read for hit in layers if hit.read is not None), None)
    guesses: tuple[OperationGuess, ...] = next((hit.operations for hit in layers if hit.operations), ())
    if read is not None and read.target is not None:
        by_target = operations_of(read.target)
        named = {guess.operation for guess in guesses}
        agreeing = tuple(guess for guess in guesses if guess.operation in {g.operation for g in by_target})
        guesses = (*agreeing, *(g for g in by_target if g.operation not in named)) if by_target else guesses
    elif read is not None and read.cls is not None and read.verb and not guesses:
        guesses = operations_of_class(read.cls.name, read.verb)
    if not guesses:
        guesses = next((SHAPES[hit.shape].operations for hit in layers if SHAPES[hit.shape].operations), ())
    if shapes & _DEPLOY:
        guesses = next(SHAPES[hit.shape].operations for hit in layers if hit.shape in _DEPLOY)
    elif "E-10" in shapes:
        guesses = tuple(g for g in guesses if g.operation in ("agent.update", "agent.fork", "agent.revert")) or guesses
    elif "E-42" in shapes:
        guesses = SHAPES["E-42"].operations
    elif shapes & _SERVED:
        guesses = _kept(guesses, served=True)
    elif shapes & _IN_GUEST:
        guesses = _kept(guesses, served=False)
    if any(guess.how_sure == "certain" for guess in guesses) or len(guesses) < 2:
        return guesses
    if guesses[0].is_named:
        return guesses
    near = operations_near(scene.text, start, end, (guess.operation for guess in guesses))
    return _preferred(guesses, near)


def _kept(guesses: tuple[OperationGuess, ...], *, served: bool) -> tuple[OperationGuess, ...]:
    """Those asked for by the services, or those asked for in guests; all of them if none would stay."""
    kept = tuple(g for g in guesses if g.operation.startswith(_OUTSIDE) is served) or guesses
    if len(kept) == 1 and len(guesses) > 1:
        return (OperationGuess(kept[0].operation, "likely", kept[0].why),)
    if kept and kept[0].how_sure == "possible" and kept[0] != guesses[0]:
        return (OperationGuess(kept[0].operation, "likely", kept[0].why), *kept[1:])
    return kept


def _preferred(guesses: tuple[OperationGuess, ...], near: tuple[str, ...]) -> tuple[OperationGuess, ...]:
    """The guesses, those first whose functions the text names."""
    by_name = {guess.operation: guess for guess in guesses}
    named = [name for name in near if name in by_name]
    if not named:
        return guesses
    first = OperationGuess(named[0], "likely", "its function is named beside the error", is_named=True)
    rest = tuple(OperationGuess(g.operation, "possible", g.why) for g in guesses if g.operation != named[0])
    return (first, *rest)
