"""The tenants of the tests: what each has stored, with a word of its own in every place that holds text.

And the requests of a service, made from its own description: every route, with every text of its bodies,
queries and paths in turn.
"""

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

from fastapi import APIRouter
from fastapi.routing import APIRoute
from service_serving import AT, Served

from policyd.core.edition import NEXT
from policyd.findings import Severity
from policyd.manifest import load_text
from policyd.service.app import ROUTES
from policyd.service.description import EXAMPLES, PARAMETERS
from policyd.store.audits import LoggedDecision, log_decisions
from policyd.usecases.deployments import Selection
from policyd.usecases.import_deployment import Writer, import_manifest, import_platform

ACCOUNTS = ("acme@example.com", "brig@example.com")
APPLICATIONS = ("shop", "mart")
PLACES = tuple(f"@{account}/{application}/prod" for account in ACCOUNTS for application in APPLICATIONS)
"""The four deployments, in the order of their snapshots: `@1` to `@4`; `@5` to `@8` add a wallet to each."""

KINDS = ("read", "write")
MISSING = "@99"

MANIFEST = """\
manifestVersion: 1.6.0
app: APPLICATION
environments:
  prod: {server: cloud, account: "ACCOUNT"}
components:
  "shop:cart": {dir: cart, templates: rust, env: {PLAIN: "WORD"}}
agents:
  Cart:
    initialCard:
      lowerBound:
        positive:
          - "agent(?agent) @ ?agent : view :"
          - "kv(?env) @ ?agent : read : WORD.*"
          - "secret(?env) @ ?agent : reveal : WORD.key"
          - "secret(?env) @ ?agent : reveal : stripe.key"
  WORDAgent: {}
  Receipt: {}
tools:
  WORDtool: {component: "shop:cart"}
retryPolicyDefaults:
  prod:
    WORDpolicy:
      priority: 1
      predicate: true
      policy: {countBox: {maxRetries: 3, inner: {periodic: 1s}}}
"""


def word_of(place: str) -> str:
    """The word that only this tenant's documents hold."""
    account, application, _ = place[1:].split("/")
    return f"{account[:4]}only{application}"


def card_of(number: int) -> str:
    """The id of the card in the wallet of a tenant."""
    return f"7d0f0f0f-0000-4000-8000-0000000000c{number}"


def manifest_of(place: str) -> str:
    """The manifest of a tenant."""
    account, application, _ = place[1:].split("/")
    return MANIFEST.replace("WORD", word_of(place)).replace("ACCOUNT", account).replace("APPLICATION", application)


def wallet_of(place: str, number: int) -> bytes:
    """A wallet in the platform's JSON."""
    where = place[1:]
    card = {
        "cardId": card_of(number),
        "parentIds": [],
        "lowerPositive": [f"secret({where}) @ * : reveal : {word_of(place)}.mint", f"kv({where}) @ * : read : x.*"],
        "lowerNegative": [],
        "upperPositive": [],
        "upperNegative": [],
        "createdAt": "2026-01-01T00:00:00Z",
        "expiresAt": None,
        "systemCard": False,
        "managedBy": None,
    }
    return json.dumps({"holder": f"{where}/shop:cart/Receipt", "cards": [card]}).encode()


@dataclass
class Tenants:
    """The running service and its tokens.

    Attributes:
        tokens: `(kind, account, application)` to a token text; empty texts for no limit.
    """

    running: Served
    tokens: dict[tuple[str, str, str], str]

    def bearer(self, kind: str, account: str = "", application: str = "") -> dict[str, str]:
        """The headers of whoever holds such a token."""
        return {"Authorization": f"Bearer {self.tokens[kind, account, application]}"}

    def cookie(self, kind: str, account: str = "", application: str = "") -> dict[str, str]:
        """The same in a browser."""
        return {"Cookie": f"policyd_token={self.tokens[kind, account, application]}"}


def populated(running: Served) -> Tenants:
    """Store what the tenants have, and make a token of every kind."""
    writer = Writer("test", AT)
    for place in PLACES:
        loaded = load_text(manifest_of(place), "golem.yaml")
        assert [f for f in loaded.findings if f.severity is Severity.ERROR] == []
        import_manifest(running.database, loaded, Selection("prod"), NEXT, writer)
    for number, place in enumerate(PLACES, 1):
        import_platform(running.database, BytesIO(wallet_of(place, number)), "wallet.json", None, NEXT, writer)
    for number, place in enumerate(PLACES, 5):
        entry = (number, AT.text, "test", "Cart", "", f"kv(?env) : read : {word_of(place)}.1", "", "next")
        log_decisions(running.database, [LoggedDecision(*entry, "yes", "yes", "yes", "[]")])
    tokens = {("admin", "", ""): running.token("admin", "admin")}
    for kind in KINDS:
        tokens[kind, "", ""] = running.token(f"{kind}-all", kind)
        for account in ACCOUNTS:
            tokens[kind, account, ""] = running.token(f"{kind}-{account}", kind, account)
            for application in APPLICATIONS:
                tokens[kind, account, application] = running.token(
                    f"{kind}-{account}-{application}", kind, account, application
                )
    return Tenants(running, tokens)


@dataclass(frozen=True)
class Asked:
    """One request, and the place in it where a text can be put.

    Attributes:
        where: `body.old.snapshot`, `query.place`, `path.number`, `form.agent`.
        takes: the names that its address may have; others are refused.
    """

    method: str
    path: str
    where: str
    takes: frozenset[str]

    @property
    def name(self) -> str:
        """How a failure names it."""
        return f"{self.method} {self.path} {self.where}"


INTERFACE = ("/v1", "/access", "/metrics", "/healthz", "/readyz", "/.well-known")
"""Where programs ask; everywhere else are pages."""

BODIES = {
    **EXAMPLES,
    "/v1/chains/check": {"snapshot": "@5"},
    "/v1/chains/explain": {"snapshot": "@5", "call": "inventory adjust", "input": {}},
    "/v1/unused": {"snapshot": "@5", "window": "30d", "at": "2026-12-01T00:00:00Z"},
    "/v1/retry/resolve": {"snapshot": "@5", "site": "http-status-p3", "properties": ["verb=GET"]},
    "/v1/retry/simulate": {"snapshot": "@5"},
    "/v1/retry/limits": {"snapshot": "@5"},
    "/v1/retry/lint": {"snapshot": "@5"},
    "/v1/retry/diff": {"old": {"snapshot": "@5"}, "new": {"snapshot": "@5"}},
    "/v1/proofs": {"snapshot": "@5", "relation": "implies", "other": "@5", "crossCheck": False},
}
"""The bodies of the examples, those with a snapshot where a request may also send documents."""


def base_body(path: str) -> object:
    """The body that a request starts from; it asks about the tenant's own snapshot."""
    text = json.dumps(BODIES.get(path, {})).replace("@acme@example.com/shop/prod", "@5").replace('"@1"', '"@5"')
    return json.loads(text)


def _texts(schema: dict, schemas: dict, at: tuple[str, ...], depth: int) -> Iterator[tuple[str, ...]]:
    """The paths of all members of a body that may be text."""
    if "$ref" in schema:
        yield from _texts(schemas[schema["$ref"].rpartition("/")[2]], schemas, at, depth)
        return
    for part in ("anyOf", "oneOf", "allOf"):
        for option in schema.get(part, ()):
            yield from _texts(option, schemas, at, depth)
    if schema.get("type") == "string" and at:
        yield at
    if depth == 0:
        return
    for name, member in schema.get("properties", {}).items():
        yield from _texts(member, schemas, (*at, name), depth - 1)
    if isinstance(schema.get("items"), dict):
        yield from _texts(schema["items"], schemas, (*at, "0"), depth - 1)


def interface(document: dict) -> Iterator[Asked]:
    """Every place for a text in every operation of the interface."""
    schemas = document["components"]["schemas"]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            takes = frozenset(p["name"] for p in operation.get("parameters", ()) if p["in"] == "query")
            for parameter in operation.get("parameters", ()):
                if parameter["in"] in ("path", "query"):
                    yield Asked(method.upper(), path, f"{parameter['in']}.{parameter['name']}", takes)
            content = operation.get("requestBody", {}).get("content", {})
            schema = content.get("application/json", {}).get("schema", {})
            for at in dict.fromkeys(_texts(schema, schemas, (), 6)):
                yield Asked(method.upper(), path, "body." + ".".join(at), takes)


def pages() -> Iterator[Asked]:
    """Every place for a text in every page, which the description of the interface leaves out."""
    routers = {id(found): found for module in ROUTES for found in vars(module).values() if isinstance(found, APIRouter)}
    for route in (route for router in routers.values() for route in router.routes):
        if not isinstance(route, APIRoute) or (route.include_in_schema and route.path.startswith(INTERFACE)):
            continue
        takes = frozenset(field.alias for field in route.dependant.query_params)
        taken = {"path": route.dependant.path_params, "query": route.dependant.query_params}
        for method in route.methods:
            forms = {"form": route.dependant.body_params} if method == "POST" else {}
            for kind, fields in {**taken, **forms}.items():
                for field in fields:
                    yield Asked(method, route.path, f"{kind}.{field.alias}", takes)


QUERY = {
    "snapshot": "@5",
    "old": "@5",
    "new": "@5",
    "agent": "Cart",
    "holder": "",
    "target": "secret(?env) : reveal : stripe.key",
    "to": "secret(?env) : reveal : stripe.key",
    "place": "@5",
    "name": "Cart",
}
"""What is asked beside the text that is tried."""


def put_in(body: object, at: list[str], text: str) -> object:
    """A copy of `body` with `text` in the place `at`; what is missing on the way is made."""
    whole = copy.deepcopy(body)
    here = whole
    for step, following in zip(at, [*at[1:], ""], strict=True):
        value: object = text if following == "" else [] if following == "0" else {}
        if isinstance(here, list):
            if not here:
                here.append(value)
            if following == "" or not isinstance(here[0], dict | list):
                here[0] = value
            here = here[0]
        else:
            assert isinstance(here, dict)
            if following == "" or not isinstance(here.get(step), dict | list):
                here[step] = value
            here = here[step]
    return whole


def send(tenants: Tenants, asked: Asked, text: str, headers: dict[str, str]):
    """The answer to the request with `text` in its place."""
    kind, _, name = asked.where.partition(".")
    parameters = {**PARAMETERS, "number": 5, "card": card_of(1), "id": "fs.open", "name": "style.css"}
    query = {key: value for key, value in QUERY.items() if key in asked.takes}
    if asked.path.startswith("/v1"):
        query = {key: value for key, value in query.items() if key in ("place", "agent")}
    path, form, body = asked.path, None, None
    if kind == "path":
        parameters[name] = text.lstrip("@") if name == "number" else text
    elif kind == "query":
        query[name] = text
    for named, value in parameters.items():
        path = path.replace("{" + named + "}", str(value))
    if kind == "form":
        form = {**QUERY, name: text}
    elif asked.method == "POST":
        body = base_body(asked.path)
        if kind == "body":
            body = put_in(body, name.split("."), text)
    given = {} if form is None else {"data": form}
    if body is not None:
        given["json"] = body
    return tenants.running.client.request(asked.method, path, params=query, headers=headers, **given)
