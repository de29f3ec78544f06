"""One invocation of a tool and its observers: what each sees, who owns what, what may never end.

Source: middleware 1.8, 2.2, 7.5; sdk-facts 8.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum


class OutputState(Enum):
    """How an output channel stands."""

    OPEN = "open"
    FINISHED = "finished"
    FAILED = "failed"


class Verb(Enum):
    """What happens; the value is the word of a sequence."""

    OBSERVE = "observe"
    WRITE = "write"
    FINISH = "finish"
    FAIL = "fail"
    CLOSE = "close"
    FINISH_FAILS = "finish-fails"
    SUCCEED = "succeed"
    RAISE = "raise"
    BAD_RESULT = "bad-result"
    UNDECODABLE = "undecodable"
    UNDECODABLE_PARAMETERS = "undecodable-parameters"
    PANIC = "panic"
    EXHAUST = "exhaust"
    CANCELLED = "cancelled"
    GET = "get"
    CANCEL = "cancel"
    DROP = "drop"
    DETACH = "detach"
    INVOKE_INWARD = "invoke-inward"
    FORWARD = "forward"


@dataclass(frozen=True, slots=True)
class Action:
    """One step of a sequence.

    Attributes:
        verb: what happens.
        subject: the observer, output, error or stream; empty where there is none.
    """

    verb: Verb
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Output:
    """One output of the call.

    Attributes:
        name: `stdout` or `stderr`.
        state: how it stands.
        is_explicit: whether the handler finished or failed it itself.
        is_read: whether the reader still holds its end.
        finishing_fails: whether finishing it fails.
    """

    name: str
    state: OutputState = OutputState.OPEN
    is_explicit: bool = False
    is_read: bool = True
    finishing_fails: bool = False


class ObserverState(Enum):
    """How an observer stands."""

    LIVE = "live"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Invocation:
    """A call under way or settled.

    Attributes:
        errors: names of declared errors.
        outputs: declared outputs.
        observers: name and state, in order of appearance.
        outcome: what the call came to; empty while it runs.
        is_returned: whether the handler has returned.
        is_cancelling: whether cancellation was asked for.
        is_detached: whether delivery of the result was ended.
        capabilities: what a delivered outcome carried.
        delivered: whether some observer has had the outcome.
        inward: calls inward that were admitted and run on.
        forwarded: streams that were forwarded.
        withheld: names of secrets that the caller may not hold.
    """

    errors: frozenset[str] = frozenset()
    outputs: tuple[Output, ...] = ()
    observers: tuple[tuple[str, ObserverState], ...] = (("caller", ObserverState.LIVE),)
    outcome: str = ""
    is_returned: bool = False
    is_cancelling: bool = False
    is_detached: bool = False
    capabilities: tuple[str, ...] = ()
    delivered: bool = False
    inward: int = 0
    forwarded: frozenset[str] = field(default=frozenset())
    withheld: frozenset[str] = field(default=frozenset())

    def observer(self, name: str) -> ObserverState | None:
        """The state of an observer, None where there is none of that name."""
        return next((state for own, state in self.observers if own == name), None)

    def output(self, name: str) -> Output | None:
        """A declared output."""
        return next((output for output in self.outputs if output.name == name), None)


@dataclass(frozen=True, slots=True)
class Seen:
    """What one step comes to: a sentence, and whether it is a refusal or a trap."""

    words: str
    is_refused: bool = False


def act(call: Invocation, action: Action) -> tuple[Invocation, Seen]:
    """The call after one step, and what is seen of it."""
    match action.verb:
        case Verb.GET | Verb.OBSERVE | Verb.CANCEL | Verb.DROP | Verb.DETACH:
            return _observed(call, action)
        case Verb.WRITE | Verb.FINISH | Verb.FAIL | Verb.CLOSE | Verb.FINISH_FAILS:
            return _on_output(call, action)
        case Verb.INVOKE_INWARD | Verb.FORWARD:
            return _inward(call, action)
        case _:
            return _settled(call, action)


def _with_observer(call: Invocation, name: str, state: ObserverState) -> Invocation:
    kept = tuple((own, state if own == name else old) for own, old in call.observers)
    return replace(call, observers=kept if call.observer(name) is not None else (*kept, (name, state)))


def _observed(call: Invocation, action: Action) -> tuple[Invocation, Seen]:
    name = action.subject or "caller"
    state = call.observer(name)
    if action.verb is Verb.OBSERVE:
        if state is ObserverState.LIVE:
            return call, Seen(f"{name} observes the call already")
        return _with_observer(call, name, ObserverState.LIVE), Seen(f"{name} shares the one observation of the call")
    if state is not ObserverState.LIVE:
        return call, Seen(f"{name} holds no observer: nothing happens", is_refused=True)
    match action.verb:
        case Verb.GET:
            return _get(call, name)
        case Verb.CANCEL:
            if call.outcome:
                return call, Seen("the call has settled: cancelling changes nothing")
            words = "cancellation is requested; the call may still settle otherwise"
            return replace(call, is_cancelling=True), Seen(words)
        case Verb.DROP:
            words = f"{name} releases its observation; the call goes on"
            return _with_observer(call, name, ObserverState.DROPPED), Seen(words)
        case _:
            words = "delivery of the result has ended for good; capabilities that were delivered stay with the caller"
            return replace(call, is_detached=True), Seen(words)


def _get(call: Invocation, name: str) -> tuple[Invocation, Seen]:
    if call.is_detached:
        return call, Seen(f"{name} sees `protocol-error`: the result was detached; this is no cancellation")
    if call.outcome:
        again = " (the cached outcome)" if call.delivered else ""
        return replace(call, delivered=True), Seen(f"{name} sees {call.outcome}{again}")
    if call.is_cancelling:
        return call, Seen(f"{name} waits: it sees `cancelled` if the request is honoured, else the outcome")
    return call, Seen(f"{name} waits: the call has not settled")


def _on_output(call: Invocation, action: Action) -> tuple[Invocation, Seen]:
    found = call.output(action.subject)
    if found is None:
        return call, Seen(f"`{action.subject}` is not declared", is_refused=True)

    def changed(output: Output, words: str) -> tuple[Invocation, Seen]:
        outputs = tuple(output if own.name == output.name else own for own in call.outputs)
        return replace(call, outputs=outputs), Seen(words)

    match action.verb:
        case Verb.CLOSE:
            words = f"the reader of {found.name} is gone; its sibling and the call go on"
            return changed(replace(found, is_read=False), words)
        case Verb.FINISH_FAILS:
            if found.state is OutputState.FINISHED:
                words = f"finishing {found.name} fails: its reader sees the failure, the outcome stands"
                return changed(replace(found, state=OutputState.FAILED, finishing_fails=True), words)
            return changed(replace(found, finishing_fails=True), f"finishing {found.name} will fail")
        case Verb.WRITE:
            if call.is_returned or found.state is not OutputState.OPEN:
                return call, Seen(f"{found.name} is {found.state.value}: nothing can be written", is_refused=True)
            lost = "" if found.is_read else ", which nobody reads"
            return call, Seen(f"written to {found.name}{lost}")
        case _:
            if found.state is not OutputState.OPEN:
                return call, Seen(f"{found.name} is {found.state.value} already: that wins", is_refused=True)
            if call.is_returned:
                words = f"the handler has ended without {found.name}: nobody is left who could do that"
                return call, Seen(words, is_refused=True)
            state = OutputState.FINISHED if action.verb is Verb.FINISH else OutputState.FAILED
            if found.finishing_fails:
                state = OutputState.FAILED
            words = f"{found.name} is {state.value} by the handler, whatever the outcome will be"
            return changed(replace(found, state=state, is_explicit=True), words)


def _inward(call: Invocation, action: Action) -> tuple[Invocation, Seen]:
    if call.is_returned:
        words = "the handler has returned: the handle admits nothing more, the task traps, the outcome stands"
        return call, Seen(words, is_refused=True)
    if action.verb is Verb.FORWARD:
        if action.subject in call.forwarded:
            words = f"`{action.subject}` was forwarded before: streams and cards are forwarded once"
            return call, Seen(words, is_refused=True)
        kept = call.forwarded | {action.subject}
        return replace(call, forwarded=kept), Seen(f"`{action.subject}` now belongs to the call inward")
    return replace(call, inward=call.inward + 1), Seen("a call inward is admitted")


def _settled(call: Invocation, action: Action) -> tuple[Invocation, Seen]:
    if call.outcome:
        return call, Seen("the call has settled already", is_refused=True)
    if action.verb is Verb.CANCELLED and not call.is_cancelling:
        return call, Seen("nobody has asked for cancellation: nothing happens", is_refused=True)
    outcome, finishes = _outcome_of(call, action)
    outputs = tuple(_finished(output) if finishes else output for output in call.outputs)
    if action.verb is Verb.PANIC:
        outputs = tuple(
            replace(output, state=OutputState.FAILED) if output.state is OutputState.OPEN else output
            for output in call.outputs
        )
    words = f"the call settles: {outcome}"
    told = [
        f"{output.name} {output.state.value}" + (" by the handler" if output.is_explicit else "") for output in outputs
    ]
    if told:
        words += "; " + ", ".join(told)
    if call.inward:
        words += f"; {call.inward} admitted call{'s' if call.inward > 1 else ''} inward run on"
    carried = () if outcome.startswith(_DENIED) else _carried(action)
    return replace(call, outcome=outcome, outputs=outputs, is_returned=True, capabilities=carried), Seen(words)


_DENIED = "`Denied`"


def _carried(action: Action) -> tuple[str, ...]:
    """What a result or the payload of an error carries; the first word of an error is its name."""
    parts = tuple(part for part in action.subject.split(",") if part)
    match action.verb:
        case Verb.SUCCEED:
            return parts
        case Verb.RAISE:
            return parts[1:]
        case _:
            return ()


def _finished(output: Output) -> Output:
    """Outputs are finished one by one, unless the handler has done so."""
    if output.state is not OutputState.OPEN:
        return output
    return replace(output, state=OutputState.FAILED if output.finishing_fails else OutputState.FINISHED)


def _outcome_of(call: Invocation, action: Action) -> tuple[str, bool]:
    """What the call came to, and whether its outputs are then finished."""
    held_back = next((name for name in _carried(action) if name in call.withheld), None)
    name = action.subject.partition(",")[0]
    match action.verb:
        case Verb.RAISE if name not in call.errors:
            return f"`InvalidResult`: the error `{name}` is not declared", True
        case Verb.SUCCEED | Verb.RAISE if held_back is not None:
            return f"{_DENIED}: the caller may not hold the secret `{held_back}` in it", True
        case Verb.SUCCEED:
            return "success", True
        case Verb.RAISE:
            return f"custom error `{name}`", True
        case Verb.BAD_RESULT:
            return "`InvalidResult`: the result is missing, extra, or not what was declared", True
        case Verb.UNDECODABLE:
            return "`protocol-error`: the payload cannot be decoded at all", True
        case Verb.UNDECODABLE_PARAMETERS:
            return "`InvalidInput`: the constructor cannot decode the installation parameters", False
        case Verb.PANIC:
            return "a trap, which the caller sees as an internal error, never as `InvalidResult`", False
        case Verb.CANCELLED:
            return "`cancelled`: the request was honoured", False
        case _:
            return "`resource-exhausted`", False


def left_over(call: Invocation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is still owned by whom, and what may never end.

    >>> left_over(Invocation())[1]
    ('the call has not settled: `caller` may wait for ever',)
    """
    owned = [f"capability {name}: the caller" for name in call.capabilities if call.delivered]
    owned += [f"capability {name}: the undelivered outcome" for name in call.capabilities if not call.delivered]
    owned += [f"{output.name}: its reader, to the end" for output in call.outputs if output.is_read]
    open_ends: list[str] = []
    live = [name for name, state in call.observers if state is ObserverState.LIVE]
    if not call.outcome:
        who = ", ".join(f"`{name}`" for name in live) or "nobody"
        verb = "may wait for ever" if live else "waits, and it may run for ever"
        if live and call.is_detached:
            verb = "gets nothing of it any more, and it can keep its observer for ever"
        open_ends.append(f"the call has not settled: {who} {verb}")
    open_ends += [
        f"{output.name} was neither finished nor failed" for output in call.outputs if output.state is OutputState.OPEN
    ]
    if call.is_returned and call.inward:
        open_ends.append("calls inward that were admitted: nobody cancels them")
    return tuple(owned), tuple(open_ends)
