"""Pages rendered on the server: templates that escape everything, strict headers, errors as pages.

Source: style 11.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any, cast
from urllib.parse import urlencode

from fastapi import Depends, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from starlette.exceptions import HTTPException

from policyd.findings import PolicydError
from policyd.service.access import COOKIE, Caller, snapshots_for, visitor
from policyd.service.problems import ServiceCode, ServiceError, malformed, status_of
from policyd.service.wiring import services
from policyd.store.snapshots import SnapshotInfo
from policyd.usecases.stored_deployment import StoredFacts

WEB = Path(__file__).resolve().parents[1] / "web"
"""Templates and static files, which the package carries."""

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self';"
        " base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Sent with every page: no scripts at all, nothing from elsewhere, no frames, nothing kept."""


@cache
def _templates() -> Environment:
    folder = WEB / "templates"
    made = Environment(
        loader=FileSystemLoader(folder),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["link"] = link
    made.filters["ticked"] = ticked
    return made


@cache
def markdown() -> MarkdownIt:
    """The renderer of manual pages; HTML in them is shown as text."""
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def ticked(text: str) -> Markup:
    """A sentence with what stands in backticks as code; everything is escaped.

    >>> str(ticked("a `<b>` c"))
    'a <code>&lt;b&gt;</code> c'
    """
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return Markup(escape(text))
    marked = (Markup("<code>{}</code>").format(part) if i % 2 else escape(part) for i, part in enumerate(parts))
    return Markup("").join(marked)


def link(path: str, **arguments: object) -> str:
    """A link within the service; empty arguments are left out.

    >>> link("/check", snapshot="@1", agent="")
    '/check?snapshot=%401'
    """
    query = urlencode({name: str(value) for name, value in arguments.items() if value not in ("", None)})
    return f"{path}?{query}" if query else path


def page(request: Request, name: str, status: int = 200, /, **values: object) -> Response:
    """A rendered page with its security headers."""
    signed_in = bool(request.cookies.get(COOKIE))
    text = _templates().get_template(name).render(signed_in=signed_in, path=request.url.path, **values)
    return HTMLResponse(text.encode("utf-8", "backslashreplace"), status, SECURITY_HEADERS)


def told(request: Request, error: PolicydError) -> Response:
    """An error as a page."""
    status = status_of(error)
    return page(request, "problem.html", status.value, title=status.phrase, findings=error.findings)


def wants_page(request: Request) -> bool:
    """Whether a browser asks, outside of the interface for programs."""
    return not request.url.path.startswith("/v1") and "text/html" in request.headers.get("accept", "")


def install(app: FastAPI) -> None:
    """Tell browsers of addresses that do not exist by a page, and everybody else by a problem document."""
    of_program = app.exception_handlers[HTTPException]

    @app.exception_handler(HTTPException)
    async def of_browser(request: Request, error: HTTPException) -> Response:
        if error.status_code != HTTPStatus.NOT_FOUND or not wants_page(request):
            return cast(Response, await cast(Any, of_program)(request, error))
        code = ServiceCode.NO_SUCH_PLACE
        return told(
            request,
            ServiceError(
                code, HTTPStatus.NOT_FOUND, "there is no such page", "start from the list of environments: `/`"
            ),
        )

    of_malformed = app.exception_handlers[RequestValidationError]

    @app.exception_handler(RequestValidationError)
    async def of_form(request: Request, error: RequestValidationError) -> Response:
        if not wants_page(request):
            return cast(Response, await cast(Any, of_malformed)(request, error))
        # an address with a part that cannot be right is that of no page
        if any(item["loc"][:1] == ("path",) for item in error.errors()):
            return await of_browser(request, HTTPException(HTTPStatus.NOT_FOUND))
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        return page(request, "problem.html", status.value, title=status.phrase, findings=malformed(error))


def _nobody(request: Request) -> Response:
    target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(link("/sign-in", next=target), HTTPStatus.SEE_OTHER, SECURITY_HEADERS)


Visitor = Annotated[Caller | None, Depends(visitor)]
Text = Annotated[str, Query(max_length=65_536)]
Name = Annotated[str, Query(max_length=4_096)]


def guarded(request: Request, asker: Caller | None, render: Callable[[Caller], Response]) -> Response:
    """What `render` answers to a visitor who may look; errors are pages, too."""
    if asker is None:
        return _nobody(request)
    try:
        return render(asker)
    except PolicydError as error:
        return told(request, error)


def opened(request: Request, asker: Caller, reference: str) -> tuple[StoredFacts, SnapshotInfo]:
    """The facts of a snapshot, and which it is."""
    found = snapshots_for(request, asker)
    info = found.resolve(reference)
    return services(request).decisions.facts(found, info), info
