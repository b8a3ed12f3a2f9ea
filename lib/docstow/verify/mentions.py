"""The packages that a text speaks of: an error message, or code in an editor.

This room knows how languages import and how their tools complain. It does not know which packages
there are.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from docstow.verify import messages

_IMPORTS: Mapping[str, re.Pattern[str]] = {
    "python": re.compile(
        r"^[ \t]*(?:>>> )?(?:from[ \t]+([A-Za-z_][\w.]*)[ \t]+import\b"
        r"|import[ \t]+([A-Za-z_][\w.]*(?:[ \t]+as[ \t]+\w+)?"
        r"(?:[ \t]*,[ \t]*[A-Za-z_][\w.]*(?:[ \t]+as[ \t]+\w+)?)*)[ \t]*(?:#.*)?$)",
        re.MULTILINE,
    ),
    "typescript": re.compile(
        r"(?:^|[;}\s])(?:import|export)\b[^'\"`;(=]*?\bfrom\s*['\"]([^'\"\s]+)['\"]"
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
_NOT_CRATES = frozenset(("std", "core", "alloc", "crate", "self", "super", "proc_macro", "test"))


@dataclass(frozen=True, slots=True)
class Mentions:
    """What a text speaks of.

    Attributes:
        language: it is written in, or complains about; empty where it speaks of nothing.
        names: import names and specifiers, each with the names below it that are at fault.
        message: whether it is an error message.
    """

    language: str
    names: Mapping[str, tuple[str, ...]]
    message: bool = False


def read(text: str) -> Mentions:
    """The packages that a text names, in its order."""
    said = messages.read(text)
    if said is not None and said.mentions:
        names: dict[str, tuple[str, ...]] = {}
        for each in said.mentions:
            names.setdefault(each.package, each.names)
        return Mentions(said.language, names, message=True)
    found = {language: _imported(language, text) for language in _IMPORTS}
    language = max(found, key=lambda each: len(found[each]))
    if not found[language]:
        return Mentions("", {})
    return Mentions(language, dict.fromkeys(found[language], ()))


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
    return not name.startswith((".", "/", "node:", "#", "~", "@/"))
