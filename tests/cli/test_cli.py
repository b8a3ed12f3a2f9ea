"""The command line as a user runs it: a process, its output and its exit status."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import zstandard

from docstow.runtime import SAMPLE
from servers.docs_rs import DocsRs

#: Most of them run the command as a process.
pytestmark = pytest.mark.slow


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[DocsRs]:
    place = tmp_path / "crates" / "stowage" / "0.1.0"
    place.mkdir(parents=True)
    shutil.copy(SAMPLE, place / "rustdoc.json.zst")
    with DocsRs(tmp_path / "crates") as server:
        yield server


@pytest.fixture
def environment(tmp_path: Path, upstream: DocsRs) -> dict[str, str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("DOCSTOW_")}
    return inherited | {
        "HOME": str(tmp_path),
        "DOCSTOW_STORE": str(tmp_path / "store"),
        "DOCSTOW_CACHE": str(tmp_path / "cache"),
        "DOCSTOW_DOCS_RS_URL": upstream.url,
        "DOCSTOW_CRATES_INDEX_URL": upstream.index_url,
        "DOCSTOW_UPSTREAM_INTERVAL_S": "0",
        "DOCSTOW_RETRIES": "0",
    }


def run(
    environment: dict[str, str], *words: str, text: str | None = None
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "docstow", *words]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, input=text, timeout=120
    )


def answer(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout)


def test_the_first_search_needs_no_network(environment: dict[str, str]) -> None:
    environment["DOCSTOW_DOCS_RS_URL"] = environment["DOCSTOW_CRATES_INDEX_URL"] = (
        "http://127.0.0.1:1"
    )
    done = run(environment, "call", "search_items", '{"crate": "stowage", "query": "hold"}')
    assert done.returncode == 0, done.stderr
    assert answer(done)["answered"] == "0.1.0"
    assert len(answer(done)["results"]) == 4


def test_words_are_utf8_whatever_the_system_thinks(environment: dict[str, str]) -> None:
    ways = {**environment, "PYTHONIOENCODING": "cp1252"}
    arguments = json.dumps({"crate": "→"}, ensure_ascii=False)
    for words, text in (([arguments], None), (["-"], arguments)):
        done = subprocess.run(
            [sys.executable, "-m", "docstow", "call", "get_module_tree", *words],
            env=ways,
            capture_output=True,
            input=None if text is None else text.encode(),
            timeout=120,
        )
        assert done.returncode == 1
        assert json.loads(done.stdout.decode("utf-8"))["field"] == "crate", done.stderr
    export = ["export", "stowage", "--format", "markdown", "--into", "-"]
    pages = subprocess.run(
        [sys.executable, "-m", "docstow", *export], env=ways, capture_output=True, timeout=120
    )
    assert not pages.stdout.isascii()
    assert "\ufffd" not in pages.stdout.decode("utf-8")


def test_ingest_crate_says_what_it_did(environment: dict[str, str]) -> None:
    done = run(environment, "ingest", "crate", "stowage@^0.1", "no-such-crate")
    assert done.returncode == 1
    assert re.fullmatch(
        r"crate/stowage/0\.1\.0: \d+ documents, \d+ examples, snapshot [0-9a-f]{12}, [\d.]+ s\n",
        done.stdout,
    )
    assert "docstow: no-such-crate: crate_not_found: " in done.stderr


def test_ingest_crate_takes_a_list(environment: dict[str, str], tmp_path: Path) -> None:
    crates = tmp_path / "crates.txt"
    crates.write_text("# ours\nno-such-crate\nstowage@0.1.0  # exact\n")
    done = run(environment, "ingest", "crate", "--file", str(crates))
    assert done.returncode == 1
    assert done.stdout.startswith("crate/stowage/0.1.0: ")
    assert "docstow: no-such-crate: crate_not_found: " in done.stderr
    none = run(environment, "ingest", "crate")
    assert (none.returncode, none.stdout) == (1, "")
    assert "--file" in none.stderr


def test_export_writes_files_and_spares_what_is_there(
    environment: dict[str, str], tmp_path: Path
) -> None:
    command = ["export", "stowage@0.1.0"]
    lines = run(environment, *command, "--into", "-")
    assert lines.returncode == 0, lines.stderr
    file, folder = tmp_path / "out", tmp_path / "docs"
    file.mkdir()
    assert run(environment, *command, "--into", str(file)).returncode == 0
    assert (file / "stowage-0.1.0.jsonl").read_text("utf-8") == lines.stdout
    tree = [*command, "--format", "markdown", "--into", str(folder)]
    assert run(environment, *tree).returncode == 0
    assert (folder / "stowage" / "struct.Hold.md").is_file()
    again = run(environment, *tree)
    assert again.returncode == 1
    assert "--force" in again.stderr
    llms = [*command, "--format", "llms", "--into", str(folder), "--force"]
    assert run(environment, *llms).returncode == 0
    assert sorted(each.name for each in folder.iterdir()) == ["llms-full.txt", "llms.txt"]


def test_serve_refuses_a_list_that_is_not_there(environment: dict[str, str]) -> None:
    done = run(environment, "serve", "--port", "0", "--pre-ingest", "absent.txt")
    assert (done.returncode, done.stdout) == (1, "")
    assert "absent.txt cannot be read" in done.stderr


@pytest.mark.parametrize("packing", ["json", "json.zst", "json.gz"])
def test_ingest_rustdoc_takes_files_in_every_packing(
    environment: dict[str, str], tmp_path: Path, packing: str
) -> None:
    plain = zstandard.ZstdDecompressor().decompress(SAMPLE.read_bytes())
    file = tmp_path / f"stowage.{packing}"
    if packing == "json.gz":
        file.write_bytes(gzip.compress(plain))
    else:
        file.write_bytes(plain if packing == "json" else SAMPLE.read_bytes())
    done = run(environment, "ingest", "rustdoc", str(file))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("local/stowage/0.1.0: ")


def test_ingest_rustdoc_refuses_what_is_none_in_one_line(
    environment: dict[str, str], tmp_path: Path
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"format_version":57')
    done = run(environment, "ingest", "rustdoc", str(broken), str(tmp_path / "absent.json"))
    assert done.returncode == 1
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 2
    assert all(": unreadable_input: " in line for line in lines)


def test_call_prints_a_page_as_text(environment: dict[str, str]) -> None:
    done = run(environment, "call", "get_item_doc", '{"item_path": "stowage::Hold"}')
    assert done.returncode == 0
    assert done.stdout.startswith("# struct `stowage::Hold`")


def test_call_prints_the_error_body_and_fails(environment: dict[str, str]) -> None:
    done = run(environment, "call", "get_item_doc", "-", text='{"item_path": "stowage::Hodl"}')
    assert done.returncode == 1
    assert answer(done)["error"] == "item_not_found"
    assert answer(done)["suggestions"][0]["item_path"] == "stowage::Hold"


def test_wrong_settings_are_all_named(environment: dict[str, str]) -> None:
    environment |= {"DOCSTOW_WAIT_S": "soon", "DOCSTOW_PORT": "99999"}
    done = run(environment, "call", "list_versions")
    assert done.returncode == 1
    assert "DOCSTOW_WAIT_S: must be a number" in done.stderr
    assert "DOCSTOW_PORT: must be at most 65535" in done.stderr


def test_serve_prints_its_address_and_answers_there(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "ahead.txt").write_text("stowage\n")
    command = [sys.executable, "-m", "docstow", "serve"]
    command += ["--pre-ingest", str(tmp_path / "ahead.txt"), "--port", "0"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/mcp", first)
        assert found, first
        url = found[0]
        result = httpx.post(f"{url}/tools/get_crate_summary", json={"crate": "stowage"}).json()
        assert result["answered"] == "0.1.0"
        health = httpx.get(f"{url.removesuffix('/mcp')}/health").json()
        assert health["pre_ingest"]["total"] == 1
        second = subprocess.run(
            [*command[:-1], url.rsplit(":", 1)[1].split("/")[0]],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert second.returncode == 1
        assert "choose another with --host and --port" in second.stderr
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
