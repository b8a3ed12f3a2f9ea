"""The global declarations of a project: ``Array``, ``process``.

They are in the compiler's own files, of which the newest language and the browser's are taken
whatever the project is compiled for, and in packages of types. Any file may add to them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path

from docstow.core.errors import DocstowError
from docstow.languages.shared.project import Package
from docstow.languages.typescript.files import Folder, PackageFiles, SourceFile
from docstow.languages.typescript.names import Entity, Namespace

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
