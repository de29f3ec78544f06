"""Pastes with several errors, and pastes in other encodings: each error stays what it is alone."""

from __future__ import annotations

import random

import pytest
from test_denial_shapes import _cases

from policyd.syntax.denials import Reading, recognise

KV = (
    "key-value permission denied: The permission target Kv(ClassPermissionTarget { verb: Some(Write), owner:"
    ' Environment { account: AccountEmail("dev@acme.io"), application: ApplicationName("shop"), environment:'
    ' EnvironmentName("prod") }, resource: StoreKey { store: "orders", key_pattern: "1" } }) is not allowed'
)
REST = (
    "Agent Service - Error: 403 Forbidden, The permission target Agent(ClassPermissionTarget { verb: Some(Delete),"
    ' owner: Agent { account: AccountEmail("dev@acme.io"), application: ApplicationName("shop"), environment:'
    ' EnvironmentName("prod"), component: ComponentName("shop:cart"), agent: Agent("Cart(\\"42\\")") }, resource:'
    " Empty }) is not allowed (AUTH_FORBIDDEN)"
)
UNBOUND = "tool 'search' is not bound to agent type 'Cart'"
LINES = [p.values for p in _cases() if "\n" not in p.values[1] and p.values[0].get("embed", True)]


def told(reading: Reading) -> set[tuple[str, bool]]:
    """What matters of each denial: its target and whether cards decide it."""
    return {(d.target_text, d.is_denial) for d in reading.denials}


@pytest.mark.parametrize("between", ["\n", "\n\n", "; ", " | "])
@pytest.mark.parametrize("first, second", [(KV, REST), (REST, KV), (KV, UNBOUND), (UNBOUND, KV), (REST, UNBOUND)])
def test_two_errors_are_two_denials(first: str, second: str, between: str) -> None:
    """A wrapper never takes the error before it, and a binding is no part of a denial that has its target."""
    found = [d.shapes for d in recognise(first + between + second).denials]
    assert found == [d.shapes for text in (first, second) for d in recognise(text).denials]


BODY = '{"code":"AUTH_FORBIDDEN","error":"The system-only action update account usage is not allowed"}'
TARGET = KV.partition(": ")[2]
ABSENT = "Environment 1b2c not found"
MISSING = '{"code":"ENVIRONMENT_NOT_FOUND","error":"Environment 9f3e not found"}'
PANIC = 'rpc call to refund failed: RpcError::Denied("permission denied")'
INNER = f'BackendError("Unauthorized: {TARGET}")'


@pytest.mark.parametrize("prefix", ["", "> ", "app-1  | ", "step: "])
@pytest.mark.parametrize(
    "first, second",
    [
        (BODY, TARGET),
        (BODY, ABSENT),
        (ABSENT, MISSING),
        (MISSING, TARGET),
        (MISSING, ABSENT),
        (PANIC, ABSENT),
        (KV, "Permission denied: permission denied"),
        (REST, ABSENT),
        (REST, MISSING),
        ("AgentOperationError::PermissionDenied", INNER),
        ("PermissionError::LowerBoundTooBroad", "card:derive is not permitted for this agent"),
        ("agent contexts cannot delegate permission grants", TARGET),
    ],
)
def test_errors_on_lines_below_each_other_are_apart(first: str, second: str, prefix: str) -> None:
    """A line that is complete takes nothing from the next one."""
    found = [(d.shape, d.target_text) for d in recognise(f"{prefix}{first}\n{prefix}{second}\n").denials]
    assert found == [(d.shape, d.target_text) for text in (first, second) for d in recognise(text).denials]


@pytest.mark.parametrize("prefix", ["", "> ", "app-1  | "])
@pytest.mark.parametrize(
    "lines",
    [
        ("KeyValueError(get):", KV),
        ("rpc call to refund failed: RpcError::Denied(", f'"{TARGET}")'),
        ("AgentOperationError::PermissionDenied", f"  {INNER}"),
        ("BackendError", f"Caused by: Unauthorized: {TARGET}"),
        ("golem HTTP/1.1 403 Forbidden", BODY),
        ("golem HTTP/1.1 403 Forbidden", "content-type: application/json", "", BODY),
        (
            "{",
            '"code": "AUTH_FORBIDDEN",',
            '"error": "The system-only action update account usage is not allowed"',
            "}",
        ),
    ],
)
def test_an_error_over_several_lines_is_one(lines: tuple[str, ...], prefix: str) -> None:
    """A line that ends open, an indented one, a cause, and the body below its status belong to one error."""
    found = recognise("\n".join(prefix + line for line in lines)).denials
    assert len(found) == 1, [d.shapes for d in found]


@pytest.mark.parametrize("seed", range(60))
def test_an_empty_line_keeps_errors_apart(seed: int) -> None:
    """What is a denial alone stays one beside another error, and what is none does not become one."""
    rng = random.Random(seed)
    texts = [rng.choice(LINES)[1] for _ in range(3)]
    apart = set().union(*(told(recognise(text)) for text in texts))
    assert told(recognise("\n\n".join(texts))) == apart, texts


@pytest.mark.parametrize(
    "paste",
    [
        KV.encode("utf-16").decode("utf-8", "replace"),
        KV.encode("utf-16-be").decode("utf-8", "replace"),
        KV.encode("utf-16-le").decode("latin-1"),
        "\ufeff" + KV,
        KV.replace(" ", "\u00a0"),
        KV.replace(" ", " \u200b"),
        f"one\r\n{KV}\r\ntwo",
        f"\x1b[38;5;196m{KV}\x1b[m",
        f"^[[31m{KV}^[[0m",
        KV.replace('"', "&quot;"),
        KV.replace('"', "\\u0022"),
    ],
)
def test_encodings_change_nothing(paste: str) -> None:
    """Two bytes a character, marks of byte order, spaces of web pages, colours and entities."""
    (denial,) = recognise(paste).denials
    assert (denial.shape, denial.target_text) == ("E-08", "kv(dev@acme.io/shop/prod) : write : orders.1")


MARK = "hunter2SECRETabc"
SECRETS = (
    f"https://user:{MARK}@api.x.com/p",
    f"Authorization: Bearer {MARK}",
    f"password={MARK}",
    f"api_key: '{MARK}'",
    f'{{"token":"{MARK}"}}',
    f"X-Api-Key: {MARK}",
    f"--password {MARK}",
    f"Cookie: session={MARK}",
)
HOLDERS = (
    "ErrorCode::HttpRequestDenied sending to {}",
    "RDBMS permission denied: cannot safely determine SQL targets: sql parser error: Expected x found '{}' at Line: 1",
    "Error: EPERM: operation not permitted, open '/data/{}'",
    "Invalid initial permission card for agent type 'Cart': {}",
    'Remote agent Pay("{}").refund errored: {{"tag":"denied","val":"permission denied"}}',
    "Environment {} not found",
    KV.replace("{", "{{").replace("}", "}}").replace('key_pattern: "1"', 'key_pattern: "{}"'),
)


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("secret", SECRETS)
def test_secrets_inside_recognised_parts_are_not_told(holder: str, secret: str) -> None:
    """Whichever part of an error a secret stands in, what may be shown does not hold it."""
    for denial in recognise(holder.format(secret)).denials:
        shown = (denial.target_text, dict(denial.facts), denial.remark, denial.not_policy)
        assert MARK not in repr(shown), shown


def test_members_of_other_objects_make_no_body() -> None:
    """A code between two objects of other programs is not the body of an answer."""
    log = (
        '{"code":"ACCOUNT_NOT_FOUND","message":"no such account"}\n21:36 INFO auth: TOKEN_NOT_FOUND for session 2\n'
        '{"error":"access_denied","error_description":"denied"}\ngolem agent started\n'
    )
    assert recognise(log * 20).denials == ()
