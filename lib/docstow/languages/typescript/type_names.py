"""Names of types: the global declarations of a project, and names where they are written.

Global declarations are in the compiler's own files, of which the newest language and the browser's
are taken whatever the project is compiled for, and in packages of types. Any file may add to them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from docstow.core.errors import DocstowError
from docstow.languages.shared.project import Package
from docstow.languages.typescript.files import Folder, PackageFiles, SourceFile
from docstow.languages.typescript.names import Entity, NameResolver, Namespace
from docstow.languages.typescript.source.model import TypeReference

_NODE = "@types/node"
_LIBRARY = re.compile(r"lib\.(?!webworker|scripthost).*\.d\.ts")
_KEYWORDS = rb"(?:interface|var|let|const|function|class|namespace|module|type|enum)"
_AUGMENTATION = re.compile(rb"\bdeclare\s+(?:global|module)\b")
_MODULE_SYNTAX = re.compile(rb"^(?:import|export)\b", re.MULTILINE)
_SOURCES = (".ts", ".tsx", ".mts", ".cts")
_SKIPPED = {"node_modules", "dist", "build", "out", ".git", ".next", ".venv", "venv", "coverage"}
#: Files of the project that are searched, and bytes of one that is searched.
_MAX_OWN_FILES = 4_000
_MAX_FILE = 1_000_000


class Globals:
    """Global declarations of a project.

    Args:
        files: the files of packages.
        find: finds a package of the project by name.
        installed: the project's packages.
    """

    def __init__(
        self,
        files: PackageFiles,
        find: Callable[[str], Folder | None],
        installed: Callable[[], Iterable[Package]],
    ) -> None:
        self._files = files
        self._find = find
        self._installed = installed
        self._entities: dict[str, tuple[Entity, ...]] = {}
        self._may_declare: dict[str, bool] = {}

    def find(self, name: str) -> Entity | None:
        """Return what a global name means as a type, in all files that declare a part of it."""
        found: Entity | None = None
        for each in self.find_each(name):
            found = found.merge(each) if found is not None else each
        return found

    def find_each(self, name: str) -> tuple[Entity, ...]:
        """Return what a global name means by each package that declares it; one is in force."""
        if name not in self._entities:
            self._entities[name] = tuple(self._find_by_folder(name).values())
        return self._entities[name]

    def _find_by_folder(self, name: str) -> dict[Path, Entity]:
        plain = name.encode()
        pattern = re.compile(rb"\b" + _KEYWORDS + rb"\s+" + re.escape(plain) + rb"\b")
        found: dict[Path, Entity] = {}
        for file in self._declaring:
            if plain not in file.body or not pattern.search(file.body):
                continue
            source = file.source
            for scope in (source.scope, source.ambient_globals):
                declarations = scope.names.get(name)
                if declarations is None or (scope is source.scope and source.module):
                    continue
                inner = () if scope is source.scope else (scope,)
                namespace = Namespace(file, (source.scope, *inner))
                more = Entity(tuple((namespace, each) for each in declarations))
                before = found.get(file.folder.root)
                found[file.folder.root] = before.merge(more) if before is not None else more
        return found

    @cached_property
    def _declaring(self) -> tuple[SourceFile, ...]:
        """The files that declare globals."""
        read = (self._files.read(*each) for each in self._declaring_paths())
        return tuple(file for file in read if file is not None)

    def _declaring_paths(self) -> Iterator[tuple[Path, Folder]]:
        compiler = self._find("typescript")
        if compiler is not None and (compiler.root / "lib").is_dir():
            for path in sorted((compiler.root / "lib").iterdir()):
                if _LIBRARY.fullmatch(path.name):
                    yield path, compiler
        node = self._find(_NODE)
        if node is not None:
            for path in self._files.boundary.walk(node.root, {"node_modules"}):
                inside = path.relative_to(node.root).parts[0]
                # Folders such as ts5.6 are for older compilers.
                if path.name.endswith(".d.ts") and not inside.startswith("ts"):
                    yield path, node
        for package in self._installed():
            if package.name.startswith("@types/") and package.name != _NODE:
                folder = self._files.folder(package.files_root) if package.files_root else None
                if folder is not None:
                    yield folder.root / "index.d.ts", folder

    def may_augment(self, name: str) -> bool:
        """Whether the project's own files may add a member of that name to a package's types."""
        pattern = _declaration_of(name)
        return any(pattern.search(body) for body in self._own)

    @cached_property
    def _own(self) -> tuple[bytes, ...]:
        found = []
        boundary = self._files.boundary
        for count, path in enumerate(boundary.walk(boundary.root, _SKIPPED)):
            if count > _MAX_OWN_FILES:
                break
            if path.name.endswith(_SOURCES):
                body = self._read(path)
                if _AUGMENTATION.search(body) or not _MODULE_SYNTAX.search(body):
                    found.append(body)
        return tuple(found)

    def forget_own(self) -> None:
        """Drop what was read of the project's own files, which change all day."""
        self.__dict__.pop("_own", None)

    def may_declare(self, name: str) -> bool:
        """Whether any package may add a member of that name to what is global."""
        if name not in self._may_declare:
            pattern = _declaration_of(name)
            self._may_declare[name] = any(pattern.search(body) for body in self._augmenting)
        return self._may_declare[name]

    @cached_property
    def _augmenting(self) -> tuple[bytes, ...]:
        """The files with ``declare global`` of packages that the project asks for."""
        declaring = {file.path for file in self._declaring}
        found = []
        for package in self._installed():
            if not package.direct and not package.name.startswith("@types/"):
                continue
            folder = self._files.folder(package.files_root) if package.files_root else None
            if folder is None or package.name in ("typescript", _NODE):
                continue
            for path, specifier in self._files.ambient_modules(folder):
                if not specifier and Path(path) not in declaring:
                    found.append(self._read(Path(path)))
        return tuple(found)

    def _read(self, path: Path) -> bytes:
        try:
            return self._files.boundary.read(path, most=_MAX_FILE)
        except (DocstowError, OSError):
            return b""


def _declaration_of(name: str) -> re.Pattern[bytes]:
    """Return a pattern of where a member of a name is declared."""
    return re.compile(rb"\b" + re.escape(name.encode()) + rb"[\"']?\s*\??\s*[(:<]")


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
