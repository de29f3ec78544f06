"""Which operations a shape of an error may be of: those whose column of denials has it.

A shape names all of them, the likeliest first: an answer that leaves one out tells of the wrong call.

Source: host 2.1 to 2.11, 2.13, 5.5.
"""

from __future__ import annotations

from policyd.syntax.denials.reading import OperationGuess

FILES = (
    "?fs.open ?fs.read ?fs.read-stream ?fs.write ?fs.write-stream ?fs.append-stream ?fs.stat-at ?fs.stat"
    " ?fs.read-directory ?fs.create-directory ?fs.unlink ?fs.remove-directory ?fs.rename ?fs.link ?fs.symlink"
    " ?fs.readlink ?fs.set-size ?fs.set-times ?fs.set-times-at ?fs.sync"
)
"""`not-permitted`."""

SOCKETS = "dns.resolve net.tcp.connect ?net.udp.connect ?net.udp.send"
"""`access-denied`."""

FILES_AND_SOCKETS = f"{FILES} ?dns.resolve ?net.tcp.connect ?net.udp.connect ?net.udp.send"
"""The kind of error that the library of Rust makes of both codes."""

KEY_VALUE = (
    "?kv.get ?kv.set ?kv.exists ?kv.delete ?kv.get-many ?kv.set-many ?kv.delete-many ?kv.keys ?kv.cache.get"
    " ?kv.cache.set ?kv.cache.exists ?kv.cache.delete ?kv.cache.get-or-set"
)
BLOBS = (
    "?blob.get-data ?blob.write-data ?blob.get-container ?blob.container-exists ?blob.create-container"
    " ?blob.has-object ?blob.object-info ?blob.list-objects ?blob.delete-object ?blob.delete-objects"
    " ?blob.copy-object ?blob.move-object ?blob.clear ?blob.delete-container"
)
DATABASES = "?rdbms.query ?rdbms.execute ?rdbms.query-stream ?rdbms.begin-transaction"

HOST_OPERATIONS = "agent.get-self-metadata ?agent.list ?agent.update ?agent.fork ?agent.revert"
"""`AgentOperationError`."""

CARDS = "card.derive card.derive-scope card.install card.revoke ?card.inspect"
"""`permission-error`."""

FILES_AND_CARDS = f"{FILES} ?card.derive ?card.derive-scope ?card.install ?card.revoke ?card.inspect"
"""A case `not-permitted` without its type."""

TAGGED = (
    "?agent.get-self-metadata ?agent.list ?agent.update ?agent.fork ?agent.revert ?config.get-value"
    " ?config.get-secret ?oplog.read ?oplog.search ?agent.create-webhook"
)
"""A case `permission-denied` without its type: errors of agents, configuration, oplog and webhooks all have it."""

BARE = (
    f"?websocket.connect ?config.get ?secret.reveal ?secret.hold ?oplog.enrich ?http.send {TAGGED}"
    f" {FILES_AND_SOCKETS} ?agent.invoke ?agent.invoke.async ?agent.invoke.trigger ?agent.invoke.schedule ?tool.invoke"
)
"""`permission denied` and nothing else: of an interface, or of a library on top of one."""


def guesses_of(text: str, why: str) -> tuple[OperationGuess, ...]:
    """Operations separated by spaces, each with a reason; `!` before one makes it certain, `?` possible."""
    sure = {"!": "certain", "?": "possible"}
    return tuple(OperationGuess(word.lstrip("!?"), sure.get(word[0], "likely"), why) for word in text.split())
