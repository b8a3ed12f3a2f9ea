"""What a dotted Python path leads to: through imports, stars, aliases, stubs and base classes.

Every file that defines a name has a view of it, and all views are kept: a stub has the types, the
source has what is there.
"""

from __future__ import annotations

import abc
import ast
import builtins
import enum
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from docstow.languages.python.builtin_names import (
    ADDED_NAMES,
    CHECKED_NAMES,
    CLASS_NAMES,
    DATA_ANSWERS,
    DATA_HOLDERS,
    ENUM_NAMES,
    FIELD_ANSWERS,
    HARMLESS_DECORATORS,
    MODELS,
    MODULE_NAMES,
    NAMED_TUPLE_NAMES,
    PLAIN_METACLASSES,
    SLOTTED,
    WRITTEN_NAMES,
    standard_class,
)
from docstow.languages.python.files import Layer, ModuleFiles, PythonFiles
from docstow.languages.python.source.dynamic import CHANGES, FILLED, SET_BY_KEY, SET_ON_SELF, TESTED
from docstow.languages.python.source.facts import ClassBody, Decorator, Definition, ModuleFacts
from docstow.languages.python.source.functions import kept_type
from docstow.languages.python.source.syntax import annotation_and_value, dotted
from docstow.languages.shared.surface import Openness

#: Imports and aliases that are followed one from another.
_DEEPEST = 40
_IS_OWN_BASE = "it inherits from itself"
#: What methods call themselves and their bases by.
_RECEIVERS = frozenset({"self", "cls", "super()"})
#: Metaclasses of Python that add no public names.
_PLAIN = frozenset({object, type, abc.ABCMeta, enum.EnumMeta})
_EXTRA = "its configuration allows further data"
_COMPILED = "it is compiled, and stubs leave out what they do not tell"
#: Metaclasses that give classes to what their bodies hold, which sets private names alone.
_KNOWN_METACLASSES = frozenset(
    {
        *("traitlets.traitlets.MetaHasDescriptors", "traitlets.traitlets.MetaHasTraits"),
        "proto.message.MessageMeta",
    }
)
#: Names of decorators that take arguments under other names, too.
_RENAMING = re.compile(r"renam|alias|kwarg|transition", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ModuleView:
    """A module."""

    names: Names
    module: ModuleFiles

    @property
    def path(self) -> str:
        """Its dotted name."""
        return self.module.name


@dataclass(frozen=True, slots=True)
class DefinitionView:
    """One file's definition of something.

    Attributes:
        names: of the package that has it.
        module: dotted.
        layer: the file.
        path: canonical: where it is defined.
        definition: what is written there.
        is_ambiguous: other branches define it otherwise.
        owner: the class in which it is defined.
    """

    names: Names
    module: str
    layer: Layer
    path: str
    definition: Definition
    is_ambiguous: bool = False
    owner: DefinitionView | None = None

    def find(self, dotted: str) -> NameView | None:
        """Return what a dotted name means where this is written, in the file nearest to it."""
        return self._nearest(self.names.in_scope(self, dotted))

    def member(self, name: str) -> NameView | None:
        """Return what a name means inside of this, in the file nearest to it."""
        return self._nearest(member(self, name))

    def _nearest(self, found: list[NameView]) -> NameView | None:
        views = [each for each in found if isinstance(each, DefinitionView)]
        is_source = self.layer.role == "source"
        same = [each for each in views if (each.layer.role == "source") == is_source]
        return next(iter(same or views or found), None)


@dataclass(frozen=True, slots=True)
class External:
    """Something of a package that is not here, or of the standard library."""

    path: str


NameView = ModuleView | DefinitionView | External
#: A resolver, a module and a name.
_NameKey = tuple[int, str, str]
#: The depth of what does not depend on the names that are being resolved.
_NOWHERE = 1_000_000


class _Trail:
    """The names that are being resolved, and whether what is found depends on them.

    Attributes:
        keys: the names, each with its depth.
        lowest: the depth of the outermost name that was met again since it was last set.
    """

    __slots__ = ("keys", "lowest")

    def __init__(self) -> None:
        self.keys: dict[_NameKey, int] = {}
        self.lowest = _NOWHERE

    def depend(self, depth: int) -> None:
        """Note that what is being found would be otherwise without the name at a depth."""
        self.lowest = min(self.lowest, depth)


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled module that may give names to a class, and how open that leaves the class."""

    names: Names
    module: ModuleFiles
    reason: str
    openness: Openness

    def may_give(self, name: str) -> bool:
        """Return whether it may give a name; empty for any."""
        return not name or self.names.files.binary_has(self.module, name) is not False


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a class may have more names than are seen.

    Attributes:
        reason: empty where there are no others.
        openness: what else it may have.
        by_calls: whether only decorators and bases that are made by calls leave it open, of which
            a type checker knows what they give.
        by_words: whether code of packages that are read gives it whatever else it has, by a name
            that is a word there; nothing answers for names by itself.
        is_written: whether all names that it has else are written in code, and none is data.
    """

    reason: str = ""
    openness: Openness = Openness.CLOSED
    by_calls: bool = True
    by_words: bool = True
    is_written: bool = True

    def and_also(self, other: Doubt) -> Doubt:
        """Return the doubt with another one."""
        is_none = other.openness is Openness.CLOSED
        return Doubt(
            self.reason or other.reason,
            max(self.openness, other.openness),
            self.by_calls and (other.by_calls or is_none),
            self.by_words and (other.by_words or is_none),
            self.is_written and (other.is_written or is_none),
        )


@dataclass(frozen=True, slots=True)
class Lineage:
    """A class and its bases, nearest first.

    Attributes:
        classes: those whose source is known.
        standard: those of the standard library that are known.
        seen: why there may be more names, by what is written.
        call_doubt: why its constructor is not certain: a base, metaclass or decorator is unknown.
        metaclasses: the classes of its metaclass, whose names the class itself has, too.
        unread: the paths of bases that are not read.
        compiled: the compiled modules that it or a base is in.
        on_instances: why instances may have more names that can have any.
        has_slots: whether instances have no other attributes than all ``__slots__`` name.
    """

    classes: tuple[DefinitionView, ...]
    standard: tuple[type, ...]
    seen: Doubt
    call_doubt: str
    metaclasses: tuple[DefinitionView, ...] = ()
    unread: tuple[str, ...] = ()
    compiled: tuple[Compiled, ...] = ()
    on_instances: Doubt = Doubt()
    has_slots: bool = False

    @property
    def making(self) -> list[DefinitionView]:
        """The classes of its metaclass, and bases that are told of it, which may add names."""
        told = [e for e in self.classes[1:] if "__init_subclass__" in _body_names(e)]
        makers = [e for e in self.metaclasses if _gives_names(e)]
        return [each for each in (*makers, *told) if each.path not in MODELS]

    @property
    def is_interface(self) -> bool:
        """Whether it is an interface of ``zope.interface``, which no class inherits from."""
        return "Interface" in self._roots()

    @property
    def stands_for_others(self) -> bool:
        """Whether a metaclass may take values of other classes for its instances."""
        tests = {"__instancecheck__", "__subclasscheck__"}
        return any(
            each.path not in MODELS and not tests.isdisjoint(_body_names(each))
            for each in self.metaclasses
        )

    def _roots(self) -> Iterator[str]:
        """Yield the last names of bases that are not found to be classes."""
        known = {each.definition.name for each in self.classes}
        for each in self.classes:
            if each.definition.body is not None:
                names = (base.rpartition(".")[2] for base in each.definition.body.bases)
                yield from (name for name in names if name not in known)

    def doubt(self, name: str = "") -> Doubt:
        """Return why it may have a name that is not seen; empty for any name."""
        found = self.seen if self.has_slots else self.seen.and_also(self.on_instances)
        for each in self.compiled:
            if each.may_give(name):
                doubt = Doubt(each.reason, each.openness, by_calls=False, is_written=False)
                found = found.and_also(doubt)
        bodies = (each.definition.body for each in self.classes)
        parts = (each for body in bodies if body is not None for each in body.composed)
        if any(not name or (name.startswith(a) and name.endswith(z)) for a, z in parts):
            found = found.and_also(
                Doubt("attributes are set by name", Openness.FEW, by_calls=False, is_written=False)
            )
        return found


class Names:
    """The names of one folder of import names.

    Attributes:
        reading: modules whose stars or ``__getattr__`` are being read.

    Args:
        files: its modules.
        others: the names of another package, by its first import name.
    """

    def __init__(self, files: PythonFiles, others: Callable[[str], Names | None]) -> None:
        self.files = files
        self._others = others
        self._answered: dict[str, frozenset[str] | None] = {}
        self._stars: dict[str, Sequence[NameView]] = {}
        self._lineages: dict[tuple[Layer, str], Lineage] = {}
        self._found: dict[tuple[str, str], list[NameView]] = {}
        self._exports: dict[str, Mapping[str, None] | None] = {}
        self._bound_names: dict[str, tuple[str, ...]] = {}
        self._offered: dict[str, frozenset[str] | None] = {}
        self._star_homes: dict[str, tuple[dict[str, list[int]], list[int]]] = {}
        self.reading: set[str] = set()

    def resolve(self, path: str, trail: _Trail | None = None) -> list[NameView]:
        """Return what a path means in each file that defines it; nothing where none does."""
        first, *rest = path.split(".")
        home = self._home(first)
        module = home.files.module(first) if home else None
        if home is None or module is None:
            return [External(path)]
        views: list[NameView] = [ModuleView(home, module)]
        for position, segment in enumerate(rest, 1):
            external = [each for each in views if isinstance(each, External)]
            views = _unique_views(each for view in views for each in member(view, segment, trail))
            if not views and external:
                return [External(".".join([external[0].path, *rest[position - 1 :]]))]
        return views or home.in_shadowed_module([first, *rest], trail)

    def _home(self, name: str) -> Names | None:
        """Return the names of the package with a first import name."""
        return self if self.files.module(name) else self._others(name)

    def in_shadowed_module(self, parts: list[str], trail: _Trail | None) -> list[NameView]:
        """Return what a path means below a module whose package uses its name otherwise."""
        for end in range(len(parts) - 1, 1, -1):
            module = self.files.module(".".join(parts[:end]))
            if module is not None and module.layers:
                return _unique_views(_members([ModuleView(self, module)], parts[end:], trail))
        return []

    def in_scope(
        self, view: DefinitionView, dotted: str, trail: _Trail | None = None
    ) -> list[NameView]:
        """Return what a dotted name means where a definition is written."""
        first, *rest = dotted.split(".")
        module = self.files.module(view.module)
        if module is None:
            return []
        views: list[NameView] = []
        if view.owner is not None:
            ways = _body_names(view.owner).get(first, ())
            views = [member_view(view.owner, way) for way in ways[:1]]
        views = views or self.in_module(module, first, trail)
        if not views and hasattr(builtins, first):
            views = [External(f"builtins.{first}")]
        return _members(views, rest, trail)

    # -- modules -------------------------------------------------------------------------------

    def in_module(
        self, module: ModuleFiles, name: str, trail: _Trail | None = None
    ) -> list[NameView]:
        """Return what a name of a module means."""
        known = self._found.get((module.name, name))
        if known is not None:
            return known
        trail = trail or _Trail()
        key = (id(self), module.name, name)
        if key in trail.keys:
            trail.depend(trail.keys[key])
            # A name that is needed while it is being bound is the module of that name.
            own = self.files.module(f"{module.name}.{name}") if module.folder is not None else None
            return [ModuleView(self, own)] if own else []
        if len(trail.keys) > _DEEPEST:
            trail.depend(-1)
            return []
        depth, before = len(trail.keys), trail.lowest
        trail.keys[key], trail.lowest = depth, _NOWHERE
        views = self._look(module, name, trail)
        del trail.keys[key]
        if trail.lowest >= depth:
            # Names that are met again are all inside of this one.
            trail.lowest = before
            self._found[module.name, name] = views
        trail.depend(before)
        return views

    def _look(self, module: ModuleFiles, name: str, trail: _Trail) -> list[NameView]:
        """Look for a name of a module in its files, its folder and what it imports all names of."""
        if module.name in self.reading:
            trail.depend(-1)
        views: list[NameView] = []
        # The source comes first: a stub may have another definition of the same name.
        for layer, facts in reversed([*self.files.readable(module)]):
            views += self._bound(module, layer, facts, name, trail)
        is_own_module = bool(views) and all(
            isinstance(each, External) and each.path == f"{module.name}.{name}" for each in views
        )
        if is_own_module or (not views and module.folder is not None):
            inner = self.files.module(f"{module.name}.{name}")
            views = [ModuleView(self, inner), *views] if inner else views
        if not views:
            for star in self._stars_with(module, name):
                if star.names.exported(star.module, name):
                    views += star.names.in_module(star.module, name, trail)
        if not views and module.layers and self._is_implicit(module, name, trail):
            definition = Definition(name, "attribute", 0, 0, signature=name)
            path = f"{module.name}.{name}"
            views = [DefinitionView(self, module.name, module.layers[-1], path, definition)]
        return _unique_views(views)

    def _is_implicit(self, module: ModuleFiles, name: str, trail: _Trail | None) -> bool:
        """Return whether a module has a name that no statement of it binds."""
        if name in MODULE_NAMES:
            return True
        answered = self.getattr_names(module, trail) or ()
        return name in answered or f"{module.name}:{name}" in answered

    def _bound(
        self, module: ModuleFiles, layer: Layer, facts: ModuleFacts, name: str, trail: _Trail | None
    ) -> list[NameView]:
        """Return what one file binds to a name, followed to where it is defined."""
        ways = facts.names.get(name, ())
        path, is_ambiguous = f"{module.name}.{name}", len(ways) > 1
        views: list[NameView] = []
        for way in ways:
            here = DefinitionView(self, module.name, layer, path, way, is_ambiguous)
            found: list[NameView] = [here]
            if way.kind == "import":
                found = self._imported(way, trail)
            elif way.value:
                aliased = self.in_scope(here, way.value, trail)
                aliased = [
                    e for e in aliased if not isinstance(e, DefinitionView) or e.path != path
                ]
                bound = [] if aliased else self._bound_method(here, trail)
                found = bound or (found if _are_external(aliased) else aliased)
            if is_ambiguous:
                found = [
                    replace(each, is_ambiguous=True) if isinstance(each, DefinitionView) else each
                    for each in found
                ]
            if not _are_external(found):
                return found
            views = views or found
        if ways and not views:
            # It is bound to something that cannot be followed.
            target = ".".join(filter(None, (ways[0].target, ways[0].imported)))
            return [External(target or path)]
        return views

    def ways(self, module: ModuleFiles, name: str, depth: int = 0) -> list[NameView]:
        """Return what all branches of a module bind to a name, each followed to its definition."""
        path, views = f"{module.name}.{name}", list[NameView]()
        for layer, facts in reversed([*self.files.readable(module)]):
            for way in facts.names.get(name, ()):
                here = DefinitionView(self, module.name, layer, path, way)
                if way.kind == "import" and way.imported:
                    views += self._imported_ways(way, depth)
                elif way.kind == "attribute" and way.value.isidentifier() and depth < _DEEPEST:
                    views += self.ways(module, way.value, depth + 1)
                else:
                    views.append(here)
            if views:
                break
        return views or [External(path)]

    def _imported_ways(self, way: Definition, depth: int) -> Iterator[NameView]:
        for each in self.resolve(way.target):
            if isinstance(each, ModuleView) and depth < _DEEPEST:
                yield from each.names.ways(each.module, way.imported, depth + 1)
            else:
                yield External(f"{way.target}.{way.imported}")

    def _bound_method(self, view: DefinitionView, trail: _Trail | None) -> list[NameView]:
        """Return the function that an alias is of a method of an object of the module.

        That is ``create = api.create`` where ``api = Api()``.
        """
        of, _, name = view.definition.value.rpartition(".")
        holder = next(iter(self.in_scope(view, of, trail) if of else ()), None)
        if not isinstance(holder, DefinitionView) or not holder.definition.maker:
            return []
        made = holder.names.in_scope(holder, holder.definition.maker, trail)
        for method in _members(made, [name], trail):
            if isinstance(method, DefinitionView) and method.definition.kind == "function":
                return [replace(view, definition=_as_function(view, method))]
        return []

    def _imported(self, way: Definition, trail: _Trail | None) -> list[NameView]:
        views = self.resolve(way.target, trail)
        if not way.imported:
            return views
        found = _members(views, [way.imported], trail)
        # An import means the module, though its package may use the name for something else.
        parts = [*way.target.split("."), way.imported]
        home = self._home(parts[0])
        return found or (home.in_shadowed_module(parts, trail) if home else [])

    def getattr_names(
        self, module: ModuleFiles, trail: _Trail | None = None
    ) -> frozenset[str] | None:
        """Return the names that a module's ``__getattr__`` answers for; None where unknown."""
        if module.name not in self._answered:
            self._answered[module.name] = None
            with self._while_reading(module):
                self._answered[module.name] = self._read_getattr_names(module, trail)
        return self._answered[module.name]

    def _read_getattr_names(
        self, module: ModuleFiles, trail: _Trail | None
    ) -> frozenset[str] | None:
        names: set[str] = set()
        for _, facts in self.files.readable(module):
            names |= facts.getattr_names
            for factory in facts.getattr_factories:
                views = self.in_module(module, factory, trail)
                source = next((each for each in views if isinstance(each, DefinitionView)), None)
                if source is None:
                    return None
                there = source.names.files.facts(source.module, source.layer)
                found = there.defined_factories.get(source.definition.name) if there else None
                if found is None:
                    return None
                names |= found
        return frozenset(names)

    def stars(self, module: ModuleFiles) -> Sequence[NameView]:
        """Return the modules of which a module imports all names."""
        if module.name not in self._stars:
            # A module that is not there may be a name from the very same imports.
            self._stars[module.name] = []
            with self._while_reading(module):
                self._stars[module.name] = [*self._read_stars(module)]
        return self._stars[module.name]

    @contextmanager
    def _while_reading(self, module: ModuleFiles) -> Iterator[None]:
        """Keep names of a module from being remembered while they are not all known."""
        within = module.name in self.reading
        self.reading.add(module.name)
        yield
        if not within:
            self.reading.discard(module.name)

    def _read_stars(self, module: ModuleFiles) -> Iterator[NameView]:
        for _, facts in self.files.readable(module):
            for star in facts.stars:
                if star != module.name:
                    yield from self.resolve(star) or [External(star)]

    def _stars_with(self, module: ModuleFiles, name: str) -> list[ModuleView]:
        """Return the modules that may give a name to one that imports all names of them."""
        stars = self.stars(module)
        if module.name in self.reading:
            return [each for each in stars if isinstance(each, ModuleView)]
        if module.name not in self._star_homes:
            homes: dict[str, list[int]] = {}
            unknown: list[int] = []
            for position, star in enumerate(stars):
                if isinstance(star, ModuleView):
                    offered = star.names.offered(star.module)
                    unknown += [position] if offered is None else []
                    for each in offered or ():
                        homes.setdefault(each, []).append(position)
            self._star_homes[module.name] = homes, unknown
        homes, unknown = self._star_homes[module.name]
        found = (stars[each] for each in sorted({*homes.get(name, ()), *unknown}))
        return [each for each in found if isinstance(each, ModuleView)]

    def offered(self, module: ModuleFiles) -> frozenset[str] | None:
        """Return the names that ``import *`` of a module may bind; None for a cycle of them."""
        if module.name not in self._offered:
            self._offered[module.name] = None
            self._offered[module.name] = self._read_offered(module)
        return self._offered[module.name]

    def _read_offered(self, module: ModuleFiles) -> frozenset[str] | None:
        if (exports := self.exports(module)) is not None:
            return frozenset(exports)
        found = {*self.bound_names(module), *self.files.children(module.name)}
        found |= {each.rpartition(":")[2] for each in self.getattr_names(module) or ()}
        for star in self.stars(module):
            if isinstance(star, ModuleView):
                inner = star.names.offered(star.module)
                if inner is None or star.module.name in star.names.reading:
                    return None
                found |= inner
        return frozenset(each for each in found if each[:1] != "_")

    def bound_names(self, module: ModuleFiles) -> tuple[str, ...]:
        """Return the names that the files of a module bind themselves."""
        if module.name not in self._bound_names:
            facts = [each for _, each in self.files.readable(module)]
            names = dict.fromkeys(name for each in facts for name in each.names)
            self._bound_names[module.name] = tuple(names)
        return self._bound_names[module.name]

    def exported(self, module: ModuleFiles, name: str) -> bool:
        """Return whether ``import *`` of a module binds a name, if the module has it."""
        exports = self.exports(module)
        return name in exports if exports is not None else not name.startswith("_")

    def exports(self, module: ModuleFiles) -> Mapping[str, None] | None:
        """Return ``__all__`` of all files of a module; None where one has none that can be read."""
        if module.name not in self._exports:
            found = [self.files.exports(module.name, each) for each in module.layers]
            names = dict.fromkeys(name for each in found for name in each or ())
            is_known = bool(found) and None not in found
            self._exports[module.name] = names if is_known else None
        return self._exports[module.name]

    def why_uncertain(
        self, module: ModuleFiles, name: str = "", trail: frozenset[str] = frozenset()
    ) -> str:
        """Return why a module may have names that are not seen; empty where it has none.

        Args:
            module: the module.
            name: the one that is asked for; empty for any.
            trail: the modules whose stars led to it.
        """
        if module.name in trail:
            return ""
        is_compiled = module.native and not (name and self.files.binary_has(module, name) is False)
        if not module.layers and not module.native:
            return "it is a namespace"
        if is_compiled:
            return _COMPILED if module.layers else "it is compiled, without stubs"
        found = (self._why_file_uncertain(module, each, name) for each in module.layers)
        if reasons := [each for each in found if each]:
            # What is put in a module's place has any name, whatever fills the module itself.
            return next((each for each in reasons if each.startswith(CHANGES)), reasons[0])
        if self.getattr_names(module) is None:
            return "it defines __getattr__"
        for star in self.stars(module):
            if not isinstance(star, ModuleView):
                return f"it imports all names of {star.path}"
            if star.names.exports(star.module) is not None:
                continue  # It brings what is listed there.
            inner = star.names.why_uncertain(star.module, name, trail | {module.name})
            if inner:
                return f"it imports all names of {star.path}: {inner}"
        return ""

    def _why_file_uncertain(self, module: ModuleFiles, layer: Layer, name: str) -> str:
        facts = self.files.facts(module.name, layer)
        if facts is None:
            return f"{layer.path.name} cannot be read"
        if facts.open_reason:
            return facts.open_reason
        if facts.open_prefixes and (not name or name.startswith(facts.open_prefixes)):
            return f"it fills itself with names that begin with {', '.join(facts.open_prefixes)}"
        if any(self._is_decorated_by_method(module, layer, e[0]) for e in facts.names.values()):
            return "a method of a class decorates its classes, and may give names to it"
        if self._is_made_by_loader(module, facts):
            return "another of its modules loads it"
        if any(self._is_filled_by_decorator(module, layer, e[0]) for e in facts.names.values()):
            return FILLED
        return ""

    def _is_made_by_loader(self, module: ModuleFiles, facts: ModuleFacts) -> bool:
        """Return whether a module has nothing but one of its own that changes Python's modules."""
        if len(facts.names) != 1:
            return False
        (ways,) = facts.names.values()
        inner = f"{ways[0].target}.{ways[0].imported}"
        found = self.files.module(inner) if inner.startswith(f"{module.name}.") else None
        read = self.files.readable(found) if found is not None else ()
        return any(each.open_reason.startswith(CHANGES) for _, each in read)

    def _is_filled_by_decorator(self, module: ModuleFiles, layer: Layer, way: Definition) -> bool:
        """Return whether what decorates a definition writes to the globals of its module."""
        here = DefinitionView(self, module.name, layer, f"{module.name}.{way.name}", way)
        for each in way.decorators:
            found = here.find(each.name) if each.name else None
            if not isinstance(found, DefinitionView):
                continue
            facts = found.names.files.facts(found.module, found.layer)
            if facts is not None and found.definition.name in facts.fillers:
                return True
        return False

    def _is_decorated_by_method(self, module: ModuleFiles, layer: Layer, way: Definition) -> bool:
        """Return whether a method of a class decorates a class: ``@Backend.export``."""
        if way.kind != "class":
            return False
        here = DefinitionView(self, module.name, layer, f"{module.name}.{way.name}", way)
        named = (each.name for each in way.decorators if "." in each.name)
        # What registers a class gives no names.
        found = (here.find(each) for each in named if ".register" not in each)
        return any(isinstance(each, DefinitionView) and each.owner is not None for each in found)

    # -- classes -------------------------------------------------------------------------------

    def compiled_module(self, path: str) -> tuple[Names, ModuleFiles] | None:
        """Return the compiled module that a class is in, by its path; None where it is in none."""
        home = self._home(path.partition(".")[0])
        module = home.files.module(path.rpartition(".")[0]) if home is not None else None
        return (home, module) if home and module is not None and module.native else None

    def compiled_behind(self, module: ModuleFiles, name: str) -> list[ModuleFiles]:
        """Return the compiled modules that a class may be in: its own, or what that imports it of.

        A stub may be beside a file that imports all names of a compiled module.
        """
        if module.native:
            return [module]
        if {each.role for each in module.layers} != {"source", "stub"}:
            return []
        sources = [facts for layer, facts in self.files.readable(module) if layer.role == "source"]
        names = {way.target for one in sources for way in one.names.get(name, ()) if way.imported}
        if not any(name in one.names for one in sources):
            names |= {each for one in sources for each in one.stars}
        found = (self.files.module(each) for each in sorted(names))
        return [each for each in found if each is not None and each.native and not each.layers]

    def in_class(
        self, view: DefinitionView, name: str, trail: _Trail | None = None
    ) -> list[NameView]:
        """Return what a name of a class means, its own or a base's."""
        lineage = self.lineage(view)
        if trail is not None and lineage.seen.reason == _IS_OWN_BASE:
            trail.depend(-1)
        for owner in lineage.classes:
            if found := owner.names.own_member(owner, name, trail):
                return found
        return _in_no_body(lineage, name) or _in_answering(lineage, name)

    def own_member(
        self, owner: DefinitionView, name: str, trail: _Trail | None = None
    ) -> list[NameView]:
        """Return what the body of a class binds to a name, an alias followed; nothing for none."""
        if not (ways := _body_names(owner).get(name)):
            return []
        found = member_view(owner, ways[0], is_ambiguous=len(ways) > 1)
        if ways[0].value and ways[0].kind == "attribute":
            views = self.in_scope(found, ways[0].value, trail)
            return [each for each in views if isinstance(each, DefinitionView)] or [found]
        return [found]

    def lineage(self, view: DefinitionView) -> Lineage:
        """Return a class and what it inherits from."""
        key = (view.layer, view.path)
        if key not in self._lineages:
            # A class that inherits from itself has no bases.
            self._lineages[key] = _unknown_lineage(_IS_OWN_BASE, view)
            self._lineages[key] = _trace(view)
        return self._lineages[key]


def member(view: NameView, name: str, trail: _Trail | None = None) -> list[NameView]:
    """Return what a name means inside of something."""
    if isinstance(view, ModuleView):
        return view.names.in_module(view.module, name, trail)
    if isinstance(view, External):
        return [External(f"{view.path}.{name}")]
    return view.names.in_class(view, name, trail) if view.definition.kind == "class" else []


def _as_function(view: DefinitionView, method: DefinitionView) -> Definition:
    """Return the function that a method is for one object, bound to another name."""
    alias, forward = view.definition, method.definition.forward
    targets = [each.partition(".")[0] for each, *_ in forward.targets] if forward else []
    # What is called must mean the same where the other name is bound.
    is_same = not targets or (method.module == view.module and not _RECEIVERS & set(targets))
    given, (first, *rest) = method.definition, method.definition.parameters or (None,)
    taken = None if first is None or first.kind.startswith("var_") else tuple(rest)
    receiver = first.name if first is not None and taken is not None else ""
    signature = re.sub(rf"\(\s*{receiver}\b(?:\s*,\s*(?:/\s*,\s*)?)?", "(", given.signature)
    return replace(
        given,
        name=alias.name,
        line=alias.line,
        end_line=alias.end_line,
        signature=re.sub(rf"\bdef {given.name}\(", f"def {alias.name}(", signature),
        # Where it is written, the class may have another name than here.
        copies="" if given.docstring else method.path,
        value="",
        parameters=taken,
        overloads=tuple(each[1:] for each in given.overloads) if taken is not None else (),
        forward=forward if is_same else None,
    )


def _are_external(views: list[NameView]) -> bool:
    return all(isinstance(each, External) for each in views)


def _members(views: list[NameView], path: Iterable[str], trail: _Trail | None) -> list[NameView]:
    """Return what a path means inside of something."""
    for name in path:
        views = [each for view in views for each in member(view, name, trail)]
    return views


def member_view(
    owner: DefinitionView, way: Definition, *, is_ambiguous: bool = False
) -> DefinitionView:
    """Return the view of a definition in the body of a class."""
    path, is_ambiguous = f"{owner.path}.{way.name}", is_ambiguous or owner.is_ambiguous
    return DefinitionView(owner.names, owner.module, owner.layer, path, way, is_ambiguous, owner)


def _unique_views(views: Iterable[NameView]) -> list[NameView]:
    """Return each view once; external ones only where there are no others."""
    found: dict[object, NameView] = {}
    for each in views:
        layer = each.layer.path if isinstance(each, DefinitionView) else None
        found.setdefault((type(each), each.path, layer), each)
    every = list(found.values())
    return [each for each in every if not isinstance(each, External)] or every


def keeps_type(view: DefinitionView, decorator: Decorator) -> bool:
    """Return whether a decorator of a definition returns what it is called with, or its like.

    That is in its annotations, or it wraps a function and passes all arguments on. A decorator that
    renames parameters is taken to accept more.
    """
    if not decorator.name or _RENAMING.search(decorator.name):
        return False
    found = view.find(decorator.name)
    if isinstance(found, DefinitionView) and found.definition.maker:
        # ``@interpolate`` where ``interpolate = Interpolator()``: its class says it.
        made = found.find(found.definition.maker)
        found = made.member("__call__") if isinstance(made, DefinitionView) else None
    called = decorator.called
    if isinstance(found, DefinitionView) and found.definition.kind == "class" and called:
        # ``@Appender("…")``: its instance is called with the function.
        found, called = found.member("__call__"), False
    if not isinstance(found, DefinitionView) or _has_others(found):
        return False
    if found.definition.kind != "function":
        return False
    if found.definition.keeps in ("both", "called" if called else "bare"):
        return True
    match kept_type(found.definition, called=called):
        case ast.Subscript():
            return True
        case ast.Name(id=name):
            # Of a class that is written out, the result may be another one.
            views = found.names.in_scope(found, name)
            texts = [e.definition.signature for e in views if isinstance(e, DefinitionView)]
            return bool(texts) and all("TypeVar(" in each for each in texts)
    return False


def _has_others(view: DefinitionView) -> bool:
    """Return whether something else may have the name of a definition of a module.

    An optional import does not count whose package is not here.
    """
    module = view.names.files.module(view.module) if view.is_ambiguous else None
    if module is None or view.owner is not None:
        return view.is_ambiguous
    return any(
        not isinstance(each, External) or each.path.partition(".")[0] in sys.stdlib_module_names
        for each in view.names.ways(module, view.definition.name)
        if not isinstance(each, DefinitionView) or each.definition != view.definition
    )


def _body_names(view: DefinitionView) -> Mapping[str, tuple[Definition, ...]]:
    return view.definition.body.names if view.definition.body is not None else {}


def _in_answering(lineage: Lineage, name: str) -> list[NameView]:
    """Return what a name means in the first module that has it of those that classes answer for."""
    modules = (each for owner in lineage.classes for each in answering_modules(owner))
    found = (each.names.in_module(each.module, name) for each in modules)
    return next(filter(None, found), [])


def _in_no_body(lineage: Lineage, name: str) -> list[NameView]:
    """Return a name that no class body binds: Python's, a metaclass's, one set by methods."""
    for each in lineage.standard:
        if name in dir(each) or (issubclass(each, enum.Enum) and name in ENUM_NAMES):
            return [External(f"{each.__module__}.{each.__qualname__}.{name}")]
    for owner in lineage.classes:
        if owner.definition.body is not None and name in owner.definition.body.mentioned:
            return [member_view(owner, Definition(name, "attribute", 0, 0, name))]
    if otherwise := _spelt_otherwise(lineage, name):
        return otherwise
    for owner in lineage.metaclasses:
        if ways := _body_names(owner).get(name):
            return [member_view(owner, ways[0], is_ambiguous=len(ways) > 1)]
    for owner in lineage.classes:
        if added := ADDED_NAMES.get(owner.path, {}).get(name):
            definition = Definition(name, "attribute", 0, 0, signature=f"{name}: {added}")
            return [member_view(owner, definition)]
    # Decorators, metaclasses and compilers add names of these forms. ``_Class__name`` is what a
    # private name of a class is called outside.
    is_mangled = name.startswith("_") and "__" in name[1:]
    if name.startswith("__") or is_mangled or name in NAMED_TUPLE_NAMES | CLASS_NAMES:
        return [External(f"builtins.type.{name}")]
    return []


def _spelt_otherwise(lineage: Lineage, name: str) -> list[NameView]:
    """Return what a class binds by another spelling, which it answers for: ``type_`` for ``type``.

    Metaclasses of enumerations look members up in any case.
    """
    spellings = []
    if lineage.metaclasses and any(issubclass(each, enum.Enum) for each in lineage.standard):
        spellings.append(name.upper())
    if any(each.path in FIELD_ANSWERS for each in lineage.classes):
        spellings.append(f"{name}_")
    ways = ((each, _body_names(each).get(one)) for each in lineage.classes for one in spellings)
    return next(([member_view(owner, found[0])] for owner, found in ways if found), [])


def _find_base(view: DefinitionView, base: str) -> NameView | None:
    """Return what a base of a class is; None for ``Any``, which declares that it has any name."""
    found = view.find(base)
    is_any = isinstance(found, DefinitionView | External) and found.path == "typing.Any"
    return None if is_any else found


def _trace(view: DefinitionView, wrapped: Lineage | None = None) -> Lineage:
    """Return the lineage of a class, by its header and the headers of its bases.

    Args:
        view: the class.
        wrapped: of the class whose instances it stands for, where another one below it says so.
    """
    body = view.definition.body
    if body is None:
        return _unknown_lineage(f"{view.path} is no class")
    doubts = _Doubts()
    doubts.read_class(view, body)
    told = view.find(body.wrapped) if body.wrapped else None
    if isinstance(told, DefinitionView) and told.definition.body is not None:
        wrapped = told.names.lineage(told)
    metaclasses = _trace_metaclass(view, body, doubts)
    orders: list[list[DefinitionView]] = []
    standard: list[type] = []
    has_slots = body.has_slots
    unread: list[str] = []
    for base in body.bases:
        found = _find_base(view, base) if base else None
        # A class of Python itself is known better than its stub.
        kind = standard_class(found.path) if isinstance(found, DefinitionView | External) else None
        if kind is not None:
            standard.append(kind)
            has_slots = has_slots and kind in SLOTTED
        elif isinstance(found, DefinitionView) and found.definition.body is not None:
            inherited = found.names.lineage(found) if not wrapped else _trace(found, wrapped)
            orders.append(list(inherited.classes))
            standard += inherited.standard
            unread += inherited.unread
            metaclasses += [each for each in inherited.metaclasses if each not in metaclasses]
            has_slots = has_slots and inherited.has_slots
            doubts.add(inherited.seen, inherited.call_doubt)
            doubts.on_instances = doubts.on_instances.and_also(inherited.on_instances)
            doubts.compiled |= dict.fromkeys(inherited.compiled)
        elif module := _compiled_home(view, base, found):
            reason = f"its base class {base} is compiled"
            doubts.compiled[Compiled(*module, reason, Openness.ANY)] = None
            doubts.add(Doubt(), reason)
        else:
            unread += [found.path] if isinstance(found, External) else []
            reason = f"its base class {base or '(an expression)'} is not known"
            doubts.add(_anything(reason), reason)
    proxied = _proxied(view, body.proxied) if body.proxied else None
    if answering_modules(view):
        proxied = Lineage((), (), Doubt(), "")
    if wrapped is not None and body.getattr_result != "no":
        proxied = wrapped
    if proxied is None and view.path not in MODELS:
        doubts.read_getattr(view, body, standard)
    if proxied is not None:
        orders.append(list(proxied.classes))
        standard += proxied.standard
        doubts.add(proxied.seen.and_also(proxied.on_instances))
        doubts.compiled |= dict.fromkeys(proxied.compiled)
    classes = (view, *_merged([*orders, [each[0] for each in orders if each]]))
    if any(each.path in MODELS for each in classes) and any(map(_allows_extra, classes)):
        doubts.add(Doubt(_EXTRA, Openness.ITEMS, by_calls=False, by_words=False, is_written=False))
    bases = tuple(dict.fromkeys([*standard, object]))
    return Lineage(
        classes,
        bases,
        doubts.seen,
        doubts.call_doubt,
        tuple(metaclasses),
        tuple(dict.fromkeys(unread)),
        tuple(doubts.compiled),
        doubts.on_instances,
        has_slots and not metaclasses,
    )


def answering_modules(view: DefinitionView) -> list[ModuleView]:
    """Return the modules whose names a class answers for; none where one is not known."""
    body = view.definition.body
    found = [view.find(each) for each in (body.answering if body is not None else ())]
    modules = [each for each in found if isinstance(each, ModuleView)]
    return modules if len(modules) == len(found) else []


def _allows_extra(view: DefinitionView) -> bool:
    return view.definition.body is not None and view.definition.body.allows_extra


def _proxied(view: DefinitionView, attribute: str) -> Lineage | None:
    """Return the class of the attribute to which a class hands on names that it lacks."""
    ways = _body_names(view).get(attribute, ())
    annotation, value = annotation_and_value(ways[0].signature) if len(ways) == 1 else (None, None)
    name = dotted(annotation) or (dotted(value.func) if isinstance(value, ast.Call) else "")
    found = view.find(name) if name else None
    kind = standard_class(found.path) if isinstance(found, DefinitionView | External) else None
    if kind is not None:
        # What makes instances of the class has to be its own.
        return Lineage((), (kind,), Doubt(), "") if "__init__" in _body_names(view) else None
    if not isinstance(found, DefinitionView) or found.definition.body is None:
        return None
    return found.names.lineage(found) if found.path != view.path else None


def _compiled_home(
    view: DefinitionView, base: str, found: NameView | None
) -> tuple[Names, ModuleFiles] | None:
    """Return the compiled module that a base class is in; None where it is in none."""
    if isinstance(found, External):
        return view.names.compiled_module(found.path)
    above = view.find(base.rpartition(".")[0]) if found is None and "." in base else None
    is_native = isinstance(above, ModuleView) and above.module.native
    return (above.names, above.module) if isinstance(above, ModuleView) and is_native else None


def _unknown_lineage(reason: str, *classes: DefinitionView) -> Lineage:
    return Lineage(classes, (), _anything(reason), reason)


def _anything(reason: str) -> Doubt:
    """Return the doubt of a class that may have any name, from anywhere."""
    return Doubt(reason, Openness.ANY, by_calls=False, by_words=False, is_written=False)


def _trace_metaclass(
    view: DefinitionView, body: ClassBody, doubts: _Doubts
) -> list[DefinitionView]:
    name = body.metaclass
    if not name or name.rpartition(".")[2] in PLAIN_METACLASSES:
        return []
    found = view.find(name)
    reason = f"its metaclass {name} may give it names"
    if not isinstance(found, DefinitionView) or found.definition.body is None:
        doubts.add(_anything(reason), reason)
        return []
    lineage = found.names.lineage(found)
    if found.path in MODELS or _adds_nothing(lineage):
        doubts.add(Doubt(), reason)
        return list(lineage.classes)
    openness = max(Openness.DATA, lineage.doubt().openness)
    by_words = lineage.doubt().by_words
    doubt = Doubt(reason, openness, by_calls=False, by_words=by_words, is_written=False)
    doubts.add(doubt, reason)
    return list(lineage.classes)


def _adds_nothing(metaclass: Lineage) -> bool:
    """Return whether a metaclass leaves its classes the names that are written in them."""
    is_closed = metaclass.doubt().openness is Openness.CLOSED
    is_plain = all(each in _PLAIN for each in metaclass.standard)
    return is_closed and is_plain and not any(map(_gives_names, metaclass.classes))


def _gives_names(metaclass: DefinitionView) -> bool:
    if metaclass.path in _KNOWN_METACLASSES:
        return False
    return metaclass.definition.body is None or metaclass.definition.body.gives_names


class _Doubts:
    """Why a class may have more names than are seen, and how open it is."""

    def __init__(self) -> None:
        self.seen = Doubt()
        self.on_instances = Doubt()
        self.call_doubt = ""
        self.compiled: dict[Compiled, None] = {}

    def add(self, seen: Doubt, call_doubt: str = "") -> None:
        self.seen = self.seen.and_also(seen)
        self.call_doubt = self.call_doubt or call_doubt

    def read_class(self, view: DefinitionView, body: ClassBody) -> None:
        """Add what body, decorators and file of a class say."""
        if body.open_reason and view.path not in CHECKED_NAMES:
            holds_data = view.path in DATA_HOLDERS or body.open_reason == SET_BY_KEY
            openness = Openness.DATA if holds_data else Openness.FEW
            is_made_up = body.open_reason == FILLED
            doubt = Doubt(
                body.open_reason,
                openness,
                by_calls=False,
                by_words=not is_made_up,
                is_written=body.open_reason == TESTED or view.path in WRITTEN_NAMES,
            )
            if body.open_reason in {SET_ON_SELF, SET_BY_KEY}:
                self.on_instances = self.on_instances.and_also(doubt)
            else:
                self.add(doubt)
        for each in view.definition.decorators:
            is_harmless = each.name.rpartition(".")[2] in HARMLESS_DECORATORS
            is_harmless = is_harmless or view.path in DATA_HOLDERS
            if not is_harmless and not keeps_type(view, each):
                reason = f"it is decorated with {each.name or 'an expression'}"
                self.add(Doubt(reason, Openness.FEW), reason)
        if body.has_called_base:
            reason = "a base class is made by a call"
            self.add(Doubt(reason, Openness.FEW), reason)
        module = view.names.files.module(view.module)
        if module is not None:
            for behind in view.names.compiled_behind(module, view.definition.name):
                self.compiled[Compiled(view.names, behind, _COMPILED, Openness.FEW)] = None

    def read_getattr(self, view: DefinitionView, body: ClassBody, standard: Sequence[type]) -> None:
        """Add what ``__getattr__`` of a class says, given its bases in the standard library."""
        result = body.getattr_result
        if result == "no" or view.path in FIELD_ANSWERS:
            return
        is_mapping = any(issubclass(each, Mapping | dict) for each in standard)
        has_items = result == "hidden" or (result == "items" and not is_mapping)
        has_items = has_items or view.path in DATA_ANSWERS
        openness = Openness.ITEMS if has_items else Openness.ANY
        self.add(
            Doubt(
                "it defines __getattr__", openness, by_calls=False, by_words=False, is_written=False
            )
        )


def _merged(orders: list[list[DefinitionView]]) -> Iterator[DefinitionView]:
    """Yield the classes of several orders of bases in Python's order (C3)."""
    orders = [list(each) for each in orders if each]
    while orders:
        tails = {(each.path, each.layer.role) for order in orders for each in order[1:]}
        firsts = (order[0] for order in orders if (order[0].path, order[0].layer.role) not in tails)
        # Python refuses a class without such an order; reading goes on with any.
        best = next(firsts, orders[0][0])
        yield best
        left = ([each for each in order if each.path != best.path] for order in orders)
        orders = [order for order in left if order]
