"""Real packages that are fetched from the index say what they say where pip has installed them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from docstow.core.model import Document
from docstow.languages import PYTHON
from docstow.languages.projects.packages import ProjectPackages, collect_documents
from docstow.languages.projects.scan import scan
from docstow.languages.shared.scanning import ScanCache
from docstow.net import Fetcher
from docstow.net.decompress import Limits
from docstow.sources.packages import Registry
from docstow.sources.packages.configuration import Surroundings, python_indexes
from docstow.sources.packages.python_index import PythonIndex
from python_environment import MORE, WANTED

MIB = 1024 * 1024
#: Those of the environment that ask for no others, of Python alone and compiled.
PACKAGES = [
    "asgiref", "attrs", "blinker", "charset-normalizer", "click", "h11", "iniconfig",
    "itsdangerous", "markupsafe", "packaging", "pillow", "pluggy", "six", "sqlparse",
    "typing-extensions", "urllib3", "zope-interface",
]  # fmt: skip
#: Compiled ones with stubs, a namespace that asks for another package, and stubs alone.
MORE_PACKAGES = ["bcrypt", "greenlet", "jaraco-functools", "types-python-dateutil", "zope-event"]


@cache
def registries() -> tuple[Registry, ...]:
    """Where this machine's installers find packages."""
    return python_indexes("", Surroundings())


def pinned(wanted: Path) -> dict[str, tuple[str, set[str]]]:
    """Version and digests of each package of an environment."""
    text = wanted.read_text("utf-8")
    found = re.findall(r"^([\w.-]+)==(\S+) \\\n((?: +--hash=\S+(?: \\)?\n?)+)", text, re.MULTILINE)
    return {
        name: (version, set(re.findall("sha256:([0-9a-f]+)", hashes)))
        for name, version, hashes in found
    }


def read(root: Path, name: str, memory: Path) -> Mapping[tuple[str, str], Document]:
    """The documents of a package of an environment."""
    project = ProjectPackages(scan(root, ScanCache.load(memory, root), {}, memory))
    assert PYTHON.reading is not None
    made = PYTHON.reading().documents(project.surface(project.package(name)))
    return {(each.path, each.kind): each for each in collect_documents(made, name)}


@pytest.fixture(scope="module")
def index() -> Iterator[PythonIndex]:
    fetcher = Fetcher("tests")
    yield PythonIndex(fetcher, registries(), limits=Limits(30 * MIB, 100 * MIB))
    fetcher.close()


@pytest.mark.network
@pytest.mark.parametrize("name", PACKAGES)
def test_a_fetched_package_is_the_installed_one(
    python_project: Path, index: PythonIndex, tmp_path: Path, name: str
) -> None:
    compare(python_project, WANTED, index, tmp_path, name)


@pytest.mark.network
@pytest.mark.parametrize("name", MORE_PACKAGES)
def test_a_fetched_package_of_another_form_is_the_installed_one(
    more_python_project: Path, index: PythonIndex, tmp_path: Path, name: str
) -> None:
    compare(more_python_project, MORE, index, tmp_path, name)


def compare(project: Path, wanted: Path, index: PythonIndex, tmp_path: Path, name: str) -> None:
    """Fetch a package and hold each of its items against the installed one."""
    version, digests = pinned(wanted)[name]
    revision = index.resolve(name, f"=={version}")
    assert revision.validator in digests
    unpacked = index.unpack(revision, tmp_path / "fetched")
    # An installation has neither the changelog nor the guides of the source distribution.
    assert all("changelog and the guides" in each for each in unpacked.left_out)
    installed = read(project, name, tmp_path)
    fetched = {
        key: document
        for key, document in read(tmp_path / "fetched", name, tmp_path).items()
        if document.kind != "page" or key in installed
    }
    assert fetched.keys() == installed.keys()
    for key, document in installed.items():
        # How many mention it counts the guides too.
        mentions = {"in_degree": fetched[key].attributes["in_degree"]}
        counted = replace(document, attributes={**document.attributes, **mentions})
        assert fetched[key] == counted, key
