"""How long chains take to find: building the world, one query, a blast radius; and the memory.

    python bench/bench_reach.py [--agents 2000] [--grants 25]

A manifest of one environment: a tenth of the agent types have the default card, the others `--grants` grants each,
that name single types, stores of their own and of others, hosts, tables and secrets; every tenth has a ceiling. The
questions: a secret that few may read, a call that nobody may make, and what one type comes by.
"""

from __future__ import annotations

import argparse
import gc
import random
import resource
import time
from collections.abc import Callable
from typing import TypeVar

from policyd.core.edition import NEXT
from policyd.manifest import load_text
from policyd.usecases.deployments import Selection, described
from policyd.usecases.holders import holders_in
from policyd.usecases.reach import blast_radius, reach_to
from policyd.usecases.reach_world import entrances_of, world_of

Result = TypeVar("Result")


def manifest(agents: int, grants: int, default_share: int) -> str:
    """The text of the manifest; one in `default_share` types has the default card, none for 0."""
    dice = random.Random("policyd reach")
    out = [
        "manifestVersion: 1.6.0",
        "app: shop",
        "environments: {prod: {server: cloud, account: acme@example.com}}",
        "components: {'shop:all': {dir: all, templates: rust}}",
        "agents:",
    ]
    for number in range(agents):
        if default_share and number % default_share == 3:
            out.append(f"  T{number}: {{}}")
            continue
        out += [f"  T{number}:", "    initialCard:", "      lowerBound:", "        positive:"]
        lines = ["agent(?agent) @ ?agent : view :", "env(?agent) @ ?agent : read : *"]
        while len(lines) < grants:
            other = dice.randrange(agents)
            lines.append(
                dice.choice(
                    (
                        f"agent(?component/T{other}(*)) @ ?agent : invoke : run{number % 7}",
                        f"kv(?env) @ ?agent : * : bucket{number}.**",
                        f"kv(?env) @ ?agent : read : bucket{other}.k{number}",
                        f"network() @ ?agent : connect : api{other}.example.com:443",
                        f"secret(?env) @ ?agent : reveal : team{number % 97}.key{other % 50}",
                        f"rdbms(?env) @ ?agent : query : db{other}.public.t",
                    )
                )
            )
        out += [f"          - '{line}'" for line in lines]
        if number % 10 == 0:
            ceiling = (
                "agent(?env/*/*) @ ?agent : * : *",
                "kv(?env) @ ?agent : * : *.**",
                "env(?agent) @ ?agent : read : *",
            )
            out += ["      upperBound:", "        positive:", *(f"          - '{line}'" for line in ceiling)]
    out += ["httpApi:", "  deployments:", "    prod:", "      - domain: api.example.com", "        agents: {T1: {}}"]
    return "\n".join(out) + "\n"


def timed(name: str, call: Callable[[], Result]) -> Result:
    """What a call gives, its time on the clock and on the processor printed."""
    clock, cpu = time.perf_counter(), time.process_time()
    result = call()
    print(f"  {name}: {time.perf_counter() - clock:.2f} s ({time.process_time() - cpu:.2f} s of processor)")
    return result


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agents", type=int, default=2_000)
    parser.add_argument("--grants", type=int, default=25)
    given = parser.parse_args()
    gc.set_threshold(100_000, 20, 20)  # as the command line sets it
    for share in (10, 0):
        words = f"one in {share} with the default card" if share else "none with the default card"
        print(f"{given.agents} agent types with {given.grants} grants each, {words}:")
        text = manifest(given.agents, given.grants, share)
        selection = Selection("prod", None, "", "")
        deployment = timed("load and resolve", lambda: described(load_text(text), selection, NEXT))  # noqa: B023
        parties = holders_in(deployment, selection, "", "golem.yaml")
        world = timed("build", lambda: world_of(parties, entrances_of(deployment), NEXT))  # noqa: B023
        for query in (
            "secret(?env) : reveal : team5.key7",
            "secret(?env) : mint : nobody",
            "network() : connect : api7.example.com:443",
            "kv(?env) : delete : any",
        ):
            answer = timed(query, lambda: reach_to(world, query))  # noqa: B023
            longest = max((len(c.hops) for c in answer.chains), default=0)
            print(f"    {answer.word}: {answer.reaching} of {answer.actors}, longest chain shown {longest}")
        blast = timed("blast radius of T1", lambda: blast_radius(world, "T1"))  # noqa: B023
        print(f"    {len(blast.touched)} actors listed")
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
