"""Paths of Node packages, such as ``zod.ZodObject.extend``, and what they lead to.

What the project's other packages add to declarations is read only where a path leads nowhere
without it, or where all names are asked for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import chain
from pathlib import Path

from docstow.languages.shared.project import Package
from docstow.languages.typescript import package_json
from docstow.languages.typescript.files import Folder, PackageFiles, split_specifier
from docstow.languages.typescript.members import MemberResolver
from docstow.languages.typescript.names import Entity, NameResolver, Namespace

#: Dependencies of a package that are searched for augmentations, and how far they are followed.
_MAX_DEPENDENCIES = 150
_MAX_DISTANCE = 3
#: Steps to what takes part in a package's values.
_MAX_TAKING_PART = 2
_TYPES = "@types/"
_DEPENDENCY_FIELDS = ("dependencies", "peerDependencies", "optionalDependencies")


class PathResolver:
    """Resolves the paths of one package.

    Args:
        package: installed.
        builtin: the module of Node itself that is meant instead of the package.
        files: the files of the project's packages.
        find: finds another package of the project by name.
        installed: the project's Node packages.
    """

    def __init__(
        self,
        package: Package,
        builtin: str,
        files: PackageFiles,
        find: Callable[[str], Folder | None],
        installed: Callable[[], Iterable[Package]],
    ) -> None:
        self.name = builtin or package.name
        self.files = files
        self.names = NameResolver(files, self._find, lambda *each: self.members.resolve(*each))
        self.members = MemberResolver(self.names)
        self._package = package
        self._find_in_project = find
        self._installed = installed
        self._builtin = builtin
        self._augmented = False
        #: Whether the package has more dependencies than are searched for what they add to it.
        self.is_limited = False
        self._entries: dict[str, list[Namespace]] = {}
        root = package.files_root
        self.folder: Folder | None = files.folder(root) if root is not None else None

    def resolve(self, path: str) -> Entity | None:
        """Return what a path leads to."""
        module, names = self.split(path)
        if module is None:
            return None
        found = self._resolve(module, names)
        if found is None and not self._augmented:
            self.augment()
            found = self._resolve(module, names)
        return found

    def _resolve(self, module: str, names: list[str]) -> Entity | None:
        for index, namespace in enumerate(self.entries(module)):
            # Only the first stands for itself where it has no default export.
            if index and names[:1] == ["default"] and "default" not in namespace.scope.exports:
                continue
            found = self.resolve_below(Entity(namespaces=(namespace,)), names)
            if found is not None:
                return found
        return None

    def resolve_below(self, entity: Entity, names: list[str]) -> Entity | None:
        """Return what names below an entity lead to."""
        found: Entity | None = entity
        for name in names:
            found = self.members.resolve(found, name) if found is not None else None
        return found

    def split(self, path: str) -> tuple[str | None, list[str]]:
        """Split a path into the subpath of the module that it begins with, and the names below."""
        for name in self.ambient:
            if path == name or path.startswith(f"{name}."):
                return name, path[len(name) + 1 :].split(".") if path != name else []
        rest = path.removeprefix(self.name)
        if rest == path or (rest and rest[0] not in "./"):
            return None, []
        if not rest.startswith("/"):
            return ".", rest[1:].split(".") if rest else []
        parts = rest.split(".")
        for count in range(len(parts), 0, -1):
            subpath = "." + ".".join(parts[:count])
            if self.entries(subpath):
                return subpath, parts[count:]
        return None, []

    def entries(self, subpath: str) -> list[Namespace]:
        """Return a module as it is imported and, if that is another file, as it is required."""
        if subpath not in self._entries:
            self._entries[subpath] = self._find_entries(subpath)
        return self._entries[subpath]

    def _find_entries(self, subpath: str) -> list[Namespace]:
        if self.folder is None:
            return []
        if self._builtin:
            module = self.names.resolve_ambient(self.folder, self.name + subpath[1:])
            return [module] if module else []
        if not subpath.startswith("."):
            module = self.names.resolve_ambient(self.folder, subpath)
            return [module] if module else []
        found: list[Namespace] = []
        for conditions in (package_json.IMPORT, package_json.REQUIRE):
            entry = self.names.resolve_entry(self.folder, subpath, conditions)
            if entry is not None and all(entry.scope is not each.scope for each in found):
                found.append(entry)
        return found

    @cached_property
    def ambient(self) -> tuple[str, ...]:
        """The modules of other names that the package declares: ``node:fs``."""
        entry = next(iter(self.entries(".")), None) if not self._builtin else None
        if entry is None or entry.file.source.script:
            return ()
        found = self.names.ambient_modules(entry.file)
        own = (self.name, self.name.removeprefix("@types/"))
        return tuple(each for each in found if each not in own)

    def folders(self) -> list[Folder]:
        """Return the package and, where another one has its declarations, that one."""
        own = [self.folder] if self.folder is not None else []
        return [*own, *(each.file.folder for each in self.entries("."))]

    def list_members(self, entity: Entity | None) -> Iterator[str]:
        """List the names of the members of an entity that may be used; files are read on demand."""
        if entity is None:
            return
        members = self.members.members_of(entity)
        visible = (
            name
            for name, found in members.fields.items()
            if not all(member.hidden for _, member in found)
        )
        seen = {""}
        spaces = chain(members.namespaces, members.inherited)
        for name in chain(visible, *map(self.names.list_exports, spaces)):
            if name not in seen:
                seen.add(name)
                yield name

    def _find(self, name: str) -> Folder | None:
        """Find a package that the project has, wherever it is."""
        location = self.files.boundary.root / self._package.location
        return self.files.find(name, location.parent) or self._find_in_project(name)

    def augment(self) -> None:
        """Add what the files of this package and of others add to its declarations."""
        if self._augmented or self.folder is None:
            return
        self._augmented = True
        own = self.folders()
        dependencies = {folder.root: folder for folder in self._dependencies(own)}
        self.is_limited = len(dependencies) >= _MAX_DEPENDENCIES
        for folder in dependencies.values():
            self.names.augment(folder)
        for other, names in self._dependents(own):
            if other.root not in dependencies and self.names.augments(names, other):
                self.names.augment(other)
        self.members = MemberResolver(self.names)

    def augmenting(self) -> Iterator[Path]:
        """Iterate over files of other packages that add to this one's modules, or to all code.

        What depends on its types by way of other types adds to them, too.
        """
        own = self.folders()
        types = [other for other, _ in self._dependents(own) if other.name.startswith(_TYPES)]
        for other, names in self._dependents([*own, *types]):
            for path, specifier in self.files.ambient_modules(other):
                if not specifier or split_specifier(specifier)[0] in names:
                    yield other.root / path

    def _dependents(self, folders: list[Folder]) -> Iterator[tuple[Folder, set[str]]]:
        """Iterate over installed packages that depend on some, with the names of these."""
        names = {folder.name for folder in folders} | {self._package.name}
        for package in self._installed():
            other = self.files.folder(package.files_root) if package.files_root else None
            if other is not None and _depends_on(other, names):
                yield other, names

    def with_dependencies(self) -> list[Folder]:
        """Return the folders of the package, its types and what they and that may depend on.

        What is farther away takes no part in the package's values. None are returned where there
        are too many.
        """
        everything = self._dependencies(self.folders(), _DEPENDENCY_FIELDS, _MAX_TAKING_PART)
        found = list(everything)
        return found if len(found) < _MAX_DEPENDENCIES else []

    def _dependencies(
        self,
        first: list[Folder],
        fields: tuple[str, ...] = _DEPENDENCY_FIELDS[:1],
        farthest: int = _MAX_DISTANCE,
    ) -> Iterator[Folder]:
        """Iterate over packages and what they depend on, which may augment each other.

        Args:
            first: the packages.
            fields: of manifests, that name what they depend on.
            farthest: so many steps lead to what they depend on at most.
        """
        waiting = deque((folder, 0) for folder in first)
        seen: set[Path] = set()
        while waiting and len(seen) < _MAX_DEPENDENCIES:
            folder, depth = waiting.popleft()
            if folder.root in seen:
                continue
            seen.add(folder.root)
            yield folder
            for name in _named_in(folder, fields) if depth < farthest else ():
                found = self.files.find(name, folder.root)
                if found is not None:
                    waiting.append((found, depth + 1))


def _depends_on(folder: Folder, names: set[str]) -> bool:
    """Whether a package depends on any of some others, and so may augment them."""
    return not names.isdisjoint(_named_in(folder, _DEPENDENCY_FIELDS))


def _named_in(folder: Folder, fields: tuple[str, ...]) -> list[str]:
    """Return the packages that fields of a manifest name."""
    listed = (folder.manifest.get(field) for field in fields)
    return [str(name) for each in listed if isinstance(each, dict) for name in each]
