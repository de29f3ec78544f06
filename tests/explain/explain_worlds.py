"""Random deployments and calls that they deny, from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

HEAD = """manifestVersion: 1.6.0
app: shop
environments:
  prod: {server: cloud, account: dev@acme.io}
  dev: {server: cloud, account: dev@acme.io}
components:
  shop:cart: {dir: cart}
"""


@dataclass(frozen=True)
class World:
    """A manifest and calls of its agent `Cart`, slots open."""

    text: str
    calls: tuple[str, ...]


_HOSTS = ("api.a.io", "b.a.io", "c.org", "x.c.org")
_PATHS = ("/data/a", "/data/b/c", "/out", "/", "/etc/x y")
_STORES = ("orders", "users", "a.b")
_KEYS = ("1", "2.x", "k*", " lead", "?env")
_NAMES = ("HOME", "TOKEN")
_TABLES = ("app.public.t", "app.public.u", "app.audit.log")
_METHODS = ("refund", "charge", "not a method")


def _resource(rng: Random, cls: str, *, wide: bool) -> tuple[str, str, str]:
    """An owner, a verb and a resource of a class, as a grant or a call writes them."""
    match cls:
        case "network":
            host = rng.choice((*_HOSTS, *(("*.a.io", "*", "*.org") if wide else ())))
            port = rng.choice(("", ":443", ":80", *((":1-1000",) if wide else ())))
            return "", rng.choice(("connect", "*") if wide else ("connect",)), host if host == "*" else host + port
        case "filesystem":
            path = rng.choice((*_PATHS, *(("/**", "/data/*", "/data/**", "/*") if wide else ())))
            verbs = ("read", "write", "list", "stat", "delete")
            return "?agent", rng.choice((*verbs, *(("*",) if wide else ()))), path
        case "kv" | "blob":
            store = rng.choice((*_STORES[: 2 if wide else 3], *(("*",) if wide else ())))
            key = rng.choice((*_KEYS[: 2 if wide else 5], *(("**",) if wide else ())))
            owner = rng.choice(("?env", "?env", "dev@acme.io/shop/dev"))
            verbs = ("read", "write", "delete", "list")
            return owner, rng.choice((*verbs, *(("*",) if wide else ()))), f"{store}.{key}"
        case "env":
            return "?agent", "read", rng.choice((*_NAMES, *(("*",) if wide else ())))
        case "config":
            return "?agent", "read", rng.choice(("db.host", "db.pool.size", *(("db.*", "**") if wide else ())))
        case "secret":
            verb = rng.choice(("hold", "reveal", *(("*",) if wide else ())))
            return "?env", verb, rng.choice(("db.password", "apiKey", *(("*", "db.*") if wide else ())))
        case "rdbms":
            verb = rng.choice(("query", "mutate", *(("*",) if wide else ())))
            return "?env", verb, rng.choice((*_TABLES, *(("app.public.*", "*.*.*", "app.*.t") if wide else ())))
        case "agent":
            owner = rng.choice(("?agent", '?env/shop:pay/Pay("9")', "?component/Cart(*)", "?env/*/*"))
            verb = rng.choice(("view", "invoke", *(("*",) if wide else ())))
            if verb == "view":
                return owner, verb, rng.choice(("", *(("*",) if wide else ())))
            if verb == "invoke":
                return owner, verb, rng.choice(("*",) if wide and rng.random() < 0.4 else _METHODS[: 2 if wide else 3])
            return owner, verb, "*"
        case "oplog":
            return "?agent", "read", rng.choice(("start=1:end=100", "start=50:end=60", *(("*",) if wide else ())))
        case "tool":
            words = ("run --fast", 'say "hi"', *(("*",) if wide else ()))
            return "?env/shop:tools/search", "invoke", rng.choice(words)
        case _:
            return "?account", rng.choice(("derive", "inspect", "revoke", *(("*",) if wide else ()))), "*"


CLASSES = ("network", "filesystem", "kv", "blob", "env", "config", "secret", "rdbms", "agent", "oplog", "tool", "card")


def _grant(rng: Random, cls: str) -> str:
    owner, verb, resource = _resource(rng, cls, wide=True)
    recipient = rng.choice(("?agent", "?agent", "?agent", "*", "?env/shop:pay/Pay"))
    return f"{cls}({owner}) @ {recipient} : {verb} : {resource}"


def _call(rng: Random, cls: str) -> str:
    owner, verb, resource = _resource(rng, cls, wide=False)
    return f"{cls}({owner}) : {verb} : {resource}"


def _quoted(rng: Random, text: str) -> str:
    if rng.random() < 0.3:
        return "'" + text.replace("'", "''") + "'"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _listed(rng: Random, name: str, grants: list[str], indent: int) -> list[str]:
    pad = " " * indent
    if not grants:
        return [f"{pad}{name}: []"] if rng.random() < 0.3 else []
    if rng.random() < 0.2:
        return [f"{pad}{name}: [{', '.join(_quoted(rng, g) for g in grants)}]"]
    dash = pad + ("  " if rng.random() < 0.7 else "")
    rows = []
    for grant in grants:
        comment = "  # why" if rng.random() < 0.1 else ""
        rows.append(f"{dash}- {_quoted(rng, grant)}{comment}")
        if rng.random() < 0.05:
            rows.append(f"{dash}# in between")
    return [f"{pad}{name}:", *rows]


def _card(rng: Random, classes: list[str], indent: int) -> list[str]:
    pad = " " * indent
    shape = rng.random()
    if shape < 0.08:
        return []
    if shape < 0.12:
        return [f"{pad}initialCard: {{}}"]
    lists = {
        "lowerBound": ([_grant(rng, rng.choice(classes)) for _ in range(rng.randint(0, 5))], rng.random() < 0.3),
        "upperBound": ([_grant(rng, rng.choice(classes)) for _ in range(rng.randint(0, 5))], rng.random() < 0.3),
    }
    out = [f"{pad}initialCard:"]
    for part, (positive, has_negative) in lists.items():
        if part == "upperBound" and rng.random() < 0.5:
            continue
        negative = [_grant(rng, rng.choice(classes)) for _ in range(rng.randint(1, 2))] if has_negative else []
        rows = [*_listed(rng, "positive", positive, indent + 4), *_listed(rng, "negative", negative, indent + 4)]
        out += [f"{pad}  {part}:" if rows else f"{pad}  {part}: {{}}", *rows]
    return out if len(out) > 1 else [f"{pad}initialCard: {{}}"]


def world(rng: Random, classes: list[str] | None = None) -> World:
    """One deployment and some calls, of three classes unless they are given."""
    classes = classes or rng.sample(CLASSES, 3)
    card = _card(rng, classes, 4)
    rows = ["agents:", "  Cart:", *card] if card else ["agents:", "  Cart: {}"]
    if card and rng.random() < 0.15:
        rows += ["    presets:", "      app-env:prod:", *_card(rng, classes, 8)] if rng.random() < 2 else []
        if rows[-1] == "      app-env:prod:":
            rows[-1] = "      app-env:prod: {}"
    if rng.random() < 0.4:
        rows += ["  Pay:", "    # of another team", "    initialCard: {}"]
    text = HEAD + "\n".join(rows) + ("\n" if rng.random() < 0.9 else "")
    if rng.random() < 0.1:
        text = text.replace("\n", "\r\n")
    return World(text, tuple(_call(rng, rng.choice(classes)) for _ in range(4)))


MANY: tuple[tuple[tuple[str, ...], str, dict[str, object]], ...] = (
    (("filesystem",), "fs.open", {"path": "/data/a", "flags": "read,write,directory"}),
    (("filesystem",), "fs.open", {"path": "/data/b/c", "flags": "write,create"}),
    (("filesystem",), "fs.rename", {"from": "/data/a", "to": "/out"}),
    (("filesystem",), "fs.link", {"from": "/data/b/c", "to": "/data/a"}),
    (("kv",), "kv.get-many", {"bucket": "orders", "keys": ["1", "2.x"]}),
    (("kv",), "kv.delete-many", {"bucket": "users", "keys": ["1", "k", "2.x"]}),
    (("blob",), "blob.copy-object", {"source-container": "orders", "source-object": "1", "container": "users",
                                     "object": "1"}),
    (("blob",), "blob.move-object", {"source-container": "orders", "source-object": "2.x", "container": "users",
                                     "object": "k"}),
    (("blob",), "blob.delete-objects", {"container": "users", "objects": ["1", "2.x"]}),
    (("config", "secret"), "config.get-secret", {"path": "db.password"}),
    (("config", "secret"), "config.get-secret", {"path": "apiKey"}),
    (("rdbms",), "rdbms.begin-transaction", {"engine": "postgres", "address": "postgres://h/app"}),
    (("rdbms",), "rdbms.query", {"engine": "postgres", "address": "postgres://h/app",
                                 "sql": "select * from t, audit.log"}),
    (("rdbms",), "rdbms.execute", {"engine": "postgres", "address": "postgres://h/app",
                                   "sql": "insert into u select * from t"}),
    (("network",), "net.udp.send", {"remotes": ["1.2.3.4:53", "5.6.7.8:53"]}),
)  # fmt: skip
"""Operations that ask for several targets."""


@dataclass(frozen=True)
class Installed:
    """A card beside the initial one, or a scope card: its grants by list, slots open."""

    lists: dict[str, list[str]]
    state: str


@dataclass(frozen=True)
class StoredWorld:
    """A manifest, cards that were installed, a scope card on the card of number `root`, and an operation."""

    text: str
    installed: tuple[Installed, ...]
    scope: Installed | None
    operation: str
    arguments: dict[str, object]
    root: int = 0


def _overlay(rng: Random, classes: list[str], state: str) -> Installed:
    """Grants of a card: mostly some that lend, sometimes a ceiling or negatives."""
    lists: dict[str, list[str]] = {name: [] for name in ("lower", "lower-", "upper", "upper-")}
    for name, most, chance in (("lower", 3, 0.8), ("lower-", 1, 0.2), ("upper", 4, 0.4), ("upper-", 1, 0.2)):
        if rng.random() < chance:
            lists[name] = [_grant(rng, rng.choice(classes)) for _ in range(rng.randint(1, most))]
    return Installed(lists, state)


def stored_world(rng: Random) -> StoredWorld:
    """One agent with a card of the manifest, cards beside it that count or no longer do, and a call of many targets."""
    classes, operation, arguments = rng.choice(MANY)
    some = [*classes, *classes, rng.choice(CLASSES)]
    installed = tuple(
        _overlay(rng, some, rng.choice(("live", "live", "expired", "revoked"))) for _ in range(rng.randint(0, 2))
    )
    scope = _overlay(rng, some, "live") if rng.random() < 0.3 else None
    return StoredWorld(world(rng, some).text, installed, scope, operation, arguments, rng.randint(0, 2))
