"""The catalogue of host operations: what each is called, takes, asks for, and leaves in the log.

Source: host 0.2, 2; host appendix A.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from policyd.core.edition import Rules
from policyd.core.grants import PermissionClass
from policyd.core.operations.owners import ARGUMENTS, NAMES, OwnerHole
from policyd.core.operations.parameters import GENERATION, Parameter, ParameterKind

ALWAYS = "always"


class Side(Enum):
    """Where the targets are asked for."""

    AGENT = "agent"
    SERVICE = "service"


class Combine(Enum):
    """How several targets of one operation combine."""

    ALL = "all"
    FILTER = "filter"


class RecordClass(Enum):
    """What a denial leaves in the log of the agent (host 0.2)."""

    RECORDED = "recorded"
    FILTERED = "filtered"
    NOT_RECORDED = "not-recorded"
    RE_EVALUATED = "re-evaluated"
    UNGATED = "ungated"
    SERVICE = "service"
    CARRIER = "carrier"


class Generation(Enum):
    """The generation of the WASI interfaces that an agent uses."""

    P2 = "p2"
    P3 = "p3"


@dataclass(frozen=True, slots=True)
class Record:
    """The record class of an operation, which may depend on the generation.

    Attributes:
        p2: under WASI P2.
        p3: under WASI P3.
    """

    p2: RecordClass
    p3: RecordClass

    def of(self, generation: Generation | None) -> RecordClass | None:
        """The class under a generation; None where it depends on one that is not given."""
        if self.p2 is self.p3:
            return self.p2
        match generation:
            case Generation.P2:
                return self.p2
            case Generation.P3:
                return self.p3
            case None:
                return None


@dataclass(frozen=True, slots=True)
class Denial:
    """How a denial shows at each surface.

    Attributes:
        name: within the catalogue.
        surfaces: pairs of a surface (`wit`, `rust`, `typescript`, `moonbit`, `scala`, `rest`, `cli`) and what is seen.
        carries_target: the text contains the target that was refused.
    """

    name: str
    surfaces: tuple[tuple[str, str], ...]
    carries_target: bool = False


@dataclass(frozen=True, slots=True)
class TargetTemplate:
    """One target of an operation, with holes.

    Attributes:
        cls: the permission class.
        owner: whose thing it is.
        verb: a verb of the class, or `{verb}` where a statement decides.
        resource: text with parameters in braces.
        when: flags of which one must be given; empty for always.
        each: the parameter that is a list and asks once per item; empty if none.
        given: the optional parameter without which nothing is asked; empty if none.
        under: a switch; nothing is asked unless it has its `next` value.
        disguise: how a refusal of this target shows where that differs from the operation's (`404`, `409 CODE`).
    """

    cls: PermissionClass
    owner: OwnerHole
    verb: str
    resource: str
    when: tuple[str, ...] = ()
    each: str = ""
    given: str = ""
    under: str = ""
    disguise: str = ""

    @property
    def text(self) -> str:
        """The template as people write it."""
        return f"{self.cls.name}({self.owner.value}) : {self.verb} : {self.resource}"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation.

    Attributes:
        id: stable, such as `fs.open`.
        family: of which file.
        side: who asks for the targets.
        wit: imports behind it.
        sdk: pairs of a language and an entry point there.
        rest: endpoints or their operation ids.
        cli: commands on top.
        parameters: in reading order.
        targets: in the order in which they are asked.
        combine: whether all are needed, or each entry stays or goes by itself.
        denial: how a denial shows; None where nothing can be denied.
        record: what a denial leaves in the log.
        edition: `both`, or the only edition that has it.
        unknown_under: a switch; while it has its `next` value not all targets are published; `always` if never.
        fails_under: a switch; while it has its `snapshot` value an admitted call fails for want of a part.
        may_go_unasked: whether circumstances outside the cards decide that nothing is asked.
        effect: a verdict of its own besides the targets, empty if none.
        remarks: what else a person should know.
        source: section of the rules.
    """

    id: str
    family: str
    side: Side
    record: Record
    source: str
    wit: tuple[str, ...] = ()
    sdk: tuple[tuple[str, str], ...] = ()
    rest: tuple[str, ...] = ()
    cli: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    targets: tuple[TargetTemplate, ...] = ()
    combine: Combine = Combine.ALL
    denial: Denial | None = None
    edition: str = "both"
    unknown_under: str = ""
    fails_under: str = ""
    may_go_unasked: bool = False
    effect: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def is_gated(self) -> bool:
        """Whether any card can refuse it."""
        return bool(self.targets)

    @property
    def arguments(self) -> tuple[str, ...]:
        """Every argument that a question may give: of the parameters, of the owners, and the WASI generation."""
        owners = (t.owner for t in self.targets if t.owner is not OwnerHole.ENVIRONMENT or self.side is Side.SERVICE)
        names = [parameter.argument for parameter in self.parameters if parameter.kind is not ParameterKind.DATABASE]
        names += [name for owner in owners for name in ARGUMENTS.get(owner, ())]
        if any(parameter.kind is ParameterKind.RECIPIENT for parameter in self.parameters):
            names += NAMES
        if self.record.p2 is not self.record.p3:
            names.append(GENERATION)
        return tuple(dict.fromkeys(names))

    def is_unknown(self, rules: Rules) -> bool:
        """Whether not all of its targets are published under these rules."""
        return self.unknown_under == ALWAYS or (bool(self.unknown_under) and rules.is_next(self.unknown_under))

    def is_part_of(self, rules: Rules) -> bool:
        """Whether the edition of these rules has it."""
        return self.edition in ("both", rules.edition.value)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All operations, by id, in the order of the files."""

    operations: Mapping[str, Operation] = field(default_factory=dict)

    def named(self, id: str) -> Operation | None:
        """The operation of this id, or None."""
        return self.operations.get(id)

    def asking_for(self, cls: str, verb: str) -> tuple[Operation, ...]:
        """The operations that may ask for a class and a verb: the inverse index of host 5.2."""
        return tuple(
            operation
            for operation in self.operations.values()
            if any(t.cls.name == cls and t.verb in (verb, "{verb}") for t in operation.targets)
        )

    def search(self, word: str = "", cls: str = "") -> tuple[Operation, ...]:
        """The operations in which `word` occurs by name and that ask for `cls`; an empty text leaves it open."""
        low = word.lower()
        return tuple(
            operation
            for operation in self.operations.values()
            if low in _names(operation) and (not cls or any(t.cls.name == cls for t in operation.targets))
        )


def _names(operation: Operation) -> str:
    entry_points = (name for _, name in operation.sdk)
    parts = (operation.id, *operation.wit, *entry_points, *operation.rest, *operation.cli)
    return "\n".join(parts).lower()
