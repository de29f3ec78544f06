"""What a file of policy tests gives: files beside it, fixtures, the edition, the moment.

Source: interface, Files and queries.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from policyd.core.cards import Card, CardId, ScopeCard, Timestamp
from policyd.core.edition import SWITCHES, Edition, Rules
from policyd.findings import Finding, InputError, Span, nearest
from policyd.policytests import Fixture, TestFile
from policyd.syntax.cards import CardForm, read_card
from policyd.syntax.json_places import relocated
from policyd.syntax.mistakes import shown
from policyd.syntax.wallets import grant_places, read_wallet
from policyd.usecases.policy_tests_subjects import FromWallet, When
from policyd.usecases.tool_documents import PlainDocument, read_document

UNREADABLE = "TEST001"
"""The code of what cannot be read in a file of tests."""

OUTSIDE = "TEST002"
"""The code of a file that tests may not read."""


def read_file(path: Path, place: Span | None = None) -> PlainDocument:
    """The value in a file.

    Args:
        path: of the file.
        place: where it is named, for a file that is not there.

    Raises:
        InputError: TEST001, where it cannot be read, or the code of the mistake in it.
    """
    try:
        return read_document(path)
    except InputError as error:
        if any(finding.code != "CHAIN003" for finding in error.findings):
            raise
        first = error.findings[0]
        raise InputError.of(UNREADABLE, first.message, first.span or place, first.help) from None


@dataclass(frozen=True, slots=True)
class Beside:
    """A file of tests with the folder that it may read from.

    Attributes:
        document: the file.
        tests: what it says.
        root: the folder around the file's own, or another one that the caller names.
    """

    document: PlainDocument
    tests: TestFile
    root: Path

    def path(self, name: str, steps: tuple[str | int, ...]) -> Path:
        """A file that is named in the tests, written as short as it can be.

        Raises:
            InputError: TEST002, where it lies outside.
        """
        given = self.document.folder / name
        if Path(name).is_absolute() or not given.resolve().is_relative_to(self.root.resolve()):
            message = f"{shown(name)} lies outside the folder that tests may read"
            help = "write a relative path, or give `--include-root`"
            raise InputError.of(OUTSIDE, message, self.document.span(steps), help)
        short = Path(os.path.normpath(given))
        return short if short.resolve() == given.resolve() else given

    def rules(self, edition: str | None, switches: Mapping[str, str] | None) -> Rules:
        """The edition: the caller's where it names one, else the file's.

        Raises:
            InputError: for an unknown edition, switch or value.
        """
        word = edition or self.tests.edition or Edition.NEXT.value
        try:
            base = Edition(word)
        except ValueError:
            help = "editions are `next` and `snapshot`"
            raise self.mistake(("edition",), f"unknown edition {shown(word)}", help) from None
        wanted = {**self.tests.switches, **(switches or {})}
        names = [row.name for row in SWITCHES]
        for name in wanted:
            if name not in names:
                near = nearest(name, names)
                help = f"did you mean `{near}`?" if near else "see `policyd editions`"
                raise self.mistake(("switches", name), f"unknown switch {shown(name)}", help)
        try:
            return Rules.of(base, wanted)
        except ValueError as values:
            message = f"a switch does not take that value, but {values}"
            raise self.mistake(("switches",), message, "see `policyd editions`") from None

    def mistake(self, steps: tuple[str | int, ...], message: str, help: str = "") -> InputError:
        """A mistake of the file."""
        return InputError.of(UNREADABLE, message, self.document.span(steps), help)

    def when(self, given: Fixture, rules: Rules) -> When:
        """Clock and scope card."""
        moment = None
        if given.at:
            try:
                moment = Timestamp.parse(_with_seconds(given.at))
            except ValueError as why:
                message = f"{shown(given.at)} is no moment: {why}"
                place = (*given.steps, "at") if given.steps else ("at",)
                raise self.mistake(place, message, "write `2026-12-24T00:00:00Z`") from None
        return When(moment, self._scope(given, rules))

    def _scope(self, given: Fixture, rules: Rules) -> ScopeCard | None:
        if given.scope is None:
            return None
        value, document = self._value(given, "scope")
        try:
            card = read_card(value, CardForm.SCOPE, rules)
        except InputError as error:
            raise self._relocated(error, document, (*given.steps, "scope")) from None
        if isinstance(card, Card):
            raise self.mistake((*given.steps, "scope"), "this is no scope card")
        return card

    def wallet(self, given: Fixture, rules: Rules) -> FromWallet | None:
        """The holder of the wallet, None where none is given.

        Raises:
            InputError: where it cannot be read.
        """
        if given.wallet is None:
            return None
        value, document = self._value(given, "wallet")
        try:
            wallet = read_wallet(value, rules)
        except InputError as error:
            raise self._relocated(error, document, (*given.steps, "wallet")) from None
        if document is None:
            return FromWallet(wallet, rules, self.document.name)
        places: Mapping[tuple[CardId, str, int], Span] = {}
        if document.root is None:
            places = grant_places(value, document.name, document.text, rules)
        return FromWallet(wallet, rules, document.name, document.line, places)

    def _value(self, given: Fixture, name: str) -> tuple[object, PlainDocument | None]:
        """The value, and the document it comes from where it is not written out in the tests."""
        written = given.wallet if name == "wallet" else given.scope
        if not isinstance(written, str):
            return written, None
        steps = (*given.steps, name)
        document = read_file(self.path(written, steps), self.document.span(steps))
        return document.value, document

    def _relocated(self, error: InputError, document: PlainDocument | None, steps: tuple[str | int, ...]) -> InputError:
        """The mistakes with the places of the file in which they are."""
        if document is not None and document.root is None:
            return InputError(*relocated(error.findings, document.name, document.text))
        place = self.document.span(steps) if document is None else document.span(())
        return InputError(*(_placed(finding, place) for finding in error.findings))


def _placed(finding: Finding, place: Span) -> Finding:
    return finding if finding.span is not None and finding.span.line else replace(finding, span=place)


def _with_seconds(text: str) -> str:
    return f"{text[:-1]}:00Z" if text.count(":") < 2 and text.endswith(("Z", "z")) else text
