"""The distributions of a Python environment, from the metadata that installers wrote.

No code of a package is run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from docstow.core.errors import DocstowError, Forbidden
from docstow.core.language_names import folded
from docstow.languages.python.editable import find_checkout, offered_names
from docstow.languages.python.import_names import import_names, path_files, record_paths
from docstow.languages.shared.project import Package, Problem
from docstow.languages.shared.sandbox import Boundary, shown
from docstow.languages.shared.scanning import ScanCache

_LARGEST_METADATA = 4 * 1024 * 1024
_LARGEST_RECORD = 32 * 1024 * 1024
_LONGEST_SUMMARY = 300
#: The name of a distribution, in letters of any alphabet, as private registries allow.
_DISTRIBUTION_NAME = re.compile(r"\w(?:[\w.-]*\w)?")


class Site:
    """One folder of import names.

    Attributes:
        problems: entries that could not be read.
        requested: names of distributions that were installed by name.

    Args:
        folder: ``site-packages``.
        boundary: what may be opened.
        memory: what was read of its entries before.
    """

    def __init__(self, folder: Path, boundary: Boundary, memory: ScanCache) -> None:
        self._folder = folder
        self._boundary = boundary
        self._memory = memory
        self.problems: list[Problem] = []
        self.requested: set[str] = set()

    def packages(self) -> list[Package]:
        """Return its distributions; of one that is there twice the one installed last."""
        found: dict[str, tuple[float, Package]] = {}
        self._memory.watch(self._folder)
        try:
            self._boundary.inside(self._folder)
            entries = sorted(each.name for each in self._folder.iterdir())
        except Forbidden:
            self._problem(self._folder, "it leads out of the root; give a --root that holds it")
            return []
        except OSError as error:
            self._problem(self._folder, f"it cannot be listed: {error.strerror}")
            return []
        for entry in entries:
            info = self._folder / entry
            try:
                package = self._package(entry)
                changed = info.stat().st_mtime if package is not None else 0.0
            except OSError as error:
                self._problem(info, f"it cannot be read: {error.strerror}; install it again")
                continue
            if package is None:
                continue
            name = folded(package.name)
            if name in found:
                self._problem(info, f"{package.name} is there twice; install it again")
            if name not in found or changed > found[name][0]:
                found[name] = changed, package
        return [package for _, package in found.values()]

    def _package(self, entry: str) -> Package | None:
        info = self._folder / entry
        if entry.endswith(".dist-info"):
            if entry.startswith("~"):
                self._problem(info, "an update was broken off; delete it")
                return None
            return self._remembered(info, "METADATA", self._dist_info)
        if entry.endswith(".egg-info"):
            return self._remembered(info, "PKG-INFO" if info.is_dir() else "", self._egg_info)
        if entry.endswith(".egg"):
            if info.is_dir():
                return self._remembered(info, "EGG-INFO/PKG-INFO", self._egg)
            return self._remembered(info, "", self._zipped)
        if entry.endswith(".egg-link"):
            return self._remembered(info, "", self._egg_link)
        return None

    def _remembered(self, info: Path, metadata: str, make: Any) -> Package | None:
        """Return the package of an entry, which is kept until the entry or its metadata changes."""
        try:
            files = (info, info / metadata)
            fact = self._memory.recall(
                shown(info, self._boundary), files, lambda: _read_fact(make, info)
            )
        except FileNotFoundError:
            self._problem(info, f"it has no {metadata}: half installed; install it again")
            return None
        except OSError as error:
            self._problem(info, f"it cannot be read: {error.strerror}; install it again")
            return None
        if reason := fact.get("problem"):
            self._problem(info, reason)
        if "name" not in fact:
            return None
        return self._build_package(info, fact)

    def _build_package(self, info: Path, fact: dict[str, Any]) -> Package:
        if fact.get("requested"):
            self.requested.add(folded(fact["name"]))
        root, names, problem = self._folder, tuple(fact["names"]), ""
        place = fact.get("checkout")
        if place == "":
            problem = "its modules have other names than their folders; install it without -e"
            self._problem(info, problem)
        elif place is not None:
            try:
                root = self._boundary.inside(Path(place))
                # A checkout changes without its installation.
                names = names or offered_names(root, fact["name"], self._memory.watch)
                self._memory.watch(root)
                if not root.is_dir():
                    problem = "its checkout is not there; install it again"
            except Forbidden:
                problem = "its checkout is outside the root; give a --root that holds both"
            except OSError as error:
                problem = f"its checkout cannot be read: {error.strerror}; install it again"
            if problem:
                self._problem(info, problem)
        location = root if not problem else self._folder
        return Package(
            ecosystem="python",
            name=fact["name"],
            version=fact["version"],
            location=shown(location, self._boundary),
            import_names=names,
            direct=False,
            language="python",
            summary=fact["summary"],
            installed=True,
            editable=place is not None,
            problem=problem,
            files_root=None if problem else root,
            info_root=info if info.name.endswith(".dist-info") else None,
        )

    def _dist_info(self, info: Path) -> dict[str, Any]:
        fact = self._metadata(info / "METADATA", info.name)
        paths: Sequence[str] = ()
        try:
            record = self._boundary.read(info / "RECORD", most=_LARGEST_RECORD)
            paths = tuple(record_paths(record.decode("utf-8", "replace")))
        except DocstowError:
            fact["problem"] = "it has no RECORD that can be read: half installed; install it again"
        namespaces = self._lines(info / "namespace_packages.txt")
        names = import_names(paths, fact["name"], namespaces)
        if not paths:
            names = tuple(self._lines(info / "top_level.txt"))
        found = find_checkout(self._folder, path_files(paths), info, self._boundary)
        # Other distributions write .pth files, too, to run code when Python starts.
        if found and (not names or (info / "direct_url.json").is_file()):
            fact["checkout"], names = found[0], tuple(found[1])
        return fact | {"names": names, "requested": (info / "REQUESTED").is_file()}

    def _egg_info(self, info: Path) -> dict[str, Any]:
        if not info.is_dir():
            fact = self._metadata(info, info.name)
            return fact | {"names": self._guess_names(fact["name"])}
        fact = self._metadata(info / "PKG-INFO", info.name)
        listed = [os.path.normpath(f"{info.name}/{each}") for each in self._installed(info)]
        namespaces = self._lines(info / "namespace_packages.txt")
        names = import_names(listed, fact["name"], namespaces)
        names = names or tuple(self._lines(info / "top_level.txt"))
        return fact | {"names": names or self._guess_names(fact["name"])}

    def _installed(self, info: Path) -> list[str]:
        return self._lines(info / "installed-files.txt")

    def _egg(self, info: Path) -> dict[str, Any]:
        fact = self._metadata(info / "EGG-INFO" / "PKG-INFO", info.name)
        names = self._lines(info / "EGG-INFO" / "top_level.txt")
        return fact | {"names": names, "checkout": str(info)}

    def _zipped(self, info: Path) -> dict[str, Any]:
        name, version = _split_entry_name(info.name)
        problem = "it is a zipped egg, which is not read; install it with pip, which unpacks it"
        return {"name": name, "version": version, "summary": "", "names": [], "problem": problem}

    def _egg_link(self, info: Path) -> dict[str, Any]:
        place = next(iter(self._lines(info)), "")
        folder = self._boundary.inside(Path(place)) if Path(place).is_absolute() else None
        if folder is None:
            return {"problem": "it does not say where its checkout is; install it again"}
        for found in sorted(folder.glob("*.egg-info")):
            fact = self._metadata(found / "PKG-INFO", found.name)
            names = self._lines(found / "top_level.txt")
            return fact | {"names": names, "checkout": str(folder)}
        return {"problem": "its checkout has no .egg-info; install it again"}

    def _metadata(self, path: Path, entry: str) -> dict[str, Any]:
        body = self._boundary.read(path, most=_LARGEST_METADATA)
        fields = dict(_metadata_fields(body.decode("utf-8", "replace")))
        name, version = _split_entry_name(entry)
        stated = fields.get("name", "")
        summary = fields.get("summary", "")
        return {
            "name": stated if _DISTRIBUTION_NAME.fullmatch(stated) else name,
            "version": fields.get("version") or version,
            "summary": "" if summary == "UNKNOWN" else summary[:_LONGEST_SUMMARY],
        }

    def _lines(self, path: Path) -> list[str]:
        try:
            text = self._boundary.read(path).decode("utf-8", "replace")
        except DocstowError:
            return []
        return [line.strip() for line in text.splitlines() if line.strip()]

    def _guess_names(self, name: str) -> tuple[str, ...]:
        plain = name.replace("-", "_").replace(".", "_")
        for each in (plain, plain.lower()):
            if (self._folder / each).is_dir() or (self._folder / f"{each}.py").is_file():
                return (each,)
        return ()

    def _problem(self, place: Path, reason: str) -> None:
        self.problems.append(Problem(shown(place, self._boundary), reason))


def _read_fact(make: Any, info: Path) -> dict[str, Any]:
    """Read the fact of an entry; the reason where there is none is a fact, too."""
    try:
        fact: dict[str, Any] = make(info)
    except Forbidden:
        return {"problem": "it leads out of the root; install it again, or give a --root with both"}
    except DocstowError as error:
        return {"problem": f"{error.message.rstrip('.')}; install it again"}
    except OSError as error:
        return {"problem": f"it cannot be read: {error.strerror}; install it again"}
    return fact | {"names": list(fact["names"])} if "names" in fact else fact


def _split_entry_name(entry: str) -> tuple[str, str]:
    """Return name and version of a distribution, by the name of its entry."""
    name, _, version = entry.rpartition(".")[0].partition("-")
    return name, version.partition("-")[0]


def _metadata_fields(text: str) -> Iterator[tuple[str, str]]:
    """Yield the fields of core metadata before its body, the first of each name in lower case."""
    seen = set()
    for line in text.splitlines():
        if not line.strip():
            return
        name, colon, value = line.partition(":")
        if colon and not line[:1].isspace() and name.lower() not in seen:
            seen.add(name.lower())
            yield name.lower(), value.strip()
