"""policyd token: the tokens of the HTTP interface."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.findings import visible, visible_lines

if TYPE_CHECKING:
    from policyd.store.tokens import Token


@click.group("token", cls=opt.Group)
def command() -> None:
    """Create, list and revoke the tokens that the HTTP interface asks for."""


@command.command("create")
@click.option("--name", required=True, help="For people; unique among the live tokens.")
@click.option("--read", "scope", flag_value="read", default="read", help="May ask (default).")
@click.option("--write", "scope", flag_value="write", help="May import, too.")
@click.option("--admin", "scope", flag_value="admin", help="May do everything, for everybody.")
@click.option("--account", default="", help="Only for the snapshots of this account.")
@click.option("--application", default="", help="Only for this application of the account.")
@click.option("--expires", help="From this moment on it is refused, e.g. 2027-01-01T00:00:00Z.")
def create(name: str, scope: str, account: str, application: str, expires: str | None) -> int:
    """Make a token; its text is shown this one time and kept nowhere."""
    from policyd.cli.store import LOCAL, database
    from policyd.store.tokens import TokenScope, create_token

    with database() as store:
        made = create_token(
            store,
            name,
            TokenScope(scope),
            at=opt.now(),
            by=LOCAL,
            account=account,
            application=application,
            expires_at=opt.moment_of(expires),
        )
    click.echo(made.secret)
    click.echo(f"{_line(made.token)}\nshown once: keep it now", err=True)
    return Exit.YES


@command.command("list")
@opt.output("text", "json")
def list_all(format: str, output: Path | None) -> int:
    """List all tokens, revoked ones too; never their texts."""
    from policyd.cli.output import as_json, write
    from policyd.cli.store import database
    from policyd.store.tokens import list_tokens
    from policyd.usecases.tokens import token_json

    with database() as store:
        tokens = list_tokens(store)
    if format == "json":
        write(as_json({"tokens": [token_json(token) for token in tokens]}), output)
    else:
        write(visible_lines(map(_line, tokens)) or "no tokens", output)
    return Exit.YES


@command.command("revoke")
@click.argument("name")
def revoke(name: str) -> int:
    """Revoke a token by its public id or its name; from then on it is refused."""
    from policyd.cli.store import LOCAL, database
    from policyd.store.tokens import revoke_token

    with database() as store:
        click.echo(_line(revoke_token(store, name, at=opt.now(), by=LOCAL)))
    return Exit.YES


def _line(token: Token) -> str:
    reach = "/".join(part for part in (token.account, token.application) if part) or "everything"
    end = f", revoked {token.revoked_at}" if token.revoked_at else ""
    until = f", until {token.expires_at}" if token.expires_at else ""
    return visible(f"{token.public_id}  {token.name}  {token.scope.value}  {reach}{until}{end}")
