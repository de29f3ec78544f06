"""Admission of an operation for all agents of a type.

Source: questions 1, 3; interface.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from policyd.core.admission.admit import Reach, TypeAnswer, over_instances
from policyd.core.admission.names import PHANTOM, instances
from policyd.core.admission.operation import OperationCall, OperationVerdict, admit_operation, asker_of
from policyd.core.admission.verdict import Verdict
from policyd.core.admission.wallet import Wallet
from policyd.core.edition import NEXT, Rules
from policyd.core.grants import Target
from policyd.core.operations import NO_PORTS, Ports, Refusal, Unclear, asked_by


def admit_operation_type(
    wallet: Wallet, call: OperationCall, ports: Ports = NO_PORTS, rules: Rules = NEXT
) -> tuple[TypeAnswer, OperationVerdict]:
    """The verdict for an agent, or for all agents of a type while only the type is known.

    Returns:
        For whom it holds, and the answer in full about the agent that is shown.
    """
    context = wallet.context
    if context is None or context.agent_id is not None:
        answer = admit_operation(wallet, call, ports, rules)
        name = context.agent_id or "" if context else ""
        return TypeAnswer(answer.verdict, Reach.ONE, name), answer
    asked = asked_by(call.operation, call.arguments, asker_of(wallet, call), ports, rules)
    targets = [] if isinstance(asked, (Refusal, Unclear)) else [item.target for item in asked]
    ordinary, phantoms = _tried(context.agent_type, wallet, targets)
    answers: dict[str, OperationVerdict] = {}

    def verdict_of(name: str) -> Verdict:
        known = wallet.for_agent(replace(context, agent_id=name))
        answers[name] = admit_operation(known, call, ports, rules)
        return answers[name].verdict

    found = over_instances(ordinary, phantoms, verdict_of)
    return found, replace(answers[found.instance], verdict=found.verdict)


def _tried(agent_type: str, wallet: Wallet, targets: Sequence[Target]) -> tuple[list[str], list[str]]:
    """The agents of a type that stand for all: those that cards or targets name, and before them one that none does."""
    ordinary: dict[str, None] = {}
    phantoms: dict[str, None] = {}
    cards = [held.card for held in wallet.cards]
    for target in targets or (None,):
        plain, forked = instances(agent_type, cards, target)
        ordinary |= dict.fromkeys(plain[1:])
        phantoms |= dict.fromkeys(forked[1:])
    number = 1
    while (fresh := f'{agent_type}("{number}")') in ordinary or f"{fresh}{PHANTOM}" in phantoms:
        number += 1
    return [fresh, *ordinary], [f"{fresh}{PHANTOM}", *phantoms]
