"""From a target back to the operations that ask for it.

Source: host 5.2, 2.14, 2.15, 2.16.
"""

from __future__ import annotations

from policyd.core.grants import Target
from policyd.core.grants.resources import Exact, FilePath, StoreKey, TableName
from policyd.core.grants.resources.exact import ANY, EMPTY
from policyd.syntax.denials.reading import OperationGuess

CACHE_STORE = "__golem_wasi_keyvalue_cache"

_BY_VERB: dict[tuple[str, str], str] = {
    ("filesystem", "read"): "svc.fs.read debug.connect",
    ("filesystem", "stat"): "svc.fs.list",
    ("filesystem", "list"): "svc.fs.list",
    ("kv", "read"): "kv.get kv.exists kv.get-many",
    ("kv", "write"): "kv.set kv.set-many",
    ("kv", "delete"): "kv.delete kv.delete-many",
    ("kv", "list"): "kv.keys",
    ("blob", "read"): "blob.get-data blob.has-object blob.object-info blob.copy-object blob.move-object",
    ("blob", "write"): "blob.write-data blob.copy-object blob.move-object",
    ("blob", "delete"): "blob.delete-object blob.delete-objects blob.move-object",
    ("blob", "list"): "blob.list-objects",
    ("rdbms", "query"): "rdbms.query rdbms.execute rdbms.query-stream",
    ("rdbms", "mutate"): "rdbms.execute rdbms.query rdbms.query-stream",
    ("agent", "invoke"): "agent.invoke agent.invoke.async agent.invoke.trigger agent.invoke.schedule"
    " svc.agent.invoke agent.invoke.callee",
    ("agent", "view"): "agent.get-self-metadata svc.agent.get agent.get-metadata agent.resolve-strict"
    " svc.agent.connect svc.agent.wallet debug.connect",
    ("agent", "update-revision"): "svc.agent.update agent.update",
    ("agent", "fork"): "svc.agent.fork agent.fork debug.connect",
    ("agent", "revert"): "svc.agent.revert agent.revert",
    ("agent", "delete"): "svc.agent.delete",
    ("agent", "interrupt"): "svc.agent.interrupt debug.connect",
    ("agent", "resume"): "svc.agent.resume debug.connect",
    ("agent", "cancel-invocation"): "svc.agent.cancel-invocation",
    ("agent", "activate-plugin"): "svc.agent.activate-plugin",
    ("agent", "deactivate-plugin"): "svc.agent.deactivate-plugin",
    ("oplog", "read"): "svc.oplog.read oplog.read oplog.search oplog.enrich",
    ("tool", "invoke"): "tool.invoke",
    ("card", "inspect"): "card.list card.get card.inspect",
    ("card", "revoke"): "card.revoke-managed card.revoke",
    ("card", "derive"): "card.derive card.derive-scope",
    ("card", "install"): "card.install",
    ("env", "read"): "env.get debug.connect",
    ("config", "read"): "config.get-value config.get config.get-secret debug.connect",
    ("secret", "hold"): "secret.hold config.get-secret",
    ("secret", "reveal"): "secret.reveal",
    ("network", "connect"): "http.send net.tcp.connect net.udp.connect net.udp.send websocket.connect",
    ("environment", "deploy"): "environment.deploy environment.rollback",
    ("environment", "view"): "environment.get environment.list",
    ("environment", "view-deployment"): "environment.deployments environment.agent-types environment.tools.list",
    ("environment", "view-deployment-plan"): "environment.plan",
    ("environment", "view-agent-types"): "environment.agent-types",
    ("environment", "view-tools"): "environment.tools.list environment.tools.get",
    ("component", "view"): "component.get component.list component.get-revision",
    ("account", "set-plan"): "account.set-plan",
    ("account", "view-plan"): "account.get-plan",
    ("account", "view"): "account.get",
    ("account.usage", "view"): "account.usage.get",
    ("account.usage", "update"): "account.usage.update",
    ("system", "create-account"): "account.create",
    ("system", "impersonate-user"): "token.impersonate",
    ("system", "view-account-summaries-report"): "report.account-summaries",
    ("system", "view-account-counts-report"): "report.account-counts",
    ("plan", "view"): "plan.get",
    ("plan", "update"): "plan.update",
    ("environment.plugin-grant", "view"): "environment.plugin-grant.get environment.plugin-grant.list component.create",
    ("environment.domain-registration", "view"): "environment.domain-registration.get"
    " environment.domain-registration.list environment.http-api-deployment.create environment.mcp-deployment.create",
}
"""Class and verb to operations, the likeliest first; what is not here is named after the class and the verb."""

_VIEWED = frozenset(
    {
        "account.token",
        "account.plugin",
        "account.permission-share",
        "application",
        "environment.agent-secret",
        "environment.retry-policy",
        "environment.resource-definition",
        "environment.security-scheme",
        "environment.http-api-deployment",
        "environment.mcp-deployment",
    }
)
_CONTAINERS = {
    "read": "blob.get-container blob.container-exists",
    "write": "blob.create-container",
    "delete": "blob.delete-container blob.clear",
    "list": "blob.list-objects",
}
_CACHE = {
    "read": "kv.cache.get kv.cache.exists kv.cache.get-or-set",
    "write": "kv.cache.set kv.cache.get-or-set",
    "delete": "kv.cache.delete",
}


def operations_of(target: Target) -> tuple[OperationGuess, ...]:
    """The operations that ask for a target, the likeliest first; one alone is certain."""
    names = _names(target).split()
    why = f"asks for `{target.cls.name} : {target.verb}`"
    if not names:
        return ()
    if len(names) == 1:
        return (OperationGuess(names[0], "certain", f"only this operation {why}"),)
    sure = ("likely", *("possible" for _ in names[1:]))
    return tuple(OperationGuess(name, how, why) for name, how in zip(names, sure, strict=True))


def operations_of_class(cls: str, verb: str) -> tuple[OperationGuess, ...]:
    """The operations that may ask for a class and a verb, where the rest of the target is not known."""
    why = f"asks for `{cls} : {verb}`"
    return tuple(OperationGuess(name, "possible", why) for name in _of_verb(cls, verb).split())


def _of_verb(cls: str, verb: str) -> str:
    if (cls, verb) in _BY_VERB:
        return _BY_VERB[cls, verb]
    if verb == "view" and cls in _VIEWED:
        return f"{cls}.get {cls}.list"
    known = ("create", "update", "delete", "register")
    if verb in known and (cls, verb) not in (("account", "create"), ("plan", "create"), ("account.plugin", "create")):
        return f"{cls}.{verb}" if cls in _VIEWED or cls in _MUTATED else ""
    return ""


_MUTATED = frozenset(
    {
        "account",
        "environment",
        "component",
        "environment.plugin-grant",
        "environment.domain-registration",
    }
)


def _names(target: Target) -> str:
    cls, verb, resource = target.cls.name, target.verb, target.resource
    match (cls, resource):
        case ("kv", StoreKey(store, _)) if store == CACHE_STORE:
            return _CACHE.get(verb, "")
        case ("blob", StoreKey(_, "**" | "*")):
            return _CONTAINERS.get(verb, "")
        case ("rdbms", TableName(_, "*", "*")):
            return "rdbms.begin-transaction"
        case ("oplog", _) if resource == ANY:
            return "svc.oplog.search debug.connect"
        case ("env" | "config", _) if resource == ANY:
            return "debug.connect"
        case ("filesystem", FilePath(("**",))) if verb == "read":
            return "debug.connect svc.fs.read"
        case ("network", _):
            ports = getattr(resource, "ports", None)
            return "dns.resolve" if ports is not None and ports.form == "any" else _BY_VERB["network", "connect"]
        case ("agent", _) if verb == "view":
            return _viewing(target)
        case ("agent", Exact("method", "create-webhook")) if verb == "invoke":
            return "agent.create-webhook"
        case ("agent", _) if verb == "invoke" and resource == ANY:
            return "svc.agent.create svc.agent.launch svc.agent.complete-promise agent.complete-promise"
        case ("agent", Exact("method", _)) if verb == "invoke":
            return _BY_VERB["agent", "invoke"]
    return _of_verb(cls, verb)


def _viewing(target: Target) -> str:
    if target.owner.is_type_wildcard:
        return "svc.agent.resolve-type svc.agent.invoke svc.agent.create"
    if target.owner.known_depth == 4:
        return "svc.agent.list agent.list"
    if target.resource != EMPTY:
        return "svc.agent.lookup"
    return _BY_VERB["agent", "view"]
