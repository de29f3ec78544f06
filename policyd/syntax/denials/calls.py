"""Calls between agents and of tools: E-18, E-19, E-26 to E-28, E-40, E-41, E-46 and what only looks like them.

Source: host 1.8, 2.10, 2.13, 5.5.
"""

from __future__ import annotations

import re

from policyd.syntax.denials.hits import Hit, Scene
from policyd.syntax.denials.reading import OperationGuess, Surface
from policyd.syntax.denials.redaction import redacted_name

_NOT_POLICY: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"Worker\b[^\n]{0,200}?\balready exists"), "the worker already exists"),
    (re.compile(r"Component\b[^\n]{0,200}?\bnot found"), "the component does not exist"),
    (re.compile(r"Invalid account\b"), "the account is invalid"),
    (
        re.compile(r"[^\n\"']{0,80}\b(?:[Ll]imit|[Qq]uota)\b[^\n\"']{0,40}(?:exceeded|reached|exhausted)"),
        "a limit is reached",
    ),
    (
        re.compile(
            r"[^\n\"']{0,40}(?:[Ee]xceed(?:s|ed)|[Tt]oo many)\b[^\n\"']{0,60}(?:limit|quota|workers|agents|calls)"
        ),
        "a limit is reached",
    ),
)

_SECRET_ONLY = re.compile(r"[\"'`]?permission denied[\"'`)\]},\s]{0,8}(?:$|\n|[^A-Za-z: ])", re.MULTILINE)


def _denied(
    scene: Scene, shape: str, start: int, end: int, facts: dict[str, str], surfaces: tuple[Surface, ...]
) -> Hit:
    """A denied call whose text begins at `end`: what the text says decides what it is."""
    part = scene.ahead(end, 320)
    inside = part.text.lstrip("\"'` (\\")
    for pattern, why in _NOT_POLICY:
        found = pattern.match(inside)
        if found:
            return Hit(
                shape, start, end, end + min(len(found[0]) + 4, 320), "not-policy", surfaces, facts, not_policy=why
            )
    if _SECRET_ONLY.match(part.text.lstrip("\"'` (\\")):
        return Hit(
            shape,
            start,
            end,
            end + len("permission denied") + 4,
            "agent-rpc-secret",
            surfaces,
            facts,
            operations=(OperationGuess("secret.hold", "likely", "the text is `permission denied` and nothing else"),),
            remark="not the gate of the call: a secret in its input or its result was not to be held by the receiver",
        )
    return Hit(shape, start, end, 0, "", surfaces, facts)


_GENERATED = re.compile(
    r"rpc call to (trigger |schedule )?([^\s\"'\\]{1,200}) failed"
    r"(?:(?:: |[:,;(]{1,2} ?)(?:[A-Za-z]{1,24}(?:::|\.|\())?[^\n\"(){}]{0,60}?(Denied\b\(?|denied\b[:(]?))?"
)

_OTHER_RPC = re.compile(
    r":?\s{0,4}(?:RpcError(?:::|\.))?(?:RemoteInternalError|ProtocolError|NotFound|RemoteAgentError|remote|protocol)"
)


def on_generated_client(scene: Scene, at: int) -> Hit | None:
    """E-26 at `rpc call to `, the panic of a generated Rust client."""
    found = _GENERATED.match(scene.text, at)
    if found is None:
        return None
    mode, method, denied = found.groups()
    facts = {"method": redacted_name(method), **({"mode": mode.strip()} if mode else {})}
    operation = f"agent.invoke.{mode.strip()}" if mode else "agent.invoke"
    guess = OperationGuess(operation, "likely", "the generated client names the call", is_named=True)
    surfaces = (Surface.RUST, Surface.RPC)
    if denied is None:
        rest = scene.text[found.end() : found.end() + 60]
        if not mode or _OTHER_RPC.match(rest) or re.match(r":\s{0,4}\w", rest):
            return None
        remark = "the client tells no reason: it may be another failure of the call"
        return Hit("E-26", at, found.end(), 0, "", surfaces, facts, operations=(guess,), remark=remark)
    hit = _denied(scene, "E-26", at, found.end(), facts, surfaces)
    return hit if hit.operations or hit.not_policy else _with(hit, guess)


def _with(hit: Hit, guess: OperationGuess) -> Hit:
    return Hit(hit.shape, hit.start, hit.end, hit.reach, hit.kind, hit.surfaces, hit.facts, operations=(guess,))


_REMOTE = re.compile(
    r"Remote agent (.{1,600}?)\.([^.\s\"'(]{1,120}) errored:"
    r"\s{0,4}\{[^{}]{0,80}?[\"']?tag[\"']?\s{0,4}:\s{0,4}[\"']denied[\"']"
    r"(?:\s{0,4},\s{0,4}[\"']?val(?:ue)?[\"']?\s{0,4}:)?\s{0,4}",
    re.DOTALL,
)


def on_remote_agent(scene: Scene, at: int) -> Hit | None:
    """E-27 at `Remote agent `, the error of a TypeScript client."""
    part = scene.ahead(at, 1_000, _tag_levels(scene, at))
    found = _REMOTE.match(part.text)
    if found is None:
        return None
    facts = {"agent": redacted_name(found[1]), "method": redacted_name(found[2])}
    return _denied(scene, "E-27", at, part.page_offset(found.end()), facts, (Surface.TYPESCRIPT, Surface.RPC))


def _tag_levels(scene: Scene, at: int) -> int:
    """How often the JSON of the error is escaped; the agent's own quotes before it may be escaped otherwise."""
    tag = scene.text.find("tag", at, at + 900)
    before = scene.text[max(at, tag - 10) : tag] if tag >= 0 else ""
    marks = len(before) - 1 - len(before[:-1].rstrip("\\")) if before.endswith(('"', "'")) else 0
    return marks.bit_length()


_RPC = re.compile(
    r"(?:RPC denied:\s|RpcError(?:::|\.)(?:Denied|denied)\s{0,4}[(:{]"
    r"|RpcError\(?\s{0,4}(?:kind\s{0,4}[:=]\s{0,4})?[\"']?denied[\"']?\s{0,4}[,:)])"
)


def on_rpc(scene: Scene, at: int) -> Hit | None:
    """E-28 at `RPC denied:` or `RpcError`."""
    part = scene.ahead(at, 60)
    found = _RPC.match(part.text)
    if found is None:
        return None
    if found[0].startswith("RPC") and not _is_call(scene, at, part.text[found.end() :]):
        return None
    surface = Surface.MOONBIT if found[0].startswith("RPC") else Surface.RUST if "::" in found[0] else Surface.SCALA
    end = part.page_offset(found.end())
    return _denied(scene, "E-28", at, end, {}, (surface, Surface.RPC))


_KNOWN = ("The permission target", "tool '", "permission denied")
"""How the texts of denied calls begin."""


def _is_call(scene: Scene, at: int, inside: str) -> bool:
    """Whether a denied call is one of the platform's: its text, its line or a short paste says so."""
    if inside.lstrip("\"'`(\\ ").startswith(_KNOWN) or scene.line_speaks(at):
        return True
    return scene.is_small and scene.speaks_of_platform(at) and not scene.is_foreign(at)


_DENIED_TAG = re.compile(r"[\"']?(?:tag|kind|_tag)[\"']?\s{0,4}[:=]\s{0,4}[\"']?$")

_VALUE = re.compile(r"[\"']\s{0,40},\s{0,40}[\"']?(?:val|value|message|detail)[\"']?\s{0,4}[:=]\s{0,4}")


def on_denied_tag(scene: Scene, at: int) -> Hit | None:
    """E-28 at `denied` as the tag of an error; `on_remote_agent` tells those of a client."""
    before = scene.behind(at, 40)
    tag = _DENIED_TAG.search(before)
    if tag is None:
        return None
    part = scene.ahead(at, 120)
    value = _VALUE.match(part.text[6:].lstrip("\\"))
    offset = 6 + len(part.text[6:]) - len(part.text[6:].lstrip("\\"))
    inside = part.text[offset + value.end() :].lstrip("\"'`(\\ ") if value else ""
    is_known = inside.startswith(_KNOWN)
    if not is_known and not scene.speaks_of_platform(at):
        return None
    end = part.page_offset(offset + value.end()) if value else at + 6
    start = max(0, at - (len(before) - tag.start()))
    return _denied(scene, "E-28", start, end, {}, (Surface.TYPESCRIPT, Surface.RPC))


_DENIED_TEXT = re.compile(
    r"\s{1,4}[\"']?(?:The permission target|tool '|permission denied[\"')\s]{0,4}$)", re.MULTILINE
)

_CALL_TALK = re.compile(r"[Rr]pc|RPC|tool|agent|golem")


def on_denied_text(scene: Scene, at: int) -> Hit | None:
    """E-28 at `enied:`, where a target, a binding or `permission denied` follows."""
    start = at - 1
    before = scene.behind(start, 24)
    if (
        start < 0
        or scene.text[start] not in "Dd"
        or before[-1:].isalpha()
        or "".join(before.split()).endswith("ermission")
    ):
        return None
    end = at + len("enied:")
    rest = scene.text[end : end + 40]
    not_policy = any(pattern.match(rest.lstrip()) for pattern, _ in _NOT_POLICY[:3])
    if not _DENIED_TEXT.match(rest) and not not_policy:
        return None
    if "permission target" not in rest and not _CALL_TALK.search(scene.text, max(0, start - 200), end + 60):
        return None
    return _denied(scene, "E-28", start, end, {}, (Surface.RPC,))


_DENIED_CASE = re.compile(r"Denied\(\s{0,40}(?=[\"'`])")


def on_denied_case(scene: Scene, at: int) -> Hit | None:
    """E-28 at `Denied(` as Rust prints it, where the text in it is one of a call."""
    if scene.behind(at, 2)[-1:] in (":", ".") or scene.behind(at, 1).isalnum():
        return None
    part = scene.ahead(at, 120)
    found = _DENIED_CASE.match(part.text)
    inside = part.text[found.end() + 1 :] if found else ""
    is_known = inside.startswith(_KNOWN)
    if found is None or not (is_known or any(pattern.match(inside) for pattern, _ in _NOT_POLICY[:3])):
        return None
    return _denied(scene, "E-28", at, part.page_offset(found.end()), {}, (Surface.RUST, Surface.RPC))


_BOUND = re.compile(r"tool [\"'`]([^\"'`\n]{1,120})[\"'`] is not bound to agent type [\"'`]([^\"'`\n]{1,120})[\"'`]")


def on_unbound_tool(scene: Scene, at: int) -> Hit | None:
    """E-18 at `is not bound to agent type`."""
    part = scene.ahead(max(0, at - 160), 340)
    found = None
    for found in _BOUND.finditer(part.text):
        if part.page_offset(found.end()) > at:
            break
    if found is None or part.page_offset(found.start()) > at:
        return None
    facts = {"tool": redacted_name(found[1]), "agent-type": redacted_name(found[2])}
    return Hit("E-18", part.page_offset(found.start()), part.page_offset(found.end()), facts=facts)


_REMOTE_TOOL = re.compile(r"Remote tool call failed:\s{1,4}(denied|protocol-error):\s{0,4}")


def on_remote_tool(scene: Scene, at: int) -> Hit | None:
    """E-46 at `Remote tool call failed:`."""
    found = _REMOTE_TOOL.match(scene.text, at)
    if found is None or found[1] != "denied":
        return None
    return _denied(scene, "E-46", at, found.end(), {}, (Surface.TYPESCRIPT, Surface.RPC))


def on_invalid_tool_resource(scene: Scene, at: int) -> Hit | None:
    """L-02 at `invalid tool resource`."""
    return Hit("L-02", at, at + len("invalid tool resource"))


def on_no_dispatcher(scene: Scene, at: int) -> Hit | None:
    """E-19 at `tool invocation requires the sidecar invocation backend`."""
    return Hit("E-19", at, at + len("tool invocation requires the sidecar invocation backend"))


_READ_ONLY = re.compile(
    r"Read-only agent method [\"'`]([^\"'`\n]{1,120})[\"'`] attempted side effect via [\"'`]([^\"'`\n]{1,200})[\"'`]"
)


def on_read_only(scene: Scene, at: int) -> Hit | None:
    """E-40 at `Read-only agent method`."""
    part = scene.ahead(at, 480)
    found = _READ_ONLY.match(part.text.replace("\\'", "'"))
    if found is None:
        return None
    facts = {"method": redacted_name(found[1]), "function": redacted_name(found[2])}
    return Hit("E-40", at, min(part.page_offset(found.end()), len(scene.text)), facts=facts)


def on_retry_policy(scene: Scene, at: int) -> Hit | None:
    """E-41 at `RetryPolicyError`; a denial inside it means that self-view is missing."""
    end = at + len("RetryPolicyError")
    start = at - 20 if scene.text.startswith("TransactionFailure::", at - 20) else at
    reach = min(scene.line_end(end), end + 1_200)
    inside = scene.text[end:reach]
    is_view = re.search(r"PermissionDenied|permission-denied|permission denied", inside) is not None
    facts = {"inside": "permission denied"} if is_view else {}
    guess = OperationGuess("saga.retry", "certain", "only an infallible saga ends so")
    guesses = (guess, OperationGuess("agent.get-self-metadata", "certain", "the message says permission denied"))
    if is_view:
        return Hit("E-41", start, end, reach, "saga", (Surface.RUST,), facts, operations=guesses)
    return Hit(
        "E-41",
        start,
        end,
        reach,
        "saga",
        (Surface.RUST,),
        facts,
        operations=(guess,),
        remark="the message names no denial: an unbounded or changed policy, or the back end",
    )


def on_self_call(scene: Scene, at: int) -> Hit | None:
    """L-01 at `RPC calls to the same agent are not supported`."""
    return Hit("L-01", at, at + len("RPC calls to the same agent are not supported"))
