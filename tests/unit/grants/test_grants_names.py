"""The lexemes of the grant language, against what Python's own tests would take (cards 1.2, 1.3)."""

import pytest

from policyd.core.grants import names

IDENTS = ["a", "_", "A1", "a-b", "_-", "z9_-"]
NO_IDENTS = ["", "1a", "-a", "a b", "é", "a.b", "a\n", "ａ", "a*"]


@pytest.mark.parametrize("text", IDENTS)
def test_idents(text):
    assert names.is_ident(text)


@pytest.mark.parametrize("text", NO_IDENTS)
def test_no_idents(text):
    assert not names.is_ident(text)


@pytest.mark.parametrize("text, fits", [("KEY", True), ("_k9", True), ("KEY-2", False), ("9K", False), ("K\n", False)])
def test_variables(text, fits):
    assert names.is_env_var(text) is fits


@pytest.mark.parametrize(
    "text, app, env",
    [
        ("a", True, True),
        ("a-b", True, True),
        ("a--b", True, False),
        ("a-", True, False),
        ("-a", False, False),
        ("9a", False, False),
        ("a9", True, True),
        ("A", False, False),
        ("a_b", False, False),
        ("", False, False),
        ("é", False, False),
        ("a\n", False, False),
    ],
)
def test_names_of_applications_and_environments(text, app, env):
    assert (names.is_application(text), names.is_environment(text)) == (app, env)


@pytest.mark.parametrize(
    "text, value",
    [
        ("0", 0),
        ("007", 7),
        ("+7", 7),
        ("0" * 5000 + "1", 1),
        (str(2**64 - 1), 2**64 - 1),
        ("0" + str(2**64 - 1), 2**64 - 1),
        (str(2**64), None),
        ("9" * 5000, None),
        ("", None),
        ("+", None),
        ("++1", None),
        ("-1", None),
        ("1_0", None),
        (" 1", None),
        ("1\n", None),
        ("²", None),
        ("٣", None),
    ],
)
def test_numbers(text, value):
    assert names.parse_u64(text) == value


UUID = "7d0f0f0f-0000-4000-8000-00000000000b"


@pytest.mark.parametrize(
    "text, reads",
    [
        (UUID, True),
        (UUID.upper(), True),
        (UUID.replace("-", ""), True),
        ("{" + UUID + "}", True),
        ("urn:uuid:" + UUID, True),
        ("URN:UUID:" + UUID, False),
        ("{" + UUID.replace("-", "") + "}", False),
        ("urn:uuid:" + UUID.replace("-", ""), False),
        ("{" + UUID, False),
        (UUID + "\n", False),
        (UUID.replace("-", "_"), False),
        ("7d0f-0f0f-0000-4000-8000-0000-0000-000b", False),
        (UUID.replace("7", "٧"), False),
        ("", False),
    ],
)
def test_uuids(text, reads):
    assert names.parse_uuid(text) == (UUID if reads else None)


@pytest.mark.parametrize("space", names.WHITE_SPACE)
def test_white_space_is_the_unicode_property(space):
    assert names.trim(f"{space}a{space}") == "a"
    assert space.isspace()


@pytest.mark.parametrize("other", "\x1c\x1d\x1e\x1f\u200b\ufeff\u180e")
def test_what_is_no_white_space_stays(other):
    assert names.trim(f"{other}a") == f"{other}a"


def test_only_ascii_letters_are_lowered():
    assert names.ascii_lower("ÄNA@LAB.İK") == "Äna@lab.İk"


@pytest.mark.parametrize(
    "text, slot",
    [
        ("?env", "?env"),
        ("a?b-c.d", "?b-c"),
        ("? ?x", "?x"),
        ("??x", "?x"),
        ("?", None),
        ("a? b", None),
        ("?é", None),
        ("", None),
    ],
)
def test_slot_references(text, slot):
    assert names.slot_reference(text) == slot
