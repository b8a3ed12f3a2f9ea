"""What code imports, answered by a project's installed packages.

This room knows which surface speaks for a package. It does not know code.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from docstow.verify.surfaces import Installed

if TYPE_CHECKING:
    from docstow.packages.found import Scan
    from docstow.packages.model import Package
    from docstow.packages.node_surface import NodeSurface
    from docstow.packages.python_surface import PythonSurface

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

#: The package that declares them.
_TYPES = "@types/node"
#: Of these it takes what it does not show: typed arrays of the language, generated protocols.
_NOT_SHOWN = frozenset({"buffer", "inspector"})


class PythonResolver:
    """The Python packages of a project.

    Args:
        scan: what is installed there.
    """

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._surfaces: dict[str, PythonSurface | None] = {}

    def package_for(self, imported: str) -> Installed | None:
        """The package of a dotted import name."""
        package = self._scan.importing(imported, "python")
        surface = self._surface(package) if package is not None else None
        if package is None or surface is None:
            return None
        return Installed(package.name, package.version, surface)

    def is_standard(self, imported: str) -> bool:
        """Whether it is a module of Python itself."""
        return imported.partition(".")[0] in sys.stdlib_module_names

    def _named(self, imported: str) -> PythonSurface | None:
        package = self._scan.importing(imported, "python")
        return self._surface(package) if package is not None else None

    def _surface(self, package: Package) -> PythonSurface | None:
        from docstow.packages.python_surface import PythonSurface

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
        from docstow.packages.node_surface import NodeSurface

        package = self._scan.importing(_TYPES, "typescript")
        if package is None or self._scan.importing(imported, "typescript") is not None:
            return None
        if not package.installed or package.problem or not package.files_root:
            return None
        if imported.removeprefix("node:").partition("/")[0] in _NOT_SHOWN:
            return None
        if imported not in self._surfaces:
            self._surfaces[imported] = NodeSurface(
                package, self._scan.boundary, self._named, self._installed, builtin=imported
            )
        surface = self._surfaces[imported]
        return Installed(_TYPES, package.version, surface) if surface is not None else None

    def _named(self, name: str) -> NodeSurface | None:
        package = self._scan.importing(name, "typescript")
        return self._surface(package) if package is not None else None

    def _surface(self, package: Package) -> NodeSurface | None:
        from docstow.packages.node_surface import NodeSurface

        if package.name not in self._surfaces:
            readable = package.installed and not package.problem and package.files_root
            made = None
            if readable:
                made = NodeSurface(package, self._scan.boundary, self._named, self._installed)
            self._surfaces[package.name] = made
        return self._surfaces[package.name]

    def _installed(self) -> tuple[Package, ...]:
        return tuple(
            each
            for each in self._scan.packages
            if each.ecosystem == "node" and each.installed and not each.problem
        )


class Nothing:
    """No package at all: what is asked where no environment is at hand.

    Args:
        language: of the code.
    """

    def __init__(self, language: str) -> None:
        self._language = language

    def package_for(self, imported: str) -> None:
        """None: nothing is installed."""

    def is_standard(self, imported: str) -> bool:
        """Whether it is a module of the language itself."""
        if self._language == "python":
            return imported.partition(".")[0] in sys.stdlib_module_names
        return imported.startswith("node:") or imported.partition("/")[0] in NODE_MODULES
