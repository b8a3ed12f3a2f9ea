"""The public surface of an installed Python package: its modules, their names and symbols.

It looks at the disk once, and says whether that is still as it was.
"""

from __future__ import annotations

import ast
import builtins
import enum
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

from docstow.core.errors import DocstowError
from docstow.languages.python.builtin_names import CLASS_NAMES, ENUM_NAMES
from docstow.languages.python.calls import (
    call_overloads,
    call_parameters,
    changing_decorators,
    undecorated_parameters,
    varies,
    written_parameters,
)
from docstow.languages.python.docstrings import Docstrings
from docstow.languages.python.files import Layer, ModuleFiles, PythonFiles
from docstow.languages.python.names import (
    DefinitionView,
    External,
    ModuleView,
    Names,
    NameView,
    answering_modules,
)
from docstow.languages.python.source.dynamic import FILLED
from docstow.languages.python.source.facts import Definition, ModuleFacts
from docstow.languages.python.source.functions import (
    hands_keywords_on,
    keeps_keywords,
    keyword_targets,
    made_for,
    parameters,
)
from docstow.languages.python.source.syntax import Function, string_value
from docstow.languages.python.stored_facts import StoredFacts
from docstow.languages.python.words import Words, class_headers
from docstow.languages.shared.boundary import Boundary
from docstow.languages.shared.project import Package
from docstow.languages.shared.surface import (
    Everything,
    Home,
    Openness,
    Parameter,
    Symbol,
    SymbolKind,
)
from docstow.text.python_ast import try_parse_module

_MOST_MODULES = 20_000
#: What imports a module by a name that it is given.
_IMPORTING = ("import_module", "__import__")
#: What nodes of Python's own syntax are.
_SYNTAX = "ast.AST"
#: Modules that are searched for one name.
_MOST_HOMES = 60
#: Functions that hand keywords on, one to the other.
_MOST_FOLLOWED = 4
#: Texts that decorators are given, from which on they are whole names and not parts of them.
_ACCESSORS = ("get_", "set_")
_WHOLE_NAMES = 5
#: Why a module is open that its own package fills while it is imported.
_FILLED = re.compile(
    r"(?:it imports all names of [\w.]+: )*"
    r"(?:it (?:uses|hands its name|sets attributes|runs code|defines)|a method of a class)"
)
#: The package of Python's own modules.
STANDARD = "python"
_TEXTS = re.compile(r"['\"](\w+)['\"]")
#: How a metaclass makes instances of its own class.
_MAKES_OWN = re.compile(r"\b(?:super\([^()]*\)|type)\.__call__\(")
_TESTS = frozenset({"tests", "test", "testing", "conftest"})


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
        stored: what other processes have read of these files.
    """

    def __init__(
        self,
        package: Package,
        boundary: Boundary,
        siblings: Callable[[str], PythonSurface | None] = lambda _: None,
        files: PythonFiles | None = None,
        stored: StoredFacts | None = None,
    ) -> None:
        self.package = package
        root = package.files_root or boundary.root
        self.files = files or PythonFiles(root, boundary, stored=stored)
        self._siblings = siblings
        self.resolver = Names(self.files, self._other)
        self._docstrings = Docstrings()
        self._symbols: dict[str, Symbol | None] = {}
        self._nodes: dict[str, Function | ast.ClassDef | None] = {}
        self._classes: dict[str, list[str]] = {}
        self._outlines: dict[str, Mapping[str, Symbol]] = {}
        self.words = Words(
            self.files, self.modules, boundary, stored.words if stored is not None else None
        )
        self._subclasses = _Subclasses(self, self.words)

    def _other(self, name: str) -> Names | None:
        surface = self._siblings(name)
        return surface.resolver if surface is not None and surface is not self else None

    @property
    def size(self) -> int:
        """Bytes of the files of which it keeps what they say."""
        return self.files.size

    def is_unchanged(self) -> bool:
        """Return whether another one of the same package would find the same."""
        return self.files.are_same() and self.words.stamps.are_same()

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

    def outlines(self, path: str) -> Mapping[str, Symbol]:
        """Return the public members of a module or class without their docs; none where unknown.

        To find the docs takes longer than all else.
        """
        if path not in self._outlines:
            every = {each: f"{path}.{each}" for each in self._listed(path) or ()}
            found = {n: self._symbols.get(e) or self._look(e, "") for n, e in every.items()}
            self._outlines[path] = {n: each for n, each in found.items() if each is not None}
        return self._outlines[path]

    def _look(self, path: str, docs: str | None = None) -> Symbol | None:
        """Return what a path means, with its docs unless others are given."""
        views = self._views(path)
        modules = [each for each in views if isinstance(each, ModuleView)]
        if modules:
            return self._module(path, modules[0])
        if found := _definitions(views):
            text = self._docstrings.find(found) if docs is None else docs
            return _build_symbol(path, found, self._receiver(path, found), text)
        if views:
            return Symbol(path, "re-export", "", 0, 0, "", "", target=views[0].path)
        return None

    def _receiver(self, path: str, found: list[DefinitionView]) -> DefinitionView | None:
        """Return the class in the path of a method that passes keywords on."""
        if not any(each.definition.forward and each.owner for each in found):
            return None
        above = _definitions(self._views(path.rpartition(".")[0]))
        return _main_view(above) if above else None

    def members(self, path: str) -> Mapping[str, Symbol] | None:
        """Return the public names of a module or class with their symbols; None where unknown."""
        names = self._listed(path)
        if names is None:
            return None
        found = {name: self.symbol(f"{path}.{name}") for name in names}
        return {name: symbol for name, symbol in found.items() if symbol is not None}

    def offered(self, path: str) -> frozenset[str] | None:
        """Return the names that ``import *`` of a module binds; None where some are not known."""
        views = self._views(path)
        modules = [each for each in views if isinstance(each, ModuleView)]
        if not modules or len(modules) != len(views) or self.why_uncertain(path):
            return None
        found = [each.names.offered(each.module) for each in modules]
        return None if None in found else frozenset().union(*filter(None, found))

    def listed(self, path: str) -> Iterator[str]:
        """Yield the public names of a module or class, not resolved; none where unknown."""
        yield from self._listed(path) or ()

    def _listed(self, path: str) -> Mapping[str, None] | None:
        names: dict[str, None] = {}
        known = False
        for view in self._views(path):
            if isinstance(view, ModuleView):
                known = True
                names |= dict.fromkeys(_public_module_names(view.names, view.module))
            elif isinstance(view, DefinitionView) and view.definition.kind == "class":
                known = True
                names |= dict.fromkeys(_public_class_names(view))
        return names if known else None

    def certain(self, path: str, name: str = "") -> bool:
        """Return whether the names of a module or class are all seen, or one would be.

        A name that no code can give to it while it runs is not there either.
        """
        return self.why_uncertain(path, name) == "" or (
            name != "" and not self.may_be_given(path, name)
        )

    def why_uncertain(self, path: str, name: str = "") -> str:
        """Return why the names of a module or class are not all seen; empty where they are.

        Args:
            path: of the module or class.
            name: the one that is asked for; empty for any.
        """
        views = self._views(path)
        if not views:
            return "it is not found"
        for view in views:
            if isinstance(view, ModuleView):
                reason = view.names.why_uncertain(view.module, name)
                if not reason and name and self.words.are_in_one_binary(view.module.name, name):
                    reason = "a compiled module gives it the name"
            elif isinstance(view, DefinitionView):
                reason = view.names.lineage(view).doubt(name).reason
                last = view.definition.name
                if not reason and name and self._subclasses.are_given([last], name):
                    reason = "a module gives it the name"
                if not reason and view.is_ambiguous and not (name and self._all_lack(path, name)):
                    reason = "branches differ"
            else:
                reason = f"{view.path} is not read"
            if reason:
                return reason
        return ""

    def _all_lack(self, path: str, name: str) -> bool:
        """Return whether no class that some branch of a module binds to a path has a name."""
        above, _, last = path.rpartition(".")
        modules = [each for each in self._views(above) if isinstance(each, ModuleView)]
        ways = [way for each in modules for way in each.names.ways(each.module, last)]
        return bool(ways) and all(self._lacks(each, name) for each in ways)

    def _lacks(self, view: NameView, name: str) -> bool:
        if isinstance(view, DefinitionView) and view.definition.body is not None:
            is_open = view.names.lineage(view).doubt(name).reason
            return not is_open and not view.names.in_class(view, name)
        found = self.resolver.compiled_module(view.path)
        return found is not None and found[0].files.binary_has(found[1], name) is False

    def openness(self, path: str, name: str = "") -> Openness:
        """Return what else a module or class may have than the names that are seen."""
        views = self._views(path)
        found = [each for each in _definitions(views) if not each.is_ambiguous]
        if not views or len(found) < len(views):
            return Openness.CLOSED if self.certain(path, name) else Openness.ANY
        if name and any(self._is_made_with(each, name) for each in found):
            return Openness.ANY
        return max(each.names.lineage(each).doubt(name).openness for each in found)

    def is_made(self, path: str) -> bool:
        """Return whether a metaclass, or a base that is told of it, may change a class."""
        lineages = [each.names.lineage(each) for each in _definitions(self._views(path))]
        return any(each.metaclasses or each.making for each in lineages)

    def _is_made_with(self, view: DefinitionView, name: str) -> bool:
        """Return whether the file of a metaclass seems to give its classes a name."""
        files = {each.layer.path for each in view.names.lineage(view).making}
        if not files:
            return False
        given = re.compile(rb"['\"]%s['\"]|\.%s\s*=[^=]" % ((re.escape(name.encode()),) * 2))
        return any(given.search(self.words.read(each)) is not None for each in files)

    def may_be_given(self, path: str, name: str, *, called: bool = False) -> bool:
        """Return whether a module or class may be given a name that no file shows it to have.

        What fills it takes the name from its package, or from one that its package imports, which
        then have the word. A base that is not known, and ``__getattr__``, may take it from
        anywhere. An attribute that is set by name may be data, but data is not called.

        Args:
            path: of the module or class.
            name: the name.
            called: it is called.
        """
        views, is_module = self._views(path), False
        surfaces = {id(self): self}
        for view in views:
            if isinstance(view, ModuleView):
                is_module = True
                reason = view.names.why_uncertain(view.module, name)
                if reason and not _FILLED.match(reason):
                    return True
            elif isinstance(view, DefinitionView) and not view.is_ambiguous:
                lineage = view.names.lineage(view)
                doubt = lineage.doubt(name)
                if not (doubt.by_words if called else doubt.is_written):
                    return True
                homes = (self._siblings(each.path) for each in lineage.classes)
                surfaces |= {id(each): each for each in homes if each is not None}
            elif self.resolver.compiled_module(view.path) is not None:
                if view.path.endswith((".ffi", ".lib")):
                    return True  # cffi makes what they have while the package runs.
                is_module = True
            else:
                return True
        return not views or any(
            each.has_to_give(name, to_module=is_module) for each in surfaces.values()
        )

    def has_to_give(self, name: str, *, to_module: bool = False) -> bool:
        """Return whether the package, or one that it imports, may give a name to an object.

        Classes get those of other classes that are written in Python; modules those of any.

        Args:
            name: the name.
            to_module: it would be given to a module.
        """
        if self.has_word_to_give(name, to_module=to_module, is_compiled=True):
            return True
        return any(
            each.has_word_to_give(name, to_module=to_module, is_compiled=to_module)
            for each in self._imported()
            if to_module or each.package.name != STANDARD
        )

    def _imported(self) -> Collection[PythonSurface]:
        """Return the surfaces of other packages that its modules import."""
        found: dict[str, PythonSurface | None] = {}
        # What has no package of its own, as ``google``, has those of what is below it.
        for each in sorted(self.words.imports):
            root = _root(each)
            if each == root or found.get(root) is None:
                found[each] = self._siblings(each)
        return {id(each): each for each in found.values() if each and each is not self}.values()

    def may_pass(self, method: str, keyword: str) -> bool:
        """Return whether what has a name in the package, or in an imported one, takes a keyword.

        What is not known of a package may be so.
        """
        every = (self, *self._imported())
        return any(each.words.may_pass(method, keyword) for each in every)

    def may_take(self, keyword: str) -> bool:
        """Return whether the package, or one that it imports, may take a keyword.

        Attributes that functions set by name are keywords, too: ``set_color`` for ``color``.
        """
        return any(
            each.has_keyword(keyword)
            or each.has_word_to_give(f"set_{keyword}", to_module=False, is_compiled=True)
            for each in (self, *self._imported())
        )

    def has_keyword(self, keyword: str) -> bool:
        """Return whether the package alone has anything that takes a keyword."""
        return self.words.may_take(keyword)

    @property
    def has_plugins(self) -> bool:
        """Whether the package looks for other packages that extend it."""
        return self.words.has_plugins

    @property
    def names_by_data(self) -> bool:
        """Whether the package may name attributes by data, or answers for names by itself."""
        return self.words.names_by_data

    def may_compose(self, name: str) -> bool:
        """Return whether the package may make a name of parts: ``f"set_{alias}"``."""
        return self.words.may_compose(name)

    def has_word_to_give(self, name: str, *, to_module: bool, is_compiled: bool) -> bool:
        """Return the same of the package alone, with or without its compiled modules."""
        return self.words.may_give(name, to_module=to_module, is_compiled=is_compiled)

    def may_set(self, name: str) -> bool:
        """Return whether some code of the package may set an attribute of a name."""
        return self.words.may_set(name)

    def assigns_beside(self, path: str, name: str) -> bool:
        """Return whether the file of a function sets an attribute of a name, or of any.

        So do functions that give an instance more than its class has.
        """
        files = {view.layer.path for view in _definitions(self._views(path))}
        return any(self.words.sets_in(each, name) for each in files)

    def is_compiled_without(self, path: str, keyword: str) -> bool:
        """Return whether a compiled module without stubs has what is called, and no such word."""
        found = [self.resolver.compiled_module(_aliased(each)) for each in self._views(path)]
        return bool(found) and all(
            each is not None
            and not each[1].layers
            and each[0].files.binary_has(each[1], path.rpartition(".")[2]) is True
            and each[0].files.binary_has(each[1], keyword) is False
            for each in found
        )

    def lacks_compiled_method(self, path: str, method: str) -> bool:
        """Return whether a class is all seen but for its compiled modules, which lack a method."""
        lineages = [each.names.lineage(each) for each in _definitions(self._views(path))]
        return bool(lineages) and all(
            one.compiled
            and one.seen.openness is Openness.CLOSED
            and not any(e.names.files.binary_calls(e.module, method) for e in one.compiled)
            for one in lineages
        )

    def is_open_by_calls(self, path: str, name: str) -> bool:
        """Return whether a class is open by what decorators and calls give, and by nothing else."""
        found = _definitions(self._views(path))
        return bool(found) and all(each.names.lineage(each).doubt(name).by_calls for each in found)

    def is_open_by_words(self, path: str, name: str) -> bool:
        """Return whether a class is open by what takes names from words of its package."""
        found = _definitions(self._views(path))
        doubts = [each.names.lineage(each).doubt(name) for each in found]
        return any(each.reason and each.by_words for each in doubts)

    def is_open_by_data(self, path: str, name: str) -> bool:
        """Return whether a class is open by what its instances are given, and by nothing else."""
        found = _definitions(self._views(path))
        lineages = [each.names.lineage(each) for each in found]
        return bool(found) and all(
            not each.seen.reason and not any(one.may_give(name) for one in each.compiled)
            for each in lineages
        )

    def is_told(self, path: str, name: str) -> bool:
        """Return whether a decorator or an argument of a class is given a part of a name."""
        signatures = [
            each.definition.signature
            for view in _definitions(self._views(path))
            for each in view.names.lineage(view).classes
        ]
        told = {word for each in signatures for word in _TEXTS.findall(each)}
        if any("…" in each for each in signatures):
            # Long ones are not whole.
            told.update(filter(str.isidentifier, self.texts_of_decorators(path)))
        if len(told) >= _WHOLE_NAMES:
            return not told.isdisjoint({name, *(name.removeprefix(each) for each in _ACCESSORS)})
        return any(len(each) > 2 and each in name for each in told)

    def texts_of_decorators(self, path: str) -> list[str]:
        """Return the texts that decorators of a class and its bases are given."""
        found = _definitions(self._views(path))
        paths = (each.path for view in found for each in view.names.lineage(view).classes)
        nodes = filter(None, map(self.class_node, paths))
        above = (each for node in nodes for each in node.decorator_list)
        return [text for one in above for each in ast.walk(one) if (text := string_value(each))]

    def everything(self, path: str) -> Everything:
        """Return all names of a module or class, with the other packages that they come from."""
        names: dict[str, None] = {}
        roots, is_open = {_root(path)}, False
        for view in self._views(path):
            if isinstance(view, ModuleView):
                found = _all_module_names(view.names, view.module)
                names |= dict.fromkeys(found.names)
                is_open = is_open or found.is_open
                roots |= {_root(each) for each in (view.path, *found.stars)}
            elif isinstance(view, DefinitionView) and view.definition.kind == "class":
                names |= dict.fromkeys(_all_class_names(view))
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

    def class_signatures(self, module: str) -> Mapping[str, str]:
        """Return the signatures of the public classes that a module defines, by their names."""
        files, listed = self.files.module(module), {*(self._listed(module) or ())}
        found: dict[str, str] = {}
        for _, facts in self.files.readable(files) if files is not None else ():
            for name in listed & facts.names.keys():
                for each in facts.names[name] if name not in found else ():
                    found |= {name: each.signature} if each.kind == "class" else {}
        return found

    def subclass_signatures(self, symbol: Symbol) -> list[str]:
        """Return the signatures of a class's subclasses in its own module."""
        module, _, name = (symbol.target or symbol.path).rpartition(".")
        subclass = re.compile(rf"^class \w+\(.*\b{re.escape(name)}\b", re.DOTALL)
        if module not in self._classes:
            self._classes[module] = [*self.class_signatures(module).values()]
        return [signature for signature in self._classes[module] if subclass.match(signature)]

    def is_generated(self, module: str) -> bool:
        """Return whether a module is made of protocol buffers, with a stub that tells all of it."""
        files = self.files.module(module) if module.endswith("_pb2") else None
        return files is not None and any(each.role == "stub" for each in files.layers)

    def classes_named(self, name: str) -> list[str]:
        """Return the paths of the classes of a name in its modules, but for those of tests."""
        return self._subclasses.named(name)

    def subclass_may_have(self, path: str, name: str, *, is_open: bool = True) -> bool:
        """Return whether a subclass in the package has a name that a class lacks.

        A module that gives the name to the class itself counts, too.

        Args:
            path: of the class.
            name: which it lacks.
            is_open: those count that may have the name.
        """
        home = self._home(path)
        return self.is_given(path, name) or self._subclasses.may_have(home, name, is_open=is_open)

    def is_given(self, path: str, name: str) -> bool:
        """Return whether a module of the package sets a name of a class, or of its bases.

        Python lets nobody set one of its built-in classes.
        """
        module, _, last = self._home(path).rpartition(".")
        if module == "builtins":
            return False
        return self.gives({last, *(self.base_names(path) - vars(builtins).keys())}, name)

    def _home(self, path: str) -> str:
        """Return the path where a class is defined."""
        symbol = self.symbol(path)
        return (symbol.target if symbol is not None else "") or path

    def gives(self, owners: Iterable[str], name: str) -> bool:
        """Return whether a module of the package sets a name of a class from outside.

        Args:
            owners: the last names of the class and its bases.
            name: the name.
        """
        return self._subclasses.are_given(sorted(owners), name)

    def base_names(self, path: str) -> frozenset[str]:
        """Return the last names of the bases of a class, those of the standard library included."""
        lineages = [each.names.lineage(each) for each in _definitions(self._views(path))]
        own = (each.path.rpartition(".")[2] for one in lineages for each in one.classes)
        standard = (each.__name__ for one in lineages for each in one.standard)
        return frozenset({*own, *standard} - {"object"})

    def base_paths(self, path: str) -> frozenset[str]:
        """Return the paths of a class and of its bases, those of other packages included."""
        lineages = [each.names.lineage(each) for each in _definitions(self._views(path))]
        return frozenset(each.path for one in lineages for each in one.classes)

    def subclass_names(self, path: str) -> frozenset[str]:
        """Return the last names of the classes of the package that extend one of its own."""
        return self._subclasses.names_below(path.rpartition(".")[2])

    def extends_with(
        self,
        base: str,
        name: str,
        above: frozenset[str] = frozenset(),
        below: frozenset[str] = frozenset(),
        *,
        mentions: bool = False,
    ) -> bool:
        """Return whether the package gives a name to another's class, or to a subclass of it.

        Args:
            base: the path where the class is defined.
            name: which the class itself lacks.
            above: the last names of its bases.
            below: the last names of what extends it in its own package.
            mentions: of subclasses that may have it only those count whose files have the word.
        """
        owners = {base.rpartition(".")[2], *above}
        given = self.gives(owners, name)
        return given or self._subclasses.may_have(base, name, mentions=mentions, others=below)

    def is_filled(self, path: str, name: str) -> bool:
        """Return whether a function makes names up for a module or class."""
        return self.why_uncertain(path, name) == FILLED

    def aliased_owner(self, path: str) -> str:
        """Return the class whose method a module binds to a name: ``ols = OLS.from_formula``.

        Empty for any other name.
        """
        module, _, name = path.rpartition(".")
        found = self.files.module(module)
        read = self.files.readable(found) if found is not None else ()
        ways = [way for _, facts in read for way in facts.names.get(name, ())]
        owner = ways[0].value.rpartition(".")[0] if len(ways) == 1 else ""
        views = _definitions(self._views(f"{module}.{owner}")) if owner else []
        return views[0].path if len(views) == 1 and views[0].definition.kind == "class" else ""

    def wraps(self, path: str, name: str) -> bool:
        """Return whether a class stands for instances of another, and may wrap what a name gives.

        Its dictionaries have what it wraps: ``{"resid": "rows"}``.
        """
        for view in _definitions(self._views(path)):
            if view.definition.body is not None and view.definition.body.wrapped:
                files = {each.layer.path for each in view.names.lineage(view).classes}
                key = re.compile(rb"['\"]%s['\"]\s*:" % re.escape(name.encode()))
                if any(key.search(self.words.read(each)) is not None for each in files):
                    return True
        return False

    def hands_on(self, path: str) -> bool:
        """Return whether a class answers for names with those of what an instance holds."""
        lineages = [each.names.lineage(each) for each in _definitions(self._views(path))]
        bodies = [each.definition.body for one in lineages for each in one.classes]
        return any(each is not None and each.getattr_result == "handed" for each in bodies)

    def hands_on_to_others(self, path: str) -> bool:
        """Return whether a class hands names on in a module where another one answers for some."""
        if not self.hands_on(path):
            return False
        for view in _definitions(self._views(path)):
            found = self.files.module(view.module)
            for _, facts in self.files.readable(found) if found is not None else ():
                bodies = (way.body for ways in facts.names.values() for way in ways)
                if sum(each is not None and each.getattr_result != "no" for each in bodies) > 1:
                    return True
        return False

    def answers_for_others(self, path: str) -> bool:
        """Return whether a class may answer for names that nothing else has."""
        lineages = [each.names.lineage(each) for each in _definitions(self._views(path))]
        bodies = [each.definition.body for one in lineages for each in one.classes]
        return any(each.unread for each in lineages) or any(
            each is None or each.getattr_result not in {"no", "handed"} for each in bodies
        )

    def makes_others(self, path: str) -> bool:
        """Return whether a call of a class may make instances of other classes, by its metaclass.

        So does a factory's. One that calls ``type.__call__`` in the end makes its own.
        """
        lineages = (each.names.lineage(each) for each in _definitions(self._views(path)))
        for meta in (each for one in lineages for each in one.metaclasses):
            if meta.definition.body is None or "__call__" not in meta.definition.body.names:
                continue
            call = self.function(f"{meta.path}.__call__")
            # What returns nothing refuses the call: it is made by another method.
            returned = call is None or any(isinstance(e, ast.Return) for e in ast.walk(call))
            if call is None or (returned and not _MAKES_OWN.search(ast.unparse(call))):
                return True
        return False

    def stands_for_others(self, path: str) -> bool:
        """Return whether values of other classes may be taken for instances of a class."""
        lineages = [each.names.lineage(each) for each in _definitions(self._views(path))]
        if self.package.name == "typing_extensions":
            return True  # What these classes make is of ``typing``.
        # What a metaclass makes are classes, and what these make are no instances of it; nodes of
        # Python's syntax are made by Python, whatever an annotation calls them.
        return any(
            each.stands_for_others
            or type in each.standard
            or any(one.path == _SYNTAX != path for one in each.classes)
            for each in lineages
        )

    def constrains(self, path: str) -> bool:
        """Return whether a type variable lists a class: ``TypeVar("T", Anchor, Rope)``."""
        return self._subclasses.is_constraint(self._home(path).rpartition(".")[2])

    def loads_modules(self, path: str) -> bool:
        """Return whether the module of a function imports others whose names it is given."""
        module = self._home(path).rpartition(".")[0]
        return self._subclasses.is_in(module, *_IMPORTING)

    def may_derive(self, path: str, base: str) -> bool:
        """Return whether a class has a base, or one that is not known."""
        lineages = [each.names.lineage(each) for each in _definitions(self._views(path))]
        return not lineages or any(
            each.unread
            or not each.classes
            or base in {one.path for one in each.classes}
            or base
            in {f"{e.__module__}.{e.__qualname__}" for one in each.standard for e in one.__mro__}
            for each in lineages
        )

    def subclass_may_take(
        self, path: str, method: str, keyword: str, *, named: bool = False
    ) -> bool:
        """Return whether a method of a subclass in the package may take a keyword.

        Args:
            path: of the class.
            method: its name.
            keyword: which the class itself does not take.
            named: one counts that names the keyword, and none that takes any.
        """
        last = self._home(path).rpartition(".")[2]
        return self._subclasses.may_take(last, method, keyword, named=named)

    def subclass_takes_more(self, path: str, method: str, given: int) -> bool:
        """Return whether a method of a subclass in the package may take arguments without names.

        Args:
            path: of the class.
            method: its name.
            given: how many.
        """
        last = self._home(path).rpartition(".")[2]
        return self._subclasses.takes_more(last, method, given)

    def undecorated(self, path: str) -> tuple[Parameter, ...] | None:
        """Return what a function takes without its package's decorators, which may take more.

        None where it has none, or that is not certain.
        """
        views = _definitions(self._views(path))
        if len(views) != 1 or views[0].definition.kind != "function":
            return None
        return undecorated_parameters(views[0], self._receiver(path, views))

    def decorated_may_take(self, path: str, keyword: str) -> bool:
        """Return whether its package, or one whose decorators a function has, takes a keyword."""
        found = [e for view in _definitions(self._views(path)) for e in changing_decorators(view)]
        roots = {_root(made.path) for _, made in found if made is not None}
        around = filter(None, map(self._siblings, sorted(roots)))
        return any(each.has_keyword(keyword) for each in (self, *around))

    def options(self, path: str) -> tuple[Parameter, ...] | None:
        """Return what is written of what a function takes that hands further keywords on.

        None where it takes no others, or keeps them as data.
        """
        if isinstance(self._node(path), ast.ClassDef):
            path = f"{path}.__init__"
        views = _definitions(self._views(path))
        node = self._node(path)
        is_option = isinstance(node, Function) and hands_keywords_on(node)
        if not is_option or len(views) != 1 or self._are_kept(path, 0):
            return None
        return written_parameters(views[0])

    def _are_kept(self, path: str, depth: int) -> bool:
        """Return whether further keywords of a function are kept as data by what it hands them to.

        That is in the same module, or imported there; what is not found keeps nothing.
        """
        node, views = self._node(path), _definitions(self._views(path))
        if not isinstance(node, Function) or not views or depth > _MOST_FOLLOWED:
            return False
        if depth and node.args.kwarg is not None and keeps_keywords(node):
            return True
        owner, module = path.rpartition(".")[0], views[0].module
        for each in keyword_targets(node):
            first, _, last = each.partition(".")
            held, _, method = last.partition(".")
            targets = [f"{owner}.{last}" if first in {"self", "cls"} else f"{module}.{each}"]
            if first == "self" and method:
                made = made_for(self.class_node(owner), held)
                targets = [f"{module}.{maker}.{method}" for maker in made]
            for target in targets:
                is_class = isinstance(self._node(target), ast.ClassDef)
                if self._are_kept(f"{target}.__init__" if is_class else target, depth + 1):
                    return True
        return False

    def embedded(self, path: str) -> dict[str, tuple[Parameter, ...]]:
        """Return the signatures that a compiled module without stubs has in its texts.

        Each with what is taken by it, without the receiver of a constructor.
        """
        found = self.resolver.compiled_module(path)
        if found is None or found[1].layers:
            return {}
        forms: dict[str, tuple[Parameter, ...]] = {}
        for each in found[0].files.embedded_signatures(found[1], path.rpartition(".")[2]):
            tree = try_parse_module(f"def {each}: ...")
            header = tree.body[0] if tree is not None and tree.body else None
            taken = parameters(header.args) if isinstance(header, Function) else ()
            is_received = bool(taken) and taken[0].name in {"self", "cls"}
            # What a method is called as is no function of the module.
            if isinstance(header, Function) and is_received == each[:1].isupper():
                forms[each] = taken[is_received:]
        return forms

    def function(self, path: str) -> Function | None:
        """Return the source of a function; None where it cannot be read."""
        found = self._node(path)
        return found if isinstance(found, Function) else None

    def class_node(self, path: str) -> ast.ClassDef | None:
        """Return the source of a class; None where it cannot be read."""
        found = self._node(path)
        return found if isinstance(found, ast.ClassDef) else None

    def _node(self, path: str) -> Function | ast.ClassDef | None:
        if path not in self._nodes:
            self._nodes[path] = self._read_node(path)
        return self._nodes[path]

    def _read_node(self, path: str) -> Function | ast.ClassDef | None:
        found = [each for each in _definitions(self._views(path)) if each.definition.line]
        if not found or (main := _main_view(found)).layer.role != "source":
            return None
        # A method of a class that branches define otherwise is taken to do the same in each.
        if found[0].is_ambiguous and found[0].owner is None:
            return None
        first, last = main.definition.line, main.definition.end_line
        with suppress(DocstowError):
            body = main.names.files.text(main.layer)
            text = "\n".join(body.split("\n")[first - 1 : last])
            # Lines of a docstring may begin further left than the function.
            tree = try_parse_module(f"if True:\n{text}" if text[:1].isspace() else text)
            nodes = tree.body if tree is not None else []
            for each in nodes[0].body if nodes and isinstance(nodes[0], ast.If) else nodes:
                return each if isinstance(each, Function | ast.ClassDef) else None
        return None

    def mentions(self, name: str) -> bool:
        """Return whether the word is anywhere in the package, so that it may be set at run time.

        True where not all of the package is read.
        """
        return self.words.has(name)

    def names(self) -> Iterator[str]:
        """Yield public paths: names of the entry modules with members of classes, then modules."""
        for entry in self.package.import_names:
            for name, symbol in (self.members(entry) or {}).items():
                yield f"{entry}.{name}"
                if symbol.kind in {"class", "enum"}:
                    for view in _definitions(self._views(f"{entry}.{name}")):
                        yield from (f"{entry}.{name}.{each}" for each in _public_class_names(view))
        for module in self.modules():
            if not any(part.startswith("_") for part in module.split(".")):
                yield module

    def homes(self, name: str) -> Iterator[str]:
        """Yield public modules below the entry whose own file has a word."""
        named = ((each, each.split(".")) for each in self.modules())
        below = (
            each
            for each, parts in named
            if len(parts) == 2 and not parts[1].startswith("_") and parts[1] not in _TESTS
        )
        for module in islice(below, _MOST_HOMES):
            if self._subclasses.is_in(module, name):
                yield module

    def place(self, path: str) -> tuple[Path, int, int] | None:
        """Return the file and lines of a definition; None where no file has it."""
        views = self._views(path)
        if found := [each for each in _definitions(views) if each.definition.line]:
            main = _main_view(found)
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
        for _, facts in reversed([*files.readable(module)]):
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


def _gives(text: bytes, owner: bytes, name: bytes) -> bool:
    """Return whether a module's text gives a name to a class that it does not define."""
    # To find a text takes a hundredth of the time of what is to be matched around it.
    path = b"%s.%s" % (owner, name)
    if path in text and re.search(rb"\b%s\s*=[^=]" % re.escape(path), text):
        return True
    if owner not in text or b"def %s" % name not in text:
        return False
    added = rb"^@[^\n]*\b%s\b(?!\.)[^\n]*\)\n(?:@[^\n]*\n)*(?:async )?def %s\b" % (owner, name)
    return re.search(added, text, re.MULTILINE) is not None


def _root(path: str) -> str:
    return path.partition(".")[0]


def _main_view(views: list[DefinitionView]) -> DefinitionView:
    """Return the view of the source, or else the first of a stub."""
    return next((each for each in views if each.layer.role == "source"), views[0])


def _build_symbol(
    path: str, views: list[DefinitionView], within: DefinitionView | None, text: str
) -> Symbol:
    """Build the symbol of a name.

    Args:
        path: by which it is named.
        views: at least one.
        within: the class of which a method is called, where that is known.
        text: its docstring.
    """
    source = _main_view(views)
    stub = next((each for each in views if each.layer.role != "source"), None)
    typed = stub or source
    if source.definition.kind != "attribute" or stub is None:
        kind, taken = _kind(source), _parameters(source, stub, within)
    else:
        # The source binds a value, of which the stub has more.
        kind, taken = _kind(stub), None
    there = source if source.definition.line else typed
    return Symbol(
        path=path,
        kind=kind,
        file=there.names.files.shown(there.layer.path),
        line=there.definition.line,
        end_line=there.definition.end_line,
        signature=typed.definition.signature or source.definition.signature or path,
        docstring=text,
        deprecated=source.definition.deprecated or typed.definition.deprecated,
        target=source.path if source.path != path else "",
        parameters=taken,
        module=typed.module,
        overloads=_overloads(source, taken),
    )


def _parameters(
    source: DefinitionView, stub: DefinitionView | None, within: DefinitionView | None
) -> tuple[Parameter, ...] | None:
    """Return the parameters of the source, or of a stub of the package's own without source."""
    if source.layer.role == "foreign stub":
        return None
    if stub is not None and stub is not source and stub.is_ambiguous:
        return None
    taken = call_parameters(source, within)
    return _accept_more(taken) if taken is not None and _is_of_compiled(source) else taken


def _overloads(
    source: DefinitionView, taken: tuple[Parameter, ...] | None
) -> tuple[tuple[Parameter, ...], ...]:
    """Return the parameters of overloads, where it is not certain what is taken.

    They are those in a stub of the package's own, or beside a function that takes any keyword.
    """
    is_open = taken is not None and any(each.kind == "var_keyword" for each in taken)
    may_vary = source.layer.role == "stub" or varies(source)
    if not is_open and (taken is not None or not may_vary):
        return ()
    found = call_overloads(source)
    return tuple(_accept_more(each) for each in found) if _is_of_compiled(source) else found


def _accept_more(taken: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """Return the same parameters, all optional, and any number of others."""
    names = [replace(each, required=False) for each in taken]
    rest = Parameter("rest", "var_positional", required=False)
    return (*names, *([] if any(each.kind == rest.kind for each in taken) else [rest]))


def _aliased(view: NameView) -> str:
    """Return the path of a definition, or of what it is an alias of: ``Packer = _c.Packer``."""
    value = view.definition.value if isinstance(view, DefinitionView) else ""
    module, _, name = value.rpartition(".")
    found = view.find(module) if isinstance(view, DefinitionView) and module else None
    return f"{found.path}.{name}" if found is not None else view.path


def _is_of_compiled(view: DefinitionView) -> bool:
    """Return whether a stub is of a compiled module, which may take more arguments than it says."""
    module = view.names.files.module(view.module)
    if module is None or view.layer.role != "stub":
        return False
    return module.native or any(each.role == "source" for each in module.layers)


def _kind(view: DefinitionView) -> SymbolKind:
    definition = view.definition
    if definition.kind == "class":
        standard = view.names.lineage(view).standard
        return "enum" if any(each.__module__ == "enum" for each in standard) else "class"
    if definition.kind == "function":
        return "method" if view.owner is not None else "function"
    if definition.kind == "property":
        return "property"
    if view.owner is None and definition.name.isupper():
        return "constant"
    return "attribute"


class _Subclasses:
    """The subclasses in one package.

    Args:
        surface: of the package.
        words: of its files.
    """

    def __init__(self, surface: PythonSurface, words: Words) -> None:
        self._surface = surface
        self.words = words
        self._headers: dict[Path, list[tuple[str, frozenset[str]]]] = {}
        self._below: dict[tuple[str, ...], list[tuple[str, str, Path]]] = {}

    def may_have(
        self,
        owner: str,
        name: str,
        *,
        mentions: bool = True,
        is_open: bool = True,
        others: frozenset[str] = frozenset(),
    ) -> bool:
        """Return whether a subclass of a class has a name, or may have it.

        Args:
            owner: the path where the class is defined.
            name: which the class itself lacks.
            mentions: of those that may have the name without being seen to have it, only those
                count whose files have the word.
            is_open: such ones count at all.
            others: the last names of what extends it in other packages.
        """
        mention = re.compile(rb"\b%s\b" % re.escape(name.encode()))
        mentioning = {file for _, file in self.words.files_with(name)} if mentions else set()
        if mentions and not mentioning:
            return False
        for module, subclass, file in self._subclasses_of(owner.rpartition(".")[2], *others):
            path = f"{module}.{subclass}"
            if not self._surface.may_derive(path, owner):
                continue
            is_mentioned = file in mentioning and mention.search(self.words.read(file)) is not None
            may_be = (
                (is_mentioned or not mentions)
                and self._surface.openness(path) >= Openness.FEW
                and (
                    self._surface.is_told(path, name)
                    or not self._surface.is_open_by_calls(path, name)
                )
            )
            if (is_open and may_be) or self._surface.symbol(f"{path}.{name}") is not None:
                return True
        return False

    def may_take(self, owner: str, method: str, keyword: str, *, named: bool = False) -> bool:
        """Return whether a method of a subclass of a class takes a keyword, or may take it.

        Args:
            owner: the last name of the class.
            method: its name.
            keyword: which the class itself does not take.
            named: one counts that names the keyword, and none that takes any.
        """
        taken = [*self._parameters_below(owner, method)]
        named_by = any(e.name == keyword for each in taken for e in each or ())
        is_open = any(each is None or any(e.kind == "var_keyword" for e in each) for each in taken)
        return named_by or (is_open and not named)

    def takes_more(self, owner: str, method: str, given: int) -> bool:
        """Return whether a method of a subclass of a class takes so many arguments without names.

        The receiver is not counted.
        """
        plain = {"positional_only", "positional"}
        return any(
            taken is None
            or any(each.kind == "var_positional" for each in taken)
            or sum(each.kind in plain for each in taken) >= given
            for taken in self._parameters_below(owner, method)
        )

    def _parameters_below(self, owner: str, method: str) -> Iterator[tuple[Parameter, ...] | None]:
        """Yield what the method of each subclass takes that has its own."""
        for module, subclass, _ in self._subclasses_of(owner):
            symbol = self._surface.symbol(f"{module}.{subclass}.{method}")
            if symbol is not None:
                yield symbol.parameters

    def are_given(self, owners: Sequence[str], name: str) -> bool:
        """Return whether a module gives a name to one of some classes from outside.

        That is ``Owner.name = …``, or a function of that name below ``@add_method(Owner)``.
        """
        wanted = "given", *owners, name
        return self.words.once(wanted, lambda: self._search_given(owners, name))

    def _search_given(self, owners: Sequence[str], name: str) -> bool:
        with_name = {*self.words.files_with(name)}
        files = with_name.intersection(self.words.files_with(*owners))
        member = name.encode()
        texts = (self.words.read(each) for _, each in sorted(files))
        return any(_gives(text, each.encode(), member) for text in texts for each in owners)

    def is_in(self, module: str, *words: str) -> bool:
        """Return whether the file of a module has one of some words."""
        mention = re.compile(rb"\b(?:%s)\b" % "|".join(map(re.escape, words)).encode())
        files = (file for each, file in self.words.files_with(*words) if each == module)
        return any(mention.search(self.words.read(each)) for each in files)

    def is_constraint(self, name: str) -> bool:
        """Return whether a class is among those that a type variable may stand for."""
        return self.words.once(("constraint", name), lambda: self._search_constraint(name))

    def _search_constraint(self, name: str) -> bool:
        files = {*self.words.files_with("TypeVar")}.intersection(self.words.files_with(name))
        listed = re.compile(
            rb"\bTypeVar\(\s*['\"]\w+['\"],(?![^()]*\bbound\b)[^()]*\b%s\b" % name.encode()
        )
        return any(listed.search(self.words.read(each)) for _, each in sorted(files))

    def names_below(self, owner: str) -> frozenset[str]:
        """Return the last names of the classes below one."""
        return frozenset(each for _, each, _ in self._subclasses_of(owner))

    def named(self, name: str) -> list[str]:
        """Return the paths of the classes of a name."""
        header = re.compile(rb"^class\s+%s\b" % re.escape(name.encode()), re.MULTILINE)
        return [
            f"{module}.{name}"
            for module, file in self.words.files_with(name)
            if not _TESTS & set(module.split(".")) and header.search(self.words.read(file))
        ]

    def _subclasses_of(self, *owners: str) -> list[tuple[str, str, Path]]:
        """Return module, name and file of each class below some."""
        if owners not in self._below:
            self._below[owners] = [*self._search_below({*owners})]
        return self._below[owners]

    def _search_below(self, owners: set[str]) -> Iterator[tuple[str, str, Path]]:
        seen, above = set(owners), owners
        while above:
            below = set()
            for module, file in self.words.files_extending(*sorted(above)):
                if _TESTS & set(module.split(".")):
                    continue
                for subclass, bases in self._classes_in(file):
                    if not above.isdisjoint(bases):
                        yield module, subclass, file
                        below.add(subclass)
            above = below - seen
            seen |= below

    def _classes_in(self, file: Path) -> list[tuple[str, frozenset[str]]]:
        """Return the classes in a file, each with the last names of its bases."""
        if file not in self._headers:
            self._headers[file] = [
                (name.decode(), frozenset(each.decode() for each in bases))
                for name, bases in class_headers(self.words.read(file))
            ]
        return self._headers[file]


@dataclass(frozen=True, slots=True)
class _AllNames:
    """All names of a module that do not begin with an underscore.

    Attributes:
        names: those of stars included.
        stars: the modules of which it imports all names.
        is_open: whether its ``__getattr__`` may answer for others.
    """

    names: tuple[str, ...]
    stars: tuple[str, ...]
    is_open: bool


def _all_module_names(
    names: Names, module: ModuleFiles, trail: frozenset[str] = frozenset()
) -> _AllNames:
    """Return all names of a module."""
    if module.name in trail:
        return _AllNames((), (), is_open=False)
    found: dict[str, None] = dict.fromkeys(names.files.children(module.name))
    through: dict[str, None] = {}
    found |= dict.fromkeys(names.bound_names(module))
    answered = names.getattr_names(module)
    is_open = "__getattr__" in found and answered is None
    for each in answered or ():
        owner, _, name = each.rpartition(":")
        found |= {name: None} if owner in ("", module.name) else {}
    for star in names.stars(module):
        through[star.path] = None
        if isinstance(star, ModuleView):
            inner = _all_module_names(star.names, star.module, trail | {module.name})
            is_open = is_open or inner.is_open
            through |= dict.fromkeys(inner.stars)
            exported = (each for each in inner.names if star.names.exported(star.module, each))
            found |= dict.fromkeys(exported)
    return _AllNames(tuple(each for each in found if each[:1] != "_"), tuple(through), is_open)


def _all_class_names(view: DefinitionView) -> list[str]:
    """Return all names of a class, with ``__new__`` if it or a base defines that."""
    lineage = view.names.lineage(view)
    found: dict[str, None] = {}
    for owner in lineage.classes:
        if (body := owner.definition.body) is not None:
            found |= dict.fromkeys((*body.names, *sorted(body.mentioned)))
    for module in (each for owner in lineage.classes for each in answering_modules(owner)):
        found |= dict.fromkeys(_all_module_names(module.names, module.module).names)
    bases = [each for each in lineage.standard if each is not object]
    has_new = "__new__" in found or any("__new__" in vars(each) for each in bases)
    for standard in bases:
        found |= dict.fromkeys(dir(standard))
        found |= dict.fromkeys(sorted(ENUM_NAMES) if issubclass(standard, enum.Enum) else ())
    found |= dict.fromkeys(sorted(CLASS_NAMES))
    plain = [each for each in found if each[:1] != "_"]
    return [*plain, "__new__"] if has_new else plain


def _public_module_names(
    names: Names, module: ModuleFiles, trail: tuple[str, ...] = ()
) -> list[str]:
    """Return the public names of a module: ``__all__``, or what it defines itself.

    Args:
        names: of the package.
        module: the module.
        trail: the modules that import all names of it, the first one first.
    """
    trail = (*trail, module.name)
    exports = names.exports(module)
    found = {**(exports or {})}
    for layer, facts in names.files.readable(module) if exports is None else ():
        ways = facts.names.items()
        own = (each for each, bound in ways if _is_public(each, bound, layer, facts))
        found |= dict.fromkeys((*(facts.exports or ()), *own))
    if exports is None:
        for star in names.stars(module):
            # Names of what is not below it are not its own; a module that imports itself ends here.
            is_below = isinstance(star, ModuleView) and star.path.startswith(f"{trail[0]}.")
            if isinstance(star, ModuleView) and is_below and star.path not in trail:
                found |= dict.fromkeys(_public_module_names(star.names, star.module, trail))
    inner = [each for each in names.files.children(module.name) if not each.startswith("_")]
    return list(found | dict.fromkeys(inner))


def _is_public(name: str, ways: tuple[Definition, ...], layer: Layer, facts: ModuleFacts) -> bool:
    """Return whether a name of a module without ``__all__`` is public."""
    if name.startswith("_"):
        return False
    if ways[0].kind != "import":
        return True
    # An ``__init__`` imports names from its own modules for others.
    first = facts.name.split(".")[0]
    return ways[0].value == "public" or (layer.package and ways[0].target.split(".")[0] == first)


def _public_class_names(view: DefinitionView) -> list[str]:
    """Return the public names of a class, its own first."""
    names: dict[str, None] = {}
    for owner in view.names.lineage(view).classes:
        body = owner.definition.body
        names |= dict.fromkeys(each for each in (body.names if body else ()) if each[0] != "_")
    return list(names)
