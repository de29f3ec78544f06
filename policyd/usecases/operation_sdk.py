"""The SDK that a question is about: which surfaces it has, what it reads at start, and to which edition it belongs.

Source: host 2.13, 2.17, 3.3; questions 4; sdk-facts 3; interface, `--sdk`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from policyd.core.edition import Edition, Rules
from policyd.findings import InputError, nearest
from policyd.syntax.mistakes import shown

START_UP_READS = {
    "rust": ("GOLEM_AGENT_ID", "GOLEM_COMPONENT_ID"),
    "typescript": ("GOLEM_AGENT_ID",),
    "moonbit": ("GOLEM_AGENT_ID",),
    "scala": (),
}
"""The variables that the code of an SDK reads before or while it dispatches; the second one for the id helper only."""

NEXT_FROM = 3
"""The first major version whose texts belong to edition `next`."""

_TEXT = re.compile(
    r"(?P<language>[A-Za-z-]{1,20})(?:@(?P<version>[0-9]{1,4}(?:\.[0-9]{1,6}){0,3}[0-9A-Za-z.+-]{0,40}))?"
)


@dataclass(frozen=True, slots=True)
class Sdk:
    """An SDK.

    Attributes:
        language: `rust`, `typescript`, `moonbit` or `scala`.
        version: as written; empty for the newest known of the edition.
    """

    language: str
    version: str = ""

    @property
    def edition(self) -> Edition | None:
        """The edition to which the version belongs; None where none is given."""
        if not self.version:
            return None
        return Edition.NEXT if int(self.version.partition(".")[0]) >= NEXT_FROM else Edition.SNAPSHOT

    @property
    def text(self) -> str:
        """As users write it."""
        return f"{self.language}@{self.version}" if self.version else self.language

    @property
    def start_up_reads(self) -> tuple[str, ...]:
        """The variables that it needs at start."""
        return START_UP_READS[self.language]


NEWEST_RUST = Sdk("rust")
"""Where a question names no SDK."""


def sdk_of(text: str) -> Sdk:
    """The SDK that `--sdk` names; an empty text for Rust, whose version follows the edition.

    Raises:
        InputError: MANIF091 for anything else than `language` or `language@version`.
    """
    if not text:
        return NEWEST_RUST
    match = _TEXT.fullmatch(text)
    language = match["language"].lower() if match else text
    names = {"ts": "typescript", "js": "typescript", "golem-rust": "rust"}
    language = names.get(language, language)
    if match is None or language not in START_UP_READS:
        near = nearest(language, START_UP_READS)
        help = f"did you mean `{near}`?" if near else "write `rust@3.0.1`, `typescript`, `moonbit` or `scala`"
        raise InputError.of("MANIF091", f"{shown(text)} names no SDK", None, help)
    return Sdk(language, match["version"] or "")


def contradiction(sdk: Sdk, rules: Rules) -> Edition | None:
    """The edition of the SDK where it is another one than that of the question."""
    return sdk.edition if sdk.edition is not None and sdk.edition is not rules.edition else None


def start_up_notes(sdk: Sdk) -> Iterator[str]:
    """What an agent of this SDK reads by itself."""
    reads = sdk.start_up_reads
    if reads:
        yield f"at start the {sdk.language} SDK reads {' and '.join(f'`{name}`' for name in reads)}: `env.get` for each"
    else:
        yield f"the {sdk.language} SDK takes identity from self-metadata: `agent.get-self-metadata`"
