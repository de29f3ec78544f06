"""The engines for regular expressions and URLs: the platform's dialect, or no answer."""

from __future__ import annotations

import pytest

from policyd.core.schema.engines import ParsedUrl, UrlVerdict
from policyd.syntax.patterns import Re2Patterns
from policyd.syntax.urls import WhatwgUrls

PATTERNS = Re2Patterns()
URLS = WhatwgUrls()


@pytest.mark.parametrize(
    "pattern",
    ["(?=a)a", "(?!a)", "(?<=a)b", r"\1", "(", ")", "[a", "*", "a|*", "a{2,1}", "a{,3}", "a{", "(?P<n>a)(?P<n>b)",
     "[b-a]", r"\q", r"\x{D800}", r"\pQ", "(?)", "(?ii)", "(?i", "a{99999999999}", r"\Z", r"[\b]", "(?<>a)"],
)  # fmt: skip
def test_what_the_platform_refuses(pattern):
    """Look-around, back-references and slips are no patterns, and never match."""
    assert PATTERNS.is_valid(pattern) is False
    assert PATTERNS.finds(pattern, "a") is False


@pytest.mark.parametrize(
    "pattern, text, found",
    [
        ("b", "abc", True),
        ("^[a-z]{2,4}$", "abcde", False),
        ("a$", "a\n", False),
        (r"a\z", "a\n", False),
        ("", "", True),
        ("^\\w+$", "e\u0301", True),
        ("^\\d$", "\u0663", True),
        ("^\\s$", "\u2003", True),
        ("^\\D$", "\u0663", False),
        ("[[:alpha:]]", "é", False),
        (r"^\p{L}$", "é", True),
        (r"^\p{Greek}$", "λ", True),
        (r"^[^\d-]$", "-", False),
        ("(?i)ABC", "xabcx", True),
        ("(?s)^.$", "\n", True),
        ("^.$", "\n", False),
        ("a**", "b", True),
        ("(?x) a b # c\n c", "abc", True),
        ("[]a]", "]", True),
        ("(?P<n>a)+", "aa", True),
        ("(?:)*", "q", True),
        (r"\bab", "x ab", True),
        (r"\bab", "é", False),
        (r"\x{e9}|\u0301", "é", True),
        ("[a[bc]]", "c", True),
        ("a{2}", "aa", True),
        ("a{ 2 , 3 }", "aaa", True),
    ],
)
def test_what_is_found(pattern, text, found):
    """Patterns are searched, with Unicode classes and the end of text strictly at the end."""
    assert PATTERNS.is_valid(pattern) is True
    assert PATTERNS.finds(pattern, text) is found


@pytest.mark.parametrize("pattern", ["[a-z&&[^b]]", r"\bab", "(?R)a$"])
def test_what_cannot_be_told(pattern):
    """What RE2 cannot express gives no answer."""
    assert PATTERNS.finds(pattern, "é ab") is None


def test_a_pattern_that_blows_up_is_linear():
    """Nested repetition takes no exponential time."""
    assert PATTERNS.finds("^(a+)+$", "a" * 5000 + "b") is False


@pytest.mark.parametrize(
    "text, scheme, host",
    [
        ("https://example.com/p", "https", "example.com"),
        ("HTTPS://EXAMPLE.com", "https", "example.com"),
        (" https:\\\\a.b\\c ", "https", "a.b"),
        ("https:a", "https", "a"),
        ("http://ann:pw@h:80/", "http", "h"),
        ("http://0x7f.1/", "http", "127.0.0.1"),
        ("http://[::1]:8080/", "http", "[::1]"),
        ("http://b%C3%BCcher.example/", "http", "xn--bcher-kva.example"),
        ("http://B\u00dcCHER\u3002example", "http", "xn--bcher-kva.example"),
        ("file:///tmp/x", "file", None),
        ("file://localhost/x", "file", None),
        ("file://h/x", "file", "h"),
        ("mailto:a@example.com", "mailto", None),
        ("data:", "data", None),
        ("foo://Host/x", "foo", "Host"),
        ("foo:///x", "foo", None),
    ],
)
def test_urls(text, scheme, host):
    """Scheme and host as a browser understands them."""
    assert URLS.parse(text) == ParsedUrl(scheme, host)


@pytest.mark.parametrize(
    "text",
    ["", "a", "/x", "//h/x", "1a:b", "https://", "https://#x", "http://a b/", "http://a:99999/", "http://a:x/",
     "http://[::1/", "http://1.2.3.4.5/", "http://256.1/..", "http://%00/", "http://a%zz/", "foo://a b/", "http://xn--/"],
)  # fmt: skip
def test_no_urls(text):
    """Relative references and broken hosts or ports are no URLs."""
    assert URLS.parse(text) is UrlVerdict.INVALID


@pytest.mark.parametrize(
    "host, expected",
    [
        ("\u05d0\u05d1.example", "xn--4dbc.example"),
        ("\u0915\u094d\u200d\u0937.example", "xn--11b2ezcw70k.example"),
        ("1\u05d0.example", UrlVerdict.INVALID),
        ("a\u05d0.example", UrlVerdict.INVALID),
        ("a\u200db.example", UrlVerdict.INVALID),
        ("xn--a.example", UrlVerdict.INVALID),
        ("+1.2.3.4", UrlVerdict.INVALID),
        ("\u0628\u200c\u0628.example", UrlVerdict.UNKNOWN),
    ],
)
def test_labels_by_their_letters(host, expected):
    """Right-to-left names and joiners follow their rules; a non-joiner between joining letters is not guessed."""
    found = URLS.parse(f"http://{host}/")
    assert found == (expected if isinstance(expected, UrlVerdict) else ParsedUrl("http", expected))
