"""The OpenAPI document: problems with their media type, and an example for every request that has a body.

The examples are run by the tests, in the order in which they stand here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from policyd.service.problems import MEDIA_TYPE
from policyd.service.wire import EXAMPLE_MANIFEST

PLACE = "@acme@example.com/shop/prod"
TARGET = "secret(?env) : reveal : stripe.key"
CARD = "7d0f0f0f-0000-4000-8000-00000000000b"
_TOOL = {"version": "1", "commands": {"adjust": {"result": {"type": "variant(done)", "formatters": ["text"]}}}}
_CHAIN = """\
policyd: 1
definitions:
  tools:
    inventory:
      version: "2"
      commands: {adjust: {result: {type: "variant(done | backordered)", formatters: [text]}}}
    narrow:
      name: inventory
      version: "1"
      commands: {adjust: {result: {type: "variant(done)", formatters: [text]}}}
  middleware:
    stock-policy: {presents: narrow, expects: narrow, version: "1"}
chain: {tool: inventory, leaf: inventory, layers: [stock-policy]}
"""
_SENT = [{"name": "chain.yaml", "text": _CHAIN}]
_DOCUMENTS = [{"name": "golem.yaml", "text": EXAMPLE_MANIFEST}]

_LOGGED = {"time": "2026-11-20T10:00:00Z", "agent": 'Cart("u1")', "target": TARGET, "outcome": "admitted"}

_RULE = {
    "name": "http-transient",
    "priority": 10,
    "predicate": {"propIn": {"property": "status-code", "values": [502, 503, 504]}},
    "policy": {"countBox": {"maxRetries": 3, "inner": {"periodic": "1s"}}},
}
_RULES = {"policies": [_RULE]}

EXAMPLES: dict[str, Any] = {
    "/v1/imports/manifest": {"documents": _DOCUMENTS, "environment": "prod"},
    "/v1/imports/platform": {
        "holder": "acme@example.com/shop/prod/shop:cart/Cart",
        "cards": [
            {
                "cardId": CARD,
                "parentIds": [],
                "lowerPositive": ["secret(acme@example.com/shop/prod) @ * : reveal : stripe.key"],
                "lowerNegative": [],
                "upperPositive": [],
                "upperNegative": [],
                "createdAt": "2026-01-01T00:00:00Z",
                "expiresAt": None,
                "systemCard": False,
                "managedBy": None,
            }
        ],
    },
    "/v1/decisions": {"snapshot": PLACE, "agent": "Cart", "target": TARGET, "edition": "next", "switches": {}},
    "/v1/decisions/batch": {
        "snapshot": PLACE,
        "questions": [
            {"agent": "Cart", "target": TARGET},
            {"agent": 'Cart("u1")', "target": "kv(?env) : read : orders.42", "at": "2026-06-01T00:00:00Z"},
        ],
    },
    "/v1/explanations": {"snapshot": PLACE, "agent": "Cart", "target": "network() : connect : hooks.example.com:443"},
    "/v1/who-can": {"snapshot": PLACE, "target": TARGET},
    "/v1/what-can": {"snapshot": PLACE, "holder": "Cart", "classes": ["secret"]},
    "/v1/differences": {"old": "@1", "new": PLACE, "agent": "Cart"},
    "/v1/proofs": {"snapshot": PLACE, "never": "secret(?env) : reveal : under(stripe)", "crossCheck": False},
    "/v1/what-if": {
        "snapshot": PLACE,
        "agent": "Cart",
        "add": [{"bound": "lower-positive", "grant": "kv(?env) @ ?agent : read : orders.*"}],
    },
    "/v1/synthesis": {"snapshot": PLACE, "agent": "Cart", "allow": ["kv(?env) : read : orders.42"], "deny": [TARGET]},
    "/v1/reach": {"snapshot": PLACE, "to": TARGET, "assume": ["no-data"]},
    "/v1/unused": {
        "snapshot": PLACE,
        "log": json.dumps(_LOGGED),
        "window": "30d",
        "at": "2026-12-01T00:00:00Z",
    },
    "/v1/chains/check": {"documents": _SENT},
    "/v1/chains/explain": {"documents": _SENT, "call": "inventory adjust", "input": {}},
    "/v1/retry/resolve": {
        **_RULES,
        "site": "http-status-p3",
        "properties": ["verb=GET", "status-code=503", "noun-uri=https://api.example.com/"],
    },
    "/v1/retry/simulate": {**_RULES, "names": ["http-transient"], "runs": 20, "svg": True},
    "/v1/retry/limits": _RULES,
    "/v1/retry/lint": {**_RULES, "existing": [_RULE]},
    "/v1/retry/diff": {"old": _RULES, "new": {"policies": []}},
    "/v1/retry/saga": {"snapshot": PLACE, "agent": "Cart", "attempt": 1},
    "/v1/retry/compile": {"policy": _RULE["policy"], "sdk": "rust"},
    "/v1/tools/diff": {
        "old": _TOOL,
        "new": {"version": "2", "commands": {"adjust": {"result": {"type": "bool", "formatters": ["text"]}}}},
    },
    "/v1/schemas/compare": {"source": "record{a: u16}", "target": "record{a: u8}", "relation": "project"},
    "/v1/outcomes": {
        "call": {"errors": ["not-found"], "observers": ["caller"]},
        "steps": ["succeed", {"get": "caller"}],
    },
    "/v1/values/check": {"type": "record{a: u8}", "value": '{"a": 300}'},
    "/v1/values/json-schema": {"type": "record{a: u8}", "policy": "canonical"},
    "/v1/audits": {"documents": _DOCUMENTS, "environments": None, "account": "acme@example.com"},
    "/v1/reports": {"snapshot": PLACE, "at": "2026-12-01T00:00:00Z"},
    "/v1/tokens": {"name": "ci", "scope": "read", "account": "acme@example.com", "application": "shop"},
    "/access/v1/evaluation": {
        "subject": {"type": "agent", "id": "Cart"},
        "action": {"name": "reveal"},
        "resource": {"type": "secret", "id": "stripe.key"},
        "context": {"snapshot": PLACE},
    },
    "/access/v1/evaluations": {
        "subject": {"type": "agent", "id": "Cart"},
        "context": {"snapshot": PLACE},
        "evaluations": [
            {"action": {"name": "reveal"}, "resource": {"type": "secret", "id": "stripe.key"}},
            {"action": {"name": "read"}, "resource": {"type": "kv", "id": "orders.42"}},
        ],
    },
}
"""Path to the body of its `POST`."""

PARAMETERS: dict[str, Any] = {
    "number": 1,
    "card": CARD,
    "code": "CARD007",
    "token": "ci",
    "place": PLACE,
    "agent": "Cart",
    "operation": "fs.open",
}
"""Values of the parameters that must be given; snapshot 2 holds the card."""

_SUCCESS = ("2", "3")


def described(app: FastAPI) -> Callable[[], dict[str, Any]]:
    """What `app.openapi` is to answer: made once."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    return openapi


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes, tags=TAGS
    )
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            for status, response in operation["responses"].items():
                content = response.get("content", {})
                if not status.startswith(_SUCCESS) and "application/json" in content:
                    content[MEDIA_TYPE] = content.pop("application/json")
            if method == "post" and path in EXAMPLES:
                operation["requestBody"]["content"]["application/json"]["example"] = EXAMPLES[path]
            for parameter in operation.get("parameters", ()):
                if parameter["name"] in PARAMETERS:
                    parameter["example"] = PARAMETERS[parameter["name"]]
    return document


TAGS = [
    {"name": "snapshots", "description": "Stored deployments, named by their digests."},
    {"name": "imports", "description": "Manifests and the platform's own JSON."},
    {"name": "decisions", "description": "May this holder do this, and why."},
    {"name": "host operations", "description": "What code does, and what the platform asks of the cards for it."},
    {"name": "explanations", "description": "From a pasted error to its cause and its narrowest fix."},
    {"name": "queries", "description": "Complete lists."},
    {"name": "all calls", "description": "Differences, proofs, what-if, and the least grants: exact, with witnesses."},
    {"name": "chains", "description": "Middleware over tools, schemas and values, decided before anything runs."},
    {"name": "retry", "description": "Which retry policy decides, how it goes, where it ends; saga retries."},
    {"name": "cards", "description": "Families of cards and dry runs of revocations."},
    {"name": "audits", "description": "Findings on manifests."},
    {"name": "rules", "description": "The pages of all codes."},
    {"name": "tokens", "description": "Access and the log of writes, for administrators."},
    {"name": "evaluation", "description": "The shape of the OpenID AuthZEN authorization API."},
    {"name": "operations", "description": "Operating the service."},
]
"""The groups of operations, in order."""
