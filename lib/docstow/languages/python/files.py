"""Where the modules of a Python package are, and what each file binds.

A module may be a source file, a stub beside it or in a ``-stubs`` folder, compiled, or a namespace.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from docstow.core.errors import DocstowError
from docstow.languages.python.cython_sources import CYTHON_SOURCE, python_of
from docstow.languages.python.cython_texts import CYTHON, compressed_texts, embedded_signatures
from docstow.languages.python.elf import contains
from docstow.languages.python.service_clients import DESCRIPTIONS, service_source
from docstow.languages.python.source import read_module
from docstow.languages.python.source.facts import ModuleFacts
from docstow.languages.python.stored_facts import StoredFacts
from docstow.languages.shared.boundary import Boundary
from docstow.languages.shared.stamps import Stamp, Stamps

#: Bytes of source whose facts are cached; facts take about twice as much.
_MOST_CACHED = 6 * 1024 * 1024
#: Bytes of a module that is read; kubernetes has one of 4.5 million.
LARGEST_FILE = 8 * 1024 * 1024
#: Bytes of a compiled module that is searched.
_LARGEST_BINARY = 96 * 1024 * 1024
_NATIVE_SUFFIXES = (".so", ".pyd", ".dll", ".dylib")
#: What is in modules that are made by Cython, by Rust and by mypyc, which keep names otherwise.
_RUST = (b"pyo3", b"rustc")
_MYPYC = b"CPyStatic"
#: What modules made by cffi have in them, and the names that these give.
_CFFI = b"_cffi_backend"
_CFFI_NAMES = (b"ffi", b"lib")
_STUBS = "-stubs"


@dataclass(frozen=True, slots=True)
class Layer:
    """One file of a module.

    Attributes:
        path: absolute.
        role: its source, a stub that comes with it, a stub of another distribution, or a
            description of which its package makes classes.
        package: whether it is an ``__init__``.
    """

    path: Path
    role: Literal["source", "stub", "foreign stub", "description"]
    package: bool


@dataclass(frozen=True, slots=True)
class ModuleFiles:
    """A module.

    Attributes:
        name: dotted.
        layers: its files, stubs first; none of namespaces and compiled modules.
        folder: of a package.
        binary: the file of a compiled one, whose source in Cython may be there, too.
    """

    name: str
    layers: tuple[Layer, ...]
    folder: Path | None
    binary: Path | None = None

    @property
    def native(self) -> bool:
        """Whether it is compiled, and its source is not there."""
        return self.binary is not None and all(each.role != "source" for each in self.layers)


#: A file, the module's name, the version for which branches were decided.
_CacheKey = tuple[str, str, tuple[int, int] | None]


class _FactsCache:
    """Facts by file until the file changes; those used least recently are dropped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._facts: OrderedDict[_CacheKey, tuple[Stamp, ModuleFacts | None]] = OrderedDict()
        self._size = 0

    def get(self, key: _CacheKey, stamp: Stamp) -> tuple[ModuleFacts | None] | None:
        with self._lock:
            found = self._facts.get(key)
            if found is None or found[0] != stamp:
                return None
            self._facts.move_to_end(key)
            return (found[1],)

    def put(self, key: _CacheKey, stamp: Stamp, facts: ModuleFacts | None) -> None:
        with self._lock:
            if earlier := self._facts.pop(key, None):
                self._size -= earlier[0][1]
            self._facts[key] = (stamp, facts)
            self._size += stamp[1]
            while self._size > _MOST_CACHED and len(self._facts) > 1:
                _, ((_, size), _) = self._facts.popitem(last=False)
                self._size -= size


_cache = _FactsCache()


class PythonFiles:
    """The modules below a folder of import names; the disk is looked at once.

    Attributes:
        stamps: of the files that were read, and the folders that were listed.

    Args:
        root: ``site-packages``, or the ``src`` of a checkout.
        boundary: what may be opened.
        version: of Python, for which branches of files are decided; None: all of them count.
        stored: what other processes have read; None: nothing is stored.
    """

    def __init__(
        self,
        root: Path,
        boundary: Boundary,
        version: tuple[int, int] | None = None,
        stored: StoredFacts | None = None,
    ) -> None:
        self._root = root
        self._stored = stored
        self._version = version
        self._boundary = boundary
        self._listed: dict[Path, dict[str, bool]] = {}
        self._modules: dict[str, ModuleFiles | None] = {}
        self._searched: dict[tuple[Path, str], bool | None] = {}
        self._signatures: dict[tuple[Path, str], list[str]] = {}
        #: What stands for sources of Cython.
        self._pythons: dict[Path, str] = {}
        #: The texts of compiled modules that were compressed.
        self._texts: dict[Path, bytes] = {}
        self.stamps = Stamps()
        # Of compiled modules nothing is kept but their texts.
        self._binaries = Stamps()

    def module(self, name: str) -> ModuleFiles | None:
        """Return the files of a module; None where there are none."""
        if name not in self._modules:
            self._modules[name] = self._find(name)
        return self._modules[name]

    def children(self, name: str) -> list[str]:
        """Return the last names of the modules directly below a package, sorted.

        Descriptions are not listed: they are hundreds, of which code names one or two.
        """
        if name in DESCRIPTIONS:
            return []
        module = self.module(name)
        found = set()
        for folder in (module.folder if module else None, self._stubs(name)):
            for entry, is_folder in self._list(folder).items() if folder else ():
                stem = entry if is_folder else _stem(entry)
                if stem.isidentifier() and stem != "__init__" and stem != "__pycache__":
                    found.add(stem)
        found -= {each for each in found if f"{name}.{each}" in DESCRIPTIONS}
        return sorted(each for each in found if self.module(f"{name}.{each}"))

    def facts(self, module: str, layer: Layer) -> ModuleFacts | None:
        """Return what a file binds; None where it cannot be read."""
        key = (str(layer.path), module, self._version)
        stamp = self.stamps.note(layer.path)
        if stamp is None:
            return None
        if known := _cache.get(key, stamp):
            return known[0]
        facts = None
        with suppress(DocstowError):
            read = read_module if self._stored is None else self._stored.read
            body = self._source(layer)
            facts = read(body, module, package=layer.package, version=self._version)
        _cache.put(key, stamp, facts)
        return facts

    def exports(self, module: str, layer: Layer) -> tuple[str, ...] | None:
        """Return ``__all__`` of a file; None where it has none, or cannot be read."""
        stamp = self.stamps.note(layer.path)
        if stamp is None:
            return None
        known = _cache.get((str(layer.path), module, self._version), stamp)
        if known or self._stored is None:
            facts = self.facts(module, layer)
            return facts.exports if facts is not None else None
        with suppress(DocstowError):
            return self._stored.exports(
                self._source(layer), module, package=layer.package, version=self._version
            )
        return None

    def text(self, layer: Layer) -> str:
        """Return the text of a file, one line break a line.

        Raises:
            DocstowError: it cannot be read.
        """
        self.stamps.note(layer.path)
        body = self._source(layer)
        return body.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")

    def _source(self, layer: Layer) -> bytes:
        """Return the source of a file, or what is made of it while its package runs.

        Raises:
            DocstowError: it cannot be read.
        """
        if layer.path.suffix == CYTHON_SOURCE:
            return self._of_cython(layer.path).encode()
        if layer.role != "description":
            return self._boundary.read(layer.path, most=LARGEST_FILE)
        body = self._boundary.read(layer.path, most=LARGEST_FILE, text=False)
        return service_source(body, layer.path.parent.parent.name)

    def _of_cython(self, path: Path) -> str:
        """Return Python in place of a source of Cython.

        Raises:
            DocstowError: it cannot be read.
        """
        if path not in self._pythons:
            self._pythons[path] = self._read_cython(path)
        return self._pythons[path]

    def _read_cython(self, path: Path) -> str:
        def read(place: Path) -> str:
            self.stamps.note(place)
            return self._boundary.read(place, most=LARGEST_FILE).decode("utf-8", "replace")

        def included(name: str) -> str:
            with suppress(DocstowError):
                return read(Path(os.path.normpath(path.parent / name)))
            return ""

        module = ".".join(path.relative_to(self._root).with_suffix("").parts)
        text = read(path)

        def translate(included: Callable[[str], str]) -> str:
            def declarations(name: str) -> str:
                declared = self._root.joinpath(*name.split("."))
                return included(f"{os.path.relpath(declared, path.parent)}.pxd")

            return python_of(text, included, included(f"{path.stem}.pxd"), module, declarations)

        if self._stored is None:
            return translate(included)
        return self._stored.translated(text, module, included, translate)

    @property
    def size(self) -> int:
        """Bytes of the files, and of texts of compiled modules, whose words it keeps."""
        return self.stamps.size + sum(map(len, self._texts.values()))

    def are_same(self) -> bool:
        """Return whether nothing has changed that was read; False where that cannot be told."""
        return self.stamps.are_same() and self._binaries.are_same()

    def readable(self, module: ModuleFiles) -> Iterator[tuple[Layer, ModuleFacts]]:
        """Yield the files of a module that can be read, stubs first, with what they bind."""
        for layer in module.layers:
            if (facts := self.facts(module.name, layer)) is not None:
                yield layer, facts

    def binary_has(self, module: ModuleFiles, name: str) -> bool | None:
        """Return whether the file of a compiled module has a name somewhere; None where unknown.

        What it gives to its module and classes is written there as it is, in C with a zero byte
        behind it, in Rust so where it is no class or constant, or in the texts that Cython keeps
        compressed.
        """
        if module.binary is None:
            return False
        key = (module.binary, name)
        if key not in self._searched:
            self._binaries.note(module.binary)
            # What is too large to read is, as ``libtorch_cuda.so``, linked to what tells Python.
            is_linked = module.binary.name.startswith("lib")
            self._searched[key] = False if is_linked else None
            with suppress(DocstowError):
                body = self._boundary.read(module.binary, most=_LARGEST_BINARY, text=False)
                self._searched[key] = self._has_word(module.binary, body, name.encode())
        return self._searched[key]

    def binary_spells(self, module: ModuleFiles, *texts: str) -> bool:
        """Return whether a compiled module has some texts in C, each as a whole."""
        if module.binary is None:
            return False
        self._binaries.note(module.binary)
        with suppress(DocstowError):
            body = self._boundary.read(module.binary, most=_LARGEST_BINARY, text=False)
            return all(contains(body, b"\0%s\0" % each.encode()) for each in texts)
        return False

    def binary_calls(self, module: ModuleFiles, name: str) -> bool:
        """Return whether a compiled module may have a function or method of a name.

        The names of these are written in C with a zero byte behind them, whatever it is made by,
        but for mypyc, which keeps them otherwise.
        """
        if module.binary is None:
            return False
        with suppress(DocstowError):
            body = self._boundary.read(module.binary, most=_LARGEST_BINARY, text=False)
            return contains(body, name.encode() + (b"" if _MYPYC in body else b"\0"))
        return True

    def embedded_signatures(self, module: ModuleFiles, name: str) -> list[str]:
        """Return the signatures of a name that a compiled module has in its texts."""
        if module.binary is None:
            return []
        key = (module.binary, name)
        if key not in self._signatures:
            self._binaries.note(module.binary)
            self._signatures[key] = []
            with suppress(DocstowError):
                body = self._boundary.read(module.binary, most=_LARGEST_BINARY, text=False)
                self._signatures[key] = embedded_signatures(body, name)
        return self._signatures[key]

    def _has_word(self, binary: Path, body: bytes, name: bytes) -> bool | None:
        """Return whether a compiled module has a name; None where its texts cannot be read."""
        if CYTHON not in body or b"decompress" not in body:
            is_c = not any(maker in body for maker in (CYTHON, _MYPYC, *_RUST))
            # Classes and constants of Rust have no zero byte behind their names.
            is_constant = not name.islower() or name.startswith(b"__")
            is_c = is_c or (any(maker in body for maker in _RUST) and not is_constant)
            if _CFFI in body and name in _CFFI_NAMES:
                return True
            return contains(body, name + (b"\0" if is_c else b""))
        if binary not in self._texts:
            self._texts[binary] = b"\0".join(compressed_texts(body))
        if not self._texts[binary]:
            return True if contains(body, name) else None
        # What is not in the compressed texts is a word of the C code.
        return contains(body, name + b"\0") or name in self._texts[binary]

    def shown(self, path: Path) -> str:
        """Return a file's path relative to the root."""
        return path.relative_to(self._root).as_posix()

    def _find(self, name: str) -> ModuleFiles | None:
        above, _, last = name.rpartition(".")
        # ``cognito-idp`` is no name of a module, and no service has one with an underscore.
        last = last.replace("_", "-") if above in DESCRIPTIONS else last
        layers: list[Layer] = []
        folder: Path | None = None
        binary: Path | None = None
        package = self.module(above) if above else None
        parent = self._root if not above else package.folder if package else None
        if parent is not None:
            layers, folder, binary = self._find_in(parent, last, "stub")
        foreign = self._stubs(above) if above else self._root
        if foreign is not None:
            stem = last if above else f"{last}{_STUBS}"
            layers = [*self._find_in(foreign, stem, "foreign stub")[0], *layers]
        if folder is not None and above in DESCRIPTIONS:
            layers += self._description(folder, DESCRIPTIONS[above])
        is_there = layers or binary or (folder is not None and self._has_modules(folder))
        is_there = is_there or (folder is not None and name in DESCRIPTIONS)
        return ModuleFiles(name, tuple(layers), folder, binary) if is_there else None

    def _description(self, folder: Path, files: Sequence[str]) -> list[Layer]:
        """Return the newest description of a service, if its folder has one."""
        dated = sorted(
            (each for each, inside in self._list(folder).items() if inside), reverse=True
        )
        found = (
            Layer(folder / date / name, "description", package=False)
            for date in dated
            for name in files
            if name in self._list(folder / date)
        )
        return [*islice(found, 1)]

    def _stubs(self, name: str) -> Path | None:
        first, _, rest = name.partition(".")
        if f"{first}{_STUBS}" not in self._list(self._root):
            return None
        return self._root.joinpath(f"{first}{_STUBS}", *(rest.split(".") if rest else ()))

    def _find_in(
        self, parent: Path, stem: str, role: Literal["stub", "foreign stub"]
    ) -> tuple[list[Layer], Path | None, Path | None]:
        listed = self._list(parent)
        layers: list[Layer] = []
        folder = parent / stem if listed.get(stem) else None
        inside = self._list(folder) if folder else {}
        # A package wins over a module of the same name; a stub may be of either form.
        for entry, as_package in (("__init__.pyi", True), (f"{stem}.pyi", False)):
            if entry in (inside if as_package else listed):
                place = folder if as_package and folder else parent
                layers.append(Layer(place / entry, role, as_package))
                break
        for entry, as_package in (("__init__.py", True), (f"{stem}.py", False)):
            if role == "stub" and entry in (inside if as_package else listed):
                place = folder if as_package and folder else parent
                layers.append(Layer(place / entry, "source", as_package))
                break
        if any(layer.role == "source" for layer in layers):
            return layers, folder, None
        places = [(parent, each, stem) for each in listed]
        places += [(folder, each, "__init__") for each in inside if folder is not None]
        compiled = [
            at / each for at, each, name in places if _stem(each) == name and _is_native(each)
        ]
        layers += [
            Layer(at / each, "source", name == "__init__")
            for at, each, name in places
            if each == f"{name}{CYTHON_SOURCE}" and compiled and role == "stub"
        ]
        return layers, folder, next(iter(compiled), None)

    def _has_modules(self, folder: Path, depth: int = 3) -> bool:
        """Return whether a folder without an ``__init__`` has modules below it: a namespace."""
        listed = self._list(folder)
        if any(not is_folder and _is_module(each) for each, is_folder in listed.items()):
            return True
        inner = [each for each, is_folder in listed.items() if is_folder and each.isidentifier()]
        return depth > 0 and any(self._has_modules(folder / each, depth - 1) for each in inner)

    def _list(self, folder: Path) -> dict[str, bool]:
        if folder not in self._listed:
            self._listed[folder] = {}
            self.stamps.note(folder)
            with (
                suppress(OSError, DocstowError),
                os.scandir(self._boundary.inside(folder)) as found,
            ):
                self._listed[folder] = {entry.name: entry.is_dir() for entry in found}
        return self._listed[folder]


def _is_native(entry: str) -> bool:
    return entry.endswith(_NATIVE_SUFFIXES)


def _is_module(entry: str) -> bool:
    return entry.endswith((".py", ".pyi")) or _is_native(entry)


def _stem(entry: str) -> str:
    """Return a module's name: ``core`` of ``core.cpython-311-x86_64-linux-gnu.so``."""
    return entry.partition(".")[0] if _is_module(entry) else ""
