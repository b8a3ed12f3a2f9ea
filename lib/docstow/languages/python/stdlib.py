"""The standard library of one version of Python, as its stubs tell it.

This room knows where the stubs are, which versions they speak of, and that they leave out what
nobody is meant to use: what they do not tell is asked of the sources of the Python that runs this.
It does not know how names are found. Nothing of the standard library is run.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path

from docstow.languages.python.files import Layer, ModuleFiles, PythonFiles
from docstow.languages.python.surface import PythonSurface
from docstow.languages.shared.lookup import Installed
from docstow.languages.shared.project import Package
from docstow.languages.shared.sandbox import Boundary

__all__ = ["StandardSurface", "is_standard", "standard"]


# The standard library of Python as a package that answers for names.


class Standard:
    """The standard library of a version of Python.

    Args:
        version: ``3.12.4``; empty where nobody knows it.
    """

    def __init__(self, version: str) -> None:
        self._version = version

    @cached_property
    def surface(self) -> StandardSurface | None:
        """What it offers; None without stubs of that version."""
        return standard(self._version)

    @cached_property
    def installed(self) -> Installed | None:
        """The same, as a package named ``python``."""
        surface = self.surface
        if surface is None:
            return None
        package = surface.package
        return Installed(package.name, package.version, surface, surface.lacks, surface.since)

    def has(self, imported: str) -> bool:
        """Whether the version has the module of an import."""
        return self.surface is not None and self.surface.has_module(imported.partition(".")[0])

    def ever_has(self, imported: str) -> bool:
        """Whether some version has it."""
        return imported.partition(".")[0] in sys.stdlib_module_names or is_standard(imported)


Version = tuple[int, int]


#: The versions that the stubs tell from one another.
OLDEST, NEWEST = (3, 10), (3, 15)


VERSIONS: tuple[Version, ...] = tuple(
    (OLDEST[0], minor) for minor in range(OLDEST[1], NEWEST[1] + 1)
)


#: Stubs that speak of no module of the standard library.
_NOT_STANDARD = frozenset({"_typeshed", "typing_extensions"})


_NUMBERED = re.compile(r"(\d+)\.(\d+)")


_DEFINED = re.compile(
    r"^(?:    )?(?:async )?(?:def|class) ([A-Za-z]\w*)|^([A-Za-z]\w*):", re.MULTILINE
)


def stubs() -> Path | None:
    """The folder of stubs, without importing the library that brings it; None without it."""
    found = importlib.util.find_spec("typeshed_client")
    places = found.submodule_search_locations if found is not None else None
    folder = Path(next(iter(places)), "typeshed") if places else None
    return folder if folder is not None and (folder / "VERSIONS").is_file() else None


@cache
def lifetimes() -> Mapping[str, tuple[Version, Version]]:
    """The first and last version of each module that is told apart, by its dotted name."""
    folder = stubs()
    text = (folder / "VERSIONS").read_text("utf-8") if folder is not None else ""
    found = {}
    for line in text.splitlines():
        name, colon, versions = line.partition("#")[0].partition(":")
        first, _, last = versions.strip().partition("-")
        if colon and name not in _NOT_STANDARD and (begin := _version(first)) is not None:
            found[name.strip()] = begin, _version(last) or NEWEST
    return found


def lives(name: str, version: Version | None) -> bool:
    """Whether a version has a module, if what is above it is there; None stands for any."""
    lived = lifetimes().get(name)
    if lived is None:
        return True
    return lived[1] >= OLDEST if version is None else lived[0] <= version <= lived[1]


def is_standard(imported: str) -> bool:
    """Whether any version of Python that the stubs speak of has the module of an import."""
    lived = lifetimes().get(imported.partition(".")[0])
    return lived is not None and lived[1] >= OLDEST


def _version(text: str) -> Version | None:
    found = _NUMBERED.match(text)
    return (int(found[1]), int(found[2])) if found else None


class StandardFiles(PythonFiles):
    """The stubs of the modules that a version has.

    Args:
        root: the folder of stubs.
        boundary: what may be opened.
        version: None for what any version has.
    """

    def __init__(self, root: Path, boundary: Boundary, version: Version | None) -> None:
        super().__init__(root, boundary, version)
        self._at = version

    def _find(self, name: str) -> ModuleFiles | None:
        above, _, last = name.rpartition(".")
        package = self.module(above) if above else None
        folder = package.folder if package is not None else None if above else self._root
        if folder is None or not lives(name, self._at):
            return None
        listed, inner = self._list(folder), folder / last
        if listed.get(last) and "__init__.pyi" in self._list(inner):
            layer = Layer(inner / "__init__.pyi", "stub", package=True)
            return ModuleFiles(name, (layer,), inner, native=False)
        if f"{last}.pyi" not in listed:
            return None
        layer = Layer(folder / f"{last}.pyi", "stub", package=False)
        return ModuleFiles(name, (layer,), None, native=False)


class StandardSurface(PythonSurface):
    """The standard library.

    Args:
        folder: of the stubs.
        version: of Python; None where nobody knows it.
        shown: the same as it is told.
    """

    def __init__(self, folder: Path, version: Version | None, shown: str = "") -> None:
        boundary = Boundary(folder)
        files = StandardFiles(boundary.root, boundary, version)
        names = (each for each in lifetimes() if "." not in each and not each.startswith("_"))
        package = Package(
            ecosystem="python",
            name="python",
            version=shown or "3",
            location="",
            import_names=tuple(sorted(each for each in names if lives(each, version))),
            direct=False,
            language="python",
            summary="",
            installed=True,
            editable=False,
            files_root=boundary.root,
        )
        super().__init__(package, boundary, files=files)
        self._folder = folder
        self._at = version
        self._others: dict[Version | None, StandardSurface] = {}
        self._told: dict[str, list[Version]] = {}

    def has_module(self, name: str) -> bool:
        """Whether this version has a module of the standard library."""
        return is_standard(name) and self.files.module(name) is not None

    def has(self, path: str) -> bool:
        """Whether stubs tell of a name that code may use: no stub's own import."""
        return self.symbol(path) is not None and not self._is_own_import(path)

    def lacks(self, path: str) -> bool:
        """Whether a name that its owner's stub lacks is not there either, as far as is known."""
        return not self.has(path) and not self._is_unlisted(path)

    def _is_unlisted(self, path: str) -> bool:
        """Whether it is there though no version's stubs tell of it, or may well be."""
        if self._having(path):
            return False
        # What a module imports for itself is there, and nobody's documentation tells of it.
        return path.rpartition(".")[2] in lifetimes() or self._own.symbol(path) is not None

    def since(self, path: str) -> str:
        """Which versions have what this one has not: ``added in 3.12``; empty in doubt."""
        if self._at is None:
            return ""
        having = self._having(path)
        if having and min(having) > self._at:
            return "added in {}.{}".format(*min(having))
        if having and max(having) < self._at:
            return "removed in {}.{}".format(*VERSIONS[VERSIONS.index(max(having)) + 1])
        return ""

    def names(self) -> Iterator[str]:
        """Public paths of functions, classes and values, found without reading the stubs whole."""
        for path in _written():
            if self.files.module(path.rpartition(".")[0]):
                yield path
        yield from self.package.import_names

    def _having(self, path: str) -> list[Version]:
        """The versions whose stubs tell of a name."""
        if path not in self._told:
            some = self._at is None or self._in_version(None).has(path)
            those = VERSIONS if some else ()
            self._told[path] = [each for each in those if self._in_version(each).has(path)]
        return self._told[path]

    def _in_version(self, version: Version | None) -> StandardSurface:
        if version == self._at:
            return self
        if version not in self._others:
            self._others[version] = StandardSurface(self._folder, version)
        return self._others[version]

    @cached_property
    def _own(self) -> PythonSurface:
        """The sources of the Python that runs this; what is compiled is told by stubs."""
        folder = Path(sysconfig.get_path("stdlib"))
        package = replace(self.package, import_names=(), files_root=folder)
        return PythonSurface(package, Boundary(folder), lambda _: self)

    def _is_own_import(self, path: str) -> bool:
        """Whether a stub imports a name for itself alone, as stubs do with ``import x``."""
        parts = path.split(".")
        for end in range(len(parts) - 1, 0, -1):
            module = self.files.module(".".join(parts[:end]))
            if module is not None:
                return self._imports(module, parts[end])
        return False

    def _imports(self, module: ModuleFiles, name: str) -> bool:
        if self.files.module(f"{module.name}.{name}") is not None:
            return False
        for layer in module.layers:
            facts = self.files.facts(module.name, layer)
            ways = facts.names.get(name, ()) if facts is not None else ()
            if ways and facts is not None and name not in (facts.exports or ()):
                return all(each.kind == "import" and each.value != "public" for each in ways)
        return False


def standard(version: str) -> StandardSurface | None:
    """The standard library of a version of Python.

    Args:
        version: ``3.12.4``; empty where nobody knows it: what any version has is there.

    Returns:
        None without stubs, and for versions of which they do not speak.
    """
    folder, known = stubs(), _version(version)
    if folder is None or (version and known not in VERSIONS):
        return None
    return StandardSurface(folder, known, version)


@cache
def _written() -> tuple[str, ...]:
    """``module.name`` of what stubs define, those of shorter modules first."""
    folder = stubs()
    found = []
    for file in sorted(folder.rglob("*.pyi")) if folder is not None else ():
        parts = file.relative_to(folder or file).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if any(each.startswith("_") for each in module.split(".")):
            continue
        # Methods are indented, too: names of a class's body are left to whoever asks.
        names = {one or other for one, other in _DEFINED.findall(file.read_text("utf-8"))}
        found += [f"{module}.{name}" for name in sorted(names)]
    return tuple(sorted(found, key=lambda path: (path.count("."), path)))
