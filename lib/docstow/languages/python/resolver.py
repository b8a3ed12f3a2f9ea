"""What Python code imports, answered by a project's packages and the standard library.

Of the standard library there are stubs for each version of Python. They leave out what is not meant
for use; that is looked up in the sources of the Python that runs this. Nothing of it is run.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path

from docstow.languages.python.checker_releases import ENGINES
from docstow.languages.python.distributions import distributions
from docstow.languages.python.files import Layer, ModuleFiles, PythonFiles
from docstow.languages.python.stored_facts import StoredFacts
from docstow.languages.python.surface import PythonSurface
from docstow.languages.shared.boundary import Boundary
from docstow.languages.shared.engines import Engines
from docstow.languages.shared.findings import Verdict
from docstow.languages.shared.kept import kept
from docstow.languages.shared.language import Checking
from docstow.languages.shared.lookup import Installed, Resolver
from docstow.languages.shared.project import Package, Scan

#: For how many pieces of code a resolver is used, and how many bytes it may have read; more where
#: nearly all of them are of what the last code needed, and would be read again.
_MOST_USES = 100
_MOST_BYTES = 8 * 1024 * 1024
_MOST_NEEDED = 96 * 1024 * 1024
_MOST_UNNEEDED = 2 * 1024 * 1024
#: Folders that are looked into: a script's own folder comes first where it imports.
_MOST_FOLDERS = 400
_DEEPEST = 2
_SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages", "build", "dist", "target"})
#: Packages that bring what Python no longer has, or has otherwise.
_BROUGHT = {"distutils": "setuptools"}
Version = tuple[int, int]
#: The first and last version that the stubs tell apart.
OLDEST, NEWEST = (3, 10), (3, 15)
_VERSIONS: tuple[Version, ...] = tuple(
    (OLDEST[0], minor) for minor in range(OLDEST[1], NEWEST[1] + 1)
)
#: Stubs of modules that are not in the standard library.
_NOT_STANDARD = frozenset({"_typeshed", "typing_extensions"})
_VERSION = re.compile(r"(\d+)\.(\d+)")
_DEFINED = re.compile(
    r"^(?:    )?(?:async )?(?:def|class) ([A-Za-z]\w*)|^([A-Za-z]\w*):", re.MULTILINE
)


class PythonResolver:
    """The Python packages of a project, and the standard library of its version of Python.

    Args:
        scan: what is installed there.
    """

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._surfaces: dict[str, PythonSurface | None] = {}
        self._stored = StoredFacts(scan.cache) if scan.cache is not None else None
        self._standard = StandardLibrary(_python_version(scan), self._stored)
        self._own_modules: frozenset[str] | None = None
        self._uses = 0
        #: Packages that the code names which is looked into.
        self._needed: set[str] = set()

    def again(self) -> bool:
        """Make ready for another piece of code; whether what was read is still so, and not much."""
        self._uses += 1
        self._own_modules = None
        surfaces = [each for each in self._surfaces.values() if each is not None]
        # The standard library's stubs come with docstow, and stay as they are.
        size = self._standard.size + sum(each.size for each in surfaces)
        unneeded = sum(e.size for e in surfaces if e.package.name not in self._needed)
        self._needed = set()
        is_needed = size <= _MOST_NEEDED and unneeded <= _MOST_UNNEEDED
        is_kept = self._uses <= _MOST_USES and (size <= _MOST_BYTES or is_needed)
        return is_kept and all(each.is_unchanged() for each in surfaces)

    def package_for(self, imported: str) -> Installed | None:
        """Return the package of a dotted import name; ``python`` for the standard library."""
        # What a package brings in place of Python's own has more than that.
        brought = _BROUGHT.get(imported.partition(".")[0], "")
        if self._is_hidden(imported) or self._scan.named(brought, "python"):
            return None
        if self._standard.has(imported):
            return self._standard.installed
        package = self._scan.importing(imported, "python")
        surface = self._surface(package) if package is not None else None
        if package is not None and surface is not None:
            return Installed(package.name, package.version, surface)
        if self.is_standard(imported):
            return self._standard.installed
        return self._misnamed(imported.partition(".")[0])

    def _misnamed(self, imported: str) -> Installed | None:
        """Return the package of a distribution that is imported by other names than its own."""
        if imported in self._own_names:
            return None
        for each in self._scan.named(imported, "python"):
            surface = self._surface(each) if each.import_names and not each.editable else None
            if surface is not None:
                public = tuple(one for one in each.import_names if not one.startswith("_"))
                names = public or each.import_names
                return Installed(each.name, each.version, surface, imported_as=names)
        return None

    @property
    def _own_names(self) -> frozenset[str]:
        """The names of the project's own modules."""
        if self._own_modules is None:
            self._own_modules = _module_names(self._scan.boundary)
        return self._own_modules

    def is_standard(self, imported: str) -> bool:
        """Return whether it is a module of Python itself."""
        return self._standard.is_standard(imported)

    def _is_hidden(self, imported: str) -> bool:
        """Return whether a module of the project's own may be meant and not Python's."""
        if not self.is_standard(imported):
            return False
        if imported.partition(".")[0] == "__main__":
            return True  # What runs is it.
        return imported.partition(".")[0] in self._own_names

    def _named(self, imported: str) -> PythonSurface | None:
        if self._standard.has(imported):
            return self._standard.surface
        package = self._scan.importing(imported, "python")
        return self._surface(package) if package is not None else None

    def _surface(self, package: Package) -> PythonSurface | None:
        self._needed.add(package.name)
        if package.name not in self._surfaces:
            readable = package.installed and not package.problem and package.files_root
            boundary, stored = self._scan.boundary, self._stored
            self._surfaces[package.name] = (
                PythonSurface(package, boundary, self._named, stored=stored) if readable else None
            )
        return self._surfaces[package.name]


class StandardLibrary:
    """The standard library of a version of Python, read when it is needed.

    Args:
        version: ``3.12.4``; empty if it is not known.
        stored: what other processes have read of it.
    """

    def __init__(self, version: str = "", stored: StoredFacts | None = None) -> None:
        self._version = version
        self._stored = stored

    @property
    def size(self) -> int:
        """Bytes of the stubs of which it keeps what they say."""
        surface = self.__dict__.get("surface")
        return surface.size if surface is not None else 0

    @cached_property
    def surface(self) -> StandardSurface | None:
        """Its surface; None without stubs of that version."""
        return standard_surface(self._version, self._stored)

    @cached_property
    def installed(self) -> Installed | None:
        """The same, as a package named ``python``."""
        surface = self.surface
        if surface is None:
            return None
        package = surface.package
        return Installed(package.name, package.version, surface, surface.lacks, surface.since)

    def package_for(self, imported: str) -> Installed | None:
        """Return the package of a dotted import name; ``python`` for the standard library."""
        return self.installed if self.is_standard(imported) else None

    def is_standard(self, imported: str) -> bool:
        """Return whether some version of Python has the module of an import."""
        return imported.partition(".")[0] in sys.stdlib_module_names or _is_covered(imported)

    def has(self, imported: str) -> bool:
        """Return whether this version has the module of an import."""
        return self.surface is not None and self.surface.has_module(imported.partition(".")[0])


def _python_version(scan: Scan) -> str:
    """Return the version of the environment that answers first: ``3.12.4``; empty if unknown."""
    details = (each.detail for each in scan.environments if each.ecosystem == "python")
    versions = (each.removeprefix("Python ") for each in details if each.startswith("Python "))
    return next(versions, "")


def _module_names(boundary: Boundary) -> frozenset[str]:
    """Return names of modules and folders of modules, as files in the same folder import them.

    Args:
        boundary: of the project.
    """
    found: set[str] = set()
    waiting = [(boundary.root, 0)]
    for _ in range(_MOST_FOLDERS):
        if not waiting:
            break
        folder, depth = waiting.pop(0)
        try:
            with os.scandir(folder) as listed:
                entries = [(each.name, each.is_dir(follow_symlinks=False)) for each in listed]
        except OSError:
            continue
        files = {name for name, is_folder in entries if not is_folder}
        if "pyvenv.cfg" in files:
            continue
        found |= {name[:-3] for name in files if name.endswith(".py")}
        for name, is_folder in entries:
            if not is_folder or name.startswith(".") or name in _SKIPPED:
                continue
            found |= {name} if (folder / name / "__init__.py").exists() else set()
            waiting += [(folder / name, depth + 1)] if depth < _DEEPEST else []
    return frozenset(found)


def stub_folder() -> Path | None:
    """Return the folder of stubs, without importing the library that has it; None without it."""
    found = importlib.util.find_spec("typeshed_client")
    places = found.submodule_search_locations if found is not None else None
    folder = Path(next(iter(places)), "typeshed") if places else None
    return folder if folder is not None and (folder / "VERSIONS").is_file() else None


@cache
def _module_versions() -> Mapping[str, tuple[Version, Version]]:
    """Return the first and last version of each listed module, by its dotted name."""
    folder = stub_folder()
    text = (folder / "VERSIONS").read_text("utf-8") if folder is not None else ""
    found = {}
    for line in text.splitlines():
        name, colon, versions = line.partition("#")[0].partition(":")
        first, _, last = versions.strip().partition("-")
        if colon and name not in _NOT_STANDARD and (begin := _parse_version(first)) is not None:
            found[name.strip()] = begin, _parse_version(last) or NEWEST
    return found


def _has_version(name: str, version: Version | None) -> bool:
    """Return whether a version has a module whose package it has; None stands for any version."""
    versions = _module_versions().get(name)
    if versions is None:
        return True
    return versions[1] >= OLDEST if version is None else versions[0] <= version <= versions[1]


def _is_covered(imported: str) -> bool:
    """Return whether any version that the stubs cover has the module of an import."""
    versions = _module_versions().get(imported.partition(".")[0])
    return versions is not None and versions[1] >= OLDEST


def _parse_version(text: str) -> Version | None:
    found = _VERSION.match(text)
    return (int(found[1]), int(found[2])) if found else None


class _StandardFiles(PythonFiles):
    """The stubs of the modules that a version has; without one, of those that any version has."""

    def _find(self, name: str) -> ModuleFiles | None:
        above, _, last = name.rpartition(".")
        package = self.module(above) if above else None
        folder = package.folder if package is not None else None if above else self._root
        if folder is None or not _has_version(name, self._version):
            return None
        listed, inner = self._list(folder), folder / last
        if listed.get(last) and "__init__.pyi" in self._list(inner):
            layer = Layer(inner / "__init__.pyi", "stub", package=True)
            return ModuleFiles(name, (layer,), inner)
        if f"{last}.pyi" not in listed:
            return None
        layer = Layer(folder / f"{last}.pyi", "stub", package=False)
        return ModuleFiles(name, (layer,), None)


class StandardSurface(PythonSurface):
    """The standard library.

    Args:
        folder: of the stubs.
        version: of Python; None if it is not known.
        shown: the version in full; empty if it is not known.
        stored: what other processes have read of it.
    """

    def __init__(
        self,
        folder: Path,
        version: Version | None,
        shown: str = "",
        stored: StoredFacts | None = None,
    ) -> None:
        boundary = Boundary(folder)
        files = _StandardFiles(boundary.root, boundary, version, stored)
        names = (
            each for each in _module_versions() if "." not in each and not each.startswith("_")
        )
        package = Package(
            ecosystem="python",
            name="python",
            version=shown or "3",
            location="",
            import_names=tuple(sorted(each for each in names if _has_version(each, version))),
            direct=False,
            language="python",
            summary="",
            installed=True,
            editable=False,
            files_root=boundary.root,
        )
        super().__init__(package, boundary, files=files, stored=stored)
        self._folder = folder
        self._version = version
        self._stored = stored
        self._by_version: dict[Version | None, StandardSurface] = {}
        self._versions_of: dict[str, list[Version]] = {}

    @property
    def size(self) -> int:
        """Bytes of the files of which it keeps what they say, of all versions."""
        others = (each.size for each in self._by_version.values())
        return super().size + self._sources.size + sum(others)

    def has_module(self, name: str) -> bool:
        """Return whether this version has a module of the standard library."""
        return _is_covered(name) and self.files.module(name) is not None

    def has(self, path: str) -> bool:
        """Return whether stubs have a name that they do not only import for themselves."""
        return self.symbol(path) is not None and not self._is_stub_import(path)

    def lacks(self, path: str) -> bool:
        """Return whether a name that its owner's stub lacks is not there, as far as is known."""
        return not self.has(path) and not self._is_unlisted(path)

    def _is_unlisted(self, path: str) -> bool:
        """Return whether a name may be there though no version's stubs have it."""
        if self._versions_with(path):
            return False
        # What a module imports for itself is there, but not documented.
        found, owner = self._sources.symbol(path), self.symbol(path.rpartition(".")[0])
        is_of_class = owner is not None and owner.kind == "class"
        is_seen = found is not None and not (is_of_class and found.kind == "re-export")
        return path.rpartition(".")[2] in _module_versions() or is_seen

    def since(self, path: str) -> str:
        """Return which versions have what this one lacks: ``added in 3.12``; empty in doubt."""
        if self._version is None:
            return ""
        versions = self._versions_with(path)
        if versions and min(versions) > self._version:
            return "added in {}.{}".format(*min(versions))
        if versions and max(versions) < self._version:
            return "removed in {}.{}".format(*_VERSIONS[_VERSIONS.index(max(versions)) + 1])
        return ""

    def names(self) -> Iterator[str]:
        """Yield public paths of functions, classes and values, without parsing the stubs."""
        for path in _stub_names():
            if self.files.module(path.rpartition(".")[0]):
                yield path
        yield from self.package.import_names

    def _versions_with(self, path: str) -> list[Version]:
        """Return the versions whose stubs have a name."""
        if path not in self._versions_of:
            some = self._version is None or self._in_version(None).has(path)
            those = _VERSIONS if some else ()
            self._versions_of[path] = [each for each in those if self._in_version(each).has(path)]
        return self._versions_of[path]

    def _in_version(self, version: Version | None) -> StandardSurface:
        if version == self._version:
            return self
        if version not in self._by_version:
            made = StandardSurface(self._folder, version, stored=self._stored)
            self._by_version[version] = made
        return self._by_version[version]

    @cached_property
    def _sources(self) -> PythonSurface:
        """The sources of the Python that runs this; compiled modules have their stubs."""
        folder = Path(sysconfig.get_path("stdlib"))
        package = replace(self.package, import_names=(), files_root=folder)
        return PythonSurface(package, Boundary(folder), lambda _: self, stored=self._stored)

    def _is_stub_import(self, path: str) -> bool:
        """Return whether a stub imports a name only for itself, as with ``import x``."""
        parts = path.split(".")
        for end in range(len(parts) - 1, 0, -1):
            module = self.files.module(".".join(parts[:end]))
            if module is not None:
                return self._only_imports(module, parts[end])
        return False

    def _only_imports(self, module: ModuleFiles, name: str) -> bool:
        if self.files.module(f"{module.name}.{name}") is not None:
            return False
        for _, facts in self.files.readable(module):
            ways = facts.names.get(name, ())
            if ways and name not in (facts.exports or ()):
                return all(each.kind == "import" and each.value != "public" for each in ways)
        return False


def standard_surface(version: str, stored: StoredFacts | None = None) -> StandardSurface | None:
    """Return the standard library of a version of Python.

    Args:
        version: ``3.12.4``; empty if it is not known: it then has what any version has.
        stored: what other processes have read of it.

    Returns:
        None without stubs, and for versions that they do not cover.
    """
    folder, known = stub_folder(), _parse_version(version)
    if folder is None or (version and known not in _VERSIONS):
        return None
    return StandardSurface(folder, known, version, stored)


@cache
def _stub_names() -> tuple[str, ...]:
    """Return ``module.name`` of what stubs define, those of shorter modules first."""
    folder = stub_folder()
    found = []
    for file in sorted(folder.rglob("*.pyi")) if folder is not None else ():
        parts = file.relative_to(folder or file).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if any(each.startswith("_") for each in module.split(".")):
            continue
        # Methods are indented, too; a caller that resolves the paths drops them.
        names = {one or other for one, other in _DEFINED.findall(file.read_text("utf-8"))}
        found += [f"{module}.{name}" for name in sorted(names)]
    return tuple(sorted(found, key=lambda path: (path.count("."), path)))


def _verify(code: str, resolver: Resolver, language: str) -> Verdict:
    from docstow.languages.python.check import verify

    del language
    return verify(code, resolver)


def _judge(
    engines: Engines, code: str, language: str, resolver: Resolver, scans: Sequence[Scan]
) -> Verdict:
    from docstow.languages.python.check.type_checker import judge

    del language
    return judge(engines, code, resolver, scans)


CHECKING = Checking(
    verify=_verify,
    resolver=lambda scan: kept(scan, PythonResolver),
    standard=StandardLibrary,
    packages=distributions,
    engines=ENGINES,
    judge=_judge,
)
