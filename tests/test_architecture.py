"""The rooms' imports point down only, and a cold start loads only what it needs."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

LIB = Path(__file__).resolve().parent.parent / "lib" / "docstow"
FUNCTIONS = LIB.parent.parent / "functions"

#: The floors of the house, the lowest first; a room may import from lower floors and its own.
FLOORS = [
    {
        "model",
        "languages",
        "errors",
        "settings",
        "access",
        "freshness",
        "outfiles",
        "preingest",
        "commands",
        "metrics",
        "parallel",
    },
    {
        "readers",
        "chunk",
        "words",
        "rank",
        "versions",
        "unpack",
        "archive",
        "patience",
        "urls",
        "pages",
        "manifest",
        "cards",
        "features",
        "shapes",
        "diff",
    },
    {"net", "objects", "tables", "embed", "queue", "sqs", "bundled", "models"},
    {
        "lockfile",
        "layout",
        "index",
        "lookup",
        "implementations",
        "outline",
        "export",
        "cache",
        "records",
        "indexes",
        "packages",
        "verify",
    },
    {"origins"},
    {
        "heads",
        "blobs",
        "snapshots",
        "inventory",
        "touched",
        "lease",
        "catalog",
        "pins",
        "kinds",
        "registry",
        "job",
        "jobs",
        "ended",
        "presets",
    },
    {
        "ingest",
        "installed",
        "together",
        "search",
        "example_search",
        "signatures",
        "neighbours",
        "renewal",
        "dispatch",
        "work",
        "deliveries",
        "stowing",
        "dependencies",
        "federate",
        "shortlist",
        "harvest",
        "visit",
        "sync",
        "pushes",
        "page_filters",
        "page_index",
        "page_lookup",
        "page_search",
        "page_tables",
        "sweep",
        "evict",
        "audit",
        "tidy",
        "refresh",
        "upkeep",
        "bundle",
        "bundle_check",
        "bundle_export",
        "bundle_import",
    },
    {"library", "prose"},
    {"tools", "mcp"},
    {"app", "stdio", "server"},
    {"runtime", "upstreams", "workers", "embedders", "registered", "stocking", "faces"},
    {"cli", "cli_jobs", "cli_prose", "cli_bundle", "cli_store", "functions"},
]
FLOOR = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}

#: The one room that may know a library.
OWNERS = {
    "httpx": {"net"},
    "httpcore": {"net"},
    "protego": {"origins"},
    "boto3": {"objects"},
    "botocore": {"objects", "sqs"},
    "duckdb": {"tables"},
    "onnxruntime": {"embed", "models"},
    "tokenizers": {"embed", "bundled", "models"},
    "onnx": {"bundled"},
    "fastapi": {"app"},
    "starlette": {"app"},
    "mangum": {"functions"},
    "zstandard": {"unpack", "archive", "bundled", "packages"},
    "uvicorn": {"server"},
    "lxml": {"readers"},
    "playwright": {"origins"},
    "tree_sitter": {"readers", "verify"},
    "tree_sitter_javascript": {"readers"},
    "tree_sitter_typescript": {"readers", "verify"},
    "tree_sitter_rust": {"verify"},
    "griffe": {"packages"},
}

#: Rooms without input or output.
PURE = {
    "diff",
    "shapes",
    "readers",
    "chunk",
    "words",
    "rank",
    "versions",
    "unpack",
    "patience",
    "urls",
    "mcp",
    "model",
    "languages",
    "export",
    "verify",
}
IO_MODULES = {
    "os",
    "socket",
    "subprocess",
    "tempfile",
    "shutil",
    "urllib.request",
    "pathlib",
    "time",
}


def room_of(file: Path) -> str:
    if FUNCTIONS in file.parents:
        return "functions"
    relative = file.relative_to(LIB)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imports(file: Path, *, typing_only: bool = True) -> Iterator[str]:
    """Every module named by an import anywhere in the file, ``from docstow import x`` spelt out.

    ``typing_only`` keeps those that a type checker alone sees.
    """
    tree = ast.parse(file.read_text(encoding="utf-8"))
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
        if not typing_only
    }
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "docstow":
                yield from (f"docstow.{alias.name}" for alias in node.names)
            else:
                yield node.module


def sources() -> list[Path]:
    files = [*LIB.rglob("*.py"), *FUNCTIONS.rglob("*.py")]
    return sorted(file for file in files if file.name != "__main__.py")


@pytest.mark.parametrize("file", sources(), ids=lambda file: file.stem)
def test_imports_point_down(file: Path) -> None:
    room = room_of(file)
    if room == "__init__":
        return
    assert room in FLOOR, f"{room} has no floor in the map"
    for name in imports(file):
        parts = name.split(".")
        if parts[0] == "docstow" and len(parts) > 1 and parts[1] != "__version__":
            assert parts[1] == room or FLOOR[parts[1]] <= FLOOR[room], f"{file.name} imports {name}"


@pytest.mark.parametrize("file", sources(), ids=lambda file: file.stem)
def test_each_library_is_known_in_its_own_room(file: Path) -> None:
    room = room_of(file)
    for name in imports(file, typing_only=False):
        owners = OWNERS.get(name.split(".")[0])
        assert owners is None or room in owners, f"{file.name} imports {name}"


@pytest.mark.parametrize(
    "file", [file for file in sources() if room_of(file) in PURE], ids=lambda file: file.stem
)
def test_pure_rooms_have_no_input_or_output(file: Path) -> None:
    assert IO_MODULES.isdisjoint(imports(file))
    calls = {
        node.func.id
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert calls.isdisjoint({"open", "print", "input"})


def test_the_app_starts_without_the_heavy_libraries() -> None:
    heavy = [
        "numpy",
        "duckdb",
        "onnxruntime",
        "tokenizers",
        "boto3",
        "httpx",
        "msgspec",
        "rapidfuzz",
    ]
    program = (
        "import sys; from docstow import settings; from docstow.runtime import Runtime; "
        "import tempfile; folder = tempfile.mkdtemp(); "
        "runtime = Runtime(settings.load({'store': folder, 'cache': folder + '/c'}, {})); "
        "runtime.app; runtime.toolbox; "
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
