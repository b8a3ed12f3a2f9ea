"""Where the further keywords of a Python function go: what it passes ``**kwargs`` on to.

This room knows how the names of a call in a body are found. It does not know what a call takes.
"""

from __future__ import annotations

import re
from dataclasses import replace

from docstow.languages.python.names__packages_python_views import View, nearest, view_step

_RETURNS = re.compile(r"->\s*['\"]?(?:\w+\.)*(\w+)")


def target(view: View, within: View | None) -> tuple[View, View | None] | None:
    """What gets the keywords, and the class it is asked of; None where that is not certain.

    Args:
        view: a function.
        within: the class whose method or constructor is called, which may inherit the function.
    """
    given = view.definition.forwards
    if given is None:
        return None
    first, _, name = given.target.partition(".")
    if first == "super()":
        return _above(view, name, within)
    if view.owner is not None and first in {"self", "cls"}:
        if within is None or "." in name or (not name and first == "self"):
            return None
        return _method(within, name) if name else (within, None)
    outer = replace(view, owner=None)
    if given.maker:
        maker = nearest(view.names.in_scope(outer, given.maker), view)
        same = isinstance(maker, View) and maker.definition.kind == "class" and _enters(maker)
        return _method(maker, name) if isinstance(maker, View) and same else None
    found = nearest(view.names.in_scope(outer, given.target), view)
    return (found, None) if isinstance(found, View) and found.path != view.path else None


def _method(owner: View, name: str) -> tuple[View, View | None] | None:
    lineage = owner.names.lineage(owner)
    found = nearest(view_step(owner, name), owner)
    certain = isinstance(found, View) and not lineage.blurred
    return (found, owner) if isinstance(found, View) and certain else None


def _above(view: View, name: str, within: View | None) -> tuple[View, View | None] | None:
    """What ``super()`` has, by the order of the bases of the class that is really asked."""
    if within is None or view.owner is None:
        return None
    lineage = within.names.lineage(within)
    places = [each.path for each in lineage.classes]
    if lineage.blurred or view.owner.path not in places:
        return None
    for owner in lineage.classes[places.index(view.owner.path) + 1 :]:
        body = owner.definition.body
        if body is None:
            return None
        if ways := body.names.get(name):
            path = f"{owner.path}.{name}"
            several = len(ways) > 1 or owner.several
            found = View(owner.names, owner.module, owner.layer, path, ways[0], several, owner)
            return found, within
    return None


def _enters(maker: View) -> bool:
    """Whether ``with`` gives the very object, as far as its class tells otherwise."""
    found = nearest(view_step(maker, "__enter__"), maker)
    if not isinstance(found, View):
        return True
    given = _RETURNS.search(found.definition.signature)
    return given is None or given[1] in {"Self", maker.definition.name}
