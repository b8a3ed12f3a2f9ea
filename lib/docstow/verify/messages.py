"""Error messages of compilers and interpreters: which packages and names they speak of.

This room knows how rustc, Python, tsc and Node word their errors. It does not know packages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from docstow.verify.std_names import PRELUDE_TYPES, PRIMITIVES

Language = Literal["rust", "python", "typescript", "javascript"]


@dataclass(frozen=True, slots=True)
class Mention:
    """A name that a message says is wrong.

    Attributes:
        package: the import name or specifier that begins it.
        names: what is below it; empty where the whole package is not found.
        line: of the text, from 1.
    """

    package: str
    names: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Message:
    """What an error message speaks of, in the order in which it does."""

    language: Language
    mentions: tuple[Mention, ...]


#: Errors stand at the beginning of a line, where code that speaks of them does not have them.
_RUST = re.compile(r"^error(?:\[E\d{4}\])?: |^\s*-->\s\S+\.rs:\d+", re.MULTILINE)
_PYTHON = re.compile(
    r"^Traceback \(most recent call last\)|^(?:E\s+)?(?:\w+\.)*"
    r"(?:ModuleNotFoundError|ImportError|AttributeError|TypeError): "
    # mypy and Pyright end, or begin, so.
    r"|: error: .* \[(?:import|attr)-\w+(?:-\w+)?\]$"
    r"|- error: Import \"[\w.]+\" could not be resolved",
    re.MULTILINE,
)
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
#: Types that rustc names without a path and that are nobody else's.
_OF_STD = PRIMITIVES | frozenset(PRELUDE_TYPES.values())
#: So many lines around an error may show its code.
_SHOWN = 6
_TICKED = re.compile(r"`([A-Za-z_]\w*(?:::\w+)+)")
_NOT_IN = re.compile(r"(?:cannot find(?: \w+){0,3}|could not find) `(\w+)` in (?:\w+ )?`([\w:]+)`")
_UNDECLARED = re.compile(
    r"(?:undeclared crate or module|unresolved module or unlinked crate|can't find crate for"
    r"|unresolved import) `(\w+)`"
)
_NO_METHOD = re.compile(
    r"no (?:method|function or associated item|associated item|variant[^`]*|field) "
    r"(?:named )?`(\w+)` (?:found|on|exists)[^`]*`&?(?:mut )?([\w:]+)"
)
#: A quoted name; compilers that are asked to speak nicely use curly quotes.
_QUOTED = "['\"`\u2018]+([^'\"`\u2019]+)['\"`\u2019]+"
_NO_MODULE = re.compile(
    r"(?:[Nn]o module named|library stub for module named|library stubs not installed for) "
    rf'{_QUOTED}|error: Import "([\w.]+)" could not be resolved'
)
_NO_NAME = re.compile(
    r"cannot import name " + _QUOTED + r" from (?:partially initialized module )?" + _QUOTED
)
_NO_ATTRIBUTE = re.compile(r"[Mm]odule " + _QUOTED + r" has no attribute " + _QUOTED)
_FRAME = re.compile(r"(?:site|dist)-packages[/\\]([A-Za-z_]\w*)")
_NO_EXPORT = re.compile(
    '(?:Module )?[\'"\u2018]*"([^\'"]+)"[\'\u2019]* has no (?:default export|exported member)'
    "(?: named)?(?: ['\"\u2018]?(\\w+))?"
)
_NO_SPECIFIER = re.compile(rf"(?:{_UNRESOLVED}) " + _QUOTED)
_NO_SUBPATH = re.compile(
    r"subpath '\./([^']+)' is not defined by \"exports\" in "
    r".*node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+)"
)
_REQUESTED = re.compile(r"requested module '([^']+)' does not provide an export named '(\w+)'")
_NODE_FRAME = re.compile(r"node_modules[/\\]((?:@[\w.-]+[/\\])?[\w.-]+)[/\\]")
_FILE = re.compile(r"\.(?:[cm]?[jt]sx?|py|rs)$")


def read(text: str) -> Message | None:
    """The names that an error message speaks of; None where the text is none."""
    for language, marks, mentioned in (
        ("typescript", _TSC, _of_node),
        ("rust", _RUST, _of_rust),
        ("python", _PYTHON, _of_python),
        ("javascript", _NODE, _of_node),
    ):
        if marks.search(text):
            found = list(dict.fromkeys(mentioned(text.split("\n"))))
            kind: Language = language  # type: ignore[assignment]
            return Message(kind, tuple(_specific(found)))
    return None


def _specific(found: Sequence[Mention]) -> Iterator[Mention]:
    """Each name once; a package by itself only where nothing of it is named."""
    named = {each.package for each in found if each.names}
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for each in found:
        key = (each.package, each.names)
        if key in seen or (not each.names and each.package in named):
            continue
        seen.add(key)
        yield each


def _of_rust(lines: Sequence[str]) -> Iterator[Mention]:
    for number, line in enumerate(lines, 1):
        for name, owner in _NOT_IN.findall(line):
            shown = lines[max(0, number - _SHOWN) : number + _SHOWN] if "::" not in owner else ()
            yield _rust(_in_code(f"{owner}::{name}", shown), number)
        for name, owner in _NO_METHOD.findall(line):
            if "::" in owner or (owner := PRELUDE_TYPES.get(owner, owner)) in _OF_STD:
                yield _rust(f"{owner}::{name}", number)
        for path in _TICKED.findall(line):
            yield _rust(path, number)
        for name in _UNDECLARED.findall(line):
            yield Mention(name, (), number)


def _in_code(path: str, lines: Sequence[str]) -> str:
    """A path whose beginning rustc leaves out, as the lines of code around the error have it."""
    whole = re.compile(rf"\b(?:\w+::)*{re.escape(path)}\b")
    found = (match[0] for line in lines for match in whole.finditer(line))
    return next(found, path)


def _rust(path: str, line: int) -> Mention:
    package, *names = path.split("::")
    return Mention(package, tuple(names), line)


def _of_python(lines: Sequence[str]) -> Iterator[Mention]:
    for number, line in enumerate(lines, 1):
        for either in _NO_MODULE.findall(line):
            package, *names = "".join(either).split(".")
            yield Mention(package, tuple(names), number)
        for name, module in _NO_NAME.findall(line):
            package, *names = module.split(".")
            yield Mention(package, (*names, name), number)
        for module, name in _NO_ATTRIBUTE.findall(line):
            package, *names = module.split(".")
            yield Mention(package, (*names, name), number)
        for package in _FRAME.findall(line):
            yield Mention(package, (), number)


def _of_node(lines: Sequence[str]) -> Iterator[Mention]:
    for number, line in enumerate(lines, 1):
        for specifier, name in (*_NO_EXPORT.findall(line), *_REQUESTED.findall(line)):
            yield Mention(specifier, (name,) if name else (), number)
        for subpath, package in _NO_SUBPATH.findall(line):
            yield Mention(f"{package}/{subpath}", (), number)
        for specifier in _NO_SPECIFIER.findall(line):
            if not specifier.startswith((".", "/")) and not _FILE.search(specifier):
                yield Mention(specifier, (), number)
        for package in _NODE_FRAME.findall(line):
            yield Mention(package.replace("\\", "/"), (), number)
