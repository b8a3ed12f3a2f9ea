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
    real = _said_at_run_time(python_project, list(told))
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


@pytest.mark.network
@pytest.mark.slow
def test_compiled_names_have_the_docstrings_that_are_given_to_them(
    python_project: Path, python_surfaces: Surfaces
) -> None:
    paths = [f"numpy.{each}" for each in ("flatiter", "nditer", "ndarray", "dtype.newbyteorder")]
    paths += [f"numpy.ndarray.{each}" for each in ("T", "flat")]
    real = _said_at_run_time(python_project, paths)
    for path in paths:
        symbol = python_surfaces.of("numpy").symbol(path)
        assert symbol is not None
        assert _words(symbol.docstring) == _words(real[path] or "")


def _said_at_run_time(project: Path, paths: list[str]) -> dict[str, str | None]:
    """What ``inspect.getdoc`` of the project's own Python says of paths."""
    command = [project / ".venv" / "bin" / "python", GETDOC]
    done = subprocess.run(
        command, input=json.dumps(paths), capture_output=True, text=True, check=True
    )
    said: dict[str, str | None] = json.loads(done.stdout.splitlines()[-1])
    return said


ORCHARD = {
    "__init__.py": """
import abc
import enum
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
class Kind(enum.Enum):
    SWEET = 1
text_type = str
@Substitution(name="pears", more=_MORE)
def peel():
    '''Peel %(name)s.

    %(unknown)s
    It is 5 %% more %(other)s.
    '''
def slice(): ...
slice.__doc__ = dedent('''\\
    Slice it.

    {params.size}
    {unknown}
    Done.
    ''').format(params=_PARAMS, **_OTHERS)
@keep
def core(): '''Core %(it)s {this}.'''
class Tool:
    edge = Required(Text, help="The edge of\\n        it.")
    grip = Option(doc=_TEXT)
class Press(Base):
    def press(self, fruit, /, *, hard=False): '''Press a fruit.'''
    def grow(self, by=1): ...
_press = Press()
_typed: Press = make()
press = _press.press
grown_by = _press.grow
hard = _typed.press
_final: Final = Press()
last = _final.press
gone = _press.missing
""",
    "_native.pyi": """
class Seed:
    def plant(self) -> None: ...
    def wait(self) -> None: ...
    size: int
class _Shared:
    def water(self) -> None: ...
class Pip(_Shared): ...
def sow(seed: Seed) -> None: ...
def told(seed: Seed) -> None: ...
""",
    "_native.so": "",
    "_plain.py": "def sow(): ...\n",
    "_add_newdocs.py": """
add_newdoc("orchard._native", "Seed", "Seed(size=(1, 2))\\n--\\n\\nA seed.")
add_newdoc("orchard._native", "Seed", ("plant", '''
    Plant it.
    '''))
add_newdoc("orchard._native", "Seed", [("size", "Its size."), ("wait", "Wait for it.")])
add_newdoc("orchard._native", "Pip", ("water", "Water it."))
add_docstr(orchard._native.sow, "Sow {what}.".format(what="seeds"))
other("orchard._native", "told", "Not a docstring.")
add_newdoc(*every)
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
        ("peel", "Peel pears.\n\nIt is 5 % more ."),
        ("slice", "Slice it.\n\nDone."),
        ("core", "Core %(it)s {this}."),
        ("Tool.edge", "The edge of\nit."),
        ("Tool.grip", "Pick %(what)s."),
        ("press", "Press a fruit."),
        ("grown_by", "Grow."),
        ("hard", "Press a fruit."),
        ("last", "Press a fruit."),
        ("_native.Seed", "A seed."),
        ("_native.Seed.plant", "Plant it."),
        ("_native.Seed.size", "Its size."),
        ("_native.Seed.wait", "Wait for it."),
        ("_native.Pip.water", "Water it."),
        ("_native.sow", "Sow seeds."),
    ],
)
def test_where_a_docstring_comes_from(tmp_path: Path, path: str, begins: str) -> None:
    symbol = _orchard(tmp_path).of("orchard").symbol(f"orchard.{path}")
    assert symbol is not None
    assert symbol.docstring.startswith(begins)


@pytest.mark.parametrize(
    "path",
    [
        *("silent", "Crate", "Encoder.unknown", "Bough", "Rotten", "Encoder", "Kind", "text_type"),
        *("gone", "_native.told", "_plain.sow"),
    ],
)
def test_nothing_is_made_up(tmp_path: Path, path: str) -> None:
    symbol = _orchard(tmp_path).of("orchard").symbol(f"orchard.{path}")
    assert symbol is None or not symbol.docstring


def test_methods_of_an_object_are_functions_of_the_module(tmp_path: Path) -> None:
    symbol = _orchard(tmp_path).of("orchard").symbol("orchard.press")
    assert symbol is not None
    assert symbol.kind == "function"
    assert symbol.signature == "def press(fruit, /, *, hard=False)"
    assert [each.name for each in symbol.parameters or ()] == ["fruit", "hard"]


def _orchard(folder: Path) -> Surfaces:
    (folder / "orchard").mkdir()
    for name, text in ORCHARD.items():
        (folder / "orchard" / name).write_text(text)
    return Surfaces(folder)
