"""Why a call was refused: every cause of the catalogue tested, in the order of likelihood of its kind of denial.

Source: host 6.2, 6.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from policyd.core.application import InitialCard
from policyd.core.cards import Card, CardId, GrantRef, ScopeCard
from policyd.core.cards.surface import Part, Surface
from policyd.core.grants import AgentContext, Grant, Recipient, Target
from policyd.explain.cause_catalogue import CAUSES, OTHERS, ordered
from policyd.explain.fields import Dimension, differences, missed


class Standing(Enum):
    """What the test of a cause gave."""

    PROVED = "proved"
    OPEN = "open"
    EXCLUDED = "excluded"


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause with the outcome of its test.

    Attributes:
        id: `C-1` to `C-22`; empty for what is none of the catalogue.
        title: what it is.
        standing: proved, open or excluded.
        detail: what the test found, one clause; empty where there is nothing to add.
        evidence: what would settle an open one (`V-3`), in order.
    """

    id: str
    title: str
    standing: Standing
    detail: str = ""
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseFile:
    """All that is known of a denial.

    Attributes:
        kind: one of the kinds of `policyd.syntax.denials`.
        holder: who made the call.
        surface: what decides for it; the scope card's part included.
        cards: the live cards with slots filled.
        written: the same cards with slots open, by id.
        target: the target that was refused first, or asked about; None where none could be built or is known.
        targets: all targets of the operation and whether each is admitted.
        is_admitted: whether all of them are; None where that is not known.
        context: the agent.
        scope: the scope card of the invocation.
        gone: cards that are revoked or expired and would have granted it, in words.
        own: the initial card with its places; None where it is not known.
        own_id: its id.
        default_admits: whether the default card would lend the target.
        knows_wallet: whether the wallet is known, rather than the initial card alone.
        refusal: why no target could be built, empty if one could.
        other_gate: which other gate refuses, empty if none is known.
        record: `recorded`, `not-recorded`, … of the operation; empty where it is not known.
        is_service: whether a service was asked.
        is_executing_elsewhere: whether the code runs as a tool of another component.
        deploy_refusal: why the deployer's cards do not cover the initial card, empty if they do.
        deployed_differs: whether the wallet holds another initial card than the manifest gives.
        name: how a card is called.
        wording: how a grant is written where it comes from.
    """

    kind: str
    holder: Recipient
    surface: Surface
    cards: tuple[Card, ...]
    written: Mapping[CardId, Card]
    target: Target | None
    targets: tuple[tuple[Target, bool], ...]
    is_admitted: bool | None
    context: AgentContext | None
    scope: ScopeCard | None = None
    gone: tuple[str, ...] = ()
    own: InitialCard | None = None
    own_id: CardId | None = None
    default_admits: bool = False
    knows_wallet: bool = False
    refusal: str = ""
    other_gate: str = ""
    record: str = ""
    is_service: bool = False
    is_executing_elsewhere: bool = False
    deploy_refusal: str = ""
    deployed_differs: bool = False
    name: Callable[[CardId], str] = str
    wording: Callable[[GrantRef], str] = lambda ref: ref.grant.text.rstrip()


Tested = tuple[Standing, str]


def causes(file: CaseFile) -> tuple[Cause, ...]:
    """All causes of the catalogue and those of the kind: proved ones first, then open, then excluded ones.

    Within each, the likeliest for the kind of denial comes first.
    """
    tests = _Tests(file)
    found = []
    for name in ordered(file.kind):
        if name in OTHERS:
            title, evidence = OTHERS[name]
            found.append(Cause("", title, Standing.OPEN, "", evidence))
            continue
        standing, detail = tests.outcome(name)
        title, evidence = CAUSES[name]
        found.append(Cause(name, title, standing, detail, evidence if standing is Standing.OPEN else ()))
    return tuple(sorted(found, key=lambda cause: list(Standing).index(cause.standing)))


_OF_GUESTS = frozenset(
    {"fs", "socket", "http", "websocket", "env", "config", "secret-reveal", "kv", "blob", "rdbms", "rdbms-no-target"}
)
"""Kinds of denials that one check in the executor gives, with no second one elsewhere."""

_REFUSED_IN_LIKE_SHAPE: Mapping[str, str] = {
    "fs": "a read-only file, `..` above the descriptor, or a tool without a file system",
    "tool-rpc": "the tool is not bound to the agent type",
    "config": "a tool binding limits which secrets may be read",
    "agent-rpc": "a limit, a missing component, or a call to the own agent",
}


class _Tests:
    """The tests of the catalogue on one case."""

    def __init__(self, file: CaseFile) -> None:
        self.file = file
        self.near: dict[tuple[Dimension, ...], list[GrantRef]] = {}
        if file.target is not None:
            for ref in _lower_positives(file.cards):
                if ref.grant.target.cls == file.target.cls:
                    found = missed(ref.grant, file.target, file.holder)
                    if len(found) <= 1:
                        self.near.setdefault(found, []).append(ref)

    def outcome(self, cause: str) -> Tested:
        """The test of one cause."""
        file = self.file
        if cause == "C-11" and file.own is not None and file.own.is_default:
            return Standing.EXCLUDED, "the default card is in force"
        if file.target is None and cause not in _WITHOUT_TARGET:
            if file.refusal or file.other_gate:
                return Standing.EXCLUDED, "no card was asked"
            return Standing.OPEN, ""
        if file.is_admitted and cause in _OF_DENIALS:
            return Standing.EXCLUDED, "these cards admit it"
        tested: Tested = getattr(self, "_" + cause.lower().replace("-", "_"))()
        return tested

    def _single(self, dimension: Dimension) -> Tested:
        refs = self.near.get((dimension,), [])
        if not refs or (self.near.get(()) and dimension is not Dimension.RECIPIENT):
            return Standing.EXCLUDED, ""
        target = self.file.target
        assert target is not None  # asked for with a target only
        found = differences(refs[0].grant, target, self.file.holder)
        return Standing.PROVED, f"`{self.file.wording(refs[0])}`: " + "; ".join(d.text for d in found)

    def _c_1(self) -> Tested:
        if self.near.get(()) or self.near.get((Dimension.RECIPIENT,)):
            return Standing.EXCLUDED, ""
        target = self.file.target
        assert target is not None  # asked for with a target only
        if not any(ref.grant.target.cls == target.cls for ref in _lower_positives(self.file.cards)):
            return Standing.PROVED, f"no card grants anything of class `{target.cls.name}`"
        return Standing.PROVED, "whoever the grants are for, none covers the whole target"

    def _c_2(self) -> Tested:
        return self._single(Dimension.VERB)

    def _c_3(self) -> Tested:
        return self._single(Dimension.RESOURCE)

    def _c_4(self) -> Tested:
        return self._single(Dimension.OWNER)

    def _c_5(self) -> Tested:
        if self.near.get(()):
            return Standing.EXCLUDED, ""
        return self._single(Dimension.RECIPIENT)

    def _c_6(self) -> Tested:
        target = self.file.target
        assert target is not None  # asked for with a target only
        if any(part.lends(target) for part in self.file.surface.lower):
            return Standing.EXCLUDED, ""
        for part in self.file.surface.lower:
            denying = part.denying(target)
            if denying is not None and part.granting(target) is not None:
                return (
                    Standing.PROVED,
                    f"{self.file.name(part.card)} grants it and denies it by `{self.file.wording(denying)}`",
                )
        return Standing.EXCLUDED, ""

    def _ceilings(self) -> Iterator[tuple[Part, bool]]:
        """The ceilings that withhold the target, and whether a negative does."""
        target = self.file.target
        assert target is not None  # asked for with a target only
        for part in self.file.surface.upper:
            if part.positive and part.granting(target) is None:
                yield part, False
            if part.denying(target) is not None:
                yield part, True

    def _of_ceilings(self, *, by_negative: bool) -> Tested:
        scope = self.file.scope.id if self.file.scope else None
        found = [p for p, negative in self._ceilings() if negative is by_negative and p.card != scope]
        if not found:
            return Standing.EXCLUDED, ""
        names = ", ".join(self.file.name(part.card) for part in found[:3])
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        target = self.file.target
        denying = found[0].denying(target) if target is not None and by_negative else None
        by = f", by `{self.file.wording(denying)}`" if denying else ""
        return Standing.PROVED, f"that of {names}{more}{by}"

    def _c_7(self) -> Tested:
        return self._of_ceilings(by_negative=False)

    def _c_8(self) -> Tested:
        return self._of_ceilings(by_negative=True)

    def _c_9(self) -> Tested:
        if self.file.scope is None:
            return Standing.OPEN, "no scope card is given; one in force counts as one card more"
        if any(part.card == self.file.scope.id for part, _ in self._ceilings()):
            return Standing.PROVED, "only invocations that carry this scope card are refused"
        return Standing.EXCLUDED, ""

    def _c_10(self) -> Tested:
        if self.file.gone:
            return Standing.PROVED, self.file.gone[0]
        if self.file.knows_wallet:
            return Standing.EXCLUDED, ""
        return Standing.OPEN, "the manifest does not show cards that were installed"

    def _c_11(self) -> Tested:
        own = self.file.own
        if own is None:
            return Standing.OPEN, ""
        if own.is_default:
            return Standing.EXCLUDED, "the default card is in force"
        if not self.file.default_admits or self.file.is_admitted:
            return Standing.EXCLUDED, "the default card would not have lent it"
        if not any(True for _ in own.each()):
            return (
                Standing.PROVED,
                "`initialCard: {}` grants nothing at all; leaving it out would mean the default card",
            )
        return (
            Standing.PROVED,
            f"the card of {own.layer} replaces all fourteen default grants, and one of them covers it",
        )

    def _c_12(self) -> Tested:
        if self.file.deploy_refusal:
            return Standing.PROVED, self.file.deploy_refusal
        if self.file.deployed_differs:
            return Standing.PROVED, "the wallet holds another initial card than the manifest gives"
        if self.file.knows_wallet and self.file.own is None:
            return Standing.EXCLUDED, "the wallet shows the card itself"
        if self.file.holder.text and self.file.own is None:
            return Standing.EXCLUDED, ""
        return Standing.OPEN, "whether this card is the one deployed is not in the manifest"

    def _c_13(self) -> Tested:
        for ref in self.near.get((Dimension.OWNER,), []):
            card = self.file.written.get(ref.card)
            grant = card.bounds.of(ref.bound)[ref.index] if card is not None else None
            if grant is not None and grant.target.owner.slot is not None:
                owner = ref.grant.target.owner.text
                return Standing.PROVED, f"`{grant.target.owner.text}` stands for `{owner}` here"
        return Standing.EXCLUDED, ""

    def _c_14(self) -> Tested:
        target = self.file.target
        assert target is not None  # asked for with a target only
        for ref in self.near.get((Dimension.RESOURCE,), []):
            if _plain(ref.grant) == _letters(target.resource.text):
                written = f"`{ref.grant.target.resource.text}`"
                return Standing.PROVED, f"{written} is granted and `{target.resource.text}` is what the call becomes"
        return Standing.EXCLUDED, ""

    def _c_15(self) -> Tested:
        if self.file.refusal:
            return Standing.PROVED, self.file.refusal
        return (Standing.EXCLUDED, "its targets can be built") if self.file.targets else (Standing.OPEN, "")

    def _c_16(self) -> Tested:
        if self.file.other_gate:
            return Standing.PROVED, self.file.other_gate
        like = _REFUSED_IN_LIKE_SHAPE.get(self.file.kind, "")
        if not self.file.is_admitted and not like:
            return Standing.EXCLUDED, ""
        return Standing.OPEN, like

    def _c_17(self) -> Tested:
        if self.file.context is None:
            return Standing.EXCLUDED, "the holder is no agent"
        if self.file.is_executing_elsewhere:
            return Standing.PROVED, "the code is that of a tool"
        return Standing.OPEN, ""

    def _c_18(self) -> Tested:
        if self.file.is_service:
            return Standing.EXCLUDED, "nothing is replayed for a caller outside an agent"
        match self.file.record:
            case "not-recorded" | "re-evaluated" | "ungated":
                return Standing.EXCLUDED, "a denial of this operation leaves no record that could be replayed"
            case "recorded" | "filtered":
                return (
                    Standing.OPEN,
                    "its denials are recorded: a replay shows the old one, only a new live call asks again",
                )
            case _:
                return Standing.OPEN, ""

    def _c_19(self) -> Tested:
        if self.file.kind in _OF_GUESTS and not self.file.is_service:
            return Standing.EXCLUDED, "it is decided once, in the executor"
        return Standing.OPEN, ""

    def _c_20(self) -> Tested:
        if not self.file.is_service and self.file.kind not in ("rest-403", "rest-absent", "rest-401"):
            return Standing.EXCLUDED, "an agent's own calls use no cached authority"
        return Standing.OPEN, ""

    def _c_21(self) -> Tested:
        if len(self.file.targets) < 2:
            return (Standing.EXCLUDED, "it asks for one target") if self.file.targets else (Standing.OPEN, "")
        refused = [target for target, is_admitted in self.file.targets if not is_admitted]
        if not refused:
            return Standing.EXCLUDED, "all its targets are admitted"
        if len(refused) == len(self.file.targets):
            return Standing.EXCLUDED, "all its targets are refused"
        texts = ", ".join(f"`{target.text.rstrip()}`" for target in refused[:3])
        return Standing.PROVED, f"of {len(self.file.targets)} targets {len(refused)} fail: {texts}"

    def _c_22(self) -> Tested:
        if self.file.kind != "rest-absent":
            return Standing.EXCLUDED, "the denial was shown as one"
        target = self.file.target
        if target is not None and target.verb == "view" and self.file.is_admitted is False:
            return Standing.PROVED, f"`{target.text.rstrip()}` is refused"
        return Standing.OPEN, ""


_OF_DENIALS = frozenset({"C-1", "C-2", "C-3", "C-4", "C-5", "C-6", "C-7", "C-8", "C-9", "C-11", "C-13", "C-14"})
_WITHOUT_TARGET = frozenset({"C-12", "C-15", "C-16", "C-17", "C-18", "C-19", "C-20", "C-21", "C-22"})


def _lower_positives(cards: tuple[Card, ...]) -> Iterator[GrantRef]:
    for card in cards:
        for bound, index, grant in card.bounds.each():
            if bound.is_lower and bound.is_positive:
                yield GrantRef(card.id, bound, index, grant)


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _plain(grant: Grant) -> str:
    return _letters(grant.target.resource.text)


__all__ = ["CaseFile", "Cause", "Standing", "causes"]
