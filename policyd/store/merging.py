"""What an import makes of the latest facts: each kind of document replaces what it speaks about, nothing else.

A new manifest replaces what manifests said and keeps what the platform said; the platform's documents
are added to both. So the same documents in the same order always give the same facts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from policyd.core.cards import CardId
from policyd.core.grants.names import ascii_lower
from policyd.store.codes import StoreCode
from policyd.store.facts import CardFact, Deployment, FindingFact, Origin, PermissionShare
from policyd.store.platform import Imported

_Fact = TypeVar("_Fact")


def with_manifest(latest: Deployment | None, manifest: Deployment) -> Deployment:
    """The facts of a manifest, with what the platform said about the same environment before.

    Args:
        latest: the facts so far, None for a new environment.
        manifest: facts of origin `manifest` only; its account, application and environment are those of `latest`.
    """
    if latest is None:
        return manifest
    platform = Origin.PLATFORM
    return replace(
        manifest,
        cards=latest.cards,
        revoked=latest.revoked,
        wallets=latest.wallets,
        shares=latest.shares,
        retry_policies=(*manifest.retry_policies, *(p for p in latest.retry_policies if p.origin is platform)),
        tools=(*manifest.tools, *(t for t in latest.tools if t.origin is platform)),
        middlewares=(*manifest.middlewares, *(m for m in latest.middlewares if m.origin is platform)),
        findings=(*manifest.findings, *(f for f in latest.findings if f.origin is platform)),
    )


def with_platform(latest: Deployment | None, imported: Imported, empty: Deployment) -> Deployment:
    """The facts so far, with what the platform's documents say.

    Cards are added; a wallet, share, retry policy or tool replaces the one of the same holder, id or name, a share
    only by a revision that is not older. Findings of earlier platform documents give way to the new ones.

    Args:
        latest: the facts so far, None for a new environment.
        imported: what was read.
        empty: the new environment without facts, used where there is no `latest`.

    Raises:
        InputError: STORE024 if a card comes again with other contents, for a card never changes.
    """
    base = latest or empty
    return replace(
        base,
        cards=_with_cards(base.cards, imported.cards),
        revoked=(*base.revoked, *imported.revoked),
        wallets=_over(base.wallets, imported.wallets, lambda w: (w.holder.text, w.agent_id)),
        shares=_with_shares(base.shares, imported.shares),
        retry_policies=_over(base.retry_policies, imported.retry_policies, lambda p: (p.name, p.origin)),
        tools=_over(base.tools, imported.tools, lambda t: (t.name, t.origin)),
        middlewares=_over(base.middlewares, imported.middlewares, lambda t: (t.name, t.origin)),
        findings=(*(f for f in base.findings if f.origin is Origin.MANIFEST), *_findings(imported)),
    )


def _over(before: Iterable[_Fact], after: Iterable[_Fact], key: Callable[[_Fact], object]) -> tuple[_Fact, ...]:
    """The facts of `before`, those of `after` in the place of what has the same key."""
    found = {key(fact): fact for fact in before}
    found |= {key(fact): fact for fact in after}
    return tuple(found.values())


def _with_cards(before: Sequence[CardFact], after: Sequence[CardFact]) -> tuple[CardFact, ...]:
    found: dict[CardId, CardFact] = {fact.card.id: fact for fact in before}
    for fact in after:
        known = found.get(fact.card.id)
        if known is not None and known.card != fact.card:
            raise StoreCode.CARD_CHANGED.error(
                f"card `{fact.card.id}` is known with other contents, and cards never change",
                fact.place,
                "import it into the environment it belongs to",
            )
        found[fact.card.id] = fact
    return tuple(found.values())


def _with_shares(before: Sequence[PermissionShare], after: Sequence[PermissionShare]) -> tuple[PermissionShare, ...]:
    found = {share.id: share for share in before}
    for share in after:
        known = found.get(share.id)
        if known is None or share.revision >= known.revision:
            found[share.id] = share
    return tuple(found.values())


def _findings(imported: Imported) -> tuple[FindingFact, ...]:
    return tuple(imported.findings)


def empty_deployment(account: str, application: str, environment: str) -> Deployment:
    """An environment of which nothing is known yet."""
    return Deployment(ascii_lower(account), application, environment)
