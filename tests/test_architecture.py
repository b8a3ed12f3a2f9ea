"""The packages of docstow import each other in one direction; each library has its owners."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from paths import LIB, REPOSITORY

FUNCTIONS = REPOSITORY / "functions"

#: The floors, the lowest first. A package imports from lower floors and from itself.
FLOORS = [
    {"core"},
    {"text", "net", "store"},
    {"formats", "embedding"},
    {"index"},
    {"languages"},
    {"sources"},
    {"ingest"},
    {"library", "ops"},
    {"tools"},
    {"server"},
    {"runtime"},
    {"cli"},
    {"__init__", "__main__", "functions"},
]
#: The same inside ``languages``.
LANGUAGES = [{"shared"}, {"rust", "python", "typescript", "go"}, {"projects"}, {"__init__"}]

#: The packages that may import a library.
OWNERS = {
    "boto3": {"store"},
    "botocore": {"store", "ingest"},
    "duckdb": {"index"},
    "tomllib": {"core"},
    "fastapi": {"server"},
    "griffe": {"languages"},
    "httpcore": {"net"},
    "httpx": {"net"},
    "jinja2": {"server"},
    "lxml": {"formats"},
    "mangum": {"functions"},
    "nh3": {"server"},
    "obstore": {"store"},
    "onnxruntime": {"embedding"},
    "packaging": {"languages", "sources"},
    "playwright": {"sources"},
    "protego": {"sources"},
    "pygments": {"server"},
    "rich": {"cli"},
    "starlette": {"server"},
    "tokenizers": {"embedding"},
    "tree_sitter": {"languages"},
    "tree_sitter_javascript": {"languages"},
    "tree_sitter_rust": {"languages"},
    "tree_sitter_typescript": {"languages"},
    "uvicorn": {"server"},
    "yaml": {"formats"},
    "zstandard": {"net", "ops", "index", "languages"},
}

#: Modules and packages without input or output.
PURE = [
    "core/model",
    "core/npm_ranges",
    "core/versions",
    "core/urls",
    "text",
    "formats",
    "index/signatures",
    "languages/rust/rustdoc",
    "languages/rust/diff",
    "server/mcp",
]
IO_MODULES = {
    "os",
    "pathlib",
    "shutil",
    "socket",
    "subprocess",
    "tempfile",
    "time",
    "urllib.request",
}


def module_name(file: Path) -> str:
    """The dotted name of a file below ``lib`` or ``functions``."""
    base = LIB.parent if LIB in file.parents else REPOSITORY
    parts = file.relative_to(base).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(file): file for root in (LIB, FUNCTIONS) for file in root.rglob("*.py")}


def package(name: str) -> str:
    """The package that a module belongs to, by the names of :data:`FLOORS`."""
    top, _, rest = name.partition(".")
    if top == "functions":
        return top
    return rest.partition(".")[0] or "__init__"


def level(floors: list[set[str]], name: str) -> int:
    """The floor of a package; a package without one is an error."""
    return next(number for number, floor in enumerate(floors) if name in floor)


def imported(file: Path, *, type_checking: bool = True) -> Iterator[str]:
    """Yield the full name of everything that a file imports, wherever the import stands."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if not type_checking
        and isinstance(node, ast.If)
        and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, f"{file} has a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def edges() -> dict[str, set[str]]:
    """Which modules of ours each module imports."""
    found: dict[str, set[str]] = {}
    for name, file in FILES.items():
        found[name] = set()
        for target in imported(file):
            while target not in FILES and "." in target:
                target = target.rpartition(".")[0]
            if target in FILES and target not in {name, "docstow"}:
                found[name].add(target)
    return found


EDGES = edges()


@pytest.mark.parametrize("name", sorted(FILES))
def test_imports_point_down(name: str) -> None:
    own = package(name)
    for target in EDGES[name]:
        other = package(target)
        assert own == other or level(FLOORS, other) < level(FLOORS, own), f"{name} -> {target}"
        if own == other == "languages":
            one, two = (f"{each}.__init__".split(".")[2] for each in (name, target))
            assert one == two or level(LANGUAGES, two) < level(LANGUAGES, one), (
                f"{name} -> {target}"
            )


def test_no_files_import_each_other_in_a_circle() -> None:
    try:
        TopologicalSorter(EDGES).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_library_is_imported_by_its_owners_only(name: str) -> None:
    for target in imported(FILES[name], type_checking=False):
        owners = OWNERS.get(target.split(".")[0])
        assert owners is None or package(name) in owners, f"{name} imports {target}"


@pytest.mark.parametrize("place", PURE)
def test_pure_code_has_no_input_or_output(place: str) -> None:
    files = (
        [LIB / f"{place}.py"] if (LIB / f"{place}.py").exists() else [*(LIB / place).rglob("*.py")]
    )
    assert files
    for file in files:
        named = set(imported(file))
        assert IO_MODULES.isdisjoint(named | {each.rpartition(".")[0] for each in named}), file
        calls = {
            node.func.id
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert calls.isdisjoint({"open", "print", "input"}), file


#: What starts threads: they act as the owner, but for those that copy a caller's context.
THREADS = {
    "docstow.cli.interrupt": "ends the process",
    "docstow.core.processes": "read pipes",
    "docstow.core.threads": "in_parallel copies the context; what is periodic is upkeep",
    "docstow.ingest.job_logs": "of workers",
    "docstow.ingest.preload": "the operator's packages",
    "docstow.ingest.queue": "workers",
    "docstow.ingest.reading": "of workers",
    "docstow.ingest.worker": "end a worker that is out of time",
    "docstow.languages.shared.language_server": "ends an engine that is out of time",
    "docstow.library.environments": "copies the context",
    "docstow.server.http": "ends the process",
    "docstow.server.stdio": "serves the owner alone",
    "docstow.server.worker_threads": "copies the context",
    "docstow.sources.collection": "of workers",
    "docstow.sources.site.browser": "of workers",
    "docstow.sources.site.crawl": "copies the context",
    "docstow.store.leases": "of workers",
    "docstow.store.usage": "writes marks",
}
#: What reads the store by keys of its own, below what is given to callers.
RAW = {"head_key", "heads_prefix", "snapshot_key", "decode_head", "ObjectStore", "open_store"}


def test_threads_that_would_lose_the_caller_are_started_where_that_is_meant() -> None:
    found = set()
    for name, file in FILES.items():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func).rpartition(".")[2]
                if called in {"Thread", "ThreadPoolExecutor", "Timer"}:
                    found.add(name)
    assert found == set(THREADS)


@pytest.mark.parametrize("name", sorted(FILES))
def test_what_answers_callers_has_no_key_of_the_store(name: str) -> None:
    # The totals list the heads of those registrations alone that the registry gives the caller.
    if package(name) in {"library", "tools", "server"} and name != "docstow.library.page_totals":
        assert RAW.isdisjoint(each.rpartition(".")[2] for each in imported(FILES[name]))


def test_the_app_starts_without_the_heavy_libraries() -> None:
    heavy = [
        "fastapi",
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
        "import sys, tempfile; from docstow.core import settings; "
        "from docstow.runtime import Runtime; folder = tempfile.mkdtemp(); "
        "runtime = Runtime(settings.load({'store': folder, 'cache': folder + '/c'}, {})); "
        "runtime.app; runtime.toolbox; "
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_commands_start_without_the_server() -> None:
    program = "import sys, docstow.cli; print({'fastapi', 'numpy', 'uvicorn'} & {*sys.modules})"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "set()"
