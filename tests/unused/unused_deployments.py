"""Manifests and logs of the cases, and the answer to them."""

import json
import re

from policyd.core.cards import Timestamp
from policyd.core.edition import NEXT
from policyd.core.operations import Ports
from policyd.manifest import load_text
from policyd.syntax.operations import catalogue
from policyd.syntax.outbound_urls import OutboundUrls
from policyd.syntax.sql import SqlTables
from policyd.usecases.decision_log import read_log
from policyd.usecases.deployments import Selection, described
from policyd.usecases.holders import holders_in
from policyd.usecases.unused_answer import unused_authority
from policyd.usecases.unused_sources import window_of

END = Timestamp.parse("2026-12-01T00:00:00Z")
_LINE = re.compile(
    r"(?P<who>.+?) (?P<outcome>admitted|denied) (?P<what>.+?)(?: in (?P<edition>[a-z]+))?(?: at (?P<at>\S+Z))?"
)


def manifest(positive, negative=(), ceiling=()):
    """One application with one agent type."""
    card = {"lowerBound": {"positive": list(positive), "negative": list(negative)}}
    if ceiling:
        card["upperBound"] = {"positive": list(ceiling)}
    return json.dumps(
        {
            "manifestVersion": "1.6.0",
            "app": "shop",
            "environments": {"prod": {"server": "cloud", "account": "acme@example.com"}},
            "components": {"shop:cart": {"dir": "cart", "templates": "rust"}},
            "agents": {"Cart": {"initialCard": card}},
        }
    )


def logged(text):
    """`Cart("u1") admitted kv(?env) : read : a.b in next at …`, or an operation with its arguments, as a line."""
    found = _LINE.fullmatch(text)
    line = {"time": found["at"] or "2026-11-20T10:00:00Z", "outcome": found["outcome"]}
    line["holder" if "/" in found["who"].partition("(")[0] else "agent"] = found["who"]
    if "{" in found["what"]:
        operation, _, arguments = found["what"].partition(" ")
        line |= {"operation": operation, "arguments": json.loads(arguments)}
    else:
        line["target"] = found["what"]
    if found["edition"]:
        line["edition"] = found["edition"]
    return json.dumps(line).encode()


def holders(text):
    """The holders of a manifest."""
    selection = Selection("prod")
    return holders_in(described(load_text(text, "golem.yaml"), selection, NEXT), selection)


def answer_to(text, lines, window="30d", **options):
    """What a log says about a manifest."""
    ports = Ports(SqlTables(), OutboundUrls())
    window = window_of(window, END)
    return unused_authority(holders(text), read_log(lines), window, NEXT, catalogue(), ports, budget_s=5, **options)
