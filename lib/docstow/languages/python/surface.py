"""The public surface of an installed Python package.

This room knows modules, their members and how much of them is seen. It does not know how names are
found (:mod:`docstow.languages.python.names`) nor who asks. A surface is for one question or a few:
what is on disk is looked at once.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from docstow.core.errors import DocstowError
from docstow.languages.python.calls import overloads, parameters
from docstow.languages.python.files import Layer, ModuleFiles, PythonFiles
from docstow.languages.python.names import (
    CLASS_NAMES,
    ENUM_NAMES,
    ModuleView,
    Names,
    Outside,
    Seen,
    View,
)
from docstow.languages.python.source.facts import Definition, ModuleFacts
from docstow.languages.shared.project import Package
from docstow.languages.shared.sandbox import Boundary
from docstow.languages.shared.surface import (
    Everything,
    Home,
    Openness,
    Parameter,
    Surface,
    Symbol,
    SymbolKind,
)

__all__ = ["Outside", "PythonSurface"]


# All names of a Python module or class that can be written from outside, and those that are meant.


@dataclass(frozen=True, slots=True)
class Every:
    """All names of a module that do not begin with an underscore.

    Attributes:
        names: those of stars included.
        stars: the modules of which it imports all.
        asked: whether names that it has not are asked of a function of its own.
    """

    names: tuple[str, ...]
    stars: tuple[str, ...]
    asked: bool


def of_module(names: Names, module: ModuleFiles, trail: frozenset[str] = frozenset()) -> Every:
    """All names of a module."""
    if module.name in trail:
        return Every((), (), asked=False)
    found: dict[str, None] = dict.fromkeys(names.files.children(module.name))
    through: dict[str, None] = {}
    for layer in module.layers:
        facts = names.files.facts(module.name, layer)
        found |= dict.fromkeys(facts.names if facts is not None else ())
    answered = names.answered(module)
    asked = "__getattr__" in found and answered is None
    for each in answered or ():
        owner, _, name = each.rpartition(":")
        found |= {name: None} if owner in ("", module.name) else {}
    for star in names.stars(module):
        through[star.path] = None
        if isinstance(star, ModuleView):
            inner = of_module(star.names, star.module, trail | {module.name})
            asked = asked or inner.asked
            through |= dict.fromkeys(inner.stars)
            exported = (each for each in inner.names if star.names.exported(star.module, each))
            found |= dict.fromkeys(exported)
    return Every(tuple(each for each in found if each[:1] != "_"), tuple(through), asked)


def of_class(view: View) -> list[str]:
    """All names of a class, and ``__new__`` if it or a base of it says how instances are made."""
    lineage = view.names.lineage(view)
    found: dict[str, None] = {}
    for owner in lineage.classes:
        if (body := owner.definition.body) is not None:
            found |= dict.fromkeys((*body.names, *sorted(body.mentioned)))
    bases = [each for each in lineage.known if each is not object]
    made = "__new__" in found or any("__new__" in vars(each) for each in bases)
    for known in bases:
        found |= dict.fromkeys(dir(known))
        found |= dict.fromkeys(sorted(ENUM_NAMES) if issubclass(known, enum.Enum) else ())
    found |= dict.fromkeys(sorted(CLASS_NAMES))
    plain = [each for each in found if each[:1] != "_"]
    return [*plain, "__new__"] if made else plain


def public(names: Names, module: ModuleFiles) -> list[str]:
    """The names that a module means for others: ``__all__``, or what it defines itself."""
    found: dict[str, None] = {}
    exports = names.exports(module)
    for layer in module.layers:
        facts = names.files.facts(module.name, layer)
        if facts is None:
            continue
        found |= dict.fromkeys(facts.exports or ())
        if exports is None:
            ways = facts.names.items()
            own = (each for each, bound in ways if _is_public(each, bound, layer, facts))
            found |= dict.fromkeys(own)
    if exports is None:
        for star in names.stars(module):
            # What comes of other packages is theirs; a module that stars itself ends here.
            if isinstance(star, ModuleView) and star.path.startswith(f"{module.name}."):
                found |= dict.fromkeys(public(star.names, star.module))
    inner = [each for each in names.files.children(module.name) if not each.startswith("_")]
    return list(found | dict.fromkeys(inner))


def _is_public(name: str, ways: tuple[Definition, ...], layer: Layer, facts: ModuleFacts) -> bool:
    """Whether a module without ``__all__`` means a name for others."""
    if name.startswith("_"):
        return False
    if ways[0].kind != "import":
        return True
    # What a package's __init__ imports from its own modules is there to be imported from it.
    first = facts.name.split(".")[0]
    return ways[0].value == "public" or (layer.package and ways[0].target.split(".")[0] == first)


# Classes that a package derives from one of its own, wherever it does.


_HEIRS_MOST_MODULES = 4000


_LARGEST = 4 * 1024 * 1024


_HEADER = re.compile(rb"^[ \t]*class\s+(\w+)\s*\(([^)]*)\)", re.MULTILINE)


_NAME = re.compile(rb"(\w+)\s*(?=[,\[)]|$)")


_TESTS = frozenset({"tests", "test", "testing", "conftest"})


class Heirs:
    """The derived classes of one package.

    Args:
        surface: of the package.
        files: its modules.
        boundary: what may be opened.
        modules: their names; asked for once.
    """

    def __init__(
        self,
        surface: Surface,
        files: PythonFiles,
        boundary: Boundary,
        modules: Callable[[], tuple[str, ...]],
    ) -> None:
        self._surface = surface
        self._files = files
        self._boundary = boundary
        self._modules = modules

    def may_have(self, owner: str, name: str) -> bool:
        """Whether a class derived from another has a name, or may well have it.

        Args:
            owner: the last name of the other, such as ``Index``.
            name: that it has not itself.
        """
        spoken = re.compile(rb"\b%s\b" % re.escape(name.encode()))
        for module, heir, file in self._below(owner):
            if spoken.search(self._read(file)) is None:
                continue
            path = f"{module}.{heir}"
            opened = self._surface.openness(path) >= Openness.FEW
            if opened or self._surface.symbol(f"{path}.{name}") is not None:
                return True
        return False

    def _below(self, owner: str) -> list[tuple[str, str, Path]]:
        found: dict[tuple[str, str, Path], None] = {}
        waiting, asked = [owner], {owner}
        while waiting:
            for each in self._derived.get(waiting.pop(), ()):
                found[each] = None
                if each[1] not in asked:
                    asked.add(each[1])
                    waiting.append(each[1])
        return list(found)

    @cached_property
    def _derived(self) -> dict[str, list[tuple[str, str, Path]]]:
        """Module, name and file of the classes that stand on one of a name."""
        found: dict[str, list[tuple[str, str, Path]]] = {}
        for name in self._modules()[:_HEIRS_MOST_MODULES]:
            module = None if _TESTS & set(name.split(".")) else self._files.module(name)
            for layer in module.layers if module is not None else ():
                for header in _HEADER.finditer(self._read(layer.path)):
                    heir = header[1].decode("utf-8", "replace")
                    for base in _NAME.findall(header[2]):
                        last = base.decode("utf-8", "replace")
                        found.setdefault(last, []).append((name, heir, layer.path))
        return found

    def _read(self, file: Path) -> bytes:
        with suppress(DocstowError):
            return self._boundary.read(file, most=_LARGEST)
        return b""


# What the files of a Python package say of one name, put into one symbol.


def main_of(views: list[View]) -> View:
    """The source's view before a stub's."""
    return next((each for each in views if each.layer.role == "source"), views[0])


def defined(path: str, views: list[View], within: View | None) -> Symbol:
    """One symbol of all that files say of a name.

    Args:
        path: by which it is asked for.
        views: of it, at least one.
        within: the class that a method is asked of, where that is known.
    """
    source = main_of(views)
    stub = next((each for each in views if each.layer.role != "source"), None)
    typed = stub or source
    if source.definition.kind != "attribute" or stub is None:
        kind, given = _kind(source), _parameters(source, stub, within)
    else:
        # The source binds a value that only the stub tells more of.
        kind, given = _kind(stub), None
    there = source if source.definition.line else typed
    return Symbol(
        path=path,
        kind=kind,
        file=there.names.files.shown(there.layer.path),
        line=there.definition.line,
        end_line=there.definition.end_line,
        signature=typed.definition.signature or source.definition.signature or path,
        docstring=source.definition.docstring or typed.definition.docstring,
        deprecated=source.definition.deprecated or typed.definition.deprecated,
        target=source.path if source.path != path else "",
        parameters=given,
        module=typed.module,
        overloads=_overloads(source) if given is None else (),
    )


def _parameters(
    source: View, stub: View | None, within: View | None
) -> tuple[Parameter, ...] | None:
    """Those of the source; a stub's where there is no source and the stub is the package's own."""
    if source.layer.role == "foreign stub":
        return None
    if stub is not None and stub is not source and stub.several:
        return None
    given = parameters(source, within)
    return _loose(given) if given is not None and _is_told(source) else given


def _overloads(source: View) -> tuple[tuple[Parameter, ...], ...]:
    """What overloads take where they alone say it: in a stub of the package's own."""
    if source.layer.role != "stub":
        return ()
    found = overloads(source)
    return tuple(_loose(each) for each in found) if _is_told(source) else found


def _loose(given: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """The same names, as many as anybody likes."""
    names = [replace(each, required=False) for each in given]
    rest = Parameter("rest", "var_positional", required=False)
    return (*names, *([] if any(each.kind == rest.kind for each in given) else [rest]))


def _is_told(view: View) -> bool:
    """Whether a stub speaks of what was compiled: it may take more than it is said to take."""
    module = view.names.files.module(view.module)
    others = module is not None and any(each.role == "source" for each in module.layers)
    return view.layer.role == "stub" and (others or (module is not None and module.native))


def _kind(view: View) -> SymbolKind:
    definition: Definition = view.definition
    if definition.kind == "class":
        known = view.names.lineage(view).known
        return "enum" if any(each.__module__ == "enum" for each in known) else "class"
    if definition.kind == "function":
        return "method" if view.owner is not None else "function"
    if definition.kind == "property":
        return "property"
    if view.owner is None and definition.name.isupper():
        return "constant"
    return "attribute"


def attributes(view: View) -> list[str]:
    """The public names of a class, its own first."""
    names: dict[str, None] = {}
    for owner in view.names.lineage(view).classes:
        body = owner.definition.body
        names |= dict.fromkeys(each for each in (body.names if body else ()) if each[0] != "_")
    return list(names)


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
                names |= dict.fromkeys(public(view.names, view.module))
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
                found = of_module(view.names, view.module)
                names |= dict.fromkeys(found.names)
                asked = asked or found.asked
                roots |= {_root(each) for each in (view.path, *found.stars)}
            elif isinstance(view, View) and view.definition.kind == "class":
                names |= dict.fromkeys(of_class(view))
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
