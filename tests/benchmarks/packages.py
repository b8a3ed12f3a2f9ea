"""What a project's own packages cost: to list them, to read one, to check code against them.

The project is the folder of the environment that runs this, with what is installed there; nothing
is fetched. Baselines do the same work by hand, or less of it: :mod:`importlib.metadata` for a
scan, ``os.walk`` and ``open`` for files, :mod:`ast` for a surface, griffe for a check.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable
from importlib.metadata import distributions
from pathlib import Path

import griffe

from benchmarks.measure import Taken, fresh, mib, ms, table, timed
from docstow.core.errors import DocstowError
from docstow.languages.projects import Projects
from docstow.languages.projects.packages import ProjectPackages, list_files
from docstow.languages.projects.scan import scan
from docstow.languages.shared.project import Package
from docstow.languages.shared.scanning import ScanCache
from docstow.library import Library
from docstow.store.snapshots import Snapshots
from docstow.tools import Toolbox, read_package, scan_packages, verify_code

PROJECT = Path(sys.prefix).parent

#: How many packages, those with most modules first, are read to see how memory grows.
MANY = (1, 5, 10, 20)

CODE = """
import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from pydantic import BaseModel, Field

class Order(BaseModel):
    name: str = Field(max_length=20)
    count: int = 1

async def order(request: Request) -> JSONResponse:
    made = Order.model_validate(await request.json())
    async with httpx.AsyncClient(timeout=3.0) as client:
        answer = await client.post("https://example.com", json=made.model_dump())
    answer.raise_for_status()
    return JSONResponse({"status": answer.status_code, "path": request.url.path})

app = Starlette(routes=[Route("/order", order, methods=["POST"])])
"""

_SCAN = """
from pathlib import Path
from docstow.languages.shared.scanning import ScanCache
from docstow.languages.projects.scan import scan
print(len(scan(Path({root!r}), ScanCache.load(Path({cache!r}), Path({root!r}))).packages))
"""

_BY_HAND = """
from importlib.metadata import distributions
for each in distributions(path=[{site!r}]):
    each.metadata["Name"], each.version, each.metadata["Summary"], each.read_text("RECORD")
"""

_READ = """
from pathlib import Path
from docstow.languages.projects import Projects
from docstow.tools import read_package
from docstow.tools import Toolbox
projects = Projects([Path({root!r})], Path({cache!r}), local=True)
box = Toolbox([read_package.tool(projects)])
for name in {names!r}:
    box.call("read_package", {{"package_name": name}})
"""


def run(folder: Path, library: Library, snapshots: Snapshots) -> None:
    """Print all tables.

    Args:
        folder: for indexes of scans.
        library: of crates, which ``verify_code`` is bound to as well.
        snapshots: likewise.
    """
    projects = Projects([PROJECT], folder / "cache", local=True)
    tools = [scan_packages.tool(projects), read_package.tool(projects)]
    toolbox = Toolbox([*tools, verify_code.tool(library, snapshots, projects)])
    opened = ProjectPackages(projects.scan()[1])
    largest = sorted(_python(opened), key=lambda each: -_files(opened, each))
    _scans(folder, projects, opened)
    _reads(toolbox, opened, largest[0])
    _checks(toolbox)
    _memory(folder, [each.name for each in largest])


def _python(opened: ProjectPackages) -> list[Package]:
    """The packages of the environment that runs this, which files are there of."""
    site = Path(sys.prefix, "lib").resolve()
    found = [each for each in opened.scan.packages if each.ecosystem == "python"]
    return [e for e in found if e.files_root and e.files_root.is_relative_to(site)]


def _files(opened: ProjectPackages, package: Package) -> int:
    try:
        found = list_files(package, opened.boundary(package))
    except DocstowError:
        return 0
    return sum(each.endswith(".py") for each in found)


def _scans(folder: Path, projects: Projects, opened: ProjectPackages) -> None:
    site = str(_python(opened)[0].files_root)

    def by_hand() -> None:
        for each in distributions(path=[site]):
            assert each.metadata["Name"], each.version
            each.read_text("RECORD")

    def nothing_known() -> None:
        scan(PROJECT, ScanCache(folder / "none" / "index", PROJECT, {}))

    base = timed(by_hand)
    count = len(opened.scan.packages)
    rows = [
        _row("importlib.metadata, one environment", base, base),
        _row(f"{count} packages, nothing known", timed(nothing_known), base),
        _row("the same, known on disk", timed(lambda: _stored(folder)), base),
        _row("the same, by the server that knows them", timed(projects.scan, repeat=9), base),
    ]
    environment = _environment()
    hand = fresh(_BY_HAND.format(site=site), environment)
    places = {"root": str(PROJECT), "cache": str(folder / "fresh")}
    rows += [
        _row("importlib.metadata, fresh process", hand, hand),
        _row("fresh process, known on disk", fresh(_SCAN.format(**places), environment), hand),
    ]
    index = sum(each.stat().st_size for each in (folder / "cache" / "projects").glob("*.zst"))
    heads = ["scan", "wall", "CPU", "CPU ratio"]
    table(f"Scan of a project, index of {index / 1024:.0f} KB", heads, rows)


def _stored(folder: Path) -> None:
    scan(PROJECT, ScanCache.load(folder / "cache" / "projects", PROJECT))


def _reads(toolbox: Toolbox, opened: ProjectPackages, package: Package) -> None:
    boundary = opened.boundary(package)
    files = list_files(package, boundary)
    place = Path(boundary.root, package.import_names[0])
    source = next(each for each in files if each.endswith("__init__.py"))

    def walk() -> None:
        for top, _, names in os.walk(place):
            for name in names:
                os.stat(os.path.join(top, name))  # noqa: PTH116, PTH118 - the plainest way

    def parse() -> None:
        for each in files:
            if each.endswith(".py"):
                ast.parse((boundary.root / each).read_bytes())

    def ask(**arguments: str) -> Callable[[], object]:
        return lambda: toolbox.call("read_package", {"package_name": package.name, **arguments})

    name = f"{package.name}, {len(files)} files"
    cold = timed(ask(), repeat=1)
    walked, parsed = timed(walk), timed(parse, repeat=1)
    plain = timed(lambda: (boundary.root / source).read_bytes(), repeat=9)
    rows = [
        ["overview, first", *_row(name, cold, parsed)[1:], "ast.parse of all its files"],
        ["overview, again", *_row(name, timed(ask()), parsed)[1:], "ast.parse of all its files"],
        ["tree", *_row(name, timed(ask(file_path=place.name)), walked)[1:], "os.walk with sizes"],
        [
            "imports",
            *_row(name, timed(ask(graph="json")), parsed)[1:],
            "ast.parse of all its files",
        ],
        ["a file", *_row(name, timed(ask(file_path=source), repeat=9), plain)[1:], "open().read()"],
    ]
    table(f"read_package of {name}", ["", "wall", "CPU", "CPU ratio", "to"], rows)


def _checks(toolbox: Toolbox) -> None:
    def check() -> None:
        toolbox.call("verify_code", {"code": CODE, "language": "python"})

    def load() -> None:
        for name in ("httpx", "starlette", "pydantic"):
            griffe.load(name, allow_inspection=False)

    base = timed(load, repeat=1)
    rows = [
        _row("griffe.load of the packages it imports", base, base),
        _row("first", timed(check, repeat=1), base),
        _row("again", timed(check), base),
        _row("compile() alone", timed(lambda: compile(CODE, "code", "exec")), base),
    ]
    lines = CODE.count("\n")
    table(f"verify_code of {lines} lines of Python", ["", "wall", "CPU", "CPU ratio"], rows)


def _memory(folder: Path, names: list[str]) -> None:
    places = {"root": str(PROJECT), "cache": str(folder / "cache")}
    base = fresh("import docstow.tools", _environment(), repeat=1)
    rows = [_peak("import docstow.tools", base, base)]
    for count in MANY:
        program = _READ.format(**places, names=names[:count])
        rows.append(_peak(f"overviews of {count}", fresh(program, _environment(), repeat=1), base))
    heads = ["fresh process", "peak memory", "ratio"]
    table("Memory after the largest packages", heads, rows)


def _peak(name: str, taken: Taken, base: Taken) -> list[str]:
    ratio = f"{taken.peak_bytes / base.peak_bytes:.1f}" if base.peak_bytes else ""
    return [name, mib(taken.peak_bytes), ratio]


def _row(name: str, taken: Taken, base: Taken) -> list[str]:
    ratio = f"{taken.cpu_s / base.cpu_s:.2f}" if base.cpu_s else ""
    return [name, ms(taken.wall_s), ms(taken.cpu_s), ratio]


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
