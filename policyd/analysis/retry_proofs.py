"""What representatives leave open, put to the solver: a proof, a context after all, or neither.

Source: retry 8.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from policyd.analysis.retry_view import RetryView, confidence_of, names_of
from policyd.core.retry import NamedPolicy, Site
from policyd.findings import Confidence

TIMEOUT_MS = 250
"""For one question; past it the answer stays that of the representatives."""

MAX_QUESTIONS = 20
"""For one audit; past them what representatives say counts."""

MAX_UNSETTLED = 6
"""After so many questions that the solver leaves open no more are put to it."""

RULES_PER_QUESTION = 100
"""Rules that one question puts to the solver; every further hundred counts as one question more."""


def never_selected(
    view: RetryView, policy: NamedPolicy, sites: Iterable[Site], among: Sequence[NamedPolicy]
) -> tuple[tuple[Site, ...], Confidence]:
    """The sites at which a policy is really never selected, and how sure that is.

    Args:
        view: the rules.
        policy: the policy, which no representative context selects.
        sites: where.
        among: the rules in the order of selection, the policy itself among them.

    Returns:
        The sites without those where the solver found a context, certain where everything is proved.
    """
    names = names_of(among)
    kept: list[Site] = []
    worst = Confidence.CERTAIN
    answers: dict[object, object] = {}
    for site in sites:
        sampled = confidence_of([view.study.space(site)], names)
        if sampled is Confidence.CERTAIN:
            kept.append(site)
            continue
        # Sites that show the same and select in the same way have the same answer.
        key = (site.noun, site.resolver, site.verbs, site.always_present(view.edition), site.error_type)
        if key not in answers:
            answers[key] = _asked(view, policy, site, among)
        found = answers[key]
        if found is False:
            continue
        kept.append(site)
        if found is None:
            worst = _worse(worst, sampled)
    return tuple(kept), worst


def _asked(view: RetryView, policy: NamedPolicy, site: Site, among: Sequence[NamedPolicy]) -> bool | None:
    """Whether it is proved that the policy is never selected; None where the solver cannot tell."""
    count = view.subject.once("retry questions", lambda: [0, 0])
    if count[0] >= MAX_QUESTIONS or count[1] >= MAX_UNSETTLED:
        return None
    count[0] += 1 + len(among) // RULES_PER_QUESTION
    # The solver is loaded only where it is needed.
    from policyd.solver.retry_questions import Exists, Impossible, wins

    found = wins(site, view.edition, among, policy, TIMEOUT_MS)
    if isinstance(found, Exists):
        return False
    if isinstance(found, Impossible):
        return True
    count[1] += 1
    return None


def _worse(one: Confidence, other: Confidence) -> Confidence:
    order = (Confidence.CERTAIN, Confidence.LIKELY, Confidence.POSSIBLE)
    return max(one, other, key=order.index)
