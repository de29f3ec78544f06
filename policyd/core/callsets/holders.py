"""Which holders and which instances have to be looked at, so that all others behave like one of them.

Source: cards 3.2, 3.3, 4.1, 4.2, 10.1; questions 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from policyd.core.callsets.axes import UUIDS, fresh, numbered_uuid
from policyd.core.callsets.owners import is_agent_id
from policyd.core.cards import Bounds
from policyd.core.edition import NEXT, Rules
from policyd.core.grants import AgentContext, Level, Recipient
from policyd.core.grants.recipient import EXTERNAL_TOOL_OWNER

_NAMES = (
    ("someone@example.com", "other@example.com"),
    ("app", "shop", "other"),
    ("prod", "dev", "other"),
    ("acme:app", "acme:other"),
    ("Agent", "Worker", "Other"),
)


def holders_of(recipients: Iterable[Recipient], rules: Rules = NEXT) -> tuple[Recipient, ...]:
    """Agents, users and external tool owners such that every holder is in the same recipients as one of them.

    Args:
        recipients: concrete patterns.
        rules: whether external tool owners exist.
    """
    patterns = tuple(dict.fromkeys(recipients))
    taken: list[set[object]] = [{r.known[i] for r in patterns if len(r.known) > i} for i in range(5)]
    names = tuple(fresh(words, used) for words, used in zip(_NAMES, taken, strict=True))
    prefixes = dict.fromkeys(((), *(r.known for r in patterns)))
    agents = {(*p, *names[len(p) :]): None for p in prefixes if p[4:] != (EXTERNAL_TOOL_OWNER,)}
    found = [Recipient(Level.AGENT, path) for path in agents]
    found += [Recipient(Level.ACCOUNT, (a,)) for a in dict.fromkeys((*(p[0] for p in prefixes if p), names[0]))]
    if rules.is_next("external_tool_owner"):
        components = dict.fromkeys((*p, *names[len(p) :])[:4] for p in prefixes)
        found += [
            Recipient(Level.AGENT, (*path, EXTERNAL_TOOL_OWNER), is_external_tool_owner=True) for path in components
        ]
    return tuple(found)


def instances_of(
    context: AgentContext, bounds: Iterable[Bounds], asked: Iterable[str] = (), taken: Iterable[str] = ()
) -> tuple[AgentContext, ...]:
    """Instances of one agent type such that every instance is treated like one of them.

    An instance is told apart from others only by grants that name its id, and a phantom by `T(*)`, which
    does not cover it. So: the ids of the type that some grant or the question names, one unnamed instance, one
    unnamed phantom.

    Args:
        context: the agent; its id is ignored.
        bounds: the cards that it may hold.
        asked: names that the question itself gives; ids of other types are passed over.
        taken: ids of agents with other cards: neither are they asked about here, nor is an unnamed instance called so.
    """
    others: set[object] = set(taken)
    leaves = [
        *asked,
        *(
            owner.known[-1]
            for b in bounds
            for _, _, grant in b.each()
            for owner in (grant.target.owner,)
            if owner.kind.depth == 5 and owner.known_depth == 5 and owner.known and not owner.is_type_wildcard
        ),
    ]
    of_this = [leaf for leaf in dict.fromkeys(leaves) if leaf.startswith(f"{context.agent_type}(")]
    named = [leaf for leaf in of_this if leaf not in others and is_agent_id(leaf)]
    known = others.union(named)
    of_type = context.agent_type
    plain = fresh([f'{of_type}("{n}")' for n in "abc"], known, lambda n: f'{of_type}("a{n}")')
    phantom = fresh([f"{plain}[{uuid}]" for uuid in UUIDS], known, lambda n: f"{plain}[{numbered_uuid(n)}]")
    return tuple(replace(context, agent_id=leaf) for leaf in (plain, *named, phantom))
