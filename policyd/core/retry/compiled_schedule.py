"""Whether a policy compiles to a user-space schedule.

Source: retry 7.2, 7.3.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.core.retry.errors import Label, RetryFormError
from policyd.core.retry.node_list import policy_from_nodes, write_nodes
from policyd.core.retry.policy import Policy

_ERRORS = {
    Label.NODES_EMPTY: "EmptyPolicy",
    Label.NODES_TOO_COMPLEX: "PolicyTooComplex",
    Label.NODES_INDEX: "InvalidPolicyNodeIndex",
    Label.NODES_CYCLE: "CyclicPolicyNode",
    Label.EXPONENTIAL_FACTOR: "InvalidExponentialFactor",
    Label.JITTER_FACTOR: "InvalidJitterFactor",
    Label.CLAMP_RANGE: "InvalidClampRange",
}


@dataclass(frozen=True, slots=True)
class CompileProblem:
    """Why a policy does not compile.

    Attributes:
        error: as the SDK names it.
        label: as the rules name it.
        why: in words, with the place.
    """

    error: str
    label: str
    why: str


def compile_problem(policy: Policy) -> CompileProblem | None:
    """The first problem that the compilation of a policy meets, None where it compiles."""
    return nodes_problem(write_nodes(policy))


def nodes_problem(nodes: object) -> CompileProblem | None:
    """The first problem that the compilation of a list of nodes meets, None where it compiles."""
    try:
        policy_from_nodes(nodes, compiled=True)
    except RetryFormError as refusal:
        name = _ERRORS.get(refusal.label, "")
        if refusal.label is Label.FACTOR_NOT_FINITE:
            is_jitter = "jitter" in refusal.path
            name = "InvalidJitterFactor" if is_jitter else "InvalidExponentialFactor"
        return CompileProblem(name or refusal.label.text, refusal.label.text, refusal.findings[0].message)
    return None
