"""Lock files of Node: which versions a project would have.

This room knows the texts of ``package-lock.json``, ``pnpm-lock.yaml``, ``yarn.lock`` and
``bun.lock``. It opens no files. Of YAML it knows what the package managers write: nested mappings,
keys and scalars that may be quoted; all else is passed over. A text that cannot be read raises
ValueError.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from docstow.packages.locked_python import Locked

_KEY = re.compile(r"( *)(\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|[^\s\"'#][^#]*?):(?: +(.*))?$")
_KINDS = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_COMMA = re.compile(r"(\"(?:[^\"\\]|\\.)*\")|,(?=\s*[}\]])")


def npm(text: str) -> list[Locked]:
    """``package-lock.json``, versions 1 to 3."""
    read = json.loads(text)
    if not isinstance(read, dict):
        raise ValueError("not an object")
    packages = read.get("packages")
    if isinstance(packages, dict):
        return list(_npm_packages(packages))
    return list(_npm_tree(read.get("dependencies"), direct=False))


def _npm_packages(packages: Mapping[str, Any]) -> Iterator[Locked]:
    wanted: set[str] = set()
    for place, entry in packages.items():
        if "node_modules" not in place and isinstance(entry, dict):
            wanted |= {name for kind in _KINDS for name in entry.get(kind) or ()}
    for place, entry in packages.items():
        above, found, name = place.rpartition("node_modules/")
        if found and isinstance(entry, dict) and not entry.get("link") and entry.get("version"):
            direct = name in wanted and "node_modules" not in above
            yield Locked(str(entry.get("name") or name), str(entry["version"]), direct)


def _npm_tree(dependencies: object, *, direct: bool, depth: int = 0) -> Iterator[Locked]:
    for name, entry in dependencies.items() if isinstance(dependencies, dict) else ():
        if isinstance(entry, dict) and depth < 50:
            yield Locked(name, str(entry.get("version", "")), direct)
            yield from _npm_tree(entry.get("dependencies"), direct=direct, depth=depth + 1)


def pnpm(text: str) -> list[Locked]:
    """``pnpm-lock.yaml``, versions 5 to 9."""
    found: dict[tuple[str, str], Locked] = {}
    direct: set[str] = set()
    for path, _ in yaml_entries(text):
        if path[0] == "packages" and len(path) == 2:
            name, version = _pnpm_key(path[1])
            if name and version:
                found[name, version] = Locked(name, version)
        elif path[0] == "importers" and len(path) == 4 and path[2] in _KINDS:
            direct.add(path[3])
        elif path[0] in _KINDS and len(path) == 2:
            direct.add(path[1])
    return [Locked(each.name, each.version, each.name in direct) for each in found.values()]


def _pnpm_key(key: str) -> tuple[str, str]:
    """``/@scope/name/1.0.0_peer@2.0.0``, ``/name@1.0.0(peer@2.0.0)`` or ``name@1.0.0``."""
    plain = key.partition("(")[0].removeprefix("/")
    begin = plain.find("/") + 1 if plain.startswith("@") else 0
    if "@" in plain[begin:].partition("_")[0]:
        name, _, version = plain[begin:].partition("@")
        return plain[:begin] + name, version
    name, _, version = plain.rpartition("/")
    return name, version.partition("_")[0]


def yarn(text: str) -> list[Locked]:
    """``yarn.lock`` of both forms; which are direct the manifest says."""
    found: dict[tuple[str, str], Locked] = {}
    name, own = "", False
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            first = line.rstrip(":").partition(",")[0].strip().strip('"')
            name = _descriptor(first)
            own = "@workspace:" in first or name == "__metadata"
            continue
        version = re.match(r" {2}version:? \"?([^\"\s]+)\"?$", line)
        if version and name and not own:
            found[name, version[1]] = Locked(name, version[1])
    if not found and "yarn lockfile" not in text and "__metadata" not in text:
        raise ValueError("not a lock file")
    return list(found.values())


def _descriptor(text: str) -> str:
    """The name of ``@scope/name@npm:^1``."""
    return text[: text.find("@", 1)] if "@" in text[1:] else text


def bun(text: str) -> list[Locked]:
    """``bun.lock``: JSON with commas that JSON does not have."""
    read = json.loads(_COMMA.sub(lambda found: found[1] or "", text))
    if not isinstance(read, dict) or not isinstance(read.get("packages"), dict):
        raise ValueError("not a lock file")
    wanted = {
        name
        for member in (read.get("workspaces") or {}).values()
        for kind in _KINDS
        for name in member.get(kind) or ()
    }
    found = []
    for key, entry in read["packages"].items():
        pinned = entry[0] if isinstance(entry, list) and entry else ""
        name, _, version = str(pinned).rpartition("@")
        if name and version and not version.startswith("workspace:"):
            found.append(Locked(name, version, key in wanted))
    return found


#: What reads a lock file, by its name.
NODE: Mapping[str, Callable[[str], list[Locked]]] = {
    "package-lock.json": npm,
    "npm-shrinkwrap.json": npm,
    "pnpm-lock.yaml": pnpm,
    "yarn.lock": yarn,
    "bun.lock": bun,
}
#: Who writes it.
MANAGERS = {
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    "bun.lock": "bun",
}


def yaml_entries(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """The keys of nested mappings, each with those above it, and its scalar as written."""
    above: list[tuple[int, str]] = []
    for line in text.splitlines():
        found = _KEY.match(line)
        if found is None:
            continue
        indent = len(found[1])
        while above and above[-1][0] >= indent:
            above.pop()
        above.append((indent, _unquoted(found[2])))
        yield tuple(key for _, key in above), _unquoted((found[3] or "").strip())


def _unquoted(text: str) -> str:
    if text[:1] == "'" and text[-1:] == "'" and len(text) > 1:
        return text[1:-1].replace("''", "'")
    if text[:1] == '"' and text[-1:] == '"' and len(text) > 1:
        return text[1:-1]
    return text
