"""Errors of the host's own interfaces: E-05 to E-17, E-25, E-37 to E-39, E-45.

Source: host 2.1 to 2.11, 2.13, 5.3, 5.5.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from policyd.syntax.denials.hits import Hit, Scene
from policyd.syntax.denials.reading import OperationGuess, Surface
from policyd.syntax.denials.redaction import redacted_name, redacted_sql

_DENIED_CASE = (
    r"(?:::|\.|/|#|\(|:|\s|=|>|-|\"|'){1,4}(?:PermissionDenied|permission-denied|permissionDenied|permission_denied)\b"
)
_CASE = re.compile(_DENIED_CASE)
_EXTRACTION = re.compile(
    r"\s{0,4}:\s{0,4}(?:SQL\s+resource\s+set\s+cannot\s+be\s+extracted\s+safely\s{0,4}:\s{0,4})?([^\n]{1,300})"
)
_SQL_PLACE = re.compile(r"Line:?\s{0,4}([0-9]{1,9}),?\s{0,4}Column:?\s{0,4}([0-9]{1,9})", re.IGNORECASE)
_REASON_CUT = re.compile(r"\"[)}\],]|\"\s{0,4}$")
_REASON_END = re.compile(r"[\"'`]?\)+\s*$|[\"'`;]+\s*$")


def on_extraction(scene: Scene, at: int) -> Hit | None:
    """E-05 at `cannot safely determine SQL targets`: why, and where in the statement if that is told."""
    start = _back_to(scene, at, "RDBMS permission denied:")
    end = at + len("cannot safely determine SQL targets")
    part = scene.ahead(end, 400)
    found = _EXTRACTION.match(part.text)
    if found is None:
        return Hit("E-05", start, end)
    cut = _REASON_CUT.search(found[1])
    reason = _REASON_END.sub("", found[1][: cut.start()] if cut else found[1]).strip()
    place = _SQL_PLACE.search(reason)
    facts = {"reason": redacted_sql(reason)}
    if place:
        facts |= {"sql-line": place[1], "sql-column": place[2]}
    end = part.page_offset(found.start(1) + (cut.start() if cut else len(found[1])))
    return Hit("E-05", start, end, facts=facts)


def on_database_wildcard(scene: Scene, at: int) -> Hit | None:
    """E-06 at `cannot construct database wildcard`."""
    return Hit("E-06", _back_to(scene, at, "RDBMS permission denied:"), at + len("cannot construct database wildcard"))


def _back_to(scene: Scene, at: int, phrase: str) -> int:
    found = scene.text.rfind(phrase, max(0, at - 120), at)
    return at if found < 0 or "\n" in scene.text[found:at] else found


def on_rdbms(scene: Scene, at: int) -> Hit | None:
    """E-07 at `RDBMS permission denied:`, unless the text says that no target could be made."""
    end = at + len("RDBMS permission denied:")
    line = scene.text[end : end + 120]
    if "cannot safely determine" in line or "cannot construct" in line:
        return None
    return Hit("E-07", at, end)


def on_key_value(scene: Scene, at: int) -> Hit | None:
    """E-08 at `key-value permission denied:`."""
    return Hit("E-08", at, at + len("key-value permission denied:"))


def on_agent_operation(scene: Scene, at: int) -> Hit | None:
    """E-09 or E-10 at `AgentOperationError`."""
    end = at + len("AgentOperationError")
    part = scene.ahead(end, 80)
    case = _CASE.match(part.text)
    if case:
        facts = {"type": "AgentOperationError"}
        return Hit("E-09", at, part.page_offset(case.end()), surfaces=_language(scene, at), facts=facts)
    if re.match(r"(?:::|\.)(?:BackendError|backend-error)\b", part.text) and "Unauthorized: " not in part.text:
        return Hit("L-03", at, end + 14)
    return None


def on_agent_operation_text(scene: Scene, at: int) -> Hit | None:
    """E-09 at `agent operation permission denied`."""
    end = at + len("agent operation permission denied")
    return Hit("E-09", at, end, surfaces=(Surface.WASI,))


_TAG = re.compile(r"[\"']?(?:tag|kind|type|case|_tag)[\"']?\s{0,4}[:=(]{1,2}\s{0,4}[\"']?$")
_TYPED = re.compile(r"(AgentOperation|OplogRead|ConfigValue|Webhook|Permission|Secret)(?:Error)?[\s\S]{0,40}$")
_BY_TYPE = {"OplogRead": "E-11", "ConfigValue": "E-12", "Webhook": "E-16"}


def on_permission_denied_case(scene: Scene, at: int) -> Hit | None:
    """E-09 at `permission-denied` as the tag of a thrown value; other finds tell the cases with a type before them."""
    end = at + len("permission-denied")
    before = scene.behind(at, 100)
    tag = _TAG.search(before)
    if tag is None:
        upstream = re.search(
            r"\b(config-value-error|oplog-read-error|webhook-error|agent-operation-error)\W{1,4}$", before
        )
        if upstream is None:
            return None
        shape = {"c": "E-12", "o": "E-11", "w": "E-16", "a": "E-09"}[upstream[1][0]]
        return Hit(shape, at - (len(before) - upstream.start()), end, surfaces=(Surface.WASI,))
    typed = _TYPED.search(before[: tag.start()])
    shape = _BY_TYPE.get(typed[1], "E-09") if typed else "E-09"
    start = max(0, at - (len(before) - tag.start()))
    surface = Surface.SCALA if "kind" in tag[0] else Surface.TYPESCRIPT
    return Hit(shape, start, end, surfaces=(surface,))


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
    return Hit(shape, at, end, surfaces=(Surface.RUST,))


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
on_config_value = _typed("E-12", "ConfigValueError")
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
        return None
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


def _internal(scene: Scene, start: int, end: int) -> dict[str, str]:
    is_said = scene.text.find("INTERNAL_UNKNOWN", max(0, start - 160), end + 160) >= 0
    return {"status": "500", "code": "INTERNAL_UNKNOWN"} if is_said else {}


def on_webhook_text(scene: Scene, at: int) -> Hit | None:
    """E-16 at `webhook creation denied`."""
    return Hit("E-16", at, at + len("webhook creation denied"), surfaces=(Surface.MOONBIT,))


_LIMIT = re.compile(
    r"Entity\s+invocation\s+is\s+not\s+allowed\s+to\s+(read|reveal)\s+secret\s+config\s+key\s+([^\s\"'`,;)\\]{1,256})"
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


VARIANTS: dict[str, str] = {
    "not-permitted": "no authority, no possession, or an argument was refused",
    "lower-bound-too-broad": "the floor of the new card exceeds that of its parents",
    "upper-bound-too-broad": "the ceiling of the new card exceeds that of a parent, or leaves it out",
    "wallet-multi-source-required": "no single card of the wallet suffices, several together would",
    "card-revoked": "a parent card is revoked",
    "card-expired": "a parent card is expired",
    "install-recipient-mismatch": "no grant of the card is addressed to the type of the target",
    "unknown-resource-class": "a grant names a class that does not exist",
    "invalid-pattern": "a grant has a wrong resource",
    "invalid-verb": "a grant has a wrong verb",
    "invalid-owner": "a grant has a wrong owner",
    "invalid-recipient": "a grant has a wrong recipient",
    "card-polymorphic-not-usable": "a template is used where a concrete card is needed",
}
"""Variants of the errors of card operations, and what each means (host 5.3)."""

_OF_VARIANT = {
    "lower-bound-too-broad": "card.derive card.derive-scope",
    "upper-bound-too-broad": "card.derive card.derive-scope",
    "wallet-multi-source-required": "card.derive",
    "install-recipient-mismatch": "card.install",
}
_ARGUMENTS = frozenset(
    {"unknown-resource-class", "invalid-pattern", "invalid-verb", "invalid-owner", "invalid-recipient"}
)
_CAMEL = {"".join(word.capitalize() for word in name.split("-")): name for name in VARIANTS}
_RUST_VARIANT = re.compile(r"PermissionError(?:::|\.)?[\s(:\"']{0,4}([A-Z][A-Za-z]{3,40})\b")
_KEBAB_VARIANT = re.compile(
    r"(?:permission-error|PermissionError|CardError)[^a-zA-Z]{1,6}(?:tag[^a-z]{1,6}|val[^a-z]{1,6})?([a-z]+(?:-[a-z]+){1,4})"
)


def on_card_error(scene: Scene, at: int) -> Hit | None:
    """E-25 at `PermissionError` or `permission-error`."""
    part = scene.ahead(at, 120)
    camel = _RUST_VARIANT.match(part.text)
    if camel and camel[1] in _CAMEL:
        return _card(scene, at, part.page_offset(camel.end()), _CAMEL[camel[1]], Surface.RUST)
    kebab = _KEBAB_VARIANT.match(part.text)
    if kebab and kebab[1] in VARIANTS:
        return _card(scene, at, part.page_offset(kebab.end()), kebab[1], Surface.WASI)
    return None


def on_card_variant(scene: Scene, at: int) -> Hit | None:
    """E-25 at the name of a variant that no other error has."""
    for name, variant in _SPELLED:
        if scene.text.startswith(name, at):
            before, after = scene.behind(at, 1), scene.text[at + len(name) : at + len(name) + 1]
            if before.isalnum() or after.isalnum() or after == "-" or before == "-":
                return None
            surface = Surface.TYPESCRIPT if "-" in name else Surface.RUST
            return _card(scene, at, at + len(name), variant, surface)
    return None


OWN_VARIANTS = tuple(
    name
    for variant in (
        "lower-bound-too-broad",
        "upper-bound-too-broad",
        "wallet-multi-source-required",
        "install-recipient-mismatch",
        "card-polymorphic-not-usable",
        "unknown-resource-class",
    )
    for name in (variant, "".join(word.capitalize() for word in variant.split("-")))
)
"""Names that only the errors of card operations have."""

_SPELLED = tuple((name, _CAMEL.get(name, name)) for name in OWN_VARIANTS)
_TAGGED_VARIANT = re.compile(r"[\"']([a-z]+(?:-[a-z]+){1,3})[\"']")
_CARD_CALL = re.compile(r"install_?-?[cC]ard|derive|revoke_?-?[cC]ard|inspect_?-?[cC]ard|golem:permissions|[cC]ard")


def on_card_tag(scene: Scene, at: int) -> Hit | None:
    """E-25 at a tag such as `card-revoked` where the text is about a card operation."""
    before = scene.behind(at, 60)
    word = re.match(r"[a-z-]{1,40}", scene.text[at : at + 40])
    variant = word[0].rstrip("-") if word else ""
    tag = _TAG.search(before)
    if variant not in VARIANTS or tag is None:
        return None
    around = scene.text[max(0, at - 400) : at + 400].replace(variant, "")
    if not _CARD_CALL.search(around):
        return None
    return _card(scene, max(0, at - (len(before) - tag.start())), at + len(variant), variant, Surface.TYPESCRIPT)


def _card(scene: Scene, start: int, end: int, variant: str, surface: Surface) -> Hit:
    names = _OF_VARIANT.get(variant, "").split()
    how = "certain" if len(names) == 1 else "likely"
    guesses = tuple(OperationGuess(name, how, f"`{variant}` is an answer of it") for name in names)
    not_policy = "the grant that was asked for cannot be read" if variant in _ARGUMENTS else ""
    return Hit(
        "E-25",
        start,
        end,
        surfaces=(surface,),
        facts={"variant": variant},
        operations=guesses,
        remark=VARIANTS[variant],
        not_policy=not_policy,
    )


_DELIVERY = re.compile(
    r"[iI]nstall[- _]?(?:[cC]ard[- _]?)?[dD]elivery[- _]?(?:Failure|Error|failure|error|failed)?[^A-Za-z0-9]{1,6}"
    r"(card[- ]?revoked|CardRevoked|card[- ]?not[- ]?found|CardNotFound|not[- ]?found|NotFound|recipient[- ]?mismatch"
    r"|RecipientMismatch|not[- ]?permitted|NotPermitted)"
)
_DELIVERED = {
    "cardrevoked": "card-revoked",
    "cardnotfound": "card-not-found",
    "notfound": "card-not-found",
    "recipientmismatch": "install-recipient-mismatch",
    "notpermitted": "not-permitted",
}


def on_delivery(scene: Scene, at: int) -> Hit | None:
    """E-25 for the answers of the delivery of an installed card."""
    part = scene.ahead(at, 120)
    found = _DELIVERY.match(part.text)
    if found is None:
        return None
    variant = _DELIVERED[re.sub("[- ]", "", found[1]).lower()]
    guess = OperationGuess("card.install", "certain", "the card could not be delivered")
    facts = {"variant": variant, "step": "delivery"}
    return Hit("E-25", at, part.page_offset(found.end()), facts=facts, operations=(guess,))


_DRIVER = re.compile(
    r"(KeyValue|Blobstore|Postgres|MySql|Mysql|Ignite2?|Rdbms)Error\(([\w.-]{1,80})(?:,\s{0,4}([\w-]{1,60}))?\):\s{0,4}"
)
_POLICY_DETAIL = re.compile(
    r"[\"']?(?:key-value permission denied:|RDBMS permission denied:|The permission target"
    r"|Failed to evaluate permission target"
    r"|(?:permission denied|not permitted)\s*$)"
)
_DRIVER_KINDS = {"KeyValue": "kv", "Blobstore": "blob"}
_SDK_OPERATIONS = {
    "get-or-set": "kv.cache.get-or-set",
    "begin-transaction": "rdbms.begin-transaction",
    "begin": "rdbms.begin-transaction",
    "query-stream": "rdbms.query-stream",
    "query": "rdbms.query",
    "execute": "rdbms.execute",
}
_KV = frozenset(["get", "exists", "get-many", "set", "set-many", "delete", "delete-many", "keys"])
_BLOB = frozenset(
    [
        "create-container",
        "get-container",
        "container-exists",
        "delete-container",
        "copy-object",
        "move-object",
        "get-data",
        "has-object",
        "object-info",
        "write-data",
        "delete-object",
        "delete-objects",
        "clear",
        "list-objects",
    ]
)
_CAMEL_STEP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def on_driver(scene: Scene, at: int) -> Hit | None:
    """E-45 at the name of a wrapper's error; a detail that says nothing of policy is an error of the back end."""
    part = scene.ahead(at, 300)
    found = _DRIVER.match(part.text)
    if found is None or not _POLICY_DETAIL.match(part.text[found.end() :].split("\n", 1)[0]):
        return None
    driver, name, reason = found.groups()
    kind = _DRIVER_KINDS.get(driver, "rdbms")
    operation = _sdk_operation(kind, name)
    guesses = (OperationGuess(operation, "certain", f"the wrapper names `{name}`"),) if operation else ()
    facts = {"driver": driver.lower(), "operation": name, **({"reason": reason} if reason else {})}
    return Hit("E-45", at, part.page_offset(found.end()), kind=kind, facts=facts, operations=guesses)


def _sdk_operation(kind: str, name: str) -> str:
    word = _CAMEL_STEP.sub("-", name.rpartition(".")[2]).replace("_", "-").lower()
    if kind == "kv":
        if name.lower().startswith("cache."):
            return f"kv.cache.{word}" if word in ("get", "exists", "set", "delete", "get-or-set") else ""
        return f"kv.{word}" if word in _KV else _SDK_OPERATIONS.get(word, "") if word == "get-or-set" else ""
    if kind == "blob":
        return f"blob.{word}" if word in _BLOB else ""
    return _SDK_OPERATIONS.get(word, "")


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
