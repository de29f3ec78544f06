"""policyd lsp: a language server for manifests and policy tests."""

from __future__ import annotations

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit


@click.command("lsp")
@opt.rules
def command(edition: str, switch: tuple[str, ...]) -> int:
    """Serve an editor on standard input and output: findings while typing, the meaning of grants, changes.

    Needs the extra `policyd[lsp]`. An editor starts it; docs/editors.md has settings for some.
    """
    try:
        from policyd.cli.commands.test import stored_subject
        from policyd.lsp.server import server
    except ModuleNotFoundError as error:
        if error.name not in ("pygls", "lsprotocol"):
            raise
        raise opt.usage("the language server is not installed", "install `policyd[lsp]`") from None

    server(opt.rules_of(edition, switch), opt.now, stored_subject).start_io()
    return Exit.YES
