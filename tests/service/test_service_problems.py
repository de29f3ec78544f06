"""Every error of ours has an HTTP status and becomes a problem document."""

import importlib
import pkgutil
from http import HTTPStatus

import pytest

import policyd
from policyd.findings import Finding, PolicydError, Severity
from policyd.service.problems import BY_CLASS, ServiceCode, ServiceError, of_defect, problem_body, status_of


def _all_errors():
    for module in pkgutil.walk_packages(policyd.__path__, "policyd."):
        if module.name != "policyd.__main__":
            importlib.import_module(module.name)
    waiting, found = [PolicydError], set()
    while waiting:
        for kind in waiting.pop().__subclasses__():
            if kind not in found:
                found.add(kind)
                waiting.append(kind)
    return sorted((kind for kind in found if kind.__module__.startswith("policyd.")), key=lambda kind: kind.__name__)


def test_every_class_of_errors_is_mapped():
    """A new kind of error must be given its status in `BY_CLASS`, itself or by the kind it derives from."""
    kinds = _all_errors()
    assert kinds
    assert [kind.__name__ for kind in kinds if not issubclass(kind, tuple(BY_CLASS))] == []


@pytest.mark.parametrize("kind", BY_CLASS, ids=lambda kind: kind.__name__)
def test_a_problem_has_our_members(kind):
    """Type, title, status, detail, code, help, page and findings."""
    finding = Finding("STORE001", Severity.ERROR, "it failed", None, "do this")
    error = (
        ServiceError(ServiceCode.MALFORMED, HTTPStatus.BAD_REQUEST, "it failed", "do this")
        if kind is ServiceError
        else kind(finding)
    )
    status = status_of(error)
    body = problem_body(status, error.findings)
    assert 400 <= body["status"] == status.value < 600
    assert body["title"] == status.phrase
    assert (body["detail"], body["help"]) == ("it failed", "do this")
    assert body["type"] == body["page"] == f"/rules/{error.findings[0].code}"
    assert body["findings"][0]["message"] == "it failed"


def test_a_defect_does_not_repeat_its_text():
    """The text of an unexpected exception may hold what was sent."""
    answer = of_defect(ValueError("hunter2"))
    assert answer.status_code == 500
    assert b"hunter2" not in answer.body
    assert b"ValueError" in answer.body
