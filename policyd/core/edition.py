"""Editions of the platform's rules, and the switches in which they differ.

Source: questions 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Edition(Enum):
    """Which state of the platform's rules an answer follows; `next` is the default everywhere."""

    SNAPSHOT = "snapshot"
    NEXT = "next"


@dataclass(frozen=True, slots=True)
class SwitchRow:
    """One rule in which the editions differ.

    Attributes:
        name: as users type it after `--switch`.
        snapshot: its value under edition `snapshot`.
        next: its value under edition `next`.
        meaning: one line on what changes.
        source: the section of the rules.
    """

    name: str
    snapshot: str
    next: str
    meaning: str
    source: str


SWITCHES: tuple[SwitchRow, ...] = (
    SwitchRow("elapsed", "zero", "real", "whether a time box ends a host retry", "retry 0.1, 4.4"),
    SwitchRow("strict_missing", "gives-up", "skips", "a missing property inside a function", "retry 0.1, 3.3"),
    SwitchRow("is_idempotent_property", "supplied", "absent", "the property `is-idempotent`", "retry 2.2"),
    SwitchRow("trap_retry", "some", "none", "whether traps are put to the policies", "retry 0.1, site 19"),
    SwitchRow("resolve_error_channel", "trap", "value", "how a failed policy resolution is told", "retry 0.1"),
    SwitchRow("saga", "rewinds", "asks", "whether a saga retry asks the host for a decision", "retry 6.1, host 1.9"),
    SwitchRow("manifest_versions", "1.5-1.6", "1.5-2.0", "accepted manifest versions", "manifest-format 0"),
    SwitchRow("template_in_server_auth", "literal", "substituted", "`{{ }}` in server auth", "manifest-format 3"),
    SwitchRow("template_reached_twice", "applied", "refused", "a template reached by two paths", "manifest-format 4"),
    SwitchRow("secret_default_variable", "error", "error-if-created", "an unset variable", "manifest-format 4"),
    SwitchRow("default_tools", "none", "bash", "tools bound to every agent type", "manifest-format 8"),
    SwitchRow("tool_middleware", "absent", "exists", "middleware, bindings, releases", "middleware 2.4"),
    SwitchRow("tool_dispatch", "fails", "runs", "whether an admitted tool call runs", "host 2.10"),
    SwitchRow("tool_code_authority", "initial-card", "caller-wallet", "whose cards tool code uses", "cards 5.3"),
    SwitchRow("tool_argument_kinds", "by-text", "by-definition", "how tool arguments are sorted", "middleware 9.26"),
    SwitchRow("tool_owner_component", "implementing", "both", "the component in a tool's owner", "middleware 9.3"),
    SwitchRow("optional_wrapping", "no", "yes", "optional inputs wrapped in `option`", "middleware 0.3"),
    SwitchRow("wide_int_json", "number", "string", "64-bit integers in JSON", "middleware 0.3"),
    SwitchRow("duration_json", "iso-text", "object", "durations in JSON", "middleware 0.3"),
    SwitchRow("derive_from_template", "refused", "own-wallet", "a template as parent of derive", "cards Q9"),
    SwitchRow("install_mismatch", "not-permitted", "own-case", "how a recipient mismatch is told", "cards Q10"),
    SwitchRow("zero_lifespan", "accepted", "refused", "a lifespan of `PT0S`", "cards Q11, L2"),
    SwitchRow("scope_expiry", "none", "earliest-root", "the expiry a scope card shows", "cards Q12"),
    SwitchRow("scope_in_wallet_list", "always", "with-inspect", "the scope card in `self-wallet`", "cards Q13"),
    SwitchRow("card_classes", "34", "38", "the permission classes", "cards 2.4, Q15"),
    SwitchRow("external_tool_owner", "absent", "exists", "the holder of tools outside agents", "cards Q27, Q28"),
    SwitchRow("discovery", "ungated", "visible", "what tool discovery shows", "host Q-15"),
)
"""The rows of questions 4, in its order. A switch may be set apart from its edition."""

_BY_NAME: Mapping[str, SwitchRow] = {row.name: row for row in SWITCHES}


@dataclass(frozen=True, slots=True)
class Rules:
    """An edition and the switches set apart from it.

    Attributes:
        edition: the base.
        overrides: sorted pairs of switch name and value that differ from the edition's own.
    """

    edition: Edition = Edition.NEXT
    overrides: tuple[tuple[str, str], ...] = field(default=())

    @classmethod
    def of(cls, edition: Edition, switches: Mapping[str, str] | None = None) -> Rules:
        """The rules of `edition` with `switches` set.

        Raises:
            KeyError: for a name that is no switch.
            ValueError: for a value that the switch does not take; the text lists the two it takes.
        """
        overrides = []
        for name, value in sorted((switches or {}).items()):
            row = _BY_NAME[name]
            if value not in (row.snapshot, row.next):
                raise ValueError(f"`{row.snapshot}` or `{row.next}`")
            if value != (row.snapshot if edition is Edition.SNAPSHOT else row.next):
                overrides.append((name, value))
        return cls(edition, tuple(overrides))

    def value(self, switch: str) -> str:
        """The value in force of a switch of `SWITCHES`."""
        for name, value in self.overrides:
            if name == switch:
                return value
        row = _BY_NAME[switch]
        return row.snapshot if self.edition is Edition.SNAPSHOT else row.next

    def is_next(self, switch: str) -> bool:
        """Whether the switch has the value that edition `next` gives it."""
        return self.value(switch) == _BY_NAME[switch].next

    @property
    def label(self) -> str:
        """The edition as answers print it, with the switches set apart.

        >>> Rules.of(Edition.NEXT, {"elapsed": "zero"}).label
        'next (elapsed=zero)'
        """
        extra = ", ".join(f"{n}={v}" for n, v in self.overrides)
        return f"{self.edition.value} ({extra})" if extra else self.edition.value


NEXT = Rules(Edition.NEXT)
SNAPSHOT = Rules(Edition.SNAPSHOT)
