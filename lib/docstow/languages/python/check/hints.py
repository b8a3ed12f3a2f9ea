"""Annotations that code leaves out, and where its own modules are, written for type checkers.

Type checkers take a parameter without an annotation for anything. What it is tells the method of a
package's class that its method overrides, or what the code gives to it where it calls its function,
which the type checkers know themselves. A text with these annotations they judge once more.

A relative import names a module of the code. For a type checker, which has the file alone, it is
one beside it, and what is beside it are packages: ``from .queue import Queue`` would be Python's.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from docstow.languages.python.check.annotations import LocalType, PackageType, ValueType
from docstow.languages.python.check.call_sites import Given, plain_parameters
from docstow.languages.python.check.edited import Edited, Insertion
from docstow.languages.python.check.parse import Parsed, PlainParameter
from docstow.languages.python.source.syntax import Function
from docstow.languages.python.surface import STANDARD

if TYPE_CHECKING:
    from docstow.languages.python.check.checked import Checked
    from docstow.languages.python.check.owners import Owner, Owners
    from docstow.languages.shared.language_server import LanguageServer

#: Functions that pass on what is given to them, one to another.
_DEEPEST = 3
#: Classes that one parameter may be of.
_MOST_CLASSES = 4
#: Parameters that are looked at.
_MOST_PARAMETERS = 40
#: Where the dots of a relative import end.
_DOTS = re.compile(rb"from\s*\.(?:\s*\.)*")
#: A module that nothing has.
_NOWHERE = "docstow_nowhere"


def hinted(
    own: Checked, owners: Owners, servers: Sequence[tuple[LanguageServer, bool]], edited: Edited
) -> Edited:
    """Return the code with annotations for those of its parameters that its calls tell of.

    Args:
        own: what our reader knows of the code.
        owners: the classes of its expressions.
        servers: type checkers, and whether each shows the paths of classes.
        edited: the code as they have it.
    """
    text, known = own.parsed.text, own.values.given
    waiting = {key: each for key, each in known.items() if _may_tell(each, own)}
    waiting = dict(islice(waiting.items(), _MOST_PARAMETERS))
    modules, insertions = _Modules(), [*edited.insertions]
    told: set[tuple[ast.AST, str]] = set()
    for function, parameter in _called_by_packages(own):
        kind = own.values.told_elsewhere(function, parameter.arg)
        title = modules.union([[kind]]) if kind is not None else ""
        if title:
            insertions.append(_annotation(parameter, title))
            told.add((function, parameter.arg))
    edited = Edited(text, insertions, modules.imports())
    for _ in range(_DEEPEST):
        ready = {key: each for key, each in waiting.items() if _parameters(each) <= told}
        kinds = _kinds([*ready.values()], owners, servers, edited)
        for key, each in ready.items():
            found = [[one.kind for one in kinds.get(value, ())] for value, _ in each.values]
            title = modules.union(found) if all(found) else ""
            if title and not (each.by_name and _is_common(found)):
                insertions.append(_annotation(each.parameter, title))
                told.add(key)
        if told.isdisjoint(ready):
            break
        waiting = {key: each for key, each in waiting.items() if key not in told}
        edited = Edited(text, insertions, modules.imports())
    return edited


def without_relatives(parsed: Parsed) -> Edited:
    """Return the code with relative imports of modules that nothing has."""
    return Edited(parsed.text, [*_relatives(parsed)])


def _relatives(parsed: Parsed) -> Iterator[Insertion]:
    lines = parsed.text.split("\n")
    for node in ast.walk(parsed.tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            found = _DOTS.match(lines[node.lineno - 1].encode(), node.col_offset)
            words = f"{_NOWHERE}." if node.module else f"{_NOWHERE} "
            if found is not None:
                yield Insertion(node.lineno - 1, found.end(), (0,), words)


def _annotation(parameter: ast.arg, title: str) -> Insertion:
    line, column = parameter.end_lineno or 0, parameter.end_col_offset or 0
    return Insertion(line - 1, column, (0,), f': "{title}"')


def _called_by_packages(own: Checked) -> Iterator[tuple[Function, ast.arg]]:
    """Yield parameters without annotations of functions that packages may call.

    They override methods, or are given to packages.
    """
    for node, inner in own.inner_scopes.items():
        if isinstance(node, Function):
            for each in plain_parameters(node, inner):
                if each.arg not in own.narrowed:
                    yield node, each


def _is_common(values: Sequence[Sequence[ValueType]]) -> bool:
    """Return whether values may be of several classes, or of the code's or Python's own."""
    kinds = {each for one in values for each in one}
    return len(kinds) != 1 or not all(
        isinstance(each, PackageType) and each.package.name != STANDARD for each in kinds
    )


def _parameters(given: Given) -> set[tuple[ast.AST, str]]:
    """Return the parameters that are given on as they are.

    What a type checker says of one without an annotation is what a condition around makes of it.
    """
    return {
        (each.function, each.name)
        for value, scope in given.values
        if isinstance(value, ast.Name) and (found := scope.find(value.id)) is not None
        for each in found[1]
        if isinstance(each, PlainParameter)
    }


def _may_tell(given: Given, own: Checked) -> bool:
    """Return whether values may be instances: the code tests no kind of it, and gives no class."""
    if given.parameter.arg in own.narrowed:
        return False
    for value, scope in given.values:
        path = own.values.import_path(value, scope)
        kind = own.values.type_of(value, scope)
        if path is not None or (kind is not None and kind.is_class):
            return False
    return True


def _kinds(
    waiting: Sequence[Given],
    owners: Owners,
    servers: Sequence[tuple[LanguageServer, bool]],
    edited: Edited,
) -> Mapping[ast.expr, Sequence[Owner]]:
    """Return the classes of the values that are given; of several type checkers the first says."""
    found: dict[ast.expr, Sequence[Owner]] = {}
    for server, shows_paths in servers:
        values = [v for each in waiting for v, _ in each.values if v not in found]
        asked = [(each, "") for each in dict.fromkeys(values)]
        said = owners.find(server, asked, within=edited, shows_paths=shows_paths)
        found |= {each: kinds for (each, _), kinds in zip(asked, said, strict=True) if kinds}
    return found


def _alternatives(kind: ValueType) -> Sequence[ValueType]:
    return kind.each_alternative() if isinstance(kind, PackageType) else [kind]


class _Modules:
    """The modules of classes, imported under names that the code has not."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def imports(self) -> list[str]:
        """Return the lines that import them."""
        return [f"import {path} as {name}" for path, name in self._names.items()]

    def union(self, values: Sequence[Sequence[ValueType]]) -> str:
        """Return the annotation of what may be of some classes; empty where one has no name."""
        kinds = [each for one in values for kind in one for each in _alternatives(kind)]
        titles = dict.fromkeys(map(self._title, kinds))
        return " | ".join(titles) if "" not in titles and len(titles) <= _MOST_CLASSES else ""

    def _title(self, kind: ValueType) -> str:
        if isinstance(kind, LocalType):
            if kind.is_receiver:
                return ""  # It may be of any subclass.
            is_global = isinstance(kind.scope.node, ast.Module) or kind.scope.node is kind.node
            return kind.node.name if is_global else ""
        known = set(kind.package.surface.modules())
        parts = kind.path.split(".")
        ends = (end for end in range(len(parts) - 1, 0, -1) if ".".join(parts[:end]) in known)
        end = next(ends, 0)
        if not end:
            return ""
        module = ".".join(parts[:end])
        name = self._names.setdefault(module, f"docstow_module_{len(self._names)}")
        return ".".join([name, *parts[end:]])
