"""What a dotted Python path leads to: through imports, stars, aliases, stubs and base classes.

This room knows Python's rules of names. It does not know how an answer looks. Every file that
speaks of a name has a view of it, and all views are kept: a stub says what types are, the source
what is there.
"""

from __future__ import annotations

import builtins
import enum
from collections.abc import Callable, Iterator, Sequence

from docstow.languages.python.files import Layer, ModuleFiles, PythonFiles
from docstow.languages.python.names__packages_python_known import (
    CLASS_NAMES,
    ENUM_NAMES,
    GIVEN_NAMES,
    MADE_NAMES,
    MODULE_NAMES,
)
from docstow.languages.python.names__packages_python_lineage import Lineage, trace
from docstow.languages.python.names__packages_python_views import (
    ModuleView,
    Outside,
    Seen,
    Trail,
    View,
    doubted,
    nearest,
    unique,
    view_step,
)
from docstow.languages.python.source.facts import Definition, ModuleFacts

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
