"""Chains of a snapshot: lists and definitions come back, and are decided like those of the manifest they came from."""

import io
import json
from dataclasses import replace

import pytest
from contract.samples import NOW

from policyd.core.edition import NEXT
from policyd.core.schema.type_write import graph_json
from policyd.core.tools.middleware import Monomorphic
from policyd.core.tools.profile import Profile
from policyd.core.tools.tool_write import tool_json
from policyd.findings import InputError
from policyd.manifest import load_text
from policyd.store.document import deployment_json
from policyd.store.document_reading import read_deployment
from policyd.store.facts import Level
from policyd.store.snapshots import load, put
from policyd.usecases.chain_check import check_chains
from policyd.usecases.chain_sources import ChainSources, interchange_sources, stored_sources
from policyd.usecases.deployments import Selection
from policyd.usecases.import_deployment import Writer, import_manifest, import_platform
from policyd.usecases.stored_deployment import StoredFacts
from policyd.usecases.tool_documents import document_of

MANIFEST = """
manifestVersion: 1.6.0
app: shop
environments:
  prod:
    server: cloud
    account: acme@example.com
    deployment: {toolCompatibilityMode: nominal}
    defaultTools: []
    tools:
      middleware: [audit]
      inventory:
        middleware: [stock-policy]
      lone: {}
components:
  shop:cart: {dir: cart}
agents:
  Cart: {}
  Order:
    tools:
      inventory:
        middleware: [{name: second, parameters: {level: s3cr3t}}]
        middlewareMergeMode: append
      own: {}
tools:
  inventory: {component: "shop:cart"}
  own: {component: "shop:cart"}
  lone: {component: "shop:cart"}
  middleware:
    audit: {component: "shop:cart"}
    stock-policy: {component: "shop:cart"}
    second: {component: "shop:cart"}
"""
DEFINITIONS = """
policyd: 1
definitions:
  tools:
    inventory: {version: "2", commands: {adjust: {result: {type: "variant(done | backordered)", formatters: [text]}}}}
    narrow: {version: "1", commands: {adjust: {result: {type: "variant(done)", formatters: [text]}}}}
  middleware:
    audit: {scope: universal, version: "1"}
    stock-policy: {presents: narrow, expects: inventory, version: "1"}
    second: {presents: narrow, expects: narrow, version: "1", parameters: "record{level: string}"}
"""
PLACE = ("acme@example.com", "shop", "prod")


def catalogue():
    return interchange_sources(document_of("definitions.yaml", DEFINITIONS), NEXT, Profile.of(NEXT)).catalogue


def middleware_json(found):
    scope = {"kind": "universal"}
    if isinstance(found.scope, Monomorphic):
        both = {"presented": tool_json(found.scope.presented), "expected": tool_json(found.scope.expected)}
        scope = {"kind": "monomorphic", "value": both}
    return {
        "name": found.name,
        "version": found.version,
        "aliases": list(found.aliases),
        "doc": {"summary": "", "description": "", "examples": []},
        "scope": scope,
        "parameter_schema": graph_json(found.parameter_schema),
    }


def platform_documents():
    """The definitions as the platform writes them."""
    defined = catalogue()
    record = {
        "deploymentRevision": 1,
        "definition": tool_json(defined.tools["inventory"]),
        "source": {"componentName": "shop:cart"},
        "ownerAccountId": "01930000-0000-7000-8000-000000000001",
        "ownerAccountEmail": "acme@example.com",
        "metadataVersion": "1",
    }
    found = [{"values": [record]}, *(middleware_json(item) for item in defined.middleware.values())]
    return "\n".join(json.dumps(item) for item in found).encode()


def imported(database):
    """The number of the snapshot of the manifest and the definitions."""
    writer = Writer("test", NOW)
    loaded = load_text(MANIFEST, "golem.yaml", rules=NEXT)
    import_manifest(database, loaded, Selection(None, None, "", ""), NEXT, writer)
    done = import_platform(database, io.BytesIO(platform_documents()), "tools.json", PLACE, NEXT, writer)
    assert done.findings == ()
    return done.stored.snapshot.number


def report_of(stored, **asked):
    facts = StoredFacts.of(stored)
    sources = stored_sources(stored, facts.under(NEXT).deployment, (), NEXT, Profile.of(NEXT))
    return check_chains(sources, **asked)


def rows(report):
    return [
        (
            row.environment,
            row.agents,
            row.tool,
            row.verdict,
            row.chain.mode,
            tuple(layer.name for layer in row.chain.layers),
            tuple((found.code, found.message) for found in row.findings),
            tuple((p.agent, p.target, p.decided) for p in row.permissions),
            row.not_analysed,
        )
        for row in report.rows
    ]


def test_a_snapshot_is_decided_like_its_manifest(database):
    """Chains, modes, agents, verdicts, findings and permissions are those of the manifest with its definitions."""
    stored = load(database, imported(database))
    told = report_of(stored)
    loaded = load_text(MANIFEST, "golem.yaml", rules=NEXT)
    fresh = ChainSources(replace(catalogue(), tools={"inventory": catalogue().tools["inventory"]}), Profile.of(NEXT))
    assert rows(told) == rows(check_chains(replace(fresh, manifest=loaded), None, "", "acme@example.com"))
    assert [(row.tool, row.agents, len(row.chain.layers)) for row in told.rows] == [
        ("inventory", ("Cart",), 2),
        ("inventory", ("Order",), 3),
        ("lone", ("Cart", "Order"), 1),
        ("own", ("Order",), 1),
    ]
    assert "the parameters of `second`: a snapshot does not keep them" in told.not_analysed


def test_chains_are_exported_with_the_same_digest(database, make_database, engine):
    """An export that is imported again, anywhere, is the same snapshot; no parameter is in it."""
    stored = load(database, imported(database))
    document = json.dumps(deployment_json(stored))
    assert "s3cr3t" not in document
    again = put(make_database(engine), read_deployment(json.loads(document)), at=NOW, by="test")
    known = put(database, stored, at=NOW, by="test")
    assert again.snapshot.digest == known.snapshot.digest
    assert not known.is_new


def test_lists_are_kept_where_they_are_in_force(database):
    """One list for all tools with the mode, one for each bound tool, one for each agent type that changes it."""
    stored = load(database, imported(database))
    assert [(c.level, c.subject, c.tool, c.mode, [x.middleware for x in c.layers]) for c in stored.chains] == [
        (Level.AGENT, "Order", "inventory", "replace", ["stock-policy", "second"]),
        (Level.AGENT, "Order", "own", "replace", []),
        (Level.ENVIRONMENT, "", "", "nominal", ["audit"]),
        (Level.ENVIRONMENT, "", "inventory", "", ["stock-policy"]),
        (Level.ENVIRONMENT, "", "lone", "", []),
    ]
    assert [(m.name, m.origin.value, bool(m.definition)) for m in stored.middlewares if m.name == "second"] == [
        ("second", "manifest", False),
        ("second", "platform", True),
    ]


def test_without_definitions_nothing_is_decided(database):
    """Names alone make a chain undecided, and what is missing is named; a bound tool without any agent is a row."""
    stored = replace(load(database, imported(database)), tools=(), middlewares=(), agent_types=())
    report = report_of(replace(stored, chains=tuple(c for c in stored.chains if c.level is Level.ENVIRONMENT)))
    assert [(row.tool, row.agents) for row in report.rows] == [("inventory", ()), ("lone", ())]
    assert all(row.not_analysed for row in report.rows)


def test_a_definition_that_cannot_be_read_is_told(database):
    """What an older or newer platform wrote in another form is named with its place, and no chain rests on it."""
    stored = load(database, imported(database))
    spoiled = [replace(t, definition='{"commands":3}') if t.definition else t for t in stored.tools]
    told = report_of(replace(stored, tools=tuple(spoiled)), tool="inventory")
    assert any(text.startswith("tool `inventory`: its definition cannot be read at `$") for text in told.not_analysed)
    assert all("the definition of tool `inventory` was not given" in row.not_analysed for row in told.rows)


def test_another_environment_is_refused(database):
    """A snapshot is of one environment."""
    stored = load(database, imported(database))
    with pytest.raises(InputError, match="not of `stage`"):
        report_of(stored, environments=["stage"])


def test_the_mode_is_pinned(database):
    """I18: a manifest that changes its mode changes the next deployment, and what is stored keeps the old one."""
    number = imported(database)
    strict = MANIFEST.replace("toolCompatibilityMode: nominal", "toolCompatibilityMode: strict-equality")
    loaded = load_text(strict, "golem.yaml", rules=NEXT)
    after = import_manifest(database, loaded, Selection(None, None, "", ""), NEXT, Writer("test", NOW))
    modes = [{row.chain.mode.value for row in report_of(load(database, n)).rows} for n in (number, number + 1)]
    assert after.stored.snapshot.number == number + 1
    assert modes == [{"nominal"}, {"strict-equality"}]
