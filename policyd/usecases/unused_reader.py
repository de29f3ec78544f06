"""Reads a log of decisions against the holders of a deployment: each line decided by the exact evaluator.

Source: cards 5.2; host 0.2, 2.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from policyd.core.admission.usage import Usage, UsageIndex
from policyd.core.edition import Rules
from policyd.core.grants import AgentContext, Level, Recipient, Target
from policyd.core.operations import Asker, Catalogue, Combine, Ports, Refusal, Unclear, asked_by
from policyd.findings import Finding, InputError, Severity, Span
from policyd.syntax import GrantSyntaxError, parse_target
from policyd.syntax.mistakes import shown
from policyd.syntax.recipients import RecipientRefused, parse_recipient
from policyd.usecases.decision_log import BadLine, LogLine
from policyd.usecases.deployments import agent_name
from policyd.usecases.holders import UNNAMED_ACCOUNT, UNNAMED_COMPONENT, Parties, Party, written_target
from policyd.usecases.operation_answer import demand_arguments
from policyd.usecases.operation_listing import operation_named
from policyd.usecases.unused_seen import (
    MAX_CALLS,
    MAX_KEPT_CHARS,
    MAX_TOLD,
    Drift,
    Seen,
    SeenHolder,
    SeenLog,
    Window,
    count_name,
    cut,
)

MAX_KEPT = 20_000
"""So many different calls are kept decided; more are decided again when they come back."""

MAX_INDEXES = 1_024
"""So many agents' surfaces are kept ready."""


@dataclass(frozen=True, slots=True)
class _Decided:
    """One call, decided: each target with its text and usage; `is_whole` if all of them are needed."""

    parts: tuple[tuple[str, Usage], ...]
    is_whole: bool


class _Unclear(Exception):  # noqa: N818 - what the operation is
    pass


class Reader:
    """Reads lines of a log against the parties of a deployment."""

    def __init__(
        self,
        parties: Parties,
        window: Window,
        rules: Rules,
        catalogue: Catalogue,
        ports: Ports,
        only: str = "",
        name: str = "log",
    ) -> None:
        """Nothing is seen yet; with `only`, an agent type or id, lines of others are passed over; `name`: the log's."""
        self._only, self._name = only, name
        self.seen = SeenLog()
        self._parties, self._window, self._rules = parties, window, rules
        self._catalogue, self._ports = catalogue, ports
        self._decided: OrderedDict[object, _Decided] = OrderedDict()
        self._indexes: OrderedDict[tuple[str, str | None], UsageIndex] = OrderedDict()
        self._named: dict[tuple[str, str], tuple[Party, str | None] | str] = {}

    def read(self, lines: Iterable[LogLine | BadLine]) -> SeenLog:
        """What all the lines say.

        Raises:
            InputError: if there are lines, and none of them is understood.
        """
        seen = self.seen
        for line in lines:
            seen.lines += 1
            if isinstance(line, BadLine):
                self._bad(line)
            else:
                self._line(line)
        if seen.lines and seen.bad_count == seen.lines:
            raise InputError(
                *(Finding(b.code, Severity.ERROR, b.message, Span(self._name, b.number, 1)) for b in seen.bad)
            )
        return seen

    def _bad(self, line: BadLine) -> None:
        self.seen.bad_count += 1
        if len(self.seen.bad) < MAX_TOLD:
            self.seen.bad.append(line)

    def _line(self, line: LogLine) -> None:
        seen = self.seen
        seen.ignored += line.ignored
        seen.first = line.time if seen.first is None else min(seen.first, line.time)
        seen.last = line.time if seen.last is None else max(seen.last, line.time)
        if not self._window.start <= line.time <= self._window.end:
            seen.outside += 1
            return
        if line.edition and line.edition not in (self._rules.label, self._rules.edition.value):
            seen.other_edition += 1
            return
        if line.is_admitted is None:
            seen.without_answer += 1
            return
        try:
            found = self._holder(line)
            if found is None:
                return
            party, agent_id = found
            decided = self._decide(party, agent_id, line)
        except GrantSyntaxError as refusal:
            error = refusal.at(Span(self._name, line.number, 1))
            self._bad(BadLine(line.number, error.code, error.message))
            return
        except InputError as error:
            self._bad(BadLine(line.number, error.findings[0].code, error.findings[0].message))
            return
        except _Unclear:
            count_name(seen.unclear, line.operation)
            return
        self._record(party, line, decided)

    def _record(self, party: Party, line: LogLine, decided: _Decided) -> None:
        seen = self.seen
        seen.used += 1
        holder = seen.holders.setdefault(party.name, SeenHolder())
        holder.lines += 1
        holder.calls += line.count
        holder.first = line.time if holder.first is None else min(holder.first, line.time)
        holder.last = line.time if holder.last is None else max(holder.last, line.time)
        if not decided.parts:
            count_name(seen.ungated, line.operation)
            return
        is_admitted = all(usage.is_admitted for _, usage in decided.parts)
        if decided.is_whole and is_admitted is not line.is_admitted:
            seen.drift_count += 1
            if len(seen.drift) < MAX_TOLD:
                logged = "admitted" if line.is_admitted else "denied"
                asked = line.operation or decided.parts[0][0]
                seen.drift.append(Drift(line.number, cut(line.agent or line.holder), cut(asked), logged))
            return
        for text, usage in decided.parts:
            if usage.is_admitted and not line.is_admitted:
                continue  # asked for on the way to the target that was refused: nothing came of it
            self._note(holder, text, usage, line)

    def _note(self, holder: SeenHolder, text: str, usage: Usage, line: LogLine) -> None:
        for ref in (*usage.covering, *usage.stopping):
            grant = holder.grants.setdefault((ref.card, ref.bound, ref.index), Seen())
            grant.count += line.count
            grant.last = line.time if grant.last is None else max(grant.last, line.time)
        for ref in usage.needed:
            holder.grants.setdefault((ref.card, ref.bound, ref.index), Seen()).is_needed = True
        calls = holder.admitted if usage.is_admitted else holder.denied
        if text not in calls:
            if len(calls) >= MAX_CALLS or len(text) > MAX_KEPT_CHARS:
                holder.is_full = True
            else:
                calls[text] = None

    def _decide(self, party: Party, agent_id: str | None, line: LogLine) -> _Decided:
        asked = line.target or (line.operation, json.dumps(line.arguments, sort_keys=True))
        key = (party.name, agent_id, asked)
        found = self._decided.get(key)
        if found is not None:
            self._decided.move_to_end(key)
            return found
        context = party.context
        if context is not None and agent_id is not None:
            context = replace(context, agent_id=agent_id)
        targets, is_whole = self._targets(party, context, line)
        index = self._index(party, agent_id)
        parts = tuple((written_target(t, context).rstrip(), index.usage(t)) for t in targets)
        decided = _Decided(parts, is_whole)
        if len(asked if isinstance(asked, str) else asked[1]) <= MAX_KEPT_CHARS:
            self._decided[key] = decided
        if len(self._decided) > MAX_KEPT:
            self._decided.popitem(last=False)
        return decided

    def _targets(self, party: Party, context: AgentContext | None, line: LogLine) -> tuple[tuple[Target, ...], bool]:
        if line.target:
            target = parse_target(line.target, self._rules, slots=context is not None)
            return (target if context is None else target.filled(context),), True
        operation = operation_named(line.operation, self._catalogue, self._rules)
        if not operation.is_gated:
            return (), True
        demand_arguments(operation, line.arguments)
        if operation.is_unknown(self._rules):
            raise _Unclear
        asker = Asker(party.recipient.known[0] if party.recipient.level is not Level.ANY else "", context)
        asked = asked_by(operation, line.arguments, asker, self._ports, self._rules)
        if isinstance(asked, (Refusal, Unclear)):
            raise _Unclear
        return tuple(dict.fromkeys(a.target for a in asked)), operation.combine is not Combine.FILTER

    def _index(self, party: Party, agent_id: str | None) -> UsageIndex:
        key = (party.name, agent_id)
        found = self._indexes.get(key)
        if found is None:
            found = UsageIndex(party.surface(agent_id))
            if len(agent_id or "") <= MAX_KEPT_CHARS:
                self._indexes[key] = found
            if len(self._indexes) > MAX_INDEXES:
                self._indexes.popitem(last=False)
        return found

    def _holder(self, line: LogLine) -> tuple[Party, str | None] | None:
        """Whose line it is, and the agent; None, counted, where it is nobody's of this deployment."""
        key = (line.holder, line.agent)
        found = self._named.get(key)
        if found is None:
            found = self._find(*key)
            if len(self._named) < MAX_KEPT and len(line.holder) + len(line.agent) <= MAX_KEPT_CHARS:
                self._named[key] = found
        seen = self.seen
        if isinstance(found, str):
            match found:
                case "elsewhere":
                    seen.elsewhere += 1
                case "unreadable":
                    count_name(seen.unreadable, line.agent.partition("(")[0] or line.holder)
                case _:
                    count_name(seen.unknown, line.agent.partition("(")[0] or line.holder)
            return None
        party, _ = found
        if self._only and self._only not in (line.agent, party.name, party.name.partition("(")[0]):
            seen.others += 1
            return None
        if party.context is not None and not party.is_one and "(" not in line.agent:
            seen.type_only += 1
        return found

    def _find(self, holder: str, agent: str) -> tuple[Party, str | None] | str:
        type_name, agent_id = agent_name(agent) if agent else ("", None)
        recipient: Recipient | None = None
        if holder:
            try:
                recipient = parse_recipient(holder.strip(), rules=self._rules)
            except RecipientRefused as refusal:
                raise InputError.of("CARD060", f"{shown(holder)} is no holder: {refusal.why}") from None
            if recipient.level is Level.AGENT:
                if type_name and type_name != recipient.known[4]:
                    raise InputError.of("CARD060", f"{shown(agent)} is no agent of {shown(holder)}")
                type_name = recipient.known[4]
                if not self._is_here(recipient):
                    return "elsewhere"
        if not type_name:
            named = [p for p in self._parties.by_name.values() if recipient is not None and p.recipient == recipient]
            return (named[0], None) if named else "unknown"
        own = self._parties.by_name.get(agent_id or "")
        if own is not None:
            return own, None if own.is_one else agent_id
        if {agent_id, type_name} & set(self._parties.unreadable):
            return "unreadable"
        party = self._parties.by_name.get(type_name) or self._of_type(recipient)
        if party is None or not _is_component(party, recipient):
            return "unknown"
        return party, None if party.is_one else agent_id or f'{type_name}("any agent")'

    def _of_type(self, recipient: Recipient | None) -> Party | None:
        return next(
            (p for p in self._parties.by_name.values() if recipient is not None and p.recipient == recipient), None
        )

    def _is_here(self, recipient: Recipient) -> bool:
        """Whether a holder is of the account, application and environment of the deployment; unknown ones fit."""
        places = {p.context.segments[:3] for p in self._parties.by_name.values() if p.context is not None}
        known = recipient.known
        return not places or any(
            account in (UNNAMED_ACCOUNT, known[0]) and (application, environment) == tuple(known[1:3])
            for account, application, environment in places
        )


def _is_component(party: Party, recipient: Recipient | None) -> bool:
    context = party.context
    if recipient is None or context is None:
        return True
    return context.component in (UNNAMED_COMPONENT, recipient.known[3])
