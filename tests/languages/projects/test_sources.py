"""Installed Python packages answer as sources: search, pages, examples, differences."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import venv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from docstow.core.errors import CrateNotFound, InvalidParameter, ItemNotFound, PackageNotFound
from docstow.core.model import Document
from docstow.core.settings import load
from docstow.languages import LANGUAGES, PYTHON
from docstow.languages.projects.packages import collect_documents
from docstow.languages.python.documents import READING
from docstow.runtime import Runtime
from paths import SUPPORT
from require import unavailable
from shared import shared

Call = Callable[..., Any]

#: What somebody may ask, and the items that answer.
QUERIES = [
    ("fastapi", "serve static files from a directory", {"fastapi.staticfiles.StaticFiles"}),
    ("fastapi", "run code after returning a response", {"fastapi.BackgroundTasks"}),
    ("fastapi", "upload a file in a form", {"fastapi.UploadFile", "fastapi.File"}),
    ("fastapi", "allow cross origin requests", {"fastapi.middleware.cors.CORSMiddleware"}),
    ("pydantic", "validate a single field with a decorator", {"pydantic.field_validator"}),
    ("pydantic", "serialize the model to a dictionary", {"pydantic.BaseModel.model_dump"}),
    ("pydantic", "create a model class dynamically", {"pydantic.create_model"}),
    ("httpx", "make a GET request", {"httpx.get", "httpx.Client.get"}),
    ("httpx", "set connect and read timeouts", {"httpx.Timeout"}),
    ("click", "ask the user for confirmation", {"click.confirm"}),
    ("click", "open an editor for the user to write text", {"click.edit"}),
    ("click", "show a progress bar", {"click.progressbar"}),
    ("requests", "keep cookies between requests", {"requests.Session", "requests.session"}),
    ("starlette", "stream a response in chunks", {"starlette.responses.StreamingResponse"}),
    ("rich", "print a table in the terminal", {"rich.table.Table"}),
]


@contextlib.contextmanager
def runtime_at(folder: Path, *roots: Path) -> Iterator[Runtime]:
    nowhere = "http://127.0.0.1:1"
    flags = {
        "store": str(folder / "store"),
        "cache": str(folder / "cache"),
        "docs_rs_url": nowhere,
        "crates_index_url": nowhere,
        "root": ",".join(map(str, roots)),
    }
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:
        yield runtime


def caller(runtime: Runtime) -> Call:
    def call(tool: str, **arguments: Any) -> Any:
        answer = runtime.toolbox.call(tool, {"language": "python", **arguments})
        return answer.structured if answer.structured is not None else answer.text

    return call


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sources")


@pytest.fixture(scope="module")
def call(folder: Path, python_project: Path) -> Iterator[Call]:
    with runtime_at(folder, python_project) as runtime:
        yield caller(runtime)


@pytest.fixture(scope="session")
def two_versions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two projects, each with another version of httpx."""
    with shared(tmp_path_factory, "two-versions") as base:
        found = base / "before", base / "after"
        for root, version in zip(found, ("0.27.2", "0.28.1"), strict=True):
            if (root / "installed").exists():
                continue
            venv.create(root / ".venv", with_pip=False)
            python = root / ".venv" / "bin" / "python"
            command = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q"]
            command += ["--no-deps", "--only-binary", ":all:", "--require-hashes"]
            command += ["-r", str(SUPPORT / f"httpx-{version}.txt")]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
            if done.returncode:
                unavailable(f"httpx cannot be installed here: {done.stderr[-300:]}")
            (root / "installed").touch()
    return found


def test_natural_queries_find_the_item_among_the_first_five(call: Call) -> None:
    missed = []
    for package, query, wanted in QUERIES:
        answer = call("search_items", crate=package, query=query)
        if not wanted & {each["item_path"] for each in answer["results"]}:
            missed.append((package, query, [each["item_path"] for each in answer["results"]]))
    assert len(missed) <= 3, missed


def test_a_search_says_which_installed_version_answers(call: Call) -> None:
    answer = call("search_items", crate="click", query="echo", type_filter=["function"])
    assert (answer["crate"], answer["answered"]) == ("click", "8.5.1")
    first = answer["results"][0]
    assert (first["item_path"], first["item_type"]) == ("click.echo", "function")
    assert first["header"].startswith("def echo(message")


@pytest.mark.parametrize(
    "path", ["click.echo", "click.utils.echo", "click::echo", "`click.echo()`", "echo"]
)
def test_a_page_is_found_by_any_public_path(call: Call, path: str) -> None:
    page = call("get_item_doc", item_path=path, crate="click")
    assert page.startswith("# function `click.echo`")
    assert "```python\ndef echo(message" in page


def test_the_package_of_a_path_is_the_one_that_is_imported(call: Call) -> None:
    page = call("get_item_doc", item_path="PIL.Image.Image.resize")
    assert page.startswith("# method `PIL.Image.Image.resize`")
    assert "*pillow 13.0.0" in page


def test_the_page_of_a_class_has_its_constructor_and_members(call: Call) -> None:
    page = call("get_item_doc", item_path="httpx.Client", max_tokens=20000)
    assert "def __init__(self" in page
    assert "## Methods" in page
    assert "- **get**: `def get(" in page


def test_a_misspelt_path_is_refused_with_suggestions(call: Call) -> None:
    with pytest.raises(ItemNotFound) as refused:
        call("get_item_doc", item_path="click.Comand")
    assert refused.value.suggestions[0]["item_path"] == "click.Command"


def test_modules_filter_and_are_listed(call: Call) -> None:
    answer = call("search_items", crate="fastapi", query="cookie", module="fastapi.security")
    paths = [each["item_path"] for each in answer["results"]]
    assert paths
    assert all(path.startswith("fastapi.security") for path in paths)
    tree = call("get_module_tree", crate="fastapi", depth=1)
    assert {"fastapi", "fastapi.security"} <= {each["path"] for each in tree["results"]}


def test_examples_of_docstrings_and_readmes_are_whole_python(call: Call) -> None:
    def examples(**arguments: Any) -> list[dict[str, Any]]:
        answer = call("search_examples", **{"language": ["python"], "k": 10} | arguments)
        results: list[dict[str, Any]] = answer["results"]
        return results

    found = examples(crate="fastapi", query="path operation with an item id")
    assert {each["language"] for each in found} == {"python"}
    assert any("@app.get(" in each["code"] for each in found)
    found = examples(crate="pydantic", query="user with an id, a name and a signup date")
    readme = [each["code"] for each in found if each["item_path"] == "pydantic/README"]
    assert any(code.startswith("from datetime import datetime") for code in readme)
    found = examples(crate="httpx", query="get a page and look at its status code")
    assert any(">>> r = httpx.get('https://www.example.org/')" in each["code"] for each in found)


def test_several_packages_are_searched_at_once(call: Call) -> None:
    answer = call("search_items", crates=["click", "httpx"], query="send a GET request")
    assert answer["results"][0]["crate"] == "httpx"
    everything = call("search_items", query="ask for confirmation in click")
    assert "click.confirm" in {each["item_path"] for each in everything["results"]}


def test_what_is_neither_installed_nor_stowed_is_refused(call: Call) -> None:
    with pytest.raises(PackageNotFound, match="docstow ingest project DIR --package nowhere"):
        call("search_items", crate="nowhere", query="anything")
    with pytest.raises(InvalidParameter, match="must be one of rust, python, typescript"):
        call("search_items", crate="click", query="echo", language="perl")
    with pytest.raises(PackageNotFound, match=r"these are: 8\.5\.1"):
        call("search_items", crate="click", version="7", query="echo")


def test_a_stowed_package_answers_where_the_project_is_not(
    folder: Path, python_project: Path, tmp_path: Path
) -> None:
    words = ["--store", str(tmp_path / "store"), "--cache", str(tmp_path / "cache")]
    docstow = [sys.executable, "-m", "docstow"]
    named = ["--package", "click", "--package", "pillow"]
    done = subprocess.run(
        [*docstow, "ingest", "project", str(python_project), *words, *named],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == ["python/click/8.5.1", "python/pillow/13.0.0"]
    with runtime_at(tmp_path) as runtime:
        call = caller(runtime)
        assert call("get_item_doc", item_path="click.echo").startswith("# function `click.echo`")
        assert "`PIL.Image.open`" in call("get_item_doc", item_path="PIL.Image.open")
        found = call("search_items", crate="pillow", query="open an image file")
        assert found["answered"] == "13.0.0"
        # Crates are another matter, whatever they are called.
        with pytest.raises(CrateNotFound, match="No crate is stowed"):
            runtime.toolbox.call("search_items", {"query": "echo"})
    bundle = tmp_path / "all.docstow"
    subprocess.run(
        [*docstow, "export-bundle", "--all", str(bundle), *words], timeout=120, check=True
    )
    elsewhere = tmp_path / "elsewhere"
    into = ["--store", str(elsewhere / "store"), "--cache", str(elsewhere / "cache")]
    subprocess.run([*docstow, "import-bundle", str(bundle), *into], timeout=120, check=True)
    with runtime_at(elsewhere) as runtime:
        page = caller(runtime)("get_item_doc", item_path="click.echo")
        assert page.startswith("# function `click.echo`")


def test_two_installed_versions_are_compared(
    tmp_path: Path, two_versions: tuple[Path, Path]
) -> None:
    with runtime_at(tmp_path, *two_versions) as runtime:
        call = caller(runtime)
        answer = call("diff_versions", crate="httpx", from_version="0.27", to_version="0.28")
        assert (answer["from"]["answered"], answer["answered"]) == ("0.27.2", "0.28.1")
        breaking = {
            (each["path"], each["rule"]): each
            for each in answer["results"]
            if each["class"] == "breaking"
        }
        assert breaking["httpx.get", "parameter-removed"]["before"].startswith(
            "cert, proxies: def get"
        )
        assert breaking["httpx.Client", "parameter-removed"]["before"].startswith(
            "app, proxies: class"
        )
        assert "notice" not in answer
        chosen = call(
            "diff_versions", crate="httpx", from_version="0.27", to_version="0.28", paths=["Client"]
        )
        assert {each["path"] for each in chosen["results"]} == {"httpx.Client"}
    # The documents of both alone tell the same.
    with runtime_at(tmp_path) as runtime:
        stowed = caller(runtime)(
            "diff_versions", crate="httpx", from_version="0.27", to_version="0.28"
        )
        assert stowed["results"] == answer["results"]
        assert stowed["notice"].startswith("only the documents of both versions")


def test_a_package_is_summed_up_and_its_versions_are_listed(call: Call) -> None:
    answer = call("get_crate_summary", crate="click")
    assert answer["summary"].startswith("Click is a simple Python module")
    assert (answer["import_names"], answer["readme"]) == (["click"], "click/README")
    assert answer["items"]["function"] >= 40
    assert answer["install"] == "uv add click==8.5.1 # or: pip install click==8.5.1"
    assert answer["links"]["repository"] == "https://github.com/pallets/click/"
    assert answer["links"]["changelog"].startswith("https://click.palletsprojects.com/")
    assert answer["example"].startswith("import click")
    assert any(line.startswith("command — ") for line in answer["contents"]["function"])
    assert {"click", "click.testing"} <= {each["path"] for each in answer["results"]}
    assert call("get_item_doc", crate="click", item_path=answer["readme"]).startswith("# page")
    listed = call("list_versions", crate="click", requirement=">=8, <9")
    assert (listed["crate"], listed["answered"], listed["total"]) == ("click", "8.5.1", 1)
    told = {"version": "8.5.1", "yanked": False, "stowed": True, "installed": True, "matches": True}
    assert listed["results"] == [told]
    with pytest.raises(PackageNotFound, match=r"click 7 is not at hand; these are: 8\.5\.1"):
        call("list_versions", crate="click", requirement="7")


def test_what_a_class_inherits_is_on_its_page_and_under_its_path(call: Call) -> None:
    page = call("get_item_doc", item_path="httpx.AsyncClient", max_tokens=20000)
    assert "- **build_request**: `def build_request(" in page
    for path in ("httpx.Client.build_request", "httpx.AsyncClient.build_request"):
        page = call("get_item_doc", item_path=path)
        assert page.startswith("# method `httpx.AsyncClient.build_request`")


def package_of_ours(root: Path, text: str) -> None:
    """An editable package in a project's environment."""
    checkout = root / "boats"
    (checkout / "boats").mkdir(parents=True, exist_ok=True)
    (checkout / "boats" / "__init__.py").write_text(text)
    site = root / ".venv" / "lib" / "python3.12" / "site-packages"
    info = site / "boats-1.0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (root / ".venv" / "pyvenv.cfg").write_text("version = 3.12.1\n")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: boats\nVersion: 1.0\n")
    (info / "direct_url.json").write_text(
        json.dumps({"url": checkout.as_uri(), "dir_info": {"editable": True}})
    )
    (info / "RECORD").write_text("__editable__.boats.pth,,\nboats-1.0.dist-info/METADATA,,\n")
    (site / "__editable__.boats.pth").write_text(f"{checkout}\n")


def test_an_editable_package_is_read_anew_when_a_file_of_it_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "project"
    package_of_ours(root, "def row(): ...\n")
    read: list[str] = []

    def counted(made: Iterable[Document], name: str) -> list[Document]:
        read.append(name)
        return collect_documents(made, name)

    monkeypatch.setattr("docstow.languages.projects.packages.collect_documents", counted)
    for _ in range(2):
        with runtime_at(tmp_path, root) as runtime:
            call = caller(runtime)
            for _ in range(2):
                assert "def row()" in call("get_item_doc", item_path="boats.row")
    assert read == ["boats"]
    with runtime_at(tmp_path, root) as runtime:
        package_of_ours(root, "def row(strokes: int): ...\n")
        assert "def row(strokes: int)" in caller(runtime)("get_item_doc", item_path="boats.row")
    assert read == ["boats", "boats"]


def test_what_an_older_reader_has_stowed_is_read_anew_where_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "project"
    package_of_ours(root, "def row(): ...\n")
    with monkeypatch.context() as then, runtime_at(tmp_path, root) as runtime:
        older = replace(READING, reader="python/0")
        then.setitem(LANGUAGES, "python", replace(PYTHON, reading=lambda: older))
        caller(runtime)("search_items", crate="boats", query="row")
    with runtime_at(tmp_path) as runtime:
        answer = caller(runtime)("search_items", crate="boats", query="row")
        assert answer["notice"].endswith("docstow ingest project DIR --package boats reads it anew")
    with runtime_at(tmp_path, root) as runtime:
        assert "notice" not in caller(runtime)("search_items", crate="boats", query="row")
