"""The packages that a text speaks of: an error message, or what is in an editor.

This room knows how languages import, how their tools complain, and how notebooks and manifests
look. It does not know which packages there are.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from docstow.languages.projects import mentions as messages
from docstow.languages.shared import manifests as wanted
from docstow.languages.typescript.package_json import BUILTIN

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


def read(text: str) -> Mentions:
    """The packages that a text names, in its order."""
    said = messages.read(text)
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
