"""What the laws are tried on: texts of every class, grants, cards and calls of a small world.

The world is small on purpose (two accounts, two agent types), so that coverage between two random
values is common; `odd_text` brings in the characters that nobody writes.
"""

from dataclasses import replace
from functools import cache

from hypothesis import strategies as st

from policyd.core.cards import Bounds, Card, CardId
from policyd.core.edition import NEXT
from policyd.core.grants import OwnerKind, ResourceKind, classes_of
from policyd.syntax import Form, GrantSyntaxError, parse_grant, parse_grants, parse_recipient

UUID = "7d0f0f0f-0000-4000-8000-00000000000b"
E = "ana@lab.io/atlas/qa"
C = f"{E}/geo:core"

_LEAVES = (
    'Mapper("n1")',
    f'Mapper("n1")[{UUID}]',
    "Mapper(*)",
    "Mapper",
    "Mapper()",
    'Router("z")',
    "Router(*)",
    "(*)",
)
_CONCRETE = {
    OwnerKind.EMPTY: ("",),
    OwnerKind.ACCOUNT: ("*", "ana@lab.io", "bob@lab.io"),
    OwnerKind.APPLICATION: ("*/*", "ana@lab.io/*", "ana@lab.io/atlas", "bob@lab.io/atlas"),
    OwnerKind.ENVIRONMENT: ("*/*/*", "ana@lab.io/*/*", "ana@lab.io/atlas/*", E, "ana@lab.io/atlas/prod"),
    OwnerKind.COMPONENT: ("*/*/*/*", "ana@lab.io/*/*/*", "ana@lab.io/atlas/*/*", f"{E}/*", C, f"{E}/nav:svc"),
    OwnerKind.AGENT: (
        "*/*/*/*/*",
        "ana@lab.io/*/*/*/*",
        "ana@lab.io/atlas/*/*/*",
        f"{E}/*/*",
        f"{C}/*",
        *(f"{C}/{leaf}" for leaf in _LEAVES),
        f"{E}/nav:svc/Mapper(*)",
    ),
    OwnerKind.TOOL: ("*/*/*/*/*", "ana@lab.io/*/*/*/*", f"{E}/*/*", f"{C}/*", f"{C}/fmt", f"{C}/fmt(*)"),
}
_SLOTTED = {
    OwnerKind.EMPTY: (),
    OwnerKind.ACCOUNT: ("?account",),
    OwnerKind.APPLICATION: ("?account/*", "?account/atlas", "?app"),
    OwnerKind.ENVIRONMENT: ("?account/*/*", "?account/atlas/*", "?account/atlas/qa", "?app/*", "?app/qa", "?env"),
    OwnerKind.COMPONENT: ("?account/*/*/*", "?app/qa/geo:core", "?env/*", "?env/geo:core", "?component"),
    OwnerKind.AGENT: (
        "?account/*/*/*/*",
        "?app/*/*/*",
        "?env/*/*",
        "?env/geo:core/Mapper(*)",
        "?component/*",
        "?component/Mapper(*)",
        '?component/Mapper("n1")',
        "?agent",
    ),
    OwnerKind.TOOL: ("?account/*/*/*/*", "?env/*/*", "?component/*", "?component/fmt", "?component/fmt(*)"),
}
RECIPIENTS = (
    "*",
    "ana@lab.io",
    "bob@lab.io",
    "ana@lab.io/*/*",
    "ana@lab.io/atlas/*",
    E,
    "ana@lab.io/atlas/prod",
    "ana@lab.io/*/*/*/*",
    "ana@lab.io/atlas/*/*/*",
    f"{E}/*/*",
    f"{C}/*",
    f"{C}/Mapper",
    f"{C}/Router",
    f"{C}/~external-tool-owner",
)
SLOTTED_RECIPIENTS = (
    "?account",
    "?account/*/*",
    "?account/*/*/*/*",
    "?app/*",
    "?app/*/*/*",
    "?env",
    "?env/*/*",
    "?env/geo:core/Mapper",
    "?component/*",
    "?component/Mapper",
    "?component/~external-tool-owner",
    "?agent",
)
NESTED_RECIPIENTS = tuple(r for r in RECIPIENTS if r not in ("ana@lab.io/*/*/*/*", "ana@lab.io/atlas/*/*/*"))
"""Recipients of which two that name a common holder always cover one another in one direction."""

HOLDERS = tuple(
    parse_recipient(text)
    for text in ("ana@lab.io", f"{C}/Mapper", f"{C}/Router", "bob@lab.io/atlas/qa/geo:core/Mapper")
)

_MAX = 2**64 - 1
_FILES = (
    "/",
    "/**",
    "/*",
    "/**/**",
    "/data",
    "/data/*",
    "/data/**",
    "/data/a",
    "/data/a/b",
    "/**/log",
    "/log",
    "/*/log",
)
_KEYS = ("*", "**", "**.url", "**.**", "map", "map.*", "map.**", "map.url", "map.*.url", "map.a.url", "*.url", "*.*")
RESOURCES = {
    ResourceKind.FILES: (*_FILES, "/data/**/log", "/data/*/**", "/data/**/*", "/**/log/**", "/a b/.."),
    ResourceKind.INITIAL_FILES: (*_FILES, "/**/x"),
    ResourceKind.KEY: _KEYS,
    ResourceKind.NETWORK: (
        "*",
        "*:443",
        "*:1-65535",
        "*:0-65535",
        "map.org:0-65535",
        "map.org",
        "map.org:443",
        "map.org:443-443",
        "map.org:80-8080",
        "*.org",
        "*.org:443",
        "*.*",
        "*.map.org",
        "a.map.org:443",
        "10.1.*.*",
        "10.1.2.3",
        "10.1.0.0/16",
    ),
    ResourceKind.VARIABLE: ("*", "KEY", "key", "GOLEM_AGENT_ID"),
    ResourceKind.OPLOG: (
        "*",
        "start=0",
        "start=5",
        "end=9",
        "start=5:end=9",
        "start=7:end=8",
        "start=9:end=2",
        f"end={_MAX}",
        f"start=0:end={_MAX}",
        f"start=5:end={_MAX}",
        "start=0:end=9",
    ),
    ResourceKind.AGENT: ("", "*", "locate", "stat", "12", UUID),
    ResourceKind.TOOL: (
        "*",
        "run",
        "run.fast",
        "run *",
        "run **",
        "run out",
        "run --l=3 -xz out",
        "--l",
        "-x *",
        "run --l=*",
    ),
    ResourceKind.STORE_KEY: (
        "*.**",
        "*.*",
        "s.*",
        "s.**",
        "s.k",
        "s.k.l",
        "t.k",
        "**.k",
        "*.k",
        "s.user/*",
        "s.user/1",
    ),
    ResourceKind.TABLE: ("*.*.*", "main.*.*", "main.*.roads", "main.public.roads", "*.public.roads"),
    ResourceKind.CARD: ("*", *RECIPIENTS[1:]),
    ResourceKind.EMPTY: ("",),
    ResourceKind.PLAN: ("*", "free", UUID),
    ResourceKind.UUID: ("*", UUID, UUID.replace("7", "8")),
    ResourceKind.IDENT: ("*", "one", "two"),
    ResourceKind.DOTTED_IDENT: ("*", "geo.v1", "geo"),
    ResourceKind.APPLICATION: ("",),
    ResourceKind.REVISION: ("*", "@rev=3", "@rev=12"),
    ResourceKind.DOMAIN: ("*", "map.org", "Map.org"),
    ResourceKind.ROUTE: ("*", "*./v1", "localhost./v1", "localhost./**", "*./**"),
    ResourceKind.IDENTITY: ("*", "gh/7", "gh/u/7"),
    ResourceKind.NAME: ("*", "team share!", "team"),
    ResourceKind.TOOL_NAME: ("*", "jq", "git-tool"),
}
"""Canonical texts per resource kind, chosen so that many of them cover others."""

_AGENT_BY_VERB = {
    "invoke": ("*", "locate", "stat"),
    "view": ("", "*", "locate"),
    "revert": ("*", "12"),
    "cancel-invocation": ("*", UUID, "locate"),
    "activate-plugin": ("*", "stat"),
    "deactivate-plugin": ("*", "stat"),
    "*": ("", "*", "12", UUID, "locate", "stat"),
}


def owners_of(kind, form):
    """The owner texts of the world for one owner kind."""
    return _CONCRETE[kind] if form is Form.CONCRETE else _CONCRETE[kind] + _SLOTTED[kind]


def resources_of(cls, verb):
    """The resource texts of the world for one class and verb."""
    return _AGENT_BY_VERB.get(verb, ("",)) if cls.resource is ResourceKind.AGENT else RESOURCES[cls.resource]


@cache
def grant_texts(form=Form.CONCRETE, rules=NEXT, recipients=None, names=()):
    """Texts of grants of every class (or those named), in canonical form."""
    pool = recipients or (RECIPIENTS if form is not Form.MANIFEST else RECIPIENTS + SLOTTED_RECIPIENTS)
    classes = [c for c in classes_of(rules) if not names or c.name in names]

    @st.composite
    def build(draw):
        cls = draw(st.sampled_from(classes))
        verb = draw(st.sampled_from(("*", *cls.verbs)))
        owner = draw(st.sampled_from(owners_of(cls.owner, form)))
        resource = draw(st.sampled_from(resources_of(cls, verb)))
        return f"{cls.name}({owner}) @ {draw(st.sampled_from(pool))} : {verb} : {resource}"

    return build()


def grants(form=Form.CONCRETE, rules=NEXT, recipients=None, names=()):
    """Grants of the world as values."""
    return grant_texts(form, rules, recipients, names).map(lambda text: parse_grant(text, form, rules))


FEW = ("kv", "env", "agent")
"""Few classes, so that the grants of a wallet meet."""


def bounds(form=Form.CONCRETE, recipients=None, names=FEW, most=3):
    """Four lists of grants."""
    some = st.lists(grants(form, NEXT, recipients, names), max_size=most).map(tuple)
    return st.builds(Bounds, some, some, some, some)


def cards(form=Form.CONCRETE, recipients=None, names=FEW, most=3):
    """Cards with random ids."""
    ids = st.integers(1, 10**6).map(lambda n: CardId(f"00000000-0000-0000-0000-{n:012d}"))
    return st.builds(Card, ids, bounds(form, recipients, names, most), st.just(form is not Form.CONCRETE))


def wallets(most=4, least=0, **of_cards):
    """Lists of cards with different ids."""
    return st.lists(cards(**of_cards), min_size=least, max_size=most, unique_by=lambda card: card.id)


@st.composite
def families(draw, recipients=NESTED_RECIPIENTS, names=("kv", "env")):
    """Parents and a child that is built from their grants, so that it often attenuates them."""
    parents = draw(wallets(least=1, most=2, recipients=recipients, names=names))[: draw(st.sampled_from((1, 1, 2)))]
    free = grants(recipients=recipients, names=names)
    lower = [g for card in parents for g in card.bounds.lower_positive]
    upper = [g for card in parents for g in card.bounds.upper_positive]
    addresses = st.sampled_from(recipients).map(parse_recipient)

    def some(pool):
        if not draw(st.integers(0, 9)):
            return tuple(draw(st.lists(free, max_size=2)))
        chosen = draw(st.lists(st.sampled_from(pool), max_size=3)) if pool else []
        return tuple(replace(g, recipient=draw(addresses)) if not draw(st.integers(0, 3)) else g for g in chosen)

    child = Bounds(
        some(lower),
        (*(g for c in parents for g in c.bounds.lower_negative), *some([])),
        (*upper, *some(upper)) if draw(st.integers(0, 3)) else some(upper),
        (*(g for c in parents for g in c.bounds.upper_negative), *some([])),
    )
    return parents, child


def targets(names=FEW):
    """Calls of the world."""
    return grants(names=names).map(lambda grant: grant.target)


@cache
def every_target(names=FEW):
    """All calls of the world that name classes of `names`, wildcards included."""
    return tuple(
        parse_grant(f"{cls.name}({owner}) @ * : {verb} : {resource}").target
        for cls in classes_of(NEXT)
        if cls.name in names
        for owner in owners_of(cls.owner, Form.CONCRETE)
        for verb in ("*", *cls.verbs)
        for resource in resources_of(cls, verb)
    )


odd_characters = st.one_of(
    st.sampled_from("()@:/*?.-=+[]{}\"' \t\n\x00\x1c\x85\xa0\u2028\u202e\ufeff\U0001f600é²٣"),
    st.characters(),
)
odd_text = st.text(odd_characters, max_size=60)


@st.composite
def disturbed(draw, texts):
    """A text of `texts` with a few characters changed, put in or taken out."""
    text = draw(texts)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        cut = draw(st.integers(0, 2))
        text = text[:at] + draw(st.text(odd_characters, max_size=2)) + text[at + cut :]
    return text


def readable(text, form, rules=NEXT):
    """The grants that `text` writes, or None when it is refused."""
    try:
        return parse_grants(text, form, rules)
    except GrantSyntaxError:
        return None
