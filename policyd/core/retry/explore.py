"""All runs of a policy at once, as a graph: exact figures where the graph is small enough.

A node is a state of the policy, the least time elapsed with which it can be reached, and the decision's number. The
opponent picks a row of the filters, and lets no time pass or exactly what is missing to a limit: more would only take
possibilities away.

Source: retry 5.2, 5.6.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from policyd.core.retry.domain import Filters
from policyd.core.retry.machine import Machine, State


@dataclass(frozen=True, slots=True)
class Figures:
    """Exact figures of all runs.

    Attributes:
        max_retries: the most retries of one run; None without a greatest.
        min_retries: the fewest of a run that ends; None when none ends.
        always_ends: whether no run goes on for ever while time passes.
        horizon_ns: the least time below which every retry is given; None when there is none.
        least_total_ns: the smallest sum of delays of a run that ends; None where `max_retries` is.
        most_total_ns: the largest; None where `max_retries` is.
    """

    max_retries: int | None
    min_retries: int | None
    always_ends: bool
    horizon_ns: int | None
    least_total_ns: int | None
    most_total_ns: int | None


_Node = tuple[State, int, int]


@dataclass(slots=True)
class _Graph:
    """The graph under construction; nodes are numbered in the order of their fewest retries."""

    nodes: list[_Node] = field(default_factory=list)
    numbers: dict[_Node, int] = field(default_factory=dict)
    edges: list[dict[int, tuple[int, int]]] = field(default_factory=list)
    ends: list[bool] = field(default_factory=list)
    horizon: int | None = 0

    def number(self, node: _Node) -> int:
        known = self.numbers.get(node)
        if known is None:
            known = self.numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return known


def explore(machine: Machine, filters: Filters, work: int) -> Figures | None:
    """Follow all runs.

    Args:
        machine: the policy; an untimed one gives no totals worth reading.
        filters: what its filters see.
        work: node visits before the exploration is given up.

    Returns:
        The figures, or None when they take more work.
    """
    graph = _grown(machine, filters, work)
    if graph is None:
        return None
    order = _topological(graph, range(len(graph.nodes)))
    min_retries = _fewest(graph)
    if order is None:
        last = machine.limits[-1] if machine.limits else 0
        late = [n for n, (_, elapsed, _) in enumerate(graph.nodes) if elapsed >= last]
        always_ends = _topological(graph, late) is not None
        return Figures(None, min_retries, always_ends, graph.horizon, None, None)
    most = [0] * len(graph.nodes)
    least_total: list[int | None] = [None] * len(graph.nodes)
    most_total: list[int] = [0] * len(graph.nodes)
    for n in reversed(order):
        low: int | None = 0 if graph.ends[n] else None
        for child, (shortest, longest) in graph.edges[n].items():
            most[n] = max(most[n], most[child] + 1)
            most_total[n] = max(most_total[n], most_total[child] + longest)
            below = least_total[child]
            if below is not None and (low is None or below + shortest < low):
                low = below + shortest
        least_total[n] = low
    return Figures(most[0], min_retries, True, graph.horizon, least_total[0], most_total[0])


def _grown(machine: Machine, filters: Filters, work: int) -> _Graph | None:
    graph = _Graph()
    step = machine.root.step
    last = machine.limits[-1] if machine.limits else 0
    graph.number((machine.root.start, 0, 1))
    at = 0
    while at < len(graph.nodes):
        state, elapsed, k = graph.nodes[at]
        edges: dict[int, tuple[int, int]] = {}
        ends = False
        later = filters.held(k + 1)
        for moment in (elapsed, *(limit for limit in machine.limits if limit > elapsed)):
            for row in filters.rows(k):
                work -= machine.size
                after, verdict = step(state, moment, row)
                if verdict < 0:
                    ends = True
                    continue
                child = graph.number((after, min(moment + verdict, last), later))
                known = edges.get(child)
                edges[child] = (verdict, verdict) if known is None else (min(known[0], verdict), max(known[1], verdict))
                if graph.horizon is not None:
                    limit = machine.next_limit(moment)
                    graph.horizon = None if limit is None else max(graph.horizon, limit)
        if work < 0:
            return None
        graph.edges.append(edges)
        graph.ends.append(ends)
        at += 1
    return graph


def _fewest(graph: _Graph) -> int | None:
    """The fewest retries to a node where a run can end."""
    distance: dict[int, int] = {0: 0}
    queue = [0]
    for n in queue:
        if graph.ends[n]:
            return distance[n]
        for child in graph.edges[n]:
            if child not in distance:
                distance[child] = distance[n] + 1
                queue.append(child)
    return None


def _topological(graph: _Graph, members: range | list[int]) -> list[int] | None:
    """The members in an order in which edges lead forward; None when some of them lie on a cycle."""
    inside = set(members)
    incoming = dict.fromkeys(inside, 0)
    for n in inside:
        for child in graph.edges[n]:
            if child in inside:
                incoming[child] += 1
    order = [n for n in members if not incoming[n]]
    for n in order:
        for child in graph.edges[n]:
            if child in inside:
                incoming[child] -= 1
                if not incoming[child]:
                    order.append(child)
    return order if len(order) == len(inside) else None
