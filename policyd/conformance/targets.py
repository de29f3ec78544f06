"""The operations of the target vectors, answered by way of the catalogue under edition `snapshot`.

Source: vectors, section Permission targets; questions 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from policyd.core.edition import SNAPSHOT
from policyd.core.grants import AgentContext, Target
from policyd.core.grants.resources import AnyResource, Exact, StoreKey, TableName
from policyd.core.operations import Asker, Ports, Refusal, Unclear, targets_of
from policyd.core.operations.keys import canonical_path
from policyd.core.operations.network import SOCKETS, WEB, OutboundUrl, host_name
from policyd.syntax import GrantSyntaxError, parse_grant
from policyd.syntax.operations import catalogue
from policyd.syntax.outbound_urls import OutboundUrls
from policyd.syntax.sql import SqlTables

Answer = dict[str, Any]
Question = Mapping[str, Any]

_URLS = OutboundUrls()
_PORTS = Ports(SqlTables(), _URLS)
_SELF = {
    "account": "ann@example.com",
    "application": "shop",
    "environment": "prod",
    "component": "shop:cart",
    "agent": 'Cart("42")',
}


def _asked(id: str, arguments: Mapping[str, object], question: Question) -> Answer:
    """What one operation of the catalogue asks for, in the form of the vectors."""
    own = {**_SELF, **question.get("self", {})}
    context = AgentContext(own["account"], own["application"], own["environment"], own["component"], "", own["agent"])
    asker = Asker.of_agent(context, str(question.get("creator", "")))
    operation = catalogue().operations[id]
    found = targets_of(operation, {"agent": own["agent"], **arguments}, asker, _PORTS, SNAPSHOT)
    if isinstance(found, Refusal):
        return _refused(found)
    if isinstance(found, Unclear):
        return {"ok": False, "undecided": True, "reason": found.message}
    answer: Answer = {"ok": True, "targets": [_target_json(target) for target in found]}
    if "grants" in question:
        answer["covers"] = [_covers(str(text), found) for text in question["grants"]]
    return answer


def _refused(refusal: Refusal) -> Answer:
    error = {"kind": refusal.kind.value, "message": refusal.message}
    if refusal.reason:
        error["reason"] = refusal.reason
    return {"ok": False, "error": error}


def _target_json(target: Target) -> Answer:
    written: Answer = {"text": target.text}
    if not _reads_back(target):
        written["readable"] = False
    match target.resource:
        case TableName(database, schema, table):
            written["table"] = [database, schema, table]
        case StoreKey(store, key):
            written["name"] = [store, key]
        case AnyResource() if target.cls.name == "agent":
            written["resource_kind"] = "any"
        case Exact(kind, _) if target.cls.name == "agent":
            written["resource_kind"] = kind
        case _:
            pass
    return written


def _reads_back(target: Target) -> bool:
    """Whether the text with a recipient put in is a grant for this very target."""
    owner = f"{target.cls.name}({target.owner.text})"
    try:
        grant = parse_grant(f"{owner} @ * : {target.verb} : {target.resource.text}", rules=SNAPSHOT)
    except GrantSyntaxError:
        return False
    return grant.target == target


def _covers(text: str, targets: Sequence[Target]) -> list[bool] | None:
    try:
        grant = parse_grant(text, rules=SNAPSHOT)
    except GrantSyntaxError:
        return None
    return [grant.target.covers(target) for target in targets]


_FILES = {
    "open-at": "fs.open",
    "read": "fs.read",
    "read-via-stream": "fs.read-stream",
    "write": "fs.write",
    "write-via-stream": "fs.write-stream",
    "append-via-stream": "fs.append-stream",
    "set-size": "fs.set-size",
    "set-times": "fs.set-times",
    "sync": "fs.sync",
    "sync-data": "fs.sync",
    "read-directory": "fs.read-directory",
    "stat": "fs.stat",
    "metadata-hash": "fs.stat",
    "stat-at": "fs.stat-at",
    "metadata-hash-at": "fs.stat-at",
    "readlink-at": "fs.readlink",
    "create-directory-at": "fs.create-directory",
    "set-times-at": "fs.set-times-at",
    "symlink-at": "fs.symlink",
    "remove-directory-at": "fs.remove-directory",
    "unlink-file-at": "fs.unlink",
    "rename-at": "fs.rename",
    "link-at": "fs.link",
}


def _part(question: Question, *names: str) -> dict[str, object]:
    return {name: question[name] for name in names if name in question}


def _fs(question: Question) -> Answer:
    operation = str(question["operation"])
    where = _part(question, "preopen", "opened", "path")
    if "to" in question:
        return _asked(_FILES[operation], {"from": where, "to": question["to"]}, question)
    return _asked(_FILES[operation], {"path": where, **_part(question, "flags")}, question)


def _svc_file(question: Question) -> Answer:
    return _asked(f"svc.fs.{question['operation']}", _part(question, "path", "via"), question)


def _dns(question: Question) -> Answer:
    return _asked("dns.resolve", _part(question, "host"), question)


def _url(id: str, ports: dict[str, int]) -> Callable[[Question], Answer]:
    def handler(question: Question) -> Answer:
        uri = str(question["uri"])
        # the text itself is asked about, which P3 would read with another scheme
        generation = {"wasi": "p2"} if id == "http.send" else {}
        answer = _asked(id, {"url": uri, **generation}, question)
        url = _URLS.outbound(uri, ports)
        if answer["ok"] and isinstance(url, OutboundUrl):
            answer |= {"scheme": url.scheme, "host": host_name(url.host), "port": url.port, "path": url.path}
        return answer

    return handler


def _request(question: Question) -> Answer:
    parts = {**_part(question, "scheme", "authority"), "path": question.get("path_with_query")}
    return _asked("http.send", {"url": parts, "wasi": question["interface"]}, question)


def _socket(question: Question) -> Answer:
    remotes: Any = question["remotes"]
    if question["operation"] == "tcp.connect":
        return _asked("net.tcp.connect", {"address": remotes[0]}, question)
    return _asked(f"net.{question['operation']}", {"address": remotes, "remotes": remotes}, question)


def _kv(question: Question) -> Answer:
    keys: Any = question.get("keys", ())
    arguments = {**_part(question, "bucket", "keys"), **({"key": keys[0]} if keys else {})}
    return _asked(f"kv.{question['operation']}", arguments, question)


def _blob(question: Question) -> Answer:
    objects: Any = question.get("objects", ())
    arguments = {**_part(question, "container", "objects"), **({"object": objects[0]} if objects else {})}
    if "source" in question:
        arguments["source-container"], arguments["source-object"] = question["source"]
        arguments["container"], arguments["object"] = question["destination"]
    return _asked(f"blob.{question['operation']}", arguments, question)


def _env(question: Question) -> Answer:
    return _asked("env.get", {"names": [question["name"]]}, question)


def _config(question: Question) -> Answer:
    match question["operation"]:
        case "get":
            return _asked("config.get", {"path": question["key"]}, question)
        case "get-all":
            return _asked("config.get-all", {"paths": question["paths"]}, question)
        case _:
            id = "config.get-secret" if question.get("secret") is True else "config.get-value"
            return _asked(id, {"path": question["path"]}, question)


def _secret(question: Question) -> Answer:
    if question["operation"] == "canonical-path":
        return {"ok": True, "path": list(canonical_path(question["path"]))}
    return _asked(f"secret.{question['operation']}", {"key": question["path"]}, question)


def _oplog(question: Question) -> Answer:
    match question["operation"]:
        case "page":
            arguments = {"start": question["start"], "page-size": question["page_size"]}
            return _asked("oplog.read", arguments, question)
        case "enrich":
            return _asked("oplog.enrich", {"indexes": question["indexes"]}, question)
        case "svc.read":
            return _asked("svc.oplog.read", _part(question, "from", "count", "cursor"), question)
        case _:
            return _asked("svc.oplog.search", {}, question)


_AGENTS = {
    "view": "agent.get-metadata",
    "list": "agent.list",
    "delete": "svc.agent.delete",
    "interrupt": "svc.agent.interrupt",
    "resume": "svc.agent.resume",
    "update": "agent.update",
    "fork": "agent.fork",
    "revert": "agent.revert",
    "create-webhook": "agent.create-webhook",
    "rpc.invoke": "agent.invoke",
    "svc.invoke": "agent.invoke.callee",
    "svc.create": "svc.agent.launch",
    "svc.lookup": "svc.agent.lookup",
    "svc.complete-promise": "svc.agent.complete-promise",
    "svc.cancel-invocation": "svc.agent.cancel-invocation",
    "svc.activate-plugin": "svc.agent.activate-plugin",
    "svc.deactivate-plugin": "svc.agent.deactivate-plugin",
    "svc.resolve-type": "svc.agent.resolve-type",
}


def _agent(question: Question) -> Answer:
    arguments = _part(question, "method", "plugin", "type")
    for name, recorded in (("cutoff", "last_oplog_index"), ("key", "idempotency_key")):
        if recorded in question:
            arguments[name] = question[recorded]
    return _asked(_AGENTS[question["operation"]], arguments, question)


def _tool(question: Question) -> Answer:
    arguments = {
        "tool-account": question["tool_account"],
        "tool-component": question["tool_component"],
        "tool": question["tool"],
        "command": question["command"],
        "arguments": question["args"],
    }
    return _asked("tool.invoke", arguments, question)


def _card(question: Question) -> Answer:
    return _asked(f"card.{question['operation']}", _part(question, "type"), question)


def _sql(question: Question) -> Answer:
    return _asked("rdbms.query", _part(question, "engine", "address", "sql"), question)


def _transaction(question: Question) -> Answer:
    return _asked("rdbms.begin-transaction", _part(question, "engine", "address"), question)


HANDLERS: dict[str, Callable[[Question], Answer]] = {
    "agent_targets": _agent,
    "blob_targets": _blob,
    "card_targets": _card,
    "config_targets": _config,
    "dns_targets": _dns,
    "env_targets": _env,
    "fs_targets": _fs,
    "http_targets": _url("http.send", WEB),
    "kv_targets": _kv,
    "oplog_targets": _oplog,
    "request_targets": _request,
    "secret_targets": _secret,
    "socket_targets": _socket,
    "sql_targets": _sql,
    "svc_file_targets": _svc_file,
    "tool_targets": _tool,
    "transaction_targets": _transaction,
    "websocket_targets": _url("websocket.connect", SOCKETS),
}
"""Operation name to handler."""
