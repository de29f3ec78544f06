"""The page of retry policies: schedules as a picture, limits, findings, who decides, sagas, no scripts."""

import re

import pytest
from web_outline import Outline

MANIFEST = """\
manifestVersion: 1.6.0
app: shop
environments: {prod: {server: cloud, account: acme@example.com}}
components: {"shop:cart": {dir: cart, templates: rust}}
agents:
  Cart: {initialCard: {lowerBound: {positive: ['agent(?agent) @ ?agent : view :']}}}
retryPolicyDefaults:
  prod:
    sagas:
      priority: 20
      predicate: {propEq: {property: uri-scheme, value: urn}}
      policy:
        countBox:
          maxRetries: 4
          inner:
            jitter:
              factor: 0.5
              inner: {clamp: {minDelay: 0s, maxDelay: 3s, inner: {exponential: {baseDelay: 1s, factor: 2}}}}
    "<script>x</script>":
      priority: 10
      predicate: {propEq: {property: verb, value: GET}}
      policy: {timeBox: {limit: 10s, inner: {periodic: 2s}}}
"""


def told(web, **form):
    answer = web.client.post("/retry", data=form)
    return answer, re.sub(r"\s+", " ", Outline(answer.text).text)


def test_schedules_are_drawn_under_one_another(web):
    """A bar for each wait with its jitter, ceilings and time boxes as lines, best and worst case; the words beside."""
    answer, text = told(web, document=MANIFEST, agent="Cart", site="saga")
    assert answer.status_code == 200
    picture = answer.text[answer.text.index("<svg") : answer.text.index("</svg>")]
    assert picture.count("<g transform") == 3
    assert picture.count('class="wait"') >= 4
    for kind in ("jitter", "ceiling", "box", "best", "worst"):
        assert f'class="{kind}"' in picture, kind
    assert "<style" not in answer.text
    assert "<script" not in answer.text
    assert "sagas: 5 attempts in all (1 + 4 retries)" in text
    assert "admitted: yes" in text
    assert "`sagas` decides" in text
    assert Outline(answer.text).problems == []


def test_one_policy_alone(web):
    answer, text = told(web, document=MANIFEST, policy="sagas")
    assert answer.text.count("<g transform") == 1
    assert "Which policy decides" not in text


def test_a_snapshot_has_a_permanent_link(web):
    answer = web.client.get("/retry", params={"snapshot": "@acme@example.com/shop/prod", "policy": "default"})
    permalink = re.search(r'<a href="([^"]+)">Permanent link', answer.text).group(1).replace("&amp;", "&")
    assert "snapshot=%40" in permalink
    again = web.client.get(permalink).text
    assert again[again.index('class="answer"') :] == answer.text[answer.text.index('class="answer"') :]


@pytest.mark.parametrize(
    "form",
    [
        {"document": "a: &a [*a]"},
        {"document": MANIFEST, "policy": "other"},
        {"document": MANIFEST, "site": "nowhere"},
        {"document": MANIFEST, "site": "rpc", "properties": "x"},
        {"document": MANIFEST, "edition": "old"},
        {"snapshot": "@999"},
    ],
)
def test_what_cannot_be_asked_is_told_on_the_page(web, form):
    answer, text = told(web, **form)
    assert answer.status_code in (404, 422)
    assert "The question cannot be asked" in text
    assert Outline(answer.text).problems == []


@pytest.mark.parametrize("field", ["snapshot", "environment", "policy", "site", "properties", "agent", "edition"])
def test_a_query_and_a_form_have_the_same_fields(web, field):
    """The same page for both, also for what is too long; names that are no fields are left alone."""
    by_query = web.client.get("/retry", params={field: "x y", "other": "1"})
    by_form = web.client.post("/retry", data={field: "x y", "other": "1"})
    assert by_query.status_code == by_form.status_code
    assert Outline(by_query.text).text == Outline(by_form.text).text
    long = {field: "x" * 4_097}
    answers = (web.client.get("/retry", params=long), web.client.post("/retry", data=long))
    assert [answer.status_code for answer in answers] == [422, 422]


def test_an_empty_form_is_the_form(web):
    assert web.client.post("/retry").status_code == 200
    assert web.client.post("/retry", data={"document": "x" * ((1 << 20) + 1)}).status_code in (413, 422)


def test_many_policies_are_drawn_in_part_and_say_so(web):
    """More than 20 schedules are counted; of more than 30 policies no findings are looked for."""
    rules = "".join(f"    r{number}: {{priority: {number}, predicate: true, policy: never}}\n" for number in range(31))
    head = MANIFEST[: MANIFEST.index("retryPolicyDefaults")]
    _, text = told(web, document=f"{head}retryPolicyDefaults:\n  prod:\n{rules}")
    assert "and 12 more" in text
    assert "findings of more than 30 policies are not looked for on this page" in text
