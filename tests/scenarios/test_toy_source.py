"""A kind of source that docstow does not have works end to end by one record."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from docstow import sources
from docstow.cli import main
from docstow.core.errors import Forbidden, InvalidParameter, SourceNotFound
from docstow.core.model import File, Known, Registration, Revision
from docstow.core.settings import load
from docstow.runtime import Runtime
from docstow.sources import Command, Event, Found, Origin, Same, SourceKind, Upstreams

TEXT = "Moor the ship at the quay.\nWeigh the anchor before sunrise.\nFeed the ship's cat.\n"


class LinesOrigin:
    """The lines of a text file, each of them a page."""

    def __init__(self, registration: Registration) -> None:
        self._registration = registration
        self._lines = path_of(registration.uri).read_text("utf-8").splitlines()

    def resolve(self) -> Revision:
        return self._registration.revision()

    def files(self, known: Mapping[str, Known]) -> Iterator[Event]:
        for number, line in enumerate(self._lines, 1):
            path, validator = f"line-{number}.md", hashlib.sha256(line.encode()).hexdigest()
            if path in known and known[path].validator == validator:
                yield Same(path)
            else:
                yield Found(File(path, "", "text/markdown", line.encode()), validator)


def path_of(uri: str) -> Path:
    return Path(uri.removeprefix("toy:"))


def canonical(uri: str) -> str:
    path = path_of(uri)
    if not path.is_absolute():
        raise InvalidParameter("uri", "must be toy: and an absolute path")
    return f"toy:{path.resolve()}"


def check(uri: str) -> None:
    if not path_of(uri).is_file():
        raise SourceNotFound(f"{uri} is no file.")


@contextlib.contextmanager
def open_lines(registration: Registration, upstreams: Upstreams) -> Iterator[Origin]:
    assert upstreams.reads_local_files
    yield LinesOrigin(registration)


TOY = SourceKind(
    "toy",
    canonical=canonical,
    check=check,
    open=open_lines,
    refreshable=True,
    local_only=True,
    command=Command("FILE", "the lines of a text", uri=lambda word: f"toy:{Path(word).resolve()}"),
)


@pytest.fixture
def lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A text of three lines, in a process that has the toy kind."""
    monkeypatch.setattr(sources, "_added", {})
    sources.register(TOY)
    (tmp_path / "lines.txt").write_text(TEXT, "utf-8")
    return tmp_path / "lines.txt"


def settings(folder: Path, **given: str) -> dict[str, str]:
    return {"store": str(folder / "store"), "cache": str(folder / "cache"), **given}


def call(runtime: Runtime, tool: str, **arguments: Any) -> Mapping[str, Any]:
    return runtime.toolbox.call(tool, arguments).structured or {}


def test_a_new_kind_of_source_goes_all_the_way(lines: Path, tmp_path: Path) -> None:
    with contextlib.closing(Runtime(load(settings(tmp_path), {}))) as runtime:
        made = call(
            runtime, "create_source", kind="toy", uri=f"toy:{lines}", title="Ship", refresh_hours=24
        )
        job = runtime.sync.wait(runtime.sync.start(made["source_id"]).id, 60)
        assert (job.state, job.counts["new"]) == ("success", 3)

        (hit,) = call(runtime, "search_docs", query="anchor", top_k=1, filters={"kinds": ["toy"]})[
            "results"
        ]
        assert hit["doc_id"]
        page = runtime.toolbox.call("get_doc", {"doc": hit["doc_id"]}).render()
        assert "Weigh the anchor before sunrise." in page
        (listed,) = call(runtime, "list_sources", kind="toy")["results"]
        assert (listed["uri"], listed["documents"]) == (f"toy:{lines}", 3)

        lines.write_text(TEXT.replace("sunrise", "noon"), "utf-8")
        job = runtime.sync.wait(runtime.sync.start("Ship").id, 60)
        counts = {name: job.counts[name] for name in ("new", "changed", "unchanged", "gone")}
        assert counts == {"new": 0, "changed": 1, "unchanged": 2, "gone": 0}

        exported = runtime.toolbox.call("export_snapshot", {"source_id": "Ship"}).render()
        assert "before noon" in exported
        assert call(runtime, "delete_source", source_id="Ship")["deleted"]
        assert call(runtime, "search_docs", query="anchor")["results"] == []


def test_a_server_that_others_reach_refuses_local_files(lines: Path, tmp_path: Path) -> None:
    public = load(settings(tmp_path, host="0.0.0.0"), {})
    refused = pytest.raises(Forbidden, match=r"does not read toys .*`docstow ingest toy FILE`")
    with contextlib.closing(Runtime(public)) as runtime, refused:
        call(runtime, "create_source", kind="toy", uri=f"toy:{lines}")


def test_its_command_and_its_bundle(
    lines: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The packages of the project here would be found as well.
    monkeypatch.chdir(tmp_path)
    bundle, other = str(tmp_path / "ship.tar"), tmp_path / "other"
    flags = [f"--{name}={value}" for name, value in settings(tmp_path).items()]
    assert main(["ingest", "toy", str(lines), "--title", "Ship", *flags]) == 0
    assert main(["export-bundle", "Ship", bundle, *flags]) == 0
    there = [f"--{name}={value}" for name, value in settings(other).items()]
    assert main(["import-bundle", bundle, *there]) == 0
    capsys.readouterr()
    assert main(["search", "cat", "--top-k", "1", *there]) == 0
    assert "Feed the ship's cat." in capsys.readouterr().out
