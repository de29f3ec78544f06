"""The pages in a real browser: by keyboard, without scripts, narrow, dark, and with hostile names in them."""

from urllib.parse import quote

import pytest
from service_serving import MANIFEST, PARENT, PLACE, TARGET
from web_paths import CHECK, PAGES

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser, web):
    context = browser.new_context(base_url=web.base, viewport={"width": 1000, "height": 900})
    made = context.new_page()
    made.set_default_timeout(10_000)
    yield made
    context.close()


def test_a_question_is_asked_and_answered_by_keyboard(page):
    """Skip link first; the form is filled and sent without a pointer; the answer is a region with a name."""
    page.goto("/check")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    page.keyboard.type(PLACE)
    page.keyboard.press("Tab")
    page.keyboard.type("Cart")
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.type(TARGET)
    page.keyboard.press("Enter")
    answer = page.get_by_role("region", name="Answer")
    answer.wait_for()
    assert "Cart in prod may do" in answer.inner_text()
    assert page.get_by_label("Target").input_value() == TARGET
    page.get_by_role("link", name="Permanent link to this answer").click()
    page.wait_for_url("**snapshot=%403**")
    assert page.get_by_role("region", name="Answer").is_visible()


def test_an_error_is_pasted_and_explained(page):
    """The sentence, the cause and the change; the paste is in no address, the link to the answer leads to the same."""
    page.goto("/explain")
    page.get_by_label("Snapshot").fill(PLACE)
    page.get_by_label("Agent").fill("Cart")
    page.get_by_label("The error, log or answer").fill(
        "KeyValueError(get): key-value permission denied: Unauthorized: The permission target "
        "Kv(ClassPermissionTarget {"
        ' verb: Some(Read), owner: Environment { account: AccountEmail("acme@example.com"),'
        ' application: ApplicationName("shop"), environment: EnvironmentName("prod") },'
        ' resource: BucketKey { bucket: "carts", key_pattern: "42" } }) is not allowed'
    )
    page.get_by_role("button", name="Explain").click()
    page.get_by_role("heading", name="Change 1").wait_for()
    assert "KeyValueError" not in page.url
    assert (
        page.get_by_role("heading", level=2).first.inner_text().startswith("Cart may not do kv(?env) : read : carts.42")
    )
    assert "store differs" in page.content()
    page.get_by_role("link", name="Permanent link to this answer").click()
    page.wait_for_url("**/explain?**")
    assert page.get_by_role("heading", name="Change 1").is_visible()


def test_chains_are_drawn_and_told(page):
    page.goto("/reach")
    page.get_by_label("Snapshot").fill(PLACE)
    page.get_by_label("To:").fill("secret(?env) : reveal : any")
    page.get_by_role("button", name="Search").click()
    picture = page.get_by_role("img")
    picture.wait_for()
    assert picture.get_attribute("aria-label").startswith("path: ")
    assert page.get_by_role("listitem").filter(has_text="hands over what it knows").first.is_visible()


def test_an_operation_is_found_and_asked_about(page):
    """From the catalogue to the form, and from there to the answer target by target."""
    page.goto("/operations")
    page.get_by_label("A word in a name").fill("fs.open")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="fs.open", exact=True).click()
    page.get_by_role("link", name="Ask whether an agent may do this").click()
    page.get_by_label("Snapshot").fill(PLACE)
    page.get_by_label("Agent").fill("Cart")
    page.get_by_label("with its arguments").fill("path=/a\nflags=read,write")
    page.get_by_role("button", name="Check").click()
    answer = page.get_by_role("region", name="Answer")
    answer.wait_for()
    assert "filesystem(?agent) : read : /a" in answer.inner_text()
    assert "not admitted" in answer.inner_text()


def test_the_focus_is_seen(page):
    page.goto("/check")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    style = page.evaluate(
        "getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).outlineWidth"
    )
    assert style == "solid3px"


def test_reading_goes_from_the_front_page_to_a_card(page):
    page.goto("/")
    page.get_by_role("row", name="acme@example.com/shop/prod").get_by_role("link", name="@3").click()
    page.get_by_role("link", name=PARENT).click()
    assert page.get_by_role("heading", name="If it were revoked").is_visible()
    page.go_back()
    page.get_by_role("link", name="Cart", exact=True).click()
    table = page.get_by_role("region", name="Floor", exact=True).get_by_role("table")
    line = 1 + next(n for n, text in enumerate(MANIFEST.splitlines()) if "reveal : stripe.key" in text)
    assert f"golem.yaml:{line}:14" in table.inner_text()


def test_pages_read_without_scripts(browser, web):
    context = browser.new_context(base_url=web.base, java_script_enabled=False)
    page = context.new_page()
    page.goto(CHECK)
    assert "Cart in prod may do" in page.get_by_role("region", name="Answer").inner_text()
    context.close()


@pytest.mark.parametrize("path", PAGES)
def test_hostile_names_are_shown_and_never_run(page, path):
    """No dialog, no error of the content-security policy, nothing set by a name."""
    told = []
    page.on("dialog", lambda dialog: (told.append(dialog.message), dialog.dismiss()))
    page.on("console", lambda message: told.append(message.text) if "Content Security" in message.text else None)
    page.on("pageerror", lambda error: told.append(str(error)))
    page.goto(path)
    assert page.evaluate("window.pwned") is None
    assert page.evaluate("document.scripts.length") == 0
    assert told == []


def test_a_hostile_name_reads_as_it_was_written(page):
    page.goto("/")
    assert page.get_by_text("<script>window.pwned=1</script>").first.is_visible()
    page.goto("/snapshots/4")
    assert page.get_by_role("link", name="<svg/onload=window.pwned=1>").is_visible()
    assert page.get_by_role("link", name="`x` {{ 7*7 }} javascript:window.pwned=1").is_visible()


@pytest.mark.parametrize("path", ["/", CHECK, "/snapshots/1", "/snapshots/1/agent?name=Cart", "/rules/CARD007"])
def test_a_narrow_window_needs_no_sideways_scrolling(page, path):
    """At 320 pixels the page itself does not scroll sideways (WCAG 2.2, reflow); wide tables scroll in their region."""
    page.set_viewport_size({"width": 320, "height": 800})
    page.goto(path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_dark_and_light_follow_the_system(browser, web):
    seen = set()
    for scheme in ("light", "dark"):
        context = browser.new_context(base_url=web.base, color_scheme=scheme)
        page = context.new_page()
        page.goto("/check")
        seen.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        context.close()
    assert seen == {"rgb(255, 255, 255)", "rgb(20, 24, 30)"}


def test_an_unanswerable_question_is_announced(page):
    page.goto(f"/check?snapshot={quote(PLACE)}&agent=Cart&target=nonsense")
    assert "The question cannot be asked" in page.get_by_role("alert").inner_text()
    assert page.get_by_label("Target").input_value() == "nonsense"


def test_two_snapshots_are_compared_by_keyboard(page):
    """From a snapshot to its difference with another one, and to the link that keeps it."""
    page.goto("/snapshots/1")
    page.get_by_role("link", name="Compare with the latest").click()
    assert page.get_by_role("heading", name="From @1 to @3").is_visible()
    page.get_by_label("Agent type or id").fill("Cart")
    page.keyboard.press("Enter")
    page.wait_for_url("**agent=Cart**")
    page.get_by_role("link", name="Permanent link to this difference").click()
    page.wait_for_url("**new=%403**")
    assert page.get_by_role("heading", name="From @1 to @3").is_visible()
