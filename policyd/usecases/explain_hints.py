"""What a pasted error itself tells of the holder: the account, the agent and its id.

Source: host 4.1, 5.2, 6.1 (V-2).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from policyd.core.application import Deployment
from policyd.core.grants import OwnerKind
from policyd.syntax.denials.reading import Reading
from policyd.usecases.deployments import Selection, agent_name

_OWN = frozenset({"filesystem", "env", "config"})
"""The classes whose owner is always the agent that asks."""


@dataclass(frozen=True, slots=True)
class Hint:
    """Who was denied.

    Attributes:
        agent: as given, or the id from the error; empty where neither tells.
        selection: with the account from the error where nothing else tells one.
        notes: what was taken from the error.
    """

    agent: str
    selection: Selection
    notes: tuple[str, ...] = ()


def hinted(reading: Reading | None, deployment: Deployment, agent: str, selection: Selection) -> Hint:
    """The holder as given, with what the error tells where it is not given.

    Only names that fit the deployment are taken: its application and environment, and one of its agent types.
    """
    hint = Hint(agent or (deployment.agent_names[0] if len(deployment.agent_names) == 1 else ""), selection)
    for denial in reading.denials if reading is not None else ():
        target = denial.target
        if target is None:
            continue
        known = target.owner.known
        names = (deployment.application, deployment.environment)
        if len(known) < 3 or known[1:3] != names or known[0] == "*":
            continue
        if not (selection.account or deployment.account or hint.selection.account):
            note = f"account {known[0]} is taken from the error"
            hint = replace(hint, selection=replace(selection, account=known[0]), notes=(*hint.notes, note))
        if target.owner.kind is OwnerKind.AGENT and len(known) == 5 and target.cls.name in _OWN:
            type_name, is_id = known[4].partition("(")[0], "(" in known[4]
            wanted, given_id = agent_name(agent) if agent else ("", None)
            if is_id and given_id is None and type_name in deployment.agent_names and wanted in ("", type_name):
                hint = replace(hint, agent=known[4], notes=(*hint.notes, f"agent `{known[4]}` is taken from the error"))
                break
    return hint
