"""The grants of a card call, read in the platform's order.

Source: cards 1.5, 1.8, 6.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policyd.core.cards import Bound, Bounds, Refused, Wanted
from policyd.core.edition import NEXT, Rules
from policyd.core.grants import Grant
from policyd.syntax.grants import Form, parse_fields, parse_grants
from policyd.syntax.mistakes import GrantSyntaxError

Fields = tuple[str, str, str, str, str]
"""Class, owner, recipient, verb and resource of the guest's `pattern-grant`, taken as given."""


def wanted_bounds(lists: Mapping[Bound, Sequence[str | Fields]], rules: Rules = NEXT) -> Wanted:
    """The bounds that a card call asks for, or the refusal that its first unreadable grant gets.

    The lists are read in the order L+, L−, U+, U−; absent ones are empty.

    Args:
        lists: structured grants, or grant texts in the concrete list form.
        rules: which classes and recipients exist.
    """
    try:
        return Bounds(*(tuple(g for item in lists.get(bound, ()) for g in _read(item, rules)) for bound in Bound))
    except GrantSyntaxError as error:
        return Refused(*error.guest_error)


def _read(item: str | Fields, rules: Rules) -> tuple[Grant, ...]:
    if isinstance(item, str):
        return parse_grants(item, Form.CONCRETE, rules)
    return (parse_fields(*item, rules=rules),)
