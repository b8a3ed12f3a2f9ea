"""``get_dependencies`` and ``list_versions``: the index alone answers, nothing is stowed."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docstow.core.errors import CrateNotFound, InvalidParameter, VersionYanked
from docstow.core.settings import load
from docstow.runtime import Runtime
from servers.docs_rs import DocsRs

REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"


def need(name: str, req: str, **members: Any) -> dict[str, Any]:
    line = {"name": name, "req": req, "features": [], "optional": False, "kind": "normal"}
    return line | {"default_features": True, "target": None, "package": None} | members


INDEX: dict[tuple[str, str], dict[str, Any]] = {
    ("boat", "1.0.0"): {},
    ("boat", "1.1.0"): {"yanked": True},
    ("boat", "1.2.0"): {
        "rust_version": "1.70",
        "pubtime": "2026-01-02T03:04:05Z",
        "deps": [
            need("sail", "^0.4", features=["red"], default_features=False),
            need("motor", "^1", optional=True, target="cfg(unix)"),
            need("mop", "^2", kind="dev", package="broom"),
        ],
        "features": {"power": ["dep:motor"]},
    },
    ("boat", "2.0.0-rc.1"): {},
    ("sail", "0.4.1"): {"deps": [need("rope", "^1")]},
    ("sail", "0.4.2"): {"deps": [need("rope", "^1")], "features": {"red": []}},
    ("motor", "1.0.0"): {},
    ("broom", "2.3.0"): {},
    ("rope", "1.0.0"): {},
}

LOCK = f"""
version = 4
[[package]]
name = "harbour"
version = "0.1.0"
dependencies = ["boat 1.2.0"]
[[package]]
name = "boat"
version = "1.0.0"
source = "{REGISTRY}"
[[package]]
name = "boat"
version = "1.2.0"
source = "{REGISTRY}"
dependencies = ["sail"]
[[package]]
name = "sail"
version = "0.4.1"
source = "{REGISTRY}"
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[DocsRs]:
    folder = tmp_path / "none"
    folder.mkdir()
    with DocsRs(folder, overrides=INDEX) as running:
        yield running


@pytest.fixture
def runtime(server: DocsRs, tmp_path: Path) -> Iterator[Runtime]:
    flags = {
        "store": str(tmp_path / "store"),
        "cache": str(tmp_path / "cache"),
        "docs_rs_url": server.url,
        "crates_index_url": server.index_url,
        "retries": 0,
    }
    with contextlib.closing(Runtime(load(flags, {}))) as made:
        yield made


def call(runtime: Runtime, tool: str, **arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(runtime.toolbox.call(tool, arguments).render())
    return answer


def test_direct_dependencies_and_the_tree(runtime: Runtime, server: DocsRs) -> None:
    answer = call(runtime, "get_dependencies", crate="boat", depth=2, graph=True)
    assert "mermaid" not in call(runtime, "get_dependencies", crate="boat", depth=2)
    assert answer == {
        "crate": "boat",
        "package": "boat",
        "asked": "latest",
        "answered": "1.2.0",
        "substituted": False,
        "url": "https://crates.io/crates/boat/1.2.0/dependencies",
        "tree": [
            {"release": "boat 1.2.0", "depth": 0, "needs": ["sail 0.4.2"]},
            {"release": "sail 0.4.2", "depth": 1, "needs": ["rope 1.0.0"]},
            {"release": "rope 1.0.0", "depth": 2},
        ],
        "mermaid": 'graph LR\n    n0["boat 1.2.0"]\n    n1["sail 0.4.2"]\n    n2["rope 1.0.0"]\n'
        "    n0 --> n1\n    n1 --> n2",
        "results": [
            {
                "crate": "sail",
                "resolved": "0.4.2",
                "active": True,
                "kind": "normal",
                "requirement": "^0.4",
                "optional": False,
                "features": ["red"],
                "default_features": False,
            },
            {
                "crate": "motor",
                "resolved": "1.0.0",
                "active": False,
                "kind": "normal",
                "requirement": "^1",
                "optional": True,
                "features": [],
                "default_features": True,
                "target": "cfg(unix)",
                "enabled_by": ["power"],
            },
            {
                "crate": "broom",
                "resolved": "2.3.0",
                "active": True,
                "kind": "dev",
                "requirement": "^2",
                "optional": False,
                "features": [],
                "default_features": True,
                "renamed": "mop",
            },
        ],
        "cursor": None,
    }
    assert all(path.startswith("/index/") for path in server.paths("/"))


def test_one_kind_alone(runtime: Runtime) -> None:
    answer = call(runtime, "get_dependencies", crate="boat", version="^1", kinds=["dev"])
    assert (answer["asked"], answer["answered"]) == ("^1", "1.2.0")
    assert [each["crate"] for each in answer["results"]] == ["broom"]
    assert [each["release"] for each in answer["tree"]] == ["boat 1.2.0", "broom 2.3.0"]


def test_the_lock_file_decides(runtime: Runtime) -> None:
    answer = call(runtime, "get_dependencies", crate="boat", lockfile=LOCK)
    assert (answer["asked"], answer["answered"]) == ("lockfile: 1.2.0", "1.2.0")
    assert answer["notice"] == (
        "the lock file has boat 1.0.0 too; 1.2.0 is what harbour depends on"
    )
    assert answer["tree"][0]["needs"] == ["sail 0.4.1"]


def test_a_private_crate_answers_from_the_lock_file_and_is_not_asked_for(
    runtime: Runtime, server: DocsRs
) -> None:
    answer = call(runtime, "get_dependencies", crate="harbour", lockfile=LOCK, depth=2)
    assert answer["results"] == [{"crate": "boat", "resolved": "1.2.0", "active": True}]
    assert [each["release"] for each in answer["tree"]] == [
        "harbour 0.1.0",
        "boat 1.2.0",
        "sail 0.4.1",
    ]
    assert answer["notice"] == "harbour is not in the index: the lock file alone answers"
    assert not [path for path in server.paths("/") if "harbour" in path]


def test_what_the_index_does_not_have_is_told(runtime: Runtime) -> None:
    runtime.ingest_sample()
    with pytest.raises(CrateNotFound, match="stowed from a file"):
        call(runtime, "get_dependencies", crate="stowage")
    with pytest.raises(CrateNotFound, match="comes with Rust"):
        call(runtime, "get_dependencies", crate="core")
    with pytest.raises(VersionYanked):
        call(runtime, "get_dependencies", crate="boat", version="1.1.0")
    with pytest.raises(InvalidParameter, match="not both"):
        call(runtime, "get_dependencies", crate="boat", version="1.2.0", lockfile=LOCK)


def test_versions_with_a_requirement(runtime: Runtime) -> None:
    answer = call(runtime, "list_versions", crate="boat", requirement="^1.1")
    assert (answer["asked"], answer["answered"], answer["total"]) == ("^1.1", "1.2.0", 4)
    rows = [(e["version"], e["yanked"], e["matches"], e.get("latest")) for e in answer["results"]]
    assert rows == [
        ("2.0.0-rc.1", False, False, None),
        ("1.2.0", False, True, True),
        ("1.1.0", True, True, None),
        ("1.0.0", False, False, None),
    ]
    assert answer["results"][0]["prerelease"] is True
    assert answer["results"][1] == {
        "version": "1.2.0",
        "yanked": False,
        "stowed": False,
        "rust_version": "1.70",
        "published": "2026-01-02T03:04:05Z",
        "latest": True,
        "matches": True,
    }


def test_versions_with_a_lock_file(runtime: Runtime) -> None:
    answer = call(runtime, "list_versions", crate="boat", lockfile=LOCK)
    assert (answer["asked"], answer["answered"]) == ("lockfile: 1.2.0", "1.2.0")
    assert [each["version"] for each in answer["results"] if each.get("locked")] == [
        "1.2.0",
        "1.0.0",
    ]
    assert "matches" not in answer["results"][0]


def test_every_tool_says_that_a_lock_file_decided(runtime: Runtime) -> None:
    runtime.ingest_sample()
    lock = 'version = 4\n[[package]]\nname = "stowage"\nversion = "0.1.0"\n'
    answer = call(runtime, "get_crate_summary", crate="stowage", lockfile=lock)
    assert (answer["asked"], answer["answered"]) == ("lockfile: 0.1.0", "0.1.0")


def test_a_summary_tells_what_a_crate_has_and_how_to_depend_on_it(runtime: Runtime) -> None:
    runtime.ingest_sample()
    answer = call(runtime, "get_crate_summary", crate="stowage")
    assert answer["install"] == 'stowage = { path = "…" }'
    lines = [line for each in answer["contents"].values() for line in each]
    assert any(line.startswith("Hold — ") for line in answer["contents"]["struct"])
    assert not any("::" in line.partition(" — ")[0] for line in lines)
    assert "description" not in answer or answer["description"] not in answer["summary"]
