"""What code imports, answered by a project's installed packages.

This room knows which surface speaks for a package. It does not know code.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from docstow.languages.projects import resolver__packages_project_modules as project_modules
from docstow.languages.python.stdlib__packages_standard import Standard
from docstow.languages.shared.lookup import Installed, Resolver

if TYPE_CHECKING:
    from docstow.languages.python.surface import PythonSurface
    from docstow.languages.shared.project import Scan
    from docstow.languages.shared.project__packages_model import Package
    from docstow.languages.typescript.surface import NodeSurface
    from docstow.languages.typescript.surface__packages_node_shared import Shared

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
        return project_modules.names(self._scan.boundary)

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
        from docstow.languages.typescript.surface import NodeSurface
        from docstow.languages.typescript.surface__packages_node_shared import Shared

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
