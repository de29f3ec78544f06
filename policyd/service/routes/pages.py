"""The web pages: the same use cases as the interface, rendered on the server, without scripts.

Source: style 11; interface, Words.
"""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from policyd.analysis.rules import RULES, page_of
from policyd.core.edition import Rules
from policyd.explain.prose import headline
from policyd.findings import Finding, InputError, PolicydError, Severity
from policyd.service.access import COOKIE, Caller, is_own_form
from policyd.service.problems import ServiceCode, ServiceError, status_of
from policyd.service.rendering import (
    SECURITY_HEADERS,
    WEB,
    Name,
    Text,
    Visitor,
    guarded,
    link,
    markdown,
    opened,
    page,
)
from policyd.service.routes.decisions import operation_in
from policyd.service.wire import moment_of, rules_of
from policyd.service.wiring import now, services
from policyd.store.finding_counts import finding_counts
from policyd.store.snapshots import snapshots
from policyd.store.tokens import verify_token
from policyd.usecases.answer_sections import sections
from policyd.usecases.operation_words import target_lines
from policyd.usecases.show_card import ShownGrant
from policyd.usecases.show_stored import shown_stored, stored_agents_json
from policyd.usecases.snapshots import findings_count
from policyd.usecases.stored_decisions import StoredQuestion

PAGE_ROWS = 100
"""Rows of a list on one page."""

routes = APIRouter(include_in_schema=False)


@routes.get("/")
def environments(request: Request, asker: Visitor, after: Annotated[int, Query(ge=0)] = 0) -> Response:
    """All environments with their latest snapshot and its findings."""

    def render(known: Caller) -> Response:
        shared = services(request)
        found = snapshots(shared.database, after=after, limit=PAGE_ROWS, scope=known.reach, only_latest=True)
        counts = finding_counts(shared.database, [info.number for info in found])
        rows = [(info, counts[info.number]) for info in found]
        more = found[-1].number if len(found) == PAGE_ROWS else None
        return page(request, "environments.html", rows=rows, more=more, after=after)

    return guarded(request, asker, render)


@routes.get("/snapshots/{number}")
def snapshot(request: Request, number: int, asker: Visitor, edition: Name = "next") -> Response:
    """One snapshot: agent types, wallets, cards, findings."""

    def render(known: Caller) -> Response:
        facts, info = opened(request, known, f"@{number}")
        rules = rules_of(edition, {})
        deployment = facts.deployment
        return page(
            request,
            "snapshot.html",
            info=info,
            deployment=deployment,
            agents=stored_agents_json(facts, rules),
            findings=_by_severity([f.finding for f in deployment.findings]),
            counts=findings_count(deployment),
            cards=deployment.cards[:PAGE_ROWS],
            wallets=deployment.wallets[:PAGE_ROWS],
            rows=PAGE_ROWS,
            edition=edition,
        )

    return guarded(request, asker, render)


def _by_severity(findings: list[Finding]) -> list[tuple[Severity, list[Finding]]]:
    groups = [(severity, [f for f in findings if f.severity is severity]) for severity in Severity]
    return [(severity, listed) for severity, listed in groups if listed]


@routes.get("/snapshots/{number}/agent")
def agent(
    request: Request,
    number: int,
    asker: Visitor,
    name: Name,
    component: Name = "",
    edition: Name = "next",
) -> Response:
    """The effective card of an agent type: floor, ceilings, and where each grant came from."""

    def render(known: Caller) -> Response:
        facts, info = opened(request, known, f"@{number}")
        rules = rules_of(edition, {})
        card = shown_stored(facts, name, rules, component)
        holder = facts.holder_of(name.partition("(")[0])
        wallets = [w for w in facts.deployment.wallets if holder is not None and w.holder == holder]
        return page(
            request,
            "agent.html",
            info=info,
            card=card,
            cards=[
                (name, _lists(g for g in card.grants if g.card == name))
                for name in (card.cards if card.holder else ("",))
            ],
            wallets=wallets[:PAGE_ROWS],
            edition=edition,
            component=component,
        )

    return guarded(request, asker, render)


_TITLES = {
    "lowerPositive": ("Floor", "what it may do, as far as the ceilings let it"),
    "lowerNegative": ("Cut out of the floor", "taken away again from what this card gives"),
    "upperPositive": ("Ceiling", "nothing outside of this, whatever other cards give"),
    "upperNegative": ("Denied", "denied to the whole wallet, whatever other cards give"),
}


def _lists(given: Iterable[ShownGrant]) -> list[tuple[str, str, list[ShownGrant]]]:
    grants = list(given)
    return [(title, words, [g for g in grants if g.bound.value == key]) for key, (title, words) in _TITLES.items()]


@routes.get("/check")
def check(
    request: Request,
    asker: Visitor,
    snapshot: Name = "",
    agent: Name = "",
    holder: Name = "",
    component: Name = "",
    target: Text = "",
    op: Name = "",
    args: Text = "",
    sdk: Name = "",
    at: Name = "",
    edition: Name = "next",
) -> Response:
    """The form of a question, and its answer if it is asked already."""
    asked = {
        "snapshot": snapshot,
        "agent": agent,
        "holder": holder,
        "component": component,
        "target": target,
        "op": op,
        "args": args,
        "sdk": sdk,
        "at": at,
        "edition": edition,
    }

    def render(known: Caller) -> Response:
        if not snapshot or not (target or op) or not (agent or holder):
            return page(request, "check.html", asked=asked, answer=None, error=None)
        try:
            facts, info = opened(request, known, snapshot)
            rules: Rules = rules_of(edition, {})
            question = StoredQuestion(target, agent, holder, moment_of(at), None, component)
            decisions = services(request).decisions
            operation = None
            if op:
                operation = operation_in(decisions, facts, info, question, (op, arguments_in(args), sdk), rules)
            answer = operation.answer if operation is not None else decisions.answer(facts, info, question, rules)
        except PolicydError as error:
            return page(request, "check.html", status_of(error).value, asked=asked, answer=None, error=error)
        permalink = link("/check", **{**asked, "snapshot": f"@{info.number}"})
        return page(
            request,
            "check.html",
            asked=asked,
            answer=answer,
            error=None,
            info=info,
            sentence=headline(answer.verdict, answer.who, answer.target, answer.naming),
            sections=sections(answer),
            asks=list(target_lines(operation)) if operation is not None else [],
            denial=operation.denial if operation is not None else "",
            permalink=permalink,
        )

    return guarded(request, asker, render)


def arguments_in(text: str) -> dict[str, object]:
    """`name=value` lines.

    Raises:
        InputError: MANIF091 for a line that is none.
    """
    found: dict[str, object] = {}
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if not line.strip():
            continue
        if not equals or not name.strip():
            raise InputError.of("MANIF091", "a line of the arguments is none", None, "write `name=value` lines")
        found[name.strip()] = value.strip()
    return found


@routes.get("/rules")
def rules_list(request: Request, asker: Visitor) -> Response:
    """All rules."""
    return guarded(request, asker, lambda _: page(request, "rules.html", rules=RULES))


@routes.get("/rules/{code}")
def rule(request: Request, code: str, asker: Visitor) -> Response:
    """The page of one code."""

    def render(_: Caller) -> Response:
        text = page_of(code.upper())
        if text is None:
            raise ServiceError(ServiceCode.NO_SUCH_PLACE, HTTPStatus.NOT_FOUND, "there is no page for this code")
        return page(request, "rule.html", code=code.upper(), body=markdown().render(text))

    return guarded(request, asker, render)


@routes.get("/sign-in")
def sign_in(request: Request, next: Name = "/") -> Response:
    """The form that asks for a token."""
    return page(request, "sign_in.html", next=_inside(next), error="")


@routes.post("/sign-in")
def signed_in(
    request: Request,
    token: Annotated[str, Form(max_length=256)],
    next: Annotated[str, Form(max_length=65_536)] = "/",
) -> Response:
    """Keep a good token in a cookie that no script can read and no other site can send."""
    # behind a proxy the host may be another name than the browser's, which says itself whose page it was
    if request.headers.get("sec-fetch-site") != "same-origin" and not is_own_form(request):
        # another site could sign a browser in as somebody else
        return page(request, "sign_in.html", 403, next="/", error="this form was sent by a page of another site")
    if verify_token(services(request).database, token.strip(), at=now()) is None:
        return page(request, "sign_in.html", 401, next=_inside(next), error="the token is not good")
    answer = RedirectResponse(_inside(next), HTTPStatus.SEE_OTHER, SECURITY_HEADERS)
    is_secure = request.url.scheme == "https"
    answer.set_cookie(COOKIE, token.strip(), httponly=True, samesite="strict", secure=is_secure, path="/")
    return answer


@routes.post("/sign-out")
def sign_out(request: Request) -> Response:
    """Forget the token, when one of our own pages asks."""
    if request.headers.get("sec-fetch-site") != "same-origin" and not is_own_form(request):
        return page(request, "sign_in.html", 403, next="/", error="this form was sent by a page of another site")
    answer = RedirectResponse("/sign-in", HTTPStatus.SEE_OTHER, SECURITY_HEADERS)
    answer.delete_cookie(COOKIE, path="/")
    return answer


def _inside(target: str) -> str:
    """A place within the service, whatever a link says: one slash, no host, no scheme.

    >>> _inside("/check?a=b"), _inside("//evil.example"), _inside("https://evil.example")
    ('/check?a=b', '/', '/')
    """
    plain = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if plain and "\\" not in target else "/"


@routes.get("/static/{name}")
def static(name: str) -> Response:
    """A file that pages use."""
    kinds = {".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
    folder = WEB / "static"
    known = {file.name: file for file in folder.iterdir() if file.suffix in kinds}
    if name not in known:
        raise ServiceError(ServiceCode.NO_SUCH_PLACE, HTTPStatus.NOT_FOUND, "there is no such file")
    headers = {**SECURITY_HEADERS, "Cache-Control": "public, max-age=3600"}
    return Response(known[name].read_bytes(), headers=headers, media_type=kinds[known[name].suffix])
