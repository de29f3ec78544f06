"""A tree against the described structures: every problem of a document, each with its place.

Source: manifest-format 0.1 and 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from policyd.core.edition import Edition, Rules
from policyd.findings import Finding, Related, Severity, Span, nearest
from policyd.manifest import codes
from policyd.manifest.kinds import (
    ByKey,
    ByTag,
    Choice,
    Field,
    Fields,
    Flag,
    Free,
    Kind,
    Many,
    Marker,
    Names,
    Shapes,
    Text,
    Whole,
)
from policyd.manifest.located import Located, LocatedList, LocatedMap, LocatedScalar, shown
from policyd.manifest.scalars import MisfitError, boolean_of, free_problems, integer_of, name_problems, value_of

MAX_FINDINGS = 1000
"""So many problems of one document are told; the rest is only counted."""

_MERGE_HELP = "merge keys are not supported: repeat the entries, or use templates"


@dataclass(slots=True)
class Check:
    """One run over one document.

    Attributes:
        rules: the edition, which knows some keys and not others.
        version: the manifest version of the document, empty when unknown.
        findings: what was told, at most `MAX_FINDINGS`.
        untold: how many more there were.
    """

    rules: Rules
    version: str = ""
    findings: list[Finding] = field(default_factory=list)
    untold: int = 0

    def run(self, kind: Kind, node: Located) -> tuple[Finding, ...]:
        """All problems of `node`, which is wanted to be `kind`."""
        self._look(kind, node, typed=False)
        if self.untold:
            message = f"{self.untold} more problems of this document are not listed"
            self.findings.append(Finding(codes.TOO_MANY_FINDINGS, Severity.ERROR, message, node.span))
        return tuple(self.findings)

    def _tell(self, finding: Finding) -> None:
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(finding)
        else:
            self.untold += 1

    def _say(
        self, code: str, message: str, span: Span, help_text: str = "", severity: Severity = Severity.ERROR
    ) -> None:
        self._tell(Finding(code, severity, message, span, help_text))

    def _look(self, kind: Kind, node: Located, *, typed: bool) -> None:
        match kind:
            case Text():
                text = self._text(node, "a text", typed=typed)
                if text is not None and kind.rule is not None and not kind.rule.holds(text.text):
                    self._bad_name(kind.rule.noun, kind.rule.says, text)
            case Choice():
                self._choice(kind, node, typed=typed)
            case Flag():
                self._truth(node, typed=typed)
            case Marker():
                truth = self._truth(node, typed=typed, wants="only the literal `true`", code=codes.NOT_A_MARKER)
                if truth is False:
                    self._say(
                        codes.NOT_A_MARKER, "a marker takes only the literal `true`", node.span, "leave the key out"
                    )
            case Whole():
                self._whole(kind, node, typed=typed)
            case Free():
                self._free(kind, node)
            case Many():
                self._many(kind, node, typed=typed)
            case Names():
                self._names(kind, node, typed=typed)
            case Fields():
                self._fields(kind, node, typed=typed)
            case ByKey():
                chosen = tuple(kind.options.values())[-1]
                if isinstance(node, LocatedMap):
                    keys = {key.text for key, _ in node.entries}
                    chosen = next((f for k, f in kind.options.items() if k in keys), chosen)
                self._fields(chosen, node, typed=True)
            case ByTag():
                self._by_tag(kind, node)
            case Shapes():
                self._shapes(kind, node)
            case _:
                assert_never(kind)

    # scalars

    def _text(self, node: Located, wants: str, *, typed: bool) -> LocatedScalar | None:
        """The text of `node`, or None and a finding."""
        if not isinstance(node, LocatedScalar):
            self._wrong(node, wants)
            return None
        if typed:
            try:
                value = value_of(node)
            except MisfitError as misfit:
                self._say(misfit.code, misfit.message, node.span)
                return None
            if not isinstance(value, str):
                self._say(
                    codes.NOT_TEXT,
                    f"{wants} is wanted, but without quotes this is read as {_type_of(value)}",
                    node.span,
                    "quote it" if node.text else "",
                )
                return None
            return node
        self._dropped_tag(node)
        return node

    def _dropped_tag(self, node: Located) -> None:
        if node.tag is not None and node.tag.startswith("!"):
            self._say(
                codes.TAG_DROPPED,
                "an own tag is dropped",
                node.span,
                "remove it, or quote a text that begins with `!`",
                Severity.WARNING,
            )

    def _choice(self, kind: Choice, node: Located, *, typed: bool) -> None:
        wants = _any_of(kind.texts)
        text = self._text(node, wants, typed=typed)
        if text is not None and text.text not in kind.texts:
            self._not_a_choice(text, kind.texts)

    def _not_a_choice(self, text: LocatedScalar, texts: tuple[str, ...]) -> None:
        near = nearest(text.text, texts)
        self._say(
            codes.NOT_A_CHOICE,
            f"`{shown(text.text)}` is not {_any_of(texts)}",
            text.span,
            f"did you mean `{near}`?" if near else "",
        )

    def _truth(
        self, node: Located, *, typed: bool, wants: str = "`true` or `false`", code: str = codes.WRONG_TYPE
    ) -> bool | None:
        truth: bool | None = None
        if isinstance(node, LocatedScalar):
            if typed:
                try:
                    value = value_of(node)
                    truth = value if isinstance(value, bool) else None
                except MisfitError as misfit:
                    self._say(misfit.code, misfit.message, node.span)
                    return None
            elif node.is_plain:
                self._dropped_tag(node)
                truth = boolean_of(node.text)
        if truth is None:
            quoted = isinstance(node, LocatedScalar) and not node.is_plain and boolean_of(node.text) is not None
            self._say(
                code,
                f"{wants} is wanted, this is {_described(node)}",
                node.span,
                "remove the quotes" if quoted else "",
            )
        return truth

    def _whole(self, kind: Whole, node: Located, *, typed: bool) -> None:
        whole: int | None = None
        if isinstance(node, LocatedScalar):
            if typed:
                try:
                    value = value_of(node)
                    whole = value if isinstance(value, int) and not isinstance(value, bool) else None
                except MisfitError as misfit:
                    self._say(misfit.code, misfit.message, node.span)
                    return
            elif node.is_plain:
                self._dropped_tag(node)
                whole = integer_of(node.text)
        if whole is None:
            quoted = isinstance(node, LocatedScalar) and not node.is_plain and integer_of(node.text) is not None
            self._say(
                codes.WRONG_TYPE,
                f"an integer is wanted, this is {_described(node)}",
                node.span,
                "remove the quotes" if quoted else "",
            )
        elif not kind.low <= whole <= kind.high:
            self._say(codes.OUT_OF_RANGE, f"{whole} is outside {kind.low} to {kind.high}", node.span)

    # lists and maps

    def _many(self, kind: Many, node: Located, *, typed: bool) -> None:
        if not isinstance(node, LocatedList):
            if not _is_empty(node, typed=typed):
                self._wrong(node, "a list")
            return
        self._collection_tag(node, typed=typed)
        for item in node.items:
            self._look(kind.item, item, typed=typed)

    def _collection_tag(self, node: Located, *, typed: bool) -> None:
        if typed and node.tag is not None and node.tag.startswith("!"):
            self._say(codes.TAG_REFUSED, "an own tag is refused here", node.span)
        else:
            self._dropped_tag(node)

    def _free(self, kind: Free, node: Located) -> None:
        if kind.only_map and not isinstance(node, LocatedMap):
            if _is_empty(node, typed=False):
                return
            self._wrong(node, "a map", was_list=kind.was_list)
            return
        free_problems(node, self._tell)

    def _names(self, kind: Names, node: Located, *, typed: bool) -> None:
        if not isinstance(node, LocatedMap):
            if not _is_empty(node, typed=typed):
                self._wrong(node, "a map", was_list=kind.was_list)
            return
        self._collection_tag(node, typed=typed)
        name_problems(node, self._tell)
        for key, value in node.entries:
            special = kind.special.get(key.text)
            if special is not None:
                self._field(key, special, value, typed=typed)
                continue
            if kind.rule is not None and not kind.rule.holds(key.text):
                self._bad_name(kind.rule.noun, kind.rule.says, key)
            self._look(kind.value, value, typed=typed)

    def _bad_name(self, noun: str, says: str, key: LocatedScalar) -> None:
        self._say(codes.BAD_NAME, f"`{shown(key.text)}` is no {noun}", key.span, f"wanted: {says}")

    def _fields(self, kind: Fields, node: Located, *, typed: bool) -> None:
        if not isinstance(node, LocatedMap):
            if _is_empty(node, typed=typed):
                self._missing(kind, node, ())
            else:
                self._wrong(node, f"a map ({kind.noun})")
            return
        self._collection_tag(node, typed=typed)
        seen: dict[str, LocatedScalar] = {}
        present: dict[str, LocatedScalar] = {}
        for key, value in node.entries:
            if key.text in seen:
                self._repeated(key, seen[key.text])
            seen.setdefault(key.text, key)
            wanted = kind.fields.get(key.text)
            if wanted is None:
                self._unknown(kind, key)
                continue
            absent = isinstance(value, LocatedScalar) and value.is_absent and not wanted.required
            if not absent:
                present[key.text] = key
            self._field(key, wanted, value, typed=typed, absent=absent)
        self._missing(kind, node, present)
        for group in kind.at_most_one:
            both = [present[name] for name in group if name in present]
            if len(both) > 1:
                names = " and ".join(f"`{key.text}`" for key in both)
                self._say(codes.EXCLUSIVE_KEYS, f"{names} exclude each other", both[1].span, "keep one of them")

    def _field(self, key: LocatedScalar, wanted: Field, value: Located, *, typed: bool, absent: bool = False) -> None:
        if wanted.refused:
            self._say(codes.REFUSED_KEY, f"`{key.text}` is refused here", key.span, wanted.refused)
            return
        if wanted.since and not self._has(wanted.since):
            self._say(
                codes.OTHER_EDITION,
                f"`{key.text}` does not exist in edition `{self.rules.label}`",
                key.span,
                "it belongs to edition `next`",
            )
            return
        if wanted.until and self._has(wanted.until):
            self._say(
                codes.OTHER_EDITION,
                f"`{key.text}` is gone in edition `{self.rules.label}`",
                key.span,
                "it belongs to edition `snapshot`",
            )
            return
        if wanted.gone_in and wanted.gone_in == self.version:
            self._say(codes.OTHER_EDITION, f"`{key.text}` is gone in manifest version {self.version}", key.span)
            return
        if wanted.only_in:
            old = wanted.only_in == self.version
            self._say(
                codes.OLD_BRIDGE_FORM if old else codes.UNKNOWN_KEY,
                f"`{key.text}` stands here in the form of the {wanted.only_in} schema only",
                key.span,
                "put it under `external` or `internal`",
                Severity.WARNING if old else Severity.ERROR,
            )
            if not old:
                return
        if not absent:
            self._look(wanted.kind, value, typed=typed)

    def _has(self, switch: str) -> bool:
        if switch == "edition":
            return self.rules.edition is Edition.NEXT
        return self.rules.is_next(switch)

    def _repeated(self, key: LocatedScalar, first: LocatedScalar) -> None:
        self._tell(
            Finding(
                codes.DUPLICATE_KEY,
                Severity.ERROR,
                f"`{shown(key.text)}` is given twice",
                key.span,
                "keep one of them",
                (Related("given here first", first.span),),
            )
        )

    def _unknown(self, kind: Fields, key: LocatedScalar) -> None:
        if len(self.findings) >= MAX_FINDINGS:
            self.untold += 1
            return
        if key.text == "<<":
            self._say(codes.UNKNOWN_KEY, f"`<<` is no key of the {kind.noun}", key.span, _MERGE_HELP)
            return
        available = [name for name, wanted in kind.fields.items() if self._available(wanted)]
        folded = key.text.replace("_", "").replace("-", "").lower()
        near = next((n for n in available if n.lower() == folded), None) or nearest(key.text, available)
        if near:
            help_text = f"did you mean `{near}`?"
        elif available and len(available) <= 12:
            help_text = "known keys: " + ", ".join(sorted(available))
        else:
            help_text = "it has no keys" if not available else ""
        self._say(codes.UNKNOWN_KEY, f"`{shown(key.text)}` is no key of the {kind.noun}", key.span, help_text)

    def _available(self, wanted: Field) -> bool:
        if wanted.refused or (wanted.only_in and wanted.only_in != self.version):
            return False
        return not (wanted.since and not self._has(wanted.since)) and not (wanted.until and self._has(wanted.until))

    def _missing(self, kind: Fields, node: Located, present: Iterable[str]) -> None:
        given = set(present)
        for name, wanted in kind.fields.items():
            if wanted.required and name not in given:
                self._say(codes.MISSING_KEY, f"the {kind.noun} lacks `{name}`", node.span)
        for group in kind.exactly_one:
            found = [name for name in group if name in given]
            names = " and ".join(f"`{name}`" for name in group)
            if not found:
                self._say(codes.MISSING_KEY, f"the {kind.noun} lacks one of {names}", node.span)
            elif len(found) > 1:
                self._say(codes.EXCLUSIVE_KEYS, f"{names} exclude each other", node.span, "keep one of them")
        if kind.some_of and not given.intersection(kind.some_of) and self._has("edition"):
            names = " nor ".join(f"`{name}`" for name in kind.some_of)
            self._say(codes.NOTHING_EXPOSED, f"the {kind.noun} has neither {names}", node.span, "", Severity.WARNING)

    def _by_tag(self, kind: ByTag, node: Located) -> None:
        if not isinstance(node, LocatedMap):
            self._wrong(node, f"a map ({kind.noun})")
            return
        tag = node.get(kind.key)
        if tag is None:
            self._say(codes.MISSING_KEY, f"the {kind.noun} lacks `{kind.key}`", node.span)
            return
        text = self._text(tag, _any_of(tuple(kind.options)), typed=True)
        if text is None:
            return
        chosen = kind.options.get(text.text)
        if chosen is None:
            self._not_a_choice(text, tuple(kind.options))
            return
        self._fields(chosen, node, typed=True)

    def _shapes(self, kind: Shapes, node: Located) -> None:
        if isinstance(node, LocatedScalar):
            if not kind.text:
                self._wrong(node, kind.says)
                return
            text = self._text(node, kind.says, typed=True)
            if text is not None and kind.words and text.text not in kind.words:
                self._not_a_choice(text, kind.words)
            return
        if isinstance(node, LocatedList):
            if kind.items is None:
                self._wrong(node, kind.says)
                return
            self._many(Many(kind.items), node, typed=True)
            for item in node.items:
                if isinstance(item, LocatedScalar) and item.text in kind.not_items:
                    self._say(codes.NOT_A_CHOICE, f"`{item.text}` may not stand in the list", item.span)
            return
        if kind.structure is None:
            self._wrong(node, kind.says)
        else:
            self._look(kind.structure, node, typed=True)

    def _wrong(self, node: Located, wants: str, *, was_list: bool = False) -> None:
        if was_list and isinstance(node, LocatedList):
            self._say(
                codes.LIST_FORM,
                "a list is the form of older documents (1.5); a map by name is wanted",
                node.span,
                _by_name(node),
            )
            return
        help_text = ""
        if isinstance(node, LocatedMap) and wants.startswith("a text"):
            first = node.entries[0][0].text if node.entries else ""
            if node.source.text.startswith("{{", node.start):
                help_text = "quote a text that begins with `{{`"
            elif " @ " in first or ")" in first:
                help_text = "quote a text that contains ` : `"
        self._say(codes.WRONG_TYPE, f"{wants} is wanted, this is {_described(node)}", node.span, help_text)


def _by_name(node: LocatedList) -> str:
    """What to write in place of a list whose entries name themselves."""
    first = next((item for item in node.items if isinstance(item, LocatedMap)), None)
    keys = [key.text for key, _ in first.entries] if first is not None else []
    label = next((key for key in keys if key in ("name", "path")), None)
    if label is None:
        return "write each entry under its name"
    rest = ", ".join(f"{shown(key)}: …" for key in keys[:6] if key != label)
    return f"write each entry under its {label}, without the key `{label}`: `<{label}>: {{{rest}}}`"


def _is_empty(node: Located, *, typed: bool) -> bool:
    """Whether nothing stands there, which a list or map reads as an empty one."""
    return not typed and isinstance(node, LocatedScalar) and node.is_plain and node.text == ""


def _described(node: Located) -> str:
    if isinstance(node, LocatedList):
        return "a list"
    if isinstance(node, LocatedMap):
        return "a map"
    if not node.is_plain:
        return "a quoted text"
    try:
        return _type_of(value_of(node))
    except MisfitError:
        return "another value"


def _type_of(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float():
            return "a number with a fraction"
        case _:
            return "a text"


def _any_of(texts: tuple[str, ...]) -> str:
    quoted = [f"`{text}`" for text in texts]
    return quoted[0] if len(quoted) == 1 else ", ".join(quoted[:-1]) + " or " + quoted[-1]
