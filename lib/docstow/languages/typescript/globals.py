"""What the language and its environment declare for every file: ``Array``, ``process``.

This room knows where global declarations are: in the compiler's own files, of which the newest
language and the browser's are taken whatever the project is compiled for, and in packages of
types. It also knows which files may add to what others declare. It does not work types out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path

from docstow.core.errors import DocstowError
from docstow.languages.shared.project import Package
from docstow.languages.typescript.files import Folder, NodeFiles, Unit
from docstow.languages.typescript.names import Space, Thing

_NODE = "@types/node"
_LIB = re.compile(r"lib\.(?!webworker|scripthost).*\.d\.ts")
_KEYWORDS = rb"(?:interface|var|let|const|function|class|namespace|module|type|enum)"
_ADDING = re.compile(rb"\bdeclare\s+(?:global|module)\b")
_MODULE = re.compile(rb"^(?:import|export)\b", re.MULTILINE)
_SOURCES = (".ts", ".tsx", ".mts", ".cts")
_OWN_FILES = 4_000
_LARGEST = 1_000_000
_NOT_OWN = {"node_modules", "dist", "build", "out", ".git", ".next", ".venv", "venv", "coverage"}


class Globals:
    """Global declarations of a project.

    Args:
        files: the packages' files.
        find: a package of the project by name.
        installed: the project's packages.
    """

    def __init__(
        self,
        files: NodeFiles,
        find: Callable[[str], Folder | None],
        installed: Callable[[], Iterable[Package]],
    ) -> None:
        self._files = files
        self._find = find
        self._installed = installed
        self._things: dict[str, tuple[Thing, ...]] = {}
        self._mentioned: dict[str, bool] = {}

    def thing(self, name: str) -> Thing | None:
        """What a global name means as a type, in all files that declare a part of it."""
        found: Thing | None = None
        for each in self.things(name):
            found = found.merged(each) if found is not None else each
        return found

    def things(self, name: str) -> tuple[Thing, ...]:
        """What a global name means, by the packages that declare it: one of them is in force."""
        if name not in self._things:
            self._things[name] = tuple(self._found(name).values())
        return self._things[name]

    def _found(self, name: str) -> dict[Path, Thing]:
        plain = name.encode()
        pattern = re.compile(rb"\b" + _KEYWORDS + rb"\s+" + re.escape(plain) + rb"\b")
        found: dict[Path, Thing] = {}
        for unit in self._units:
            if plain not in unit.body or not pattern.search(unit.body):
                continue
            source = unit.source
            for scope in (source.scope, source.ambient_globals):
                declarations = scope.names.get(name)
                if declarations is None or (scope is source.scope and source.module):
                    continue
                inner = () if scope is source.scope else (scope,)
                space = Space(unit, (source.scope, *inner))
                more = Thing(tuple((space, each) for each in declarations))
                before = found.get(unit.folder.root)
                found[unit.folder.root] = before.merged(more) if before is not None else more
        return found

    @cached_property
    def _units(self) -> tuple[Unit, ...]:
        return tuple(self._every())

    def _every(self) -> Iterator[Unit]:
        compiler = self._find("typescript")
        if compiler is not None and (compiler.root / "lib").is_dir():
            for path in sorted((compiler.root / "lib").iterdir()):
                if _LIB.fullmatch(path.name):
                    yield from self._unit(path, compiler)
        node = self._find(_NODE)
        if node is not None:
            for path in self._files.boundary.walk(node.root, {"node_modules"}):
                inside = path.relative_to(node.root).parts[0]
                if path.name.endswith(".d.ts") and not inside.startswith("ts"):
                    yield from self._unit(path, node)
        for package in self._installed():
            if package.name.startswith("@types/") and package.name != _NODE:
                folder = self._files.folder(package.files_root) if package.files_root else None
                if folder is not None:
                    yield from self._unit(folder.root / "index.d.ts", folder)

    def _unit(self, path: Path, folder: Folder) -> Iterator[Unit]:
        found = self._files.unit(path, folder)
        if found is not None:
            yield found

    def adds_own(self, name: str) -> bool:
        """Whether the project's own files may add a member of that name to a package's types."""
        word = _member(name)
        return any(word.search(body) for body in self._own)

    @cached_property
    def _own(self) -> tuple[bytes, ...]:
        found = []
        boundary = self._files.boundary
        for count, path in enumerate(boundary.walk(boundary.root, _NOT_OWN)):
            if count > _OWN_FILES:
                break
            if path.name.endswith(_SOURCES):
                body = self._bytes(path)
                if _ADDING.search(body) or not _MODULE.search(body):
                    found.append(body)
        return tuple(found)

    def forget_own(self) -> None:
        """Look at the project's own files again when they are asked for: they change all day."""
        self.__dict__.pop("_own", None)

    def adds(self, name: str) -> bool:
        """Whether any package may add a member of that name to what is global."""
        if name not in self._mentioned:
            word = _member(name)
            self._mentioned[name] = any(word.search(body) for body in self._adding)
        return self._mentioned[name]

    @cached_property
    def _adding(self) -> tuple[bytes, ...]:
        return tuple(self._added())

    def _added(self) -> Iterator[bytes]:
        known = {unit.path for unit in self._units}
        for package in self._installed():
            if not package.direct and not package.name.startswith("@types/"):
                continue
            folder = self._files.folder(package.files_root) if package.files_root else None
            if folder is None or package.name in ("typescript", _NODE):
                continue
            for path, specifier in self._files.ambients(folder):
                if not specifier and Path(path) not in known:
                    yield self._bytes(Path(path))

    def _bytes(self, path: Path) -> bytes:
        try:
            return self._files.boundary.read(path, most=_LARGEST)
        except (DocstowError, OSError):
            return b""


def _member(name: str) -> re.Pattern[bytes]:
    """Where a member of a name is declared."""
    return re.compile(rb"\b" + re.escape(name.encode()) + rb"[\"']?\s*\??\s*[(:<]")
