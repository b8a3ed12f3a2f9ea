"""Docstrings of names as ``inspect.getdoc`` finds them, though nothing of a package is run.

A name without a docstring has the one that a statement or a decorator copies to it, else that of
what it overrides: in the package, in another one, or in the standard library of the Python that
runs this.
"""

from __future__ import annotations

import builtins
import inspect
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from pathlib import Path

from docstow.languages.python.files import PythonFiles
from docstow.languages.python.names import DefinitionView, External, Names, NameView, member
from docstow.languages.shared.boundary import Boundary

#: Copies and bases that are followed one from another.
_DEEPEST = 12
#: Modules of a package that are looked through for those of docstrings.
_MOST_MODULES = 20_000
#: What is written as a base class and is none.
_FORMS = frozenset({"Generic", "Protocol", "NamedTuple", "TypedDict"})


class Docstrings:
    """Finder of docstrings for the names of one surface."""

    def __init__(self) -> None:
        #: By the first name of a package, a name's path in its module, and the module.
        self._given_texts: dict[str, dict[str, dict[str, str]]] = {}

    def find(self, views: Sequence[NameView], trail: frozenset[str] = frozenset()) -> str:
        """Return the docstring of a name; empty for none.

        Args:
            views: of the name, of each file that has one.
            trail: paths whose docstrings are being looked for.
        """
        return self._own(views, trail) or next(
            (text for each in _sources_first(views) if (text := self._inherited(each, trail))), ""
        )

    def _own(self, views: Sequence[NameView], trail: frozenset[str]) -> str:
        """Return the docstring that is written for a name or copied to it."""
        found = [way for each in _sources_first(views) for way in _ways(each)]
        if written := next((e.definition.docstring for e in found if e.definition.docstring), ""):
            return written
        # A stub may stand for another stub, and that for the first.
        here = f"stub {found[0].path}" if found else ""
        if found and here not in trail and all(each.layer.role != "source" for each in found):
            behind = _behind_stub(found[0])
            if text := self._own(behind, trail | {here}):
                return text
        if given := next((text for each in found if (text := self._given(each))), ""):
            return given
        for each in found:
            copied = each.definition.copies or each.definition.value
            if copied and each.path not in trail and len(trail) < _DEEPEST:
                outside = each.names.in_scope(each, copied) or each.names.resolve(copied)
                if text := self.find(outside, trail | {each.path}):
                    return text
        return "" if found else next((self._standard(e.path) for e in views if _is_standard(e)), "")

    def _given(self, view: DefinitionView) -> str:
        """Return the docstring that another module of the package gives to a compiled name."""
        if (
            view.layer.role == "source"
            and view.definition.line
            and view.definition.kind != "attribute"
        ):
            return ""
        root = view.module.partition(".")[0]
        if root not in self._given_texts:
            self._given_texts[root] = _read_given(view.names, root)
        name = view.path.removeprefix(f"{view.module}.")
        given = self._given_texts[root]
        texts = given.get(name, {})
        if not texts and name.startswith("_") and view.owner is not None:
            # A stub may have members of several classes in a private one of its own.
            texts = given.get(f"*.{view.definition.name}", {})
        return texts.get(view.module) or next(iter(texts.values()), "")

    def _inherited(self, view: DefinitionView, trail: frozenset[str]) -> str:
        """Return the docstring of a class's nearest base, or of what a member overrides there."""
        is_class = view.definition.kind == "class"
        heir = view if is_class else view.owner
        if heir is None or view.definition.kind == "attribute":
            return ""
        name = "" if is_class else view.definition.name
        lineage = heir.names.lineage(heir)
        for base in lineage.classes:
            if base.path == heir.path:
                continue
            views: list[NameView] = [base]
            if name:
                views = base.names.own_member(base, name)
            if text := self._own(views, trail | {view.path}):
                return text
        if not name:
            # What Python says of its own classes is not about one that is derived from them.
            return ""
        for kind in lineage.standard:
            if kind is not object and (text := _text(getattr(kind, name, None))):
                return text
        paths = (f"{each}.{name}" for each in lineage.unread)
        return next((text for each in paths if (text := self._standard(each))), "")

    def _standard(self, path: str) -> str:
        """Return the docstring of a name of the standard library."""
        first, _, rest = path.partition(".")
        if first not in sys.stdlib_module_names or not rest or rest in _FORMS:
            return ""
        if first in sys.builtin_module_names:
            # Part of the interpreter: there is no source, and to import it runs nothing.
            found: object = builtins if first == "builtins" else import_module(first)
            for name in rest.split("."):
                found = getattr(found, name, None)
            # What is said of ``str`` is not about a name that is bound to it.
            return "" if isinstance(found, type) else _text(found)
        views = self._sources.resolve(path)
        return self.find([e for e in views if not isinstance(e, External) or e.path != path])

    @cached_property
    def _sources(self) -> Names:
        folder = Path(sysconfig.get_path("stdlib"))
        return Names(PythonFiles(folder, Boundary(folder)), lambda _: None)


def _sources_first(views: Sequence[NameView]) -> list[DefinitionView]:
    found = [each for each in views if isinstance(each, DefinitionView)]
    return sorted(found, key=lambda each: each.layer.role != "source")


def _ways(view: DefinitionView) -> list[DefinitionView]:
    """Return a definition and those of other branches of the same file."""
    if not view.is_ambiguous:
        return [view]
    name = view.definition.name
    if view.owner is not None:
        ways = view.owner.definition.body.names.get(name, ()) if view.owner.definition.body else ()
    else:
        facts = view.names.files.facts(view.module, view.layer)
        ways = facts.names.get(name, ()) if facts is not None else ()
    others = (replace(view, definition=each) for each in ways if each.kind != "import")
    return [view, *(each for each in others if each != view)]


def _behind_stub(view: DefinitionView) -> list[NameView]:
    """Return what a stub's definition stands for: what the source beside it imports by that name.

    That is ``Logger`` of ``from ._logger import Logger as _Logger``.
    """
    if view.owner is not None:
        owners = _behind_stub(view.owner)
        return [e for owner in owners for e in member(owner, view.definition.name)]
    module = view.names.files.module(view.module)
    for layer, facts in view.names.files.readable(module) if module is not None else ():
        for way in (each for ways in facts.names.values() for each in ways):
            is_it = way.kind == "import" and way.imported == view.definition.name
            if layer.role == "source" and is_it:
                return view.names.resolve(f"{way.target}.{way.imported}")
    return []


def _read_given(names: Names, root: str) -> dict[str, dict[str, str]]:
    """Return the docstrings that modules of docstrings give to others, by name and module.

    They are named for it: ``_add_newdocs``, ``_torch_docs``.
    """
    found: dict[str, dict[str, str]] = {}
    waiting = [root]
    for name in waiting:
        waiting += [f"{name}.{each}" for each in names.files.children(name)]
        module = names.files.module(name) if "doc" in name.rpartition(".")[2] else None
        for _, facts in names.files.readable(module) if module is not None else ():
            for key, text in facts.given_texts.items():
                place, _, path = key.partition(":")
                while names.files.module(inner := f"{place}.{path.partition('.')[0]}"):
                    place, path = inner, path.partition(".")[2]
                found.setdefault(path, {}).setdefault(place, text)
                if "." in path:
                    member = f"*.{path.rpartition('.')[2]}"
                    found.setdefault(member, {}).setdefault(place, text)
        if len(waiting) > _MOST_MODULES:
            break
    return found


def _is_standard(view: NameView) -> bool:
    return isinstance(view, External) and view.path.partition(".")[0] in sys.stdlib_module_names


def _text(found: object) -> str:
    """Return the docstring of something of Python itself."""
    text = getattr(found, "__doc__", None)
    return inspect.cleandoc(text) if isinstance(text, str) else ""
