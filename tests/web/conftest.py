"""Pages of a served policyd, with and without a browser."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from policyd.core.edition import NEXT
from policyd.manifest import load_text
from policyd.store.snapshots import put
from policyd.usecases.deployments import Selection
from policyd.usecases.import_deployment import manifest_facts

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "service"))

from service_serving import AT, imported_shop, served
from web_browser import chromium

SCRIPT = "<script>window.pwned=1</script>"
HOSTILE = """\
manifestVersion: 1.6.0
app: hostile
environments:
  prod: {server: local, account: "acme@example.com"}
components:
  "h:c": {dir: c, templates: rust}
agents:
  First:
    env: {"A<b>": "1"}
    initialCard:
      lowerBound:
        positive:
          - "secret(?env) @ ?agent : reveal : stripe.key"
          - "env(?agent) @ ?agent : read : <script>window.pwned=1</script>"
          - "kv(?env) @ ?agent : raed : <script>window.pwned=1</script>"
  Second:
    initialCard:
      lowerBound:
        positive:
          - "env(?agent) @ ?agent : read : <script>window.pwned=1</script>"
"""
NAMES = {"First": "<svg/onload=window.pwned=1>", "Second": "`x` {{ 7*7 }} javascript:window.pwned=1"}


def hostile():
    """A deployment whose every name would run in a page that shows it unescaped."""
    facts, _ = manifest_facts(load_text(HOSTILE, f"{SCRIPT}.yaml"), Selection("prod"), NEXT)
    agents = tuple(replace(agent, name=NAMES[agent.name]) for agent in facts.agent_types)
    return replace(facts, application=SCRIPT, environment='"><img src=x onerror=window.pwned=1>', agent_types=agents)


@pytest.fixture(scope="session")
def web(tmp_path_factory):
    """The shop and a manifest full of hostile names, served without tokens."""
    with served(tmp_path_factory.mktemp("web"), require_tokens=False) as running:
        imported_shop(running)
        put(running.database, hostile(), at=AT, by=SCRIPT)
        yield running


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium; where there is none the tests that need one are skipped, and say so."""
    with chromium() as found:
        if found is None:
            pytest.skip("NO CHROMIUM FOUND: the pages were not tried in a browser")
        yield found
