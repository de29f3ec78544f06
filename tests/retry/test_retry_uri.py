"""URIs and property bags, compared with the parser that pydantic brings along: the platform's own library."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import Url, ValidationError

from policyd.core.edition import NEXT, SNAPSHOT
from policyd.core.retry import SITES, RetryFormError, property_named, site_named
from policyd.core.retry.context import (
    database_bag,
    enriched,
    http_response_bag,
    rpc_bag,
    saga_bag,
    target_agent_type,
    trap_bag,
)
from policyd.core.retry.scalars import plain_value
from policyd.core.retry.uri import SPECIAL_PORTS, parse_uri

PARTS = st.lists(
    st.sampled_from(
        ("h", "A.b", "é", "%41", "%2e", ".", "..", "/", "//", "\\", "@", ":", ":80", ":443", ":65536", "?", "#", " ",
         "[::1]", "[1:2::3.4.5.6]", "0x7f.1", "1.2.3", "|", "^", '"', "a=b", "_", "-")
    ),
    max_size=7,
).map("".join)  # fmt: skip


@given(st.sampled_from(("http://", "https:", "ws:\\\\", "x://", "x:", "x:/", "kv://", "")), PARTS)
def test_uris_are_taken_apart_as_the_platform_does(scheme: str, rest: str) -> None:
    """Scheme, host, port and path are those of the platform's library, and so is what is no URI."""
    text = scheme + rest
    ours = parse_uri(text)
    try:
        theirs = Url(text)
    except ValidationError:
        assert ours is None
        return
    assert ours is not None
    port = SPECIAL_PORTS.get(ours.scheme) if ours.port is None else ours.port
    assert (ours.scheme, ours.host, port, ours.path) == (theirs.scheme, theirs.host, theirs.port, theirs.path or "")


@pytest.mark.parametrize(
    "name, found",
    (
        ("Cart(1)", "Cart"), (" Cart (1) ", "Cart"), ("Cart(1)[x]", "Cart"), ("Cart", None), ("(1)", None),
        ("Cart(a\nb)", None), ("Cart(1)[]", None), ("Cart(1)[a]b]", None), ("Cart(a)[b](c)", "Cart"),
        ("Cart(1)[x)]", "Cart"), ("Cart(1) x", None),
    ),
)  # fmt: skip
def test_target_agent_type(name: str, found: str | None) -> None:
    """Only names of the form `type(…)` or `type(…)[phantom]` have a type."""
    assert target_agent_type(name) == found


@pytest.mark.parametrize(
    "address, noun",
    (
        ("postgres://u:p@h:5432/db?password=x&a=b", "postgres://u:*****@h:5432/db?password=*****&a=b"),
        ("mysql://h/db?x", "mysql://h/db?x="),
        ("postgres://u@H/db#f", "postgres://u@H/db"),
        ("mysql://h/db?a=%20b+c&&", "mysql://h/db?a= b c"),
    ),
)
def test_database_nouns_hide_secrets(address: str, noun: str) -> None:
    """The noun of a database is composed anew, its password and secrets masked."""
    assert plain_value(database_bag("query", address).properties["noun-uri"]) == noun


def test_an_address_that_is_no_url_is_refused() -> None:
    """A database address that is no URL has no bag."""
    with pytest.raises(RetryFormError, match="RETRY127"):
        database_bag("query", "nope")


def test_bags_have_what_their_operation_shows() -> None:
    """Each builder adds its own properties, and enrichment replaces what is there."""
    http = enriched(http_response_bag("GET", "https://h/x", 503, "http-status"), "Cart", True).properties
    assert set(http) == {
        "verb", "noun-uri", "uri-scheme", "uri-host", "uri-path", "status-code", "error-type", "agent-type",
        "is-idempotent",
    }  # fmt: skip
    assert "uri-host" not in saga_bag("urn:worker:1/Cart(1)", 2).properties
    assert plain_value(trap_bag("unknown").properties["noun-uri"]) == "wasm://unknown"
    assert plain_value(rpc_bag("invoke", "c", "Cart(1)", "f").properties["target-agent-type"]) == "Cart"


def test_sites_name_properties_of_the_catalogue() -> None:
    """Every site is found by its slug, and every property that it names is in the catalogue."""
    assert len({site.slug for site in SITES}) == len(SITES)
    assert sorted({site.number for site in SITES}) == list(range(1, 22))
    for site in SITES:
        assert site_named(site.slug) is site
        for rules in (NEXT, SNAPSHOT):
            for name in site.always_present(rules) | site.sometimes_present():
                assert property_named(name) is not None
        assert "is-idempotent" not in site.always_present(NEXT)
        if site.follows:
            assert site_named(site.follows) is not None


def test_sites_of_an_edition() -> None:
    """Traps are put to policies in one edition, sagas in the other."""
    trap, saga = site_named("trap"), site_named("saga")
    assert trap is not None
    assert saga is not None
    assert (trap.is_asked(SNAPSHOT), trap.is_asked(NEXT)) == (True, False)
    assert (saga.is_asked(SNAPSHOT), saga.is_asked(NEXT)) == (False, True)
