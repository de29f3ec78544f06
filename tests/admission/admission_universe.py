"""A small universe of grants, targets and wallets, dense enough that most pairs of them touch.

Every class, verb, owner shape and resource form occurs; values are drawn from tiny alphabets.
"""

from __future__ import annotations

from random import Random

from policyd.core.admission import HeldCard, Wallet
from policyd.core.cards import Bounds, Card, CardId, Timestamp
from policyd.core.edition import NEXT
from policyd.core.grants import (
    ALL_CLASSES,
    AgentContext,
    Grant,
    OwnerKind,
    PermissionClass,
    Recipient,
    ResourceKind,
    Target,
    agent_holder,
)
from policyd.syntax import Form, parse_fields, parse_grant, parse_target_fields
from policyd.syntax.recipients import parse_recipient

ACCOUNTS = ("a", "b")
APPS = ("p", "q")
ENVS = ("e", "f")
COMPONENTS = ("c", "d")
IDS = ('T("1")', 'T("2")', 'U("1")', 'T("1")[00000000-0000-4000-8000-000000000001]', "T", 'T("1")("2")')
LEAVES = (*IDS, "T(*)", "U(*)", 'T("1")(*)')
TYPES = ("T", "U")
UUIDS = ("00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002")

CONTEXT = AgentContext("a", "p", "e", "c", "T", 'T("1")')
HOLDER = agent_holder(CONTEXT)

_PATH = ("x", "y", "*", "**")
_LITERAL = ("x", "y")
_LABELS = ("m", "n", "*")


def owner_text(rng: Random, cls: PermissionClass, *, pattern: bool) -> str:
    """An owner for `cls`; with stars and type wildcards if it may be a pattern."""
    levels: tuple[tuple[str, ...], ...] = (ACCOUNTS, APPS, ENVS, COMPONENTS)
    if cls.owner is OwnerKind.TOOL:
        levels = (*levels, ("fmt", "lint", "fmt(*)"))
    elif cls.owner is OwnerKind.AGENT:
        levels = (*levels, LEAVES if pattern or rng.random() < 0.2 else IDS)
    depth = cls.owner.depth
    known = depth if not pattern and rng.random() < 0.85 else rng.randint(0, depth)
    words = [rng.choice(levels[i]) if rng.random() < 0.4 else levels[i][0] for i in range(known)]
    return "/".join([*words, *("*" for _ in range(depth - known))])


def recipient_text(rng: Random) -> str:
    """A concrete recipient, most often one that covers the holder."""
    return rng.choice(
        (
            "*",
            "*",
            "a",
            "a/*/*",
            "a/p/*",
            "a/p/e",
            "a/*/*/*/*",
            "a/p/*/*/*",
            "a/p/e/*/*",
            "a/p/e/c/*",
            "a/p/e/c/T",
            "a/p/e/c/U",
            "b",
            "a/p/f",
            "a/p/e/d/*",
            "a/p/e/c/~external-tool-owner",
        )
    )


def resource_text(rng: Random, cls: PermissionClass, verb: str) -> str:
    """A resource of `cls`, patterns and symbols included."""
    pick = rng.choice
    match cls.resource:
        case ResourceKind.FILES | ResourceKind.INITIAL_FILES:
            return "/" + "/".join(pick(_PATH) for _ in range(rng.randint(0, 4)))
        case ResourceKind.NETWORK:
            host = ".".join(pick(_LABELS) for _ in range(rng.randint(1, 3)))
            port = pick(("", "", ":80", ":443", ":80-80", ":79-443", ":1-65535", ":0"))
            return pick(("*", host + port, host + port, "10.0.0.1" + port))
        case ResourceKind.VARIABLE:
            return pick(("*", "A", "B"))
        case ResourceKind.OPLOG:
            low, high = rng.randint(0, 4), rng.randint(0, 4)
            return pick(("*", f"start={low}", f"end={high}", f"start={low}:end={high}"))
        case ResourceKind.KEY:
            return pick(("*", ".".join(pick(_PATH) for _ in range(rng.randint(1, 3)))))
        case ResourceKind.AGENT:
            return _agent_resource(rng, verb)
        case ResourceKind.TOOL:
            return pick(("*", "run", "run *", "run x", "run -v", "--v", "run.fast --n=*", "run **"))
        case ResourceKind.STORE_KEY:
            return f"{pick(('s', 't', '*', '**'))}.{pick(('k', 'k.l', '*', '**', 'k*'))}"
        case ResourceKind.TABLE:
            return ".".join(pick(("d", "t", "*")) for _ in range(3))
        case ResourceKind.CARD:
            return pick(("*", recipient_text(rng)))
        case ResourceKind.EMPTY:
            return ""
        case ResourceKind.APPLICATION:
            return pick(("", "*"))
        case ResourceKind.REVISION:
            return pick(("", "*", "@rev=1", "rev=2"))
        case ResourceKind.PLAN:
            return pick(("*", "x", *UUIDS))
        case ResourceKind.UUID:
            return pick(("*", *UUIDS))
        case ResourceKind.DOMAIN:
            return pick(("*", "m.n", "m"))
        case ResourceKind.ROUTE:
            return pick(("*", "m./v1", "n./v1", "*./v1", "m./v2"))
        case ResourceKind.IDENTITY:
            return pick(("*", "gh/1", "gh/2"))
        case ResourceKind.IDENT | ResourceKind.DOTTED_IDENT | ResourceKind.NAME | ResourceKind.TOOL_NAME:
            return pick(("*", "x", "y"))


def _agent_resource(rng: Random, verb: str) -> str:
    pick = rng.choice
    match verb:
        case "invoke":
            return pick(("*", "m", "n"))
        case "view":
            return pick(("", "*", "m"))
        case "revert":
            return pick(("*", "1", "2"))
        case "cancel-invocation":
            return pick(("*", "m", *UUIDS))
        case "activate-plugin" | "deactivate-plugin":
            return pick(("*", "m"))
        case "*":
            return pick(("", "*", "m", "1", UUIDS[0]))
        case _:
            return ""


def random_class(rng: Random, classes: tuple[PermissionClass, ...]) -> PermissionClass:
    """One of the classes of a wallet."""
    return rng.choice(classes)


def random_grant(rng: Random, classes: tuple[PermissionClass, ...]) -> Grant:
    """A concrete grant."""
    cls = random_class(rng, classes)
    verb = rng.choice(("*", *cls.verbs)) if rng.random() < 0.6 else cls.verbs[0]
    return parse_fields(
        cls.name, owner_text(rng, cls, pattern=True), recipient_text(rng), verb, resource_text(rng, cls, verb)
    )


def random_target(rng: Random, classes: tuple[PermissionClass, ...]) -> Target:
    """A target: most often of one exact owner and verb, at times a pattern itself."""
    cls = random_class(rng, classes)
    verb = rng.choice(cls.verbs) if rng.random() < 0.9 else "*"
    return parse_target_fields(
        cls.name, owner_text(rng, cls, pattern=rng.random() < 0.15), verb, resource_text(rng, cls, verb)
    )


def some_classes(rng: Random) -> tuple[PermissionClass, ...]:
    """One to three classes, so that grants and targets meet."""
    return tuple(rng.sample(ALL_CLASSES, rng.randint(1, 3)))


def random_bounds(rng: Random, classes: tuple[PermissionClass, ...], most: int = 4) -> Bounds:
    """Four lists of a few grants each; upper ones are rarer."""

    def some(share: float) -> tuple[Grant, ...]:
        return tuple(random_grant(rng, classes) for _ in range(rng.randint(0, most))) if rng.random() < share else ()

    return Bounds(some(0.95), some(0.5), some(0.3), some(0.25))


def card_id(number: int) -> CardId:
    """The id of that 128-bit value."""
    digits = f"{number:032x}"
    return CardId("-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])))


def random_wallet(rng: Random, classes: tuple[PermissionClass, ...]) -> Wallet:
    """0 to 5 cards in any order, some of them mortal, some revoked."""
    cards = []
    for number in rng.sample(range(1, 40), rng.randint(0, 5)):
        expires = Timestamp(rng.randint(1, 5)) if rng.random() < 0.3 else None
        cards.append(HeldCard(Card(card_id(number), random_bounds(rng, classes), expires_at=expires)))
    revoked = frozenset(h.card.id for h in cards if rng.random() < 0.05)
    return Wallet.of(HOLDER, tuple(cards), CONTEXT, "", revoked)


def grant(text: str, form: Form = Form.CONCRETE) -> Grant:
    """A grant from its text."""
    return parse_grant(text, form, NEXT)


def recipient(text: str) -> Recipient:
    """A recipient from its text."""
    return parse_recipient(text)
