"""Wallets for measuring: ten grants a card, five-level owners, every resource kind, negatives and ceilings.

One grant in five is negative. A third of the cards carry a ceiling; the ceilings agree on six wide
classes, so that calls of these are decided by the floors and calls of the others are withheld.
"""

from __future__ import annotations

from random import Random

from policyd.core.admission import HeldCard, Wallet
from policyd.core.cards import Bounds, Card, CardId
from policyd.core.grants import AgentContext, Grant, Target, agent_holder
from policyd.syntax import parse_grant, parse_target

CONTEXT = AgentContext("acme@example.com", "shop", "prod", "shop:cart", "Cart", 'Cart("u1")')
ENV = "acme@example.com/shop/prod"
GRANTS_PER_CARD = 10
_WIDE = (
    f"filesystem({ENV}/*/*) @ * : * : /**",
    "network() @ * : * : *",
    f"kv({ENV}) @ * : * : *.**",
    f"agent({ENV}/*/*) @ * : * : *",
    f"rdbms({ENV}) @ * : * : *.*.*",
    f"config({ENV}/*/*) @ * : * : *",
)
_KINDS = (
    "filesystem", "network", "kv", "agent", "rdbms", "config", "env", "oplog", "secret", "tool", "blob", "card",
    "environment", "component", "environment.initial-files", "account.token", "environment.http-api-deployment",
    "environment.domain-registration", "account.oauth2-identity", "plan", "application", "account.permission-share",
)  # fmt: skip


def _owner(rng: Random, depth: int, number: int) -> str:
    if depth == 0:
        return ""
    names = ("acme@example.com", "shop", "prod", f"shop:c{number % 7}", f'Cart("u{number % 50}")')
    if rng.random() < 0.3 and depth > 1:
        known = rng.randint(1, depth - 1)
        return "/".join([*names[:known], *("*" for _ in range(depth - known))])
    if depth == 5 and rng.random() < 0.2:
        return "/".join([*names[:4], "Cart(*)"])
    return "/".join(names[:depth])


def _text(rng: Random, number: int) -> tuple[str, str, str, str]:
    """Class, owner, verb and resource of grant `number`; the resource is its own."""
    kind = _KINDS[number % len(_KINDS)]
    n = number
    match kind:
        case "filesystem":
            return kind, _owner(rng, 5, n), "read", rng.choice((f"/data/d{n}/**", f"/data/*/f{n}", f"/d{n}/**/log"))
        case "network":
            ports = rng.choice(("", ":443", f":{8000 + n % 500}-{9000 + n % 500}"))
            return kind, "", "connect", rng.choice((f"h{n}.example.com", f"*.d{n}.example.com")) + ports
        case "kv" | "blob":
            return kind, _owner(rng, 3, n), rng.choice(("read", "*")), f"store{n % 40}.key{n}"
        case "agent":
            return kind, _owner(rng, 5, n), "invoke", f"method{n}"
        case "rdbms":
            return kind, _owner(rng, 3, n), "query", f"db{n % 9}.public.t{n}"
        case "config":
            return kind, _owner(rng, 5, n), "read", rng.choice((f"a.b{n}.c", f"a.*.c{n}"))
        case "env":
            return kind, _owner(rng, 5, n), "read", f"VAR_{n}"
        case "oplog":
            return kind, _owner(rng, 5, n), "read", f"start={n}:end={n + 50}"
        case "secret":
            return kind, _owner(rng, 3, n), "reveal", f"s{n}.key"
        case "tool":
            return kind, "/".join((ENV, "shop:cart", f"tool{n % 30}")), "invoke", f"run --level={n} out"
        case "card":
            return kind, "acme@example.com", "install", f"{ENV}/shop:c{n % 7}/T{n}"
        case "environment" | "component":
            return kind, _owner(rng, 3 if kind == "environment" else 4, n), "view", f"@rev={n}"
        case "environment.initial-files":
            return kind, _owner(rng, 4, n), "view", f"/init/f{n}"
        case "account.token":
            return kind, "acme@example.com", "view", f"{n:08x}-0000-4000-8000-000000000000"
        case "environment.http-api-deployment":
            return kind, _owner(rng, 3, n), "view", f"d{n}./v1"
        case "environment.domain-registration":
            return kind, _owner(rng, 3, n), "view", f"d{n}.example.com"
        case "account.oauth2-identity":
            return kind, "acme@example.com", "view", f"gh/{n}"
        case "plan":
            return kind, "", "view", f"plan{n}"
        case "application":
            return kind, _owner(rng, 2, n), "view", ""
        case _:
            return kind, "acme@example.com", "view", f"share {n}"


def wallet(size: int, seed: int = 1) -> Wallet:
    """A wallet of `size` grants."""
    rng = Random(seed)
    cards = []
    number = 0
    for index in range(max(1, size // GRANTS_PER_CARD)):
        ceiling = index % 3 == 2
        upper = [parse_grant(text) for text in _WIDE] if ceiling else []
        lower: list[Grant] = []
        negative: list[Grant] = []
        for position in range(GRANTS_PER_CARD - len(upper)):
            cls, owner, verb, resource = _text(rng, number)
            number += 1
            text = f"{cls}({owner}) @ {rng.choice(('*', ENV, CONTEXT.account))} : {verb} : {resource}"
            (negative if position < 2 else lower).append(parse_grant(text))
        digits = f"{index + 1:032x}"
        card = CardId("-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])))
        cards.append(HeldCard(Card(card, Bounds(tuple(lower), tuple(negative), tuple(upper)))))
    return Wallet.of(agent_holder(CONTEXT), tuple(cards), CONTEXT)


def _concrete(grant: Grant, rng: Random) -> Target:
    """A call that the grant covers: owners completed, wildcards filled, a port chosen."""
    target = grant.target
    levels = ("acme@example.com", "shop", "prod", "shop:c1", 'Cart("u1")')
    known = list(target.owner.known)
    if target.owner.is_type_wildcard:
        known[-1] = f'{known[-1]}("x")'
    known += levels[len(known) : target.owner.kind.depth]
    resource = target.resource.text.replace("/**", "/x").replace("*", "x")
    if target.cls.name == "network" and "-" in resource.rpartition(":")[2]:
        resource = resource.rpartition("-")[0]
    if target.cls.name == "network" and ":" not in resource:
        resource += rng.choice(("", ":443"))
    verb = target.cls.verbs[0] if target.verb == "*" else target.verb
    return parse_target(f"{target.cls.name}({'/'.join(known)}) : {verb} : {resource}".rstrip(" "))


def calls(of: Wallet, count: int, seed: int = 2) -> list[Target]:
    """Calls on a wallet, about half of them admitted: near its grants, and beside them."""
    from policyd.core.admission import CompiledWallet

    rng = Random(seed)
    compiled = CompiledWallet(of)
    grants = [g for held in of.cards for g in (*held.card.bounds.lower_positive, *held.card.bounds.lower_negative)]
    admitted: list[Target] = []
    denied: list[Target] = []
    tries = 0
    while (len(admitted) < count // 2 or len(denied) < count - count // 2) and tries < count * 200:
        tries += 1
        target = _concrete(rng.choice(grants), rng)
        side = admitted if compiled.admits(target) else denied
        if len(side) < (count + 1) // 2:
            side.append(target)
    found = [*admitted, *denied]
    rng.shuffle(found)
    return found
