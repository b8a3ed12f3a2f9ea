"""What a dotted Python path leads to: through imports, stars, aliases, stubs and base classes.

This room knows Python's rules of names. It does not know how an answer looks. Every file that
speaks of a name has a view of it, and all views are kept: a stub says what types are, the source
what is there.
"""

from __future__ import annotations

import abc
import ast
import builtins
import collections
import collections.abc
import contextlib
import enum
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType

from docstow.languages.python.files import Layer, ModuleFiles, PythonFiles
from docstow.languages.python.source.facts import ClassBody, Decorator, Definition, ModuleFacts
from docstow.languages.shared.surface import Openness
from docstow.text import python_ast as python_tree

# What is known of Python itself without reading it


#: Classes whose names are the same in every Python that is in use, near enough.
_KNOWN_MODULES: tuple[ModuleType, ...] = (
    builtins,
    abc,
    enum,
    typing,
    collections,
    collections.abc,
    contextlib,
)


MODULE_NAMES = frozenset(
    {
        *("__name__", "__doc__", "__file__", "__path__", "__package__", "__spec__", "__loader__"),
        *("__dict__", "__cached__", "__builtins__", "__annotations__", "__class__"),
    }
)


CLASS_NAMES = frozenset(dir(type))


#: Decorators of classes that give no name but such with double underscores.
HARMLESS = frozenset(
    {
        *("dataclass", "dataclass_transform", "define", "frozen", "mutable", "s", "attrs"),
        *("final", "runtime_checkable", "type_check_only", "disjoint_base", "deprecated"),
        *("total_ordering", "unique", "set_module"),
    }
)


#: Names that a metaclass gives to all classes it makes, or another package to a class, with their
#: types: protocols of packages that everybody uses, where the code that does it cannot be followed.
GIVEN_NAMES: Mapping[str, Mapping[str, str]] = {
    "django.db.models.base.Model": {
        "objects": "django.db.models.manager.Manager",
        "DoesNotExist": "type[django.core.exceptions.ObjectDoesNotExist]",
        "MultipleObjectsReturned": "type[django.core.exceptions.MultipleObjectsReturned]",
        "_meta": "django.db.models.options.Options",
        "id": "typing.Any",
        "pk": "typing.Any",
    },
    # ``tqdm.pandas()``
    "pandas.core.base.PandasObject": {
        "progress_apply": "typing.Any",
        "progress_applymap": "typing.Any",
        "progress_map": "typing.Any",
        "progress_aggregate": "typing.Any",
        "progress_transform": "typing.Any",
    },
}


#: Classes that set attributes by name, but only such as hold values: columns, results that are
#: kept, parts of a copy. Their methods are all written.
HOLD_DATA = frozenset(
    {
        "pandas.core.generic.NDFrame",
        "sqlalchemy.util.langhelpers.HasMemoized",
        "sqlalchemy.sql.traversals.HasCopyInternals",
        "sqlalchemy.sql.base.HasSyntaxExtensions",
        "redis.client.Redis",
        "redis.asyncio.client.Redis",
        "celery.app.task.Task",
        "matplotlib.artist.Artist",
        "matplotlib.figure.FigureBase",
    }
)


MADE_NAMES = frozenset({"_asdict", "_fields", "_make", "_replace", "_field_defaults"})


METACLASSES = frozenset({"type", "ABCMeta", "EnumMeta", "EnumType"})


def known_class(path: str) -> type | None:
    """A class of the standard library whose names are known."""
    module, _, name = path.rpartition(".")
    for each in _KNOWN_MODULES:
        if each.__name__ == module or (module == "typing_extensions" and each is typing):
            found = getattr(each, name, None)
            if isinstance(found, type):
                return found
            origin = typing.get_origin(found)
            return origin if isinstance(origin, type) else _SPECIAL.get(name)
    return None


#: Names of ``typing`` that are no classes but stand for ones, or for none.
_SPECIAL: dict[str, type] = {
    "Protocol": object,
    "Generic": object,
    "NamedTuple": tuple,
    "TypedDict": dict,
}


ENUM_NAMES = frozenset({"name", "value", "_name_", "_value_", "_missing_", "_ignore_", "_order_"})


# What a name of a Python package may lead to


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
class View:
    """One file's definition of something.

    Attributes:
        names: of the package that has it.
        module: dotted.
        layer: the file.
        path: canonical: where it is defined.
        definition: what is written there.
        several: other branches define it otherwise.
        owner: the class in which it is defined.
    """

    names: Names
    module: str
    layer: Layer
    path: str
    definition: Definition
    several: bool = False
    owner: View | None = None


@dataclass(frozen=True, slots=True)
class Outside:
    """Something of a package that is not here, or of the standard library."""

    path: str


Seen = ModuleView | View | Outside


Trail = tuple[tuple[int, str, str], ...]


def view_step(view: Seen, name: str, trail: Trail = ()) -> list[Seen]:
    """What a name means inside of something."""
    if isinstance(view, ModuleView):
        return view.names.in_module(view.module, name, trail)
    if isinstance(view, Outside):
        return [Outside(f"{view.path}.{name}")]
    if view.definition.kind == "class":
        return view.names.in_class(view, name, trail)
    return []


def nearest(found: list[Seen], view: View) -> Seen | None:
    """Of several views of a base class the one that is as close to the class as can be."""
    views = [each for each in found if isinstance(each, View)]
    same = [
        each for each in views if (each.layer.role == "source") == (view.layer.role == "source")
    ]
    return next(iter(same or views or found), None)


def doubted(view: Seen) -> Seen:
    """The same, with a note that other branches bind it otherwise."""
    if not isinstance(view, View) or view.several:
        return view
    return replace(view, several=True)


def unique(views: Iterable[Seen]) -> list[Seen]:
    """Each view once; what is not here only where nothing else is."""
    found: list[Seen] = []
    marks = set()
    for each in views:
        layer = each.layer.path if isinstance(each, View) else None
        mark = (type(each), each.path, layer)
        if mark not in marks:
            marks.add(mark)
            found.append(each)
    inside: list[Seen] = [each for each in found if not isinstance(each, Outside)]
    return inside or found


# Which decorators leave what they decorate as it is.


#: What takes arguments under other names too.
_RENAMES = re.compile(r"renam|alias|kwarg|transition", re.IGNORECASE)


def keeps(view: View, decorator: Decorator) -> bool:
    """Whether a decorator's own annotations say that it gives back the same type.

    ``def mark(f: F) -> F``, ``def doc(text: str) -> Callable[[F], F]``, and the same of
    ``Callable[P, T]``; or its body, which passes all arguments on. What renames parameters is
    taken to accept more.
    """
    if not decorator.name or _RENAMES.search(decorator.name):
        return False
    found = nearest(view.names.in_scope(view, decorator.name), view)
    if not isinstance(found, View) or found.definition.kind != "function" or found.several:
        return False
    if found.definition.keeps == ("called" if decorator.called else "bare"):
        return True
    head = _head(found.definition.signature)
    if head is None or head.returns is None or found.definition.decorators:
        return False
    returns = _plain(head.returns)
    if decorator.called:
        match returns:
            case ast.Subscript(slice=ast.Tuple(elts=[ast.List(elts=[taken]), given])):
                return _is_same(taken, given, found)
        return False
    first = next(iter([*head.args.posonlyargs, *head.args.args]), None)
    if first is None or first.annotation is None:
        return False
    return _is_same(first.annotation, returns, found)


def _is_same(taken: ast.expr, given: ast.expr, found: View) -> bool:
    taken, given = _plain(taken), _plain(given)
    if ast.unparse(taken) != ast.unparse(given):
        return False
    if isinstance(taken, ast.Subscript):
        return True
    return isinstance(taken, ast.Name) and _is_variable(taken.id, found)


def _is_variable(name: str, found: View) -> bool:
    """Whether a name stands for any type: of one that is written out less is known."""
    views = found.names.in_scope(found, name)
    texts = [each.definition.signature for each in views if isinstance(each, View)]
    return bool(texts) and all("TypeVar(" in each for each in texts)


def _plain(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return python_tree.expression(node.value)
        except (SyntaxError, ValueError):
            return node
    return node


def _head(signature: str) -> ast.FunctionDef | None:
    if "\n@" in signature or signature.count("def ") != 1:
        return None
    try:
        statement = python_tree.module(f"{signature}: ...").body[0]
    except (SyntaxError, ValueError, IndexError):
        return None
    return statement if isinstance(statement, ast.FunctionDef) else None


# A Python class and all that it inherits from, and what in that leaves its names open.


@dataclass(frozen=True, slots=True)
class Lineage:
    """A class and its bases, nearest first.

    Attributes:
        classes: those whose source is known.
        known: those of the standard library that are known.
        unknown: why there may be more names; empty where there are no others.
        open: what else it may have.
        metas: the classes of its metaclass, whose names the class itself has too.
        blurred: why it cannot be said how it is called: a base, metaclass or decorator is unknown.
    """

    classes: tuple[View, ...]
    known: tuple[type, ...]
    unknown: str
    blurred: str
    open: Openness = Openness.ANY
    metas: tuple[View, ...] = ()


def trace(view: View) -> Lineage:
    """The lineage of a class, as its header and the headers of its bases tell it."""
    body = view.definition.body
    if body is None:
        return Lineage((), (), (why := f"{view.path} is no class"), why)
    orders: list[list[View]] = []
    known: list[type] = []
    doubts = _Doubts(view, body)
    metas = doubts.header()
    for base in body.bases:
        found = nearest(view.names.in_scope(view, base), view) if base else None
        # What is known of a class of Python itself says more than a stub.
        kind = known_class(found.path) if isinstance(found, View | Outside) else None
        if kind is not None:
            known += [kind] if kind not in known else []
        elif isinstance(found, View) and found.definition.body is not None:
            inherited = found.names.lineage(found)
            orders.append(list(inherited.classes))
            known += [each for each in inherited.known if each not in known]
            metas += [each for each in inherited.metas if each not in metas]
            doubts.add(inherited.open, inherited.unknown, inherited.blurred)
        else:
            reason = f"its base class {base or '(an expression)'} is not known"
            doubts.add(Openness.ANY, reason, reason)
    doubts.asked(known)
    classes = (view, *_merged([*orders, [each[0] for each in orders if each]]))
    bases = tuple(dict.fromkeys([*known, object]))
    return Lineage(classes, bases, doubts.unknown, doubts.blurred, doubts.open, tuple(metas))


class _Doubts:
    """Why a class may have more names than are seen, while its lineage is traced.

    Args:
        view: the class.
        body: its body.
    """

    def __init__(self, view: View, body: ClassBody) -> None:
        self._view = view
        self._body = body
        self.open = Openness.CLOSED
        self.unknown = ""
        self.blurred = ""

    def add(self, degree: Openness, unknown: str, blurred: str = "") -> None:
        """One more reason."""
        self.open = max(self.open, degree)
        self.unknown = self.unknown or unknown
        self.blurred = self.blurred or blurred

    def header(self) -> list[View]:
        """Look at decorators, metaclass and file; the classes of the metaclass."""
        view, body = self._view, self._body
        if body.opened:
            held = view.path in HOLD_DATA
            self.add(Openness.DATA if held else Openness.FEW, body.opened)
        for each in view.definition.decorators:
            if each.name.rpartition(".")[2] not in HARMLESS and not keeps(view, each):
                reason = f"it is decorated with {each.name or 'an expression'}"
                self.add(Openness.FEW, reason, reason)
        if body.made:
            reason = "a base class is made by a call"
            self.add(Openness.FEW, reason, reason)
        module = view.names.files.module(view.module)
        if module is not None and module.native:
            self.add(Openness.FEW, "it is compiled, and stubs leave out what they do not tell")
        return self._metaclass()

    def _metaclass(self) -> list[View]:
        view, name = self._view, self._body.metaclass
        if not name or name.rpartition(".")[2] in METACLASSES:
            return []
        found = nearest(view.names.in_scope(view, name), view)
        reason = f"its metaclass {name} may give it names"
        if not isinstance(found, View) or found.definition.body is None:
            self.add(Openness.ANY, reason, reason)
            return []
        above = found.names.lineage(found)
        self.add(max(Openness.DATA, above.open), reason, reason)
        return list(above.classes)

    def asked(self, known: Sequence[type]) -> None:
        """Look at what the class does with names that it has not."""
        form = self._body.asked
        if form == "no":
            return
        held = form == "hidden" or not any(issubclass(each, Mapping | dict) for each in known)
        data = form in {"hidden", "items"} and held
        self.add(Openness.ITEMS if data else Openness.ANY, "it defines __getattr__")


def _merged(orders: list[list[View]]) -> Iterator[View]:
    """Python's order of bases: each class before its own bases, as C3 has it."""
    orders = [list(each) for each in orders if each]
    while orders:
        tails = {(each.path, each.layer.role) for order in orders for each in order[1:]}
        heads = (order[0] for order in orders if (order[0].path, order[0].layer.role) not in tails)
        # Where there is no order, Python has no class; reading goes on with any.
        best = next(heads, orders[0][0])
        yield best
        left = ([each for each in order if each.path != best.path] for order in orders)
        orders = [order for order in left if order]


_DEEPEST = 40


_ITSELF = "it inherits from itself"


class Names:
    """The names of one folder of import names.

    Args:
        files: its modules.
        others: the names of another package, by its first import name.
    """

    def __init__(self, files: PythonFiles, others: Callable[[str], Names | None]) -> None:
        self.files = files
        self._others = others
        self._known_answers: dict[str, frozenset[str] | None] = {}
        self._known_stars: dict[str, Sequence[Seen]] = {}
        self._lineages: dict[tuple[Layer, str], Lineage] = {}

    def resolve(self, path: str, trail: Trail = ()) -> list[Seen]:
        """What a path means in each file that speaks of it; empty where none does."""
        first, *rest = path.split(".")
        home = self if self.files.module(first) else self._others(first)
        module = home.files.module(first) if home else None
        if home is None or module is None:
            return [Outside(path)]
        views: list[Seen] = [ModuleView(home, module)]
        for position, segment in enumerate(rest, 1):
            outside = [each for each in views if isinstance(each, Outside)]
            views = unique(step for view in views for step in view_step(view, segment, trail))
            if not views and outside:
                return [Outside(".".join([outside[0].path, *rest[position - 1 :]]))]
        return views or home._in_hidden_module([first, *rest], trail)  # noqa: SLF001

    def _in_hidden_module(self, parts: list[str], trail: Trail) -> list[Seen]:
        """What a path means whose module has given its name to something in it."""
        for end in range(len(parts) - 1, 1, -1):
            module = self.files.module(".".join(parts[:end]))
            if module is not None and module.layers:
                views: list[Seen] = [ModuleView(self, module)]
                for segment in parts[end:]:
                    views = [step for each in views for step in view_step(each, segment, trail)]
                return unique(views)
        return []

    def in_module(self, module: ModuleFiles, name: str, trail: Trail = ()) -> list[Seen]:
        """What a name of a module means."""
        key = (id(self), module.name, name)
        if key in trail:
            # What is asked for while it is being bound is the module of that name.
            own = self.files.module(f"{module.name}.{name}") if module.folder is not None else None
            return [ModuleView(self, own)] if own else []
        if len(trail) > _DEEPEST:
            return []
        trail = (*trail, key)
        views: list[Seen] = []
        # What the source says comes first: stubs may name another definition of the same.
        for layer in reversed(module.layers):
            facts = self.files.facts(module.name, layer)
            if facts is not None:
                views += self._bound(module, layer, facts, name, trail)
        shadows = self._is_own_module(views, module, name)
        if shadows or (not views and module.folder is not None):
            inner = self.files.module(f"{module.name}.{name}")
            views = [ModuleView(self, inner), *views] if inner else views
        if not views:
            for star in self.stars(module):
                if isinstance(star, ModuleView) and star.names.exported(star.module, name):
                    views += star.names.in_module(star.module, name, trail)
        if not views and module.layers and self._is_made(module, name, trail):
            made = Definition(name, "attribute", 0, 0, signature=name)
            views = [View(self, module.name, module.layers[-1], f"{module.name}.{name}", made)]
        return unique(views)

    def answered(self, module: ModuleFiles, trail: Trail = ()) -> frozenset[str] | None:
        """The names that a module has others answer for; None where that cannot be read."""
        if module.name not in self._known_answers:
            self._known_answers[module.name] = None
            self._known_answers[module.name] = self._read_answers(module, trail)
        return self._known_answers[module.name]

    def _read_answers(self, module: ModuleFiles, trail: Trail) -> frozenset[str] | None:
        names: set[str] = set()
        for layer in module.layers:
            facts = self.files.facts(module.name, layer)
            names |= facts.answers if facts else frozenset()
            for maker in facts.delegates if facts else ():
                views = self.in_module(module, maker, trail)
                source = next((each for each in views if isinstance(each, View)), None)
                there = source.names.files.facts(source.module, source.layer) if source else None
                known = there.makers.get(source.definition.name) if there and source else None
                if known is None:
                    return None
                names |= known
        return frozenset(names)

    def _is_made(self, module: ModuleFiles, name: str, trail: Trail) -> bool:
        """Whether a module has a name that no statement of it binds."""
        if name in MODULE_NAMES:
            return True
        answered = self.answered(module, trail) or ()
        return name in answered or f"{module.name}:{name}" in answered

    def _is_own_module(self, views: list[Seen], module: ModuleFiles, name: str) -> bool:
        """Whether all that is known is that it is imported from outside, as itself."""
        return bool(views) and all(
            isinstance(each, Outside) and each.path == f"{module.name}.{name}" for each in views
        )

    def _bound(
        self, module: ModuleFiles, layer: Layer, facts: ModuleFacts, name: str, trail: Trail
    ) -> list[Seen]:
        """What one file binds to a name, followed to where it is defined."""
        ways = facts.names.get(name, ())
        several = len(ways) > 1
        views: list[Seen] = []
        for way in ways:
            here = View(self, module.name, layer, f"{module.name}.{name}", way, several)
            if way.kind == "import":
                found = self._imported(way, trail)
            elif way.value:
                found = self._alias(here, way.value, trail) or [here]
                if all(isinstance(each, Outside) for each in found):
                    found = [here]
            else:
                found = [here]
            if several:
                found = [doubted(each) for each in found]
            if found and not all(isinstance(each, Outside) for each in found):
                return found
            views = views or found
        if ways and not views:
            # It is bound, to something that cannot be followed.
            target = ".".join(filter(None, (ways[0].target, ways[0].imported)))
            return [Outside(target or f"{module.name}.{name}")]
        return views

    def _imported(self, way: Definition, trail: Trail) -> list[Seen]:
        if not way.imported:
            return self.resolve(way.target, trail)
        found: list[Seen] = []
        for each in self.resolve(way.target, trail):
            found += view_step(each, way.imported, trail)
        # An import asks for the module, though its package may use the name for something in it.
        parts = [*way.target.split("."), way.imported]
        home = self if self.files.module(parts[0]) else self._others(parts[0])
        return found or (home._in_hidden_module(parts, trail) if home else [])  # noqa: SLF001

    def _alias(self, here: View, value: str, trail: Trail) -> list[Seen]:
        views = self.in_scope(here, value, trail)
        return [each for each in views if not (isinstance(each, View) and each.path == here.path)]

    def in_scope(self, view: View, dotted: str, trail: Trail = ()) -> list[Seen]:
        """What a dotted name means where a definition is written."""
        first, *rest = dotted.split(".")
        module = self.files.module(view.module)
        if module is None:
            return []
        views: list[Seen] = []
        if view.owner is not None and view.owner.definition.body is not None:
            ways = view.owner.definition.body.names.get(first, ())
            views = [self._member(view.owner, way) for way in ways[:1]]
        views = views or self.in_module(module, first, trail)
        if not views and hasattr(builtins, first):
            views = [Outside(f"builtins.{first}")]
        for segment in rest:
            views = [step for each in views for step in view_step(each, segment, trail)]
        return views

    def stars(self, module: ModuleFiles) -> Sequence[Seen]:
        """What the module imports all names of."""
        if module.name not in self._known_stars:
            # Where there is no such module, its name may come from the very same imports.
            self._known_stars[module.name] = []
            self._known_stars[module.name] = [*self._read_stars(module)]
        return self._known_stars[module.name]

    def _read_stars(self, module: ModuleFiles) -> Iterator[Seen]:
        for layer in module.layers:
            facts = self.files.facts(module.name, layer)
            for star in facts.stars if facts else ():
                if star != module.name:
                    yield from self.resolve(star) or [Outside(star)]

    def exported(self, module: ModuleFiles, name: str) -> bool:
        """Whether ``import *`` of a module brings a name, if the module has it."""
        exports = self.exports(module)
        return name in exports if exports is not None else not name.startswith("_")

    def exports(self, module: ModuleFiles) -> frozenset[str] | None:
        """``__all__`` of all its files; None where one has none that can be read."""
        names: set[str] = set()
        for layer in module.layers:
            facts = self.files.facts(module.name, layer)
            if facts is None or facts.exports is None:
                return None
            names.update(facts.exports)
        return frozenset(names) if module.layers else None

    def in_class(self, view: View, name: str, trail: Trail = ()) -> list[Seen]:
        """What a name of a class means, its own or a base's."""
        lineage = self.lineage(view)
        for owner in lineage.classes:
            body = owner.definition.body
            if body is None:
                continue
            if ways := body.names.get(name):
                found = owner.names._member(owner, ways[0], several=len(ways) > 1)  # noqa: SLF001
                if ways[0].value and ways[0].kind == "attribute":
                    other = owner.names.in_scope(found, ways[0].value, trail)
                    other = [each for each in other if isinstance(each, View)]
                    return [found] if not other or other == [found] else list(other)
                return [found]
        return self._in_no_body(lineage, name)

    def _in_no_body(self, lineage: Lineage, name: str) -> list[Seen]:
        """A name that no class body binds: Python's, a metaclass's, one that methods speak of."""
        for known in lineage.known:
            if name in dir(known) or (issubclass(known, enum.Enum) and name in ENUM_NAMES):
                return [Outside(f"{known.__module__}.{known.__qualname__}.{name}")]
        for owner in lineage.classes:
            if owner.definition.body is not None and name in owner.definition.body.mentioned:
                return [owner.names._member(owner, Definition(name, "attribute", 0, 0, name))]  # noqa: SLF001
        for owner in lineage.metas:
            if owner.definition.body is not None and (
                ways := owner.definition.body.names.get(name)
            ):
                return [owner.names._member(owner, ways[0], several=len(ways) > 1)]  # noqa: SLF001
        for owner in lineage.classes:
            if given := GIVEN_NAMES.get(owner.path, {}).get(name):
                made = Definition(name, "attribute", 0, 0, signature=f"{name}: {given}")
                return [owner.names._member(owner, made)]  # noqa: SLF001
        # Decorators, metaclasses and compilers give names of these forms to what they make.
        by_form = name.startswith("__") or name in MADE_NAMES or _is_mangled(name)
        return [Outside(f"builtins.type.{name}")] if by_form or name in CLASS_NAMES else []

    def _member(self, owner: View, way: Definition, *, several: bool = False) -> View:
        path = f"{owner.path}.{way.name}"
        return View(
            self, owner.module, owner.layer, path, way, several or owner.several, owner=owner
        )

    def lineage(self, view: View) -> Lineage:
        """A class and what it inherits from."""
        key = (view.layer, view.path)
        if key not in self._lineages:
            # Until it is known, a class that inherits from itself has no bases.
            self._lineages[key] = Lineage((view,), (), _ITSELF, _ITSELF)
            self._lineages[key] = trace(view)
        return self._lineages[key]

    def why_uncertain(self, module: ModuleFiles, trail: frozenset[str] = frozenset()) -> str:
        """Why a module may have names that are not seen; empty where it has none."""
        if module.name in trail:
            return ""
        if not module.layers:
            return "it is compiled, without stubs" if module.native else "it is a namespace"
        if module.native:
            return "it is compiled, and stubs leave out what they do not tell"
        for layer in module.layers:
            facts = self.files.facts(module.name, layer)
            if facts is None:
                return f"{layer.path.name} cannot be read"
            if facts.opened:
                return facts.opened
            if any(
                self._is_marked_by_class(module, layer, ways[0]) for ways in facts.names.values()
            ):
                return "a method of a class decorates its classes, and may give names to it"
        if self.answered(module) is None:
            return "it defines __getattr__"
        for star in self.stars(module):
            if not isinstance(star, ModuleView):
                return f"it imports all names of {star.path}"
            inner = star.names.why_uncertain(star.module, trail | {module.name})
            if inner:
                return f"it imports all names of {star.path}: {inner}"
        return ""

    def _is_marked_by_class(self, module: ModuleFiles, layer: Layer, way: Definition) -> bool:
        """Whether a method of a class decorates a class: ``@Backend.export``."""
        here = View(self, module.name, layer, f"{module.name}.{way.name}", way)
        marks = [each.name for each in way.decorators if way.kind == "class" and "." in each.name]
        found = [nearest(self.in_scope(here, each), here) for each in marks]
        return any(isinstance(each, View) and each.owner is not None for each in found)


def _is_mangled(name: str) -> bool:
    """``_Class__name``: what a private name of a class is called outside."""
    return name.startswith("_") and "__" in name[1:]
