"""Random policies, predicates and bags for the laws of the retry core."""

from hypothesis import strategies as st

from policyd.core.retry import Boolean, Integer, Text
from policyd.core.retry import policy as p
from policyd.core.retry import predicate as q
from policyd.core.retry.duration import DMAX_NS, NANOS

NAMES = st.sampled_from(("a", "flag", "attempt", "status-code", "nope"))
VALUES = st.one_of(
    st.sampled_from(("", "a", "5", "-3", "007", "GET", "é")).map(Text),
    st.sampled_from((0, 1, 5, -3, 503, 2**63 - 1)).map(Integer),
    st.booleans().map(Boolean),
)
BAGS = st.dictionaries(NAMES, VALUES, max_size=4)
PATTERNS = st.text("ab*?/{},[]!\\5é", max_size=8)
LEAF_PREDICATES = st.one_of(
    st.builds(q.PropCompare, st.sampled_from(q.Comparison), NAMES, VALUES),
    st.builds(q.PropExists, NAMES),
    st.builds(q.PropIn, NAMES, st.lists(VALUES, max_size=3).map(tuple)),
    st.builds(q.PropText, st.sampled_from(q.TextTest), NAMES, PATTERNS),
    st.builds(q.Constant, st.booleans()),
)
PREDICATES = st.recursive(
    LEAF_PREDICATES,
    lambda below: st.one_of(st.builds(q.And, below, below), st.builds(q.Or, below, below), st.builds(q.Not, below)),
    max_leaves=6,
)
ANY_DURATION = st.one_of(st.integers(0, 10**10), st.integers(0, DMAX_NS))
ANY_FACTOR = st.floats(allow_nan=False, allow_infinity=False)


def policies(
    durations: st.SearchStrategy[int],
    factors: st.SearchStrategy[float],
    counts: st.SearchStrategy[int],
    predicates: st.SearchStrategy[q.Predicate],
    *,
    max_leaves: int,
) -> st.SearchStrategy[p.Policy]:
    """Trees of the given parameters, clamps the right way round."""
    leaves: st.SearchStrategy[p.Policy] = st.one_of(
        st.builds(p.Periodic, durations),
        st.builds(p.Exponential, durations, factors),
        st.builds(p.Fibonacci, durations, durations),
        st.just(p.Immediate()),
        st.just(p.Never()),
    )

    def grown(below: st.SearchStrategy[p.Policy]) -> st.SearchStrategy[p.Policy]:
        return st.one_of(
            st.builds(p.CountBox, counts, below),
            st.builds(p.TimeBox, durations, below),
            st.builds(lambda x, y, inner: p.Clamp(min(x, y), max(x, y), inner), durations, durations, below),
            st.builds(p.AddDelay, durations, below),
            st.builds(p.Jitter, st.sampled_from((0.0, 0.25, 1.0)), below),
            st.builds(p.FilteredOn, predicates, below),
            st.builds(p.AndThen, below, below),
            st.builds(p.Union, below, below),
            st.builds(p.Intersect, below, below),
        )

    return st.recursive(leaves, grown, max_leaves=max_leaves)


POLICIES = policies(ANY_DURATION, ANY_FACTOR, st.integers(0, 2**32 - 1), PREDICATES, max_leaves=8)
SMALL_DURATIONS = st.sampled_from((0, NANOS // 4, NANOS // 2, NANOS, 2 * NANOS, 3 * NANOS))
SMALL_PREDICATES = st.one_of(
    st.builds(q.PropCompare, st.sampled_from(q.Comparison), st.just("attempt"), st.integers(0, 5).map(Integer)),
    st.builds(lambda truth: q.PropCompare(q.Comparison.EQ, "flag", Boolean(truth)), st.booleans()),
    st.just(q.PropCompare(q.Comparison.EQ, "nope", Integer(1))),
)
SMALL_POLICIES = policies(
    SMALL_DURATIONS,
    st.sampled_from((0.5, 1.0, 1.5, 2.0, -2.0, -1.0, 0.0)),
    st.integers(0, 4),
    SMALL_PREDICATES,
    max_leaves=5,
)
