"""Names of types, resolved from the place where they are written."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from docstow.languages.typescript.globals import Globals
from docstow.languages.typescript.names import Entity, NameResolver, Namespace
from docstow.languages.typescript.source.types import TypeReference


class TypeNameResolver:
    """Resolves the names of types where they are written.

    Args:
        names: resolves names in files.
        globals_: the global declarations.
    """

    def __init__(self, names: NameResolver, globals_: Globals) -> None:
        self.names = names
        self.globals = globals_

    def resolve(
        self, ref: TypeReference, namespace: Namespace
    ) -> tuple[Entity | None, tuple[str, ...]]:
        """Return what the first name of a reference means, and the names behind it."""
        if ref.module:
            module = self.names.resolve_module(ref.module, namespace.file)
            return (Entity(namespaces=(module,)) if module is not None else None), ref.path
        first, *rest = ref.path
        entity = self._local(namespace, first)
        if rest and entity is not None and not _is_namespace(entity):
            entity = self._global_namespace(namespace, first) or entity
        elif entity is None or is_global_entity(entity):
            entity = self.globals.find(first) or entity
        return entity, tuple(rest)

    def qualified(self, entity: Entity, name: str) -> Entity | None:
        """Return what a name behind that of a namespace means."""
        found: Entity | None = None
        for namespace in entity.all_namespaces():
            more = self.names.resolve_export(namespace, name)
            if more is not None:
                found = found.merge(more) if found is not None else more
        return found

    def are_symbols(self, constants: Iterable[str], namespace: Namespace) -> bool:
        """Whether all of some constants are symbols, so that no member is named by them."""
        for name in constants:
            entity = self._local(namespace, name)
            written = [
                each.file.source.body[declaration.span.start : declaration.span.end]
                for each, declaration in (entity.declared if entity is not None else ())
            ]
            if not written or not all(b"unique symbol" in each for each in written):
                return False
        return True

    def _local(self, namespace: Namespace, name: str) -> Entity | None:
        """Return what a name means in a file; of a block that augments a module, all of it."""
        found = self.names.resolve_local(namespace, name)
        source = namespace.file.source
        if found is None and any(each is source.ambient_globals for each in namespace.scopes):
            # A global block stands within one of the file's modules.
            inside = (
                Namespace(namespace.file, (source.scope, each)) for each in source.ambient.values()
            )
            found = next(
                filter(None, (self.names.resolve_local(each, name) for each in inside)), None
            )
            found = found or self._in_other_parts(namespace, name)
        if found is not None and namespace.host is not None:
            hosts = any(each.host is not None for each, _ in found.declared)
            found = found.merge(self.names.resolve_local(namespace.host, name)) if hosts else found
        return found

    def _in_other_parts(self, namespace: Namespace, name: str) -> Entity | None:
        """Return what a name means in the parts of a global namespace that other files have."""
        for outer, inner in pairwise(namespace.scopes):
            for known, declarations in outer.names.items():
                if any(each.scope is inner for each in declarations):
                    whole = self.globals.find(known)
                    found = self.qualified(whole, name) if whole is not None else None
                    if found is not None:
                        return found
        return None

    def _global_namespace(self, namespace: Namespace, name: str) -> Entity | None:
        """Return the global namespace of a name, where a type of that name is nearer."""
        source = namespace.file.source
        found = self.globals.find(name)
        inside = Namespace(namespace.file, (source.scope, source.ambient_globals))
        own = tuple((inside, each) for each in source.ambient_globals.names.get(name, ()))
        return Entity(own).merge(found) if own else found


def is_global_entity(entity: Entity) -> bool:
    """Whether other files may declare further parts of it."""
    return bool(entity.declared) and all(is_global_namespace(each) for each, _ in entity.declared)


def is_global_namespace(namespace: Namespace) -> bool:
    """Whether its declarations are global, so that any other file may add to them."""
    source = namespace.file.source
    if any(each is source.ambient_globals for each in namespace.scopes):
        return True
    modules = source.ambient.values()
    return not source.module and not any(
        each is scope for each in namespace.scopes for scope in modules
    )


def _is_namespace(entity: Entity) -> bool:
    """Whether further names can follow its own."""
    declarations = (each for _, each in entity.declared)
    inner = any(each.scope is not None or each.kind in ("enum", "class") for each in declarations)
    return bool(entity.namespaces) or entity.unknown or inner
