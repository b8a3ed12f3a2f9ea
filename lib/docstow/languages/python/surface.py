"""The public surface of an installed Python package.

This room knows modules, their members and how much of them is seen. It does not know how names are
found (:mod:`docstow.languages.python.names`) nor who asks. A surface is for one question or a few:
what is on disk is looked at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from docstow.languages.python import surface__packages_python_every as python_every
from docstow.languages.python.files import ModuleFiles, PythonFiles
from docstow.languages.python.names import Names
from docstow.languages.python.names__packages_python_views import ModuleView, Outside, Seen, View
from docstow.languages.python.surface__packages_python_heirs import Heirs
from docstow.languages.python.surface__packages_python_symbols import attributes, defined, main_of
from docstow.languages.shared.project__packages_model import Package
from docstow.languages.shared.sandbox import Boundary
from docstow.languages.shared.surface import Everything, Home, Openness, Symbol

_MOST_MODULES = 20_000


class PythonSurface:
    """A package's modules and what they offer.

    Args:
        package: an installed one.
        boundary: what may be opened.
        siblings: the surface of another package of the environment, by its first import name.
        files: its modules, where they are found in another way than below its root.
    """

    def __init__(
        self,
        package: Package,
        boundary: Boundary,
        siblings: Callable[[str], PythonSurface | None] = lambda _: None,
        files: PythonFiles | None = None,
    ) -> None:
        self.package = package
        root = package.files_root or boundary.root
        self.files = files or PythonFiles(root, boundary)
        self._siblings = siblings
        self._resolver = Names(self.files, self._other)
        self._symbols: dict[str, Symbol | None] = {}
        self._classes: dict[str, list[str]] = {}
        self._heirs = Heirs(self, self.files, boundary, self.modules)

    @property
    def resolver(self) -> Names:
        """How names are found; for what needs more than symbols."""
        return self._resolver

    def _other(self, name: str) -> Names | None:
        surface = self._siblings(name)
        return surface.resolver if surface is not None and surface is not self else None

    def modules(self) -> tuple[str, ...]:
        """Names of all modules that can be imported, entry modules first, then sorted."""
        return self._modules

    @cached_property
    def _modules(self) -> tuple[str, ...]:
        entries = [name for name in self.package.import_names if self.files.module(name)]
        found: list[str] = []
        waiting = list(entries)
        while waiting and len(found) < _MOST_MODULES:
            name = waiting.pop()
            inner = [f"{name}.{child}" for child in self.files.children(name)]
            found += inner
            waiting += inner
        return (*entries, *sorted(found))

    def symbol(self, path: str) -> Symbol | None:
        """What a dotted path means, seen through re-exports and base classes."""
        if path not in self._symbols:
            self._symbols[path] = self._look(path)
        return self._symbols[path]

    def _look(self, path: str) -> Symbol | None:
        views = self._views(path)
        modules = [each for each in views if isinstance(each, ModuleView)]
        if modules:
            return self._module(path, modules[0])
        found = [each for each in views if isinstance(each, View)]
        if found:
            return defined(path, found, self._asked_of(path, found))
        if views:
            return Symbol(path, "re-export", "", 0, 0, "", "", target=views[0].path)
        return None

    def _asked_of(self, path: str, found: list[View]) -> View | None:
        """The class that a path asks for a method, where the method passes keywords on."""
        if not any(each.definition.forwards and each.owner for each in found):
            return None
        above = [each for each in self._views(path.rpartition(".")[0]) if isinstance(each, View)]
        return main_of(above) if above else None

    def members(self, path: str) -> Mapping[str, Symbol] | None:
        """The public names of a module or class by name; None where unknown."""
        names = self._listed(path)
        if names is None:
            return None
        found = {name: self.symbol(f"{path}.{name}") for name in names}
        return {name: symbol for name, symbol in found.items() if symbol is not None}

    def listed(self, path: str) -> Iterator[str]:
        """The public names of a module or class, not looked into; none where unknown."""
        yield from self._listed(path) or ()

    def _listed(self, path: str) -> Mapping[str, None] | None:
        names: dict[str, None] = {}
        known = False
        for view in self._views(path):
            if isinstance(view, ModuleView):
                known = True
                names |= dict.fromkeys(python_every.public(view.names, view.module))
            elif isinstance(view, View) and view.definition.kind == "class":
                known = True
                names |= dict.fromkeys(attributes(view))
        return names if known else None

    def certain(self, path: str) -> bool:
        """Whether the names of a module or class are all seen."""
        return self.why_uncertain(path) == ""

    def why_uncertain(self, path: str) -> str:
        """Why the names of a module or class are not all seen; empty where they are."""
        views = self._views(path)
        if not views:
            return "it is not found"
        for view in views:
            if isinstance(view, ModuleView):
                reason = view.names.why_uncertain(view.module)
            elif isinstance(view, View):
                reason = view.names.lineage(view).unknown
                reason = reason or ("branches differ" if view.several else "")
            else:
                reason = f"{view.path} is not read"
            if reason:
                return reason
        return ""

    def openness(self, path: str) -> Openness:
        """What else a module or class may have than the names that are seen."""
        views = self._views(path)
        if not views or not all(isinstance(each, View) and not each.several for each in views):
            return Openness.CLOSED if self.certain(path) else Openness.ANY
        classes = [each for each in views if isinstance(each, View)]
        return max(each.names.lineage(each).open for each in classes)

    def everything(self, path: str) -> Everything:
        """All names of a module or class, and which other packages they come from."""
        names: dict[str, None] = {}
        roots, asked = {_root(path)}, False
        for view in self._views(path):
            if isinstance(view, ModuleView):
                found = python_every.of_module(view.names, view.module)
                names |= dict.fromkeys(found.names)
                asked = asked or found.asked
                roots |= {_root(each) for each in (view.path, *found.stars)}
            elif isinstance(view, View) and view.definition.kind == "class":
                names |= dict.fromkeys(python_every.of_class(view))
                roots |= {_root(each.path) for each in view.names.lineage(view).classes}
            elif isinstance(view, View):
                roots.add(_root(view.path))
        homes: dict[str, Home | None] = {}
        for name in names:
            symbol = self.symbol(f"{path}.{name}") if not name.startswith("__") else None
            known = symbol is not None and symbol.file and symbol.line
            homes[name] = (symbol.file, symbol.line, name) if symbol and known else None
        certain = self.certain(path) and not asked
        return Everything(homes, certain, self._through(roots))

    def through(self, symbol: Symbol) -> tuple[str, ...]:
        """``name version`` of the package that a definition comes from, if it is another."""
        return self._through({_root(symbol.target or symbol.path)})

    def _through(self, roots: set[str]) -> tuple[str, ...]:
        others = (self._siblings(each) for each in roots - {*self.package.import_names})
        versions = {f"{e.package.name} {e.package.version}" for e in others if e and e is not self}
        return tuple(sorted(versions))

    def heirs(self, symbol: Symbol) -> list[str]:
        """Signatures of the classes that a class's own module derives from it."""
        module, _, name = (symbol.target or symbol.path).rpartition(".")
        heir = re.compile(rf"^class \w+\(.*\b{re.escape(name)}\b", re.DOTALL)
        if module not in self._classes:
            members = (self.members(module) or {}).values()
            self._classes[module] = [each.signature for each in members if each.kind == "class"]
        return [signature for signature in self._classes[module] if heir.match(signature)]

    def heirs_may_have(self, path: str, name: str) -> bool:
        """Whether a class that the package derives from another may have a name."""
        symbol = self.symbol(path)
        home = symbol.target if symbol is not None else ""
        return self._heirs.may_have((home or path).rpartition(".")[2], name)

    def names(self) -> Iterator[str]:
        """Public paths, those of the entry modules first, with the members of their classes."""
        for entry in self.package.import_names:
            for name, symbol in (self.members(entry) or {}).items():
                yield f"{entry}.{name}"
                if symbol.kind in {"class", "enum"}:
                    for view in self._views(f"{entry}.{name}"):
                        if isinstance(view, View):
                            yield from (f"{entry}.{name}.{each}" for each in attributes(view))
        for module in self.modules():
            if not any(part.startswith("_") for part in module.split(".")):
                yield module

    def place(self, path: str) -> tuple[Path, int, int] | None:
        """The file and lines of a definition, wherever it is; None where no file has it."""
        views = self._views(path)
        found = [each for each in views if isinstance(each, View) and each.definition.line]
        if found:
            main = main_of(found)
            return main.layer.path, main.definition.line, main.definition.end_line
        for view in views:
            if isinstance(view, ModuleView) and view.module.layers:
                return view.module.layers[-1].path, 1, 0
        return None

    def _views(self, path: str) -> list[Seen]:
        if not path or not all(part.isidentifier() for part in path.split(".")):
            return []
        views = self._resolver.resolve(path)
        # What is not even begun is nothing, where a re-export would say where it leads.
        lost = [isinstance(each, Outside) and each.path == path for each in views]
        return [] if all(lost) else views

    def _module(self, path: str, view: ModuleView) -> Symbol:
        module: ModuleFiles = view.module
        files = view.names.files
        text, lines = "", 0
        for layer in reversed(module.layers):
            facts = files.facts(module.name, layer)
            if facts is not None:
                text, lines = text or facts.docstring, lines or facts.lines
        layer_path = module.layers[-1].path if module.layers else module.folder
        return Symbol(
            path=path,
            kind="module",
            file=files.shown(layer_path) if layer_path else "",
            line=1 if module.layers else 0,
            end_line=lines,
            signature=f"import {module.name}",
            docstring=text,
            target=module.name if module.name != path else "",
        )


def _root(path: str) -> str:
    return path.partition(".")[0]


__all__ = ["Outside", "PythonSurface"]
