"""Where a name of a type leads from the place where it is written.

This room knows nearness: the file, the module that a block adds to, what is global and spread over
files. It works nothing out.
"""

from __future__ import annotations

from itertools import pairwise

from docstow.languages.typescript.globals import Globals
from docstow.languages.typescript.names import NodeNames
from docstow.languages.typescript.names__packages_node_things import Space, Thing
from docstow.languages.typescript.source.types__readers_typescript_terms import Body, Ref


class NodeScopes:
    """Finds what is meant.

    Args:
        names: how names are looked up in files.
        globals_: what is global.
    """

    def __init__(self, names: NodeNames, globals_: Globals) -> None:
        self.names = names
        self.globals = globals_

    def meant(self, ref: Ref, space: Space) -> tuple[Thing | None, tuple[str, ...]]:
        """What the first of a reference's names means, and the names behind it."""
        if ref.module:
            module = self.names.module(ref.module, space.unit)
            return (Thing(spaces=(module,)) if module is not None else None), ref.path
        first, *rest = ref.path
        thing = self._local(space, first)
        if rest and thing is not None and not _is_space(thing):
            thing = self._global_space(space, first) or thing
        elif thing is None or is_spread(thing):
            thing = self.globals.thing(first) or thing
        return thing, tuple(rest)

    def qualified(self, thing: Thing, name: str) -> Thing | None:
        """A name behind that of a namespace."""
        found: Thing | None = None
        spaces = [space.inner(each.scope) for space, each in thing.declared if each.scope]
        for space in (*spaces, *thing.spaces):
            more = self.names.export(space, name)
            if more is not None:
                found = found.merged(more) if found is not None else more
        return found

    def names_all(self, body: Body, space: Space) -> bool:
        """Whether all constants that name members are symbols, which name none."""
        for name in body.keyed:
            thing = self._local(space, name)
            told = [
                each.unit.source.body[declaration.span.start : declaration.span.end]
                for each, declaration in (thing.declared if thing is not None else ())
            ]
            if not told or not all(b"unique symbol" in each for each in told):
                return False
        return True

    def _local(self, space: Space, name: str) -> Thing | None:
        """What a name means where it is written; of a block that adds to a module, all of it."""
        found = self.names.local(space, name)
        source = space.unit.source
        if found is None and any(each is source.ambient_globals for each in space.scopes):
            # A global block stands within one of the file's modules.
            inside = (Space(space.unit, (source.scope, each)) for each in source.ambient.values())
            found = next(filter(None, (self.names.local(each, name) for each in inside)), None)
            found = found or self._elsewhere(space, name)
        if found is not None and space.host is not None:
            hosts = any(each.host is not None for each, _ in found.declared)
            found = found.merged(self.names.local(space.host, name)) if hosts else found
        return found

    def _elsewhere(self, space: Space, name: str) -> Thing | None:
        """A name of a global namespace that another file has a part of."""
        for outer, inner in pairwise(space.scopes):
            for known, declarations in outer.names.items():
                if any(each.scope is inner for each in declarations):
                    whole = self.globals.thing(known)
                    found = self.qualified(whole, name) if whole is not None else None
                    if found is not None:
                        return found
        return None

    def _global_space(self, space: Space, name: str) -> Thing | None:
        """A namespace that is global, where a type of its name is nearer."""
        source = space.unit.source
        found = self.globals.thing(name)
        inside = Space(space.unit, (source.scope, source.ambient_globals))
        own = tuple((inside, each) for each in source.ambient_globals.names.get(name, ()))
        return Thing(own).merged(found) if own else found


def is_spread(thing: Thing) -> bool:
    """Whether other files may have further parts of it."""
    return bool(thing.declared) and all(is_global(space) for space, _ in thing.declared)


def is_global(space: Space) -> bool:
    """Whether a declaration is global, so that any other file may add to it."""
    source = space.unit.source
    if any(each is source.ambient_globals for each in space.scopes):
        return True
    modules = source.ambient.values()
    return not source.module and not any(
        each is scope for each in space.scopes for scope in modules
    )


def _is_space(thing: Thing) -> bool:
    """Whether further names can follow its own."""
    inner = (each.scope is not None or each.kind in ("enum", "class") for _, each in thing.declared)
    return bool(thing.spaces) or thing.unknown or any(inner)
