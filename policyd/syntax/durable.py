"""The file of durable inputs: what a program declares of its durable operations and external streams.

```yaml
operations:
  charge-card:
    effects: [{name: POST /charges, idempotent: false}]
    nested: [send-receipt]
    detached: false
streams:
  orders:
    {direction: writer, url: 'https://streams.example/orders', secret: orders.token, forks: true, own-producers: true}
```

Source: sdk-facts 5, 6.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policyd.core.operations.durable import Declarations, Direction, DurableEffect, DurableOperation, DurableStream
from policyd.findings import InputError

MAX_ENTRIES = 10_000
"""More operations and streams than this are not read."""
_OPERATION = {"effects": list, "nested": list, "detached": bool}
_EFFECT = {"name": str, "idempotent": bool}
_STREAM = {"direction": str, "url": str, "secret": str, "forks": bool, "own-producers": bool, "active": bool}


def read_declarations(document: object) -> Declarations:
    """The declarations of a document that was read from YAML or JSON.

    Raises:
        InputError: naming the first entry that is not understood (HOST100).
    """
    top = _checked(document, {"operations": dict, "streams": dict}, "the document")
    operations, streams = top.get("operations", {}), top.get("streams", {})
    if len(operations) + len(streams) > MAX_ENTRIES:
        raise _refused("the document", f"more than {MAX_ENTRIES} entries")
    return Declarations(
        {id: _operation(str(id), row) for id, row in operations.items()},
        {id: _stream(str(id), row) for id, row in streams.items()},
    )


def _refused(where: str, why: str) -> InputError:
    return InputError.of("HOST100", f"durable inputs, {where}: {why}", None, "see the page of `durable.run`")


def _checked(given: object, members: Mapping[str, type], where: str) -> Mapping[str, Any]:
    if not isinstance(given, dict):
        raise _refused(where, "an object is needed")
    for name, value in given.items():
        if name not in members:
            raise _refused(where, f"`{name}` is none of {', '.join(members)}")
        if not isinstance(value, members[name]):
            raise _refused(where, f"`{name}` has another form")
    return given


def _operation(id: str, given: object) -> DurableOperation:
    row = _checked(given, _OPERATION, f"`{id}`")
    effects = [_checked(effect, _EFFECT, f"an effect of `{id}`") for effect in row.get("effects", ())]
    if not all("name" in effect for effect in effects):
        raise _refused(f"`{id}`", "an effect needs a `name`")
    return DurableOperation(
        id,
        tuple(DurableEffect(effect["name"], effect.get("idempotent", False)) for effect in effects),
        tuple(str(nested) for nested in row.get("nested", ())),
        row.get("detached", False),
    )


def _stream(id: str, given: object) -> DurableStream:
    row = _checked(given, _STREAM, f"`{id}`")
    if row.get("direction") not in ("reader", "writer") or "url" not in row:
        raise _refused(f"`{id}`", "a stream needs a `url` and the `direction` `reader` or `writer`")
    return DurableStream(
        id,
        Direction(row["direction"]),
        row["url"],
        tuple(row["secret"].split(".")) if "secret" in row else (),
        row.get("forks"),
        row.get("own-producers", False),
        row.get("active", False),
    )
