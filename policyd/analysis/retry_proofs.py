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

MAX_QUESTIONS = 30
"""For one finding."""


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
    asked = 0
    for site in sites:
        sampled = confidence_of([view.study.space(site)], names)
        if sampled is Confidence.CERTAIN:
            kept.append(site)
            continue
        asked += 1
        if asked > MAX_QUESTIONS:
            kept.append(site)
            worst = _worse(worst, sampled)
            continue
        # The solver is loaded only where it is needed.
        from policyd.solver.retry_questions import Exists, Impossible, wins

        found = wins(site, view.edition, among, policy, TIMEOUT_MS)
        if isinstance(found, Exists):
            continue
        kept.append(site)
        if not isinstance(found, Impossible):
            worst = _worse(worst, sampled)
    return tuple(kept), worst


def _worse(one: Confidence, other: Confidence) -> Confidence:
    order = (Confidence.CERTAIN, Confidence.LIKELY, Confidence.POSSIBLE)
    return max(one, other, key=order.index)
