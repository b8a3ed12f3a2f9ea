"""Pages for people on a real server over real rustdoc JSON, and in a real Chromium."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Browser, Page, Route

from docstow.runtime import Runtime
from docstow.server.web import managing
from docstow.server.web.implementations import split_header


def guide_page(client: httpx.Client) -> str:
    results = client.get("/?q=heavy+pieces+go+first&in=pages").text
    link = (
        r'href="(/ui/page/[^"#]+)[^"]*"><span class="kind k-page">page</span>\s*<span[^>]*>Loading'
    )
    found = re.search(link, results)
    assert found
    return found[1]


def test_the_first_page_lists_what_is_stowed(client: httpx.Client) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert 'href="/ui/rust/stowage/latest"' in page.text
    assert "Ship manual" in page.text


def test_a_search_finds_items_examples_and_pages_by_a_plain_form(client: httpx.Client) -> None:
    found = client.get("/", params={"q": "put pieces into the hold"}).text
    assert "/ui/rust/stowage/0.1.0/stowage::Hold::stow" in found
    assert "/ui/page/" in found
    items = client.get("/", params={"q": "put pieces into the hold", "in": "items"}).text
    assert "/ui/page/" not in items


def test_a_long_signature_among_results_says_that_it_goes_on(client: httpx.Client) -> None:
    found = client.get("/", params={"q": "stowage::Crate", "in": "items"}).text
    shown = re.findall(r"<pre[^>]*>(.*?)</pre>", found, re.DOTALL)
    lines = [re.sub("<[^>]+>", "", each).strip().split("\n") for each in shown]
    struct = next(each for each in lines if each[0] == "pub struct Crate {")
    assert (len(struct), struct[-1]) == (4, "…")
    assert any(len(each) == 1 and each[0] != "…" for each in lines)


def test_an_item_has_its_signature_docs_members_and_owners(client: httpx.Client) -> None:
    page = client.get("/ui/rust/stowage/latest/stowage::Hold").text
    assert '<span class="k">pub</span>' in page
    assert "/ui/rust/stowage/latest/stowage::Hold::stow" in page
    assert 'href="/ui/rust/stowage/latest"' in page
    assert 'id="ui-implementations"' in page


def test_a_trait_says_who_implements_it(client: httpx.Client, runtime: Runtime) -> None:
    asked = {"package": "stowage", "type_filter": ["trait"], "query": "trait", "max_tokens": 0}
    found = runtime.toolbox.call("search_items", asked).structured
    assert found is not None
    path = found["results"][0]["item_path"]
    page = client.get(f"/ui/rust/stowage/latest/{path}").text
    assert "Implementors" in page


def test_members_stand_by_block_and_contents_lead_to_each(client: httpx.Client) -> None:
    page = client.get("/ui/rust/stowage/latest/stowage::Hold").text
    linked = set(re.findall(r'<li class="l2"><a href="#([^"]+)"', page))
    assert {"method.stow", "impl-Debug"} <= linked
    assert linked <= set(re.findall(r' id="([^"]+)"', page))
    assert re.search(r'<h2 id="ui-auto">Auto traits .*?</h2>\s*<details><summary', page, re.DOTALL)
    assert 'href="https://doc.rust-lang.org/stable/std/' in page


def test_a_search_stays_in_one_package(client: httpx.Client) -> None:
    page = client.get("/ui/rust/stowage/latest").text
    of = re.search(r'name="of" value="([^"]+)"', page)
    assert of
    asked = {"q": "heavy pieces go first", "of": of[1]}
    found = client.get("/", params=asked).text
    assert "/ui/rust/stowage/latest/" in found
    assert "/ui/page/" not in found
    assert "LANGUAGE/PACKAGE@VERSION" in client.get("/", params={**asked, "of": "stowage"}).text


@pytest.mark.parametrize(
    ("header", "trait", "kind"),
    [
        ("impl<T> Hold<T>", "", "Hold<T>"),
        ("unsafe impl<T: ?Sized + Send> Send for Mutex<T>", "Send", "Mutex<T>"),
        ("impl !Sync for Hold", "!Sync", "Hold"),
        ("impl<F: Fn(u8) -> T, T> From<Vec<T>> for Bag<F> where T: Ord", "From<Vec<T>>", "Bag<F>"),
        ("impl<T> Load for T where for<'a> &'a T: Load", "Load", "T"),
        ("impl<'a> Call for &'a dyn for<'b> Fn(&'b str)", "Call", "&'a dyn for<'b> Fn(&'b str)"),
    ],
)
def test_implementations_are_named_by_trait_and_type(header: str, trait: str, kind: str) -> None:
    assert split_header(header) == (trait, kind)


def test_a_path_that_is_nearly_right_leads_on(client: httpx.Client) -> None:
    short = client.get("/ui/rust/stowage/latest/Hold")
    assert short.headers["location"].endswith("/stowage::Hold")
    wrong = client.get("/ui/rust/stowage/latest/stowage::Hodl")
    assert wrong.status_code == 404
    assert "/ui/rust/stowage/latest/stowage::Hold" in wrong.text


def test_a_page_of_prose_links_within_its_source(client: httpx.Client) -> None:
    page = client.get(guide_page(client)).text
    assert re.search(r'<a href="/ui/page/[^"]+#weight"', page)
    assert 'href="#order"' in page
    assert "taken over" not in page


def test_a_fault_is_told_as_a_page_with_its_request(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("secret place")

    monkeypatch.setattr(managing, "registrable", fail)
    answer = client.get("/ui/sources")
    assert answer.status_code == 500
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["x-request-id"] in answer.text
    assert "secret place" not in answer.text


def test_every_page_forbids_what_it_does_not_need(client: httpx.Client) -> None:
    for path in ("/", "/ui/rust/stowage/latest", "/ui/nothing", "/ui/static/style.css"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("name", ["../visit.py", "%2e%2e/visit.py", "none.css"])
def test_static_files_are_those_of_their_folder(client: httpx.Client, name: str) -> None:
    answer = client.get(f"/ui/static/{name}")
    assert answer.status_code in (400, 404)
    assert "import" not in answer.text


def test_another_site_cannot_have_a_browser_load_pages(client: httpx.Client) -> None:
    sent = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert client.get("/ui/rust/stowage/latest", headers=sent).status_code == 403
    followed = {**sent, "Sec-Fetch-Mode": "navigate"}
    assert client.get("/ui/rust/stowage/latest", headers=followed).status_code == 200


def test_everything_that_a_page_loads_is_small(client: httpx.Client) -> None:
    page = client.get("/ui/rust/stowage/latest/stowage::Hold").text
    loaded = re.findall(r'(?:src|href)="(/ui/static/[^"]+)"', page)
    assert len(loaded) == 5
    total = len(page) + sum(len(client.get(path).content) for path in loaded)
    assert total <= 200_000


# In a browser


def enter(tab: Page, texts: list[str], event: str = "input") -> None:
    """Enter one text after the other into the search, faster than any hand."""
    tab.evaluate(
        """([texts, event]) => {
          const field = document.getElementById("ui-q");
          for (const text of texts) {
            field.value = text;
            field.dispatchEvent(new Event(event, { bubbles: true }));
          }
        }""",
        [texts, event],
    )


def test_results_come_while_one_types_and_can_be_shared(tab: Page) -> None:
    tab.goto("/ui/rust/stowage/latest")
    tab.keyboard.press("/")
    tab.keyboard.type("put pieces into the hold")
    tab.wait_for_url("**/?q=put*hold")
    tab.locator(".results .result").first.wait_for()
    assert tab.title() == "put pieces into the hold · docstow"
    tab.reload()
    assert tab.locator(".results .result").count() > 1
    # However many letters it has, a search is one step back, to a whole page.
    tab.go_back()
    tab.wait_for_url("**/ui/rust/stowage/latest")
    tab.locator("h1", has_text="stowage").wait_for()
    tab.locator("#ui-q").wait_for()


def test_letters_that_come_fast_are_one_request(tab: Page) -> None:
    asked: list[str] = []
    tab.on("request", lambda made: asked.append(made.url) if "/?q=" in made.url else None)
    tab.goto("/")
    text = "put pieces into the hold"
    enter(tab, [text[:end] for end in range(1, len(text) + 1)])
    tab.locator(".results .result").first.wait_for()
    assert [httpx.URL(each).params["q"] for each in asked] == [text]
    delay = re.search(r"delay:(\d+)ms", tab.locator("#ui-q").get_attribute("hx-trigger") or "")
    assert delay
    assert int(delay[1]) <= 100


def test_what_is_entered_while_an_answer_is_waited_for_is_one_more_request(tab: Page) -> None:
    held: list[Route] = []
    asked: list[str] = []

    def hold_first(route: Route) -> None:
        asked.append(httpx.URL(route.request.url).params["q"])
        if len(asked) == 1:
            held.append(route)
        else:
            route.continue_()

    tab.route("**/?q=*", hold_first)
    tab.goto("/")
    with tab.expect_request("**/?q=*"):
        enter(tab, ["hold"], "search")
    enter(tab, ["hold the", "hold the heavy", "hold the heavy pieces"], "search")
    assert asked == ["hold"]
    held[0].continue_()
    tab.wait_for_url("**/?q=hold*pieces")
    assert asked == ["hold", "hold the heavy pieces"]


def test_the_keyboard_goes_through_results_and_opens_one(tab: Page) -> None:
    tab.goto("/?q=hold&in=items")
    tab.keyboard.press("j")
    tab.keyboard.press("j")
    tab.keyboard.press("k")
    href = tab.evaluate("document.activeElement.getAttribute('href')")
    assert href == tab.locator(".results .result > a").first.get_attribute("href")
    tab.keyboard.press("Enter")
    tab.wait_for_url(f"**{href}")
    tab.keyboard.press("g")
    tab.keyboard.press("h")
    tab.wait_for_url("**/")


def paper(tab: Page) -> str:
    return str(tab.evaluate("getComputedStyle(document.body).backgroundColor"))


def test_colours_follow_the_system_until_one_chooses(tab: Page) -> None:
    tab.emulate_media(color_scheme="light")
    tab.goto("/")
    light = paper(tab)
    tab.emulate_media(color_scheme="dark")
    dark = paper(tab)
    assert dark != light
    switch = tab.get_by_role("button", name="Colours")
    switch.click()
    assert paper(tab) == light
    # Of the next page nothing is drawn in other colours: they are set before it has a body.
    tab.add_init_script("""
        new MutationObserver((_, seen) => {
          if (!document.body) return;
          window.begun = document.documentElement.dataset.theme;
          seen.disconnect();
        }).observe(document, { childList: true, subtree: true });
    """)
    tab.goto("/ui/rust/stowage/latest")
    assert tab.evaluate("window.begun") == "light"
    assert paper(tab) == light
    switch.click()
    assert paper(tab) == dark
    switch.click()
    tab.emulate_media(color_scheme="light")
    assert paper(tab) == light


@pytest.mark.parametrize("width", [360, 768, 1400, 2400])
def test_no_page_is_wider_than_the_window(tab: Page, client: httpx.Client, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 800})
    for path in ("/", "/?q=hold", "/ui/rust/stowage/latest", guide_page(client)):
        tab.goto(path)
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


def test_pages_are_read_without_scripts(chromium: Browser, url: str) -> None:
    context = chromium.new_context(base_url=url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/")
    assert not page.locator("button.theme").is_visible()
    page.fill("#ui-q", "put pieces into the hold")
    page.press("#ui-q", "Enter")
    page.locator(".results .result > a").first.click()
    assert page.locator("h1").first.is_visible()
    context.close()
