"""An answer about an operation as a person reads it on a terminal."""

from __future__ import annotations

from policyd.cli.answer_text import answer_text
from policyd.findings import visible_lines
from policyd.report import Lines
from policyd.usecases.operation_answer import OperationAnswer
from policyd.usecases.operation_words import self_lines, target_lines


def operation_text(answer: OperationAnswer, lines: Lines) -> str:
    """Verdict and sentence first, then the targets one by one, then the reasons as for a single target."""
    head, _, rest = answer_text(answer.answer, lines).partition("\n\n")
    out = ["asks for:", *(f"  {line}" for line in target_lines(answer))]
    if answer.self_metadata is not None:
        out += ["self-metadata:", *(f"  {line}" for line in self_lines(answer.self_metadata, answer.answer))]
    if answer.alternatives:
        found = ", ".join(f"under WASI {name.upper()} {facet}" for name, facet in answer.alternatives.items())
        out.append(f"replay-stable depends on the WASI generation (`--arg wasi=p2`): {found}")
    if answer.denial:
        out.append(f"a denial shows as {answer.denial}")
    return f"{head}\n\n{visible_lines(out)}\n\n{rest}"
