"""Policy tests as values: what a file expects of agents, calls, operations, queries and deployments."""

from policyd.policytests.expectations import (
    CallExpectation,
    ChainExpectation,
    Expectation,
    Facets,
    OperationExpectation,
    QueryExpectation,
    ReachExpectation,
    RetryExpectation,
    SagaExpectation,
)
from policyd.policytests.files import Fixture, PolicyTest, TestFile
from policyd.policytests.reading import test_file_of_json

__all__ = [
    "CallExpectation",
    "ChainExpectation",
    "Expectation",
    "Facets",
    "Fixture",
    "OperationExpectation",
    "PolicyTest",
    "QueryExpectation",
    "ReachExpectation",
    "RetryExpectation",
    "SagaExpectation",
    "TestFile",
    "test_file_of_json",
]
