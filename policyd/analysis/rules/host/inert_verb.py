"""HOST012: a verb or class that no operation asks for. Page: inert_verb.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.effect import INERT_CLASSES, is_never_asked
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Related, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every grant that names a verb, or a class, which nothing on the platform asks for."""
    for card in subject.explicit_cards:
        for entry in card.entries:
            target = entry.grant.target
            name, verb = target.cls.name, target.verb
            if not entry.is_written or target.cls.is_newer:
                continue
            if name in INERT_CLASSES:
                what = f"class `{name}`"
            elif is_never_asked(name, verb):
                what = f"`{name} : {verb}`"
            else:
                continue
            yield rule.finding(
                f"nothing asks for {what}: the grant has no effect",
                entry.placed.span,
                help="remove it, or grant `environment : deploy`, which a rollback asks for"
                if verb == "rollback"
                else "remove it",
                related=[Related("proved over the catalogue: none of its operations asks for it", card.span)],
            )


RULE = Rule("HOST012", "inert_verb", Severity.INFO, Confidence.LIKELY, check)
