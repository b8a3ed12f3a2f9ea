"""Packages as sources: their documents, and what breaks between two versions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from docstow.core.errors import UnreadableInput
from docstow.core.model import Document
from docstow.languages.python.diff import Breakage, breaking_changes
from docstow.languages.python.documents import documents
from python_environment import Surfaces


def garden(folder: Path, text: str) -> Path:
    (folder / "garden").mkdir(parents=True)
    (folder / "garden" / "__init__.py").write_text(
        '"""A garden."""\nfrom garden._beds import Bed, plant\n__all__ = ["Bed", "plant"]\n'
    )
    (folder / "garden" / "_beds.py").write_text(text)
    return folder


OLD = '''
class Bed:
    """Where plants grow."""

    def water(self, litres: float = 1.0) -> None:
        """Water it."""

    def weed(self) -> None: ...


def plant(name: str, depth: int = 2) -> Bed:
    """Plant it.

    >>> plant("rose")
    Bed()
    """
'''
NEW = '''
class Bed:
    """Where plants grow."""

    def water(self, litres: float) -> None:
        """Water it."""


def plant(name: str) -> Bed: ...
'''


def without_facts(document: Document) -> Document:
    """Leave out the attributes for checks of code, which have tests of their own."""
    kept_for_checks = {"others", "certain", "through", "heirs", "parameters"}
    kept = {k: v for k, v in document.attributes.items() if k not in kept_for_checks}
    return replace(document, attributes=kept)


def test_the_documents_of_a_package(tmp_path: Path) -> None:
    surface = Surfaces(garden(tmp_path, OLD)).of("garden")
    at = {"language": "python", "file": "garden/_beds.py"}
    wanted = {"garden", "garden.plant", "garden.Bed.water"}
    found = sorted(map(without_facts, documents(surface)), key=lambda each: each.path)
    assert [each for each in found if each.path in wanted] == [
        Document(
            "garden",
            "module",
            "garden",
            "import garden",
            "A garden.",
            attributes={"language": "python", "file": "garden/__init__.py", "line": 1},
        ),
        Document(
            "garden.Bed.water",
            "method",
            "water",
            "def water(self, litres: float = 1.0) -> None",
            "Water it.",
            parent="garden.Bed",
            attributes={**at, "line": 5, "target": "garden._beds.Bed.water"},
        ),
        Document(
            "garden.plant",
            "function",
            "plant",
            "def plant(name: str, depth: int = 2) -> Bed",
            'Plant it.\n\n```python\n>>> plant("rose")\nBed()\n```',
            parent="garden",
            attributes={**at, "line": 11, "target": "garden._beds.plant"},
        ),
    ]  # fmt: skip


def test_each_definition_has_one_document(python_surfaces: Surfaces) -> None:
    found = list(documents(python_surfaces.of("requests")))
    paths = [each.path for each in found]
    assert len(paths) == len(set(paths))
    assert {"requests.get", "requests.Session.get", "requests.adapters.HTTPAdapter"} <= set(paths)
    assert "requests.api.get" not in paths


def test_what_breaks_between_two_versions(tmp_path: Path) -> None:
    old, new = garden(tmp_path / "old", OLD), garden(tmp_path / "new", NEW)
    (old / "elsewhere.pth").write_text(str(tmp_path))
    assert [
        (each.path, each.kind) for each in breaking_changes("garden", old, new)
    ] == [
        ("garden._beds.Bed.water", "PARAMETER_CHANGED_REQUIRED"),
        ("garden._beds.Bed.weed", "OBJECT_REMOVED"),
        ("garden._beds.plant", "PARAMETER_REMOVED"),
    ]  # fmt: skip
    removed = breaking_changes("garden", old, new)[2]
    assert isinstance(removed, Breakage)
    assert removed.message == "Parameter was removed"
    assert breaking_changes("garden", old, old) == []
    with pytest.raises(UnreadableInput):
        breaking_changes("orchard", old, new)


def test_sources_that_are_links_out_of_the_package_are_not_compared(tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("def secret(key): ...\n")
    old, new = garden(tmp_path / "old", OLD), garden(tmp_path / "new", OLD)
    (old / "garden" / "leak.py").symlink_to(outside)
    (new / "garden" / "leak.py").write_text("def other(): ...\n")
    assert breaking_changes("garden", old, new) == []
    (old / "garden" / "leak.py").unlink()
    (old / "garden" / "leak.py").write_text(outside.read_text())
    assert [each.path for each in breaking_changes("garden", old, new)] == ["garden.leak.secret"]
