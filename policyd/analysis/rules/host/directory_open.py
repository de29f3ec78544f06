"""HOST016: `list` without `read`, or `read` of a tree without `stat` and `list`. Page: directory_open.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_calls import own_call, some_path, written, written_call
from policyd.analysis.card_index import index_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.cards import Bound
from policyd.core.grants.resources import FilePath
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every lower grant on files that lets a folder be listed but not opened, or files read but not found."""
    for card in subject.explicit_cards:
        entries = written(subject, card, Bound.LOWER_POSITIVE, "filesystem")
        index = index_of(subject, card)
        if not entries or not index.is_exact:
            continue
        for entry in entries:
            target = entry.grant.target
            if not isinstance(target.resource, FilePath) or target.verb not in ("read", "list"):
                continue
            path = some_path(target.resource)
            if target.verb == "read" and path == target.resource:
                continue  # a single file is read well enough without
            calls = {verb: own_call(card, "filesystem", verb, path) for verb in ("read", "list", "stat")}
            if not index.admits(calls[target.verb]) or not entry.placed.text.startswith("filesystem"):
                continue  # withheld anyway, or one of the eight grants of the old alias
            has = {verb: index.lends(call) is not None for verb, call in calls.items()}
            text = shown(target.resource.text)
            if target.verb == "list" and not has["read"]:
                yield rule.finding(
                    f"{text} may be listed but not read: opening a folder asks for `read` and `list`",
                    entry.placed.span,
                    help=f"add {shown(f'filesystem(?agent) @ ?agent : read : {target.resource.text}')}, if the code"
                    " walks folders",
                    witness=written_call(card, calls["read"]),
                )
            elif target.verb == "read" and not has["list"] and not has["stat"]:
                yield rule.finding(
                    f"files under {text} may be read by name only: `stat` and `list` are not granted, so a file looks"
                    " as if it did not exist and folders cannot be walked",
                    entry.placed.span,
                    help=f"add {shown(f'filesystem(?agent) @ ?agent : stat : {target.resource.text}')} if the code asks"
                    " whether files exist, and the same with `list` if it walks folders",
                    severity=Severity.INFO,
                    confidence=Confidence.POSSIBLE,
                    witness=written_call(card, calls["stat"]),
                )


RULE = Rule("HOST016", "directory_open", Severity.WARNING, Confidence.LIKELY, check)
