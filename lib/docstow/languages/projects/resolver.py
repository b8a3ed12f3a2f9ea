"""What code imports, answered by a project's installed packages.

This room knows which surface speaks for a package. It does not know code.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from docstow.core.errors import PackageNotFound, UnreadableInput
from docstow.languages.python.stdlib import Standard
from docstow.languages.shared import package_files as contents
from docstow.languages.shared.lookup import Installed, Resolver
from docstow.languages.shared.project import Package, Scan
from docstow.languages.shared.sandbox import Boundary

if TYPE_CHECKING:
    from docstow.languages.python.surface import PythonSurface
    from docstow.languages.shared.project import Package, Scan
    from docstow.languages.typescript.surface import NodeSurface, Shared


# The surfaces of a project's packages, opened as they are asked for.


class Opened:
    """What a scan found, open.

    Args:
        scan: of one project.
    """

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        self._python: dict[str, PythonSurface] = {}
        self._node: dict[str, NodeSurface] = {}

    def package(self, name: str) -> Package:
        """An installed package by its name, or by what is imported of it.

        Raises:
            PackageNotFound: there is none; near names are suggested.
        """
        found = self.scan.named(name)
        imported = (self.scan.importing(name, each) for each in ("python", "typescript", "rust"))
        package = next((each for each in (*found, *imported) if each is not None), None)
        if package is None:
            from rapidfuzz import process

            names = dict.fromkeys(each.name for each in self.scan.packages)
            near = process.extract(name, list(names), limit=5, score_cutoff=50)
            raise PackageNotFound(
                f"No package {name!r} is installed or locked in this project; scan_packages lists"
                " them.",
                suggestions=[{"name": each, "score": round(at / 100, 3)} for each, at, _ in near],
            )
        if not package.installed or package.files_root is None:
            raise PackageNotFound(
                f"{package.name} {package.version} is locked but not installed here, so its files"
                " cannot be read; install the project's dependencies first."
            )
        return package

    def surface(self, package: Package) -> PythonSurface | NodeSurface | None:
        """What a package offers; None where there is no reader for its language."""
        if package.ecosystem == "python":
            return self._python_surface(package)
        return self._node_surface(package) if package.ecosystem == "node" else None

    def boundary(self, package: Package) -> Boundary:
        """The package's own folder, which nothing of it leads out of."""
        if package.files_root is None:
            raise PackageNotFound(f"{package.name} is not installed here.")
        self.scan.boundary.inside(package.files_root)
        return Boundary(package.files_root)

    def file(self, package: Package, path: str) -> tuple[str, bytes]:
        """One file of a package, and its path with all links resolved.

        Raises:
            Forbidden: the path leads out of the package.
            DocumentNotFound: there is no such file.
            TooLarge, UnreadableInput: it cannot be shown.
        """
        boundary = self.boundary(package)
        real = boundary.inside(path).relative_to(boundary.root)
        shown = PurePosixPath(*real.parts).as_posix()
        if not contents.owns(package, shown):
            raise UnreadableInput(
                f"{path} is not a file of {package.name}; call without file_path for its tree."
            )
        return shown, boundary.read(path)

    def _python_surface(self, package: Package) -> PythonSurface:
        from docstow.languages.python.surface import PythonSurface

        key = f"{package.files_root} {package.name}"
        if key not in self._python:
            self._python[key] = PythonSurface(package, self.scan.boundary, self._python_sibling)
        return self._python[key]

    def _python_sibling(self, name: str) -> PythonSurface | None:
        package = self.scan.importing(name, "python")
        if package is None or not package.installed or package.files_root is None:
            return None
        return self._python_surface(package)

    def _node_surface(self, package: Package) -> NodeSurface:
        from docstow.languages.typescript.surface import NodeSurface

        key = str(package.files_root)
        if key not in self._node:
            self._node[key] = NodeSurface(
                package, self.scan.boundary, self._node_sibling, lambda: self.scan.packages
            )
        return self._node[key]

    def _node_sibling(self, name: str) -> NodeSurface | None:
        found = [each for each in self.scan.named(name, "node") if each.installed]
        return self._node_surface(found[0]) if found else None


# Modules of a project's own that hide others of their name.


#: Folders that are looked into: a script's own folder comes first where it imports.
_MOST_FOLDERS = 400


_DEEPEST = 2


_SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages", "build", "dist", "target"})


def names(boundary: Boundary) -> frozenset[str]:
    """Names of modules and folders of modules, as files in the same folder import them.

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


#: Packages that bring what Python no longer has, or has otherwise.
_BROUGHT = {"distutils": "setuptools"}


#: Modules that Node itself has; ``node:`` before them is the other spelling.
NODE_MODULES = frozenset(
    {
        *("assert", "async_hooks", "buffer", "child_process", "cluster", "console", "constants"),
        *("crypto", "dgram", "diagnostics_channel", "dns", "domain", "events", "fs", "http"),
        *("http2", "https", "inspector", "module", "net", "os", "path", "perf_hooks", "process"),
        *("punycode", "querystring", "readline", "repl", "stream", "string_decoder", "sys"),
        *("timers", "tls", "trace_events", "tty", "url", "util", "v8", "vm", "wasi"),
        *("worker_threads", "zlib", "test"),
    }
)


#: For how many pieces of code a resolver is used, and how much it may have read.
_MOST_USES = 100


_MOST_BYTES = 32 * 1024 * 1024


#: The package that declares them.
_TYPES = "@types/node"


#: Of these it takes what it does not show: typed arrays of the language, generated protocols.
_NOT_SHOWN = frozenset({"buffer", "inspector"})


@contextmanager
def of_scan(scan: Scan, language: str) -> Iterator[Resolver]:
    """What answers for a project's packages, for one piece of code.

    One for Node is kept with the scan for the next call, unless another call uses it just then.
    """
    if language == "python":
        yield PythonResolver(scan)
        return
    try:
        known = scan.idle.pop()
    except IndexError:
        known = None
    kept = known if isinstance(known, NodeResolver) and known.again() else NodeResolver(scan)
    yield kept
    if not scan.idle:
        scan.idle.append(kept)


class PythonResolver:
    """The Python packages of a project, and the standard library of its version of Python.

    Args:
        scan: what is installed there.
    """

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._surfaces: dict[str, PythonSurface | None] = {}
        self._standard = Standard(scan.python)

    def package_for(self, imported: str) -> Installed | None:
        """The package of a dotted import name; ``python`` for the standard library."""
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
        return self._standard.installed if self.is_standard(imported) else None

    def is_standard(self, imported: str) -> bool:
        """Whether it is a module of Python itself."""
        return self._standard.ever_has(imported)

    def _is_hidden(self, imported: str) -> bool:
        """Whether a module of the project's own may be meant and not Python's."""
        return imported.partition(".")[0] in self._own_modules and self.is_standard(imported)

    @cached_property
    def _own_modules(self) -> frozenset[str]:
        return names(self._scan.boundary)

    def _named(self, imported: str) -> PythonSurface | None:
        if self._standard.has(imported):
            return self._standard.surface
        package = self._scan.importing(imported, "python")
        return self._surface(package) if package is not None else None

    def _surface(self, package: Package) -> PythonSurface | None:
        from docstow.languages.python.surface import PythonSurface

        if package.name not in self._surfaces:
            readable = package.installed and not package.problem and package.files_root
            made = PythonSurface(package, self._scan.boundary, self._named) if readable else None
            self._surfaces[package.name] = made
        return self._surfaces[package.name]


class NodeResolver:
    """The Node packages of a project.

    Args:
        scan: what is installed there.
    """

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._surfaces: dict[str, NodeSurface | None] = {}
        self._shared: Shared | None = None
        self._uses = 0

    def again(self) -> bool:
        """Make ready for another piece of code; whether what was read is still so, and not much."""
        self._uses += 1
        if self._shared is None:
            return True
        files = self._shared.files
        if self._uses > _MOST_USES or files.size > _MOST_BYTES or not files.same():
            return False
        self._shared.globals.forget_own()
        for each in self._surfaces.values():
            if each is not None:
                each.forget()
        return True

    def package_for(self, imported: str) -> Installed | None:
        """The package of a module specifier; of Node's own modules the one that declares them."""
        if self.is_standard(imported):
            return self._builtin(imported)
        package = self._scan.importing(imported, "typescript")
        surface = self._surface(package) if package is not None else None
        if package is None or surface is None:
            return None
        return Installed(package.name, package.version, surface)

    def is_standard(self, imported: str) -> bool:
        """Whether it is a module of Node itself."""
        return imported.startswith("node:") or imported.partition("/")[0] in NODE_MODULES

    def _builtin(self, imported: str) -> Installed | None:
        """A module of Node itself, unless a package of its name may be meant."""
        package = self._scan.importing(_TYPES, "typescript")
        if package is None or self._scan.importing(imported, "typescript") is not None:
            return None
        if not package.installed or package.problem or not package.files_root:
            return None
        if imported.removeprefix("node:").partition("/")[0] in _NOT_SHOWN:
            return None
        if imported not in self._surfaces:
            self._surfaces[imported] = self._made(package, imported)
        surface = self._surfaces[imported]
        return Installed(_TYPES, package.version, surface) if surface is not None else None

    def _named(self, name: str) -> NodeSurface | None:
        package = self._scan.importing(name, "typescript")
        return self._surface(package) if package is not None else None

    def _surface(self, package: Package) -> NodeSurface | None:
        if package.name not in self._surfaces:
            readable = package.installed and not package.problem and package.files_root
            self._surfaces[package.name] = self._made(package, "") if readable else None
        return self._surfaces[package.name]

    def _made(self, package: Package, builtin: str) -> NodeSurface:
        from docstow.languages.typescript.surface import NodeSurface, Shared

        if self._shared is None:
            self._shared = Shared(self._scan.boundary, self._named, self._installed)
        boundary = self._scan.boundary
        return NodeSurface(package, boundary, self._named, self._installed, builtin, self._shared)

    def _installed(self) -> tuple[Package, ...]:
        return tuple(
            each
            for each in self._scan.packages
            if each.ecosystem == "node" and each.installed and not each.problem
        )


class Nothing:
    """No package at all but the standard library: what is asked where no environment is at hand.

    Args:
        language: of the code.
        version: of Python, if anybody says it.
    """

    def __init__(self, language: str, version: str = "") -> None:
        self._standard = Standard(version) if language == "python" else None

    def package_for(self, imported: str) -> Installed | None:
        """``python`` for the standard library; otherwise nothing is installed."""
        if self._standard is None or not self._standard.ever_has(imported):
            return None
        return self._standard.installed

    def is_standard(self, imported: str) -> bool:
        """Whether it is a module of the language itself."""
        if self._standard is not None:
            return self._standard.ever_has(imported)
        return imported.startswith("node:") or imported.partition("/")[0] in NODE_MODULES
