"""The tool that reads installed packages, over a real environment."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from docstow.core.errors import (
    DocstowError,
    DocumentNotFound,
    Forbidden,
    InvalidParameter,
    ItemNotFound,
    PackageNotFound,
)
from docstow.languages.projects import Projects
from docstow.tools import Toolbox, read_package
from languages.projects.test_boundary import REFUSED
from opened import opened_below
from pages import join, read_pages


@pytest.fixture(scope="module")
def toolbox(python_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Toolbox:
    cache = tmp_path_factory.mktemp("cache")
    return Toolbox([read_package.tool(Projects([python_project], cache, local=True))])


def read(toolbox: Toolbox, **arguments: Any) -> str:
    return toolbox.call("read_package", arguments).text


def test_a_package_shows_its_surface_and_its_files(toolbox: Toolbox) -> None:
    text = read(toolbox, package_name="pluggy", max_tokens=20000)
    assert text.startswith("*pluggy 1.7.0 · python · ")
    assert "## Entry module `pluggy`" in text
    assert "- **PluginManager**: `class PluginManager`" in text
    assert text[text.index("## Files") :].split("```text\n")[1].split("\n")[:3] == [
        "pluggy/",
        *text[text.index("## Files") :].split("```text\n")[1].split("\n")[1:3],
    ]
    assert "__pycache__" not in text


def test_a_symbol_shows_its_definition_through_its_re_export(toolbox: Toolbox) -> None:
    text = read(toolbox, package_name="requests", symbol="requests.get")
    assert "# function `requests.get`" in text
    assert "Defined as `requests.api.get`" in text
    assert "`requests/api.py` lines 74-87" in text
    assert 'return request("get", url, params=params, **kwargs)' in text


def test_a_symbol_of_another_package_shows_that_ones_source(toolbox: Toolbox) -> None:
    text = read(toolbox, package_name="fastapi", symbol="Request")
    assert "Defined as `starlette.requests.Request`" in text
    assert "class Request(" in text.split("## Source")[1]


def test_a_miss_suggests_what_was_meant(toolbox: Toolbox) -> None:
    with pytest.raises(ItemNotFound) as caught:
        read(toolbox, package_name="fastapi", symbol="fastapi.APIRoter")
    assert caught.value.suggestions[0]["name"] == "fastapi.APIRouter"
    with pytest.raises(PackageNotFound) as unknown:
        read(toolbox, package_name="reqests")
    assert unknown.value.suggestions[0]["name"] == "requests"
    with pytest.raises(DocumentNotFound) as missing:
        read(toolbox, package_name="requests", file_path="requests/sesions.py")
    assert missing.value.suggestions[0]["name"] == "requests/sessions.py"


def test_a_package_is_found_by_what_is_imported_of_it(toolbox: Toolbox) -> None:
    assert read(toolbox, package_name="PIL", symbol="PIL.Image.open").startswith("*pillow 13.0.0 ")


def test_a_file_is_read_whole_in_parts_and_by_lines(toolbox: Toolbox, python_project: Path) -> None:
    path = "requests/api.py"
    real = next(python_project.glob(f".venv/lib/*/site-packages/{path}")).read_text("utf-8")
    lines = read(toolbox, package_name="requests", file_path=path, lines="74-87")
    assert "\n".join(real.splitlines()[73:87]) in lines
    assert "lines 74-87 of" in lines
    pages = read_pages(toolbox, "read_package", 200, package_name="requests", file_path=path)
    assert len(pages) > 5
    assert real in join(pages)


@pytest.mark.parametrize("name", ["fastapi", "pydantic", "requests", "django", "numpy"])
def test_files_are_read_page_by_page(toolbox: Toolbox, python_project: Path, name: str) -> None:
    site = next(python_project.glob(".venv/lib/*/site-packages"))
    found = [each for each in (site / name).rglob("*") if each.suffix in (".py", ".pyi", ".txt")]
    files = sorted(found, key=lambda each: each.stat().st_size)[-12:]
    assert files
    for file in files:
        path = file.relative_to(site).as_posix()
        pages = read_pages(toolbox, "read_package", 4000, package_name=name, file_path=path)
        text = re.sub(r"\r\n?", "\n", file.read_bytes().decode(errors="replace"))
        assert text.removesuffix("\n") in join(pages), path
        assert len(pages) <= 2 + len(text) // 14_000, path


def test_a_page_says_which_lines_of_the_file_it_has(toolbox: Toolbox, python_project: Path) -> None:
    path = "fastapi/routing.py"
    rows = next(python_project.glob(f".venv/lib/*/site-packages/{path}")).read_text("utf-8")
    lines = rows.split("\n")[:-1]
    asked = {"package_name": "fastapi", "file_path": path}
    following = 1
    for page in read_pages(toolbox, "read_package", 1000, **asked):
        assert page.lines is not None
        first, last, total = page.lines
        assert (first, total) == (following, len(lines))
        assert "\n".join(lines[first - 1 : last]) in page.text
        following = last + 1
    assert following == len(lines) + 1
    some = read_pages(toolbox, "read_package", 1000, lines="100-400", **asked)
    numbers = [number for page in some for number in (page.lines or ())[:2]]
    assert (numbers[0], numbers[-1]) == (100, 400)


def test_a_folder_is_listed(toolbox: Toolbox) -> None:
    text = read(toolbox, package_name="pydantic", file_path="pydantic/v1")
    assert "main.py (" in text
    assert "version.py (" in text


@pytest.mark.parametrize("lines", ["0", "5-2", "x", "1-", "-3", "99999"])
def test_lines_that_are_none_are_refused(toolbox: Toolbox, lines: str) -> None:
    with pytest.raises(InvalidParameter):
        read(toolbox, package_name="requests", file_path="requests/api.py", lines=lines)


@pytest.mark.parametrize(
    "path",
    [each for each in REFUSED if each.strip() and len(each) <= 1000 and each != "pkg"],
    ids=ascii,
)
def test_no_path_leads_out(toolbox: Toolbox, path: str) -> None:
    with pytest.raises(DocstowError) as caught:
        read(toolbox, package_name="requests", file_path=path)
    assert "site-packages" not in caught.value.message


@pytest.mark.parametrize("path", ["six.py", "flask/app.py", "requests/../six.py", "pip"])
def test_the_files_of_other_packages_are_not_this_ones(toolbox: Toolbox, path: str) -> None:
    with pytest.raises(DocstowError):
        read(toolbox, package_name="requests", file_path=path)


def test_the_import_graph_in_both_forms(toolbox: Toolbox) -> None:
    text = read(toolbox, package_name="requests", graph="json", max_tokens=20000)
    graph = json.loads(text.split("```json\n")[1].split("\n```")[0])
    assert graph["package"] == "requests"
    assert "requests.sessions" in graph["nodes"]
    assert ["requests.api", "requests.sessions", 1] in graph["edges"]
    assert "urllib3" in graph["external"]
    mermaid = read(toolbox, package_name="requests", graph="mermaid", max_tokens=20000)
    assert "flowchart LR\n" in mermaid
    assert '["requests.sessions"]' in mermaid
    bounded = read(toolbox, package_name="django", graph="mermaid", max_tokens=20000)
    assert bounded.count('["') <= 60


def test_one_thing_is_asked_at_a_time(toolbox: Toolbox) -> None:
    with pytest.raises(InvalidParameter):
        read(toolbox, package_name="requests", symbol="get", file_path="requests/api.py")


def test_a_package_that_another_project_has_is_told_with_that_one(
    python_project: Path, tmp_path: Path
) -> None:
    (tmp_path / "web" / "node_modules" / "left").mkdir(parents=True)
    (tmp_path / "web" / "node_modules" / "left" / "package.json").write_text('{"name": "left"}')
    (tmp_path / "empty").mkdir()
    roots = [tmp_path / "web", tmp_path / "empty", python_project]
    tools = Toolbox([read_package.tool(Projects(roots, tmp_path / "cache", local=True))])
    with pytest.raises(
        PackageNotFound, match=rf"^web has no .*'requests'.*: {python_project.name}"
    ):
        read(tools, package_name="requests", root="web")
    with pytest.raises(PackageNotFound, match="scan_packages lists them"):
        read(tools, package_name="nowhere", root="web")


def test_a_server_elsewhere_reads_no_project(python_project: Path, tmp_path: Path) -> None:
    remote = Toolbox([read_package.tool(Projects([python_project], tmp_path, local=False))])
    with pytest.raises(Forbidden):
        read(remote, package_name="requests")


def test_what_is_asked_again_opens_no_more_than_it_shows(
    toolbox: Toolbox, python_project: Path
) -> None:
    def opened(**arguments: Any) -> set[str]:
        read(toolbox, **arguments)
        with opened_below(python_project) as files:
            read(toolbox, **arguments)
        return {each.name for each in files}

    assert opened(package_name="requests", file_path="requests/api.py") == {"api.py"}
    assert opened(package_name="django", file_path="django") == set()
