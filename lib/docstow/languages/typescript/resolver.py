"""What JavaScript code imports, answered by a project's packages and Node's own modules."""

from __future__ import annotations

import re
from collections.abc import Sequence

from docstow.languages.shared.engines import Engines
from docstow.languages.shared.findings import Verdict
from docstow.languages.shared.kept import kept
from docstow.languages.shared.language import Checking
from docstow.languages.shared.lookup import Installed, Resolver
from docstow.languages.shared.project import Package, Scan
from docstow.languages.typescript.compiler_release import ENGINE
from docstow.languages.typescript.package_json import BUILTIN
from docstow.languages.typescript.surface import NodeProject, NodeSurface

#: Modules that Node itself has; two more are there only with ``node:`` before them.
_NODE_MODULES = BUILTIN - {"sea", "sqlite"}
#: The package that declares them.
_TYPES = "@types/node"
#: Of these it takes what it does not show: typed arrays of the language, generated protocols.
_NOT_SHOWN = frozenset({"buffer", "inspector"})
#: What a specifier begins with that leads to a package: bundlers' own ways begin otherwise.
_PACKAGE = re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][A-Za-z0-9._~-]*(?=/|$)")


class NodeResolver:
    """The Node packages of a project.

    Args:
        scan: what is installed there.
    """

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._surfaces: dict[str, NodeSurface | None] = {}
        self._project = NodeProject(scan.boundary, self._named, self._installed)

    def again(self) -> bool:
        """Make ready for another piece of code; whether what was read is still so, and not much."""
        return self._project.again()

    def package_for(self, imported: str) -> Installed | None:
        """Return the package of a specifier; of Node's modules the one that declares them."""
        if self.is_standard(imported):
            return self._builtin(imported)
        package = self._scan.importing(imported, "typescript")
        surface = self._surface(package) if package is not None else None
        if package is None or surface is None:
            return None
        found = _PACKAGE.match(imported)
        alias = found[0] if found is not None and found[0] != package.name else ""
        return Installed(package.name, package.version, surface, alias=alias)

    def is_standard(self, imported: str) -> bool:
        """Return whether it is a module of Node itself."""
        return _is_builtin(imported)

    def _builtin(self, imported: str) -> Installed | None:
        """Return a module of Node itself, unless a package of its name may be meant."""
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
        return NodeSurface(package, self._project, builtin)

    def _installed(self) -> tuple[Package, ...]:
        return tuple(
            each
            for each in self._scan.packages
            if each.ecosystem == "node" and each.installed and not each.problem
        )


class BuiltinModules:
    """Node's own modules alone, of which nothing is known."""

    def package_for(self, imported: str) -> Installed | None:
        """Return the package of a specifier; of Node's modules the one that declares them."""
        del imported
        return None

    def is_standard(self, imported: str) -> bool:
        """Return whether it is a module of Node itself."""
        return _is_builtin(imported)


def _is_builtin(imported: str) -> bool:
    return imported.startswith("node:") or imported.partition("/")[0] in _NODE_MODULES


def _verify(code: str, resolver: Resolver, language: str) -> Verdict:
    from docstow.languages.typescript.check import verify

    return verify(code, resolver, typed=language == "typescript")


def _judge(
    engines: Engines, code: str, language: str, resolver: Resolver, scans: Sequence[Scan]
) -> Verdict:
    from docstow.languages.typescript.compiler import judge

    return judge(engines, code, resolver, scans, typed=language == "typescript")


def _packages(imported: str) -> tuple[str, ...]:
    """Return the package of a specifier; none for what is none, such as a bundler's ``@/x``."""
    found = _PACKAGE.match(imported)
    return (found[0],) if found is not None else ()


CHECKING = Checking(
    verify=_verify,
    resolver=lambda scan: kept(scan, NodeResolver),
    standard=lambda _: BuiltinModules(),
    packages=_packages,
    engines=(ENGINE,),
    judge=_judge,
)
