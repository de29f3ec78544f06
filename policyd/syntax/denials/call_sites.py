"""Names of functions in a stack, an import or a description, and the operation behind each.

Source: host 2.1 to 2.11, 2.17.
"""

from __future__ import annotations

from collections.abc import Iterable

_TABLE: dict[str, str] = {
    "agent.get-self-metadata": "get_self_metadata getSelfMetadata get-self-metadata",
    "agent.get-metadata": "get_agent_metadata getAgentMetadata get-agent-metadata",
    "agent.list": "get_agents getAgents get-agents nextAgentBatch next_page collect_all GetAgents",
    "agent.resolve-strict": "resolve_agent_id_strict resolveAgentIdStrict resolve-agent-id-strict",
    "agent.update": "update_agent updateAgent update-agent",
    "agent.fork": "fork_agent forkAgent fork-agent fork() api/host.fork",
    "agent.revert": "revert_agent revertAgent revert-agent",
    "agent.create-webhook": "create_webhook createWebhook create-webhook",
    "oplog.read": "GetOplog get_oplog getOplog get-oplog",
    "oplog.search": "SearchOplog search_oplog searchOplog search-oplog",
    "oplog.enrich": "enrich_oplog_entries enrichOplogEntries enrich-oplog-entries",
    "config.get-value": "get_config_value getConfigValue get-config-value",
    "config.get-secret": "Secret::handle",
    "secret.reveal": "Secret::get Secret.get secrets/reveal",
    "card.derive": "derive_from_wallet deriveFromWallet derive-from-wallet",
    "card.derive-scope": "derive_scope deriveScope derive-scope",
    "card.install": "install_card installCard install-card",
    "card.revoke": "revoke_card revokeCard revoke-card",
    "card.inspect": "inspect_card inspectCard inspect-card",
    "agent.invoke.trigger": "trigger_",
    "agent.invoke.schedule": "schedule_ schedule-invocation schedule-cancelable-invocation",
    "agent.invoke.async": "async-invoke-and-await async_invoke_and_await",
    "agent.invoke": "invoke-and-await invoke_and_await invokeAndAwait",
    "dns.resolve": "resolve-addresses resolve_addresses getaddrinfo lookup_host to_socket_addrs dns.lookup",
    "net.tcp.connect": "start-connect TcpStream::connect tcp-socket.connect tcp.connect net.connect TcpStream.connect",
    "net.udp.connect": "udp.stream udp-socket.connect UdpSocket::connect",
    "net.udp.send": "send_to( sendto udp-socket.send datagram.send",
    "http.send": "outgoing-handler http::send fetch( reqwest",
    "websocket.connect": "connectWebsocket WebsocketConnection::connect websocket/client.connect",
    "fs.open": "open-at openat File::open File::create OpenOptions readFileSync readFile writeFileSync writeFile"
    " read_to_string fs::read fs::write openSync fs.open createReadStream createWriteStream",
    "fs.read-stream": "read-via-stream read_via_stream",
    "fs.write-stream": "write-via-stream write_via_stream",
    "fs.append-stream": "append-via-stream appendFile",
    "fs.read-directory": "read-directory read_dir readdir readdirSync",
    "fs.stat-at": "stat-at fs::metadata metadata( statSync fs.stat existsSync try_exists",
    "fs.readlink": "readlink-at read_link readlink",
    "fs.create-directory": "create-directory-at create_dir create_dir_all mkdir mkdirSync",
    "fs.set-times-at": "set-times-at utimes",
    "fs.symlink": "symlink-at symlink(",
    "fs.remove-directory": "remove-directory-at remove_dir remove_dir_all rmdir",
    "fs.unlink": "unlink-file-at remove_file unlink unlinkSync",
    "fs.rename": "rename-at fs::rename renameSync rename(",
    "fs.link": "link-at hard_link linkSync",
    "fs.set-size": "set-size set_len truncateSync",
    "kv.get-many": "eventual-batch.get-many eventual-batch::get-many",
    "kv.set-many": "eventual-batch.set-many eventual-batch::set-many",
    "kv.delete-many": "eventual-batch.delete-many eventual-batch::delete-many",
    "kv.keys": "eventual-batch.keys eventual-batch::keys",
    "kv.get": "eventual.get eventual::get",
    "kv.set": "eventual.set eventual::set",
    "kv.delete": "eventual.delete eventual::delete",
    "kv.exists": "eventual.exists eventual::exists",
    "kv.cache.get-or-set": "cache.get-or-set cache::get-or-set",
    "kv.cache.get": "cache.get cache::get",
    "kv.cache.set": "cache.set cache::set",
    "kv.cache.delete": "cache.delete cache::delete",
    "kv.cache.exists": "cache.exists cache::exists",
    "blob.get-data": "container.get-data container::get-data get_data getData",
    "blob.write-data": "container.write-data write_data writeData",
    "blob.list-objects": "list-objects list_objects listObjects",
    "blob.delete-object": "delete-object delete_object deleteObject",
    "blob.delete-objects": "delete-objects delete_objects deleteObjects",
    "blob.clear": "container.clear container::clear",
    "blob.has-object": "has-object has_object hasObject",
    "blob.object-info": "object-info object_info objectInfo",
    "blob.get-container": "get-container get_container getContainer",
    "blob.create-container": "create-container create_container createContainer",
    "blob.delete-container": "delete-container delete_container deleteContainer",
    "blob.container-exists": "container-exists container_exists containerExists",
    "blob.copy-object": "copy-object copy_object copyObject",
    "blob.move-object": "move-object move_object moveObject",
    "rdbms.begin-transaction": "begin-transaction begin_transaction beginTransaction",
    "rdbms.query-stream": "query-stream query_stream queryStream",
    "rdbms.query": "connection.query connection::query transaction.query db-connection.query",
    "rdbms.execute": "connection.execute connection::execute transaction.execute db-connection.execute",
    "saga.retry": "infallible_transaction infallibleSaga infallibleTransaction",
    "env.get": "get-environment std::env env::var process.env",
    "config.get-all": "config/store.get-all",
    "config.get": "config/store.get config.get(",
}

_NAMES: dict[str, tuple[str, ...]] = {operation: tuple(names.split()) for operation, names in _TABLE.items()}
OPERATIONS = frozenset(_NAMES)
"""The operations whose functions are known here."""

_BEFORE, _AFTER = 500, 400


def operations_near(text: str, start: int, end: int, among: Iterable[str]) -> tuple[str, ...]:
    """Those of the operations `among` whose functions are named around a stretch of text, the nearest first."""
    before, after = text[max(0, start - _BEFORE) : start], text[start : min(len(text), end + _AFTER)]
    length = end - start
    near: list[tuple[int, int, str]] = []
    for operation in among:
        for name in _NAMES.get(operation, ()):
            last, first = before.rfind(name), after.find(name)
            if last >= 0:
                near.append((len(before) - last - len(name), -len(name), operation))
            if first >= 0:
                near.append((max(0, first - length), -len(name), operation))
    return tuple(dict.fromkeys(operation for _, _, operation in sorted(near)))
