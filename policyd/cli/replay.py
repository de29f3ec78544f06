"""The command lines with which `policyd check` decides a witness again.

Source: questions 2 (a witness is a concrete call that the exact evaluator confirms); interface, Flags.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from policyd.core.edition import NEXT
from policyd.syntax import GrantSyntaxError, parse_target
from policyd.usecases.asking import Asking
from policyd.usecases.changes import Changes, HolderChange, ShownWitness

BEFORE_EXPIRY = "1970-01-01T00:00:00Z"
"""A moment at which no card has expired yet, for questions that leave expiry aside."""


@dataclass(frozen=True, slots=True)
class Flags:
    """The flags of a question that its witnesses need as well, as they were typed."""

    env: str | None = None
    preset: str | None = None
    account: str = ""
    component: str = ""
    include_root: Path | None = None
    at: str | None = None
    edition: str = ""
    switch: tuple[str, ...] = ()


def command_line(source: str, flags: Flags, who: Asking, call: str, *, is_wallet: bool) -> str:
    """`policyd check …` for one call.

    Args:
        source: a manifest, a stored deployment or a wallet file.
        flags: of the question.
        who: the asker.
        call: the witness.
        is_wallet: whether `source` is a wallet file.
    """
    is_stored = source.startswith("@")
    words = ["policyd", "check"]
    if is_wallet:
        words += ["--wallet", source]
    else:
        words.append(source)
    if not is_wallet and not is_stored:
        words += _flag("--env", flags.env) + _flag("--preset", flags.preset)
        words += _flag("--account", flags.account or who.account)
        words += _flag("--include-root", str(flags.include_root) if flags.include_root else "")
    if not is_wallet:
        words += _flag("--component", flags.component or who.component)
    if is_stored:
        words += _flag("--holder", who.holder)
    words += _flag("--agent", who.agent)
    if is_wallet or is_stored:
        words += _flag("--at", flags.at or (BEFORE_EXPIRY if who.is_before_expiry else ""))
    words += _flag("--edition", "" if flags.edition == "next" else flags.edition)
    for item in flags.switch:
        words += _flag("--switch", item)
    return shlex.join([*words, call])


def _flag(name: str, value: str | None) -> list[str]:
    return [name, value] if value else []


def check_of(
    source: str | None, flags: Flags, who: Asking | None, call: str, *, admitted: bool
) -> list[dict[str, object]]:
    """One command line with its answer; none where no command can ask this.

    Card files hold nobody's cards by themselves, so `check` cannot ask about them.
    """
    if source is None or who is None or not can_be_written(call):
        return []
    is_wallet = source.lower().endswith(".json")
    if is_wallet and not _is_wallet(Path(source)):
        return []
    return [{"command": command_line(source, flags, who, call, is_wallet=is_wallet), "admitted": admitted}]


def can_be_written(call: str) -> bool:
    """Whether `check` reads the text of a call as that call.

    The invocation of a method without a name and some agent ids cannot be written as a target (cards 1.11).
    """
    try:
        return parse_target(call, NEXT, slots=True).text.rstrip() == call.rstrip()
    except GrantSyntaxError:
        return False


def _is_wallet(path: Path) -> bool:
    from policyd.cli import options as opt

    value = opt.read_json(path)
    return isinstance(value, dict) and "holder" in value


def with_checks(
    plain: dict[str, object], changes: Changes, old: Sources, new: Sources, flags: Flags
) -> dict[str, object]:
    """The changes as plain values, every witness with the command lines that decide it again.

    Args:
        plain: as `changes_json` gives it.
        changes: the same.
        old: where the cards before are; by holder, or the same for all.
        new: likewise; None where they are nowhere to be asked about.
        flags: of the question.
    """

    def checks(holder: HolderChange, witness: ShownWitness, *, is_new: bool) -> list[dict[str, object]]:
        sides = (_source(new, holder.name), _source(old, holder.name))
        yes, no = sides if is_new else sides[::-1]
        return [
            *check_of(yes, flags, witness.admitted, witness.call, admitted=True),
            *check_of(no, flags, witness.refused, witness.call, admitted=False),
        ]

    holders = plain["holders"]
    assert isinstance(holders, list)
    for holder, shown in zip(changes.holders, holders, strict=True):
        for key, side, is_new in (("started", holder.started, True), ("stopped", holder.stopped, False)):
            for witness, told in zip(side.witnesses, shown[key]["witnesses"], strict=True):
                told["checks"] = checks(holder, witness, is_new=is_new)
                told["canBeWritten"] = can_be_written(witness.call)
    return plain


Sources = str | Mapping[str, str] | None
"""One source for all holders, one for each by name, or none."""


def _source(sources: Sources, name: str) -> str | None:
    return sources.get(name) if isinstance(sources, Mapping) else sources
