"""The modules of a package by its ``package.json``: exports, types, main and their versions.

The rules are those of Node and TypeScript. No file is opened: candidates are named, the best first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from docstow.languages.shared.project import About

#: Conditions of an ``import`` and of a ``require`` as a type checker for Node sees them.
IMPORT = frozenset({"types", "import", "node", "default", "module-sync"})
REQUIRE = frozenset({"types", "require", "node", "default", "module-sync"})
#: Modules of Node itself.
BUILTIN = frozenset(
    {
        *("assert", "async_hooks", "buffer", "child_process", "cluster", "console", "constants"),
        *("crypto", "dgram", "diagnostics_channel", "dns", "domain", "events", "fs", "http"),
        *("http2", "https", "inspector", "module", "net", "os", "path", "perf_hooks", "process"),
        *("punycode", "querystring", "readline", "repl", "sea", "sqlite", "stream"),
        *("string_decoder", "sys", "test", "timers", "tls", "trace_events", "tty", "url", "util"),
        *("v8", "vm", "wasi", "worker_threads", "zlib"),
    }
)
#: The compiler that ``typesVersions`` is read for: the newest.
_COMPILER = (6, 0)
#: Conditions within each other that are followed.
_MAX_DEPTH = 16
_DECLARATIONS = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx", ".d.ts"),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}
_ENDINGS = (".ts", ".tsx", ".d.ts", ".d.mts", ".d.cts", "/index.ts", "/index.d.ts", "/index.d.mts")
_SCRIPTS = (".js", ".mjs", ".cjs")
_TYPESCRIPT = (".ts", ".tsx", ".mts", ".cts")
#: A bound of a range; patches and pre-releases are read over.
_BOUND = re.compile(
    r"(<=|>=|<|>|=|~|\^)?\s*v?(\d+)(?:\.(\d+|[xX*]))?(?:\.(?:\d+|[xX*]))?(?:-[\w.]+)?"
)
_HYPHEN = re.compile(r"^\s*(\S+)\s+-\s+(\S+)\s*$")


def resolve_export(
    manifest: Mapping[str, Any], subpath: str, conditions: frozenset[str]
) -> list[str] | None:
    """List the files of a module by ``exports``, the best first; None where there is no such map.

    Args:
        manifest: the package.json.
        subpath: ``.`` or ``./x``.
        conditions: those that hold.
    """
    exports = manifest.get("exports")
    if exports is None:
        return None
    if not isinstance(exports, dict) or not any(str(key).startswith(".") for key in exports):
        exports = {".": exports}
    return _look_up(exports, subpath, conditions)


def resolve_import(manifest: Mapping[str, Any], name: str, conditions: frozenset[str]) -> list[str]:
    """List the files (or packages) of ``#x`` by ``imports``."""
    imports = manifest.get("imports")
    return _look_up(imports, name, conditions) if isinstance(imports, dict) else []


def legacy_paths(manifest: Mapping[str, Any], subpath: str) -> Iterator[str]:
    """List the files of a module by the fields from before ``exports``, the best first."""
    if subpath == ".":
        fields = [manifest.get(key) for key in ("types", "typings", "main", "module")]
        paths = [path for path in fields if isinstance(path, str)] + ["index"]
    else:
        paths = [subpath]
    for path in paths:
        plain = path.removeprefix("./")
        yield from _typed_versions(manifest, plain)
        yield plain


def candidates(path: str) -> Iterator[str]:
    """List the files that a path may mean, declarations first, its JavaScript last."""
    plain = path.rstrip("/")
    for end, others in _DECLARATIONS.items():
        if plain.endswith(end):
            stem = plain.removesuffix(end)
            yield from (stem + other for other in others)
            yield plain
    if plain.endswith(_TYPESCRIPT):
        yield plain
        # Sources are named where only their declarations are published.
        stem, _, end = plain.rpartition(".")
        if not stem.endswith(".d"):
            yield f"{stem}.d.{'ts' if end == 'tsx' else end}"
    yield from (plain + end for end in _ENDINGS)
    yield from (plain + end for end in _SCRIPTS)
    yield from (f"{plain}/index{end}" for end in _SCRIPTS)


def is_typescript(path: str) -> bool:
    """Whether a file is TypeScript, declarations or source."""
    return path.endswith(_TYPESCRIPT)


def subpaths(manifest: Mapping[str, Any]) -> list[str] | None:
    """List the keys of ``exports`` that name modules; None where all files are modules."""
    exports = manifest.get("exports")
    if exports is None:
        return None
    if isinstance(exports, dict) and any(str(key).startswith(".") for key in exports):
        return [key for key, target in exports.items() if target is not None]
    return ["."]


def may_resolve(manifest: Mapping[str, Any], subpath: str) -> bool:
    """Whether ``exports`` or ``typesVersions`` may lead to a module, under any condition."""
    exports, versions = manifest.get("exports"), manifest.get("typesVersions")
    tables = [exports] if isinstance(exports, dict) else []
    if isinstance(versions, dict):
        tables += [each for each in versions.values() if isinstance(each, dict)]
    keys = (subpath, subpath.removeprefix("./"))
    return any(_matches(str(pattern), key) for table in tables for pattern in table for key in keys)


def _matches(pattern: str, key: str) -> bool:
    before, star, after = pattern.partition("*")
    if not star or pattern == "*":
        return pattern == key or (pattern.endswith("/") and key.startswith(pattern))
    return key.startswith(before) and key.endswith(after)


def _look_up(table: Mapping[str, Any], key: str, conditions: frozenset[str]) -> list[str]:
    if key in table and "*" not in key:
        return list(_targets(table[key], "", conditions))
    best, stem = "", ""
    for pattern in table:
        before, star, after = pattern.partition("*")
        if pattern.endswith("/") and not star and key.startswith(pattern):
            before, after, star = pattern, "", "/"
        fits = star and key.startswith(before) and key.endswith(after)
        longer = not best or len(before) > len(best.partition("*")[0])
        if fits and longer and len(key) >= len(before + after):
            best, stem = pattern, key[len(before) : len(key) - len(after)]
    if not best:
        return []
    ending = stem if best.endswith("/") else ""
    return [path + ending for path in _targets(table[best], stem, conditions)]


def _targets(target: object, stem: str, conditions: frozenset[str], depth: int = 0) -> list[str]:
    """List the files of a target; of nested conditions the first that holds and leads anywhere."""
    if isinstance(target, str):
        return [target.replace("*", stem)]
    if depth > _MAX_DEPTH:
        return []
    if isinstance(target, list):
        return [path for each in target for path in _targets(each, stem, conditions, depth + 1)]
    found: list[str] = []
    if isinstance(target, dict):
        for condition, inner in target.items():
            name, _, versions = str(condition).partition("@")
            if name in conditions and (not versions or _includes_compiler(versions)):
                # A file without types may stand before the condition that has them.
                found += _targets(inner, stem, conditions, depth + 1)
                if inner is None:
                    break
    return found


def _typed_versions(manifest: Mapping[str, Any], path: str) -> Iterator[str]:
    versions = manifest.get("typesVersions")
    if not isinstance(versions, dict):
        return
    for versions_range, table in versions.items():
        if isinstance(table, dict) and _includes_compiler(str(versions_range)):
            for target in _look_up(table, path, frozenset()):
                yield target.removeprefix("./")
            return


def _includes_compiler(versions: str) -> bool:
    """Whether the newest compiler is in a range of versions."""
    return any(_holds(part) for part in versions.split("||"))


def _holds(part: str) -> bool:
    part = _HYPHEN.sub(r">=\1 <=\2", part)
    for sign, major, minor in _BOUND.findall(part):
        bound = (int(major), int(minor) if minor.isdigit() else 0)
        wide = _COMPILER[: 2 if minor.isdigit() else 1], bound[: 2 if minor.isdigit() else 1]
        holds = {
            "<": bound > _COMPILER,
            "<=": wide[0] <= wide[1],
            ">": wide[0] > wide[1],
            ">=": bound <= _COMPILER,
        }.get(sign, _COMPILER[0] == bound[0])
        if not holds:
            return False
    return True


def describe_manifest(manifest: Mapping[str, Any]) -> About:
    """Return what a package.json says of its package; old ones list licences as objects."""
    given = manifest.get("license") or manifest.get("licenses") or ""
    names = [
        each.get("type") if isinstance(each, dict) else each
        for each in (given if isinstance(given, list) else [given])
    ]
    words = manifest.get("keywords") or ()
    words = words.split(",") if isinstance(words, str) else words
    summary, engines = manifest.get("description"), manifest.get("engines")
    node = engines.get("node") if isinstance(engines, dict) else ""
    return About(
        summary=" ".join(summary.split()) if isinstance(summary, str) else "",
        keywords=(
            tuple(filter(None, (e.strip() for e in words if isinstance(e, str))))
            if isinstance(words, list)
            else ()
        ),
        licence=" OR ".join(each for each in names if isinstance(each, str)),
        requires=node.strip() if isinstance(node, str) else "",
    )
