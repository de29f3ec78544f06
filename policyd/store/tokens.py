"""API tokens: shown once, kept as a hash, good for one scope, until they expire or are revoked.

A token reads `pd_<public id>_<secret>`. The secret is 256 random bits, so a plain hash of it gives
nothing away and needs no salt.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256

from sqlalchemy import Connection, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from policyd.core.cards import Timestamp
from policyd.core.grants.names import ascii_lower
from policyd.store import audits
from policyd.store.codes import StoreCode
from policyd.store.digest import canonical_json
from policyd.store.ordering import check_name, check_text
from policyd.store.session import Database
from policyd.store.snapshots import Scope
from policyd.store.tables import TokenRow

PUBLIC_BYTES = 6
SECRET_BYTES = 32
MAX_TOKEN_CHARS = 128
"""Longer texts are no tokens and are refused unread."""

_FORM = re.compile(r"pd_([0-9a-f]{12})_([A-Za-z0-9_-]{43})", re.ASCII)
_NOBODY = sha256(b"nobody").hexdigest()


class TokenScope(Enum):
    """What a token is good for; each includes those before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def includes(self, wanted: TokenScope) -> bool:
        """Whether a token of this scope may do what needs `wanted`."""
        order = list(TokenScope)
        return order.index(wanted) <= order.index(self)


@dataclass(frozen=True, slots=True)
class Token:
    """A token without its secret.

    Attributes:
        public_id: names it in lists and in the audit log.
        account, application: whose snapshots it reaches; empty for all.
        expires_at: from this moment on it is refused, empty for never; revoked_at: when it was revoked, empty for not.
    """

    public_id: str
    name: str
    scope: TokenScope
    account: str
    application: str
    created_at: str
    created_by: str
    expires_at: str
    revoked_at: str

    @property
    def reach(self) -> Scope:
        """Whose snapshots exist for the bearer."""
        return Scope(self.account, self.application)


@dataclass(frozen=True, slots=True)
class CreatedToken:
    """A new token with the one text that will never be shown again."""

    token: Token
    secret: str


def create_token(
    database: Database,
    name: str,
    scope: TokenScope,
    *,
    at: Timestamp,
    by: str,
    account: str = "",
    application: str = "",
    expires_at: Timestamp | None = None,
    random: Callable[[int], bytes] = secrets.token_bytes,
) -> CreatedToken:
    """Make a token and show it once.

    Args:
        database: migrated.
        name: for people; unique among the tokens that are not revoked.
        scope: an admin token reaches everything, so it takes no account.
        at: now.
        by: who makes it.
        account: whose snapshots it reaches, empty for all.
        application: the one application of the account, empty for all of them.
        expires_at: from when on it is refused.
        random: gives random bytes.

    Raises:
        InputError: STORE042 if a live token has that name, STORE012 for a scope that contradicts itself or an
            expiry that has passed.
    """
    check_name(name, "the name of the token")
    check_text(account + application, "the scope of the token")
    if (application and not account) or (scope is TokenScope.ADMIN and account):
        raise StoreCode.CONTRADICTION.error(
            "an admin token reaches everything, and an application belongs to an account",
            None,
            "name the account with the application, and neither for `--admin`",
        )
    if expires_at is not None and expires_at <= at:
        raise StoreCode.CONTRADICTION.error(
            f"the token would have expired at {expires_at.text}, before it is made",
            None,
            "give a moment that is still to come, or none",
        )
    public_id = random(PUBLIC_BYTES).hex()
    # 43 characters without padding for 32 bytes
    secret = _text(random(SECRET_BYTES))
    row = {
        "public_id": public_id,
        "name": name,
        "secret_hash": sha256(secret.encode()).hexdigest(),
        "scope": scope.value,
        "account": ascii_lower(account),
        "application": application,
        "created_at": at.text,
        "created_by": by,
        "expires_at": expires_at.text if expires_at else None,
        "revoked_at": None,
    }
    with database.writing() as connection:
        if connection.execute(select(TokenRow.id).where(TokenRow.name == name, TokenRow.revoked_at.is_(None))).first():
            raise _taken(name)
        try:
            connection.execute(insert(TokenRow), row)
        except IntegrityError:
            raise _taken(name) from None
        detail = canonical_json({"name": name, "scope": scope.value})
        audits.record(
            connection,
            audits.Audit(at.text, by, "token.create", public_id, ascii_lower(account), application, detail),
        )
        token = _token(connection, public_id)
    assert token is not None  # it was written just now
    return CreatedToken(token[0], f"pd_{public_id}_{secret}")


def _text(raw: bytes) -> str:
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def _taken(name: str) -> Exception:
    return StoreCode.TOKEN_NAME_TAKEN.error(
        f"there is a token named `{name[:80]}`", None, "revoke it first, or take another name"
    )


def _read(row: TokenRow) -> Token:
    return Token(
        row.public_id,
        row.name,
        TokenScope(row.scope),
        row.account,
        row.application,
        row.created_at,
        row.created_by,
        row.expires_at or "",
        row.revoked_at or "",
    )


def _token(connection: Connection, public_id: str) -> tuple[Token, str] | None:
    row = connection.execute(select(TokenRow.__table__).where(TokenRow.public_id == public_id)).first()
    return None if row is None else (_read(row), row.secret_hash)  # type: ignore[arg-type]  # a row has its columns


def verify_token(database: Database, text: str, *, at: Timestamp) -> Token | None:
    """The token that `text` is, if it is good at `at`; None for everything else, and never why.

    The comparison takes the same time wherever the secrets differ, and is made for unknown ids, too.
    """
    found = _FORM.fullmatch(text) if len(text) <= MAX_TOKEN_CHARS else None
    public_id, secret = found.groups() if found else ("", "")
    with database.reading() as connection:
        known = _token(connection, public_id)
    token, expected = known if known else (None, _NOBODY)
    is_same = hmac.compare_digest(sha256(secret.encode()).hexdigest(), expected)
    if token is None or not is_same or token.revoked_at:
        return None
    if token.expires_at and Timestamp.parse(token.expires_at) <= at:
        return None
    return token


def list_tokens(database: Database) -> tuple[Token, ...]:
    """All tokens, revoked and expired ones too, in the order in which they were made."""
    with database.reading() as connection:
        rows = connection.execute(select(TokenRow.__table__).order_by(TokenRow.id)).all()
        return tuple(_read(row) for row in rows)  # type: ignore[arg-type]  # a row has its columns


def revoke_token(database: Database, name: str, *, at: Timestamp, by: str) -> Token:
    """Revoke the live token of that public id or name.

    Raises:
        InputError: STORE041 if there is none.
    """
    t = TokenRow
    with database.writing() as connection:
        chosen = select(t.public_id).where(t.revoked_at.is_(None), or_(t.public_id == name, t.name == name))
        public_id = connection.execute(chosen.order_by(t.public_id != name).limit(1)).scalar_one_or_none()
        if public_id is None:
            raise StoreCode.NO_TOKEN.error(
                f"there is no live token `{name[:80]}`", None, "`policyd token list` shows them"
            )
        connection.execute(update(t).where(t.public_id == public_id).values(revoked_at=at.text))
        token = _token(connection, public_id)
        assert token is not None  # it was changed just now
        audits.record(
            connection,
            audits.Audit(at.text, by, "token.revoke", public_id, token[0].account, token[0].application),
        )
    return token[0]


def has_tokens(database: Database) -> bool:
    """Whether anybody has made a token that is not revoked."""
    with database.reading() as connection:
        return connection.execute(select(TokenRow.id).where(TokenRow.revoked_at.is_(None)).limit(1)).first() is not None
