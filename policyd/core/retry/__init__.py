"""Retry policies: their forms, what selects them, how they step, and where they end."""

from policyd.core.retry.api_form import (
    floored_ms,
    policy_from_api,
    predicate_from_api,
    through_manifest,
    write_api,
)
from policyd.core.retry.canonical import (
    read_manifest_rule,
    read_policy,
    read_predicate,
    read_rule,
    write_canonical,
    write_rule,
)
from policyd.core.retry.catalogue import CATALOGUE, Property, PropertyType, property_named
from policyd.core.retry.context import Context
from policyd.core.retry.defects import Defect, defects_of
from policyd.core.retry.domain import Domain
from policyd.core.retry.duration import DMAX_NS, duration_text, parse_duration
from policyd.core.retry.errors import GlobEffortError, Label, RetryFormError
from policyd.core.retry.evaluate import Lenient, body_applies, evaluate_lenient, evaluate_strict
from policyd.core.retry.fingerprint import rule_fingerprint, tree_fingerprint
from policyd.core.retry.glob import glob_matches
from policyd.core.retry.limits import (
    Amount,
    Cause,
    Effort,
    Elapsed,
    Facet,
    LimitClass,
    Limits,
    limits_of,
)
from policyd.core.retry.node_list import policy_from_nodes, predicate_from_nodes, write_nodes
from policyd.core.retry.policy import NamedPolicy, Policy, RetryConfig, default_rule, mentions
from policyd.core.retry.predicate import Predicate
from policyd.core.retry.resolve import (
    Considered,
    Effective,
    Outcome,
    Overlay,
    Resolver,
    RuleSet,
    Selection,
    SiteResolver,
    Tier,
    effective_rules,
    select,
)
from policyd.core.retry.schedule import Decision, Schedule, run_schedule
from policyd.core.retry.sites import SITES, Noun, Site, site_named
from policyd.core.retry.state import State, initial_state, is_exhausted, marked_exhausted, retry_count, shape_of
from policyd.core.retry.step import Aborts, Failed, GiveUp, Retry, Verdict, lower_end, step, upper_end
from policyd.core.retry.value import Bag, Boolean, Integer, PropertyValue, Text

__all__ = [
    "CATALOGUE", "DMAX_NS", "SITES", "Aborts", "Amount", "Bag", "Boolean", "Cause", "Considered", "Context", "Decision",
    "Defect", "Domain", "Effective", "Effort", "Elapsed", "Facet", "Failed", "GiveUp", "GlobEffortError", "Integer",
    "Label", "Lenient", "LimitClass", "Limits", "NamedPolicy", "Noun", "Outcome", "Overlay", "Policy", "Predicate",
    "Property", "PropertyType", "PropertyValue", "Resolver", "Retry", "RetryConfig", "RetryFormError", "RuleSet",
    "Schedule", "Selection", "Site", "SiteResolver", "State", "Text", "Tier", "Verdict", "body_applies", "default_rule",
    "defects_of", "duration_text", "effective_rules", "evaluate_lenient", "evaluate_strict", "floored_ms",
    "glob_matches", "initial_state", "is_exhausted", "limits_of", "lower_end", "marked_exhausted", "mentions",
    "parse_duration", "policy_from_api", "policy_from_nodes", "predicate_from_api", "predicate_from_nodes",
    "property_named", "read_manifest_rule", "read_policy", "read_predicate", "read_rule", "retry_count",
    "rule_fingerprint", "run_schedule", "select", "shape_of", "site_named", "step", "through_manifest",
    "tree_fingerprint", "upper_end", "write_api", "write_canonical", "write_nodes", "write_rule",
]  # fmt: skip
