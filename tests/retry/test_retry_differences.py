"""The worked examples on differences of rule sets, and laws of differences."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from retry_audit import edition_of
from retry_notation import case_ids, load_cases, rule_of
from retry_strategies import PREDICATES

from policyd.core.edition import Edition, Rules
from policyd.core.retry import NamedPolicy, effective_rules
from policyd.core.retry import policy as p
from policyd.core.retry.difference import after_deploying, difference_of
from policyd.core.retry.sites import SITES, site_named
from policyd.core.retry.study import Study


def _effective(texts: list[str]) -> tuple[NamedPolicy, ...]:
    return tuple(e.rule for e in effective_rules(map(rule_of, texts)))


@pytest.mark.parametrize("case", load_cases("differences.yaml"), ids=case_ids)
def test_difference(case: dict[str, Any]) -> None:
    """Each site changes as the example says, and no other does where it says so."""
    changes = difference_of(_effective(case["before"]), _effective(case["after"]), edition_of(case))
    at = {site.slug: d for d in changes.differences for site in d.sites}
    for site in SITES:
        expected = case.get(site.slug)
        if expected is None:
            continue
        if expected == "unchanged":
            assert site.slug not in at
            continue
        found = at[site.slug]
        assert [c.value for c in found.changes] == expected["is"]
        if "retries" in expected:
            limits = (found.limits_before, found.limits_after)
            assert [0 if x is None else x.retries.at_most for x in limits] == expected["retries"]
        if "flight" in expected:
            assert found.in_flight is not None
            assert found.in_flight.name == expected["flight"]
        if "region" in expected:
            assert found.region.words == expected["region"]
    if "only" in case:
        assert sorted(at) == sorted(case["only"])


RULES = st.lists(
    st.builds(
        NamedPolicy,
        st.sampled_from(("a", "b", "c")),
        st.integers(0, 2),
        PREDICATES,
        st.sampled_from((p.Immediate(), p.Never(), p.CountBox(2, p.Periodic(5)))),
    ),
    max_size=3,
    unique_by=lambda rule: rule.name,
)


@settings(max_examples=60)
@given(RULES, RULES, st.sampled_from(Edition))
def test_witnesses_are_selected_otherwise(one: list[NamedPolicy], other: list[NamedPolicy], edition: Edition) -> None:
    """In the witness of every difference the two sets select what the difference says."""
    rules = Rules(edition)
    before, after = (tuple(e.rule for e in effective_rules(some)) for some in (one, other))
    for difference in difference_of(before, after, rules).differences:
        site = difference.sites[0]
        for policies, outcome in ((before, difference.before), (after, difference.after)):
            study = Study(policies, rules, witnesses=(*before, *after))
            space = study.space(site)
            names = [name for group in space.groups for name in group.names]
            context = space.where(names, difference.witness)
            assert context
            judged = [j.rule.name for j in study.picked(site).judged if (j.win | j.ends) & context]
            assert judged == ([outcome.rule.name] if outcome.rule is not None else [])


def test_nothing_differs_from_itself() -> None:
    """A set of rules compared with itself has no difference."""
    rules = _effective(["a@3 | status-code >= 500 | cb(3,per(1s))", "b@1 | true | imm"])
    changes = difference_of(rules, rules, Rules())
    assert changes.differences == ()
    assert changes.edited == changes.added == changes.removed == ()


def test_deployment_skips_what_exists() -> None:
    """A deployment onto an environment adds new names only."""
    existing, manifest = [rule_of("a@1 | true | imm")], [rule_of("a@9 | true | never"), rule_of("b@2 | true | never")]
    after, skipped = after_deploying(existing, manifest)
    assert [rule.name for rule in after] == ["a", "b"]
    assert after[0] is existing[0]
    assert skipped == ("a",)
    assert site_named("saga") is not None
