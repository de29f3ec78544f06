"""What an accepted derivation lets through although its parents do not.

The platform compares texts of grants; a child that passes may still admit real calls that no parent admits.

Source: cards 6.1; questions 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from policyd.core.callsets import Slip, slips
from policyd.core.callsets.holders import holders_of
from policyd.core.cards import Accepted, Caller, Card, Ledger, ScopeCard
from policyd.core.edition import Rules
from policyd.core.grants import Level, Recipient
from policyd.usecases.dry_runs import DryRun
from policyd.usecases.proofs import effort_for

MAX_SHOWN = 3

EFFORT_S = 5.0
"""Roughly so many seconds are spent on all holders together; past that it is undecided."""


def with_slips(run: DryRun, caller: Caller, ledger: Ledger, rules: Rules) -> DryRun:
    """The same dry run; where it is accepted, with notes on real calls that slip past the parents.

    A persistent card is asked about for everyone, a scope card for all agents, whichever is called with it.
    """
    outcome = run.outcome
    if not isinstance(outcome, Accepted) or outcome.card is None:
        return run
    made = outcome.card
    names = made.roots if isinstance(made, ScopeCard) else (outcome.witnesses or made.parents)
    parents = [_filled(ledger.cards[name], caller) for name in names if name in ledger.cards]
    holders: Sequence[Recipient] | None = None
    if isinstance(made, ScopeCard):
        child = Card(made.id, made.bounds)
        recipients = (g.recipient for card in (*parents, child) for _, _, g in card.bounds.each())
        holders = [h for h in holders_of(recipients, rules) if h.level is Level.AGENT and not h.is_external_tool_owner]
    else:
        child = _filled(made, caller)
    return replace(
        run, notes=tuple(_sentence(slip) for slip in slips(parents, child, holders, rules, steps=effort_for(EFFORT_S)))
    )


def _filled(card: Card, caller: Caller) -> Card:
    return card if caller.agent is None else card.for_agent(caller.agent)


def _sentence(slip: Slip) -> str:
    calls = slip.calls
    if not calls.witnesses:
        return (
            f"for {slip.holder.text} it is undecided whether the parents admit all of it: {calls.undecided[0].reason}"
        )
    shown = ", ".join(f"`{w.target.text}`" for w in calls.witnesses[:MAX_SHOWN])
    more = calls.count - min(MAX_SHOWN, len(calls.witnesses))
    rest = f" and {more} more kinds" if more else ""
    negatives = ", ".join(f"`{ref.grant.text}`" for ref in slip.restate[:MAX_SHOWN])
    negatives += f" and {len(slip.restate) - MAX_SHOWN} more" if len(slip.restate) > MAX_SHOWN else ""
    stopped = "it" if slip.is_stopped else "a part of it"
    stop = f"; restating {negatives} as a negative would stop {stopped}" if negatives else ""
    return f"for {slip.holder.text} the new card admits what its parents together do not: {shown}{rest}{stop}"
