"""Invisible characters are dropped from every kind of source, on its whole way into the store."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from docstow.core.settings import load
from docstow.runtime import Runtime
from paths import CRATES
from prose_server import write
from prose_texts import pdf

#: A marker of direction, a word in tags, and a space of no width.
SLY = "\u202e" + "".join(chr(0xE0000 + ord(each)) for each in "obey") + "\u200b"
CODE = f"let a{SLY} = 1"
FILES = {
    "page.md": f"# Title{SLY}\n\nSome{SLY} text.\n\n```rust\n{CODE}\n```\n",
    "page.mdx": f"# Title{SLY}\n\n<Note>Some{SLY} text.</Note>\n\n```rust\n{CODE}\n```\n",
    "page.rst": f"Title{SLY}\n==========\n\nSome{SLY} text.\n\n.. code-block:: rust\n\n   {CODE}\n",
    "page.adoc": f"= Title{SLY}\n\nSome{SLY} text.\n\n----\n{CODE}\n----\n",
    "page.txt": f"Title{SLY}\n\nSome{SLY} text.\n\n{CODE}\n",
    "page.html": f"<title>T</title><h1>Title{SLY}</h1><p>Some&#x202e;{SLY} text.<pre>{CODE}</pre>",
    "page.ipynb": json.dumps(
        {
            "nbformat": 4,
            "cells": [
                {"cell_type": "markdown", "source": f"# Title{SLY}\n\nSome{SLY} text."},
                {"cell_type": "code", "source": CODE, "outputs": []},
            ],
        }
    ),
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path


def runtime_at(place: Path, root: str = "") -> contextlib.closing[Runtime]:
    flags = {"store": str(place / "store"), "cache": str(place / "cache"), "root": root}
    return contextlib.closing(Runtime(load(flags, {})))


def counted(runtime: Runtime, source_id: str) -> int:
    job = runtime.toolbox.call("get_sync_status", {"source_id": source_id}).structured
    assert job is not None
    return int(job["counts"]["invisible"])


@pytest.mark.parametrize("name", FILES)
def test_pages_of_each_format(name: str, place: Path) -> None:
    write(place / "docs", {name: FILES[name]})
    with runtime_at(place) as runtime:
        source, _ = runtime.registry.create("folder", str(place / "docs"))
        job = runtime.sync.wait(runtime.sync.start(source.id).id, 60)
        assert job.state == "success", job.errors
        text = runtime.toolbox.call("get_doc", {"doc": name}).text
        assert "Some text." in text
        assert "let a = 1" in text
        assert not set(SLY) & set(text)
        assert f"{counted(runtime, source.id)} invisible characters dropped" in text
        assert counted(runtime, source.id) >= 3 * len(SLY)
        hits = runtime.toolbox.call("search_docs", {"query": "some text"}).structured
        assert hits is not None
        assert not set(SLY) & set(json.dumps(hits, ensure_ascii=False))


def test_a_pdf(place: Path) -> None:
    (place / "docs").mkdir()
    # In UTF-16, with each byte as an escape (ISO 32000-1, 7.9.2.2).
    title = "".join(f"\\{byte:03o}" for byte in f"\ufeffTitle{SLY}".encode("utf-16-be"))
    (place / "docs" / "page.pdf").write_bytes(pdf(["Some text."], title))
    with runtime_at(place) as runtime:
        source, _ = runtime.registry.create("folder", str(place / "docs"))
        assert runtime.sync.wait(runtime.sync.start(source.id).id, 60).state == "success"
        text = runtime.toolbox.call("get_doc", {"doc": "page.pdf"}).text
        assert "# Title\n" in text
        assert counted(runtime, source.id) == len(SLY)


def test_a_pushed_text(place: Path) -> None:
    with runtime_at(place) as runtime:
        pushed = {
            "collection": "notes",
            "uri": "a",
            "title": f"Sly{SLY}",
            "text": f"Some{SLY} text.\n",
            "metadata": {"by": f"me{SLY}"},
        }
        runtime.toolbox.call("create_collection", {"name": "notes"})
        runtime.toolbox.call("push_document", pushed)
        text = runtime.toolbox.call("get_doc", {"doc": "a"}).text
        assert "# Sly\n\nSome text." in text
        assert f"{3 * len(SLY)} invisible characters dropped" in text


def test_items_of_rust(place: Path) -> None:
    packed = (CRATES / "inner" / "rustdoc.json.zst").read_bytes()
    data = json.loads(zstandard.ZstdDecompressor().stream_reader(packed).read())
    version = data.pop("format_version")
    documented = 0
    for item in data["index"].values():
        if item["docs"]:
            item["docs"] += f"\n\nSome{SLY} text.\n\n```\n{CODE}\n```\n"
            documented += 1
    (place / "inner.json").write_text(json.dumps(data | {"format_version": version}))
    with runtime_at(place) as runtime:
        files = [place / "inner.json"]
        snapshot = runtime.rustdoc_files(files).ingest(files[0])
        assert documented
        assert snapshot.counts["invisible"] >= 2 * len(SLY)
        text = runtime.toolbox.call("get_item_doc", {"item_path": "inner"}).text
        found = runtime.toolbox.call("search_items", {"query": "Gadget"}).structured
        assert "Some text." in text
        assert not set(SLY) & set(text + json.dumps(found, ensure_ascii=False))


def test_items_of_python_and_typescript(place: Path) -> None:
    project = place / "project"
    site = project / ".venv/lib/python3.12/site-packages"
    comment = f"Some{SLY} text.\n\n    {CODE}\n"
    write(
        project,
        {
            ".venv/pyvenv.cfg": "version = 3.12\n",
            str(site / "sly.py"): f'"""{comment}"""\n\ndef moor():\n    """{comment}"""\n',
            str(site / "sly-1.0.dist-info/METADATA"): "Name: sly\nVersion: 1.0\n",
            str(site / "sly-1.0.dist-info/RECORD"): "sly.py,,\nsly-1.0.dist-info/METADATA,,\n",
            "package.json": json.dumps({"name": "own", "dependencies": {"sly-js": "1.0.0"}}),
            "node_modules/sly-js/package.json": json.dumps(
                {"name": "sly-js", "version": "1.0.0", "types": "index.d.ts"}
            ),
            "node_modules/sly-js/index.d.ts": (
                f"/** Some{SLY} text. */\nexport declare function moor(): void;\n"
            ),
        },
    )
    with runtime_at(place, str(project)) as runtime:
        found = list(runtime.installed.of_project("", ["sly", "sly-js"]))
        assert [each.package.ecosystem for each in found] == ["python", "node"]
        for each in found:
            snapshot = runtime.installed.ingest(each)
            assert snapshot.counts["invisible"] >= len(SLY)
            answer = runtime.toolbox.call(
                "search_items", {"query": "moor", "language": each.package.language}
            )
            shown: Any = json.dumps(answer.structured, ensure_ascii=False)
            assert "Some text." in shown
            assert not set(SLY) & set(shown)
