"""The graph of hops: shortest chains to whoever can do something itself. The only module that knows networkx.

Source: questions 2 (reach).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

import networkx as nx

from policyd.usecases.reach_hops import Hop
from policyd.usecases.reach_nodes import Node

MAX_DRAWN = 60
"""A picture shows the chains of at most so many actors."""


def closure(
    goals: Iterable[Node],
    others: Iterable[Node],
    hop: Callable[[Node, Node], Hop | None],
    near: Callable[[Node, dict[Node, None]], Iterable[Node]],
) -> nx.DiGraph:
    """Everybody from whom a chain leads to a goal, with one hop each on a shortest chain.

    Args:
        goals: where chains end.
        others: everybody else.
        hop: the hop from the first to the second node, or None.
        near: those of the remaining nodes from which a hop to a node is possible at all.

    Returns:
        A graph whose edges lead towards the goals and carry their `hop`; every goal is a node of it, and so is
        everybody else from whom a chain leads there.
    """
    graph = nx.DiGraph()
    waiting = deque(goals)
    graph.add_nodes_from(waiting)
    left = {node: None for node in others if node not in graph}
    while waiting and left:
        goal = waiting.popleft()
        for node in near(goal, left):
            known = hop(node, goal)
            if known is not None:
                graph.add_edge(node, goal, hop=known)
                del left[node]
                waiting.append(node)
    return graph


def chain(graph: nx.DiGraph, start: Node) -> tuple[Hop, ...]:
    """The hops of the shortest chain from a node of a closure; none for a goal."""
    hops: list[Hop] = []
    node = start
    while graph.out_degree(node):
        ((_, node, hop),) = graph.out_edges(node, data="hop")
        hops.append(hop)
    return tuple(hops)


def members(graph: nx.DiGraph) -> Iterator[Node]:
    """Everybody in a closure, goals first, then by the length of their chains."""
    yield from graph.nodes


def ranks(hops: Iterable[Hop]) -> list[list[Node]]:
    """The nodes of some chains in columns: goals last, each node in the column of its longest way to one."""
    graph = nx.DiGraph()
    for hop in hops:
        graph.add_edge(hop.actor, hop.subject)
    if not graph:
        return []
    return [sorted(layer, key=lambda n: n.name) for layer in nx.topological_generations(graph)]
