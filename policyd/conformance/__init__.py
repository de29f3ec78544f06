"""Recorded questions and answers of the platform: read, ask, compare."""

from policyd.conformance.run import OperationCount, Outcome, check_sources, operations

__all__ = ["OperationCount", "Outcome", "check_sources", "operations"]
