"""The public surface of one installed Node package, read from its declarations."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from docstow.languages.shared.boundary import Boundary
from docstow.languages.shared.project import Package
from docstow.languages.shared.surface import Everything, Home, Openness, Symbol
from docstow.languages.typescript import package_json
from docstow.languages.typescript.augmentations import Augmentations
from docstow.languages.typescript.files import (
    Folder,
    PackageFiles,
    folder_stamp,
    split_specifier,
)
from docstow.languages.typescript.inline import inline_members
from docstow.languages.typescript.names import Entity, Namespace
from docstow.languages.typescript.paths import PathResolver
from docstow.languages.typescript.symbols import describe, describe_builtin, find_place
from docstow.languages.typescript.undeclared import (
    SCRIPTS,
    augment,
    declare_below,
    declare_member,
    define_member,
    define_member_in,
    exports_undeclared,
    give,
    mention,
    module_exports_undeclared,
    quote,
)

#: Modules, and exports of the entry, whose names are suggested.
_MAX_MODULES = 30
_MAX_OWNERS = 400
#: How often a project is used, and how many bytes it may have read.
_MOST_USES = 100
_MOST_BYTES = 8 * 1024 * 1024
#: Files that are named where some could not be read.
_MAX_LISTED = 5
_NODE_TYPES = "@types/node"
#: Specifiers of files that bundlers make modules of.
_NOT_CODE = re.compile(r"\.(?!(?:js|mjs|cjs|ts)$)[a-z0-9]{2,5}$")
_ENDINGS = (".d.ts", ".d.mts", ".d.cts", ".js", ".mjs", ".cjs")


class NodeProject:
    """What the surfaces of one project share: its packages, their files, its own declarations.

    Args:
        boundary: what may be read.
        siblings: returns the surface of a package of the project by name.
        installed: returns the project's packages, any of which may augment the others.
    """

    def __init__(
        self,
        boundary: Boundary,
        siblings: Callable[[str], NodeSurface | None] = lambda _: None,
        installed: Callable[[], Iterable[Package]] = tuple,
    ) -> None:
        self._siblings = siblings
        self.installed = installed
        self.files = PackageFiles(boundary)
        self.augmentations = Augmentations(boundary)
        self._uses = 0

    def again(self) -> bool:
        """Make ready for another use; return whether what was read is still so, and not much."""
        self._uses += 1
        read = self.files.stamps
        if self._uses > _MOST_USES or read.size > _MOST_BYTES or not read.are_same():
            return False
        self.augmentations.forget()
        return True

    def find(self, name: str) -> Folder | None:
        """Find a package of the project."""
        surface = self._siblings(name)
        return surface.folder if surface is not None else None


#: What was searched for in packages, by what looks, in which of them as they are, for what name.
_SEARCHED: OrderedDict[tuple[str, tuple[tuple[str, int], ...], str], bool] = OrderedDict()
_MOST_SEARCHED = 2048


@dataclass(frozen=True, slots=True)
class Definition:
    """A public name, and where its definition is.

    Attributes:
        name: the last of its path.
        file: absolute.
        line: from 1.
        own: whether it is written within what has it, and not inherited or referred to.
        describe: makes the symbol.
        inline: yields the members of object types that are written within it; their names may
            have dots: ``options.timeout``.
    """

    name: str
    file: str
    line: int
    own: bool
    describe: Callable[[], Symbol]
    inline: Callable[[], Iterator[Definition]]


class NodeSurface:
    """What a Node package offers to those who import it.

    Paths are the module's name, then names joined by dots: ``lodash/fp.map``. The default export
    is ``default``. Members of a class are those of its instances and its own.

    Args:
        package: installed.
        project: what it belongs to.
        builtin: the module of Node itself (``node:fs``) that is meant instead, of which the
            package, ``@types/node``, has the declarations.
    """

    def __init__(self, package: Package, project: NodeProject, builtin: str = "") -> None:
        self.package = package
        self.project = project
        self.name = builtin or package.name
        self._builtin = builtin
        self._paths = PathResolver(package, builtin, project.files, project.find, project.installed)
        self._modules: tuple[str, ...] | None = None
        self.folder = self._paths.folder

    def modules(self) -> tuple[str, ...]:
        """List the modules that can be imported; the entry module first."""
        if self._modules is None:
            name = self.name
            own = None if self._builtin else self.folder
            listed = _list_subpaths(own, self._paths.files) if own is not None else ()
            found = sorted(f"{name}{each[1:]}" for each in listed if each != ".")
            found += self._paths.ambient
            entry = self._paths.entries(".")
            self._modules = (name, *dict.fromkeys(found)) if entry else tuple(found)
        return self._modules

    def symbol(self, path: str) -> Symbol | None:
        """Describe what a path means; None if it is not there, or cannot be known."""
        entity = self._paths.resolve(path)
        owner = self._paths.resolve(path.rpartition(".")[0]) if "." in path else None
        if entity is not None:
            return describe(path, entity, self._paths.members, owner)
        return describe_builtin(path, owner, self._paths.members) if owner is not None else None

    def members(self, path: str) -> Mapping[str, Symbol] | None:
        """Return the public names of a module, class, interface, enumeration or object.

        Each is described on demand.
        """
        entity = self._resolve_augmented(path)
        found: dict[str, Callable[[], Symbol]] = {}
        for name in self._paths.list_members(entity):
            inner = self._paths.members.resolve(entity, name) if entity is not None else None
            if inner is not None:
                found[name] = partial(
                    describe, f"{path}.{name}", inner, self._paths.members, entity
                )
        return _LazySymbols(found) if found else None

    def _resolve_augmented(self, path: str) -> Entity | None:
        """Return what a path leads to, with what other packages add to it."""
        if self._paths.resolve(path) is None:
            return None
        self._paths.augment()
        return self._paths.resolve(path)

    def listed(self, path: str) -> Iterator[str]:
        """List the public names of a module, class, interface or object.

        Files are read only as far as names are taken, and what other packages add to them is left
        out.
        """
        return self._paths.list_members(self._paths.resolve(path))

    def certain(self, path: str, name: str = "") -> bool:
        """Whether all names of a module, class or object are seen."""
        del name
        module, names = self._paths.split(path)
        if module is None:
            return False
        self._paths.augment()
        found = [
            entity
            for namespace in self._paths.entries(module)
            if (entity := self._paths.resolve_below(Entity(namespaces=(namespace,)), names))
        ]
        return bool(found) and all(map(self._paths.members.is_complete, found))

    def openness(self, path: str, name: str = "") -> Openness:
        """Return whether all names are seen: declarations tell no more."""
        return Openness.CLOSED if self.certain(path, name) else Openness.ANY

    def names(self) -> Iterator[str]:
        """List public paths: what the modules export, then members of what the entry exports."""
        first: list[tuple[str, Entity]] = []
        for module in self._main_modules():
            for namespace in self._paths.entries("." + module.removeprefix(self.name))[:1]:
                owner = Entity(namespaces=(namespace,))
                for name in self._paths.list_members(owner):
                    yield f"{module}.{name}"
                    if module == self.name and len(first) < _MAX_OWNERS:
                        first.append((name, owner))
        for name, owner in first:
            for each in self._paths.list_members(self._paths.members.resolve(owner, name)):
                yield f"{self.name}.{name}.{each}"

    def homes(self, name: str) -> Iterator[str]:
        """Yield nothing: all names that are suggested are listed."""
        del name
        yield from ()

    def _main_modules(self) -> Iterator[str]:
        """List the entry, and some of the modules that the package names one by one."""
        yield self.name
        manifest = self.folder.manifest if self.folder else {}
        named = package_json.subpaths(manifest) or []
        plain = [each for each in named if each != "." and "*" not in each]
        yield from (self.name + each[1:] for each in plain[:_MAX_MODULES])

    def _place(self, path: str) -> tuple[Namespace, int] | None:
        entity = self._paths.resolve(path)
        return find_place(entity) if entity is not None else None

    def place(self, path: str) -> Path | None:
        """Return the file in which a path's definition is, whichever package it belongs to."""
        found = self._place(path)
        return found[0].file.path if found is not None else None

    def home(self, path: str) -> Home | None:
        """Return what tells the definition of a path from others."""
        found = self._place(path)
        return _home(*found, path.rpartition(".")[2]) if found is not None else None

    def everything(self, path: str) -> Everything:
        """Return all names of a module, class or object, and which packages they come from."""
        self._paths.augment()
        entity = self._paths.resolve(path)
        if entity is None:
            return Everything({}, certain=False)
        members = self._paths.members.members_of(entity)
        origins = [namespace for namespace, _ in (*entity.declared, *entity.members)]
        origins += [*entity.namespaces, *members.namespaces, *members.inherited]
        names: dict[str, Home | None] = {"prototype": None}
        listed = (*members.fields, *self._paths.list_members(entity), "default")
        for name in dict.fromkeys(listed):
            inner = self._paths.members.resolve(entity, name)
            if inner is None:
                continue
            origins += [namespace for namespace, _ in members.fields.get(name, ())]
            place = find_place(inner)
            names[name] = _home(*place, name) if place else None
        return Everything(names, self.certain(path), self._other_packages(origins))

    def through(self, path: str) -> tuple[str, ...]:
        """Return ``name version`` of other packages that a definition comes from."""
        entity = self._paths.resolve(path)
        found = (*entity.declared, *entity.members) if entity is not None else ()
        return self._other_packages(namespace for namespace, _ in found)

    def _other_packages(self, origins: Iterable[Namespace]) -> tuple[str, ...]:
        folders = {each.file.folder for each in origins if each.package != self.package.name}
        return tuple(sorted({f"{e.name} {e.manifest.get('version', '')}" for e in folders}))

    def beside(self) -> list[str]:
        """Return the names of the project's packages, any of which may augment this one."""
        return sorted({each.name for each in self.project.installed() if each.ecosystem == "node"})

    def definitions(self, path: str) -> Iterator[Definition]:
        """Iterate over the public names of a module, class or object that this package defines."""
        self._paths.augment()
        entity = self._paths.resolve(path)
        if entity is None or self.folder is None:
            return
        inside = {(n.file.path, d.span.line, d.span.end_line) for n, d in entity.declared}
        homes = {each.root for each in self._paths.folders()}
        homes |= {namespace.file.folder.root for namespace, _ in entity.declared}
        exported = set(self._exported(entity))
        for name in self._paths.list_members(entity):
            inner = self._paths.members.resolve(entity, name)
            if inner is not None and len(inner.members) > 1:
                # What other packages declare of it comes last.
                nearest = sorted(inner.members, key=lambda e: e[0].file.folder.root not in homes)
                inner = replace(inner, members=tuple(nearest))
            place = find_place(inner) if inner is not None else None
            if inner is None or place is None:
                continue
            namespace, line = place
            # What a module exports belongs to it wherever it comes from, and what a class inherits
            # if it comes from its own package or one like it.
            near = namespace.file.folder.root in homes or _is_definitely_typed(namespace, homes)
            if name not in exported and not near:
                continue
            file = namespace.file.path
            own = any(path_ == file and a <= line <= b for path_, a, b in inside)
            yield self._definition(f"{path}.{name}", name, inner, entity, own=own)

    def _exported(self, entity: Entity) -> Iterator[str]:
        """Yield what a module itself exports, by ``export =`` too, and nothing inherited."""
        names = self._paths.names
        for module in entity.namespaces:
            yield "default"
            yield from names.list_exports(module)
            for assigned in names.assigned_exports(module):
                for namespace in assigned.all_namespaces():
                    yield from names.list_exports(namespace)

    def _definition(
        self, path: str, name: str, entity: Entity, owner: Entity | None, *, own: bool
    ) -> Definition:
        place = find_place(entity)
        file, line = (str(place[0].file.path), place[1]) if place is not None else ("", 0)
        described = partial(describe, path, entity, self._paths.members, owner)
        return Definition(name, file, line, own, described, partial(self._inline, path, entity))

    def _inline(self, path: str, entity: Entity) -> Iterator[Definition]:
        for name, inner in inline_members(entity, self._paths.members).items():
            yield self._definition(f"{path}.{name}", name, inner, None, own=True)

    def limits(self) -> Iterator[str]:
        """Say what has been left out so far, since a limit was reached or a file is unreadable."""
        root = self.folder.root if self.folder is not None else Path()
        files = self.project.files
        for label, paths in (
            ("Files that could not be read", files.unread),
            ("Files too large for all that they export to be seen", files.bundles),
        ):
            own = [each for each in paths if each.is_relative_to(root)]
            if own:
                listed = ", ".join(each.relative_to(root).as_posix() for each in own[:_MAX_LISTED])
                more = len(own) - _MAX_LISTED
                yield f"{label}: {listed}" + (f" and {more} more." if more > 0 else ".")
        if self._paths.is_limited:
            yield "It has more dependencies than are searched for what they add to its types."
        if self._paths.members.unfolded:
            yield "Some types unfold beyond what is followed: members of theirs may be missing."

    def lacks_module(self, specifier: str) -> bool:
        """Whether it certainly has no module of that name: no file, and no ``exports`` for it."""
        if self.folder is None or (self.package.name == _NODE_TYPES and not self._builtin):
            return False
        if self._builtin:
            return specifier.startswith("node:") and not self._paths.entries(".")
        subpath = split_specifier(specifier)[1]
        if subpath == "." or self._paths.entries(subpath) or _NOT_CODE.search(subpath):
            return False
        files = self._paths.files
        for folder in self._paths.folders():
            if package_json.may_resolve(folder.manifest, subpath):
                return False
            if folder.manifest.get("exports") is None and files.has_path(folder, subpath):
                return False
            if any(named == specifier for _, named in files.ambient_modules(folder)):
                return False
        return not self.may_be_added(specifier)

    def may_be_added(self, name: str) -> bool:
        """Whether the project's own files may add a name to what packages declare."""
        return self.project.augmentations.mention(name)

    def may_be_given(self, name: str) -> bool:
        """Whether other installed packages may add a name to what this one declares."""
        return augment(self.project.files.boundary, self._paths.augmenting(), name)

    def runs_with(self, name: str, imported: str = "") -> bool:
        """Whether what runs may export a name, whatever the declarations tell.

        Args:
            name: to look for.
            imported: the module, if it is imported as an ES module is: where it is one, that alone
                exports names.
        """
        if self.folder is None:
            return False
        if imported and not self._builtin:
            subpath = split_specifier(imported)[1]
            file = self._paths.files.find_module(
                self.folder, subpath, package_json.IMPORT, typed=False
            )
            if file is not None and file.esm:
                return module_exports_undeclared(self._paths.files.boundary, [file.path], name)
        folders = [self.folder.root]
        return self._search(exports_undeclared, folders, name)

    def may_mention(self, name: str) -> bool:
        """Whether the package, or what it depends on, may have a word anywhere in its code."""
        folders = [each.root for each in self._paths.with_dependencies()]
        return not folders or self._search(mention, folders, name)

    def may_quote(self, text: str) -> bool:
        """Whether the package's code or declarations may have a text that is all of a literal."""
        folders = [each.root for each in self._paths.folders()]
        return self._search(quote, folders, text)

    def may_give(self, name: str) -> bool:
        """Whether the package, or what it depends on, may give a member of that name to values."""
        folders = [each.root for each in self._paths.with_dependencies()]
        return not folders or self._search(give, folders, name)

    def may_declare(self, name: str) -> bool:
        """Whether the package's declarations may have a member of that name, of any type."""
        folders = [each.root for each in self._paths.folders()]
        return self._search(declare_member, folders, name)

    def defines(self, owner: str, name: str, declared: Path | None) -> bool:
        """Whether a class of the package's JavaScript has a member.

        Args:
            owner: the class.
            name: of the member.
            declared: the file that declares the class: what runs of it may lie beside it.
        """
        if declared is not None:
            stem = declared.name.partition(".d.")[0]
            beside = [declared.with_name(f"{stem}{ending}") for ending in SCRIPTS]
            if files := [each for each in beside if each.is_file()]:
                return define_member_in(self.project.files.boundary, files, f"{owner}.{name}")
        folders = [] if self.folder is None else [self.folder.root]
        return self._search(define_member, folders, f"{owner}.{name}")

    def defines_below(self, owner: str, name: str) -> bool:
        """Whether a class or interface that extends another one is declared with a member."""
        folders = [each.root for each in self._paths.folders()]
        return self._search(declare_below, folders, f"{owner}.{name}")

    def _search(
        self,
        search: Callable[[Boundary, Iterable[Path], str], bool],
        folders: Sequence[Path],
        name: str,
    ) -> bool:
        """Return what a search finds, which is kept but for the project's own packages."""
        boundary = self.project.files.boundary
        if any("node_modules" not in each.parts for each in folders):
            return search(boundary, folders, name)
        places = tuple((str(each), folder_stamp(each)) for each in folders)
        key = (search.__name__, places, name)
        if key not in _SEARCHED:
            _SEARCHED[key] = search(boundary, folders, name)
            if len(_SEARCHED) > _MOST_SEARCHED:
                _SEARCHED.popitem(last=False)
        return _SEARCHED[key]


class _LazySymbols(Mapping[str, Symbol]):
    """Symbols that are described on demand."""

    def __init__(self, described: Mapping[str, Callable[[], Symbol]]) -> None:
        self._describe = described
        self._symbols: dict[str, Symbol] = {}

    def __getitem__(self, name: str) -> Symbol:
        if name not in self._symbols:
            self._symbols[name] = self._describe[name]()
        return self._symbols[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._describe)

    def __len__(self) -> int:
        return len(self._describe)


def _list_subpaths(folder: Folder, files: PackageFiles) -> Iterator[str]:
    """List the modules of a package that can be imported: ``.``, ``./fp``."""
    listed = package_json.subpaths(folder.manifest)
    for each in listed or ():
        if "*" not in each and not each.endswith((".json", ".css", "/")):
            yield each
    patterns = [each for each in listed or () if "*" in each]
    if listed is not None and not patterns:
        return
    for file in files.boundary.walk(folder.root, {"node_modules"}):
        relative = "./" + file.relative_to(folder.root).as_posix()
        ending = next((end for end in _ENDINGS if relative.endswith(end)), "")
        stem = relative.removesuffix(ending) if ending else ""
        if not stem:
            continue
        if listed is None:
            yield "." if stem == "./index" else stem.removesuffix("/index")
        for pattern in patterns:
            # Only patterns that name files as they are tell the module of a file.
            before, _, after = pattern.partition("*")
            if stem.startswith(before):
                yield stem + after


def _home(namespace: Namespace, line: int, name: str) -> Home:
    return str(namespace.file.path), line, name


def _is_definitely_typed(namespace: Namespace, homes: Iterable[Path]) -> bool:
    """Whether a definition is in DefinitelyTyped, as one of some packages is."""
    name = namespace.package
    typed = any(home.parent.name == "@types" for home in homes)
    return typed and name.startswith("@types/") and name != _NODE_TYPES
