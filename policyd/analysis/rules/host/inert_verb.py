"""HOST012: a verb or class that no operation asks for. Page: inert_verb.md."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.edition import Rules
from policyd.core.grants import ANY_VERB, PermissionClass
from policyd.findings import Confidence, Finding, Related, Severity
from policyd.syntax.operations import catalogue

_INSTEAD = {("environment", "rollback"): "remove it, or grant `environment : deploy`, which a rollback asks for"}


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every grant that names a verb, or a class, which nothing on the platform asks for."""
    for card in subject.explicit_cards:
        for entry in card.entries:
            cls, verb = entry.grant.target.cls, entry.grant.target.verb
            if not entry.is_written or cls.is_newer:
                continue  # what asks for the newer classes is not published
            asked = asked_verbs(cls, subject.rules)
            if not asked:
                what = f"class `{cls.name}`"
            elif verb != ANY_VERB and verb not in asked:
                what = f"`{cls.name} : {verb}`"
            else:
                continue
            yield rule.finding(
                f"nothing asks for {what}: the grant has no effect",
                entry.placed.span,
                help=_INSTEAD.get((cls.name, verb), "remove it"),
                related=[
                    Related(
                        f"proved over the catalogue of edition `{subject.rules.edition.value}`: none of its operations"
                        " asks for it",
                        card.span,
                    )
                ],
            )


@cache
def asked_verbs(cls: PermissionClass, rules: Rules) -> frozenset[str]:
    """The verbs of a class for which the catalogue has an operation under these rules.

    Source: host 2.15, 5.2.
    """
    return frozenset(
        verb for verb in cls.verbs if any(o.is_part_of(rules) for o in catalogue().asking_for(cls.name, verb))
    )


RULE = Rule("HOST012", "inert_verb", Severity.INFO, Confidence.LIKELY, check)
