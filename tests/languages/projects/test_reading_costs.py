"""What scans and reads may cost, counted in files: clocks of shared machines say too little."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import python_environment
from docstow.languages.projects import Projects, import_graph
from docstow.languages.projects.import_graph import import_graph as graph_of
from docstow.languages.projects.packages import ProjectPackages, format_tree, list_files
from docstow.languages.projects.scan import scan
from docstow.languages.python import files as python_files
from docstow.languages.shared.boundary import Boundary
from docstow.languages.shared.project import Package
from docstow.languages.shared.scanning import ScanCache
from docstow.languages.typescript import files as node_files
from docstow.languages.typescript.reading import READING
from docstow.tools import Toolbox, read_package, scan_packages

#: Packages of the environment that have hundreds of modules.
LARGE = ("django", "sqlalchemy", "numpy", "pydantic")


@pytest.fixture(scope="module")
def projects(python_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Projects:
    return Projects([python_project], tmp_path_factory.mktemp("cache"), local=True)


@pytest.fixture(scope="module")
def toolbox(projects: Projects) -> Toolbox:
    return Toolbox([read_package.tool(projects), scan_packages.tool(projects)])


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is read of files, path by path."""
    paths: list[str] = []
    reads = Boundary.read

    def noted(self: Boundary, path: str | Path, *rest: Any, **named: Any) -> bytes:
        paths.append(str(path))
        return reads(self, path, *rest, **named)

    monkeypatch.setattr(Boundary, "read", noted)
    return paths


def test_a_second_scan_reads_nothing(toolbox: Toolbox, read: list[str]) -> None:
    toolbox.call("scan_packages", {})
    read.clear()
    toolbox.call("scan_packages", {})
    assert [each for each in read if not each.endswith(("pyvenv.cfg", "pyproject.toml"))] == []


@pytest.mark.parametrize("name", LARGE)
def test_an_overview_reads_no_more_than_it_shows(
    toolbox: Toolbox, read: list[str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(python_files, "_cache", python_files._FactsCache())
    toolbox.call("scan_packages", {})
    read.clear()
    text = toolbox.call("read_package", {"package_name": name, "max_tokens": 2000}).text
    shown = text.count("\n- **")
    # The entry module, what it has from elsewhere with a few steps for each, and star imports.
    assert len(read) <= 20 + 2 * shown
    assert f"# {name}".lower() in text.lower()


def test_a_file_is_read_alone(toolbox: Toolbox, read: list[str]) -> None:
    toolbox.call("scan_packages", {})
    read.clear()
    toolbox.call("read_package", {"package_name": "django", "file_path": "django/apps/config.py"})
    packages = [each for each in read if not each.endswith(("pyvenv.cfg", "pyproject.toml"))]
    assert packages == ["django/apps/config.py"]


def test_a_tree_reads_no_file(projects: Projects, read: list[str]) -> None:
    opened = ProjectPackages(projects.scan()[1])
    package = opened.package("django")
    read.clear()
    found = list_files(package, opened.boundary(package))
    assert len(found) > 1000
    assert package.files_root is not None
    assert len(format_tree(found, package.files_root).splitlines()) <= 151
    assert read == []


def test_what_is_read_is_forgotten_when_it_is_too_much(python_project: Path) -> None:
    site = python_environment.site_packages(python_project)
    boundary = Boundary(site)
    for path in boundary.walk(site / "django"):
        if path.suffix == ".py":
            files = python_files.PythonFiles(site, boundary)
            name = ".".join(path.relative_to(site).with_suffix("").parts)
            files.facts(name, python_files.Layer(path, "source", path.name == "__init__.py"))
    remembered = python_files._cache
    kept = sum(stamp[1] for stamp, _ in remembered._facts.values())
    assert 0 < kept == remembered._size <= python_files._MOST_CACHED


def test_declarations_are_forgotten_when_they_are_too_many(tmp_path: Path) -> None:
    files = node_files._FileCache()
    body = b"export const x: 1;\n" * 60_000
    for number in range(40):
        place = tmp_path / f"{number}.d.ts"
        place.write_bytes(body)
        files.get(place, place.read_bytes)
    kept = sum(len(each.body) for each in files._kept.values())
    assert len(body) < kept == files._size <= node_files._MAX_CACHE


def many(root: Path) -> Package:
    """A package of JavaScript with all files below a folder."""
    return Package(
        ecosystem="node",
        name="many",
        version="1",
        location="many",
        import_names=("many",),
        direct=True,
        language="javascript",
        summary="",
        installed=True,
        editable=False,
        files_root=root,
    )


def test_a_package_in_one_folder_is_no_single_node(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    for number in range(100):
        (tmp_path / "lib" / f"{number}.js").write_text(f"import './{(number + 1) % 100}.js'\n")
    made = graph_of(many(tmp_path), Boundary(tmp_path), READING.graph)
    assert 50 <= len(made.nodes) <= 60
    assert made.joined
    assert len(made.edges) >= 50


def test_a_graph_has_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_graph, "_MOST", 3000)
    for number in range(100):
        text = f"import './{(number + 1) % 100}.js';\n{' ' * 80}\n"
        (tmp_path / f"{number}.js").write_text(text, "utf-8")
    made = graph_of(many(tmp_path), Boundary(tmp_path), READING.graph)
    assert made.modules == 100
    assert 60 <= made.unread < 100
    assert len(made.edges) == len(set(made.edges)) > 0


def test_the_index_of_a_thousand_packages_is_small(tmp_path: Path) -> None:
    """Names, versions and summaries that have little in common."""
    root = tmp_path / "root"
    for number in range(1000):
        word = f"{number}-{number * 7919 % 9973:x}"
        folder = root / "node_modules" / f"package-{word}"
        folder.mkdir(parents=True)
        words = " ".join(f"{(number * step) % 9973:x}" for step in range(3, 23))
        manifest = {"name": f"package-{word}", "version": f"{number}.0.1", "description": words}
        (folder / "package.json").write_text(json.dumps(manifest), "utf-8")
    assert len(scan(root, ScanCache.load(tmp_path / "cache", root)).packages) == 1000
    (index,) = (tmp_path / "cache").iterdir()
    assert index.stat().st_size < 500_000
