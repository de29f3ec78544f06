"""The page of chains: the chain outside-in, a light in words, the payload, both definitions, no scripts."""

import re

from web_outline import Outline

from policyd.service.description import EXAMPLES

CHAIN = EXAMPLES["/v1/chains/check"]["documents"][0]["text"]
LAYERED = """
policyd: 1
definitions:
  tools:
    inventory: {version: "2", commands: {adjust: {result: {type: "u8", formatters: [text]}}}}
    other: {version: "2", commands: {adjust: {result: {type: "u8", formatters: [text]}}}}
  middleware:
    audit: {scope: universal, version: "1"}
    same: {presents: inventory, expects: inventory, version: "1"}
chain: {tool: inventory, leaf: inventory, layers: [audit, same, unheard]}
callers: [{name: shop, tool: inventory, definition: other}]
"""


def told(web, **form):
    answer = web.client.post("/chains", data=form)
    return answer, re.sub(r"\s+", " ", Outline(answer.text).text)


def test_a_chain_that_does_not_fit(web):
    """The link in words, the payload that breaks it, and the two definitions side by side."""
    answer, text = told(web, document=CHAIN)
    assert answer.status_code == 200
    assert "deployment reject (structural-subtype)" in text
    assert "layer 1 (stock-policy) → inventory: does not fit" in text
    assert 'for example "backordered"' in text
    assert "layer 1 (stock-policy) expects" in text
    assert "inventory has" in text
    assert "result: variant(done)" in text
    assert "result: variant(done | backordered)" in text
    assert 'class="facet no">does not fit' in answer.text
    assert Outline(answer.text).problems == []


def test_layers_are_drawn_from_the_callers_inward(web):
    """Callers, each layer, and the tool; what is not known is told and never green."""
    _, text = told(web, document=LAYERED)
    steps = ["callers → layer 1 (audit)", "layer 1 (audit) → layer 2 (same)", "layer 2 (same) → layer 3 (unheard)"]
    places = [text.index(step) for step in (*steps, "layer 3 (unheard) → inventory")]
    assert places == sorted(places)
    assert "layer 2 (same) → layer 3 (unheard): not known" in text


def test_the_chains_of_a_snapshot_have_a_permanent_link(web):
    answer = web.client.get("/chains", params={"snapshot": "@acme@example.com/shop/prod"})
    permalink = re.search(r'<a href="([^"]+)">Permanent link', answer.text).group(1).replace("&amp;", "&")
    assert "snapshot=%403" in permalink
    again = web.client.get(permalink).text
    assert again[again.index('class="answer"') :] == answer.text[answer.text.index('class="answer"') :]


def test_definitions_are_pasted_beside_a_snapshot(web):
    """A snapshot that only knows names is decided with what is pasted."""
    defined = 'policyd: 1\ndefinitions: {tools: {bash: {version: "1", result: {type: u8, formatters: [text]}}}}\n'
    _, before = told(web, snapshot="@1", tool="bash")
    _, after = told(web, snapshot="@1", tool="bash", document=defined)
    assert "deployment undecided" in before
    assert "deployment accept" in after


def test_hostile_documents_are_text(web):
    """Markup of a document is shown, in the form and in the findings."""
    name = "</textarea><script>window.pwned=1</script>"
    answer, text = told(web, document=f"policyd: 1\nchain: {{tool: '{name}', leaf: '{name}', layers: ['{name}']}}\n")
    assert answer.status_code == 200
    assert "<script" not in answer.text
    assert name in text
    refused, _ = told(web, document="policyd: 1\nchain: [")
    assert refused.status_code == 422
    assert "The question cannot be asked" in refused.text
    unread, text = told(web, document="policyd: 1\ndefinitions: {tools: {t: {metadata: /etc/passwd}}}\n")
    assert (unread.status_code, "cannot be read from here" in text) == (422, True)


def test_a_snapshot_leads_to_its_chains(web):
    """One link from the snapshot, and what it shows is of that snapshot."""
    page = web.client.get("/snapshots/1").text
    target = re.search(r'href="(/chains[^"]+)"', page).group(1).replace("&amp;", "&")
    assert "Read from snapshot @1" in re.sub(r"\s+", " ", Outline(web.client.get(target).text).text)
