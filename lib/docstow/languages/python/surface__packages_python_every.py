"""All names of a Python module or class that can be written from outside, and those that are meant.

This room knows where names come from: files, stars, bases, metaclasses. It does not follow a name
to what it means.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from docstow.languages.python.files import Layer, ModuleFiles
from docstow.languages.python.names import Names
from docstow.languages.python.names__packages_python_known import CLASS_NAMES, ENUM_NAMES
from docstow.languages.python.names__packages_python_views import ModuleView, View
from docstow.languages.python.source.facts import Definition, ModuleFacts


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
