"""Shapes that name a target, or the evaluation of one: E-01 to E-04.

Source: host 5.2, 5.5.
"""

from __future__ import annotations

import re

from policyd.syntax.denials.debug_form import DebugReader, NotDebug
from policyd.syntax.denials.debug_targets import ReadTarget, class_of, kebab, read_target
from policyd.syntax.denials.excerpt import Join
from policyd.syntax.denials.hits import Hit, Scene

MAX_TARGET_CHARS = 32_768
"""Characters of the Debug form of one target, escapes included; longer ones are recognised without their target."""

_FIRST_CHARS = 2_048
_GAP = r"(?:\s|\\{1,16}[nrt]){0,80}"
_VARIANT = re.compile(r"([A-Z][A-Za-z0-9]{0,48})\(" + _GAP + "$")
_SAYS_NOT = re.compile(r"\s{0,40}is\s{0,40}not\s{0,40}allowed")
_SAYS_TARGET = re.compile(r"(?:The\s{1,40})?permission\s{1,40}target\s{1,40}$")
_FAILED = re.compile(r"Failed\s{1,40}to\s{1,40}evaluate\s{1,40}permission\s{1,40}target\s{1,40}$")
_GOES_ON = re.compile(r"[ \t]{0,8}[A-Za-z]")
_PARTIAL_VERB = re.compile(r"verb:\s{0,40}Some\(\s{0,40}([A-Z][A-Za-z]{0,40})\s{0,40}\)")


def on_class_target(scene: Scene, at: int) -> Hit | None:
    """E-01 and E-02 at `ClassPermissionTarget`: the target, if it is all there."""
    head = _VARIANT.search(scene.text, max(0, at - 160), at)
    if head is None:
        return None
    start = head.start()
    before = scene.text[max(0, start - 160) : start].replace("\\n", " ").replace("\\", "")
    failed = _FAILED.search(before)
    said = _SAYS_TARGET.search(before)
    phrase = start - len(said[0]) if said else start
    end, read, refuses = _read(scene, start, head[1])
    facts = {"class": read.cls.name if read.cls else kebab(head[1]), **({"verb": read.verb} if read.verb else {})}
    if failed:
        return Hit("E-02", start - len(failed[0]), end, facts=facts, read=read)
    if not refuses and not (said and said[0].startswith("The") and _is_cut(scene, end)):
        return None
    return Hit("E-01", max(0, phrase), end, facts=facts, read=read)


def _read(scene: Scene, start: int, variant: str) -> tuple[int, ReadTarget, bool]:
    """Where the target ends, what it says, and whether `is not allowed` follows."""
    length, joins = _FIRST_CHARS, [Join.KEEP, Join.BREAKS, Join.INDENTED]
    while scene.budget > 0:
        part = scene.ahead(start, length, join=joins[0])
        scene.budget -= length
        reader = DebugReader(part.text, 0)
        try:
            form = reader.value()
        except (NotDebug, RecursionError) as error:
            is_cut = isinstance(error, NotDebug) and error.ended and part.end < len(scene.text)
            if is_cut and length < MAX_TARGET_CHARS:
                length *= 4
                continue
            if len(joins) > 1 and "\n" in scene.text[start : part.end]:
                joins = joins[1:]  # a terminal may have broken a line within a word
                continue
            return _broken(scene, start, scene.ahead(start, 1_200).text, variant)
        says = _SAYS_NOT.match(part.text, reader.at)
        if says is None and part.end < len(scene.text) and len(part.text) - reader.at < 128:
            tail = scene.ahead(part.page_offset(reader.at), 160, part.levels)
            says = _SAYS_NOT.match(tail.text)
            if says is not None:
                return tail.page_offset(says.end()), read_target(form), True
        end = part.page_offset(says.end() if says else reader.at)
        return end, read_target(form), says is not None
    return start + len(variant), ReadTarget(class_of(variant), "", None, "all"), False


def _is_cut(scene: Scene, end: int) -> bool:
    """Whether the text breaks off behind the target; otherwise it says something else about it."""
    return _GOES_ON.match(scene.text, end) is None


def _broken(scene: Scene, start: int, text: str, variant: str) -> tuple[int, ReadTarget, bool]:
    """What can be told of a target that is cut or shortened."""
    line = text[:600]
    says = re.search(r"is\s{1,40}not\s{1,40}allowed", line)
    verb = _PARTIAL_VERB.search(line, 0, says.start() if says else len(line))
    cls = class_of(variant)
    name = kebab(verb[1]) if verb else ""
    read = ReadTarget(cls, name if cls and name in cls.verbs else "", None, "end")
    end = scene.text.find("is not allowed", start, start + 1_200)
    return (end + 14 if end >= 0 else min(start + len(variant), len(scene.text))), read, says is not None


_OTHER_TARGET = re.compile(r"\s{1,40}(?![A-Z][A-Za-z0-9]{0,48}\(" + _GAP + r"ClassPermissionTarget)(\S)")


def on_target_phrase(scene: Scene, at: int) -> Hit | None:
    """E-01 without a readable target, as shortened texts have it: `The permission target … is not allowed`."""
    end = at + len("The permission target")
    if _OTHER_TARGET.match(scene.text, end) is None:
        return None
    says = scene.text.find("is not allowed", end, end + 400)
    if says < 0 and not scene.text[end : end + 6].strip().startswith(("…", "...", "[")):
        return None
    return Hit("E-01", at, says + 14 if says >= 0 else end)


def on_failed_evaluation(scene: Scene, at: int) -> Hit | None:
    """E-02 without a Debug form behind it; `on_class_target` tells it where there is one."""
    end = at + len("Failed to evaluate permission target")
    if "ClassPermissionTarget" in scene.text[end : end + 120]:
        return None
    return Hit("E-02", at, end)


_SYSTEM = re.compile(r"The system-only action ([^\n\"'`]{1,160}?) is not allowed")
_CARDS = re.compile(r"The action ([^\n\"'`]{1,160}?) requires an auth context with cards")
_ACTION = re.compile(r"[A-Za-z][A-Za-z -]{0,100}")


def on_system_only(scene: Scene, at: int) -> Hit | None:
    """E-03: an action that only the platform may take."""
    found = _SYSTEM.match(scene.text, at)
    return Hit("E-03", at, found.end(), facts=_action(found[1])) if found else None


def on_delegation(scene: Scene, at: int) -> Hit | None:
    """E-04 at ` requires an auth context with cards`."""
    start = scene.text.rfind("The action ", max(0, at - 180), at)
    found = _CARDS.match(scene.text, start) if start >= 0 else None
    return Hit("E-04", start, found.end(), facts=_action(found[1])) if found else None


def _action(words: str) -> dict[str, str]:
    """The action, if it is plain words as all actions are."""
    return {"action": words} if _ACTION.fullmatch(words) else {}
