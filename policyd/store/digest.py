"""The canonical digest of a deployment: same facts, same digest, on every engine.

It does not depend on row numbers, on the order of sets, on places, on findings, or on any value that
is not kept. It does depend on the order and the repetitions of grants.
"""

from __future__ import annotations

import json
from hashlib import sha256

from policyd.store.document import facts_json, header_json
from policyd.store.facts import Deployment

FORM = "policyd-deployment/1"


def canonical_json(value: object) -> str:
    r"""JSON without spaces, members sorted, in ASCII.

    >>> canonical_json({"b": 1, "a": "ä"})
    '{"a":"\\u00e4","b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digests(deployment: Deployment) -> tuple[str, str]:
    """The digest of the facts, and the digest of facts and places, both as 64 hex digits.

    Args:
        deployment: ordered facts (`policyd.store.ordering.ordered`).
    """
    facts = sha256(f"{FORM}\n{canonical_json(header_json(deployment))}\n".encode())
    for name, fact in facts_json(deployment, places=False):
        facts.update(f"{name} {canonical_json(fact)}\n".encode())
    placed = sha256(facts.digest())
    for name, fact in facts_json(deployment, places=True):
        placed.update(f"{name} {canonical_json(fact)}\n".encode())
    for found in deployment.findings:
        placed.update(repr(found).encode("utf-8", "backslashreplace"))
    return facts.hexdigest(), placed.hexdigest()
