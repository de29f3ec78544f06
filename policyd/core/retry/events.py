"""What retry policies do not decide: answers to questions that are often taken for questions about policies.

Source: retry 2.3, 3.7, 4.5, 6.6; questions 3; sdk-facts 5.
"""

from __future__ import annotations

from enum import Enum

from policyd.core.edition import Rules


class Event(Enum):
    """What happened, in the words of `--event`."""

    APPLICATION_ERROR = "application-error"
    TRAP = "trap"
    CRASH_BETWEEN_RETRIES = "crash-between-retries"
    CRASH_BEFORE_RECORD = "crash-before-record"
    REPLAY = "replay"
    ATOMIC_REGION = "atomic-region"
    PENDING = "pending"


def asks_no_policy(event: Event, rules: Rules) -> bool:
    """Whether what happened is put to no policy at all, whatever the rules say."""
    match event:
        case Event.TRAP:
            return rules.is_next("trap_retry")
        case Event.APPLICATION_ERROR | Event.CRASH_BEFORE_RECORD | Event.REPLAY | Event.PENDING:
            return True
        case Event.CRASH_BETWEEN_RETRIES | Event.ATOMIC_REGION:
            return False


def event_answers(event: Event, rules: Rules, *, assumes_idempotence: bool = True) -> tuple[str, ...]:
    """What follows, a sentence each.

    Args:
        event: what happened.
        rules: the edition.
        assumes_idempotence: whether the agent assumes that remote writes can be repeated.
    """
    match event:
        case Event.APPLICATION_ERROR:
            return (
                "no policy is asked: an error that a method returns is a successful invocation for the host",
                "only an explicit schedule in the code repeats it",
            )
        case Event.TRAP:
            if rules.is_next("trap_retry"):
                return ("no policy is asked: in this edition traps are decided by the host alone",)
            return ("some traps are put to the policies: site `trap` decides",)
        case Event.CRASH_BETWEEN_RETRIES:
            return (
                "the count goes on where it was: the state of a sequence is kept in the log",
                "a wait that was recorded is continued, only its remaining time is waited",
            )
        case Event.CRASH_BEFORE_RECORD:
            if assumes_idempotence:
                return (
                    "the call can be made twice: it is repeated on recovery, because its end was not recorded",
                    "no policy is asked, `never` included: it governs only what follows a failure that was reported",
                )
            return (
                "the call is not repeated: the agent fails instead, because it does not assume idempotence",
                "no policy is asked: a policy governs only what follows a failure that was reported",
            )
        case Event.REPLAY:
            return (
                "the recorded result is returned: nothing is called, no permission is checked again, no retry is used",
            )
        case Event.ATOMIC_REGION:
            return (
                "not retried in place: the region is the unit, and on a retry everything in it runs again, completed"
                " calls included",
                "completed calls before the region are not repeated",
                "each call in the region has an idempotency key of its own, the same at each attempt; a platform that"
                " shares one key in the region may take a second, different call for a duplicate",
            )
        case Event.PENDING:
            return (
                "a call that waits is not refused: no card, no bound and no retry policy does that",
                "when it goes on cannot be told from policies",
            )
