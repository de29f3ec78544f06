"""Answers of the services and of the command line: E-30 to E-35, E-42 to E-44, and codes of missing objects.

Source: host 2.14 to 2.16, 5.4, 5.5.
"""

from __future__ import annotations

import re

from policyd.syntax.denials.hits import Hit, Scene
from policyd.syntax.denials.inverse import operations_of_class
from policyd.syntax.denials.reading import OperationGuess, Surface
from policyd.syntax.denials.redaction import redacted, redacted_name

_CODE_BEFORE = re.compile(r"[\"'`(\s=:\[]$")
_STATUS_REACH = 1_500
MAX_BARE = 60
"""Characters of a line that may be all that was pasted of an answer."""


def on_forbidden_code(scene: Scene, at: int) -> Hit | None:
    """E-30 at `AUTH_FORBIDDEN`."""
    facts = {"status": "403", "code": "AUTH_FORBIDDEN"}
    return Hit("E-30", at, at + len("AUTH_FORBIDDEN"), facts=facts)


def on_forbidden_status(scene: Scene, at: int) -> Hit | None:
    """E-30 at `403 Forbidden`, in texts about the platform."""
    if not _speaks_of_status(scene, at):
        return None
    end = at + len("403 Forbidden")
    return Hit("E-30", at, end, _body_end(scene, end), facts={"status": "403"})


def on_unauthorized_code(scene: Scene, at: int) -> Hit | None:
    """E-31 at `AUTH_UNAUTHORIZED`."""
    facts = {"status": "401", "code": "AUTH_UNAUTHORIZED"}
    return Hit("E-31", at, at + len("AUTH_UNAUTHORIZED"), facts=facts)


def on_unauthorized_status(scene: Scene, at: int) -> Hit | None:
    """E-31 at `401 Unauthorized`, in texts about the platform."""
    if not _speaks_of_status(scene, at):
        return None
    end = at + len("401 Unauthorized")
    return Hit("E-31", at, end, _body_end(scene, end), facts={"status": "401"})


def _speaks(scene: Scene, at: int) -> bool:
    can_be_small = scene.is_nothing_but(at, MAX_BARE)
    return scene.speaks_of_platform(at, can_be_small=can_be_small) and not scene.is_foreign(at)


def _speaks_of_status(scene: Scene, at: int) -> bool:
    """Whether a status is an answer of the platform: its line or its body says so, or it is all that was pasted."""
    if scene.is_foreign(at):
        return False
    return scene.line_speaks(at) or scene.is_nothing_but(at, MAX_BARE) or _body_speaks(scene, at)


def _body_speaks(scene: Scene, at: int) -> bool:
    body = scene.text[at : _body_end(scene, at)]
    return "AUTH_" in body or "permission target" in body


def _body_end(scene: Scene, end: int) -> int:
    """Where the body behind a status line ends: at its JSON, if it comes soon."""
    opened = scene.text.find("{", end, end + _STATUS_REACH)
    following = scene.text.find("HTTP/", end, end + _STATUS_REACH)
    if opened < 0 or (0 <= following < opened):
        return end
    return scene.line_end(opened) if scene.text[opened + 1 : opened + 2] not in ("\n",) else opened + _STATUS_REACH // 2


_SERVICE = re.compile(
    r"((?:[A-Z][A-Za-z]{1,20} )?[A-Z][A-Za-z]{1,20}) Service - Error: ([1-5][0-9]{2})"
    r"(?: ([A-Za-z][A-Za-z ]{0,40}?))?(?=[,\n(]| \(|$)"
)
_LINE_CODE = re.compile(r"\(([A-Z]{2,30}(?:_[A-Z]{1,30}){1,8})\)")
_STATUSES = {"401": "rest-401", "403": "rest-403", "404": "rest-absent", "409": "rest-absent"}
_LINE_CONTENT = re.compile(
    r"permission target|requires an auth context|system-only action|initial permission card|creator's cards"
    r"|NEW_AGENT_TYPE_MISSING|DOMAIN_NOT_REGISTERED|cannot delegate|INVALID_PERMISSION_SHARE|INVALID_AGENT_INITIAL"
    r"|Permission denied: permission denied"
)


def on_service_line(scene: Scene, at: int) -> Hit | None:
    """E-32 at ` Service - Error: `: one line of the command line, with everything in it."""
    start = scene.line_start(at, 64)
    found = None
    for found in _SERVICE.finditer(scene.text, start, min(len(scene.text), at + 120)):
        if found.start() <= at < found.end():
            break
    else:
        return None
    service, status, reason = found.groups()
    line_end = scene.line_end(found.end())
    # The code in brackets ends what belongs to the error, also where a page of joined lines has no line end.
    code = _LINE_CODE.search(scene.text, found.end(), line_end)
    line_end = code.end() if code else line_end
    line = scene.text[found.end() : min(len(scene.text), line_end + (400 if scene.is_small and not code else 0))]
    if status not in _STATUSES and not _LINE_CONTENT.search(line):
        return None
    if status == "409" and not _LINE_CONTENT.search(line):
        return None
    facts = {"service": service.strip(), "status": status}
    if reason:
        facts["reason"] = reason
    if code:
        facts["code"] = code[1]
    kind = _STATUSES.get(status, "rest-403")
    return Hit("E-32", found.start(1), found.end(), line_end, kind, (Surface.CLI, Surface.HTTP), facts)


_WHAT = re.compile(
    r"\b(Environment|Application|Component|Agent type|Tool|Retry policy|Account|Card|Deployment)\b"
    r"(?! variable)((?: (?:with id|with name|id|name|of type|for agent|revision))?"
    r"(?:[ :]{1,2}[\"'`(]?[\w.:@/+-]{1,80}(?:\([^\n()]{0,60}\))?[\"'`)]?){0,2})$"
)
_CLASS_OF: dict[str, tuple[str, str]] = {
    "Environment": ("environment", "view"),
    "Application": ("application", "view"),
    "Component": ("component", "view"),
    "Retry policy": ("environment.retry-policy", "view"),
    "Account": ("account", "view"),
    "Card": ("card", "inspect"),
    "Deployment": ("environment", "view-deployment"),
    "Tool": ("environment", "view-tools"),
    "Agent type": ("agent", "view"),
}
_COMMON_WORDS = frozenset({"Application", "Account", "Card", "Tool", "Deployment"})
_ERROR_PREFIX = re.compile(r"\W{0,6}(?:(?:[Ee]rror|ERROR|NotFound|[Nn]ot [Ff]ound|404|message)\W{1,6}){0,3}")
_PLAIN_WORDS = frozenset({"is", "was", "are", "were", "could", "has", "the", "a", "an", "in", "on", "not", "be"})


def on_not_found(scene: Scene, at: int) -> Hit | None:
    """E-33 at ` not found`: an object that may only be hidden."""
    if not scene.speaks_of_platform(at, can_be_small=scene.is_small):
        return None
    before = scene.text[max(scene.line_start(at, 120), at - 120) : at]
    found = _WHAT.search(before)
    if found is None:
        return None
    named = found[2].strip(" :\"'`()")
    is_component = found[1] == "Component" and named and not re.search(r"[:0-9\"'`]", found[2])
    if is_component or set(named.split()) & _PLAIN_WORDS or not _speaks(scene, at):
        return None
    is_common = found[1] in _COMMON_WORDS and not scene.line_speaks(at)
    if is_common and not _ERROR_PREFIX.fullmatch(before[: found.start()]):
        return None
    facts = {"what": found[1], **({"name": redacted_name(named)} if named else {})}
    guesses = _type_guesses() if found[1] == "Agent type" else operations_of_class(*_CLASS_OF[found[1]])
    start = at - (len(before) - found.start())
    return Hit("E-33", start, at + len(" not found"), facts=facts, operations=guesses)


def _type_guesses() -> tuple[OperationGuess, ...]:
    why = "a refused `view` of the type reads as not found"
    return tuple(
        OperationGuess(name, how, why)
        for name, how in (
            ("svc.agent.resolve-type", "likely"),
            ("svc.agent.invoke", "possible"),
            ("svc.agent.create", "possible"),
            ("environment.agent-types", "possible"),
        )
    )


CODES: dict[str, tuple[str, str]] = {
    "ENVIRONMENT_NOT_FOUND": ("environment", "view"),
    "COMPONENT_NOT_FOUND": ("component", "view"),
    "APPLICATION_NOT_FOUND": ("application", "view"),
    "ACCOUNT_NOT_FOUND": ("account", "view"),
    "RETRY_POLICY_NOT_FOUND": ("environment.retry-policy", "view"),
    "AGENT_SECRET_NOT_FOUND": ("environment.agent-secret", "view"),
    "RESOURCE_DEFINITION_NOT_FOUND": ("environment.resource-definition", "view"),
    "SECURITY_SCHEME_NOT_FOUND": ("environment.security-scheme", "view"),
    "DOMAIN_REGISTRATION_NOT_FOUND": ("environment.domain-registration", "view"),
    "DEPLOYMENT_NOT_FOUND": ("environment", "view-deployment"),
    "PLUGIN_REGISTRATION_NOT_FOUND": ("account.plugin", "view"),
    "TOKEN_NOT_FOUND": ("account.token", "view"),
    "TOOL_NOT_FOUND": ("environment", "view-tools"),
    "PLAN_NOT_FOUND": ("plan", "view"),
}
"""Codes of objects that are missing or hidden, and what is asked for before they are shown (host 5.4)."""

_COMMON = frozenset(
    f"{name}_NOT_FOUND" for name in ("ACCOUNT", "TOKEN", "APPLICATION", "ENVIRONMENT", "PLAN", "TOOL", "DEPLOYMENT")
)
"""Codes that other programs have, too."""


def _is_our_body(scene: Scene, start: int, end: int) -> bool:
    """Whether a code stands in a body `{code, error}`, in brackets behind a message, alone, or near the platform."""
    if scene.line_speaks(start):
        return True
    before = scene.behind(start, 240).rpartition("{")[2]
    after = scene.text[end : end + 240].partition("}")[0].replace("\\", "")
    is_body = "}" not in before and '"code"' in before and '"error"' in before + after.partition("{")[0]
    is_bracket = scene.text[start - 1 : start] == "(" and scene.text[end : end + 1] == ")"
    if scene.is_foreign(start) or not scene.speaks_of_platform(start):
        return False
    return is_body or is_bracket or scene.is_nothing_but(start, 24)


_CODE = re.compile(r"[A-Z_]{1,60}$")


def on_missing_object(scene: Scene, at: int) -> Hit | None:
    """A-07 and A-08 at `_NOT_FOUND`."""
    before = _CODE.search(scene.text, max(0, at - 60), at)
    code = (before[0] if before else "") + "_NOT_FOUND"
    start = at - len(code) + len("_NOT_FOUND")
    end = at + len("_NOT_FOUND")
    facts = {"status": "404", "code": code}
    if code == "RESOURCE_NOT_FOUND":
        if not re.search(r"[Aa]gent[\s-]type", scene.text[max(0, at - 300) : at + 300]):
            return None
        return Hit("A-08", start, end, facts=facts, operations=_type_guesses())
    if code not in CODES or not _CODE_BEFORE.search(scene.text[max(0, start - 2) : start]):
        return None
    if code in _COMMON and not _is_our_body(scene, start, end):
        return None
    cls, verb = CODES[code]
    return Hit(
        "A-07", start, end, facts={**facts, "class": cls, "verb": verb}, operations=operations_of_class(cls, verb)
    )


_INITIAL = re.compile(
    r"Invalid initial permission card for agent type [\"'`]([^\"'`\n]{1,120})[\"'`](?::\s{0,4}([^\n\"}()]{1,200}))?"
)


def on_initial_card(scene: Scene, at: int) -> Hit | None:
    """E-34 at `Invalid initial permission card`."""
    part = scene.ahead(at, 420)
    found = _INITIAL.match(part.text.replace("\\'", "'"))
    if found is None:
        return None
    facts = {"agent-type": redacted_name(found[1]), **({"message": redacted(found[2].strip())} if found[2] else {})}
    return Hit("E-34", at, min(part.page_offset(found.end()), len(scene.text)), facts=facts)


def on_initial_code(scene: Scene, at: int) -> Hit | None:
    """E-34 at its code."""
    code = "INVALID_AGENT_INITIAL_PERMISSION_CARD"
    return Hit("E-34", at, at + len(code), facts={"code": code})


def on_creator_cards(scene: Scene, at: int) -> Hit | None:
    """E-34 at `card derivation is not allowed by the creator's cards`."""
    text = "card derivation is not allowed by the creator"
    return Hit("E-34", at, at + len(text), facts={"message": text + "'s cards"})


def on_missing_initial(scene: Scene, at: int) -> Hit | None:
    """E-35 at its code."""
    code = "NEW_AGENT_TYPE_MISSING_INITIAL_PERMISSIONS"
    return Hit("E-35", at, at + len(code), facts={"code": code})


_SESSION = re.compile(r"[\"']?code[\"']?\s{0,8}:\s{0,8}-1\b|ApplicationError\(\s{0,4}-1")


def on_unauthorized(scene: Scene, at: int) -> Hit | None:
    """E-42 at `Unauthorized: ` in an error of the debugger's session."""
    before = scene.behind(at, 120)
    sessions = list(_SESSION.finditer(before))
    if not sessions:
        return None
    start = max(0, at - (len(before) - sessions[-1].start()))
    return Hit("E-42", start, at + len("Unauthorized: "))


def on_domain(scene: Scene, at: int) -> Hit | None:
    """E-43 at its code."""
    facts = {"status": "409", "code": "DOMAIN_NOT_REGISTERED"}
    end = at + len("DOMAIN_NOT_REGISTERED")
    near = scene.text[max(0, at - 200) : end + 200].replace("\\", "")
    domain = re.search(r"[Dd]omain[\"']?\s{0,4}:?\s{0,4}[\"'`]?((?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,24})", near)
    return Hit("E-43", at, end, facts={**facts, **({"domain": domain[1]} if domain else {})})


def on_share(scene: Scene, at: int) -> Hit | None:
    """E-44 at its text or its code."""
    if scene.text.startswith("INVALID_PERMISSION_SHARE_GRANT", at):
        code = "INVALID_PERMISSION_SHARE_GRANT"
        return Hit("E-44", at, at + len(code), facts={"code": code})
    return Hit("E-44", at, at + len("agent contexts cannot delegate permission grants"))


_NEW_TYPE = re.compile(
    r"Update introducing new agent type [\"'`]([^\"'`\n]{1,120})[\"'`] is missing initial permissions"
)


def on_new_type(scene: Scene, at: int) -> Hit | None:
    """E-35 at its text."""
    part = scene.ahead(at, 300)
    found = _NEW_TYPE.match(part.text)
    if found is None:
        return None
    return Hit("E-35", at, part.page_offset(found.end()), facts={"agent-type": redacted_name(found[1])})


def on_undelegable(scene: Scene, at: int) -> Hit | None:
    """E-44 at the text of grants that the caller may not pass on."""
    return Hit("E-44", at, at + len("Permission grants are not delegable by the caller"))
