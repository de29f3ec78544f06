"""Limits agree with stepping: what is exact is reached and not exceeded, what is a bound holds."""

from hypothesis import given
from hypothesis import strategies as st
from retry_strategies import SMALL_POLICIES

from policyd.core.retry import Boolean, Domain, Effort, Elapsed, Integer, LimitClass, Policy, Retry, limits_of, step
from policyd.core.retry.policy import TimeBox, nodes_of
from policyd.core.retry.state import State, initial_state
from policyd.core.retry.value import Bag

FOLLOWED = 9
"""Retries after which a run is followed no further."""

DOMAINS = st.builds(
    Domain,
    free=st.sampled_from(((), (("flag", (Boolean(True), Boolean(False))),))),
    attempt=st.booleans(),
)

LITTLE = st.sampled_from((Effort(0, 0), Effort(0, 100), Effort(0, 10**5)))


def _bags(domain: Domain, k: int) -> list[Bag]:
    base = {"attempt": Integer(k)} if domain.attempt else {}
    return [{**base, "flag": v} for v in domain.free[0][1]] if domain.free else [base]  # type: ignore[dict-item]


def _reached(policy: Policy, domain: Domain, elapsed: Elapsed) -> tuple[int, int | None, int]:
    """Step through all runs: the most retries seen, the fewest of a run that ended, the largest time of a retry."""
    limits = sorted({n.limit_ns for n in nodes_of(policy) if isinstance(n, TimeBox)})
    frontier: set[tuple[State, int]] = {(initial_state(policy), 0)}
    fewest, latest = None, -1
    for retries in range(FOLLOWED + 1):
        later: set[tuple[State, int]] = set()
        for state, at in frontier:
            moments = [at, *(x for x in limits if x > at)] if elapsed is Elapsed.REAL else [0]
            for moment in moments:
                for bag in _bags(domain, retries + 1):
                    after, verdict = step(policy, state, moment, bag)
                    if isinstance(verdict, Retry):
                        latest = max(latest, moment)
                        cap = limits[-1] if limits else 0
                        later.add((after, min(moment + verdict.delay_ns, cap)))
                    elif fewest is None:
                        fewest = retries
        if not later:
            return retries, fewest, latest
        frontier = later
    return FOLLOWED + 1, fewest, latest


@given(SMALL_POLICIES, DOMAINS, st.sampled_from(Elapsed))
def test_limits_are_those_of_stepping(policy: Policy, domain: Domain, elapsed: Elapsed) -> None:
    """The most and the fewest retries are those of all runs, as far as the runs are followed."""
    limits = limits_of(policy, elapsed, domain)
    most, fewest, latest = _reached(policy, domain, elapsed)
    assert limits.retries.exact
    if most <= FOLLOWED:
        assert limits.retries.at_most == most
    else:
        assert limits.retries.at_most is None or limits.retries.at_most > FOLLOWED
    if fewest is not None:
        assert limits.min_retries == fewest
    elif most <= FOLLOWED:
        assert limits.some_run_ends is False
    if elapsed is Elapsed.REAL and limits.horizon.at_most is not None and latest >= 0:
        assert latest < limits.horizon.at_most
    if limits.limit_class is LimitClass.DEGENERATE:
        assert most == 0


@given(
    SMALL_POLICIES, DOMAINS, st.sampled_from(Elapsed), st.sampled_from((Effort(0, 0), Effort(0, 100), Effort(0, 10**5)))
)
def test_bounds_hold_for_the_exact_figures(policy: Policy, domain: Domain, elapsed: Elapsed, effort: Effort) -> None:
    """With little effort the figures are wider, never beside the exact ones; what is still exact is the same."""
    exact = limits_of(policy, elapsed, domain)
    loose = limits_of(policy, elapsed, domain, effort)
    wanted = exact.retries.at_most
    if loose.retries.exact:
        assert loose.retries.at_most == wanted
    else:
        assert wanted is None or loose.retries.at_least <= wanted
        assert loose.retries.at_most is None or (wanted is not None and wanted <= loose.retries.at_most)
    assert loose.always_ends in (None, exact.always_ends)
    if loose.limit_class is LimitClass.UNBOUNDED:
        assert exact.limit_class is LimitClass.UNBOUNDED
    if exact.limit_class is LimitClass.UNBOUNDED:
        assert loose.limit_class in (LimitClass.UNBOUNDED, LimitClass.UNKNOWN)
    if exact.total.exact and exact.total.at_most is not None and loose.total.at_most is not None:
        assert exact.total.at_most <= loose.total.at_most
    if loose.horizon.at_most is not None:
        assert exact.horizon.at_most is not None
        assert exact.horizon.at_most <= loose.horizon.at_most


@given(SMALL_POLICIES, st.sampled_from(Elapsed))
def test_what_is_unknown_is_no_more_bounded(policy: Policy, elapsed: Elapsed) -> None:
    """An open world allows at least what a closed one does."""
    closed = limits_of(policy, elapsed, Domain(attempt=True))
    opened = limits_of(policy, elapsed, Domain(attempt=True, open_world=True))
    if opened.retries.at_most is not None:
        assert closed.retries.at_most is not None
        assert closed.retries.at_most <= opened.retries.at_most
