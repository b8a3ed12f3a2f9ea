"""Error messages of compilers and interpreters: which packages and names they speak of.

This room knows how rustc, Python, tsc and Node word their errors. It does not know packages.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from docstow.languages.rust.check.std import PRIMITIVES, standard_paths
from docstow.languages.shared import manifests as wanted
from docstow.languages.typescript.package_json import BUILTIN

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
    r"|- error: .*\b(?:could not be resolved|report[A-Z]\w+\)$)",
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
    r"(?:named )?`(\w+)` (?:found|on|exists)[^`]*`&?(?:'\w+ )?(?:mut )?([\w:]+)"
)


_NO_FIELD = re.compile(r"`([\w:]+)[^`]*` has no field named `(\w+)`")


_DECLARED = re.compile(r"\b(?:struct|enum|union|type|trait) (\w+)")


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


_NOT_OF_MODULE = re.compile(rf"{_QUOTED} is not a known attribute of module {_QUOTED}")


#: What an object lacks, as Python, mypy and Pyright say it.
_NO_MEMBER = re.compile(
    rf"{_QUOTED} (?:object )?has no attribute {_QUOTED}"
    r"|attribute \"(\w+)\" for class \"([\w.]+)\""
)


_CALLED = re.compile(
    r"TypeError: ([\w.]+)\(\) (?:got an unexpected keyword|got multiple|missing \d|takes )"
)


_IMPORTED = re.compile(r"^\W*from ([\w.]+) import (.+)")


#: Shorter names that stand before a dot are what imports are renamed to.
_SHORTEST = 4


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


#: A type that is a module's names: ``typeof import("…/node_modules/zod/index")``.
_NO_PROPERTY = re.compile(
    r"Property '(\w+)' does not exist on type 'typeof import\(\"([^\"]+)\"\)'"
)


_NODE_FRAME = re.compile(r"node_modules[/\\]((?:@[\w.-]+[/\\])?[\w.-]+)[/\\]")


_FILE = re.compile(r"\.(?:[cm]?[jt]sx?|py|rs)$")


def read_message(text: str) -> Message | None:
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
    own = {name for line in lines for name in _DECLARED.findall(line)}
    for package, names, number in _paths_of_rust(lines):
        if package not in own and package in standard_paths():
            package, *above = standard_paths()[package].split("::")
            names = (*above, *names)
        if package[:1].islower():
            yield Mention(package, names, number)


def _paths_of_rust(lines: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """What rustc names: types without their paths too, where there is but one of the name."""
    for number, line in enumerate(lines, 1):
        for name, owner in _NOT_IN.findall(line):
            shown = lines[max(0, number - _SHOWN) : number + _SHOWN] if "::" not in owner else ()
            yield _rust(_in_code(f"{owner}::{name}", shown), number)
        members = [(owner, name) for name, owner in _NO_METHOD.findall(line)]
        for owner, name in (*members, *_NO_FIELD.findall(line)):
            if "::" in owner or owner in PRIMITIVES or owner in standard_paths():
                yield _rust(f"{owner}::{name}", number)
        for path in _TICKED.findall(line):
            yield _rust(path, number)
        for name in _UNDECLARED.findall(line):
            yield name, (), number


def _in_code(path: str, lines: Sequence[str]) -> str:
    """A path whose beginning rustc leaves out, as the lines of code around the error have it."""
    whole = re.compile(rf"\b(?:\w+::)*{re.escape(path)}\b")
    found = (match[0] for line in lines for match in whole.finditer(line))
    return next(found, path)


def _rust(path: str, line: int) -> tuple[str, tuple[str, ...], int]:
    package, *names = path.split("::")
    return package, tuple(names), line


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
        for name, module in _NOT_OF_MODULE.findall(line):
            package, *names = module.split(".")
            yield Mention(package, (*names, name), number)
        for owner, name, other, its in _NO_MEMBER.findall(line):
            if " " not in (owner or its):
                yield from _of_object(owner or its, (name or other,), lines, number)
        for called in _CALLED.findall(line):
            yield from _of_object(called.removesuffix(".__init__"), (), lines, number)
        for package in _FRAME.findall(line):
            yield Mention(package, (), number)


def _of_object(
    owner: str, below: tuple[str, ...], lines: Sequence[str], number: int
) -> Iterator[Mention]:
    """What a class or function lacks, where code that the message shows tells whose it is."""
    first, *others = owner.split(".")
    before = re.compile(rf"(?<![\w.])((?:\w+\.)+){re.escape(owner)}\b")
    for line in lines:
        imported = _IMPORTED.match(line)
        named = re.findall(r"\w+", imported[2]) if imported is not None else ()
        if imported is not None and first in named:
            package, *names = imported[1].split(".")
            yield Mention(package, (*names, first, *others, *below), number)
            return
    modules = (
        match[1] for line in lines if "Error: " not in line for match in before.finditer(line)
    )
    for module in modules:
        package, *names = module.rstrip(".").split(".")
        if len(package) >= _SHORTEST and package not in {"self", "super"}:
            yield Mention(package, (*names, first, *others, *below), number)
            return
    if others and below:  # compiled classes say whose they are: ``numpy.ndarray``
        yield Mention(first, (*others, *below), number)


def _of_node(lines: Sequence[str]) -> Iterator[Mention]:
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


# The packages that a text speaks of


_IMPORTS: Mapping[str, re.Pattern[str]] = {
    "python": re.compile(
        r"^[ \t]*(?:>>> |\.\.\. |In \[\d+\]: )?"
        r"(?:from[ \t]+([A-Za-z_][\w.]*)[ \t]+(?:\\\n[ \t]*)?import\b"
        r"|import[ \t]+([A-Za-z_][\w.]*(?:[ \t]+as[ \t]+\w+)?"
        r"(?:[ \t]*,[ \t]*[A-Za-z_][\w.]*(?:[ \t]+as[ \t]+\w+)?)*)"
        r"(?:[ \t]+as)?[ \t]*,?[ \t]*(?:[#;].*)?$)",
        re.MULTILINE,
    ),
    "typescript": re.compile(
        # Up to the next keyword and no further: texts may have thousands of them.
        r"(?:^|[;}\s])(?:import|export)\b(?:(?!\b(?:im|ex)port\b)[^'\"`;(=])*?\bfrom\s*['\"]([^'\"\s]+)['\"]"
        r"|(?:^|[;}\s])import\s*['\"]([^'\"\s]+)['\"]"
        r"|\b(?:require|import)\(\s*['\"]([^'\"\s]+)['\"]\s*\)"
    ),
    "rust": re.compile(
        r"^\s*(?:pub(?:\([^)]*\))? +)?use +(?:::)?(\w+)(?:::|;| as )|^\s*extern crate (\w+)",
        re.MULTILINE,
    ),
    "go": re.compile(
        r"^\s*(?:import\s+)?(?:[\w.]+\s+)?\"([\w.~-]+\.[\w]+/[^\"\s]+)\"", re.MULTILINE
    ),
}


_PYPROJECT = re.compile(r"^\[(?:project|build-system|tool\.\w+|dependency-groups)", re.MULTILINE)


_CARGO = re.compile(r"^\[(?:package|(?:workspace\.|dev-|build-)?dependencies)\b", re.MULTILINE)


#: A line of a requirements file, and one that says which version.
_REQUIRED = re.compile(
    r"-{1,2}\w.*|#.*|[A-Za-z0-9][\w.-]*(?:\[[\w., -]*\])?\s*(?:(?:[=<>~!]=|[<>@;]).*)?(?:\\)?"
)


_PINNED = re.compile(r"^[A-Za-z0-9][\w.-]*(?:\[[^\]]*\])?\s*[=~<>!]=", re.MULTILINE)


_NOT_CRATES = frozenset(("std", "core", "alloc", "crate", "self", "super", "proc_macro", "test"))


@dataclass(frozen=True, slots=True)
class Mentions:
    """What a text speaks of.

    Attributes:
        language: it is written in, or complains about; empty where it speaks of nothing.
        names: import names and specifiers, each with the names below it that are at fault.
        message: whether it is an error message.
        manifest: whether it is one; its names are those of packages, not of imports.
    """

    language: str
    names: Mapping[str, tuple[str, ...]]
    message: bool = False
    manifest: bool = False


def read_mentions(text: str) -> Mentions:
    """The packages that a text names, in its order."""
    said = read_message(text)
    if said is not None and said.mentions:
        names: dict[str, tuple[str, ...]] = {}
        for each in said.mentions:
            names.setdefault(each.package, each.names)
        return Mentions(said.language, names, message=True)
    text = _code_of_notebook(text)
    for language, asked in _manifests(text):
        try:
            if listed := asked(text):
                return Mentions(language, dict.fromkeys(sorted(listed), ()), manifest=True)
        except (ValueError, TypeError, AttributeError, RecursionError):
            continue
    found = {language: _imported(language, text) for language in _IMPORTS}
    language = max(found, key=lambda each: len(found[each]))
    if not found[language]:
        return Mentions("", {})
    return Mentions(language, dict.fromkeys(found[language], ()))


def _code_of_notebook(text: str) -> str:
    """The code of a notebook, of which an editor may send the file; other texts as they are."""
    if not text.lstrip().startswith("{") or '"cells"' not in text:
        return text
    try:
        cells = json.loads(text)["cells"]
        sources = [each["source"] for each in cells if each["cell_type"] == "code"]
        return "\n".join(each if isinstance(each, str) else "".join(each) for each in sources)
    except (ValueError, TypeError, KeyError, RecursionError):
        return text


def _manifests(text: str) -> Iterable[tuple[str, Callable[[str], set[str]]]]:
    """The manifests that a text looks like."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if lines and lines[0].startswith("{"):
        yield "typescript", wanted.package_json
    elif _PYPROJECT.search(text):
        yield "python", wanted.pyproject
    elif _CARGO.search(text):
        yield "rust", wanted.cargo
    elif _PINNED.search(text) and all(_REQUIRED.fullmatch(line) for line in lines):
        yield "python", lambda text: {wanted.requirement(line) for line in text.splitlines()} - {""}


def _imported(language: str, text: str) -> list[str]:
    names: list[str] = []
    for groups in _IMPORTS[language].findall(text):
        for part in "".join(groups).split(","):
            words = part.split()
            if words and _is_package(language, words[0]):
                names.append(words[0])
    return list(dict.fromkeys(names))


def _is_package(language: str, name: str) -> bool:
    if language == "python":
        return name.partition(".")[0] not in sys.stdlib_module_names
    if language == "rust":
        return name not in _NOT_CRATES
    if name in BUILTIN or name.partition("/")[0] in BUILTIN - {"constants", "test"}:
        return False
    return not name.startswith((".", "/", "node:", "#", "~", "@/", "$"))
