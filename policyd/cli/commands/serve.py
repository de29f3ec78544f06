"""policyd serve: the HTTP interface and the web pages."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import threading
from types import FrameType

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit


@click.command("serve")
@click.option("--host", default="127.0.0.1", help="Address to listen on; tokens are asked for unless it is loopback.")
@click.option("--port", default=8420, type=click.IntRange(0, 65_535), help="Port; 0 for a free one.")
@click.option("--workers", default=1, type=click.IntRange(1, 64), help="Processes that answer.")
@click.option("--upgrade", is_flag=True, help="Migrate the database first.")
@click.option("--tokens", is_flag=True, help="Ask for tokens on a loopback address, too.")
def command(host: str, port: int, workers: int, upgrade: bool, tokens: bool) -> int:
    """Answer over HTTP and in the browser, until it is told to stop.

    The address is printed when it listens. On SIGTERM it takes no new requests and finishes those it has.
    """
    import uvicorn

    from policyd.cli.store import database, settings
    from policyd.service.access import is_loopback
    from policyd.service.metrics import MULTIPROCESS_DIR
    from policyd.store import migrate

    with database(is_migrated=not upgrade) as store:
        if upgrade:
            migrate.upgrade(store)
        if workers > 1 and store.is_sqlite and store.url.database in (None, "", ":memory:"):
            raise opt.usage("a database in memory cannot be shared by several workers", "use a file, or one worker")
    os.environ["POLICYD_REQUIRE_TOKENS"] = "false" if is_loopback(host) and not tokens else "true"
    if workers > 1 and MULTIPROCESS_DIR not in os.environ:
        os.environ[MULTIPROCESS_DIR] = tempfile.mkdtemp(prefix="policyd-metrics-")
    listening = _listen(host, port)
    shown_host, shown_port = listening.getsockname()[:2]
    name = f"[{shown_host}]" if ":" in shown_host else shown_host
    config = uvicorn.Config(
        "policyd.service.app:serving",
        factory=True,
        workers=workers,
        access_log=False,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=settings().shutdown_timeout_s,
        h11_max_incomplete_event_size=64 * 1024,
    )
    click.echo(f"policyd answers at http://{name}:{shown_port}/")
    if workers == 1:
        if threading.current_thread() is threading.main_thread():
            # the server hands the signal on when it has finished what it had: that is a good end
            signal.signal(signal.SIGTERM, _ended)
        uvicorn.Server(config).run([listening])
    else:
        from uvicorn.supervisors import Multiprocess

        Multiprocess(config, [listening]).run()
    return Exit.YES


def _ended(_: int, __: FrameType | None) -> None:
    raise SystemExit(int(Exit.YES))


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket, made before the address is printed."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # named as TCP, so that asyncio turns Nagle's algorithm off: answers would wait 40 ms for their acknowledgement
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host.strip("[]"), port))
    except OSError as error:
        made.close()
        reason = (error.strerror or "it cannot be used").lower()
        raise opt.usage(f"cannot listen on `{host}:{port}`: {reason}", "choose another `--port`") from None
    made.listen(2048)
    made.set_inheritable(True)
    return made
