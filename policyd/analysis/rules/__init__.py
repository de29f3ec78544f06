"""All rules, and the manual page of every code.

Source: style 9.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from policyd.analysis.rule import Rule
from policyd.analysis.rules.card import (
    braces,
    card_revoke,
    cidr,
    default_card,
    denied_lower,
    deploy_lower,
    deploy_upper,
    duplicate,
    empty,
    empty_ceiling,
    files_added,
    files_withheld,
    foreign_ceiling,
    idle_ceiling,
    idle_negative,
    inert_negative,
    inert_positive,
    misplaced,
    negative_lost,
    no_derive,
    no_effect,
    replaced,
    subsumed,
    wide_grant,
    withheld_lower,
)
from policyd.analysis.rules.chain import dropped_middleware, idle_middleware, nominal_mode, unknown_middleware
from policyd.analysis.rules.host import (
    by_address,
    by_link,
    component_read,
    container_handle,
    database_server,
    directory_open,
    foreign_script_host,
    http_domain,
    inert_verb,
    inner_globstar,
    literal_star,
    method_view,
    name_resolution,
    no_self_view,
    oplog_exposes,
    oplog_page,
    own_invoke,
    own_type,
    phantoms,
    secret_pair,
    secret_spelling,
    self_view_exposes,
    self_view_withheld,
    sibling_view,
    start_up_read,
    table_less,
    table_negative,
    tool_home,
    tool_star,
    tool_words,
    transaction,
    unrecorded_denial,
    view_first,
    whole_set,
)
from policyd.analysis.rules.retry import (
    admission_uncertain,
    amplification,
    attempt_change,
    cliff,
    contradiction,
    coverage_gap,
    dead_catch_all,
    dead_trap,
    default_replaced,
    divergence,
    floored,
    gone_property,
    inert_time_box,
    jitter_cut,
    leaves_function,
    needs_idempotence,
    never_matches,
    no_saga_identity,
    not_applied,
    overlap,
    overlay_mask,
    overshoot,
    ping_pong,
    poisons,
    reserved_name,
    shadowed,
    status_invisible,
    storm,
    tie,
    transaction_name,
    type_confusion,
    unbounded,
    unreachable,
    zero_retry,
)
from policyd.findings.codes import is_code

RULES: tuple[Rule, ...] = (
    deploy_lower.RULE,
    deploy_upper.RULE,
    negative_lost.RULE,
    misplaced.RULE,
    empty.RULE,
    default_card.RULE,
    replaced.RULE,
    inert_negative.RULE,
    inert_positive.RULE,
    idle_negative.RULE,
    duplicate.RULE,
    subsumed.RULE,
    withheld_lower.RULE,
    empty_ceiling.RULE,
    denied_lower.RULE,
    foreign_ceiling.RULE,
    files_added.RULE,
    files_withheld.RULE,
    wide_grant.RULE,
    braces.RULE,
    card_revoke.RULE,
    cidr.RULE,
    no_derive.RULE,
    no_effect.RULE,
    idle_ceiling.RULE,
    self_view_exposes.RULE,
    start_up_read.RULE,
    component_read.RULE,
    self_view_withheld.RULE,
    name_resolution.RULE,
    literal_star.RULE,
    inner_globstar.RULE,
    tool_star.RULE,
    http_domain.RULE,
    phantoms.RULE,
    secret_spelling.RULE,
    inert_verb.RULE,
    no_self_view.RULE,
    whole_set.RULE,
    by_link.RULE,
    directory_open.RULE,
    by_address.RULE,
    foreign_script_host.RULE,
    secret_pair.RULE,
    table_negative.RULE,
    table_less.RULE,
    database_server.RULE,
    transaction.RULE,
    own_type.RULE,
    method_view.RULE,
    own_invoke.RULE,
    oplog_page.RULE,
    container_handle.RULE,
    sibling_view.RULE,
    oplog_exposes.RULE,
    unrecorded_denial.RULE,
    tool_home.RULE,
    tool_words.RULE,
    view_first.RULE,
    shadowed.RULE,
    overlap.RULE,
    tie.RULE,
    never_matches.RULE,
    poisons.RULE,
    type_confusion.RULE,
    unreachable.RULE,
    contradiction.RULE,
    unbounded.RULE,
    storm.RULE,
    attempt_change.RULE,
    coverage_gap.RULE,
    default_replaced.RULE,
    dead_catch_all.RULE,
    reserved_name.RULE,
    inert_time_box.RULE,
    floored.RULE,
    cliff.RULE,
    leaves_function.RULE,
    ping_pong.RULE,
    not_applied.RULE,
    overlay_mask.RULE,
    status_invisible.RULE,
    needs_idempotence.RULE,
    jitter_cut.RULE,
    gone_property.RULE,
    dead_trap.RULE,
    divergence.RULE,
    admission_uncertain.RULE,
    no_saga_identity.RULE,
    transaction_name.RULE,
    overshoot.RULE,
    zero_retry.RULE,
    amplification.RULE,
    unknown_middleware.RULE,
    idle_middleware.RULE,
    dropped_middleware.RULE,
    nominal_mode.RULE,
)
"""Every rule, by code."""

_BY_CODE = {rule.code: rule for rule in RULES}


def rule_of(code: str) -> Rule | None:
    """The rule with that code, None for codes that are told elsewhere."""
    return _BY_CODE.get(code)


IDLE_GRANTS = frozenset(
    rule.RULE.code
    for rule in (
        inert_negative, inert_positive, idle_negative, duplicate, subsumed, withheld_lower, denied_lower, no_effect,
    )
)  # fmt: skip
"""Codes of findings on one written grant that changes no decision."""


@cache
def page_of(code: str) -> str | None:
    """The manual page of a code in Markdown, None where there is none.

    Args:
        code: exact, of any family; rules have a page beside their module, the other codes one in `pages`.
    """
    rule = _BY_CODE.get(code)
    root = files("policyd.analysis.rules")
    if rule is not None:
        return root.joinpath(rule.family, f"{rule.slug}.md").read_text(encoding="utf-8")
    if not is_code(code):
        return None
    page = root.joinpath("pages", f"{code}.md")
    return page.read_text(encoding="utf-8") if page.is_file() else None
