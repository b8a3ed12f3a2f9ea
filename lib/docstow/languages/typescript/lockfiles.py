"""Lock files of Node: which versions a project would have.

Of YAML only what the package managers write is read: nested mappings, keys and scalars that may be
quoted. A text that cannot be read raises ValueError.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator, Mapping
from typing import Any

from docstow.languages.shared.project import Locked

_YAML = re.compile(r"( *)(\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|[^\s\"'#][^#]*?):(?: +(.*))?$")
_KINDS = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_COMMA = re.compile(r"(\"(?:[^\"\\]|\\.)*\")|,(?=\s*[}\]])")
#: ``@scope/name@1.0.0``, and as older ones of pnpm have it ``/@scope/name/1.0.0_peer@2.0.0``.
_PINNED = re.compile(r"/?((?:@[^/@]+/)?[^/@]+)([@/])(.+)")
#: What stands for another package: ``npm:lodash@4.17.21``.
_ALIASED = re.compile(r"npm:((?:@[^/@]+/)?[^/@]+)@(.+)")
_FOLDERS = ("file:", "link:", "portal:", "workspace:")
_FILES = (".tgz", ".tar.gz", ".tar")
#: What Yarn calls the version of a folder of the project.
_YARN_WORKSPACE = "0.0.0-use.local"
_MAX_DEPTH = 50


def parse_npm(text: str) -> list[Locked]:
    """Parse ``package-lock.json``, versions 1 to 3; the first leaves open which are direct."""
    read = json.loads(text)
    if not isinstance(read, dict):
        raise ValueError("not an object")
    packages = read.get("packages")
    if isinstance(packages, dict):
        return list(_npm_packages(packages))
    return list(_npm_tree(read.get("dependencies"), 0))


def _npm_packages(packages: Mapping[str, Any]) -> Iterator[Locked]:
    wanted: set[str] = set()
    for member, entry in packages.items():
        if "node_modules" not in member and isinstance(entry, dict):
            # A member's own version is beside it, where it is not that of all.
            own = f"{member}/node_modules/" if member else ""
            for name in (name for kind in _KINDS for name in entry.get(kind) or ()):
                nested = f"{own}{name}"
                wanted.add(nested if own and nested in packages else f"node_modules/{name}")
    for place, entry in packages.items():
        _, found, imported = place.rpartition("node_modules/")
        if found and isinstance(entry, dict) and not entry.get("link") and entry.get("version"):
            name = str(entry.get("name") or imported)
            yield _locked(name, str(entry["version"]), imported, direct=place in wanted)


def _npm_tree(dependencies: object, depth: int) -> Iterator[Locked]:
    for imported, entry in dependencies.items() if isinstance(dependencies, dict) else ():
        if not isinstance(entry, dict) or depth >= _MAX_DEPTH:
            continue
        written = str(entry.get("version", ""))
        alias = _ALIASED.fullmatch(written)
        name, version = alias.groups() if alias else (imported, written)
        if not _is_folder(version):
            yield _locked(name, version, imported, direct=False if depth else None)
        yield from _npm_tree(entry.get("dependencies"), depth + 1)


def parse_pnpm(text: str) -> list[Locked]:
    """Parse ``pnpm-lock.yaml``, versions 5 to 9."""
    found: dict[str, dict[str, str]] = {}
    asked: list[tuple[str, str]] = []
    for path, value in yaml_entries(text):
        if path[0] == "packages" and len(path) in (2, 3):
            entry = found.setdefault(path[1], _parse_pinned(path[1].partition("(")[0]))
            if len(path) == 3 and path[2] in ("name", "version"):
                entry[path[2]] = value
        elif path[0] in ("importers", *_KINDS):
            *_, kind, name = ("", *path[:-1]) if path[-1] == "version" else ("", *path)
            if kind in _KINDS and value:
                asked.append((name, value))
    direct = [(name, key) for name, value in asked if (key := _pnpm_key(name, value, found))]
    rest = [("", key) for key in found.keys() - {key for _, key in direct}]
    return [
        _locked(entry["name"], entry["version"], name, direct=bool(name))
        for name, key in (*direct, *sorted(rest))
        if (entry := found[key])["name"] and not _is_folder(entry["version"])
    ]


def _parse_pinned(key: str) -> dict[str, str]:
    parts = _PINNED.fullmatch(key)
    if parts is None:
        return {"name": "", "version": ""}
    name, sign, version = parts.groups()
    return {"name": name, "version": version.partition("_")[0] if sign == "/" else version}


def _pnpm_key(name: str, value: str, known: Container[str]) -> str:
    """Return the key of a name; of an alias, and of what no registry has, it is the value."""
    for each in dict.fromkeys((value, value.partition("(")[0])):
        for key in (each, f"/{name}/{each}", f"/{name}@{each}", f"{name}@{each}"):
            if key in known:
                return key
    return ""


def parse_yarn(text: str) -> list[Locked]:
    """Parse ``yarn.lock`` of both forms; the older leaves open which are direct."""
    blocks: list[tuple[list[str], str]] = []
    asked: set[str] = set()
    descriptors: list[str] = []
    own = section = False
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            parts = line.rstrip().removesuffix(":").split(", ")
            descriptors = [each.strip().strip('"').partition("::")[0] for each in parts]
            own = any("@workspace:" in each for each in descriptors)
        elif locked := re.match(r" {2}version:? \"?([^\"\s]+)\"?$", line):
            listed = descriptors not in ([], ["__metadata"])
            if listed and not own and locked[1] != _YARN_WORKSPACE:
                blocks.append((descriptors, locked[1]))
        elif not line.startswith("    "):
            section = own and line.strip().rstrip(":") in _KINDS
        elif section and (entry := _YAML.match(line)):
            asked.add(f"{unquoted(entry[2])}@{unquoted((entry[3] or '').strip())}")
    if not blocks and "yarn lockfile" not in text and "__metadata" not in text:
        raise ValueError("not a lock file")
    found: dict[tuple[str, str, str], bool | None] = {}
    for descriptors, version in blocks:
        name, imported = _parse_descriptor(descriptors[0])
        direct = not asked.isdisjoint(descriptors) if asked else None
        found[name, version, imported] = found.get((name, version, imported)) or direct
    return [_locked(name, v, imported, direct=at) for (name, v, imported), at in found.items()]


def _parse_descriptor(descriptor: str) -> tuple[str, str]:
    """Return name and imported name of ``@scope/name@npm:^1`` or ``alias@npm:name@^1``."""
    parts = _PINNED.fullmatch(descriptor)
    if parts is None:
        return descriptor, ""
    alias = _ALIASED.fullmatch(parts[3])
    return (alias[1], parts[1]) if alias else (parts[1], "")


def parse_bun(text: str) -> list[Locked]:
    """Parse ``bun.lock``: JSON with commas that JSON does not have."""
    read = json.loads(_COMMA.sub(lambda found: found[1] or "", text))
    packages = read.get("packages") if isinstance(read, dict) else None
    if not isinstance(packages, dict):
        raise ValueError("not a lock file")
    wanted: set[str] = set()
    for member in (read.get("workspaces") or {}).values():
        for name in (name for kind in _KINDS for name in member.get(kind) or ()):
            nested = f"{member.get('name')}/{name}"
            wanted.add(nested if nested in packages else name)
    found = []
    for key, entry in packages.items():
        pinned = _PINNED.fullmatch(str(entry[0])) if isinstance(entry, list) and entry else None
        if pinned is not None and not _is_folder(pinned[3]):
            above, _, last = key.rpartition("/")
            scope = above.rpartition("/")[2]
            imported = f"{scope}/{last}" if scope.startswith("@") else last
            found.append(_locked(pinned[1], pinned[3], imported, direct=key in wanted))
    return found


def _locked(name: str, version: str, imported: str, *, direct: bool | None) -> Locked:
    """Return what is locked; an address or a revision of a repository is no version."""
    exact = version if re.match(r"v?\d", version) else ""
    return Locked(name, exact, direct, imported=imported if imported != name else "")


def _is_folder(version: str) -> bool:
    """Whether a folder of the project stands where a version would."""
    return version.startswith(_FOLDERS) and not version.endswith(_FILES)


def yaml_entries(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Iterate over the keys of nested mappings, each with those above it and its scalar."""
    above: list[tuple[int, str]] = []
    for line in text.splitlines():
        found = _YAML.match(line)
        if found is None:
            continue
        indent = len(found[1])
        while above and above[-1][0] >= indent:
            above.pop()
        above.append((indent, unquoted(found[2])))
        yield tuple(key for _, key in above), unquoted((found[3] or "").strip())


def unquoted(text: str) -> str:
    """Return a scalar or key of YAML without its quotes."""
    if text[:1] == "'" and text[-1:] == "'" and len(text) > 1:
        return text[1:-1].replace("''", "'")
    if text[:1] == '"' and text[-1:] == '"' and len(text) > 1:
        return text[1:-1]
    return text
