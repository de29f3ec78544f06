"""All that is known of a denial, gathered for the tests of its causes.

Source: host 6.1, 6.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from policyd.core.admission import Facet, lapsed_grants
from policyd.core.admission.decide import Lapse, surface_at
from policyd.core.cards import Bound, Bounds, Card, CardId, GrantRef, account_root_bounds, default_grants
from policyd.core.cards.deploy import DeployRefused, validate_initial_card
from policyd.core.grants import AgentContext, Grant, Target
from policyd.core.operations import Operation
from policyd.explain.causes import CaseFile
from policyd.findings import Span
from policyd.syntax.denials.reading import Denial
from policyd.syntax.mistakes import shown
from policyd.usecases.explain_fixes import ROOT, THIS_AGENT, Means
from policyd.usecases.explain_holding import Holding
from policyd.usecases.explain_values import ExplainedTarget


class Evidence:
    """What a holder's cards, its manifest and its deployer tell."""

    def __init__(self, holding: Holding, means: Means) -> None:
        self.holding = holding
        self.means = means

    def source_of(self, ref: GrantRef) -> tuple[str, Span | None]:
        """A grant as it is written, and where."""
        card, initial = self.holding.own_card, self.holding.initial
        if card is not None and initial is not None and ref.card == initial.card.id:
            placed = card.place(ref)
            if placed is not None:
                return placed.text, placed.span
        for held in self.holding.wallet.cards:
            if held.card.id == ref.card:
                grants = held.card.bounds.of(ref.bound)
                text = grants[ref.index].text.rstrip() if ref.index < len(grants) else ref.grant.text.rstrip()
                return text, self.holding.places.get((ref.card, ref.bound.value, ref.index))
        return ref.grant.text.rstrip(), None

    def file(
        self,
        kind: str,
        target: Target | None,
        told: Sequence[ExplainedTarget],
        operation: Operation | None,
        denial: Denial | None,
    ) -> CaseFile:
        """All that is known, for the tests of the causes."""
        holding = self.holding
        context = holding.wallet.context
        if target is not None and told:
            first = next((t for t in told if t.target == target), told[0])
            context = holding.for_instance(target, first.answer)
            target = first.target if context is None else first.target.filled(context)
        elif context is not None and context.agent_id is None:
            context = replace(context, agent_id=f'{context.agent_type}("1")')
        wallet = holding.wallet if context is None else holding.wallet.for_agent(context)
        # filled once: each of the tests below would fill all grants again
        wallet = replace(wallet, cards=tuple(replace(held, card=wallet.filled(held.card)) for held in wallet.cards))
        live = tuple(held.card for held in wallet.live(holding.at))
        scope = holding.scope
        cards = live if scope is None else (*live, Card(scope.id, scope.bounds))
        record = operation.record.of(None) if operation is not None else None
        return CaseFile(
            kind=kind,
            holder=holding.wallet.holder,
            surface=surface_at(wallet, holding.at, scope),
            cards=cards,
            written={held.card.id: held.card for held in holding.wallet.cards},
            target=target,
            targets=tuple((t.target, t.is_admitted) for t in told),
            is_admitted=_all_of([t.answer.verdict.admitted for t in told]),
            context=context,
            scope=scope,
            gone=self.gone(wallet, target),
            own=holding.own_card,
            own_id=holding.initial.card.id if holding.initial else None,
            default_admits=self.default_admits(target, context),
            knows_wallet=holding.knows_wallet,
            other_gate=self.other_gate(target, denial),
            record=record.value if record is not None else "",
            is_service=holding.is_service,
            deploy_refusal=self.deploy_refusal(context),
            deployed_differs=self.deployed_differs(),
            name=self.card_name,
            wording=lambda ref: self.source_of(ref)[0],
        )

    def card_name(self, card: CardId) -> str:
        """How a card is called."""
        initial = self.holding.initial
        if initial is not None and card == initial.card.id:
            own = self.holding.own_card
            return "the default card" if own is not None and own.is_default else "the initial card"
        if self.holding.scope is not None and card == self.holding.scope.id:
            return f"the scope card {card}"
        return f"card {card}"

    def gone(self, wallet: object, target: Target | None) -> tuple[str, ...]:
        """Cards that would have granted it and no longer count."""
        if target is None:
            return ()
        found = lapsed_grants(wallet, target, self.holding.at)  # type: ignore[arg-type]
        return tuple(
            f"card {lapsed.ref.card}, which grants it by `{lapsed.ref.grant.text}`, "
            + ("is revoked" if lapsed.lapse is Lapse.REVOKED else "has expired")
            for lapsed in found
            if lapsed.lapse is not Lapse.ELSEWHERE
        )

    def default_admits(self, target: Target | None, context: AgentContext | None) -> bool:
        """Whether the default card would lend the target."""
        if target is None or context is None:
            return False
        return any(g.filled(context).target.covers(target) for g in default_grants(THIS_AGENT))

    def other_gate(self, target: Target | None, denial: Denial | None) -> str:
        """A gate beside the cards that the manifest shows to refuse the call."""
        if denial is not None and denial.not_policy:
            return denial.not_policy
        manifest = self.holding.manifest
        if manifest is None or target is None:
            return ""
        if target.cls.name == "filesystem" and target.verb in ("write", "delete"):
            for file in manifest.agent.files:
                if not file.is_read_write and target.resource.text == file.path:
                    return f"the file `{file.path}` is provisioned read-only ({file.span.where})"
        if target.cls.name == "tool" and target.owner.known_depth == 5 and target.owner.known:
            name = target.owner.known[-1]
            if all(tool.name != name for tool in manifest.agent.tools):
                return f"the manifest does not bind tool {shown(name)} to this agent type"
        return ""

    def deploy_refusal(self, context: AgentContext | None) -> str:
        """Why the deploy of the initial card would be refused; empty if it would not."""
        manifest = self.holding.manifest
        if manifest is None or context is None:
            return ""
        card = manifest.agent.initial_card
        if card.bad:
            return f"a grant of the card cannot be read: {card.bad[0].finding.message}"
        bounds = card.bounds(context)
        if self.means.deployer is None:
            # a root covers whatever stays within the own account (cards 8.4), so only the rest is compared with it
            written = card.as_written
            kept = {id(g) for b in Bound for g in written.of(b) if g.recipient.slot is None or _may_leave(g)}
            bounds = Bounds(
                *(tuple(g for g, w in zip(bounds.of(b), written.of(b), strict=True) if id(w) in kept) for b in Bound)
            )
        deployer = self.means.deployer or (Card(ROOT, account_root_bounds(context.account)),)
        refused = validate_initial_card(bounds, deployer, manifest.agent.name)
        if isinstance(refused, DeployRefused):
            who = "the deployer's cards do" if self.means.deployer else "an assumed account root card does"
            return f"{who} not cover the initial card"
        return ""

    def deployed_differs(self) -> bool:
        """Whether the wallet's initial card is another than the one of the manifest."""
        holding = self.holding
        if holding.manifest is None or not holding.knows_wallet or holding.initial is None:
            return False
        context = holding.wallet.context
        if context is None:
            return False
        known = replace(context, agent_id=context.agent_id or f'{context.agent_type}("1")')
        mine = holding.manifest.agent.initial_card.card(known).for_agent(known).bounds
        return any(set(mine.of(b)) != set(holding.initial.card.for_agent(known).bounds.of(b)) for b in Bound)


def _may_leave(grant: Grant) -> bool:
    """Whether a grant for the own agents may be about something outside the own account."""
    return grant.target.owner.slot is None and grant.target.cls.name != "network"


def _all_of(facets: Sequence[Facet]) -> bool | None:
    if not facets:
        return None
    if Facet.NO in facets:
        return False
    return None if Facet.UNKNOWN in facets else True
