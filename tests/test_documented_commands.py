"""Every command in the README and the docs is run, or listed here with the reason why not."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from docstow.runtime import SAMPLE
from paths import REPOSITORY
from servers.docs_rs import DocsRs

#: The pages in the order in which their commands are run, in one folder with one store.
PAGES = (
    "README.md",
    "docs/tools.md",
    "docs/operations.md",
    "docs/self-host.md",
    "docs/sources.md",
    "docs/verify.md",
    "docs/models.md",
    "docs/benchmarks.md",
    "CONTRIBUTING.md",
    "infra/README.md",
)

#: Beginnings of commands that are not run here, each with the reason.
NOT_RUN = {
    "make ": "runs these tests, or takes minutes; .ci/run does make test and make infra",
    "docstow ingest site ": "needs that website; tests/cli/test_cli_sources.py crawls a local one",
    "docstow ingest github ": "needs that forge; tests/sources/git/test_origin.py asks a local one",
    "docstow ingest std": "needs a Rust toolchain; sources/crates/test_toolchain.py has a fake",
    "docstow ingest crate --file crates.txt --queue-url": "needs that queue; see tests/ingest",
    "docstow jobs show ": "its id is an example; tests/cli/test_cli.py shows a job",
    'docstow export "Our docs" --push ': "needs that server; tests/ops/test_open_webui.py has one",
    "docstow import-bundle ": "its digest is an example; tests/ops/test_bundle.py imports one",
    "docstow model fetch ": "needs the hub; tests/embedding/test_hub.py asks a local one",
    "DOCSTOW_MODEL=./model docstow serve": "needs a fetched model; see tests/embedding",
    "rustup ": "needs rustup",
    "cargo ": "needs a nightly toolchain",
    "git clone ": "needs that host",
    "sam ": "needs an account; make infra validates the template and builds",
    "aws ": "needs an account",
    "docker ": "needs Docker",
    "sudo ": "changes the machine; tests/infra/test_self_host.py reads the unit",
    "kubectl ": "needs a cluster; tests/infra/test_self_host.py reads the manifest",
    'curl "$(aws ': "needs an account",
    "cd infra": "belongs to docker compose",
    "printf 'S3_SECRET_KEY": "belongs to docker compose",
    "curl http://localhost:8000/health": "belongs to docker compose",
}


def commands(page: str) -> list[str]:
    """Return the commands of a page's console blocks, without comments."""
    text = (REPOSITORY / page).read_text("utf-8")
    found = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("$ "):
                found.append(re.sub(r"\s{2,}# .*| {1,}# (once|asks|the output)\b.*", "", line[2:]))
    return found


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with what the documented commands name."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/retry.md").write_text("# Retries\n\nRetry a request three times.\n")
    (tmp_path / "crates.txt").write_text("tokio\n")
    (tmp_path / "target/doc").mkdir(parents=True)
    import zstandard

    body = zstandard.ZstdDecompressor().stream_reader(SAMPLE.read_bytes()).read()
    (tmp_path / "target/doc/my_private_crate.json").write_bytes(body)
    site = tmp_path / "shop/.venv/lib/python3.12/site-packages"
    (site / "httpx-0.28.1.dist-info").mkdir(parents=True)
    (tmp_path / "shop/.venv/pyvenv.cfg").write_text("version = 3.12.1\n")
    (site / "httpx-0.28.1.dist-info/METADATA").write_text("Name: httpx\nVersion: 0.28.1\n")
    (site / "httpx-0.28.1.dist-info/RECORD").write_text("httpx.py,,\n")
    (site / "httpx.py").write_text('def get(url, timeout=5):\n    """Send a GET request."""\n')
    return tmp_path


@pytest.fixture
def environment(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Settings that lead to a store of its own and a local docs.rs."""
    upstream = tmp_path_factory.mktemp("docs-rs")
    known = {"tokio": ("1.53.1",), "serde": ("1.0.200", "1.0.219"), "axum": ("0.8.4",)}
    for name, versions in known.items():
        for version in versions:
            (upstream / name / version).mkdir(parents=True)
            shutil.copyfile(SAMPLE, upstream / name / version / "rustdoc.json.zst")
    with DocsRs(upstream) as docs_rs:
        scripts = tmp_path_factory.mktemp("bin")
        (scripts / "docstow").write_text(f'#!/bin/sh\nexec {sys.executable} -m docstow "$@"\n')
        (scripts / "docstow").chmod(0o755)
        yield {
            **os.environ,
            "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(sys.path),
            "DOCSTOW_STORE": str(place / "the-store"),
            "DOCSTOW_CACHE": str(place / "the-cache"),
            "DOCSTOW_DOCS_RS_URL": docs_rs.url,
            "DOCSTOW_CRATES_INDEX_URL": docs_rs.index_url,
            "DOCSTOW_UPSTREAM_INTERVAL_S": "0",
        }


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_documented_commands_work(place: Path, environment: dict[str, str]) -> None:
    serve = [sys.executable, "-m", "docstow", "serve", "--port=0"]
    with subprocess.Popen(
        serve, cwd=place, env=environment, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        address = server.stdout.readline().rpartition(" ")[2].strip().removesuffix("/mcp")
        try:
            ran = 0
            for page in PAGES:
                for command in commands(page):
                    if any(command.startswith(beginning) for beginning in NOT_RUN):
                        continue
                    shell = command.replace("http://127.0.0.1:8000", address)
                    done = subprocess.run(
                        ["sh", "-c", shell],
                        cwd=place,
                        env=environment,
                        capture_output=True,
                        text=True,
                        timeout=120,
                    )
                    assert done.returncode == 0, f"{page}: {command}\n{done.stdout}{done.stderr}"
                    ran += 1
            assert ran > 30
        finally:
            server.terminate()


def test_every_reason_is_still_needed() -> None:
    every = [command for page in PAGES for command in commands(page)]
    for beginning in NOT_RUN:
        assert any(command.startswith(beginning) for command in every), beginning


def test_every_page_is_looked_at() -> None:
    pages = {path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / "docs").glob("*.md")}
    with_commands = {page for page in pages if commands(page)}
    assert with_commands <= set(PAGES)


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").glob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
