"""Error messages of tsc, bundlers and Node, and what JavaScript code imports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from docstow.languages.shared.language import QUOTED, Mention, MessageForm, Texts
from docstow.languages.typescript.package_json import BUILTIN

_TSC = re.compile(r"\berror TS\d{4}: ")
_UNRESOLVED = (
    r"Can't resolve|Could not resolve|Failed to resolve import|Cannot find (?:module|package)"
    r"|Could not find a declaration file for module"
)
_NODE = re.compile(
    # Jest, webpack, esbuild and Vite begin so.
    r"^\s*(?:Module not found: |\S+ \[ERROR\] |\[vite\] |Cannot find module '[^']+' from )"
    r"|^Module not found: Error: |"
    r"^(?:Uncaught )?\w*Error(?: \[ERR_\w+\])?: (?:Cannot find|Package subpath|The requested)"
    r"|^\s+at .+node_modules/",
    re.MULTILINE,
)
_NO_EXPORT = re.compile(
    '(?:Module )?[\'"\u2018]*"([^\'"]+)"[\'\u2019]* has no (?:default export|exported member)'
    "(?: named)?(?: ['\"\u2018]?(\\w+))?"
)
_NO_SPECIFIER = re.compile(rf"(?:{_UNRESOLVED}) " + QUOTED)
_NO_SUBPATH = re.compile(
    r"subpath '\./([^']+)' is not defined by \"exports\" in "
    r".*node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+)"
)
_REQUESTED = re.compile(r"requested module '([^']+)' does not provide an export named '(\w+)'")
#: A type that is a module's names: ``typeof import("…/node_modules/zod/index")``.
_NO_PROPERTY = re.compile(
    r"Property '(\w+)' does not exist on type 'typeof import\(\"([^\"]+)\"\)'"
)
_NODE_FRAME = re.compile(r"node_modules[/\\]((?:@[\w.-]+[/\\])?[\w.-]+)[/\\]")
_FILE = re.compile(r"\.(?:[cm]?[jt]sx?|py|rs)$")
_IMPORTS = re.compile(
    # Up to the next keyword and no further: texts may have thousands of them.
    r"(?:^|[;}\s])(?:import|export)\b(?:(?!\b(?:im|ex)port\b)[^'\"`;(=])*?\bfrom\s*['\"]([^'\"\s]+)['\"]"
    r"|(?:^|[;}\s])import\s*['\"]([^'\"\s]+)['\"]"
    r"|\b(?:require|import)\(\s*['\"]([^'\"\s]+)['\"]\s*\)"
)
_CODE = re.compile(
    r"^\s*(import .* from ['\"]|import ['\"]|export (default|const|function|class|type|interface)"
    r"|const \w+ = require\()|=>|^\s*(const|let) .*=|\binterface \w+ \{",
    re.MULTILINE,
)
#: What only plain scripts of Node do.
_SCRIPT = re.compile(
    r"^\s*(?:(?:const|let|var)\b.*= )?(?:require\(|module\.exports\b)", re.MULTILINE
)
#: What only modules, or only TypeScript, have.
_NO_SCRIPT = re.compile(
    r"^\s*(?:import|export)\b|\b(?:interface|enum|type) \w+|\)\s*:|: \w+ =", re.MULTILINE
)


def mentions(lines: Sequence[str]) -> Iterator[Mention]:
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


TEXTS = Texts(
    messages=(
        MessageForm("typescript", _TSC, mentions, compiled=True),
        MessageForm("javascript", _NODE, mentions),
    ),
    imports=_IMPORTS,
    is_package=_is_package,
    code=_CODE,
    dialect=_dialect,
)
