"""Types that JavaScript defines in comments: ``@typedef`` and ``@callback`` of JSDoc.

Forms: https://www.typescriptlang.org/docs/handbook/jsdoc-supported-types.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_MARGIN = re.compile(r"^[ \t]*\*? ?", re.MULTILINE)
_TAG = re.compile(r"^\s*@(\w+)[ \t]*(.*)$")
_NAME = re.compile(r"\[?\s*([\w$]+)((?:\.[\w$]+)*)\s*(=[^\]]*)?\]?\s*[-\u2013]?\s*(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TypedefMember:
    """A property of a type, or a parameter of a callback.

    Attributes:
        name: as it is called.
        type: as written between braces.
        text: what is said of it.
        optional: whether it may be left out.
        line: below that of the type.
    """

    name: str
    type: str
    text: str
    optional: bool
    line: int


@dataclass(slots=True)
class Typedef:
    """A type that a comment defines.

    Attributes:
        name: of the type.
        type: what it is, as written; empty for an object.
        callback: whether it is a function.
        line: of the comment, from 0.
        members: properties, or parameters.
        returns: of a callback, what it returns.
    """

    name: str
    type: str
    callback: bool
    line: int
    members: list[TypedefMember] = field(default_factory=list)
    returns: str = ""

    @property
    def signature(self) -> str:
        """The type as TypeScript would declare it."""
        if not self.callback:
            return f"type {self.name} = {self.type or 'object'}"
        listed = ", ".join(f"{e.name}{'?' * e.optional}: {e.type or 'any'}" for e in self.members)
        return f"type {self.name} = ({listed}) => {self.returns or 'void'}"


def read_typedefs(comment: str) -> list[Typedef]:
    """Read the types that a comment defines."""
    found: list[Typedef] = []
    for tag, text, line in _tags(comment):
        type_, rest = split_type(text)
        named = _NAME.match(rest)
        if tag in ("typedef", "callback"):
            if named is not None:
                found.append(Typedef(named[1], type_, tag == "callback", line))
        elif not found:
            continue
        elif tag in ("property", "prop", "param", "arg", "argument"):
            # What has a dot belongs to another property.
            if named is not None and not named[2] and (tag[0] == "p" or found[-1].callback):
                optional = rest.startswith("[") or type_.endswith("=")
                said = " ".join(named[4].split())
                below = line - found[-1].line
                member = TypedefMember(named[1], type_.rstrip("="), said, optional, below)
                found[-1].members.append(member)
        elif tag in ("returns", "return"):
            found[-1].returns = type_
    return found


def split_type(text: str) -> tuple[str, str]:
    """Split ``{type} text``, where the type may have braces of its own."""
    if not text.startswith("{") or text.startswith("{@"):
        return "", text
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign == "{") - (sign == "}")
        if not depth:
            return " ".join(text[1:at].split()), text[at + 1 :].strip()
    return "", text


def _tags(comment: str) -> list[tuple[str, str, int]]:
    inner = comment.removeprefix("/**").removesuffix("*/")
    tags: list[tuple[str, list[str], int]] = []
    for number, line in enumerate(_MARGIN.sub("", inner).split("\n")):
        found = _TAG.match(line)
        if found:
            tags.append((found[1].lower(), [found[2]], number))
        elif tags:
            tags[-1][1].append(line)
    return [(tag, "\n".join(lines).strip(), number) for tag, lines, number in tags]
