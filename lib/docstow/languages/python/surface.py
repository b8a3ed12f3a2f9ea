"""The public surface of an installed Python package.

A surface serves one question or a few: it looks at the disk once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from docstow.languages.python.files import ModuleFiles, PythonFiles
from docstow.languages.python.names import DefinitionView, External, ModuleView, Names, NameView
from docstow.languages.python.public_names import (
    all_class_names,
    all_module_names,
    public_class_names,
    public_module_names,
)
from docstow.languages.python.subclasses import Subclasses
from docstow.languages.python.symbols import build_symbol, main_view
from docstow.languages.shared.project import Package
from docstow.languages.shared.sandbox import Boundary
from docstow.languages.shared.surface import (
    Everything,
    Home,
    Openness,
    Symbol,
)

_MOST_MODULES = 20_000


class PythonSurface:
    """The modules of a package and their public names.

    Attributes:
        package: as it is installed.
        files: its modules.
        resolver: of its names, for callers that need more than symbols.

    Args:
        package: an installed one.
        boundary: what may be opened.
        siblings: the surface of another package of the environment, by its first import name.
        files: its modules, unless they are the files below its root.
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
        self.resolver = Names(self.files, self._other)
        self._symbols: dict[str, Symbol | None] = {}
        self._classes: dict[str, list[str]] = {}
        self._subclasses = Subclasses(self, self.files, boundary, self.modules)

    def _other(self, name: str) -> Names | None:
        surface = self._siblings(name)
        return surface.resolver if surface is not None and surface is not self else None

    def modules(self) -> tuple[str, ...]:
        """Return the names of all modules: the entry modules, then the others, sorted."""
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
        """Return what a dotted path means, through re-exports and base classes."""
        if path not in self._symbols:
            self._symbols[path] = self._look(path)
        return self._symbols[path]

    def _look(self, path: str) -> Symbol | None:
        views = self._views(path)
        modules = [each for each in views if isinstance(each, ModuleView)]
        if modules:
            return self._module(path, modules[0])
        if found := _definitions(views):
            return build_symbol(path, found, self._receiver(path, found))
        if views:
            return Symbol(path, "re-export", "", 0, 0, "", "", target=views[0].path)
        return None

    def _receiver(self, path: str, found: list[DefinitionView]) -> DefinitionView | None:
        """Return the class in the path of a method that passes keywords on."""
        if not any(each.definition.forward and each.owner for each in found):
            return None
        above = _definitions(self._views(path.rpartition(".")[0]))
        return main_view(above) if above else None

    def members(self, path: str) -> Mapping[str, Symbol] | None:
        """Return the public names of a module or class with their symbols; None where unknown."""
        names = self._listed(path)
        if names is None:
            return None
        found = {name: self.symbol(f"{path}.{name}") for name in names}
        return {name: symbol for name, symbol in found.items() if symbol is not None}

    def listed(self, path: str) -> Iterator[str]:
        """Yield the public names of a module or class, not resolved; none where unknown."""
        yield from self._listed(path) or ()

    def _listed(self, path: str) -> Mapping[str, None] | None:
        names: dict[str, None] = {}
        known = False
        for view in self._views(path):
            if isinstance(view, ModuleView):
                known = True
                names |= dict.fromkeys(public_module_names(view.names, view.module))
            elif isinstance(view, DefinitionView) and view.definition.kind == "class":
                known = True
                names |= dict.fromkeys(public_class_names(view))
        return names if known else None

    def certain(self, path: str) -> bool:
        """Return whether the names of a module or class are all seen."""
        return self.why_uncertain(path) == ""

    def why_uncertain(self, path: str) -> str:
        """Return why the names of a module or class are not all seen; empty where they are."""
        views = self._views(path)
        if not views:
            return "it is not found"
        for view in views:
            if isinstance(view, ModuleView):
                reason = view.names.why_uncertain(view.module)
            elif isinstance(view, DefinitionView):
                reason = view.names.lineage(view).open_reason
                reason = reason or ("branches differ" if view.is_ambiguous else "")
            else:
                reason = f"{view.path} is not read"
            if reason:
                return reason
        return ""

    def openness(self, path: str) -> Openness:
        """Return what else a module or class may have than the names that are seen."""
        views = self._views(path)
        found = [each for each in _definitions(views) if not each.is_ambiguous]
        if not views or len(found) < len(views):
            return Openness.CLOSED if self.certain(path) else Openness.ANY
        return max(each.names.lineage(each).openness for each in found)

    def everything(self, path: str) -> Everything:
        """Return all names of a module or class, with the other packages that they come from."""
        names: dict[str, None] = {}
        roots, is_open = {_root(path)}, False
        for view in self._views(path):
            if isinstance(view, ModuleView):
                found = all_module_names(view.names, view.module)
                names |= dict.fromkeys(found.names)
                is_open = is_open or found.is_open
                roots |= {_root(each) for each in (view.path, *found.stars)}
            elif isinstance(view, DefinitionView) and view.definition.kind == "class":
                names |= dict.fromkeys(all_class_names(view))
                roots |= {_root(each.path) for each in view.names.lineage(view).classes}
            elif isinstance(view, DefinitionView):
                roots.add(_root(view.path))
        homes: dict[str, Home | None] = {}
        for name in names:
            symbol = self.symbol(f"{path}.{name}") if not name.startswith("__") else None
            is_defined = symbol is not None and symbol.file and symbol.line
            homes[name] = (symbol.file, symbol.line, name) if symbol and is_defined else None
        certain = self.certain(path) and not is_open
        return Everything(homes, certain, self._through(roots))

    def through(self, symbol: Symbol) -> tuple[str, ...]:
        """Return ``name version`` of the package that a definition comes from, if it is another."""
        return self._through({_root(symbol.target or symbol.path)})

    def _through(self, roots: set[str]) -> tuple[str, ...]:
        others = (self._siblings(each) for each in roots - {*self.package.import_names})
        versions = {f"{e.package.name} {e.package.version}" for e in others if e and e is not self}
        return tuple(sorted(versions))

    def subclass_signatures(self, symbol: Symbol) -> list[str]:
        """Return the signatures of a class's subclasses in its own module."""
        module, _, name = (symbol.target or symbol.path).rpartition(".")
        subclass = re.compile(rf"^class \w+\(.*\b{re.escape(name)}\b", re.DOTALL)
        if module not in self._classes:
            members = (self.members(module) or {}).values()
            self._classes[module] = [each.signature for each in members if each.kind == "class"]
        return [signature for signature in self._classes[module] if subclass.match(signature)]

    def subclass_may_have(self, path: str, name: str) -> bool:
        """Return whether a subclass in the package may have a name that a class lacks."""
        symbol = self.symbol(path)
        home = symbol.target if symbol is not None else ""
        return self._subclasses.may_have((home or path).rpartition(".")[2], name)

    def names(self) -> Iterator[str]:
        """Yield public paths: names of the entry modules with members of classes, then modules."""
        for entry in self.package.import_names:
            for name, symbol in (self.members(entry) or {}).items():
                yield f"{entry}.{name}"
                if symbol.kind in {"class", "enum"}:
                    for view in _definitions(self._views(f"{entry}.{name}")):
                        yield from (f"{entry}.{name}.{each}" for each in public_class_names(view))
        for module in self.modules():
            if not any(part.startswith("_") for part in module.split(".")):
                yield module

    def place(self, path: str) -> tuple[Path, int, int] | None:
        """Return the file and lines of a definition; None where no file has it."""
        views = self._views(path)
        if found := [each for each in _definitions(views) if each.definition.line]:
            main = main_view(found)
            return main.layer.path, main.definition.line, main.definition.end_line
        for view in views:
            if isinstance(view, ModuleView) and view.module.layers:
                return view.module.layers[-1].path, 1, 0
        return None

    def _views(self, path: str) -> list[NameView]:
        if not path or not all(part.isidentifier() for part in path.split(".")):
            return []
        views = self.resolver.resolve(path)
        # An external view of the path itself says nothing; a re-export has another path.
        unknown = [isinstance(each, External) and each.path == path for each in views]
        return [] if all(unknown) else views

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


def _definitions(views: list[NameView]) -> list[DefinitionView]:
    return [each for each in views if isinstance(each, DefinitionView)]


def _root(path: str) -> str:
    return path.partition(".")[0]
