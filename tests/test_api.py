"""The public API, as a script of a user's uses it."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import docstow
from docstow.core.settings import load
from paths import REPOSITORY
from servers.web import serve


@pytest.fixture
def settings(tmp_path: Path) -> docstow.Settings:
    return load({"store": str(tmp_path / "store"), "cache": str(tmp_path / "cache")}, {})


def ingest_sample(settings: docstow.Settings) -> None:
    from docstow.runtime import Runtime

    runtime = Runtime(settings)
    runtime.ingest_sample()
    runtime.close()


def test_a_crate_is_searched_and_read(settings: docstow.Settings) -> None:
    ingest_sample(settings)
    with docstow.open(settings) as docs:
        crate = docs.crate("stowage")
        assert (crate.name, crate.version, crate.notice) == ("stowage", "0.1.0", "")
        hits = crate.search("put all pieces into the hold", k=2)
        assert hits[0].path == "stowage::Hold::stow"
        assert len(hits) == 2
        page = crate.item("stowage::Hold")
        assert (page.kind, page.path, page.parent) == ("struct", "stowage::Hold", "stowage")
        assert page in crate.items()
        with pytest.raises(docstow.ItemNotFound) as error:
            crate.item("stowage::Hol")
        assert error.value.suggestions[0]["item_path"] == "stowage::Hold"


def test_a_folder_is_added_synced_searched_and_deleted(
    settings: docstow.Settings, tmp_path: Path
) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "retry.md").write_text("# Retries\n\nA request is tried again three times.\n")
    with docstow.open(settings) as docs:
        source = docs.sources.add("folder", str(folder), "Our docs")
        assert docs.sources.list() == [source]
        assert docs.sources.sync("Our docs") == "success"
        (hit,) = docs.search("retry a request")
        assert (hit.path, hit.title, hit.kind) == ("retry.md", "Retries", "page")
        docs.sources.delete(source)
        assert (docs.sources.list(), docs.search("retry a request")) == ([], [])


def test_a_package_of_a_project_and_code_that_uses_it(
    settings: docstow.Settings, tmp_path: Path
) -> None:
    site = tmp_path / "shop/.venv/lib/python3.12/site-packages"
    (site / "sails-1.0.dist-info").mkdir(parents=True)
    (tmp_path / "shop/.venv/pyvenv.cfg").write_text("version = 3.12.1\n")
    (site / "sails-1.0.dist-info/METADATA").write_text("Name: sails\nVersion: 1.0\n")
    (site / "sails-1.0.dist-info/RECORD").write_text("sails.py,,\nsails-1.0.dist-info/METADATA,,\n")
    (site / "sails.py").write_text('def hoist(rope: str) -> None:\n    """Hoist it."""\n')
    code = "import sails\nsails.hoist(rope='x')\nsails.hoits()\n"
    with docstow.open(settings) as docs:
        report = docs.verify(code, "python", root=tmp_path / "shop")
    assert "sails 1.0" in report.answered
    (problem,) = report.problems
    assert (problem.line, problem.name, problem.suggestions) == (3, "sails.hoits", ("sails.hoist",))


def test_the_project_that_is_named_answers_and_not_that_of_the_settings(
    settings: docstow.Settings, tmp_path: Path
) -> None:
    for project, name in (("shop", "hoist"), ("yard", "lower")):
        site = tmp_path / project / ".venv/lib/python3.12/site-packages"
        (site / "sails-1.0.dist-info").mkdir(parents=True)
        (tmp_path / project / ".venv/pyvenv.cfg").write_text("version = 3.12.1\n")
        (site / "sails-1.0.dist-info/METADATA").write_text("Name: sails\nVersion: 1.0\n")
        (site / "sails-1.0.dist-info/RECORD").write_text("sails.py,,\n")
        (site / "sails.py").write_text(f"def {name}() -> None: ...\n")
    with docstow.open(replace(settings, root=(str(tmp_path / "shop"),))) as docs:
        own = docs.verify("import sails\nsails.lower()\n", "python")
        named = docs.verify("import sails\nsails.lower()\n", "python", tmp_path / "yard")
    assert [each.name for each in own.problems] == ["sails.lower"]
    assert named.problems == ()


def test_code_against_a_version_that_the_caller_names(settings: docstow.Settings) -> None:
    ingest_sample(settings)
    code = "use stowage::{Hold, Holt};\n"
    with docstow.open(settings) as docs:
        report = docs.verify(code, "rust", versions={"stowage": "0.1.0"})
        other = docs.verify(code, "rust", versions={"another": "0.1.0"})
    assert [(each.name, each.version) for each in report.problems] == [("stowage::Holt", "0.1.0")]
    assert not other.problems


def test_a_language_that_is_not_known_is_refused(settings: docstow.Settings) -> None:
    with (
        docstow.open(settings) as docs,
        pytest.raises(docstow.InvalidParameter, match="language: must be one of"),
    ):
        docs.package("cobol", "x")


def test_the_app_is_what_serve_mounts(settings: docstow.Settings) -> None:
    import urllib.request

    with serve(docstow.asgi(settings)) as url, urllib.request.urlopen(f"{url}/health") as answer:
        assert answer.status == 200


def test_the_import_is_light() -> None:
    heavy = {"numpy", "duckdb", "fastapi", "httpx", "boto3", "docstow.runtime"}
    program = f"import docstow, sys; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_every_public_name_is_there_and_described() -> None:
    for name in docstow.__all__:
        assert getattr(docstow, name).__doc__, name


def test_the_readmes_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: docstow.Settings
) -> None:
    ingest_sample(settings)
    text = (REPOSITORY / "README.md").read_text("utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOCSTOW_CACHE", str(tmp_path / "cache"))
    namespace: dict[str, object] = {}
    exec(example, namespace)
    assert namespace["hits"]
    assert namespace["page"]
