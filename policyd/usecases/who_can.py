"""Who can do this in a stored deployment, and what can a holder do: complete lists with the grants they rest on.

Source: interface, who-can, what-can; questions 3.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from policyd.core.admission import Facet, FacetName
from policyd.core.cards import Bound, Timestamp
from policyd.core.edition import Rules
from policyd.core.grants import AgentContext, PermissionClass, Slot, Target, class_named
from policyd.core.grants.classes import classes_of
from policyd.findings import InputError, Span, nearest, visible_lines
from policyd.store.facts import PlacedGrant
from policyd.store.session import Database
from policyd.store.snapshots import SnapshotInfo
from policyd.store.wallets import wallet
from policyd.store.what_can import Extent, Lent, WhatCan, what_can_of
from policyd.store.who_can import Access, WhoCan, who_can
from policyd.syntax import parse_target
from policyd.syntax.mistakes import shown
from policyd.usecases.deployments import agent_name
from policyd.usecases.snapshots import used_words
from policyd.usecases.stored_decisions import Decisions, StoredQuestion
from policyd.usecases.stored_deployment import StoredFacts
from policyd.usecases.stored_parties import party_name
from policyd.usecases.who_query import Reached, is_only_a_query, names_many, who_reaches

_NOBODY = "nobody(…)"


@dataclass(frozen=True, slots=True)
class WhoAnswer:
    """Every holder that is admitted, as far as holders are known.

    Attributes:
        asked: the target with its slots filled from the environment, or the query in words.
        found: who may do all of it by one grant; and grants whose holders are not known.
        open: who may do all of it whichever component implements it, where that is not known.
        some: who else may do some of it, each with a call; only for patterns and queries.
        not_analysed: what the list says nothing about; empty where it is complete.
        info: the snapshot.
        rules: the edition.
    """

    asked: str
    found: WhoCan
    some: tuple[Reached, ...]
    not_analysed: tuple[str, ...]
    info: SnapshotInfo
    rules: Rules
    open: tuple[Reached, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether nobody else can do it."""
        return not self.not_analysed and not self.found.unheld


def who(
    database: Database, facts: StoredFacts, info: SnapshotInfo, target: str, rules: Rules, at: Timestamp | None = None
) -> WhoAnswer:
    """Which holders may do `target`, and by which grants, over all of a deployment.

    A pattern asks for all of it by one grant, as the platform does; who may do only some of it is listed
    apart. A query (`any`, `under(x)`) asks who may make any of its calls.

    Args:
        database: where the snapshot is.
        facts: of the snapshot.
        info: which it is.
        target: as typed; slots down to `?env` are filled from the environment, deeper ones depend on the holder.
        rules: the edition.
        at: the moment, None to leave expiry aside.

    Raises:
        InputError: if the target cannot be read, or has a slot that only a holder fills.
    """
    if is_only_a_query(target):
        return _answer_query(facts, info, target, rules, at)
    asked = _in_environment(parse_target(target, rules, slots=True), info)
    found = who_can(database, info.number, asked, at=at)
    unread = {agent.name for agent in facts.under(rules).deployment.agents if agent.initial_card.bad}
    strange = _strange_holders(facts, rules)
    accesses = tuple(
        access
        for access in found.accesses
        if (
            (access.holder.recipient.text, access.holder.agent_id) not in strange
            if access.holder.is_imported
            else access.holder.recipient.known[-1] not in unread
        )
    )
    opened, undecided = _open_types(facts, info, target, rules, at, unread)
    left_out = {*_unknown(facts, unread, undecided), *(f"{' '.join(who).rstrip()}: {_STRANGE}" for who in strange)}
    accesses = tuple(_but_own_wallets(facts, accesses, strange))
    whole = WhoCan(accesses, found.unheld)
    if not names_many(target, asked):
        return WhoAnswer(asked.text, whole, (), tuple(sorted(left_out)), info, rules, opened)
    partly = _answer_query(facts, info, target, rules, at)
    known = {party_name(facts, a.holder.recipient, a.holder.agent_id) for a in accesses if not a.only}
    known |= {reached.holder for reached in opened}
    some = tuple(r for r in partly.some if r.holder not in known)
    unheld = tuple(dict.fromkeys((*found.unheld, *partly.found.unheld)))
    left_out |= {text for text in partly.not_analysed if text.partition(":")[0] not in known}
    return WhoAnswer(asked.text, WhoCan(accesses, unheld), some, tuple(sorted(left_out)), info, rules, opened)


def _open_types(
    facts: StoredFacts, info: SnapshotInfo, target: str, rules: Rules, at: Timestamp | None, unread: set[str]
) -> tuple[tuple[Reached, ...], set[str]]:
    """What `check` says of the types whose component is not known: who may, and of whom it does not know."""
    decisions = Decisions()
    found: list[Reached] = []
    undecided: set[str] = set()
    for agent in facts.deployment.agent_types:
        if agent.component or agent.name in unread:
            continue
        answer = decisions.answer(facts, info, StoredQuestion(target, agent.name, at=at), rules)
        match answer.verdict.admitted:
            case Facet.YES:
                card = facts.under(rules).deployment.agent(agent.name)
                assert card is not None  # it is one of the deployment's
                refs = {ref: None for r in answer.verdict.reasons if r.facet is FacetName.ADMITTED for ref in r.refs}
                lent = [(ref, card.initial_card.place(ref)) for ref in refs if ref.bound is Bound.LOWER_POSITIVE]
                placed = tuple(
                    PlacedGrant(str(ref.card), ref.bound, ref.index, own.grant, own.span) for ref, own in lent if own
                )
                found.append(Reached(agent.name, "", (), agent.name, placed=placed))
            case Facet.NO:
                pass
            case _:
                undecided.add(agent.name)
    return tuple(found), undecided


def _answer_query(facts: StoredFacts, info: SnapshotInfo, text: str, rules: Rules, at: Timestamp | None) -> WhoAnswer:
    found = who_reaches(facts, (info.account, info.application, info.environment), info.label, text, rules, at)
    unread = {agent.name for agent in facts.under(rules).deployment.agents if agent.initial_card.bad}
    told = {text for text in found.not_analysed if text.partition(":")[0] not in unread}
    left_out = tuple(sorted({*told, *_unknown(facts, unread, found.depends)}))
    return WhoAnswer(found.claim, WhoCan((), found.unheld), found.reached, left_out, info, rules)


def _but_own_wallets(facts: StoredFacts, accesses: Sequence[Access], strange: set[tuple[str, str]]) -> Iterator[Access]:
    """What a type may do says nothing of its agents with wallets of their own: these are named where they may not."""
    admitted = {(a.holder.recipient.text, a.holder.agent_id) for a in accesses} | strange
    for access in accesses:
        holder = access.holder.recipient
        own = () if access.holder.agent_id else facts.instances_with_wallets(holder)
        if access.only and access.only in own:
            continue  # its own wallet decides, and is listed by itself
        refused = tuple(name for name in own if (holder.text, name) not in admitted)
        yield replace(access, except_wallets=() if access.only else refused)


_STRANGE = "its wallet has cards that do not exist under this edition"


def _strange_holders(facts: StoredFacts, rules: Rules) -> set[tuple[str, str]]:
    """The holders of imported wallets with cards that cannot be read under `rules`."""
    cards = facts.unreadable(rules)
    if not cards:
        return set()
    return {
        (w.holder.text, w.agent_id) for w in facts.deployment.wallets if any(held.card in cards for held in w.cards)
    }


def _in_environment(target: Target, info: SnapshotInfo) -> Target:
    slot = target.owner.slot
    if slot in (Slot.COMPONENT, Slot.AGENT):
        raise InputError.of(
            "MANIF091",
            f"`{slot.value}` depends on the holder, and all holders are asked about",
            None,
            "write the owner out, or use `?env`",
        )
    return target.filled(AgentContext(info.account, info.application, info.environment, "", "", _NOBODY))


def _unknown(facts: StoredFacts, unread: set[str], depends: Collection[str]) -> Iterator[str]:
    """Why nothing is said about some types: their card is not known, or their component, on which it depends."""
    for agent in facts.deployment.agent_types:
        if agent.name in unread:
            yield f"agents of type `{agent.name}`: their initial card is not known"
        elif not agent.component and agent.name in depends:
            yield f"agents of type `{agent.name}`: the component that implements them is not known"


@dataclass(frozen=True, slots=True)
class WhatAnswer:
    """Everything a holder may do, class by class; classes in which it may do nothing are left out.

    Attributes:
        holder: in words.
        classes: those in which something is lent or limited.
        info: the snapshot.
        rules: the edition.
    """

    holder: str
    classes: tuple[WhatCan, ...]
    info: SnapshotInfo
    rules: Rules


def what(
    database: Database,
    facts: StoredFacts,
    info: SnapshotInfo,
    holder: str,
    rules: Rules,
    *,
    classes: Sequence[str] = (),
    at: Timestamp | None = None,
) -> WhatAnswer:
    """Everything a holder may do in some classes, or in all.

    Args:
        database: where the snapshot is.
        facts: of the snapshot.
        info: which it is.
        holder: an agent type, a full agent id, `account/app/env/component/Type`, or an account.
        rules: the edition.
        classes: names of classes; none for all of the edition.
        at: the moment, None to leave expiry aside.

    Raises:
        InputError: for an unknown holder or class, or a card that cannot be read under the edition.
    """
    name, agent_id = agent_name(holder)
    chosen = [_class(text, rules) for text in dict.fromkeys(classes)] or list(classes_of(rules))
    stored = wallet(database, info.number, name, agent_id or "")
    if stored.holder.is_imported:
        facts.require_readable(stored.wallet, rules)
    else:
        _require_initial(facts, stored.holder.recipient.known[-1], rules)
    found = [what_can_of(stored, cls, at) for cls in chosen]
    shown_holder = stored.holder.recipient.text + (f" {agent_id}" if agent_id else "")
    return WhatAnswer(shown_holder, tuple(w for w in found if classes or w.lent), info, rules)


def _require_initial(facts: StoredFacts, agent_type: str, rules: Rules) -> None:
    for agent in facts.under(rules).deployment.agents:
        if agent.name == agent_type and agent.initial_card.bad:
            raise InputError(*(bad.finding for bad in agent.initial_card.bad))


def _class(name: str, rules: Rules) -> PermissionClass:
    found = class_named(name, rules)
    if found is None:
        near = nearest(name, [cls.name for cls in classes_of(rules)])
        help = f"did you mean `{near}`?" if near else "`policyd grant --classes` lists them"
        raise InputError.of("GRANT002", f"unknown permission class {shown(name)}", None, help)
    return found


def who_json(answer: WhoAnswer) -> dict[str, object]:
    """The list of holders on the wire: all in one shape, those who may do all of it before the others."""
    return {
        "target": answer.asked,
        "holders": [
            *(_access_json(access) for access in answer.found.accesses),
            *(_reached_json(reached, "all") for reached in answer.open),
            *(_reached_json(reached, "some") for reached in answer.some),
        ],
        "unheld": [_placed_json(grant) for grant in answer.found.unheld],
        "notAnalysed": list(answer.not_analysed),
        "complete": answer.is_complete,
    }


def _access_json(access: Access) -> dict[str, object]:
    return {
        "holder": access.holder.recipient.text,
        "agentId": access.holder.agent_id or None,
        "extent": "all",
        "witness": None,
        "only": access.only or None,
        "exceptFor": access.except_for or None,
        "exceptWallets": list(access.except_wallets),
        "grants": [_placed_json(grant) for grant in access.grants],
    }


def _reached_json(reached: Reached, extent: str) -> dict[str, object]:
    return {
        "holder": reached.recipient,
        "agentId": reached.agent_id or None,
        "extent": extent,
        "witness": reached.witness or None,
        "only": reached.only or None,
        "exceptFor": None,
        "exceptWallets": [],
        "grants": [_placed_json(grant) for grant in reached.placed],
    }


def _placed_json(grant: PlacedGrant) -> dict[str, object]:
    return {
        "card": grant.card,
        "bound": grant.bound.value,
        "index": grant.index,
        "grant": grant.grant.text,
        "place": place_json(grant.place),
    }


def place_json(span: Span | None) -> dict[str, object] | None:
    """A place on the wire, without its length."""
    if span is None:
        return None
    return {"source": span.source, "line": span.line, "column": span.column, "path": span.path}


def who_text(answer: WhoAnswer) -> str:
    """The list of holders for a terminal."""
    out = []
    for access in answer.found.accesses:
        whom = access.holder.text
        if access.only:
            whom += f", only {access.only}"
        if access.except_for:
            whom += f", except for {access.except_for}"
        if access.except_wallets:
            whom += f", except for {few(access.except_wallets)} with wallets of their own"
        out.append(whom)
        out += [f"  by {_where(grant)}" for grant in access.grants]
    for reached in answer.open:
        out += [f"{reached.holder}, whichever component implements it", *(f"  by {_where(g)}" for g in reached.placed)]
    if answer.some and (answer.found.accesses or answer.open):
        out.append("some of it:")
    for reached in answer.some:
        out += [reached.holder, f"  e.g. {reached.witness}", *(f"  by {grant}" for grant in reached.grants)]
    if not answer.found.accesses and not answer.open and not answer.some:
        out.append(f"no known holder can do `{answer.asked}`")
    if answer.found.unheld:
        out.append("granted by cards whose holders are not known:")
        out += [f"  {_where(grant)}" for grant in answer.found.unheld]
    if answer.not_analysed:
        out.append("not analysed:")
        out += [f"  {text}" for text in answer.not_analysed]
    out.append(used_words(answer.info))
    out.append(f"edition: {answer.rules.label}")
    return visible_lines(out)


def few(names: Sequence[str]) -> str:
    """Some of the names, and how many more there are."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{', '.join(names[:3])}{more}"


def _where(grant: PlacedGrant) -> str:
    place = f"{grant.place.where}  " if grant.place else ""
    return f"`{grant.grant.text}`  [{place}card {grant.card}, {grant.bound.words} {grant.index + 1}]"


def what_json(answer: WhatAnswer) -> dict[str, object]:
    """What a holder may do, on the wire."""
    return {
        "holder": answer.holder,
        "classes": [
            {
                "class": found.cls.name,
                "lent": [_lent_json(lent) for lent in found.lent],
                "ceilings": [
                    {
                        "card": ceiling.card,
                        "isClosed": ceiling.is_closed,
                        "positive": [ref.grant.text for ref in ceiling.positive],
                        "negative": [ref.grant.text for ref in ceiling.negative],
                    }
                    for ceiling in found.ceilings
                ],
            }
            for found in answer.classes
        ],
    }


def _lent_json(lent: Lent) -> dict[str, object]:
    return {
        "card": lent.ref.card,
        "bound": lent.ref.bound.value,
        "index": lent.ref.index,
        "grant": lent.ref.grant.text,
        "extent": lent.extent.value,
        "deniedBy": [ref.grant.text for ref in lent.denied_by],
        "place": place_json(lent.place),
    }


EXTENTS = {
    Extent.WHOLE: "all of it",
    Extent.LIMITED: "as far as ceilings and denials let it",
    Extent.NOTHING: "nothing of it comes through",
}
"""How much of a lending grant comes through, in words."""


def what_text(answer: WhatAnswer) -> str:
    """What a holder may do, for a terminal."""
    out = [answer.holder]
    for found in answer.classes:
        out.append(f"{found.cls.name}:")
        if not found.lent:
            out.append("  nothing")
        for lent in found.lent:
            place = f"  [{lent.place.where}]" if lent.place else ""
            out.append(f"  {lent.ref.grant.text}  {EXTENTS[lent.extent]}{place}")
            out += [f"    less {ref.grant.text}" for ref in lent.denied_by]
        for ceiling in found.ceilings:
            within = ", ".join(ref.grant.text for ref in ceiling.positive) or "nothing of this class"
            if ceiling.is_closed:
                out.append(f"  within the ceiling of card {ceiling.card}: {within}")
            out += [f"  denied by card {ceiling.card}: {ref.grant.text}" for ref in ceiling.negative]
    if not answer.classes:
        out.append("nothing")
    out.append(used_words(answer.info))
    out.append(f"edition: {answer.rules.label}")
    return visible_lines(out)
