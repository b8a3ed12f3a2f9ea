"""Files of one command are one another's siblings."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import zstandard

from docstow.core.errors import DocstowError, UnsupportedFormat
from docstow.core.settings import load
from docstow.runtime import Runtime
from paths import CRATES


@pytest.fixture
def runtime(tmp_path: Path) -> Iterator[Runtime]:
    nowhere = "http://127.0.0.1:1"
    flags = {
        "store": str(tmp_path / "store"),
        "cache": str(tmp_path / "cache"),
        "docs_rs_url": nowhere,
        "crates_index_url": nowhere,
        "retries": 0,
    }
    with contextlib.closing(Runtime(load(flags, {}))) as made:
        yield made


def private(folder: Path, name: str, **members: Any) -> Path:
    """A fixture crate as if it and its dependencies were on no site."""
    packed = (CRATES / name / "rustdoc.json.zst").read_bytes()
    data = json.loads(zstandard.ZstdDecompressor().stream_reader(packed).read())
    for crate in data["external_crates"].values():
        crate["html_root_url"] = None
    version = data.pop("format_version")
    file = folder / f"{name}.json"
    file.write_text(json.dumps(data | members | {"format_version": version}))
    return file


def page(runtime: Runtime, path: str, **arguments: Any) -> str:
    return runtime.toolbox.call("get_item_doc", {"item_path": path, **arguments}).text


def test_a_private_workspace_shows_items_where_users_write_them(
    runtime: Runtime, tmp_path: Path
) -> None:
    files = [private(tmp_path, "reexports"), private(tmp_path, "inner")]
    together = runtime.rustdoc_files(files)
    stowed = [together.ingest(file) for file in files]
    assert [each.revision.source.key for each in stowed] == [
        "local/reexports/1.0.0",
        "local/inner/2.1.0",
    ]
    gadget = page(runtime, "reexports::Gadget")
    assert "# struct `reexports::" in gadget
    assert "Found only here." in gadget
    assert "Found only here." in page(runtime, "inner::Gadget")


def test_a_file_alone_points_to_the_other_crate(runtime: Runtime, tmp_path: Path) -> None:
    file = private(tmp_path, "reexports")
    runtime.rustdoc_files([file]).ingest(file)
    assert "Re-exported from `inner::Gadget`" in page(runtime, "reexports::Gadget")


def test_a_file_that_cannot_be_read_is_told_in_its_own_turn(
    runtime: Runtime, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("[]")
    files = [private(tmp_path, "inner"), broken]
    together = runtime.rustdoc_files(files)
    assert together.ingest(files[0]).revision.version == "2.1.0"
    with pytest.raises(DocstowError, match="not rustdoc JSON"):
        together.ingest(broken)


def test_the_version_of_a_nightly_is_one_that_can_be_asked_for(
    runtime: Runtime, tmp_path: Path
) -> None:
    file = private(tmp_path, "inner", crate_version="1.99.0-nightly (0123abcde 2026-11-01)")
    assert runtime.rustdoc_files([file]).ingest(file).revision.version == "1.99.0-nightly"
    assert "inner 1.99.0-nightly (asked: latest" in page(runtime, "inner::Gadget")
    assert "asked: 1.99.0-nightly" in page(runtime, "inner::Gadget", version="1.99.0-nightly")


@pytest.fixture
def standard(runtime: Runtime, corpus: Path) -> Runtime:
    """``std`` with ``alloc`` of the corpus; ``core`` is large and adds nothing to the rule."""
    files = [corpus / name / "1.98.1" / "rustdoc.json.zst" for name in ("std", "alloc")]
    runtime.rustdoc_files(files).ingest(files[0])
    return runtime


def test_std_shows_what_alloc_defines(standard: Runtime) -> None:
    vec = page(standard, "std::vec::Vec")
    assert "# struct `std::vec::Vec`" in vec
    assert "std 1.98.1 (asked: latest" in vec
    assert "pub fn push" in page(standard, "std::vec::Vec::push")
    assert "# struct `std::collections::BTreeMap`" in page(standard, "std::collections::BTreeMap")
    answer = standard.toolbox.call(
        "search_items", {"crate": "std", "query": "split a string by whitespace"}
    ).structured
    assert answer is not None
    assert "std::str::split_whitespace" in [each["item_path"] for each in answer["results"]]
    versions = standard.toolbox.call("list_versions", {"crate": "std"}).structured
    assert versions is not None
    assert versions["results"] == [
        {"version": "1.98.1", "yanked": False, "stowed": True, "latest": True}
    ]
    lock = 'version = 4\n[[package]]\nname = "app"\nversion = "0.1.0"\n'
    assert "std 1.98.1" in page(standard, "std::vec::Vec", lockfile=lock)


def test_files_of_formats_to_come_are_refused_or_tried(runtime: Runtime, tmp_path: Path) -> None:
    file = private(tmp_path, "inner")
    file.write_text(file.read_text().replace('"format_version": 57', '"format_version": 62'))
    with pytest.raises(UnsupportedFormat, match="format 62 cannot be read; formats 15 to 61 can"):
        runtime.rustdoc_files([file]).ingest(file)
    settings = replace(runtime.settings, try_unknown_formats=True)
    with contextlib.closing(Runtime(settings)) as trying:
        stowed = trying.rustdoc_files([file]).ingest(file)
    assert stowed.facts["format_untested"] is True
