"""Reading one grant text by the letter of the specification: canonical text, or the kind and detail of the refusal.

Regular expressions and string methods only; nothing is shared with the package but the table of classes and verbs.
"""

import re

WS = "".join(
    map(chr, [*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000])
)
IDENT = r"[A-Za-z_][A-Za-z0-9_-]*"
SLOT_DEPTH = {"?account": 1, "?app": 2, "?env": 3, "?component": 4, "?agent": 5}
UPPER = dict(zip(range(65, 91), range(97, 123), strict=True))
HEX = "[0-9a-fA-F]"
HYPHENATED = f"{HEX}{{8}}-{HEX}{{4}}-{HEX}{{4}}-{HEX}{{4}}-{HEX}{{12}}"


class Unreadable(Exception):  # noqa: N818 - what the text is
    """The kind, and the detail as far as it is compared."""


def matches(pattern, text):
    return re.fullmatch(pattern, text, re.ASCII | re.DOTALL) is not None


def lower(text):
    return text.translate(UPPER)


def read(text, form, classes):
    """The canonical text.

    Args:
        text: the grant.
        form: `concrete`, `polymorphic` or `manifest`, single.
        classes: name to pair of owner kind and verbs.
    """
    head, found, rest = text.partition("(")
    if not found:
        raise Unreadable("Malformed")
    owner, found, rest = rest.partition(") @ ")
    if not found:
        raise Unreadable("Malformed")
    recipient, found, rest = rest.partition(" : ")
    if not found:
        raise Unreadable("Malformed")
    verb, found, resource = rest.partition(" : ")
    if not found:
        if not rest.endswith(" :"):
            raise Unreadable("Malformed")
        verb, resource = rest[:-2], ""
    cls, owner, recipient, verb, resource = (part.strip(WS) for part in (head, owner, recipient, verb, resource))
    if form == "concrete":
        for part in (owner, recipient, resource):
            if re.search(r"\?[A-Za-z0-9_-]", part):
                raise Unreadable("SlotVariableInConcreteGrant", part)
    if cls not in classes:
        raise Unreadable("UnknownClass", cls)
    kind, verbs = classes[cls]
    owner_text = read_owner(owner, kind, form != "concrete")
    if owner_text is None:
        raise Unreadable("InvalidOwnerPath", {"class": cls, "owner": owner})
    recipient_text = read_recipient(recipient, form == "manifest")
    if recipient_text is None:
        raise Unreadable("InvalidRecipientPath")
    if form != "concrete" and re.search(r"\?[A-Za-z0-9_-]", resource):
        raise Unreadable("InvalidResource", {"class": cls, "resource": resource})
    if verb != "*" and verb not in verbs:
        raise Unreadable("UnknownVerb", {"class": cls, "verb": verb})
    if cls == "card" and resource not in ("", "*"):
        target = read_recipient(resource, slots=False)
        if target is None:
            raise Unreadable("InvalidRecipientPath")
        resource_text = target
    else:
        resource_text = read_resource(cls, verb, resource)
    if resource_text is None:
        raise Unreadable("InvalidResource", {"class": cls, "resource": resource})
    return f"{cls}({owner_text}) @ {recipient_text} : {verb} : {resource_text}"


def is_app(text):
    return matches("[a-z][a-z0-9-]*", text)


def is_env(text):
    return matches("[a-z][a-z0-9-]*", text) and not text.endswith("-") and "--" not in text


DEPTHS = {"empty": 0, "account": 1, "application": 2, "environment": 3, "component": 4, "agent": 5, "tool": 5}


def read_owner(text, kind, slots):
    """O1 to O4."""
    depth = DEPTHS[kind]
    if depth == 0:
        return "" if text == "" else None
    segments = text.split("/")
    level = 0
    if slots and segments[0] in SLOT_DEPTH:
        level = SLOT_DEPTH[segments[0]]
        if level == 5 and kind != "agent":
            return None
        rest = segments[1:]
        if any("?" in s for s in rest):
            return None
    else:
        rest = segments
    if level + len(rest) != depth:
        return None
    out = segments[:1] if level else []
    starred = False
    for position, segment in enumerate(rest, level + 1):
        if segment == "*":
            starred = True
        elif starred or segment == "" or segment.startswith("?"):
            return None
        elif position == 1:
            segment = lower(segment)
        elif (position == 2 and not is_app(segment)) or (position == 3 and not is_env(segment)):
            return None
        out.append(segment)
    return "/".join(out)


def read_recipient(text, slots):
    """R1, R2, R5."""
    if text == "*":
        return text
    if slots and text.startswith("?"):
        name = "[^/?]+"
        for pattern in (
            r"\?account(/\*/\*(/\*/\*)?)?",
            r"\?app/\*(/\*/\*)?",
            r"\?env(/\*/\*)?",
            r"\?component/\*",
            r"\?agent",
        ):
            if matches(pattern, text):
                return text
        for pattern in (rf"\?env/({name})/({name})", rf"\?component/({name})"):
            found = re.fullmatch(pattern, text, re.DOTALL)
            if found and "*" not in found.groups():
                return text
        return None
    segments = text.split("/")
    if len(segments) not in (1, 3, 5):
        return None
    stars = 0
    while stars < len(segments) and segments[-1 - stars] == "*":
        stars += 1
    known = segments[: len(segments) - stars]
    if not known or any(s == "" or "*" in s or "?" in s for s in known):
        return None
    if len(segments) == 3 and len(known) not in (1, 2, 3):
        return None
    if len(known) > 1 and not is_app(known[1]):
        return None
    if len(known) > 2 and not is_env(known[2]):
        return None
    return "/".join([lower(known[0]), *segments[1:]])


def u64(text):
    if not matches(r"\+?[0-9]+", text):
        return None
    digits = text.lstrip("+").lstrip("0") or "0"
    return digits if len(digits) < 20 or (len(digits) == 20 and digits <= str(2**64 - 1)) else None


def uuid(text):
    for pattern, cut in (
        (HYPHENATED, text),
        (r"\{" + HYPHENATED + r"\}", text[1:-1]),
        ("urn:uuid:" + HYPHENATED, text[9:]),
    ):
        if matches(pattern, text):
            return cut.lower()
    if matches(HEX + "{32}", text):
        low = text.lower()
        return f"{low[:8]}-{low[8:12]}-{low[12:16]}-{low[16:20]}-{low[20:]}"
    return None


def ident(text):
    return text if matches(IDENT, text) else None


def read_resource(cls, verb, text):
    """RS-*, without the targets of `card`."""
    match cls:
        case "filesystem" | "environment.initial-files":
            if text == "/":
                return text
            segments = text.split("/")
            if segments[0] != "":
                return None
            segments = segments[1:]
            return text if segments and all(_glob(s) for s in segments) else None
        case "config" | "secret" | "environment.agent-secret":
            return text if text == "*" or all(_glob(s) for s in text.split(".")) else None
        case "kv" | "blob":
            store, dot, key = text.partition(".")
            return text if store and dot and key else None
        case "rdbms":
            parts = text.split(".")
            return text if len(parts) == 3 and all(parts) else None
        case "system" | "account" | "account.usage":
            return text if text == "" else None
        case "application":
            return "" if text in ("", "*") else None
        case "agent":
            return _agent(verb, text)
        case "environment" | "component":
            if text in ("", "*"):
                return "*"
            found = re.fullmatch("@?rev=([0-9]+)", text, re.ASCII)
            value = u64(found.group(1)) if found else None
            return None if value is None else f"@rev={value}"
        case _ if text == "*":
            return text
        case "network":
            return _network(text)
        case "env":
            return text if matches("[A-Za-z_][A-Za-z0-9_]*", text) else None
        case "oplog":
            bounds = {}
            for piece in text.split(":"):
                found = re.fullmatch("(start|end)=(.*)", piece, re.DOTALL)
                value = u64(found.group(2)) if found else None
                if value is None:
                    return None
                bounds[found.group(1)] = value
            return ":".join(f"{name}={bounds[name]}" for name in ("start", "end") if name in bounds)
        case "tool":
            return _tool(text)
        case "plan":
            return uuid(text) or ident(text)
        case "account.token":
            return uuid(text)
        case "environment.mcp-deployment":
            return text if matches("[A-Za-z_][A-Za-z0-9_.-]*", text) else None
        case "environment.domain-registration":
            label = "[A-Za-z0-9][A-Za-z0-9-]*"
            return text if matches(rf"{label}(\.{label})*", text) else None
        case "environment.http-api-deployment":
            domain, dot, path = text.partition(".")
            return text if domain and dot and path.startswith("/") else None
        case "account.oauth2-identity":
            provider, slash, external = text.partition("/")
            return text if provider and slash and external else None
        case "account.permission-share":
            return text or None
        case _ if "tool-" in cls:
            return text if is_env(text) else None
        case "card":
            return None
        case _:
            return ident(text)


def _glob(segment):
    return segment in ("*", "**") or (segment != "" and "*" not in segment)


def _agent(verb, text):
    match verb:
        case "invoke":
            return text if text == "*" else ident(text)
        case "view":
            return text if text in ("", "*") else ident(text)
        case "delete" | "interrupt" | "resume" | "update-revision" | "fork":
            return text if text == "" else None
        case "revert":
            return text if text == "*" else u64(text)
        case "cancel-invocation":
            return text if text == "*" else uuid(text) or ident(text)
        case "activate-plugin" | "deactivate-plugin":
            return text if text == "*" else ident(text)
        case _:
            return text if text in ("", "*") else u64(text) or uuid(text) or ident(text)


def _network(text):
    host, colon, ports = text.rpartition(":")
    if not colon:
        host, ports = text, None
    host = host.strip(WS)
    if host != "*":
        if host.endswith("."):
            host = host[:-1]
            if host in ("", "*") or host.endswith("."):
                return None
        if host == "":
            return None
        for label in host.split("."):
            if label == "" or (label != "*" and any(c in "*:" or c in WS for c in label)):
                return None
        if "*" not in host and matches("[0-9.]+", host):
            octets = host.split(".")
            if len(octets) != 4 or any(not matches("0|[1-9][0-9]{0,2}", o) or int(o) > 255 for o in octets):
                return None
        host = lower(host)
    if ports is None:
        return host
    numbers = []
    for number in ports.split("-", 1):
        if not matches("[0-9]+", number):
            return None
        digits = number.lstrip("0") or "0"
        if len(digits) > 5 or int(digits) > 65535:
            return None
        numbers.append(int(digits))
    if numbers[0] > numbers[-1]:
        return None
    return f"{host}:{'-'.join(map(str, numbers))}"


def _tool(text):
    tokens = [t for t in re.split(f"[{re.escape(WS)}]+", text) if t]
    if text == "":
        return None
    for position, token in enumerate(tokens):
        if token.startswith("-"):
            if not matches(rf"--{IDENT}(=.+)?|-[A-Za-z]+", token):
                return None
        elif position == 0 and not matches(rf"{IDENT}(\.{IDENT})*", token):
            return None
    return " ".join(tokens) or "*"
