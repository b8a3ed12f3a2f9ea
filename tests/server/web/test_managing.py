"""Sources, jobs and calls as pages, and who may change something by them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page

from docstow.core import auth
from docstow.core.settings import load
from docstow.runtime import Runtime
from servers.web import serve

TOKENS = {scope: auth.new_token() for scope in auth.SCOPES}


@pytest.fixture(scope="module")
def closed(runtime: Runtime) -> Iterator[str]:
    """A server on the same store that wants tokens."""
    entries = [f"{scope}r:{scope}:{auth.token_digest(token)}" for scope, token in TOKENS.items()]
    settings = {
        "store": runtime.location,
        "cache": runtime.settings.cache,
        "offline": True,
        "auth": ",".join(entries),
    }
    made = Runtime(load(settings, {}))
    with serve(made.app) as address:
        yield address
    made.close()


def sent_by(url: str) -> dict[str, str]:
    return {"Origin": url, "Sec-Fetch-Site": "same-origin"}


@contextmanager
def signed_in(url: str, scope: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, headers=sent_by(url)) as client:
        given = {"token": TOKENS[scope], "next": "/ui/sources"}
        answer = client.post("/ui/login", data=given)
        assert (answer.status_code, answer.headers["location"]) == (303, "/ui/sources")
        yield client


def test_a_source_is_added_and_its_progress_is_seen(tab: Page, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.md").write_text(f"# Part {number}\n\nRope and sail.\n", "utf-8")
    tab.goto("/ui/sources")
    tab.select_option("select[name=kind]", "folder")
    tab.fill("input[name=uri]", str(tmp_path))
    tab.fill("input[name=title]", "Rope")
    tab.get_by_role("button", name="Add and sync").click()
    tab.wait_for_url("**/ui/jobs/*")
    tab.locator("#ui-state", has_text="success").wait_for()
    assert tab.locator("th", has_text="documents").count() == 1
    tab.get_by_role("link", name="Rope").click()
    assert tab.get_by_role("heading", name="What was kept").is_visible()
    tab.get_by_role("button", name="Sync", exact=True).click()
    tab.wait_for_url("**/ui/jobs/*")


def test_what_cannot_be_added_is_told_beside_the_form(tab: Page) -> None:
    tab.goto("/ui/sources")
    tab.evaluate("document.querySelector('input[name=options]').value = '[1]'")
    tab.fill("input[name=uri]", "https://docs.example/")
    tab.get_by_role("button", name="Add and sync").click()
    tab.get_by_role("alert").wait_for()
    assert "JSON object" in tab.get_by_role("alert").inner_text()
    assert tab.input_value("input[name=uri]") == "https://docs.example/"


def test_a_job_s_events_end_with_it(client: httpx.Client) -> None:
    jobs = re.findall(r"/ui/jobs/([0-9a-f]{16}-\d{6})", client.get("/ui/jobs").text)
    answer = client.get(f"/ui/jobs/{jobs[0]}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.text.endswith("event: end\ndata: \n\n")
    assert 'id="ui-state">success' in answer.text


def test_a_job_that_failed_is_begun_again(
    runtime: Runtime, client: httpx.Client, url: str, tmp_path: Path
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nHere.\n", "utf-8")
    made = runtime.toolbox.call("create_source", {"kind": "folder", "uri": str(folder)}).structured
    assert made is not None
    (folder / "a.md").unlink()
    folder.rmdir()
    job = runtime.sync.start(made["source_id"])
    assert runtime.sync.wait(job.id, 60).state == "failed"
    page = client.get(f"/ui/jobs/{job.id}").text
    assert "Begin it again" in page
    assert f"the job {job.id} failed: " in page.partition('id="ui-log"')[2]
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nHere.\n", "utf-8")
    answer = client.post(f"/ui/jobs/{job.id}/redrive", headers=sent_by(url))
    assert answer.status_code == 303
    again = answer.headers["location"].rpartition("/")[2]
    assert runtime.sync.wait(again, 60).state == "success"
    refused = client.post(f"/ui/jobs/{again}/redrive", headers=sent_by(url))
    assert refused.status_code == 400


def test_the_store_shows_sizes_and_the_calls_of_the_last_hour(
    runtime: Runtime, client: httpx.Client
) -> None:
    runtime.toolbox.call("list_sources", {})
    page = client.get("/ui/store").text
    assert page.count('<svg class="plot wide"') == 2
    assert page.count('<table class="bars"') == 2
    assert "stowage 0.1.0</a>" in page
    assert "<code>list_sources</code>" in page


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "SELF", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "SELF", "Sec-Fetch-Site": "same-site"},
        {"Cookie": "docstow_token=x"},
    ],
)
def test_forms_of_other_sites_do_nothing(
    client: httpx.Client, url: str, headers: dict[str, str]
) -> None:
    sent = {name: url if value == "SELF" else value for name, value in headers.items()}
    before = client.get("/ui/sources").text
    answer = client.post("/ui/sources", data={"kind": "folder", "uri": "/"}, headers=sent)
    assert answer.status_code == 403
    assert client.get("/ui/sources").text == before


def test_a_closed_server_asks_people_to_sign_in_and_nobody_else(closed: str) -> None:
    with httpx.Client(base_url=closed) as client:
        answer = client.get("/ui/rust/stowage/latest?x=1")
        assert answer.status_code == 303
        assert answer.headers["location"] == "/ui/login?next=/ui/rust/stowage/latest%3Fx%3D1"
        assert client.get("/sources").status_code == 401
        assert client.post("/ui/sources", headers=sent_by(closed)).status_code == 401
        form = client.get("/ui/login")
        assert form.status_code == 200
        assert "stowage" not in form.text
        for path in re.findall(r'"(/ui/static/[^"]+)"', form.text):
            assert client.get(path).status_code == 200


def test_a_token_signs_in_for_pages_alone(closed: str) -> None:
    with signed_in(closed, "read") as client:
        cookie = client.cookies.jar
        assert [(each.name, each.path) for each in cookie] == [("docstow_token", "/")]
        assert client.get("/ui/rust/stowage/latest").status_code == 200
        assert client.get("/sources").status_code == 401
        call = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert client.post("/mcp", json=call).status_code == 401
        client.post("/ui/logout")
        assert client.get("/ui/sources").status_code == 303


def test_the_cookie_is_for_no_script_and_no_other_site(closed: str) -> None:
    with httpx.Client(base_url=closed, headers=sent_by(closed)) as client:
        set_cookie = client.post("/ui/login", data={"token": TOKENS["read"]}).headers["set-cookie"]
    assert "httponly" in set_cookie.lower()
    assert "samesite=strict" in set_cookie.lower()


def test_a_wrong_token_is_refused_and_a_stale_one_can_be_replaced(closed: str) -> None:
    with httpx.Client(base_url=closed, headers=sent_by(closed)) as client:
        answer = client.post("/ui/login", data={"token": "docstow_wrong"})
        assert (answer.status_code, "set-cookie" in answer.headers) == (401, False)
        client.cookies.set("docstow_token", "docstow_stale")
        assert client.get("/").status_code == 303
        assert client.post("/ui/login", data={"token": TOKENS["read"]}).status_code == 303


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example", "/\\evil", "/mcp"])
def test_signing_in_leads_to_no_other_site(closed: str, back: str) -> None:
    with httpx.Client(base_url=closed, headers=sent_by(closed)) as client:
        answer = client.post("/ui/login", data={"token": TOKENS["read"], "next": back})
        assert answer.headers["location"] == "/"


def test_each_change_needs_its_scope(closed: str, tmp_path: Path) -> None:
    source = {"kind": "folder", "uri": str(tmp_path)}
    with signed_in(closed, "read") as client:
        page = client.get("/ui/sources").text
        assert "Add and sync" not in page
        assert client.post("/ui/sources", data=source).status_code == 403
        assert client.post("/ui/tokens", data={"name": "ci"}).status_code == 403
        identity = re.findall(r"/ui/sources/([0-9a-f]{64})", page)[0]
        assert client.post(f"/ui/sources/{identity}/sync").status_code == 403
    with signed_in(closed, "write") as client:
        assert client.post(f"/ui/sources/{identity}/delete").status_code == 403
        assert client.post(f"/ui/sources/{identity}/sync").status_code == 303
    with signed_in(closed, "admin") as client:
        page = client.post("/ui/tokens", data={"name": "ci", "scope": "write"}).text
        token, entry = re.findall(r"<code>(docstow_\S+|ci:\S+)</code>", page)
        assert auth.parse([entry], exposed=True).identify(f"Bearer {token}").name == "ci"


def test_people_sign_in_with_a_browser(chromium: Browser, closed: str) -> None:
    context = chromium.new_context(base_url=closed)
    page = context.new_page()
    page.goto("/ui/rust/stowage/latest")
    page.fill("input[name=token]", TOKENS["write"])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/ui/rust/stowage/latest")
    assert page.get_by_role("button", name="Sign out").is_visible()
    context.close()
