"""Rules over resolved deployments: what is wrong or risky in the cards of a manifest."""

from policyd.analysis.audit import audit
from policyd.analysis.rule import Rule, Scope
from policyd.analysis.rules import RULES, page_of
from policyd.analysis.subject import AuditedCard, Entry, Subject

__all__ = ["RULES", "AuditedCard", "Entry", "Rule", "Scope", "Subject", "audit", "page_of"]
