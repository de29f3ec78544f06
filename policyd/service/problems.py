"""Errors as `application/problem+json`: our code, what to do, the findings, and the page.

Source: style 8, 11; RFC 9457.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from policyd.core.retry.errors import GlobEffortError
from policyd.findings import Finding, InputError, InternalDefect, PolicydError, Severity, Span
from policyd.report import finding_json
from policyd.store.codes import StoreError

MEDIA_TYPE = "application/problem+json"
MAX_FINDINGS = 50
"""So many findings are told in one problem."""


class ServiceCode(Enum):
    """What the interface itself refuses."""

    OTHER_REVISION = "STORE050"
    NO_ACCESS = "STORE051"
    TOO_LARGE = "STORE052"
    TOO_MANY = "STORE053"
    TOO_SLOW = "STORE054"
    MALFORMED = "STORE055"
    NO_SUCH_PLACE = "STORE056"
    FOREIGN_PAGE = "STORE057"
    NOT_AUTHENTICATED = "STORE040"


class ServiceError(PolicydError):
    """A request that the interface itself refuses.

    Attributes:
        status: the HTTP status.
        headers: to be sent with it.
    """

    def __init__(
        self, code: ServiceCode, status: HTTPStatus, message: str, help: str = "", headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(Finding(code.value, Severity.ERROR, message, None, help))
        self.status = status
        self.headers = headers or {}

    @classmethod
    def from_error(cls, error: PolicydError, status: HTTPStatus) -> ServiceError:
        """The same findings under another status than their codes have elsewhere."""
        found = cls(ServiceCode.MALFORMED, status, error.findings[0].message)
        found.findings = error.findings
        return found


class Refusal(HTTPException):
    """A refusal while the body is read, where the framework lets nothing but its own exceptions through."""

    def __init__(self, reason: ServiceError) -> None:
        super().__init__(reason.status)
        self.reason = reason


BY_CLASS: dict[type[PolicydError], HTTPStatus] = {
    InputError: HTTPStatus.UNPROCESSABLE_ENTITY,
    StoreError: HTTPStatus.SERVICE_UNAVAILABLE,
    InternalDefect: HTTPStatus.INTERNAL_SERVER_ERROR,
    ServiceError: HTTPStatus.BAD_REQUEST,
    GlobEffortError: HTTPStatus.UNPROCESSABLE_ENTITY,
}
"""The status of each kind of error, where its code does not say another one."""

BY_CODE: dict[str, HTTPStatus] = {
    "STORE010": HTTPStatus.NOT_FOUND,
    "STORE012": HTTPStatus.CONFLICT,
    "STORE014": HTTPStatus.NOT_FOUND,
    "STORE022": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "STORE024": HTTPStatus.CONFLICT,
    "STORE041": HTTPStatus.NOT_FOUND,
    "STORE042": HTTPStatus.CONFLICT,
    "STORE050": HTTPStatus.PRECONDITION_FAILED,
}


def status_of(error: PolicydError) -> HTTPStatus:
    """The HTTP status that tells `error`."""
    if isinstance(error, ServiceError):
        return error.status
    by_code = BY_CODE.get(error.findings[0].code)
    if by_code is not None:
        return by_code
    return next(status for kind, status in BY_CLASS.items() if isinstance(error, kind))


def problem(status: HTTPStatus, findings: Sequence[Finding], headers: dict[str, str] | None = None) -> JSONResponse:
    """A problem document; the first finding is the main one."""
    return JSONResponse(problem_body(status, findings), status, headers, MEDIA_TYPE)


def problem_body(status: HTTPStatus, findings: Sequence[Finding]) -> dict[str, Any]:
    """The members of a problem document."""
    main = findings[0]
    return {
        "type": f"/rules/{main.code}",
        "title": status.phrase,
        "status": status.value,
        "detail": main.message,
        "code": main.code,
        "help": main.help,
        "page": f"/rules/{main.code}",
        "findings": [finding_json(finding) for finding in findings[:MAX_FINDINGS]],
    }


def of_error(error: PolicydError) -> JSONResponse:
    """The problem document that tells `error`."""
    status = status_of(error)
    headers = dict(error.headers) if isinstance(error, ServiceError) else {}
    if status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS):
        headers.setdefault("Retry-After", "1")
    return problem(status, error.findings, headers)


def malformed(error: RequestValidationError) -> list[Finding]:
    """What does not fit in a request, by place; the values themselves are not repeated."""
    found = []
    for item in error.errors()[:MAX_FINDINGS]:
        where, *steps = item["loc"] or ("body",)
        path = "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
        message = str(item["msg"]).rstrip(".")
        text = message[:1].lower() + message[1:]
        found.append(Finding(ServiceCode.MALFORMED.value, Severity.ERROR, text, Span(str(where), path=path)))
    return found


def of_defect(defect: Exception) -> JSONResponse:
    """A defect of ours: its kind, never its text, which may hold what was sent."""
    return of_error(InternalDefect.of(f"policyd failed: {type(defect).__name__}"))


def install(app: FastAPI) -> None:
    """Tell all errors of `app` as problem documents."""

    @app.exception_handler(PolicydError)
    async def of_ours(_: Request, error: PolicydError) -> JSONResponse:
        return of_error(error)

    @app.exception_handler(RequestValidationError)
    async def of_request(_: Request, error: RequestValidationError) -> JSONResponse:
        return problem(HTTPStatus.UNPROCESSABLE_ENTITY, malformed(error))

    @app.exception_handler(HTTPException)
    async def of_framework(_: Request, error: HTTPException) -> JSONResponse:
        if isinstance(error, Refusal):
            return of_error(error.reason)
        # a body that cannot be read is a question that cannot be asked, like any other
        status = HTTPStatus(error.status_code if error.status_code != 400 else 422)
        code = ServiceCode.NO_SUCH_PLACE if status in (404, 405) else ServiceCode.MALFORMED
        finding = Finding(code.value, Severity.ERROR, status.description.lower() or status.phrase.lower())
        return problem(status, [finding], dict(error.headers or {}))
