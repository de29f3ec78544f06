"""All calls are those of the operations: the catalogue asks for nothing that the universe leaves out."""

from __future__ import annotations

import pytest

from policyd.analysis.effect import INERT_CLASSES, INERT_VERBS, is_never_asked
from policyd.core.callsets import Form, Universe
from policyd.core.edition import NEXT, SNAPSHOT
from policyd.core.grants import class_named
from policyd.core.grants.classes import classes_of
from policyd.core.operations.catalogue import TargetTemplate
from policyd.syntax.operations.loader import catalogue

TARGETS = [(operation.id, target) for operation in catalogue().operations.values() for target in operation.targets]
SINGLE = {Form.VALUE, Form.CANONICAL}


def forms_for(target: TargetTemplate) -> set[Form]:
    """Which forms of the universe take in the resource of a template."""
    text = target.resource
    if text == "":
        return {Form.EMPTY, Form.VALUE}
    if text == "*":
        return {Form.ANY}
    return {Form.WHOLE} if text.endswith("*") and "." in text else SINGLE | {Form.WHOLE}


@pytest.mark.parametrize(("operation", "target"), TARGETS, ids=lambda x: x if isinstance(x, str) else "")
def test_the_universe_has_every_target_of_the_catalogue(operation: str, target: TargetTemplate) -> None:
    """For every verb that an operation asks for, some shape of the universe has resources like its own."""
    verbs = target.cls.verbs if target.verb == "{verb}" else (target.verb,)
    for verb in verbs:
        forms = {form for shape in Universe().shapes(target.cls, verb) for form in shape.resources}
        assert forms & forms_for(target), (operation, target.text, verb)


def test_what_is_told_to_be_never_asked_for_is_not_in_the_catalogue() -> None:
    """HOST012 and the proofs leave these verbs out because no operation has them."""
    asked = {(t.cls.name, t.verb) for _, t in TARGETS if t.verb != "{verb}"}
    assert not [pair for pair in asked if is_never_asked(*pair)]
    free = {t.cls.name for _, t in TARGETS if t.verb == "{verb}"}
    silent = {(c.name, v) for c in classes_of(SNAPSHOT) if c.name not in free for v in c.verbs} - asked
    assert not [pair for pair in silent if not is_never_asked(*pair)]
    assert all(class_named(name, NEXT) is not None for name in INERT_CLASSES)
    for name, verb in INERT_VERBS:
        cls = class_named(name, NEXT)
        assert cls is not None
        assert verb in cls.verbs
