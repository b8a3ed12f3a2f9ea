"""How projects are scanned for Node, and how texts about its packages are recognised.

Flat, nested and linked layouts of ``node_modules`` are followed, and the stores that links lead to,
as far as they are inside the boundary.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from docstow.core import npm_ranges
from docstow.core.errors import DocstowError, Forbidden
from docstow.core.patterns import lazy_pattern
from docstow.core.versions import Version
from docstow.languages.shared.boundary import Boundary, shown
from docstow.languages.shared.language import QUOTED, ErrorMessageFormat, Mention, Texts, Versions
from docstow.languages.shared.project import Environment, Locked, Package, Problem, ordered
from docstow.languages.shared.scanning import (
    Finder,
    LockFile,
    ReadNames,
    ScanCache,
    Scanning,
    Walk,
    table_at,
)
from docstow.languages.typescript import lockfiles
from docstow.languages.typescript.package_json import BUILTIN

_YARN = lazy_pattern(r"^# yarn lockfile|^__metadata:", re.MULTILINE)
_PNPM = lazy_pattern(r"^lockfileVersion:", re.MULTILINE)
#: How to have a form that can be read.
_BUN_ADVICE = "to have bun.lock, run bun install --save-text-lockfile"
_INSTALL = "npm install"
_MAX_MANIFEST = 2 * 1024 * 1024
_MAX_SUMMARY = 300
_MAX_PACKAGES = 20_000
#: Parts of a path; a store of links and nested packages need a few dozen.
_MAX_PARTS = 120
_STORES = {".pnpm": "pnpm", ".bun": "bun", ".store": "npm"}
#: What Yarn calls the package of each folder of its store; a link beside it has the name.
_YARN_LINK = "package"
_MANAGER_FILES = {
    ".package-lock.json": "npm",
    ".yarn-integrity": "yarn",
    ".yarn-state.yml": "yarn",
    ".modules.yaml": "pnpm",
}
#: Names that a registry takes, those of its first years included.
_NAME = lazy_pattern(
    r"(?:@[^/\\%:?#\s\x00-\x1f@]+/)?[^./\\%:?#\s\x00-\x1f@][^/\\%:?#\s\x00-\x1f@]*"
)
#: Comments of code may cite an error.
_TSC = lazy_pattern(r"^(?![ \t]*(?://|\*)).*\berror TS\d{4}: ", re.MULTILINE)
_UNRESOLVED = (
    r"Can't resolve|Could not resolve|Failed to resolve import|Cannot find (?:module|package)"
    r"|Could not find a declaration file for module"
)
_NODE = lazy_pattern(
    # Jest, webpack, esbuild and Vite begin so.
    r"^[ \t]*(?:Module not found: |\S+ \[ERROR\] |\[vite\] |Cannot find module '[^']+' from )"
    r"|^Module not found: Error: |"
    r"^(?:Uncaught )?\w*Error(?: \[ERR_\w+\])?: (?:Cannot find|Package subpath|The requested)"
    r"|^[ \t]+at .+node_modules/",
    re.MULTILINE,
)
_NO_EXPORT = lazy_pattern(
    '(?:Module )?[\'"\u2018]*"([^\'"]+)"[\'\u2019]* has no (?:default export|exported member)'
    "(?: named)?(?: ['\"\u2018]?(\\w+))?"
)
_NO_SPECIFIER = lazy_pattern(rf"(?:{_UNRESOLVED}) " + QUOTED)
_NO_SUBPATH = lazy_pattern(
    r"subpath '\./([^']+)' is not defined by \"exports\" in "
    r".*node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+)"
)
_REQUESTED = lazy_pattern(r"requested module '([^']+)' does not provide an export named '(\w+)'")
#: A type that is a module's names: ``typeof import("…/node_modules/zod/index")``.
_NO_PROPERTY = lazy_pattern(
    r"Property '(\w+)' does not exist on type 'typeof import\(\"([^\"]+)\"\)'"
)
_NODE_FRAME = lazy_pattern(r"node_modules[/\\]((?:@[\w.-]+[/\\])?[\w.-]+)[/\\]")
_FILE = lazy_pattern(r"\.(?:[cm]?[jt]sx?|py|rs)$")
_IMPORTS = lazy_pattern(
    # Up to the next keyword and no further: texts may have thousands of them.
    r"(?:^|[;}\s])(?:import|export)\b(?:(?!\b(?:im|ex)port\b)[^'\"`;(=])*?\bfrom\s*['\"]([^'\"\s]+)['\"]"
    r"|(?:^|[;}\s])import\s*['\"]([^'\"\s]+)['\"]"
    r"|\b(?:require|import)\(\s*['\"]([^'\"\s]+)['\"]\s*\)"
)
_CODE = lazy_pattern(
    r"^[ \t]*(import .* from ['\"]|import ['\"]"
    r"|export (default|const|function|class|type|interface)"
    r"|const \w+ = require\()|=>|^[ \t]*(const|let) .*=|\binterface \w+ \{",
    re.MULTILINE,
)
#: What only plain scripts of Node do.
_SCRIPT = lazy_pattern(
    r"^[ \t]*(?:(?:const|let|var)\b.*= )?(?:require\(|module\.exports\b)", re.MULTILINE
)
#: What only modules, or only TypeScript, have.
_NO_SCRIPT = lazy_pattern(
    r"^[ \t]*(?:import|export)\b|\b(?:interface|enum|type) \w+|\)\s*:|: \w+ =", re.MULTILINE
)


class NodeFinder(Finder):
    """Finds ``node_modules`` folders, those below others' left out."""

    claimed = linked = frozenset(("node_modules",))

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._found: list[Path] = []
        self._plug_and_play: list[Path] = []

    def claim(self, folder: Path) -> None:
        """Note a ``node_modules``."""
        if folder not in self._found:
            self._found.append(folder)

    def note_file(self, file: Path) -> None:
        """Note a folder in which Yarn keeps packages in archives."""
        if file.name in (".pnp.cjs", ".pnp.js"):
            self._plug_and_play.append(file.parent)

    def environments(self, asked: frozenset[str], memory: ScanCache) -> list[Environment]:
        """Read the packages of each folder."""
        seen: set[str] = set()
        boundary = self._walk.boundary
        all_modules = [NodeModules(folder, boundary, memory, seen) for folder in self._found]
        # What a member of a workspace asks for may be in another's store: first come links to it.
        tops = [modules.list_top() for modules in all_modules]
        found = []
        for folder, modules, top in zip(self._found, all_modules, tops, strict=True):
            packages = [
                *(replace(each, direct=each.import_names[0] in asked) for each in top),
                *modules.list_nested(),
            ]
            self._walk.problems += modules.problems
            if packages:
                location, manager = shown(folder, boundary), modules.manager
                listed = ordered(packages)
                found.append(Environment("node", "node_modules", location, manager, listed))
        return found

    def remarks(self) -> list[Problem]:
        """Return how to have packages that Yarn keeps in archives."""
        reason = (
            "Yarn Plug'n'Play keeps packages in archives, which are not read: set nodeLinker: "
            "node-modules in .yarnrc.yml and run yarn install"
        )
        return [Problem(shown(each, self._walk.boundary), reason) for each in self._plug_and_play]


def read_dependencies(text: str) -> set[str]:
    """Read the dependencies of all kinds, by their names as written."""
    read = json.loads(text.removeprefix("\ufeff"))
    if not isinstance(read, dict):
        raise ValueError("not an object")
    kinds = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
    return {name for kind in kinds for name in table_at(read, kind)}


def _recognise(text: str) -> ReadNames | None:
    return read_dependencies if text.lstrip().startswith("{") else None


def _lock_text(text: str) -> Iterator[Callable[[str], list[Locked]]]:
    if text.lstrip().startswith("{"):
        yield lockfiles.parse_npm
        yield lockfiles.parse_bun
    elif _YARN.search(text):
        yield lockfiles.parse_yarn
    elif _PNPM.search(text):
        yield lockfiles.parse_pnpm


def _advice(names: Collection[str]) -> str:
    return _INSTALL if set(names) == {"package.json"} else ""


class NodeModules:
    """One ``node_modules`` folder with all that is below it.

    Args:
        folder: inside the boundary, links resolved.
        boundary: what may be opened.
        memory: what earlier scans found.
        seen: real folders of packages that are listed already; it is added to.
    """

    def __init__(self, folder: Path, boundary: Boundary, memory: ScanCache, seen: set[str]) -> None:
        self._folder = folder
        self._boundary = boundary
        self._memory = memory
        self._seen = seen
        self._waiting: list[tuple[Path, bool]] = []
        self.manager = ""
        self.problems: list[Problem] = []

    def list_top(self) -> list[Package]:
        """List the packages that are directly in the folder; a project's own code sees these."""
        return self._below([(self._folder, False)], deep=False)

    def list_nested(self) -> list[Package]:
        """List the nested packages and those of stores that are not at the top of any folder."""
        return self._below(self._waiting, deep=True)

    def _below(self, waiting: list[tuple[Path, bool]], *, deep: bool) -> list[Package]:
        found: list[Package] = []
        while waiting:
            folder, stored = waiting.pop(0)
            following = waiting if deep else self._waiting
            for place, linked in self._entries(folder, following):
                # What a store's links lead to is in the store too.
                if linked and stored and not _is_yarn_link(place):
                    continue
                if len(self._seen) >= _MAX_PACKAGES:
                    self._problem(
                        folder, f"more than {_MAX_PACKAGES} packages; the others are left out"
                    )
                    return found
                real = self._real(place, linked=linked)
                if real is None or str(real) in self._seen:
                    continue
                self._seen.add(str(real))
                package = self._read(place, real)
                if package is not None:
                    found.append(package)
                if not package or not package.editable:
                    following.append((real / "node_modules", False))
        return found

    def _entries(
        self, folder: Path, following: list[tuple[Path, bool]]
    ) -> Iterator[tuple[Path, bool]]:
        """Iterate over the package folders of a ``node_modules``, and whether each is a link.

        Stores are added to the folders that follow.
        """
        for name, place, linked in self._listed(folder):
            if name.startswith("@") and not linked:
                yield from (
                    (inner, is_link)
                    for each, inner, is_link in self._listed(place)
                    if not each.startswith(".")
                )
            elif name in _STORES and not linked:
                inner_folders = [
                    inner
                    for each, inner, is_link in self._listed(place)
                    if not is_link and each != "node_modules"
                ]
                for inner in inner_folders[:1]:
                    self._memory.watch(inner / _YARN_LINK)
                listed = self._listed(inner_folders[0]) if inner_folders else []
                by_yarn = any(each == _YARN_LINK for each, _, _ in listed)
                self.manager = self.manager or ("yarn" if by_yarn else _STORES[name])
                following += [(inner / "node_modules", True) for inner in inner_folders]
            elif not name.startswith("."):
                yield place, linked

    def _listed(self, folder: Path) -> list[tuple[str, Path, bool]]:
        self._memory.watch(folder)
        if _is_link(folder):
            real = self._real(folder, linked=True)
            if real is None or str(real) in self._seen:
                return []
            self._seen.add(str(real))
            folder = real
        if len(folder.parts) > _MAX_PARTS:
            self._problem(folder, "packages are nested too deep to be looked into; install again")
            return []
        try:
            with os.scandir(folder) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except FileNotFoundError:
            return []
        except OSError as error:
            self._problem(folder, f"it cannot be listed: {error.strerror}")
            return []
        if folder == self._folder:
            named = [
                _MANAGER_FILES[entry.name] for entry in entries if entry.name in _MANAGER_FILES
            ]
            self.manager = named[0] if named else ""
        return [
            (entry.name, Path(entry.path), entry.is_symlink())
            for entry in entries
            if entry.is_symlink() or entry.is_dir()
        ]

    def _real(self, place: Path, *, linked: bool) -> Path | None:
        if not linked:
            return place
        self._memory.watch(place)
        try:
            real = self._boundary.inside(place)
            status = real.stat()
        except Forbidden:
            self._problem(
                place,
                "the link leads out of the root, or in a circle; give a --root that holds both",
            )
            return None
        except OSError:
            self._problem(place, "the link leads nowhere; install again")
            return None
        return real if stat.S_ISDIR(status.st_mode) else None

    def _read(self, place: Path, real: Path) -> Package | None:
        manifest = real / "package.json"
        try:
            fact = self._memory.recall(
                shown(manifest, self._boundary), (manifest,), lambda: self._read_manifest(real)
            )
        except FileNotFoundError:
            self._problem(place, "it has no package.json: half installed; install again")
            return None
        except OSError as error:
            self._problem(place, f"it cannot be read: {error.strerror}")
            return None
        if "problem" in fact:
            self._problem(place, fact["problem"])
            return None
        # A link to a folder outside any node_modules is a member of the workspace.
        member = "node_modules" not in shown(real, self._boundary).split("/")
        # It is imported by the name of its place: an alias has another one than its manifest.
        scope = place.parent.name
        imported = f"{scope}/{place.name}" if scope.startswith("@") else place.name
        return Package(
            ecosystem="node",
            name=fact["name"] if _NAME.fullmatch(fact["name"]) else imported,
            version=fact["version"],
            location=shown(place, self._boundary),
            import_names=(imported,),
            direct=False,
            language=fact["language"],
            summary=fact["summary"],
            installed=True,
            editable=member,
            files_root=real,
        )

    def _read_manifest(self, folder: Path) -> dict[str, Any]:
        try:
            body = self._boundary.read(folder / "package.json", most=_MAX_MANIFEST)
            manifest = json.loads(body.decode("utf-8-sig", "replace"))
        except Forbidden:
            return {"problem": "its package.json leads out of the root; install again"}
        except DocstowError as error:
            return {"problem": f"{error.message.rstrip('.')}; install again"}
        except (ValueError, RecursionError):
            return {"problem": "its package.json is not JSON; install again"}
        if not isinstance(manifest, dict):
            return {"problem": "its package.json is not an object; install again"}
        summary = manifest.get("description")
        return {
            "name": _string(manifest.get("name")),
            "version": _string(manifest.get("version")),
            "summary": _string(summary)[:_MAX_SUMMARY],
            "language": "typescript" if _typed(manifest, folder) else "javascript",
        }

    def _problem(self, place: Path, reason: str) -> None:
        self.problems.append(Problem(shown(place, self._boundary), reason))


def _is_link(place: Path) -> bool:
    try:
        return place.is_symlink()
    except OSError:
        return False


def _is_yarn_link(place: Path) -> bool:
    """Whether a link in Yarn's store leads to the package that it belongs to."""
    try:
        *above, name = place.readlink().parts
    except (OSError, ValueError):
        return False
    return name == _YARN_LINK and set(above) == {".."}


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _typed(manifest: dict[str, Any], folder: Path) -> bool:
    """Whether a package comes with declarations."""
    if manifest.get("types") or manifest.get("typings"):
        return True
    if '"types"' in json.dumps(manifest.get("exports")):
        return True
    return (folder / "index.d.ts").is_file()


def find_mentions(lines: Sequence[str]) -> Iterator[Mention]:
    """Yield the names that the lines of a message speak of."""
    for number, line in enumerate(lines, 1):
        for specifier, name in (*_NO_EXPORT.findall(line), *_REQUESTED.findall(line)):
            inside = _NODE_FRAME.search(specifier)
            package = inside[1].replace("\\", "/") if inside is not None else specifier
            yield Mention(package, (name,) if name else (), number)
        for name, specifier in _NO_PROPERTY.findall(line):
            inside = _NODE_FRAME.search(specifier)
            yield Mention(inside[1] if inside is not None else specifier, (name,), number)
        for subpath, package in _NO_SUBPATH.findall(line):
            yield Mention(f"{package}/{subpath}", (), number)
        for specifier in _NO_SPECIFIER.findall(line):
            if not specifier.startswith((".", "/")) and not _FILE.search(specifier):
                yield Mention(specifier, (), number)
        for package in _NODE_FRAME.findall(line):
            yield Mention(package.replace("\\", "/"), (), number)


def _is_package(name: str) -> bool:
    if name in BUILTIN or name.partition("/")[0] in BUILTIN - {"constants", "test"}:
        return False
    return not name.startswith((".", "/", "node:", "#", "~", "@/", "$"))


def _dialect(code: str) -> str:
    plain = _SCRIPT.search(code) and not _NO_SCRIPT.search(code)
    return "javascript" if plain else "typescript"


SCANNING = Scanning(
    finder=NodeFinder,
    manifests=("package.json",),
    read_manifest=lambda file, _: read_dependencies if file.name == "package.json" else None,
    manifest_of=_recognise,
    lock_files={
        "package-lock.json": LockFile("npm", lockfiles.parse_npm),
        "npm-shrinkwrap.json": LockFile("npm", lockfiles.parse_npm),
        "pnpm-lock.yaml": LockFile("pnpm", lockfiles.parse_pnpm),
        "yarn.lock": LockFile("yarn", lockfiles.parse_yarn),
        "bun.lock": LockFile("bun", lockfiles.parse_bun),
        "bun.lockb": LockFile("bun", lockfiles.parse_bun, _BUN_ADVICE),
    },
    lock_text=_lock_text,
    locked_language="javascript",
    install=_INSTALL,
    advice=_advice,
)
TEXTS = Texts(
    messages=(
        ErrorMessageFormat("typescript", _TSC, find_mentions, compiled=True),
        ErrorMessageFormat("javascript", _NODE, find_mentions),
    ),
    imports=_IMPORTS,
    is_package=_is_package,
    code=_CODE,
    dialect=_dialect,
)


def _order(version: str) -> tuple[bool, Version | str]:
    parsed = npm_ranges.parse_version(version)
    return parsed is not None, version if parsed is None else parsed


VERSIONS = Versions(choose=npm_ranges.choose, order=_order)
