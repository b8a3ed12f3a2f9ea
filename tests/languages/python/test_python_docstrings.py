"""Docstrings against those that the packages have at run time, and each way to one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from docstow.languages.python.documents import documents
from python_environment import Surfaces

PACKAGES = (
    *("anyio", "attr", "blinker", "click", "fastapi", "flask", "h11", "httpcore", "httpx", "idna"),
    *("itsdangerous", "jinja2", "marshmallow", "packaging", "PIL", "pydantic", "requests", "rich"),
    *("starlette", "werkzeug"),
)
#: Of what is documented at run time: the share that is here, too, and that has the same words.
FLOOR, SAME = 0.985, 0.97
GETDOC = Path(__file__).with_name("python_getdoc.py")
CALLABLE = frozenset({"class", "enum", "function", "method", "property"})


def _words(text: str) -> list[str]:
    return text.split()


def _is_generated(text: str, name: str) -> bool:
    """Whether it is the signature that a dataclass or named tuple has for a docstring."""
    return text.startswith((f"{name}(", "Alias for field number"))


@pytest.mark.network
@pytest.mark.slow
def test_what_is_documented_at_run_time_is_documented_here(
    python_project: Path, python_surfaces: Surfaces
) -> None:
    told: dict[str, str] = {}
    for package in PACKAGES:
        surface = python_surfaces.of(package)
        found = (each for each in documents(surface) if each.kind in CALLABLE)
        symbols = ((each.path, surface.symbol(each.path)) for each in found)
        told |= {path: symbol.docstring for path, symbol in symbols if symbol is not None}
    python = python_project / ".venv" / "bin" / "python"
    done = subprocess.run(
        [python, GETDOC], input=json.dumps(list(told)), capture_output=True, text=True, check=True
    )
    real: dict[str, str | None] = json.loads(done.stdout.splitlines()[-1])
    wanted = {
        path: text
        for path, text in real.items()
        if text and not _is_generated(text, path.rpartition(".")[2])
    }
    missing = [path for path in wanted if not told[path]]
    other = [path for path, text in wanted.items() if _words(told[path]) != _words(text)]
    assert len(wanted) > 4000
    assert 1 - len(missing) / len(wanted) >= FLOOR, missing
    assert 1 - len(other) / len(wanted) >= SAME, other


ORCHARD = {
    "__init__.py": """
import abc
import collections
import json
from ._trees import Tree as _Tree
from . import Bough as _Bough
from .copying import copy_doc, wraps

_TEXT = "Pick %(what)s."
class Base:
    '''Anything that grows.'''
    def grow(self): '''Grow.'''
    @property
    def height(self): '''The height.'''
class Apple(Base):
    def grow(self): ...
    @property
    def height(self): return 1
class Encoder(json.JSONEncoder):
    def default(self, value): ...
class Basket(collections.OrderedDict):
    def popitem(self, last=True): ...
class Rotten(ValueError): ...
@copy_doc(Base.grow)
def grow(base): ...
@wraps(grow)
def grown(base): ...
def pick(): ...
pick.__doc__ = _TEXT % {"what": "apples"}
def gather(): ...
gather.__doc__ = pick.__doc__
class Crate:
    def _size(self): '''The size.'''
    size = property(_size)
    weight = property(_size, doc="The weight.")
    load = Base.grow
    def plain(self): ...
Crate.plain.__doc__ = "Be plain."
if abc:
    def either(): ...
else:
    def either(): '''One of two.'''
def silent(): ...
""",
    "__init__.pyi": """
class Tree:
    def fell(self) -> None: ...
class Bough: ...
""",
    "_trees.py": "class Tree:\n    '''A tree.'''\n    def fell(self): '''Fell it.'''\n",
    "copying.py": "def copy_doc(other): ...\ndef wraps(other): ...\n",
}


@pytest.mark.parametrize(
    ("path", "begins"),
    [
        ("Apple", "Anything that grows."),
        ("Apple.grow", "Grow."),
        ("Apple.height", "The height."),
        ("Encoder.default", "Implement this method in a subclass"),
        ("Basket.popitem", "Remove and return"),
        ("Rotten", "Inappropriate argument value"),
        ("grow", "Grow."),
        ("grown", "Grow."),
        ("pick", "Pick apples."),
        ("gather", "Pick apples."),
        ("Crate.size", "The size."),
        ("Crate.weight", "The weight."),
        ("Crate.load", "Grow."),
        ("Crate.plain", "Be plain."),
        ("either", "One of two."),
        ("Tree", "A tree."),
        ("Tree.fell", "Fell it."),
    ],
)
def test_where_a_docstring_comes_from(tmp_path: Path, path: str, begins: str) -> None:
    symbol = _orchard(tmp_path).of("orchard").symbol(f"orchard.{path}")
    assert symbol is not None
    assert symbol.docstring.startswith(begins)


@pytest.mark.parametrize("path", ["silent", "Crate", "Encoder.unknown", "Bough"])
def test_nothing_is_made_up(tmp_path: Path, path: str) -> None:
    symbol = _orchard(tmp_path).of("orchard").symbol(f"orchard.{path}")
    assert symbol is None or not symbol.docstring


def _orchard(folder: Path) -> Surfaces:
    (folder / "orchard").mkdir()
    for name, text in ORCHARD.items():
        (folder / "orchard" / name).write_text(text)
    return Surfaces(folder)
