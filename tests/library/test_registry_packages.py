"""Packages that nobody has installed answer every tool, from an index on loopback."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docstow import cli
from docstow.core.auth import READ, Caller, calling
from docstow.core.errors import (
    DocstowError,
    Ingesting,
    InvalidParameter,
    PackageNotFound,
    Unauthorized,
    UpstreamError,
)
from docstow.core.settings import load
from docstow.ingest.packages import scan_unpacked
from docstow.languages import PYTHON
from docstow.languages.shared.project import Scan
from docstow.library import packages
from docstow.runtime import Runtime
from servers.python_index import PythonIndexServer

NOWHERE = "http://127.0.0.1:1"
OLD = {
    "boats/__init__.py": (
        '"""Boats to row."""\n\nclass Boat:\n    """A boat."""\n\n'
        '    def row(self, strokes: int) -> None:\n        """Row so many strokes.\n\n'
        '        >>> Boat().row(3)\n        """\n\n'
        '    def sink(self) -> None:\n        """Sink."""\n'
    ),
}
NEW = {
    "boats/__init__.py": (
        '"""Boats to row."""\n\nfrom hulls import Hull\n\nclass Boat(Hull):\n    """A boat."""\n\n'
        "    def row(self, strokes: int, *, quietly: bool = False) -> None:\n"
        '        """Row so many strokes."""\n'
    ),
}
HULL = {"hulls.py": 'class Hull:\n    def float(self) -> None:\n        """Stay on the water."""\n'}


@pytest.fixture
def index() -> Iterator[PythonIndexServer]:
    with PythonIndexServer() as server:
        server.add_wheel("boats", "1.0", OLD)
        server.add_wheel("boats", "1.1", OLD, yanked="it leaks")
        server.add_wheel("boats", "2.0", NEW, ["hulls>=1,<2", 'oars; extra == "row"'])
        server.add_wheel("boats", "3.0b1", NEW)
        server.add_wheel("hulls", "1.5", HULL, ["planks"])
        server.add_wheel("planks", "7", {"planks.py": ""})
        server.add_wheel("oars", "4", {"oars.py": ""})
        yield server


@contextlib.contextmanager
def runtime_of(folder: Path, index: PythonIndexServer, **flags: Any) -> Iterator[Runtime]:
    given = {
        "store": str(folder / "store"),
        "cache": str(folder / "cache"),
        "docs_rs_url": NOWHERE,
        "crates_index_url": NOWHERE,
        "python_index_url": index.url,
        "retries": 0,
        "wait_s": 60,
    }
    with contextlib.closing(Runtime(load(given | flags, {}))) as runtime:
        yield runtime


def ask(runtime: Runtime, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = runtime.toolbox.call(tool, {"language": "python", **arguments})
    return dict(answer.structured or {"text": answer.render()})


def test_every_tool_answers_for_a_package_that_nobody_has_installed(
    tmp_path: Path, index: PythonIndexServer
) -> None:
    with runtime_of(tmp_path, index) as runtime:
        found = ask(runtime, "search_items", crate="boats", query="row strokes")
        assert found["answered"] == "2.0"
        assert found["results"][0]["item_path"] == "boats.Boat.row"
        page = ask(runtime, "get_item_doc", item_path="boats.Boat", crate="boats")["text"]
        assert "Hull" in page
        inherited = ask(runtime, "get_item_doc", item_path="boats.Boat.float", crate="boats")
        assert "Stay on the water" in inherited["text"]
        old = ask(runtime, "search_examples", crate="boats", version="1.0", query="row")
        assert old["answered"] == "1.0"
        assert "Boat().row(3)" in old["results"][0]["code"]
        tree = ask(runtime, "get_module_tree", crate="boats")
        assert tree["results"][0]["path"] == "boats"
        summary = ask(runtime, "get_crate_summary", crate="boats", version="<2")
        assert summary["answered"] == "1.0"
        assert "install" in summary
    assert len(index.asked("boats-2.0-py3-none-any.whl")) == 1


def test_versions_are_those_of_the_index(tmp_path: Path, index: PythonIndexServer) -> None:
    with runtime_of(tmp_path, index) as runtime:
        runtime.library.package(PYTHON, "boats", "1.0")
        found = ask(runtime, "list_versions", crate="Boats", requirement="<3")
        assert found["answered"] == "2.0"
        assert "notice" not in found
        rows = {each.pop("version"): each for each in found["results"]}
        assert list(rows) == ["3.0b1", "2.0", "1.1", "1.0"]
        published = "2026-01-02"
        assert rows["1.0"] == {
            "yanked": False, "stowed": True, "published": published, "matches": True,
        }  # fmt: skip
        assert rows["1.1"]["yanked_because"] == "it leaks"
        assert rows["2.0"]["latest"]
        assert not rows["2.0"]["stowed"]


def test_two_versions_are_compared(tmp_path: Path, index: PythonIndexServer) -> None:
    with runtime_of(tmp_path, index) as runtime:
        found = ask(runtime, "diff_versions", crate="boats", from_version="1.0", to_version="2.0")
        changes = {(each["path"], each["rule"]) for each in found["results"]}
        assert ("boats.Boat.sink", "removed") in {
            (path, rule.split("-")[-1]) for path, rule in changes
        }
        assert any(path == "boats.Boat.row" for path, _ in changes)


def test_sources_of_versions_that_nobody_has_installed_are_compared(
    tmp_path: Path, index: PythonIndexServer
) -> None:
    text = "class Sail:\n    def __init__(self, area: int = {size}) -> None: ...\n"
    for version, size in (("1", 3), ("2", 4)):
        index.add_wheel("sails", version, {"sails.py": text.format(size=size)})
    with runtime_of(tmp_path, index) as runtime:
        found = ask(runtime, "diff_versions", package="sails", from_version="1", to_version="2")
        rules = {each["rule"]: each["path"] for each in found["results"]}
        assert rules["parameter-changed-default"] == "sails.Sail"
        assert "notice" not in found
    # Each was fetched once, to be stowed.
    assert [len(index.asked(f"sails-{each}-py3-none-any.whl")) for each in "12"] == [1, 1]
    with runtime_of(tmp_path, index, offline=True) as runtime:
        again = ask(runtime, "diff_versions", package="sails", from_version="1", to_version="2")
        assert again["results"] == found["results"]
    with runtime_of(tmp_path, index, offline=True, cache=f"{tmp_path}/empty") as runtime:
        again = ask(runtime, "diff_versions", package="sails", from_version="1", to_version="2")
        assert again["notice"].startswith("only the documents of both versions were at hand")


def test_the_files_of_any_version_are_read(tmp_path: Path, index: PythonIndexServer) -> None:
    with runtime_of(tmp_path, index) as runtime:
        whole = ask(runtime, "read_package", package_name="boats", version="<2")["text"]
        assert whole.startswith("*boats 1.0 · python · not installed: fetched, its code and texts")
        assert "boats/" in whole
        code = ask(runtime, "read_package", package_name="boats@2.0", file_path="boats/__init__.py")
        assert "from hulls import Hull" in code["text"]
        symbol = ask(runtime, "read_package", package_name="boats", symbol="boats.Boat.float")
        assert "Stay on the water" in symbol["text"]
        for path in ("../../pyvenv.cfg", "/etc/passwd", "hulls.py"):
            with pytest.raises(DocstowError):
                ask(runtime, "read_package", package_name="boats", file_path=path)
        assert not runtime.snapshots.names("python")
        # Without a language or version nobody learns of a name.
        requests = len(index.index.requests)
        with pytest.raises(DocstowError):
            runtime.toolbox.call("read_package", {"package_name": "planks"})
        with pytest.raises(InvalidParameter, match="say whose package planks is: python"):
            runtime.toolbox.call("read_package", {"package_name": "planks", "version": "7"})
        assert len(index.index.requests) == requests
    assert len(index.asked("boats-2.0-py3-none-any.whl")) == 1


def test_a_fetched_package_is_looked_through_once(
    tmp_path: Path, index: PythonIndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    scanned: list[Path] = []

    def noted(folder: Path) -> Scan:
        scanned.append(folder)
        return scan_unpacked(folder)

    monkeypatch.setattr(packages, "scan_unpacked", noted)
    with runtime_of(tmp_path, index) as runtime:
        for version in ("<2", "2.0", "<2", "2.0"):
            text = ask(runtime, "read_package", package_name="boats", version=version)["text"]
            assert f"# boats {'1.0' if version == '<2' else version}\n" in text
    assert len(scanned) == len(set(scanned)) == 2


@pytest.mark.parametrize(("python", "version"), [("3.8", "1"), ("3.12", "2")])
def test_versions_fit_the_python_of_the_project(
    tmp_path: Path, index: PythonIndexServer, python: str, version: str
) -> None:
    index.add_wheel("masts", "1", {"masts.py": ""}, stated={"requires-python": ">=3.7"})
    index.add_wheel("masts", "2", {"masts.py": ""}, stated={"requires-python": ">=3.9"})
    project = tmp_path / "project"
    project.mkdir()
    (project / ".python-version").write_text(f"{python}\n", "utf-8")
    with runtime_of(tmp_path, index, root=str(project)) as runtime:
        assert ask(runtime, "list_versions", package="masts")["answered"] == version


def test_what_was_stowed_a_moment_ago_is_found_by_its_purpose(
    tmp_path: Path, index: PythonIndexServer
) -> None:
    with runtime_of(tmp_path, index) as runtime:
        for stowed in ([], ["boats"]):
            for name in stowed:
                runtime.library.package(PYTHON, name)
            found = ask(runtime, "find_packages", query="boats to row")["results"]
            assert [each["package"] for each in found if "stowed" in each] == stowed


def test_dependencies_are_told_with_what_they_resolve_to(
    tmp_path: Path, index: PythonIndexServer
) -> None:
    with runtime_of(tmp_path, index) as runtime:
        found = ask(runtime, "get_dependencies", crate="boats", depth=3, graph=True)
        assert found["answered"] == "2.0"
        assert found["results"] == [
            {
                "crate": "hulls", "resolved": "1.5", "active": True, "kind": "normal",
                "requirement": "<2,>=1",
            },
            {
                "crate": "oars", "resolved": "4", "active": False, "kind": "optional",
                "requirement": "", "extra": "row", "marker": 'extra == "row"',
            },
        ]  # fmt: skip
        assert [each["release"] for each in found["tree"]] == ["boats 2.0", "hulls 1.5", "planks 7"]
        assert "hulls 1.5" in found["mermaid"]
        cut = ask(runtime, "get_dependencies", crate="boats")["tree"]
        assert cut[1] == {"release": "hulls 1.5", "depth": 1, "cut": True}


def test_a_withdrawn_version_answers_by_its_number_and_says_so(
    tmp_path: Path, index: PythonIndexServer
) -> None:
    with runtime_of(tmp_path, index) as runtime:
        found = ask(runtime, "get_crate_summary", crate="boats", version="==1.1")
        assert found["answered"] == "1.1"
        assert "withdrawn by its publisher: it leaks" in found["notice"]


def test_what_is_stowed_answers_while_the_index_does_not(
    tmp_path: Path, index: PythonIndexServer
) -> None:
    with runtime_of(tmp_path, index) as runtime:
        runtime.library.package(PYTHON, "boats", "1.0")
    index.index.always("/simple", lambda handler: handler.reply(500))
    with runtime_of(tmp_path, index) as runtime:
        found = runtime.library.package(PYTHON, "boats")
        assert (found.version, found.substituted) == ("1.0", True)
        assert "the best stowed version answers" in found.notice
        assert runtime.library.package(PYTHON, "boats", "1.0").notice == ""
        with pytest.raises(UpstreamError):
            runtime.library.package(PYTHON, "boats", ">=2")


def test_nothing_is_asked_offline(tmp_path: Path, index: PythonIndexServer) -> None:
    with runtime_of(tmp_path, index) as runtime:
        runtime.library.package(PYTHON, "boats", "1.0")
    requests = len(index.index.requests) + len(index.files.requests)
    with runtime_of(tmp_path, index, offline=True) as runtime:
        found = runtime.library.package(PYTHON, "boats")
        assert (found.version, found.substituted) == ("1.0", True)
        assert "offline" in found.notice
        with pytest.raises(UpstreamError, match="offline"):
            runtime.library.package(PYTHON, "hulls")
        with pytest.raises(UpstreamError, match="offline"):
            runtime.library.crate("serde")
    assert len(index.index.requests) + len(index.files.requests) == requests


def test_what_took_a_credential_is_recorded_as_private(tmp_path: Path) -> None:
    secret = "Basic bWU6aGlkZGVu"
    with PythonIndexServer(authorization=secret) as index:
        index.add_wheel("boats", "1.0", OLD)
        url = index.url.replace("http://", "http://me:hidden@")
        with runtime_of(tmp_path, index, python_index_url=url) as runtime:
            snapshot = runtime.library.package(PYTHON, "boats").snapshot
            assert snapshot.facts["private"] is True
            assert "hidden" not in repr(snapshot)


def test_what_is_here_of_private_packages_answers_whoever_may_read(tmp_path: Path) -> None:
    with PythonIndexServer(authorization="Basic bWU6aGlkZGVu") as index:
        index.add_wheel("boats", "1.0", OLD)
        index.add_wheel("boats", "2.0", OLD)
        url = index.url.replace("http://", "http://me:hidden@")

        def verify(runtime: Runtime, version: str) -> dict[str, Any]:
            code = "import boats\nboats.Boat().fly()\n"
            return ask(runtime, "verify_code", code=code, versions={"boats": version})

        def look_up(runtime: Runtime, version: str) -> str:
            item = {"package": "boats", "version": version, "item_path": "boats.Boat"}
            return repr(ask(runtime, "get_item_doc", **item))

        def read(runtime: Runtime, version: str) -> str:
            given = {"package_name": "boats", "version": version}
            path = "boats/__init__.py"
            return str(ask(runtime, "read_package", file_path=path, **given)["text"])

        with runtime_of(tmp_path, index, python_index_url=url) as runtime:
            runtime.library.package(PYTHON, "boats", "1.0")
            assert "boats" in repr(verify(runtime, "1.0"))
            with calling(Caller("", READ)):
                # What is stowed, what is unpacked, and what an environment was made of alike ...
                stowed = look_up(runtime, "1.0")
                assert "A boat." in stowed
                assert "class Boat" in read(runtime, "1.0")
                assert "fly" in repr(verify(runtime, "1.0")["results"])
                # ... but nobody's credential is used for a caller without one.
                with pytest.raises(Unauthorized, match="needs a credential"):
                    read(runtime, "2.0")
                with pytest.raises(Unauthorized, match="needs a credential"):
                    look_up(runtime, "2.0")
                assert "fly" not in repr(verify(runtime, "2.0")["results"])
        assert not index.asked("boats-2.0-py3-none-any.whl")


def test_whoever_does_not_wait_is_told_of_the_job(tmp_path: Path, index: PythonIndexServer) -> None:
    with runtime_of(tmp_path, index, wait_s=0) as runtime:
        with pytest.raises(Ingesting) as caught:
            runtime.library.package(PYTHON, "boats")
        job = runtime.sync.wait(str(caught.value.details["job_id"]), 60)
        assert (job.state, job.version) == ("success", "2.0")
        assert runtime.library.package(PYTHON, "boats").version == "2.0"


def test_what_is_wrong_with_a_file_is_told_to_the_caller(
    tmp_path: Path, index: PythonIndexServer
) -> None:
    index.add_wheel("leaky", "1.0", OLD, stated={"hashes": {"sha256": "0" * 64}})
    with runtime_of(tmp_path, index) as runtime:
        with pytest.raises(DocstowError, match="not the file that the registry lists"):
            runtime.library.package(PYTHON, "leaky")
        with pytest.raises(PackageNotFound, match="no Python package named bot"):
            runtime.library.package(PYTHON, "bot")


def test_what_could_not_be_had_is_in_the_summary(tmp_path: Path, index: PythonIndexServer) -> None:
    index.add_wheel("rafts", "1.0", OLD, ["gone"])
    with runtime_of(tmp_path, index) as runtime:
        summary = ask(runtime, "get_crate_summary", crate="rafts")
        assert "What it has of gone is missing" in summary["left_out"][0]


def test_packages_are_stowed_by_command(
    tmp_path: Path,
    index: PythonIndexServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in (
        ("STORE", f"{tmp_path}/store"), ("CACHE", f"{tmp_path}/cache"),
        ("PYTHON_INDEX_URL", index.url), ("RETRIES", "0"),
    ):  # fmt: skip
        monkeypatch.setenv(f"DOCSTOW_{name}", value)
    assert cli.main(["ingest", "package", "python:boats@1.0", "python:hulls"]) == 0
    printed = capsys.readouterr().out
    assert "python/boats/1.0: " in printed
    assert "python/hulls/1.5: " in printed
    for word in ("boats", "perl:boats", "python:", "python:@1"):
        assert cli.main(["ingest", "package", word]) == 1
        assert "invalid_parameter" in capsys.readouterr().err
