"""What can stand where a grant is being written.

The line is read as text: while a grant is typed the document is often none that can be read.

Source: cards 2.1, 2.2, 3, 7.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lsprotocol.types import CompletionItem, CompletionItemKind

from policyd.core.application import AgentType, Deployment
from policyd.core.edition import Rules
from policyd.core.grants import Slot
from policyd.core.grants.classes import PermissionClass, ResourceKind, class_named, classes_of
from policyd.core.grants.owner import OwnerKind
from policyd.syntax import Form, parse_grants
from policyd.syntax.mistakes import GrantSyntaxError

MAX_LINE = 4_096
"""Longer lines are not completed."""

MAX_LINES_UP = 2_000
"""How far up the key of the list is looked for."""

_ITEM = re.compile(r"""\s*-\s+(["']?)(?P<typed>.*)""")
_KEY = re.compile(r"""(?P<indent>\s*)["']?(?P<key>[A-Za-z]+)["']?\s*:""")
_SHARED = (
    (Slot.ACCOUNT, "the account of the agent's component"),
    (Slot.APP, "the application of the agent's component"),
    (Slot.ENV, "the environment of the agent's component"),
    (Slot.COMPONENT, "the component of the agent"),
    (Slot.AGENT, "the agent itself"),
)
_RECIPIENTS = (
    ("?agent", "the agent type whose card it is"),
    ("?env", "everyone in the environment"),
    ("?account", "everyone in the account"),
    ("*", "every holder"),
)


@dataclass(frozen=True, slots=True)
class Typed:
    """A grant that is being written.

    Attributes:
        text: from its first character to the pointer.
    """

    text: str

    @property
    def part(self) -> tuple[str, str]:
        """Which part the pointer is in (`class`, `owner`, `recipient`, `verb`, `resource`), and what is typed of it."""
        head, at, rest = self.text.partition("@")
        if not at:
            name, bracket, owner = head.partition("(")
            if not bracket:
                return "class", name
            return ("owner", owner) if ")" not in owner else ("", "")
        parts = rest.split(" : ", 2)
        names = ("recipient", "verb", "resource")
        return names[len(parts) - 1], parts[-1].lstrip()

    @property
    def class_name(self) -> str:
        """The class, as far as it is typed."""
        return self.text.partition("(")[0].strip()

    @property
    def verb(self) -> str:
        """The verb, empty where the pointer is before its end."""
        parts = self.text.partition("@")[2].split(" : ", 2)
        return parts[1].strip() if len(parts) > 1 else ""


def typed_at(lines: Sequence[str], line: int, column: int) -> Typed | None:
    """The grant under the pointer; None where the line is no item of a card's list.

    Args:
        lines: of the document.
        line: from 0.
        column: in characters, from 0.
    """
    if not 0 <= line < len(lines) or len(lines[line]) > MAX_LINE:
        return None
    match = _ITEM.fullmatch(lines[line][:column])
    if match is None or not _is_in_card(lines, line):
        return None
    return Typed(match["typed"])


def _is_in_card(lines: Sequence[str], line: int) -> bool:
    """Whether the keys around a line are `initialCard`, a bound and a sign, innermost last."""
    indent = len(lines[line]) - len(lines[line].lstrip())
    around: list[str] = []
    for number in range(line - 1, max(-1, line - MAX_LINES_UP), -1):
        match = _KEY.match(lines[number])
        if match is None or lines[number].lstrip().startswith(("-", "#")):
            continue
        depth = len(match["indent"])
        if depth < indent or (depth == indent and not around):
            around.append(match["key"])
            indent = depth
            if len(around) == 3 or depth == 0:
                break
    return (
        around[:1] in (["positive"], ["negative"])
        and around[1:2] in (["lowerBound"], ["upperBound"])
        and around[2:3] == ["initialCard"]
    )


def completions(typed: Typed, deployments: Iterable[Deployment], rules: Rules) -> list[CompletionItem]:
    """What can come next.

    Args:
        typed: the grant so far.
        deployments: those of the manifest, for the names that it knows.
        rules: the edition.
    """
    part, _ = typed.part
    cls = class_named(typed.class_name, rules)
    match part:
        case "class":
            return [_class_item(known) for known in classes_of(rules)]
        case "owner" if cls is not None:
            return list(_items(_owners(cls, list(deployments)), CompletionItemKind.Reference))
        case "recipient":
            return list(_items(dict(_RECIPIENTS), CompletionItemKind.Interface))
        case "verb" if cls is not None:
            verbs = dict.fromkeys(cls.verbs, f"a verb of `{cls.name}`") | {"*": "every verb of the class"}
            return list(_items(verbs, CompletionItemKind.Function))
        case "resource" if cls is not None:
            head = typed.text[: len(typed.text) - len(typed.part[1])]
            found = _resources(cls, list(deployments))
            fitting = {text: words for text, words in found.items() if _is_grant(head + text, rules)}
            return list(_items(fitting, CompletionItemKind.Value))
        case _:
            return []


def _class_item(cls: PermissionClass) -> CompletionItem:
    slot = _slot_of(cls.owner)
    text = f"{cls.name}({slot}) @ ?agent : "
    return CompletionItem(
        cls.name,
        kind=CompletionItemKind.Class,
        detail=f"verbs: {', '.join(cls.verbs)}",
        insert_text=text,
        filter_text=cls.name,
    )


def _slot_of(kind: OwnerKind) -> str:
    return {
        OwnerKind.EMPTY: "",
        OwnerKind.ACCOUNT: "?account",
        OwnerKind.APPLICATION: "?app",
        OwnerKind.ENVIRONMENT: "?env",
        OwnerKind.COMPONENT: "?component",
        OwnerKind.AGENT: "?agent",
        OwnerKind.TOOL: "?env/*/*",
    }[kind]


def _items(texts: Mapping[str, str], kind: CompletionItemKind) -> Iterator[CompletionItem]:
    for number, (text, detail) in enumerate(texts.items()):
        yield CompletionItem(text, kind=kind, detail=detail, sort_text=f"{number:05}")


def _owners(cls: PermissionClass, deployments: Sequence[Deployment]) -> dict[str, str]:
    depth = cls.owner.depth
    found: dict[str, str] = {}
    for slot, words in reversed(_SHARED):
        if slot.depth <= depth and not (slot is Slot.AGENT and cls.owner is OwnerKind.TOOL):
            found["/".join((slot.value, *("*" for _ in range(depth - slot.depth))))] = words
    if cls.owner is OwnerKind.AGENT:
        for agent in _agents(deployments):
            found[f"?component/{agent.name}(*)"] = f"every ordinary agent of type `{agent.name}`, of this component"
            if agent.component:
                found[f"?env/{agent.component}/{agent.name}(*)"] = f"every ordinary agent of type `{agent.name}`"
    if cls.owner is OwnerKind.TOOL:
        for tool in dict.fromkeys(tool.name for agent in _agents(deployments) for tool in agent.tools):
            found[f"?component/{tool}"] = f"the tool `{tool}`, where this component provides it"
    return found


def _resources(cls: PermissionClass, deployments: Sequence[Deployment]) -> dict[str, str]:
    found: dict[str, str] = {}
    match cls.resource:
        case ResourceKind.KEY if cls.name == "secret":
            found |= {place.name: "a secret of the manifest" for d in deployments for place in d.secrets}
        case ResourceKind.KEY if cls.name == "config":
            found |= {place.name: "configuration of the manifest" for a in _agents(deployments) for place in a.config}
        case ResourceKind.VARIABLE:
            found |= {place.name: "a variable of the manifest" for a in _agents(deployments) for place in a.env}
        case ResourceKind.FILES:
            found |= {"/**": "every path", "/": "the root folder alone"}
        case ResourceKind.NETWORK:
            found |= {"example.com:443": "one host and port", "*.example.com:443": "hosts below, one label deep"}
        case ResourceKind.STORE_KEY:
            found |= {"store.*": "keys of one segment in `store`", "*.**": "every key of every store"}
        case ResourceKind.TABLE:
            found |= {"*.*.*": "every table", "database.schema.table": "one table"}
        case ResourceKind.INITIAL_FILES:
            found |= {"/**": "every path"}
        case ResourceKind.APPLICATION:
            found |= {d.application: "the application of the manifest" for d in deployments if d.application}
        case _:
            pass
    return found | {"*": "all of it", "": "what this verb asks for without a resource"}


def _is_grant(text: str, rules: Rules) -> bool:
    try:
        return bool(parse_grants(text, Form.MANIFEST, rules))
    except GrantSyntaxError:
        return False


def _agents(deployments: Sequence[Deployment]) -> Iterator[AgentType]:
    seen: set[str] = set()
    for deployment in deployments:
        for agent in deployment.agents:
            if agent.name not in seen:
                seen.add(agent.name)
                yield agent
