"""Errors of card operations and of scope cards: E-20 to E-25.

Source: host 2.11, 5.3, 5.5.
"""

from __future__ import annotations

import re

from policyd.syntax.denials.hits import TAG, Hit, Scene
from policyd.syntax.denials.reading import OperationGuess, Surface

VARIANTS: dict[str, str] = {
    "not-permitted": "no authority, no possession, or an argument was refused",
    "lower-bound-too-broad": "the floor of the new card exceeds that of its parents",
    "upper-bound-too-broad": "the ceiling of the new card exceeds that of a parent, or leaves it out",
    "wallet-multi-source-required": "no single card of the wallet suffices, several together would",
    "card-revoked": "a parent card is revoked",
    "card-expired": "a parent card is expired",
    "install-recipient-mismatch": "no grant of the card is addressed to the type of the target",
    "unknown-resource-class": "a grant names a class that does not exist",
    "invalid-pattern": "a grant has a wrong resource",
    "invalid-verb": "a grant has a wrong verb",
    "invalid-owner": "a grant has a wrong owner",
    "invalid-recipient": "a grant has a wrong recipient",
    "card-polymorphic-not-usable": "a template is used where a concrete card is needed",
}

"""Variants of the errors of card operations, and what each means (host 5.3)."""

_OF_VARIANT = {
    "lower-bound-too-broad": "card.derive card.derive-scope",
    "upper-bound-too-broad": "card.derive card.derive-scope",
    "wallet-multi-source-required": "card.derive",
    "install-recipient-mismatch": "card.install",
}

_ARGUMENTS = frozenset(
    {"unknown-resource-class", "invalid-pattern", "invalid-verb", "invalid-owner", "invalid-recipient"}
)

_CAMEL = {"".join(word.capitalize() for word in name.split("-")): name for name in VARIANTS}

_RUST_VARIANT = re.compile(r"PermissionError(?:::|\.)?[\s(:\"']{0,4}([A-Z][A-Za-z]{3,40})\b")

_KEBAB_VARIANT = re.compile(
    r"(?:permission-error|PermissionError|CardError)[^a-zA-Z]{1,6}(?:tag[^a-z]{1,6}|val[^a-z]{1,6})?([a-z]+(?:-[a-z]+){1,4})"
)


def on_card_error(scene: Scene, at: int) -> Hit | None:
    """E-25 at `PermissionError` or `permission-error`."""
    part = scene.ahead(at, 120)
    camel = _RUST_VARIANT.match(part.text)
    if camel and camel[1] in _CAMEL:
        return _card(scene, at, part.page_offset(camel.end()), _CAMEL[camel[1]], Surface.RUST)
    kebab = _KEBAB_VARIANT.match(part.text)
    if kebab and kebab[1] in VARIANTS:
        return _card(scene, at, part.page_offset(kebab.end()), kebab[1], Surface.WASI)
    return None


def on_card_variant(scene: Scene, at: int) -> Hit | None:
    """E-25 at the name of a variant that no other error has."""
    for name, variant in _SPELLED:
        if scene.text.startswith(name, at):
            before, after = scene.behind(at, 1), scene.text[at + len(name) : at + len(name) + 1]
            if before.isalnum() or after.isalnum() or after == "-" or before == "-":
                return None
            surface = Surface.TYPESCRIPT if "-" in name else Surface.RUST
            return _card(scene, at, at + len(name), variant, surface)
    return None


OWN_VARIANTS = tuple(
    name
    for variant in (
        "lower-bound-too-broad",
        "upper-bound-too-broad",
        "wallet-multi-source-required",
        "install-recipient-mismatch",
        "card-polymorphic-not-usable",
        "unknown-resource-class",
    )
    for name in (variant, "".join(word.capitalize() for word in variant.split("-")))
)

"""Names that only the errors of card operations have."""

_SPELLED = tuple((name, _CAMEL.get(name, name)) for name in OWN_VARIANTS)

_TAGGED_VARIANT = re.compile(r"[\"']([a-z]+(?:-[a-z]+){1,3})[\"']")

_CARD_CALL = re.compile(r"install_?-?[cC]ard|derive|revoke_?-?[cC]ard|inspect_?-?[cC]ard|golem:permissions|[cC]ard")


def on_card_tag(scene: Scene, at: int) -> Hit | None:
    """E-25 at a tag such as `card-revoked` where the text is about a card operation."""
    before = scene.behind(at, 60)
    word = re.match(r"[a-z-]{1,40}", scene.text[at : at + 40])
    variant = word[0].rstrip("-") if word else ""
    tag = TAG.search(before)
    if variant not in VARIANTS or tag is None:
        return None
    around = scene.text[max(0, at - 400) : at + 400].replace(variant, "")
    if not _CARD_CALL.search(around):
        return None
    return _card(scene, max(0, at - (len(before) - tag.start())), at + len(variant), variant, Surface.TYPESCRIPT)


def _card(scene: Scene, start: int, end: int, variant: str, surface: Surface) -> Hit:
    names = _OF_VARIANT.get(variant, "").split()
    how = "certain" if len(names) == 1 else "likely"
    guesses = tuple(OperationGuess(name, how, f"`{variant}` is an answer of it") for name in names)
    not_policy = "the grant that was asked for cannot be read" if variant in _ARGUMENTS else ""
    return Hit(
        "E-25",
        start,
        end,
        surfaces=(surface,),
        facts={"variant": variant},
        operations=guesses,
        remark=VARIANTS[variant],
        not_policy=not_policy,
    )


_DELIVERY = re.compile(
    r"[iI]nstall[- _]?(?:[cC]ard[- _]?)?[dD]elivery[- _]?(?:Failure|Error|failure|error|failed)?[^A-Za-z0-9]{1,6}"
    r"(card[- ]?revoked|CardRevoked|card[- ]?not[- ]?found|CardNotFound|not[- ]?found|NotFound|recipient[- ]?mismatch"
    r"|RecipientMismatch|not[- ]?permitted|NotPermitted)"
)

_DELIVERED = {
    "cardrevoked": "card-revoked",
    "cardnotfound": "card-not-found",
    "notfound": "card-not-found",
    "recipientmismatch": "install-recipient-mismatch",
    "notpermitted": "not-permitted",
}


def on_delivery(scene: Scene, at: int) -> Hit | None:
    """E-25 for the answers of the delivery of an installed card."""
    part = scene.ahead(at, 120)
    found = _DELIVERY.match(part.text)
    if found is None:
        return None
    variant = _DELIVERED[re.sub("[- ]", "", found[1]).lower()]
    guess = OperationGuess("card.install", "certain", "the card could not be delivered")
    facts = {"variant": variant, "step": "delivery"}
    return Hit("E-25", at, part.page_offset(found.end()), facts=facts, operations=(guess,))


_ACCEPTS = re.compile(r"([A-Za-z][\w-]{1,80})\s$")


_TAKERS = {"derive": "card.derive", "install-card": "card.install", "revoke-card": "card.revoke"}


def on_no_scope_cards(scene: Scene, at: int) -> Hit | None:
    """E-20 at `does not accept scope cards`."""
    name = _ACCEPTS.search(scene.text, max(0, at - 100), at)
    start, end = (name.start() if name else at), at + len("does not accept scope cards")
    facts = {"operation": name[1]} if name else {}
    operation = _TAKERS.get(name[1], "") if name else ""
    if not operation:
        return Hit("E-20", start, end, facts=facts)
    guess = OperationGuess(operation, "certain", f"the text names `{facts['operation']}`")
    return Hit("E-20", start, end, kind="card", facts=facts, operations=(guess,))


def on_scope_argument(scene: Scene, at: int) -> Hit | None:
    """E-20 at `the scope-card `."""
    for rest in ("argument must be a scope card", "handle belongs to a different invocation"):
        if scene.text.startswith(rest, at + len("the scope-card ")):
            return Hit("E-20", at, at + len("the scope-card ") + len(rest))
    return None


def on_no_invocation(scene: Scene, at: int) -> Hit | None:
    """E-20 at `scope cards require an active invocation`."""
    return Hit("E-20", at, at + len("scope cards require an active invocation"))


_SCOPE = re.compile(r"(card-revoked|not-permitted): scope[- ](?:card )?(?:root )?([^\n\"'}]{1,200})")

_CARD_ID = re.compile(
    r"\b([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-fA-F]{4,32})\b(?= is| was| has| must|$)"
)


def on_scope_root(scene: Scene, at: int) -> Hit | None:
    """E-21 at `card-revoked: scope` or `not-permitted: scope`."""
    found = _SCOPE.match(scene.text, at)
    if found is None:
        return None
    card = _CARD_ID.search(found[2])
    facts = {"case": found[1], **({"card": card[1]} if card else {})}
    why = "" if found[1] == "card-revoked" else "the roots of the scope card are malformed"
    return Hit("E-21", at, found.end(), facts=facts, remark=why)


def on_card_verb(scene: Scene, at: int) -> Hit | None:
    """E-22 at ` is not permitted`, behind `card:` and a verb."""
    found = re.search(r"card:(derive|revoke|inspect|install)$", scene.text[max(0, at - 16) : at])
    if found is None:
        return None
    names = ("card.derive", "card.derive-scope") if found[1] == "derive" else (f"card.{found[1]}",)
    sure = ("certain",) if len(names) == 1 else ("likely", "possible")
    guesses = tuple(OperationGuess(n, s, f"the text says `card:{found[1]}`") for n, s in zip(names, sure, strict=True))
    start = at - len(found[0])
    return Hit("E-22", start, at + len(" is not permitted"), facts={"verb": found[1]}, operations=guesses)


def on_possession(scene: Scene, at: int) -> Hit | None:
    """E-23 at `revoke requires possession of the target card`."""
    return Hit("E-23", at, at + len("revoke requires possession of the target card"))


def on_install_target(scene: Scene, at: int) -> Hit | None:
    """E-24 at `install-card currently supports only agent targets`."""
    return Hit("E-24", at, at + len("install-card currently supports only agent targets"))


_PHRASES: dict[str, tuple[str, str, str]] = {
    "no active wallet card permits the requested derivation": ("not-permitted", "card.derive", ""),
    "derive requires a concrete parent card": ("card-polymorphic-not-usable", "card.derive", ""),
    "derive-scope requires at least one parent card": ("not-permitted", "card.derive-scope", "an argument is wrong"),
    "derive-scope requires an active invocation": ("not-permitted", "card.derive-scope", "no invocation is active"),
    "derive-scope is only available to an agent": ("not-permitted", "card.derive-scope", "the caller is no agent"),
    "derive-from-wallet is only available to an agent": ("not-permitted", "card.derive", "the caller is no agent"),
    "install-card target metadata lookup failed": ("not-permitted", "card.install", "the target was not found"),
    "invalid install target agent ID": ("invalid-recipient", "card.install", "the id of the target cannot be read"),
    "does not match the stored card": ("not-permitted", "", "the handle is of another card than the stored one"),
}
"""Texts of the errors of card operations: the variant, the operation, and why no card decides it (cards A.1)."""

PHRASES = tuple(_PHRASES)
"""The texts of card errors that are looked for."""


def on_card_phrase(scene: Scene, at: int) -> Hit | None:
    """E-25 at a text that only the errors of card operations have."""
    for phrase, (variant, operation, why) in _PHRASES.items():
        if scene.text.startswith(phrase, at):
            how = OperationGuess(operation, "certain", "its text is one of this operation")
            operations = (how,) if operation else ()
            end = at + len(phrase)
            facts = {"variant": variant}
            return Hit("E-25", at, end, facts=facts, operations=operations, remark=phrase, not_policy=why)
    return None


_GONE = re.compile(r"permission card ([0-9a-fA-F-]{36}) is (?:unknown or )?revoked")


def on_gone_card(scene: Scene, at: int) -> Hit | None:
    """E-25 at `permission card `, when the card behind a handle is gone."""
    found = _GONE.match(scene.text, at)
    if found is None:
        return None
    facts = {"variant": "card-revoked", "card": found[1].lower()}
    return Hit("E-25", at, found.end(), facts=facts, remark=VARIANTS["card-revoked"])


UNREVOCABLE = (
    "Cannot revoke a system card",
    "Permission-share-managed cards must be revoked through the permission share",
    "Environment-default cards cannot be revoked directly",
)
"""Answers of the registry for cards of a kind that nobody revokes this way (cards A.3)."""


def on_unrevocable(scene: Scene, at: int) -> Hit | None:
    """L-04 at one of `UNREVOCABLE`."""
    phrase = next(phrase for phrase in UNREVOCABLE if scene.text.startswith(phrase, at))
    return Hit("L-04", at, at + len(phrase), remark=phrase)


_FAILED = re.compile(
    r"[Cc]ard[-_ ]?[Ii]nstall[-_ ]?[Ff]ail[^\n]{0,300}?\b(CardRevoked|NotFound|RecipientMismatch|NotPermitted"
    r"|card-revoked|not-found|recipient-mismatch|not-permitted)\b"
)


def on_failed_install(scene: Scene, at: int) -> Hit | None:
    """E-25 at the entry of an oplog that a card could not be delivered."""
    start = max(0, at - 12)
    found = _FAILED.search(scene.text, start, at + 360)
    if found is None:
        return None
    variant = _DELIVERED[re.sub("[- ]", "", found[1]).lower()]
    guess = OperationGuess("card.install", "certain", "the card could not be delivered")
    card = _UUID.search(found[0])
    facts = {"variant": variant, "step": "delivery", **({"card": card[0].lower()} if card else {})}
    surfaces = (Surface.OPLOG,)
    return Hit("E-25", found.start(), found.end(), surfaces=surfaces, facts=facts, operations=(guess,))


_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
