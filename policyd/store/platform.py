"""The platform's own JSON as facts: cards, permission shares, retry policies, tools, wallets, revocations.

Read are the shapes of the REST interface and of the command line's JSON output, one or many, and our
wallet file. What is no fact (a request, a deletion) or cannot be read is refused with its place.

Source: cards C; interface, wallet file; retry 1.5, 1.7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import BinaryIO, TypeVar, cast

from policyd.core.cards import Bound, Bounds, Card, CardId, ScopeCard
from policyd.core.edition import NEXT, Rules
from policyd.core.grants import Level
from policyd.core.grants.names import U64_MAX, ascii_lower, parse_uuid
from policyd.core.retry import NamedPolicy, policy_from_api, predicate_from_api, read_policy, read_predicate
from policyd.core.retry import write_canonical as write_retry
from policyd.findings import Finding, InputError, Severity, Span
from policyd.store.codes import StoreCode
from policyd.store.digest import canonical_json
from policyd.store.document_reading import is_deployment, read_deployment
from policyd.store.facts import (
    CardFact,
    Deployment,
    FindingFact,
    Installed,
    Installer,
    Origin,
    PermissionShare,
    Places,
    RetryPolicyFact,
    ToolFact,
    WalletFact,
)
from policyd.store.holders import read_holder
from policyd.store.json_places import JsonText
from policyd.store.json_stream import BytesRead, Piece, pieces
from policyd.syntax.cards import CardForm, read_card
from policyd.syntax.mistakes import shown

MAX_ERRORS = 50
"""An import that is refused tells this many reasons at most."""

PRIORITY_MAX = 2**32 - 1

LISTS = frozenset({"cards", "values", "permissionShares", "retryPolicies"})
"""Members of documents whose lists are read item by item."""

Place = Callable[[str], Span]
"""From a path of the document to its place."""

Members = Mapping[str, object]
_Tree = TypeVar("_Tree")


@dataclass(slots=True)
class Imported:
    """What one source holds.

    Attributes:
        deployment: the whole deployment, where the source is an export of ours; everything else is empty then.
        findings: what was not understood and left out; names only, never values.
    """

    deployment: Deployment | None = None
    cards: list[CardFact] = field(default_factory=list)
    revoked: list[CardId] = field(default_factory=list)
    wallets: list[WalletFact] = field(default_factory=list)
    shares: list[PermissionShare] = field(default_factory=list)
    retry_policies: list[RetryPolicyFact] = field(default_factory=list)
    tools: list[ToolFact] = field(default_factory=list)
    middlewares: list[ToolFact] = field(default_factory=list)
    findings: list[FindingFact] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many facts there are."""
        lists: tuple[Sequence[object], ...] = (
            self.cards,
            self.revoked,
            self.wallets,
            self.shares,
            self.retry_policies,
            self.tools,
            self.middlewares,
        )
        return sum(map(len, lists))


def _unread(_: int) -> None:
    """The count nobody looks at."""


def read_platform(stream: BinaryIO, name: str, *, rules: Rules = NEXT, read: BytesRead = _unread) -> Imported:
    """The facts of all documents in `stream`.

    Args:
        stream: bytes of UTF-8 JSON.
        name: of the source, for places.
        rules: which classes and kinds exist.
        read: told of the bytes read, for a progress bar.

    Raises:
        InputError: for text that is no JSON, for a document of an unknown kind, for one that is no fact, and with
            up to `MAX_ERRORS` reasons for facts that cannot be read; each with its place.
    """
    return _Reader(name, rules).run(pieces(stream, name, LISTS, read))


class _Reader:
    def __init__(self, name: str, rules: Rules) -> None:
        self.name, self.rules = name, rules
        self.imported = Imported()
        self.errors: list[Finding] = []
        self.noted: set[tuple[str, str]] = set()

    def run(self, parts: Iterable[Piece]) -> Imported:
        current = -1
        members: dict[str, object] = {}
        texts: dict[str, JsonText] = {}
        held: list[int] = []
        for piece in parts:
            if piece.document != current:
                self._document(members, texts, held)
                current, members, texts, held = piece.document, {}, {}, []
            if piece.is_item and not piece.key:
                self._fact(piece.value, piece.text.span, piece.text.path)
            elif piece.is_item:
                self._item(piece, members, held)
            else:
                if not piece.key:
                    self._refuse(piece.text.span("$"), "expected an object or a list")
                members[piece.key] = [] if piece.key in LISTS and piece.value is None else piece.value
                texts[piece.key] = piece.text
        self._document(members, texts, held)
        if self.errors:
            raise InputError(*self.errors)
        return self.imported

    def _item(self, piece: Piece, members: dict[str, object], held: list[int]) -> None:
        """An item of a list below the top: a fact of its own, unless the whole is a document of ours."""
        if is_deployment(members):
            cast("list[object]", members[piece.key]).append(piece.value)
            return
        before = len(self.imported.cards)
        self._fact(piece.value, piece.text.span, piece.text.path)
        held += range(before, len(self.imported.cards))

    def _document(self, members: dict[str, object], texts: dict[str, JsonText], held: list[int]) -> None:
        """The end of a top-level object: what its own members say."""
        if not members:
            return

        def place(path: str) -> Span:
            for text in texts.values():
                if path == text.path or path.startswith((f"{text.path}.", f"{text.path}[")):
                    return text.span(path)
            first = next(iter(texts.values()))
            return Span(self.name, first.line, first.column, first.offset, first.offset, path)

        if is_deployment(members):
            self.imported.deployment = read_deployment(members, self.name)
        elif "holder" in members and "cards" in members:
            cards = [self.imported.cards[index] for index in held]
            if not isinstance(members["cards"], list):
                raise StoreCode.BAD_MEMBER.error("expected a list of cards here", place("$.cards"))
            self._try(lambda: self._wallet(members, place, cards))
        elif LISTS & members.keys() and not _FACT_KEYS & members.keys():
            self._leftovers("list", members, LISTS | {"$type"}, place, "$")
        else:
            self._fact(members, place, "$")

    def _try(self, read: Callable[[], None]) -> None:
        try:
            read()
        except InputError as refusal:
            self.errors += refusal.findings
            if len(self.errors) >= MAX_ERRORS:
                raise InputError(*self.errors[:MAX_ERRORS]) from None

    def _refuse(self, span: Span, message: str, help: str = "") -> None:
        raise StoreCode.UNKNOWN_DOCUMENT.error(message, span, help or KNOWN)

    def _fact(self, value: object, place: Place, path: str) -> None:
        self._try(lambda: self._read(value, place, path))

    def _read(self, value: object, place: Place, path: str) -> None:
        if not isinstance(value, Mapping):
            self._refuse(place(path), "expected an object here")
        members = cast("Members", value)
        for key, reason in _NO_FACTS:
            if key in members:
                raise StoreCode.NOT_A_FACT.error(reason, place(f"{path}.{key}"), KNOWN)
        if "cardId" in members or "scopeCardId" in members:
            self.imported.cards.append(self._card(members, place, path))
        elif "holder" in members and "cards" in members:
            self._nested_wallet(members, place, path)
        elif "revokedCardIds" in members:
            self._revocation(members, place, path)
        elif "ownerAccountId" in members and "data" in members:
            self.imported.shares.append(self._share(members, place, path))
        elif "policy" in members and "predicate" in members:
            self.imported.retry_policies.append(self._retry(members, place, path))
        elif "definition" in members and "source" in members:
            self.imported.tools.append(self._tool(members, place, path))
        elif isinstance(members.get("scope"), Mapping) and "parameter_schema" in members:
            self.imported.middlewares.append(self._metadata("middleware", members, members.get("name"), place, path))
        elif _root_name(members) is not None:
            self.imported.tools.append(self._metadata("tool", members, _root_name(members), place, path))
        else:
            self._refuse(place(path), "this document is of no kind that policyd imports")

    def _leftovers(self, what: str, members: Members, known: frozenset[str], place: Place, path: str) -> None:
        """Report members that were not understood; each name once per kind of document."""
        for name in members:
            if name in known or (what, name) in self.noted:
                continue
            self.noted.add((what, name))
            finding = StoreCode.UNKNOWN_MEMBER.finding(
                f"member {shown(name, 60)} of a {what} is not known and was left out",
                place(f"{path}.{name}"),
                "",
                Severity.INFO,
            )
            self.imported.findings.append(FindingFact(finding, Origin.PLATFORM))

    def _card(self, members: Members, place: Place, path: str) -> CardFact:
        form = CardForm.STORED if "type" in members else CardForm.SCOPE if "scopeCardId" in members else CardForm.CARD
        try:
            card = read_card(members, form, self.rules, path)
        except InputError as refusal:
            if form is not CardForm.CARD or "managedBy" in members or not _slotted(refusal):
                raise _placed(refusal, place) from None
            card = self._polymorphic(members, place, path)
        self._leftovers("card", members, _CARD_KEYS, place, path)
        return CardFact(card, self._places(card.bounds, members, place, path), place(path))

    def _polymorphic(self, members: Members, place: Place, path: str) -> Card | ScopeCard:
        try:
            return read_card(members, CardForm.POLYMORPHIC, self.rules, path)
        except InputError as refusal:
            raise _placed(refusal, place) from None

    def _places(self, bounds: Bounds, members: Members, place: Place, path: str) -> Places:
        """One place per grant; an alias that stands for several gives all of them its own place."""
        lists = []
        for bound in Bound:
            written = cast("Sequence[str]", members[bound.value])
            spans: list[Span | None] = []
            for index, text in enumerate(written):
                spans += [place(f"{path}.{bound.value}[{index}]")] * _grants_of(text)
            assert len(spans) == len(bounds.of(bound))
            lists.append(tuple(spans))
        return tuple(lists)

    def _bounds(self, value: object, place: Place, path: str) -> tuple[Bounds, Places]:
        """The four lists of a permission share, read as those of a concrete card."""
        if not isinstance(value, Mapping):
            raise StoreCode.BAD_MEMBER.error("expected an object here", place(path))
        members = cast("Members", value)
        blank = {"cardId": _NIL, "parentIds": [], "createdAt": "1970-01-01T00:00:00Z", "systemCard": False}
        try:
            card = read_card({**members, **blank}, CardForm.CARD, self.rules, path)
        except InputError as refusal:
            raise _placed(refusal, place) from None
        self._leftovers("permission share", members, frozenset(b.value for b in Bound), place, path)
        return card.bounds, self._places(card.bounds, members, place, path)

    def _uuid(self, members: Members, name: str, place: Place, path: str) -> str:
        value = members.get(name)
        found = parse_uuid(value) if isinstance(value, str) else None
        if found is None:
            raise StoreCode.BAD_MEMBER.error(f"expected a UUID as `{name}`", place(f"{path}.{name}"))
        return found

    def _number(self, members: Members, name: str, place: Place, path: str, limit: int = U64_MAX) -> int:
        value = members.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= limit:
            raise StoreCode.BAD_MEMBER.error(
                f"expected a whole number from 0 to {limit} as `{name}`", place(f"{path}.{name}")
            )
        return value

    def _text(self, members: Members, name: str, place: Place, path: str) -> str:
        value = members.get(name)
        if not isinstance(value, str):
            raise StoreCode.BAD_MEMBER.error(f"expected text as `{name}`", place(f"{path}.{name}"))
        return value

    def _share(self, members: Members, place: Place, path: str) -> PermissionShare:
        bounds, places = self._bounds(members["data"], place, f"{path}.data")
        self._leftovers("permission share", members, _SHARE_KEYS, place, path)
        current = members.get("currentCardId")
        return PermissionShare(
            self._uuid(members, "id", place, path),
            self._number(members, "revision", place, path),
            self._uuid(members, "ownerAccountId", place, path),
            self._uuid(members, "targetAccountId", place, path),
            self._text(members, "name", place, path),
            bounds,
            "" if current is None else self._uuid(members, "currentCardId", place, path),
            places,
            place(path),
        )

    def _retry(self, members: Members, place: Place, path: str) -> RetryPolicyFact:
        try:
            selector = _either(members["predicate"], read_predicate, predicate_from_api, ("predicate",))
            policy = _either(members["policy"], read_policy, policy_from_api, ("policy",))
        except InputError as refusal:
            raise _placed(refusal, place, path) from None
        name = self._text(members, "name", place, path)
        priority = self._number(members, "priority", place, path, PRIORITY_MAX)
        rule = NamedPolicy(name, priority, selector, policy)
        self._leftovers("retry policy", members, _RETRY_KEYS, place, path)
        return RetryPolicyFact(
            name,
            priority,
            canonical_json(write_retry(rule.selector)),
            canonical_json(write_retry(rule.policy)),
            Origin.PLATFORM,
            self._uuid(members, "id", place, path) if "id" in members else "",
            self._number(members, "revision", place, path) if "revision" in members else None,
            place(path),
        )

    def _tool(self, members: Members, place: Place, path: str) -> ToolFact:
        definition, source = members["definition"], members["source"]
        if not isinstance(definition, Mapping) or not isinstance(source, Mapping):
            raise StoreCode.BAD_MEMBER.error("expected objects as `definition` and `source`", place(path))
        self._leftovers("tool", members, _TOOL_KEYS, place, path)
        name = definition.get("name")
        if not isinstance(name, str):
            name = _root_name(definition)
        if name is None:
            raise StoreCode.BAD_MEMBER.error("the definition names no tool", place(f"{path}.definition"))
        return ToolFact(
            name,
            Origin.PLATFORM,
            str(source.get("componentName", "")),
            str(definition.get("version", "")),
            ascii_lower(self._text(members, "ownerAccountEmail", place, path)),
            canonical_json(definition),
            place(path),
        )

    def _metadata(self, what: str, members: Members, name: object, place: Place, path: str) -> ToolFact:
        """A tool or a middleware as component metadata have it, which do not say whose it is."""
        if not isinstance(name, str):
            raise StoreCode.BAD_MEMBER.error(f"the definition names no {what}", place(path))
        version = members.get("version")
        return ToolFact(
            name,
            Origin.PLATFORM,
            version=version if isinstance(version, str) else "",
            definition=canonical_json(members),
            place=place(path),
        )

    def _revocation(self, members: Members, place: Place, path: str) -> None:
        self._leftovers("revocation", members, frozenset({"$type", "revokedCardIds"}), place, path)
        self.imported.revoked += self._ids(members["revokedCardIds"], place, f"{path}.revokedCardIds")

    def _ids(self, value: object, place: Place, path: str) -> list[CardId]:
        if not isinstance(value, list):
            raise StoreCode.BAD_MEMBER.error("expected a list of card ids here", place(path))
        found = []
        for index, item in enumerate(value):
            uuid = parse_uuid(item) if isinstance(item, str) else None
            if uuid is None:
                raise StoreCode.BAD_MEMBER.error("expected a card id here", place(f"{path}[{index}]"))
            found.append(CardId(uuid))
        return found

    def _nested_wallet(self, members: Members, place: Place, path: str) -> None:
        """A wallet in a list of wallets, whose cards were not read one by one."""
        items = members["cards"]
        if not isinstance(items, list):
            raise StoreCode.BAD_MEMBER.error("expected a list of cards here", place(f"{path}.cards"))
        cards = []
        for index, item in enumerate(items):
            where = f"{path}.cards[{index}]"
            if not isinstance(item, Mapping):
                raise StoreCode.BAD_MEMBER.error("expected a card here", place(where))
            cards.append(self._card(cast("Members", item), place, where))
        self.imported.cards += cards
        self._wallet(members, place, cards, path)

    def _wallet(self, members: Members, place: Place, cards: Sequence[CardFact], path: str = "$") -> None:
        """Source: interface, wallet file."""
        self._leftovers("wallet", members, _WALLET_KEYS, place, path)
        holder = read_holder(self._text(members, "holder", place, path), self.rules)
        if holder is None:
            raise StoreCode.BAD_MEMBER.error(
                "expected an account, or an agent as `account/app/env/component/Type`", place(f"{path}.holder")
            )
        agent_id = self._text(members, "agentId", place, path) if members.get("agentId") is not None else ""
        if agent_id and (holder.level is not Level.AGENT or not agent_id.startswith(f"{holder.known[4]}(")):
            raise StoreCode.BAD_MEMBER.error(
                f"{shown(agent_id)} is no agent of the holder's type", place(f"{path}.agentId")
            )
        if holder.level is Level.ACCOUNT and any(
            isinstance(fact.card, Card) and fact.card.is_polymorphic for fact in cards
        ):
            raise StoreCode.BAD_MEMBER.error(
                "a template has slots that only an agent can fill, and the holder is an account",
                place(f"{path}.holder"),
            )
        account = members.get("recordedAccount")
        by = self._installers(members.get("installedBy"), place, f"{path}.installedBy")
        if members.get("revoked") is not None:
            self.imported.revoked += self._ids(members["revoked"], place, f"{path}.revoked")
        installed = tuple(
            Installed(card_id, by.get(card_id, Installer.UNKNOWN))
            for card_id in sorted({fact.card.id for fact in cards})
        )
        self.imported.wallets.append(
            WalletFact(
                holder,
                agent_id,
                "" if account is None else ascii_lower(self._text(members, "recordedAccount", place, path)),
                installed,
                place(f"{path}.holder"),
            )
        )

    def _installers(self, value: object, place: Place, path: str) -> dict[CardId, Installer]:
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise StoreCode.BAD_MEMBER.error("expected an object from card id to `self` or `other`", place(path))
        read = {}
        for name, word in value.items():
            uuid = parse_uuid(name)
            if uuid is None or word not in ("self", "other"):
                raise StoreCode.BAD_MEMBER.error("expected `self` or `other` for a card id", place(f"{path}.{name}"))
            read[CardId(uuid)] = Installer(word)
        return read


def _either(
    document: object,
    canonical: Callable[[object, tuple[str | int, ...]], _Tree],
    api: Callable[[object, tuple[str | int, ...]], _Tree],
    path: tuple[str, ...],
) -> _Tree:
    """The canonical form, or the API form where a `type` is written."""
    is_api = isinstance(document, Mapping) and isinstance(document.get("type"), str)
    return (api if is_api else canonical)(document, path)


def _slotted(refusal: InputError) -> bool:
    return any(f.code == "GRANT007" for f in refusal.findings)


def _placed(refusal: InputError, place: Place, below: str = "$") -> InputError:
    """The same error with the place in the source instead of a path alone, which begins at `below`."""
    found = []
    for finding in refusal.findings:
        path = finding.span.path if finding.span else "$"
        found.append(replace(finding, span=place(below + path[1:])))
    return InputError(*found)


def _grants_of(text: str) -> int:
    """How many grants an accepted entry of a list stands for: one, or eight for the old alias (P8)."""
    head, _, rest = text.partition("(")
    if head.strip() != "agent":
        return 1
    return 8 if rest.partition(") @ ")[2].partition(" : ")[2].partition(" : ")[0].strip() == "debug" else 1


def _root_name(definition: Members) -> str | None:
    """The name of a tool whose definition is a tree of commands."""
    match definition:
        case {"commands": {"nodes": [{"name": str(name)}, *_]}}:
            return name
        case _:
            return None


_NIL = "00000000-0000-0000-0000-000000000000"
_CARD_KEYS = frozenset(
    {"$type", "type", "cardId", "scopeCardId", "parentIds", "rootCardIds", "createdAt", "expiresAt", "systemCard"}
    | {"managedBy"}
    | {b.value for b in Bound}
)
_SHARE_KEYS = frozenset(
    {"$type", "id", "revision", "ownerAccountId", "targetAccountId", "name", "currentCardId", "data"}
)
_RETRY_KEYS = frozenset({"$type", "id", "environmentId", "name", "revision", "priority", "predicate", "policy"})
_TOOL_KEYS = frozenset(
    {"deploymentRevision", "definition", "source", "ownerAccountId", "ownerAccountEmail", "metadataVersion"}
)
_WALLET_KEYS = frozenset({"holder", "agentId", "recordedAccount", "cards", "installedBy", "revoked"})
_FACT_KEYS = frozenset({"cardId", "scopeCardId", "revokedCardIds", "ownerAccountId", "policy", "definition"})
KNOWN = (
    "known are cards, wallets, permission shares, retry policies, deployed tools, definitions of tools and middleware, "
    "revocations and `policyd export`"
)

_NO_FACTS = (
    ("currentRevision", "this is a request to change something, not what the platform stores"),
    ("targetAccountEmail", "this is a request for a permission share, not the share itself"),
    ("deleted", "this tells of a deletion, not of what the platform stores"),
    ("granteeAccountId", "this is an environment share, which grants roles and no permissions"),
    ("secretValue", "this is a secret, and policyd keeps none"),
    ("secretType", "this is a secret, and policyd keeps none"),
    ("enforcementAction", "this is a resource definition, which grants nothing"),
)
"""Members by which documents are known that hold no fact, and what is said of them."""
