"""The narrowest changes that let a denied call through, as patches that were tried, with all that they open besides.

Source: questions 2 (explanation); host 6.4; interface, `explain`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from policyd.core.admission import Facet, HeldCard, Wallet
from policyd.core.application import AgentType
from policyd.core.cards import Bound, Card, CardId, account_root_bounds
from policyd.core.cards.deploy import DeployRefused, validate_initial_card
from policyd.core.edition import Edition, Rules
from policyd.core.grants import AgentContext, Grant, Level, Recipient, Slot, Target
from policyd.findings import PolicydError, Severity
from policyd.manifest import LoadedManifest, describe, resolve_environment
from policyd.manifest.load import load_texts
from policyd.manifest.patch import CannotPatchError, ListChange, Patch, patch_card
from policyd.solver.repairs import (
    NoRepair,
    Repair,
    RepairKind,
    RepairQuestion,
    as_widening,
    changed,
    repairs,
)
from policyd.syntax import Form, GrantSyntaxError, parse_grant
from policyd.usecases.changes import MAX_SHOWN, ShownWitness, changes_between
from policyd.usecases.check_call import call_of, initial_wallet
from policyd.usecases.explain_holding import FromManifest, Holding
from policyd.usecases.holders import written_target
from policyd.usecases.proofs import effort_for
from policyd.usecases.wallet_holders import WalletHolder, WalletHolders

THIS_AGENT = Recipient(Level.AGENT, (), Slot.AGENT)
ROOT = CardId("00000000-0000-0000-0000-000000000001")

Clock = Callable[[], float]
"""Seconds that have passed; the rim gives it."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What a change lets through besides the calls that were asked about.

    Attributes:
        witnesses: kinds of calls, the smallest first.
        more: how many further kinds.
        stopped: kinds of calls that it ends.
        undecided: on what the search ended early.
        asked: the kinds among those that started that the asked calls contain.
        others: the same for agents that share the changed text, by name.
    """

    witnesses: tuple[ShownWitness, ...]
    more: int = 0
    stopped: tuple[ShownWitness, ...] = ()
    undecided: tuple[str, ...] = ()
    asked: tuple[ShownWitness, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fix:
    """One change that lets the call through.

    Attributes:
        kinds: what it does, one for each line.
        lines: `list: grant` of every line that comes, as it is to be written.
        gone: `list: grant` of every line that goes or is replaced.
        patch: the change of the document; None where no manifest is at hand.
        opened: what else it opens.
        ineffective: why it would not take effect for this deployer or in the other edition; empty where it would.
        remarks: what else it means.
    """

    kinds: tuple[RepairKind, ...]
    lines: tuple[str, ...]
    gone: tuple[str, ...]
    patch: Patch | None
    opened: Opened
    ineffective: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fixes:
    """What can be done.

    Attributes:
        fixes: at most three, narrowest first.
        instead: where the manifest cannot do it, what would; where nothing needs to be done, nothing.
        keep_denied: why it should stay denied; empty where nothing speaks for that.
        undecided: why not all was tried within the budget.
        ask: what has to be named before a change can be given; empty where nothing has.
    """

    fixes: tuple[Fix, ...] = ()
    instead: tuple[str, ...] = ()
    keep_denied: str = ""
    undecided: str = ""
    ask: str = ""

    @property
    def is_fixable(self) -> bool:
        """Whether a change of the manifest does it."""
        return bool(self.fixes)


@dataclass(frozen=True, slots=True)
class Means:
    """What fixes are judged by.

    Attributes:
        deployer: cards of whoever deploys; None for an assumed account root card.
        clock: seconds that have passed.
        budget: seconds after which no further change is tried.
        limit: the most kinds of calls shown for each change.
    """

    deployer: tuple[Card, ...] | None = None
    clock: Clock = field(default=lambda: 0.0)
    budget: float = 10.0
    limit: int = MAX_SHOWN

    @property
    def is_spent(self) -> bool:
        """Whether the budget is used up."""
        return self.clock() > self.budget


def fixes_of(
    holding: Holding,
    targets: Sequence[Target],
    context: AgentContext | None,
    means: Means,
    *,
    is_for_saga: bool = False,
) -> Fixes:
    """The narrowest changes of the initial card that let all targets through.

    Args:
        holding: who was denied.
        targets: all that the operation asks for, concrete.
        context: the agent for which slots are filled; None for accounts.
        means: deployer and budget.
        is_for_saga: whether a saga retry asks, which needs self-view.
    """
    if context is None:
        return Fixes(instead=(_SHARE,))
    refused = call_of(holding.wallet, targets[0], holding.at, holding.scope).scope_refusal
    if refused:
        return Fixes(
            instead=(f"the scope card of the invocation is refused ({refused}): call with another one, or none",)
        )
    keep = _keep_denied(holding, targets, context, is_for_saga=is_for_saga)
    if keep:
        return Fixes(keep_denied=keep)
    own = holding.initial
    if own is None:
        return Fixes(instead=("the wallet shows no initial card, so the manifest of the agent's type would tell",))
    if means.clock() > means.budget:
        return Fixes(undecided=f"the budget of {means.budget:g} seconds is used up")
    question = _question(holding, own, targets, context)
    found = repairs(question)
    if isinstance(found, NoRepair):
        return Fixes(instead=_instead(holding, found, context))
    made: list[Fix] = []
    why: list[str] = []
    for repair in _with_widened(found, question, context):
        if means.clock() > means.budget:
            return Fixes(tuple(made), undecided=f"the budget of {means.budget:g} seconds is used up")
        fix = _fix(holding, question, repair, targets, context, means)
        if isinstance(fix, str):
            why.append(fix)
        else:
            made.append(fix)
        if len(made) == 3:
            break
    return Fixes(tuple(made), () if made else tuple(why))


_SHARE = "whoever asks is no agent: the owner of the account would have to share it with a permission share"


def _question(holding: Holding, own: HeldCard, targets: Sequence[Target], context: AgentContext) -> RepairQuestion:
    written = holding.own_card
    bounds = written.as_written if written is not None else own.card.bounds
    others = tuple(card for card in holding.live(context) if card.id != own.card.id)
    # a default card has no lines; a card is written out in its place, with its grants as lines
    return RepairQuestion(
        tuple(targets),
        holding.wallet.holder,
        THIS_AGENT,
        bounds,
        own.card.id,
        context,
        others,
        holding.scope,
        holding.fixed(),
        lambda target: _is_writable(target, holding.rules),
    )


def _is_writable(target: Target, rules: Rules) -> bool:
    """Whether a grant for the target can be written and read back."""
    grant = Grant(target, THIS_AGENT)
    try:
        return parse_grant(grant.text, Form.MANIFEST, rules) == grant
    except GrantSyntaxError:
        return False


def _with_widened(found: tuple[Repair, ...], question: RepairQuestion, context: AgentContext) -> list[Repair]:
    """The changes, and behind the first one the same by widening a line that it would make superfluous."""
    widened = as_widening(question.own, found[0], context, question.fixed)
    return [found[0], *([widened] if widened is not None else []), *found[1:]]


def _fix(
    holding: Holding,
    question: RepairQuestion,
    repair: Repair,
    targets: Sequence[Target],
    context: AgentContext,
    means: Means,
) -> Fix | str:
    """One change, tried; or why it is not shown."""
    lines = tuple(f"{c.bound.words}: {_text(g)}" for c in repair.changes for g in c.grants)
    gone = tuple(
        f"{c.bound.words}: {_text(question.own.of(c.bound)[c.index])}" for c in repair.changes if c.index is not None
    )
    kinds = tuple(c.kind for c in repair.changes)
    before = WalletHolder(holding.who, holding.wallet, holding.at, holding.places)
    if holding.manifest is None:
        after = _edited(holding.wallet, question, repair)
        opened = _opened(before, replace(before, wallet=after), targets, context, holding.rules, means)
        return Fix(kinds, lines, gone, None, opened, (), _remarks(repair, targets, context))
    source = holding.manifest
    try:
        patch = patch_card(
            source.described.loaded, source.agent.name, source.agent.initial_card, _list_changes(source, repair)
        )
        reloaded = _reloaded(source.described.loaded, patch, holding.rules)
        agent, others = _again(source, reloaded, holding.rules)
    except CannotPatchError as refusal:
        return f"the text of the manifest cannot be changed for it: {refusal}"
    except PolicydError as error:
        return f"the changed manifest would not load: {error.findings[0].message}"
    after = _rewalleted(holding, agent)
    if not _admits(holding, after, agent, targets, context):
        return "after the change the call would still be refused"
    opened = _opened(before, replace(before, wallet=after), targets, context, holding.rules, means)
    return Fix(
        kinds,
        lines,
        gone,
        patch,
        replace(opened, others=others),
        tuple(_ineffective(holding, reloaded, agent, targets, context, means)),
        (*_remarks(repair, targets, context), *_manifest_remarks(patch, source)),
    )


def _text(grant: Grant) -> str:
    return grant.text.rstrip() if grant.target.resource.text else grant.text.rstrip(" ")


def _list_changes(source: FromManifest, repair: Repair) -> list[ListChange]:
    """The change by list; a line that writes several grants keeps the others."""
    card = source.agent.initial_card
    found = []
    for bound in Bound:
        add = tuple(_text(g) for c in repair.changes if c.bound is bound and c.index is None for g in c.grants)
        replaced = []
        for change in repair.changes:
            if change.bound is not bound or change.index is None:
                continue
            placed = card.of(bound)[change.index]
            if placed.span is None:
                raise CannotPatchError("the grant is no line of the manifest")
            same = [p for n, p in enumerate(card.of(bound)) if p.span == placed.span and n != change.index]
            replaced.append((placed.span, (*(_text(p.grant) for p in same), *(_text(g) for g in change.grants))))
        if add or replaced:
            found.append(ListChange(bound, add, tuple(replaced)))
    return found


def _reloaded(loaded: LoadedManifest, patch: Patch, rules: Rules) -> LoadedManifest:
    texts = [(d.name, patch.text if d.name == patch.document else d.source.text) for d in loaded.documents]
    root = next((n for n, d in enumerate(loaded.documents) if d.root is not None and d.root.get("includes")), 0)
    again = load_texts([texts[root], *texts[:root], *texts[root + 1 :]], rules=rules)
    errors = [f for f in again.findings if f.severity is Severity.ERROR]
    if errors:
        raise PolicydError(*errors)
    return again


def _again(source: FromManifest, loaded: LoadedManifest, rules: Rules) -> tuple[AgentType, tuple[str, ...]]:
    """The agent type after the change, and the other agents of the environment whose cards changed with it."""
    old_app = source.described.loaded.application
    deployment = source.described.deployment
    old = resolve_environment(old_app, deployment.environment or None, source.selection.presets, rules=rules)
    new = resolve_environment(loaded.application, deployment.environment or None, source.selection.presets, rules=rules)
    cards = {a.name: [s.text for s in a.card.card.grants] if a.card is not None else None for a in old.agents}
    others = tuple(
        a.name
        for a in new.agents
        if a.name != source.agent.name
        and a.name in cards
        and cards[a.name] != ([s.text for s in a.card.card.grants] if a.card is not None else None)
    )
    found = describe(loaded.application, new, rules, source.agent.name).agent(source.agent.name)
    if found is None or found.initial_card.bad:
        raise CannotPatchError("the changed card could not be read back")
    return found, others


def _rewalleted(holding: Holding, agent: AgentType) -> Wallet:
    """The wallet with the changed initial card in place of the old one."""
    context = holding.wallet.context
    assert context is not None  # only agents have initial cards
    fresh = initial_wallet(agent, context).cards[0]
    own = holding.initial
    if own is None:
        return holding.wallet
    card = replace(own.card, bounds=fresh.card.bounds, is_polymorphic=True)
    return replace(
        holding.wallet,
        cards=tuple(replace(h, card=card) if h.card.id == own.card.id else h for h in holding.wallet.cards),
    )


def _edited(wallet: Wallet, question: RepairQuestion, repair: Repair) -> Wallet:
    def edited(card: Card) -> Card:
        bounds = changed(question.own, repair.changes)
        context = wallet.context
        return replace(card, bounds=bounds.mapped(lambda g: g.addressed(context)) if context else bounds)

    return replace(
        wallet,
        cards=tuple(replace(h, card=edited(h.card)) if h.card.id == question.card_id else h for h in wallet.cards),
    )


def _admits(
    holding: Holding, wallet: Wallet, agent: AgentType, targets: Sequence[Target], context: AgentContext
) -> bool:
    from policyd.core.admission.admit import Call, admit_each

    known = wallet.for_agent(context)
    call: Call = call_of(known, targets[0], holding.at, holding.scope)
    return all(v.admitted is Facet.YES for v in admit_each(known, call, targets))


def _opened(
    before: WalletHolder,
    after: WalletHolder,
    targets: Sequence[Target],
    context: AgentContext,
    rules: Rules,
    means: Means,
) -> Opened:
    """The difference that a change makes, by the procedure that `diff` uses."""
    old = WalletHolders("as it is", {before.name: before}, ())
    new = WalletHolders("changed", {after.name: after}, ())
    left = max(means.budget - means.clock(), 0.05)
    changes = changes_between(old, new, rules, means.limit, steps=effort_for(left))
    started = [w for change in changes.holders for w in change.started.witnesses]
    wanted = {written_target(t, context).rstrip() for t in targets} | {t.text.rstrip() for t in targets}
    asked = tuple(w for w in started if w.call.rstrip() in wanted)
    return Opened(
        tuple(w for w in started if w not in asked),
        sum(change.started.more for change in changes.holders),
        tuple(w for change in changes.holders for w in change.stopped.witnesses),
        tuple(dict.fromkeys(u for c in changes.holders for u in (*c.started.undecided, *c.stopped.undecided))),
        asked,
    )


def _ineffective(
    holding: Holding,
    reloaded: LoadedManifest,
    agent: AgentType,
    targets: Sequence[Target],
    context: AgentContext,
    means: Means,
) -> list[str]:
    """Why the change would not take effect: the deployer's authority, or the other edition."""
    found = []
    deployer = means.deployer
    assumed = deployer is None
    if deployer is None:
        deployer = (Card(ROOT, account_root_bounds(context.account)),)
    refused = validate_initial_card(agent.initial_card.bounds(context), deployer, agent.name)
    if isinstance(refused, DeployRefused):
        who = "an account root card, assumed for whoever deploys" if assumed else "the deployer's cards"
        cause = refused.cause
        grant = f": `{cause.grant.text}`" if cause is not None and cause.grant is not None else ""
        rule = f" ({cause.rule})" if cause is not None else ""
        found.append(f"{who} would not cover the changed card, so its deploy is refused{rule}{grant}")
    source = holding.manifest
    assert source is not None  # asked for manifests only
    if not holding.rules.overrides:
        other = Rules(Edition.SNAPSHOT if holding.rules.edition is Edition.NEXT else Edition.NEXT)
        found += _under(other, holding, reloaded, targets, context, source)
    return found


def _under(
    other: Rules,
    holding: Holding,
    reloaded: LoadedManifest,
    targets: Sequence[Target],
    context: AgentContext,
    source: FromManifest,
) -> list[str]:
    name = other.edition.value
    try:
        again = load_texts([(d.name, d.source.text) for d in reloaded.documents], rules=other)
        if any(f.severity is Severity.ERROR for f in again.findings):
            return []  # that is so without the change, too
        agent, _ = _again(source, again, other)
    except (PolicydError, CannotPatchError):
        return [f"edition {name} does not read the changed card"]
    if not _admits(holding, _rewalleted(holding, agent), agent, targets, context):
        return [f"under edition {name} the call stays refused"]
    return []


_KEEP_DENIED = (
    "do not fix this: keep it denied; {}, because metadata shows the stored environment and configuration"
    " unfiltered; pass the identity in as an argument"
)
_FROM_UNTRUSTED = frozenset({"agent", "card", "config", "oplog", "secret", "tool"})
"""What a card for code that is not trusted leaves out (host 3.5)."""


def _own_id(holding: Holding) -> CardId | None:
    return holding.initial.card.id if holding.initial is not None else None


def _is_for_untrusted(card: Card, holding: Holding) -> bool:
    """Whether the card is made as host 3.5 recommends: a closed ceiling, and none of the classes that lead further."""
    holder = holding.wallet.holder
    ceiling = [g for g in card.bounds.upper_positive if g.recipient.covers(holder)]
    positives = (*ceiling, *card.bounds.lower_positive)
    return bool(ceiling) and not any(g.target.cls.name in _FROM_UNTRUSTED for g in positives)


def _keep_denied(holding: Holding, targets: Sequence[Target], context: AgentContext, *, is_for_saga: bool) -> str:
    """Why self-view should stay denied: the card of an untrusted evaluator denies it in its ceiling.

    Source: host 3.5.
    """
    own = (*context.segments, context.agent_id)
    for target in targets:
        if target.cls.name != "agent" or target.verb != "view" or target.owner.known != own:
            continue
        for card in holding.live(context):
            for grant in card.bounds.upper_negative:
                if grant.target.covers(target) and grant.recipient.covers(holding.wallet.holder):
                    return _KEEP_DENIED.format("the ceiling denies self-view as it should for code that is not trusted")
            if not is_for_saga and card.id == _own_id(holding) and _is_for_untrusted(card, holding):
                return _KEEP_DENIED.format(
                    "floor and ceiling leave out agents, tools, secrets, configuration, logs and cards, as they should"
                    " for code that is not trusted, and self-view with them"
                )
    return ""


def _instead(holding: Holding, found: NoRepair, context: AgentContext) -> tuple[str, ...]:
    """What would do it where no change of the manifest does."""
    asked = written_target(found.call, context).rstrip()
    told = []
    own = holding.initial
    scope = holding.scope.id if holding.scope else None
    for reason in found.reasons:
        words = reason.obstacle.value
        if reason.card == scope:
            told.append(f"the scope card of the invocation withholds `{asked}` ({words}): lend a wider one, or none")
        elif own is None or reason.card != own.card.id:
            told.append(
                f"the installed card {reason.card} withholds `{asked}` ({words}): it would have to be revoked or"
                " replaced by a wider one; a wider grant anywhere else does not help"
            )
    if not told:
        told.append(f"no grant that covers `{asked}` can be written into the card")
    return tuple(told)


def _remarks(repair: Repair, targets: Sequence[Target], context: AgentContext) -> tuple[str, ...]:
    """What the change means besides the calls that it opens.

    Source: host 3.2, 3.6, 6.4; questions 1.
    """
    found = []
    grants = [g.target for c in repair.changes if c.index is None for g in c.grants]
    for target in (*grants, *targets):
        match target.cls.name, target.verb:
            case "agent", "view" if target.owner.slot is Slot.AGENT or target.owner.known[-1:] == (context.agent_id,):
                found.append("metadata shows the stored environment and configuration unfiltered (SM-1)")
            case "agent", "view":
                found.append("metadata of other agents shows their environment and configuration (SM-2)")
            case "oplog", _:
                found.append("an oplog shows creation data and recorded payloads (SM-3)")
            case "card", "revoke":
                found.append("who may revoke cards can shed every ceiling it holds")
            case "card", "install":
                found.append("who may install cards can widen what is not capped by a ceiling")
            case "secret", "hold":
                found.append("a handle can be passed on; its value needs `reveal` besides")
            case _:
                pass
    if any(c.kind in _DROPS for c in repair.changes):
        found.append("the negative cannot be narrowed to spare this call alone, so all of it goes")
    return tuple(dict.fromkeys(found))


_DROPS = (RepairKind.DROP_NEGATIVE, RepairKind.DROP_CEILING_NEGATIVE)


def _manifest_remarks(patch: Patch, source: FromManifest) -> list[str]:
    found = []
    if patch.replaces_default:
        found.append(
            "an `initialCard` replaces the default card as a whole, so its fourteen grants are written out with it"
        )
    layer = source.agent.initial_card.layer
    if ".presets." in layer:
        found.append(f"the card in force is that of the preset {layer}; other environments may use another one")
    return found


__all__ = ["Fix", "Fixes", "Means", "Opened", "fixes_of"]
