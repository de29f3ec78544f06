"""What can be wrong with a policy, a predicate or a duration as written: one label, one code, one place.

Source: retry 1.10, 7.3.
"""

from __future__ import annotations

from enum import Enum

from policyd.findings import Finding, InputError, PolicydError, Severity, Span

Path = tuple[str | int, ...]
"""A place in a document: member names and array positions, the root first."""


class Label(Enum):
    """The conditions of retry 1.10 and 7.3, each with the code that we tell it by."""

    POLICY_KIND = ("E-POL-KIND", "RETRY101")
    POLICY_SHAPE = ("E-POL-SHAPE", "RETRY102")
    PREDICATE_KIND = ("E-PRED-KIND", "RETRY103")
    PREDICATE_SHAPE = ("E-PRED-SHAPE", "RETRY104")
    PAIR = ("E-PAIR", "RETRY105")
    PAYLOAD = ("E-PAYLOAD", "RETRY106")
    VALUE = ("E-VALUE", "RETRY107")
    DURATION_TEXT = ("E-DUR-STRING", "RETRY108")
    DURATION_SHAPE = ("E-DUR-SHAPE", "RETRY109")
    UNSIGNED = ("E-U32", "RETRY110")
    EXISTS = ("E-EXISTS", "RETRY111")
    RULE_FIELD = ("E-RULE-FIELD", "RETRY112")
    RULE_DUPLICATE_SOURCE = ("E-RULE-DUP-SOURCE", "RETRY113")
    RULE_DUPLICATE_NAME = ("E-RULE-DUP-NAME", "RETRY114")
    NAME_TAKEN = ("E-NAME-TAKEN", "RETRY115")
    FACTOR_NOT_FINITE = ("E-FACTOR-NONFINITE", "RETRY116")
    EXPONENTIAL_FACTOR = ("E-EXP-FACTOR", "RETRY117")
    JITTER_FACTOR = ("E-JITTER-FACTOR", "RETRY118")
    NODES_EMPTY = ("E-WIT-EMPTY", "RETRY119")
    NODES_INDEX = ("E-WIT-INDEX", "RETRY120")
    NODES_CYCLE = ("E-WIT-CYCLE", "RETRY121")
    NODES_TOO_COMPLEX = ("E-WIT-TOO-COMPLEX", "RETRY122")
    NODES_SHAPE = ("node list that is not one", "RETRY123")
    API_SHAPE = ("API form that is not one", "RETRY124")
    TOO_DEEP = ("tree beyond our bounds", "RETRY125")
    STATE_SHAPE = ("stored state that is not one", "RETRY126")
    ADDRESS = ("database address that is not a URL", "RETRY127")
    YAML = ("retry YAML that cannot be read", "RETRY128")
    GLOB_EFFORT = ("glob beyond our bounds", "RETRY129")
    NAME_UNGRANTABLE = ("W-NAME-UNGRANTABLE", "RETRY130")
    CLAMP_RANGE = ("E-CLAMP-RANGE", "RETRY008")

    @property
    def text(self) -> str:
        """The label as the rules of the platform's document spell it."""
        return self.value[0]

    @property
    def code(self) -> str:
        """The code that findings carry."""
        return self.value[1]


def path_text(path: Path) -> str:
    """A place as text, with `$` for the whole document.

    >>> path_text(("union", 0, "countBox"))
    '$.union[0].countBox'
    """
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


class RetryFormError(InputError):
    """A policy, predicate, duration, state or list of nodes that cannot be read.

    Attributes:
        label: which condition of retry 1.10 it is.
        path: where in the document.
    """

    label: Label
    path: Path

    @classmethod
    def at(cls, label: Label, path: Path, message: str, help: str = "") -> RetryFormError:
        """The error `label` at `path`, with one finding."""
        span = Span("retry", path=path_text(path))
        error = cls(Finding(label.code, Severity.ERROR, f"{message} at `{path_text(path)}`", span, help))
        error.label, error.path = label, path
        return error


class GlobEffortError(PolicydError):
    """A glob and a text whose comparison takes more work than we are willing to spend."""

    @classmethod
    def of(cls, pattern: str) -> GlobEffortError:
        """The error for `pattern`, shortened for the message."""
        message = f"matching the glob `{pattern[:40]}` takes too many rounds"
        return cls(Finding(Label.GLOB_EFFORT.code, Severity.ERROR, message, None, "shorten the pattern or the text"))
