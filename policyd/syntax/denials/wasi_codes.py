"""Codes of the WASI interfaces and missing variables: E-36 to E-39, and absences that a panic shows.

Source: host 2.1 to 2.3, 2.13, 5.5.
"""

from __future__ import annotations

import re
from dataclasses import replace

from policyd.syntax.denials.hits import TAG, Hit, Scene
from policyd.syntax.denials.reading import OperationGuess, Surface
from policyd.syntax.denials.redaction import redacted
from policyd.syntax.denials.shape_operations import FILES_AND_CARDS, FILES_AND_SOCKETS, guesses_of

_UNSET = re.compile(
    r"(GOLEM_[A-Z_]{1,60})[\"'`]?\s{1,4}(?:environment\s+variable\s+)?(?:must\s+be\s+set|is\s+not\s+set)"
)
_MISSING = re.compile(r"Missing\s{1,4}[\"'`]?(GOLEM_[A-Z_]{1,60})[\"'`]?\s{1,4}environment\s{1,4}variable")
_LANGUAGES = (
    ("environment variable must be set", Surface.RUST),
    ("environment variable is not set", Surface.MOONBIT),
    ("is not set", Surface.TYPESCRIPT),
)


def on_identity_variable(scene: Scene, at: int) -> Hit | None:
    """E-36 at `GOLEM_`: the start of an agent without the variables it reads."""
    start = scene.text.rfind("Missing", max(0, at - 12), at)
    missing = _MISSING.match(scene.text, start) if start >= 0 else None
    if missing:
        return Hit(
            "E-36", start, missing.end(), surfaces=(Surface.RUST, Surface.ABSENCE), facts={"variable": missing[1]}
        )
    found = _UNSET.match(scene.text, at)
    if found is None:
        return None
    surface = next((s for phrase, s in _LANGUAGES if phrase in " ".join(found[0].split())), Surface.LOG)
    return Hit("E-36", at, found.end(), surfaces=(surface, Surface.ABSENCE), facts={"variable": found[1]})


_VARIABLE = re.compile(r"(?:env::var|var|getenv|environ)\(?[(\[]\s{0,4}[\"']([A-Za-z_][A-Za-z0-9_]{0,100})[\"']")


def on_not_present(scene: Scene, at: int) -> Hit | None:
    """A-01 at `NotPresent`, the error of a missing variable in Rust."""
    before = scene.behind(at, 40)
    if not (before.endswith("VarError::") or re.search(r"Err(?:\(|` value: |' value: |\" value: | value: )$", before)):
        return None
    if not before.endswith("VarError::") and not scene.speaks_of_platform(at):
        return None
    named = _VARIABLE.search(scene.text, max(0, at - 300), at + 300)
    facts = {"variable": named[1]} if named else {}
    start = at - 10 if before.endswith("VarError::") else at
    return Hit("A-01", start, at + 10, surfaces=(Surface.RUST, Surface.ABSENCE), facts=facts)


_PATH = re.compile(
    r"(?:open|read|write|stat|unlink|mkdir|rmdir|scandir|rename|access|path|file|directory|dir|copyfile|link|symlink)[\"']?\s{0,4}[:=(]?\s{0,4}"
    r"(?:[\"'`](/?[^\"'`\n]{1,512})[\"'`]|(/[^\s\"'`,;)]{1,512}))",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"(?:(?:connect|connecting|to|address|addr|host|resolve|lookup|resolving|ENOTFOUND|EACCES)[\"']?\s{0,4}[:=(]?\s{0,4}[\"'`]?)"
    r"(\[[0-9a-fA-F:.]{2,45}\](?::[0-9]{1,5})?|(?:[A-Za-z0-9_-]{1,63}\.){1,8}[A-Za-z0-9-]{1,63}(?::[0-9]{1,5})?|localhost(?::[0-9]{1,5})?)",
    re.IGNORECASE,
)
_URL = re.compile(r"\b(?:https?|wss?)://[^\s\"'`<>\\)\]}]{1,1024}")


def on_not_permitted_os(scene: Scene, at: int) -> Hit | None:
    """E-37 at `(os error 63)`, the number that WASI gives it."""
    if not scene.behind(at, 26).rstrip().endswith("Operation not permitted"):
        return None
    start = scene.text.rfind("Operation", max(0, at - 40), at)
    return _file(scene, start, at + len("(os error 63)"), Surface.RUST)


def on_not_permitted(scene: Scene, at: int) -> Hit | None:
    """E-37 at `NotPermitted`, unless it is a case of the card errors."""
    before = scene.behind(at, 40)
    if re.search(r"ErrorCode(?:::|\.)$", before):
        return _file(scene, at - 11, at + 12, Surface.RUST if before.endswith("::") else Surface.SCALA)
    if re.search(r"(?:Permission|Card|Delivery|Failure)\w{0,20}(?:::|\.|\()$", before):
        return None
    if re.search(r"(?:Err\(|code: |error: |Some\(|value: |= )$", before) and scene.speaks_of_platform(at):
        return _file(scene, at, at + 12, Surface.RUST)
    return None


_CARD_TALK = re.compile(
    r"[iI]nstall_?-?[cC]ard|card:|derive|[rR]evoke_?-?[cC]ard|[iI]nspect_?-?[cC]ard|golem:permissions|permission-error|PermissionError"
)


def on_not_permitted_code(scene: Scene, at: int) -> Hit | None:
    """E-37 at a quoted `not-permitted`, unless the text is about cards."""
    end = at + len("not-permitted")
    before, after = scene.behind(at, 1), scene.text[end : end + 1]
    if before not in ('"', "'", "`") or after not in ('"', "'", "`", "\\"):
        return None
    if _CARD_TALK.search(scene.text, max(0, at - 400), end + 300) or not _is_thrown(scene, at):
        return None
    hit = _file(scene, at, end, Surface.TYPESCRIPT)
    if "path" in hit.facts or TAG.search(scene.behind(at, 60)) is None:
        return hit
    guesses = guesses_of(FILES_AND_CARDS, "its error has this case")
    return replace(hit, kind="permission", operations=guesses)


_THROWN = re.compile(
    r"(?:tag|code|kind)[\"']?\s{0,4}[:=]|thr[eo]w|reject|wasi|descriptor|socket|dns|resolv|connect|stream|open|read|write|file"
    r"|Err\(|[Ee]rror",
    re.IGNORECASE,
)


def _is_thrown(scene: Scene, at: int) -> bool:
    """Whether a quoted code is that of an error, in a text about agents."""
    if not scene.speaks_of_platform(at) or scene.is_foreign(at):
        return False
    if scene.speaks_of_platform(at, can_be_small=False) or scene.is_nothing_but(at, 40):
        return _MEMBER.search(scene.text, max(0, at - 40), at) is None
    start = max(scene.line_start(at, 160), at - 160)
    return _MEMBER.search(scene.text, start, at) is None and _THROWN.search(scene.text, start, at + 160) is not None


_MEMBER = re.compile(r"[\"'](?:error|reason|status|message|type)[\"']\s{0,4}:\s{0,4}[\"']$")


def on_eperm(scene: Scene, at: int) -> Hit | None:
    """E-37 at `EPERM`, in texts about agents and of a file operation."""
    if _OTHER_CALL.search(scene.text, max(0, at - 20), at + 80):
        return None
    if not _is_word(scene, at, "EPERM") or not scene.speaks_of_platform(at) or scene.is_foreign(at):
        return None
    hit = _file(scene, at, at + 5, Surface.TYPESCRIPT)
    call = _SYSCALL.match(scene.text, at + 5)
    if call is None:
        return hit
    why = f"the error names the call `{call[1]}`"
    guesses = (OperationGuess(name, "likely", why, is_named=True) for name in _OF_SYSCALL[call[1]].split())
    return replace(hit, operations=tuple(guesses))


_OF_SYSCALL = {
    "open": "fs.open",
    "scandir": "fs.open fs.read-directory",
    "opendir": "fs.open fs.read-directory",
    "mkdir": "fs.create-directory",
    "unlink": "fs.unlink",
    "rmdir": "fs.remove-directory",
    "stat": "fs.stat-at",
    "lstat": "fs.stat-at",
    "fstat": "fs.stat",
    "access": "fs.stat-at",
    "rename": "fs.rename",
    "link": "fs.link",
    "symlink": "fs.symlink",
    "readlink": "fs.readlink",
    "ftruncate": "fs.set-size",
    "utime": "fs.set-times-at",
    "futime": "fs.set-times",
    "fsync": "fs.sync",
    "read": "fs.read fs.read-stream",
    "write": "fs.write fs.write-stream fs.append-stream",
}
"""Calls as errors of Node name them, and the operations behind each."""

_SYSCALL = re.compile(r"[^\n,]{0,40}, (" + "|".join(sorted(_OF_SYSCALL, key=len, reverse=True)) + r")\b")

_FILE_CALL = re.compile(r", (?:open|mkdir|unlink|scandir|stat|lstat|rmdir|access|copyfile|rename|read|write|link)\b")
_OTHER_CALL = re.compile(r"\b(?:kill|chown|chmod|setuid|spawn|exec\w{0,2}|listen|bind|0\.0\.0\.0)\b")


def _is_word(scene: Scene, at: int, word: str) -> bool:
    before, after = scene.text[at - 1 : at] if at else "", scene.text[at + len(word) : at + len(word) + 1]
    return not (before.isalnum() or before == "_" or after.isalnum() or after == "_")


def _file(scene: Scene, start: int, end: int, surface: Surface) -> Hit:
    near = scene.text[max(0, start - 200) : min(len(scene.text), end + 200)].replace("\\", "")
    path = _PATH.search(near)
    facts = {"path": redacted(path[1] or path[2])} if path else {}
    return Hit("E-37", start, end, surfaces=(surface, Surface.WASI), facts=facts)


def on_access_os(scene: Scene, at: int) -> Hit | None:
    """E-38 at `Permission denied (os error 2)`; other systems give that number another text."""
    return _socket(scene, at, at + len("Permission denied (os error 2)"), Surface.RUST)


_OS_CODE = re.compile(r"code:\s{0,40}(63|2)\s{0,40},\s{0,40}$")


def on_os_debug(scene: Scene, at: int) -> Hit | None:
    """E-37 and E-38 at `kind: PermissionDenied`, the Debug form of an error with the code of WASI."""
    code = _OS_CODE.search(scene.text, max(0, at - 120), at)
    end = at + len("kind: PermissionDenied")
    if code is None:
        is_custom = scene.behind(at, 40).rstrip().endswith("Custom {") and scene.speaks_of_platform(at)
        return _either(_file(scene, at, end, Surface.RUST)) if is_custom and not scene.is_foreign(at) else None
    make = _file if code[1] == "63" else _socket
    return make(scene, code.start(), end, Surface.RUST)


def on_error_kind(scene: Scene, at: int) -> Hit | None:
    """E-37 at `ErrorKind::PermissionDenied`, in texts about agents."""
    if not scene.speaks_of_platform(at) or scene.is_foreign(at):
        return None
    return _either(_file(scene, at, at + len("ErrorKind::PermissionDenied"), Surface.RUST))


def _either(hit: Hit) -> Hit:
    """The kind of error that Rust makes of the codes of files and of sockets; a path near it tells of a file."""
    if "path" in hit.facts:
        return hit
    guesses = guesses_of(FILES_AND_SOCKETS, "its error has this kind")
    return replace(hit, kind="permission", operations=guesses)


def on_access_denied(scene: Scene, at: int) -> Hit | None:
    """E-38 at `ErrorCode::AccessDenied`, or the case alone in texts about agents."""
    before = scene.behind(at, 40)
    if re.search(r"(?:Err\(|Err. value: |code: )$", before):
        is_ours = scene.speaks_of_platform(at) and not scene.is_foreign(at)
        return _socket(scene, at, at + 12, Surface.RUST) if is_ours else None
    if not re.search(r"ErrorCode(?:::|\.)$", before):
        return None
    return _socket(scene, at - 11, at + 12, Surface.RUST if before.endswith("::") else Surface.SCALA)


def on_access_denied_code(scene: Scene, at: int) -> Hit | None:
    """E-38 at a quoted `access-denied`, in texts about agents."""
    end = at + len("access-denied")
    before, after = scene.behind(at, 1), scene.text[end : end + 1]
    if before not in ('"', "'", "`") or after not in ('"', "'", "`", "\\") or not _is_thrown(scene, at):
        return None
    return _socket(scene, at, end, Surface.TYPESCRIPT)


def on_eacces(scene: Scene, at: int) -> Hit | None:
    """E-38 at `EACCES`, in texts about agents; files are refused with another code, ports are never."""
    if _FILE_CALL.search(scene.text, at, at + 80) or _OTHER_CALL.search(scene.text, at, at + 80):
        return None
    if not _is_word(scene, at, "EACCES") or not scene.speaks_of_platform(at) or scene.is_foreign(at):
        return None
    return _socket(scene, at, at + 6, Surface.TYPESCRIPT)


def _socket(scene: Scene, start: int, end: int, surface: Surface) -> Hit:
    near = scene.text[max(0, start - 200) : min(len(scene.text), end + 200)].replace("\\", "")
    address = _ADDRESS.search(near)
    facts = {"address": redacted(address[1])} if address else {}
    return Hit("E-38", start, end, surfaces=(surface, Surface.WASI), facts=facts)


def _url_facts(url: str) -> dict[str, str]:
    """Scheme, host and port of a URL; paths and queries may hold secrets, user names do."""
    scheme, _, rest = url.partition("://")
    authority = re.split(r"[/?#\\]", rest, maxsplit=1)[0]
    _, at, host = authority.rpartition("@")
    return {"url": f"{scheme}://{host}", **({"url-user": "given"} if at else {})}


def on_http_denied(scene: Scene, at: int) -> Hit | None:
    """E-39 at any spelling of the code."""
    end = at + len("HttpRequestDenied") + (2 if "-" in scene.text[at : at + 8] else 0)
    start = at - 11 if scene.text.startswith(("ErrorCode::", "ErrorCode."), at - 11) else at
    near = scene.text[max(0, at - 300) : min(len(scene.text), end + 300)].replace("\\", "")
    url = _URL.search(near)
    facts = _url_facts(url[0]) if url else {}
    surface = Surface.RUST if "HttpRequestDenied" in scene.text[at:end] else Surface.TYPESCRIPT
    return Hit("E-39", max(0, start), end, surfaces=(surface, Surface.WASI), facts=facts)
