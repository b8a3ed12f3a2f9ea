"""Names of a module or class: all that can be written from outside, and the public ones."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from docstow.languages.python.builtin_names import CLASS_NAMES, ENUM_NAMES
from docstow.languages.python.files import Layer, ModuleFiles
from docstow.languages.python.names import DefinitionView, ModuleView, Names
from docstow.languages.python.source.facts import Definition, ModuleFacts


@dataclass(frozen=True, slots=True)
class AllNames:
    """All names of a module that do not begin with an underscore.

    Attributes:
        names: those of stars included.
        stars: the modules of which it imports all names.
        is_open: whether its ``__getattr__`` may answer for others.
    """

    names: tuple[str, ...]
    stars: tuple[str, ...]
    is_open: bool


def all_module_names(
    names: Names, module: ModuleFiles, trail: frozenset[str] = frozenset()
) -> AllNames:
    """Return all names of a module."""
    if module.name in trail:
        return AllNames((), (), is_open=False)
    found: dict[str, None] = dict.fromkeys(names.files.children(module.name))
    through: dict[str, None] = {}
    for layer in module.layers:
        facts = names.files.facts(module.name, layer)
        found |= dict.fromkeys(facts.names if facts is not None else ())
    answered = names.getattr_names(module)
    is_open = "__getattr__" in found and answered is None
    for each in answered or ():
        owner, _, name = each.rpartition(":")
        found |= {name: None} if owner in ("", module.name) else {}
    for star in names.stars(module):
        through[star.path] = None
        if isinstance(star, ModuleView):
            inner = all_module_names(star.names, star.module, trail | {module.name})
            is_open = is_open or inner.is_open
            through |= dict.fromkeys(inner.stars)
            exported = (each for each in inner.names if star.names.exported(star.module, each))
            found |= dict.fromkeys(exported)
    return AllNames(tuple(each for each in found if each[:1] != "_"), tuple(through), is_open)


def all_class_names(view: DefinitionView) -> list[str]:
    """Return all names of a class, with ``__new__`` if it or a base defines that."""
    lineage = view.names.lineage(view)
    found: dict[str, None] = {}
    for owner in lineage.classes:
        if (body := owner.definition.body) is not None:
            found |= dict.fromkeys((*body.names, *sorted(body.mentioned)))
    bases = [each for each in lineage.standard if each is not object]
    has_new = "__new__" in found or any("__new__" in vars(each) for each in bases)
    for standard in bases:
        found |= dict.fromkeys(dir(standard))
        found |= dict.fromkeys(sorted(ENUM_NAMES) if issubclass(standard, enum.Enum) else ())
    found |= dict.fromkeys(sorted(CLASS_NAMES))
    plain = [each for each in found if each[:1] != "_"]
    return [*plain, "__new__"] if has_new else plain


def public_module_names(names: Names, module: ModuleFiles) -> list[str]:
    """Return the public names of a module: ``__all__``, or what it defines itself."""
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
            # Names of other packages are not its own; a module that imports itself ends here.
            if isinstance(star, ModuleView) and star.path.startswith(f"{module.name}."):
                found |= dict.fromkeys(public_module_names(star.names, star.module))
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


def public_class_names(view: DefinitionView) -> list[str]:
    """Return the public names of a class, its own first."""
    names: dict[str, None] = {}
    for owner in view.names.lineage(view).classes:
        body = owner.definition.body
        names |= dict.fromkeys(each for each in (body.names if body else ()) if each[0] != "_")
    return list(names)
