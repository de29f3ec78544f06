"""Errors of the host's own interfaces: E-05 to E-17, E-25, E-37 to E-39, E-45.

Source: host 2.1 to 2.11, 2.13, 5.3, 5.5.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from policyd.syntax.denials.hits import TAG, Hit, Scene
from policyd.syntax.denials.reading import OperationGuess, Surface
from policyd.syntax.denials.redaction import redacted_name
from policyd.syntax.denials.shape_operations import HOST_OPERATIONS, TAGGED, guesses_of

_DENIED_CASE = (
    r"(?:::|\.|/|#|\(|:|\s|=|>|-|\"|'){1,4}(?:PermissionDenied|permission-denied|permissionDenied|permission_denied)\b"
)

_CASE = re.compile(_DENIED_CASE)


def on_agent_operation(scene: Scene, at: int) -> Hit | None:
    """E-09 or E-10 at `AgentOperationError`."""
    end = at + len("AgentOperationError")
    part = scene.ahead(end, 80)
    case = _CASE.match(part.text)
    if case:
        facts = {"type": "AgentOperationError"}
        guesses = guesses_of(HOST_OPERATIONS, "`AgentOperationError` is its error")
        return Hit(
            "E-09", at, part.page_offset(case.end()), surfaces=_language(scene, at), facts=facts, operations=guesses
        )
    if re.match(r"(?:::|\.)(?:BackendError|backend-error)\b", part.text) and "Unauthorized: " not in part.text:
        return Hit("L-03", at, end + 14)
    return None


def on_agent_operation_text(scene: Scene, at: int) -> Hit | None:
    """E-09 at `agent operation permission denied`."""
    end = at + len("agent operation permission denied")
    return Hit("E-09", at, end, surfaces=(Surface.WASI,))


_TYPED = re.compile(r"(AgentOperation|OplogRead|ConfigValue|Webhook|Permission|Secret)(?:Error)?[\s\S]{0,40}$")

_BY_TYPE = {"OplogRead": "E-11", "ConfigValue": "E-12", "Webhook": "E-16"}


def on_permission_denied_case(scene: Scene, at: int) -> Hit | None:
    """E-09 at `permission-denied` as the tag of a thrown value; other finds tell the cases with a type before them."""
    end = at + len("permission-denied")
    before = scene.behind(at, 100)
    tag = TAG.search(before)
    if tag is None:
        upstream = re.search(
            r"\b(config-value-error|oplog-read-error|webhook-error|agent-operation-error)\W{1,4}$", before
        )
        if upstream is None:
            return None
        shape = {"c": "E-12", "o": "E-11", "w": "E-16", "a": "E-09"}[upstream[1][0]]
        guesses = guesses_of(HOST_OPERATIONS, "`agent-operation-error` is its error") if shape == "E-09" else ()
        start = at - (len(before) - upstream.start())
        return Hit(shape, start, end, surfaces=(Surface.WASI,), operations=guesses)
    if not scene.speaks_of_platform(at):
        return None
    typed = _TYPED.search(before[: tag.start()])
    shape = _BY_TYPE.get(typed[1], "E-09") if typed else "E-09"
    start = max(0, at - (len(before) - tag.start()))
    surface = Surface.SCALA if "kind" in tag[0] else Surface.TYPESCRIPT
    return Hit(shape, start, end, surfaces=(surface,), operations=_tagged(shape))


def _tagged(shape: str) -> tuple[OperationGuess, ...]:
    """The operations of a case that is told without its type."""
    return guesses_of(TAGGED, "its error has a case `permission-denied`") if shape == "E-09" else ()


_UNWRAPPED = re.compile(
    r"(?:Err` value: |Err' value: |Err value: |value: |Err\(|Error: |err=|error=|Config\()(?:[\w]{1,40}(?:::|\.)){0,3}$"
)

_OTHER_TYPE = re.compile(r"(?:[A-Z]\w{0,40}(?:Error|Kind|Code|Status)(?:::|\.))$")


def on_bare_case(scene: Scene, at: int) -> Hit | None:
    """E-09 or E-12 at `PermissionDenied` as Rust prints it: the Debug form of a case leaves its type out."""
    end = at + len("PermissionDenied")
    before = scene.behind(at, 100)
    unwrapped = _UNWRAPPED.search(before)
    if (
        unwrapped is None
        or before.endswith("io::Error: ")
        or _OTHER_TYPE.search(before)
        or scene.text[end : end + 1].isalnum()
    ):
        return None
    if scene.is_foreign(at) or not scene.speaks_of_platform(at):
        return None
    shape = "E-12" if unwrapped[0].startswith("Config(") else "E-09"
    return Hit(shape, at, end, surfaces=(Surface.RUST,), operations=_tagged(shape))


_BACKEND = re.compile(
    r"(?:BackendError|backend-error)[^A-Za-z0-9]{1,24}(?:(?:val|error|message|cause)[^A-Za-z0-9]{1,12})?Unauthorized:"
)


def on_backend(scene: Scene, at: int) -> Hit | None:
    """E-10 at `BackendError` or `backend-error`."""
    part = scene.ahead(at, 100)
    found = _BACKEND.match(part.text)
    if found is None:
        return None
    start = at - 21 if scene.text.startswith("AgentOperationError", at - 21) else at
    return Hit("E-10", start, part.page_offset(found.end()), surfaces=(*_language(scene, at), Surface.RPC))


def _typed(shape: str, name: str) -> Callable[[Scene, int], Hit | None]:
    def on(scene: Scene, at: int) -> Hit | None:
        part = scene.ahead(at + len(name), 60)
        case = _CASE.match(part.text)
        if case is None:
            return None
        return Hit(shape, at, part.page_offset(case.end()), surfaces=_language(scene, at))

    return on


on_oplog_read = _typed("E-11", "OplogReadError")

_config_value = _typed("E-12", "ConfigValueError")


def on_config_value(scene: Scene, at: int) -> Hit | None:
    """E-12 at `ConfigValueError`; behind `SecretAccessError` it is that of an entry with a secret."""
    hit = _config_value(scene, at)
    if hit is None or not scene.behind(at, 40).endswith(("SecretAccessError::Config(", "SecretAccessError.Config(")):
        return hit
    guess = OperationGuess("config.get-secret", "certain", "only access to a secret ends in `SecretAccessError`")
    return replace(hit, operations=(guess,))


on_webhook = _typed("E-16", "WebhookError")


def on_config_access(scene: Scene, at: int) -> Hit | None:
    """E-12 at `config access denied`."""
    return Hit("E-12", at, at + len("config access denied"), surfaces=(Surface.MOONBIT,))


def on_secret(scene: Scene, at: int) -> Hit | None:
    """E-14 at `secret permission denied`."""
    return Hit("E-14", at, at + len("secret permission denied"))


_QUOTED_AFTER = re.compile(
    r"(?P<upstream>[Uu]pstream)[\"']?\s{0,4}[,:(]\s{0,4}(?:[\"']?va(?:l|lue)[\"']?\s{0,4}[:=]\s{0,4})?[\"']?$"
    r"|(?P<socket>WebsocketError\([\w-]{1,40}(?:/[\w-]{1,40})?\):\s{1,4})$"
    r"|(?P<other>\bOther[\"']?\s{0,4}\(\s{0,4}[\"']?)$"
    r"|(?P<othertag>[\"']other[\"']\s{0,4},\s{0,4}(?:[\"']?val(?:ue)?[\"']?\s{0,4}:\s{0,4})?[\"'])$"
    r"|(?P<hold>Permission denied:\s{1,4})$"
)


def on_permission_denied(scene: Scene, at: int) -> Hit | None:
    """E-13, E-15 and E-29: what stands before `permission denied` tells them apart."""
    end = at + len("permission denied")
    before = scene.behind(at, 120)
    found = _QUOTED_AFTER.search(before)
    if found is None:
        return _enriching(scene, at, end)
    start = max(0, at - (len(before) - found.start()))
    match found.lastgroup:
        case "upstream":
            surfaces = (Surface.RUST,) if "(" in found[0] else (Surface.TYPESCRIPT,)
            return Hit("E-13", start, end, surfaces=surfaces)
        case "socket":
            return Hit("E-15", start, end, surfaces=(Surface.TYPESCRIPT,))
        case "hold":
            return Hit("E-29", start, end, facts=_internal(scene, start, end))
        case "othertag":
            is_socket = "ebsocket" in scene.text[max(0, at - 400) : at + 400].lower() or "WebSocket" in before
            return Hit("E-15", start, end, surfaces=(Surface.TYPESCRIPT,)) if is_socket else None
        case _:
            return Hit("E-15", start, end, surfaces=(Surface.RUST,))


def _enriching(scene: Scene, at: int, end: int) -> Hit | None:
    """E-09 for the bare text with which older hosts refuse to enrich entries of an oplog."""
    near = scene.text[max(0, at - 120) : end + 120]
    if not re.search(r"enrich[-_]?[oO]plog", near):
        return None
    guess = OperationGuess("oplog.enrich", "certain", "its function is named beside the error")
    return Hit("E-09", at, end, kind="oplog", surfaces=(Surface.WASI,), operations=(guess,))


def _internal(scene: Scene, start: int, end: int) -> dict[str, str]:
    is_said = scene.text.find("INTERNAL_UNKNOWN", max(0, start - 160), end + 160) >= 0
    return {"status": "500", "code": "INTERNAL_UNKNOWN"} if is_said else {}


def on_webhook_text(scene: Scene, at: int) -> Hit | None:
    """E-16 at `webhook creation denied`."""
    return Hit("E-16", at, at + len("webhook creation denied"), surfaces=(Surface.MOONBIT,))


_LIMIT = re.compile(
    r"Entity\s+invocation\s+is\s+not\s+allowed\s+to\s+(read|reveal)\s+secret\s+config\s+key\s+([A-Za-z0-9_.*-]{1,256})"
)


def on_tool_limit(scene: Scene, at: int) -> Hit | None:
    """E-17 at `Entity invocation is not allowed to`."""
    found = _LIMIT.match(scene.text, at)
    if found is None:
        return None
    operation = "secret.reveal" if found[1] == "reveal" else "config.get-secret"
    guess = OperationGuess(operation, "certain", f"the text says `{found[1]}`")
    kind = "secret-reveal" if found[1] == "reveal" else "config"
    facts = {"verb": found[1], "key": redacted_name(found[2])}
    return Hit("E-17", at, found.end(), kind=kind, facts=facts, operations=(guess,))


def _language(scene: Scene, at: int) -> tuple[Surface, ...]:
    """Rust writes paths with `::`; dots are Scala's or TypeScript's."""
    part = scene.text[at : at + 60]
    if "::" in part:
        return (Surface.RUST,)
    around = scene.text[max(0, at - 300) : at + 300]
    if ".scala" in around or "scala." in around:
        return (Surface.SCALA,)
    if "." in part[:40]:
        return (Surface.SCALA,) if "golem.scala" in around or "kind" in around else (Surface.TYPESCRIPT,)
    return (Surface.RUST,)
