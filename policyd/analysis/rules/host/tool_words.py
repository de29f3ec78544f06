"""HOST033: arguments of a tool grant in a spelling that calls do not have. Page: tool_words.md."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.grants.resources import Invocation
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown

_SHORT = re.compile(r"-[A-Za-z]+")
_BARE = frozenset({"true", "false", "none"})
"""Values that are no texts."""

_WORD = re.compile(r"(?:--[A-Za-z][\w-]*=)?[A-Za-z][\w. @:/-]*", re.ASCII)


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report tool grants with short options, which no call carries, and with bare words, which text does not have."""
    for card in subject.explicit_cards:
        for entry in card.entries:
            resource = entry.grant.target.resource
            if not entry.is_written or not isinstance(resource, Invocation):
                continue
            texts = [a.text for a in resource.arguments if not a.symbol and "*" not in a.text]
            effect = "admits" if entry.bound.is_positive else "denies"
            short = next((t for t in texts if _SHORT.fullmatch(t)), None)
            torn = next((a.text for a in resource.arguments if a.text.count('"') % 2), None)
            word = next((t for t in texts if _WORD.fullmatch(t) and t.partition("=")[2] not in _BARE), None)
            if torn is not None:
                yield rule.finding(
                    f"a grant is split at white space, quoted or not: {shown(torn)} is a word of its own, and the grant"
                    f" {effect} no call",
                    entry.placed.span,
                    help="write `*`: a call with white space in an argument cannot be granted by itself",
                )
            elif short is not None:
                yield rule.finding(
                    f"calls carry long options only: the grant with {shown(short)} {effect} nothing",
                    entry.placed.span,
                    help="write the long name, in the order of the command's definition; or `*` for all calls",
                )
            elif word is not None:
                yield rule.finding(
                    f"{shown(word)} is compared as it stands: where the argument is of type `string`, calls carry it in"
                    f" double quotes, and the grant {effect} none of them",
                    entry.placed.span,
                    help=f"write {shown(_quoted(word))} if the type is `string`; leave it for names, paths and numbers",
                    severity=Severity.INFO,
                    confidence=Confidence.POSSIBLE,
                )


def _quoted(word: str) -> str:
    name, equals, value = word.partition("=")
    return f'{name}="{value}"' if equals else f'"{word}"'


RULE = Rule("HOST033", "tool_words", Severity.WARNING, Confidence.LIKELY, check)
