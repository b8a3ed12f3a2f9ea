"""Keywords of matplotlib that set properties of what is drawn, of which no signature tells.

``Axes.plot(**kwargs)`` hands them to a ``Line2D``, whose class its docstring names:
``%(Line2D:kwdoc)s``, or a reference in what it says of ``**kwargs``. A property is there where the
class has ``set_property``, or an alias for one in its decorator. What a function takes out of the
keywords itself is a text in its source.
"""

from __future__ import annotations

import ast
import re

from docstow.languages.python.source.functions import parameters
from docstow.languages.python.source.syntax import Function, dotted, string_value
from docstow.languages.python.surface import PythonSurface
from docstow.languages.shared.lookup import Mismatch, PassedArguments, mismatch
from docstow.languages.shared.surface import Parameter, Symbol

_DRAWN = re.compile(r"%\((\w+):kwdoc\)s")
#: What a docstring says of further keywords, and references there: ``~matplotlib.text.Text``.
_FURTHER = re.compile(
    r"^([ \t]*)\*\*kwargs\b[^\n]*(?:\n(?:\1[ \t]+[^\n]*|[ \t]*(?=\n)))*", re.MULTILINE
)
_REFERENCE = re.compile(r"`{1,2}[~.]*([\w.]+)(?:\(\))?`{1,2}")
#: Further keywords that it mentions: ``*hatch*``.
_MENTIONED = re.compile(r"\*(\w+)\*")
#: What it says of a legend's.
_LEGEND = "%(_legend_kw"
#: Modules with classes of what is drawn.
_MODULES = (
    *("lines", "text", "patches", "collections", "axes", "figure", "quiver", "image", "artist"),
    *("legend", "gridspec"),
)
#: What copies the docstring of a method to a function of pyplot.
_COPIES = "_copy_docstring_and_deprecators"
#: What code says that makes other axes than plain ones, which take more.
_OTHER_AXES = re.compile(r"projection|3d|polar", re.IGNORECASE)
_AXES = "matplotlib.axes.Axes"
_SETTER = "matplotlib.artist.Artist.set"


def mismatch_of_artist(
    surface: PythonSurface, symbol: Symbol, path: str, given: PassedArguments, code: str
) -> Mismatch | None:
    """Return what is wrong with a keyword that is no property of what a function draws.

    None where none is wrong, or the function draws nothing that its docstring names.

    Args:
        surface: of its package.
        symbol: the function.
        path: by which it is called.
        given: what it is called with.
        code: the whole of it.
    """
    is_drawing = surface.package.name == "matplotlib" and not _OTHER_AXES.search(code)
    function = surface.function(path) if is_drawing else None
    if function is None:
        return None
    named = [e for e in parameters(function.args) if e.name != "self" and e.kind != "var_keyword"]
    said = ""
    if symbol.target == _SETTER:
        drawn = [path.rpartition(".")[0]]
    else:
        function = _copied(surface, function) or function
        said = ast.get_docstring(function) or ""
        drawn = _drawn(surface, said)
    # What makes axes may make them of any projection.
    if not drawn or not all(drawn) or (_AXES in drawn and symbol.target != _SETTER):
        return None
    texts = (string_value(each) for each in ast.walk(function))
    taken = {each.name for each in named} | set(filter(str.isidentifier, texts))
    taken.update(_MENTIONED.findall(said))
    unseen = [each for each in given.keywords if each not in taken]
    setters = [f"{each}.set_{name}" for name in unseen for each in drawn]
    if all(surface.symbol(each) is not None for each in setters):
        return None
    names = {name for each in drawn for name in _properties(surface, each)} | taken
    names -= {each.name for each in named}
    properties = (Parameter(e, "keyword_only", required=False) for e in sorted(names))
    return mismatch([*named, *properties], given, unbound=True)


def _drawn(surface: PythonSurface, text: str) -> list[str]:
    """Return the paths of the classes of what is drawn; an empty one for what is not known."""
    named = _DRAWN.findall(text)
    if not named and _LEGEND in text:
        named = ["Legend"]
    if not named and (said := _FURTHER.search(text)) is not None and "%(" not in said[0]:
        named = [each.rpartition(".")[2] for each in _REFERENCE.findall(said[0])]
    return [_class(surface, each) for each in named]


def _copied(surface: PythonSurface, function: Function) -> Function | None:
    """Return the method whose docstring a function of pyplot copies; None where it does not."""
    for each in function.decorator_list:
        if isinstance(each, ast.Call) and dotted(each.func) == _COPIES and each.args:
            owner, _, name = dotted(each.args[0]).rpartition(".")
            home = _class(surface, owner)
            return surface.function(f"{home}.{name}") if home else None
    return None


def _class(surface: PythonSurface, name: str) -> str:
    """Return the path of a class of what is drawn; empty where there is none of a name."""
    paths = (f"matplotlib.{module}.{name}" for module in _MODULES)
    return next((each for each in paths if surface.symbol(each) is not None), "")


def _properties(surface: PythonSurface, path: str) -> list[str]:
    """Return what instances of a class may be given by keywords."""
    made = surface.function(f"{path}.__init__")
    taken = [each.name for each in parameters(made.args)] if made is not None else []
    every = surface.everything(path).names
    setters = [each.removeprefix("set_") for each in every if each.startswith("set_")]
    return [*setters, *taken, *surface.texts_of_decorators(path)]
