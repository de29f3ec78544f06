"""Answers from the decision tables of reflection, with their reasons.

Source: middleware 5.
"""

from __future__ import annotations

from policyd.core.tools.reflection import (
    APPROACHES,
    BY_WORDS,
    FACTS,
    IDENTITIES,
    MOVES,
    QUESTIONS,
    Approach,
    Knowledge,
    fitting,
    impossible_after,
    question,
    unchecked_after,
)
from policyd.core.tools.reflection_cases import KNOWLEDGE
from policyd.findings import InputError, nearest

KEYS = (*(row.key for row in QUESTIONS), *(row.key for row in KNOWLEDGE), *(fact.key for fact in FACTS))
"""Everything that can be asked for."""


def approach_of(word: str) -> Approach:
    """The approach that a word names.

    Raises:
        InputError: CHAIN050, for another word.
    """
    for approach in Approach:
        if approach.value == word:
            return approach
    known = ", ".join(f"`{approach.value}`" for approach in Approach)
    raise InputError.of("CHAIN050", f"no approach is called `{word}`", None, f"approaches are {known}")


def answer_question(key: str, approach: Approach | None) -> dict[str, object]:
    """One row: for one approach, or for all of them.

    Raises:
        InputError: CHAIN050, for a key that is in no table.
    """
    row = question(key)
    if row is not None:
        cells = {a: row.cell(a) for a in Approach if approach in (None, a)}
        return {
            "key": row.key,
            "question": row.words,
            "answers": [
                {"client": a.value, "by": cell.by.value, "who": BY_WORDS[cell.by], "words": cell.words}
                for a, cell in cells.items()
            ],
            "host": row.host,
        }
    case = next((case for case in KNOWLEDGE if case.key.lower() == key.lower()), None)
    if case is not None:
        clients = (() if case.approach is None else (case.approach,)) + case.others
        answer: dict[str, object] = {
            "key": case.key,
            "client": ", ".join(client.value for client in clients) or "any",
            "knows": case.knows,
            "question": case.question,
            "validatedBy": case.by,
        }
        if approach is not None and not case.is_about(approach):
            answer["remark"] = f"the row is about other clients than {approach.value}"
        return answer
    fact = next((fact for fact in FACTS if fact.key == key.lower()), None)
    if fact is not None:
        return {"key": fact.key, "rule": fact.words}
    near = nearest(key, KEYS)
    help = f"did you mean `{near}`?" if near else "see `policyd reflect --list`"
    raise InputError.of("CHAIN050", f"no question `{key}`", None, help)


def approach_summary(approach: Approach) -> dict[str, object]:
    """Everything about one approach: its rows, and what it can do with each identity."""
    row = next(row for row in APPROACHES if row.approach is approach)
    index = list(Approach).index(approach)
    return {
        "client": approach.value,
        "schemasFrom": row.source,
        "validates": row.validates,
        "reflection": row.is_reflection,
        "fits": row.fits,
        "questions": [
            {"key": q.key, "question": q.words, "by": q.cell(approach).by.value, "words": q.cell(approach).words}
            for q in QUESTIONS
        ],
        "identities": {identity.value: words[index] for identity, words in IDENTITIES.items()},
        "moves": {to.value: words for (start, to), words in MOVES.items() if start is approach},
    }


def chosen(words: list[str]) -> dict[str, object]:
    """The approach that fits what a caller knows.

    Raises:
        InputError: CHAIN050, for a word that names no knowledge.
    """
    names = {item.value: item for item in Knowledge}
    unknown = next((word for word in words if word not in names), None)
    if unknown is not None:
        raise InputError.of("CHAIN050", f"`{unknown}` is nothing to know", None, "known: " + ", ".join(names))
    approach, why = fitting(frozenset(names[word] for word in words))
    return {"client": approach.value, "because": why}


def moved(start: Approach, to: Approach) -> dict[str, object]:
    """What is lost by moving from one approach to another."""
    answer: dict[str, object] = {"from": start.value, "to": to.value, "lost": MOVES.get((start, to), "nothing changes")}
    rows = [
        {"key": row.key, "question": row.words, "by": row.cell(to).by.value, "words": row.cell(to).words}
        for row in unchecked_after(start, to)
    ]
    if rows:
        answer["noLongerChecked"] = rows
    gone = [identity.value for identity in impossible_after(start, to)]
    if gone:
        answer["noLongerPossible"] = dict.fromkeys(gone, "no")
    return answer


def listed() -> list[str]:
    """All keys with their questions, one a line."""
    return [
        *(f"{row.key}: {row.words}" for row in QUESTIONS),
        *(f"{case.key}: {case.knows}: {case.question}" for case in KNOWLEDGE),
        *(f"{fact.key}: {fact.words}" for fact in FACTS),
    ]


def answer_lines(answer: dict[str, object]) -> list[str]:
    """An answer as lines for a person."""
    lines: list[str] = []
    for key, value in answer.items():
        match value:
            case dict():
                lines += [f"{key}:", *(f"  {name}: {words}" for name, words in value.items())]
            case list():
                if key not in ("answers", "questions"):
                    lines.append(f"{key}:")
                for item in value:
                    assert isinstance(item, dict)  # the tables hold nothing else
                    head = item.get("client") or item.get("key")
                    who = f" [{item['by']}]"
                    lines.append(f"  {head}{who}: {item.get('question', item.get('who'))}: {item['words']}")
            case _:
                lines.append(f"{key}: {'yes' if value is True else 'no' if value is False else value}")
    return lines
