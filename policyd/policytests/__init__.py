"""Policy tests as values: what a file expects of agents, calls and queries."""

from policyd.policytests.expectations import CallExpectation, PolicyTest, QueryExpectation, TestFile
from policyd.policytests.reading import test_file_of_json

__all__ = ["CallExpectation", "PolicyTest", "QueryExpectation", "TestFile", "test_file_of_json"]
