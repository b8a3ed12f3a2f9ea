"""What values of a package may have, and the types of the names in code do not tell.

What runs may have more than is declared, and a value may be of a class that extends its type.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from docstow.core.errors import DocstowError
from docstow.languages.shared.boundary import Boundary

SCRIPTS = (".js", ".cjs", ".mjs")
#: What else may tell of a word, compiled code among it, which has its names as texts.
_OTHERS = (".jsx", ".ts", ".cts", ".mts", ".tsx", ".node")
_COMPILED = ".node"
_DECLARATIONS = (".d.ts", ".d.cts", ".d.mts")
_SKIPPED = frozenset({"node_modules", "test", "tests", "docs"})
#: So many files are searched at once, and bytes of all of them.
_MOST_FILES, _MOST_BYTES = 4_000, 32 * 1024 * 1024
_WORD = r"(?<![\w$]){0}(?![\w$])"
_EXPORTED = (
    r"(?<![\w$])(?:exports\.{0}|exports\[['\"]{0}['\"]\]|exports,\s*['\"]{0}['\"]|as\s+{0}"
    r"|export\s+(?:async\s+)?(?:function\s*\*?|class|const|let|var)\s*{0}"
    r"|export\s*\{{[^}}]*(?<![\w$]){0})(?![\w$])"
)
#: Another module of which one exports all names, or one as a whole.
_EXPORTED_MODULE = re.compile(
    rb"(?<![\w$])export\s*\*\s*(as\s)?[^;'\"]*?from\s*['\"]([^'\"]+)['\"]"
)
#: A module that is an object of functions, and one of them at the beginning of a line.
_OBJECT = re.compile(rb"\bmodule\.exports\s*=\s*\{")
#: A module that is a function or class, and a member that is given to it.
_WHOLE = re.compile(
    rb"\bmodule(?:\.exports|\[['\"]exports['\"]\])\s*=\s*([\w$]+)\s*(?:;|$)", re.MULTILINE
)
_GIVEN = r"(?<![\w$.]){0}(?:\.{1}|\[['\"]{1}['\"]\])\s*=[^=]"
_MEMBER = r"(?m)^[ \t]*(?:async\s+)?{0}\s*(?:[:,(]|$)"
#: Where a class begins, or a function that makes objects: by custom it has a capital letter.
_CLASS = re.compile(rb"\b(?:class|function)\s+([A-Z][\w$]*)")
#: What gives objects a member.
_DEFINED = (
    r"(?m)^[ \t]*(?:(?:static|async|get|set)\s+)*{0}\s*\([^()]*\)\s*\{{"
    r"|^(?:\t| {{2}})(?:static\s+)?{0}\s*=[^=>].*;$"
    r"|(?:\bthis|\bprototype)\.{0}\s*=[^=]"
)
#: Where a declaration of a class begins, its name and what it extends, and a member of it.
_DECLARED = re.compile(rb"\b(?:class|interface)\s+([\w$]+)([^{}();]*)\{")
#: The type of what a module exports as a whole, of which no other value is.
_STATIC = b"Static"
_BASES = re.compile(rb"(?:extends|implements|,)\s+(?:[\w$]+\.)*([\w$]+)")
_DECLARED_MEMBER = (
    r"(?m:^|[{{;,])[ \t]*(?:(?:readonly|static|abstract|protected|public|get|set)[ \t]+)*"
    r"['\"]?{0}['\"]?[?!]?\s*[:(<]"
)
#: A word that is no member which is read.
_WRITTEN = r"(?<![\w$.]){0}(?![\w$])|(?<![\w$]){0}\s*=[^=]"
_DECLARED_NAME = r"\b(?:interface|class|type|const|let|var|function|enum|namespace)\s+{0}\b"
#: What a file declares of another module, or of what is global.
_AUGMENTATION = re.compile(
    rb"^[ \t]*declare\s+(?:global|module\s*['\"][^'\"]+['\"])\s*\{(.*?)(?:^\}|\Z)",
    re.MULTILINE | re.DOTALL,
)
#: A module that is an instance of a class.
_INSTANCE = re.compile(rb"\bmodule\.exports\s*=\s*new\s")


def exports_undeclared(boundary: Boundary, folders: Iterable[Path], name: str) -> bool:
    """Return whether JavaScript of packages exports a name, from whichever of their modules.

    So it may where not all of it can be read.

    Args:
        boundary: what may be read.
        folders: the packages.
        name: to look for.
    """
    return _export(_bodies(boundary, folders, SCRIPTS), name)


def module_exports_undeclared(boundary: Boundary, files: Iterable[Path], name: str) -> bool:
    """Return whether ES modules export a name, by others that they export as a whole, too.

    So they may where one of those is not a file that can be read.

    Args:
        boundary: what may be read.
        files: the modules.
        name: to look for.
    """
    return _export(_with_exported(boundary, files), name)


def _with_exported(boundary: Boundary, files: Iterable[Path]) -> Iterator[bytes | None]:
    """Yield modules and those of which they export all names; None where one cannot be read."""
    waiting = [*files]
    seen = set(waiting)
    # What is found is read in its turn.
    for file, body in zip(waiting, _read(boundary, waiting), strict=False):
        yield body
        for each in _EXPORTED_MODULE.finditer(body or b""):
            if each[1]:
                continue
            path = Path(os.path.normpath(file.parent / each[2].decode("utf-8", "replace")))
            if not each[2].startswith(b"."):
                yield None
            elif path not in seen:
                seen.add(path)
                waiting.append(path)


def _export(bodies: Iterable[bytes | None], name: str) -> bool:
    escaped = re.escape(name)
    word, pattern, member = (
        re.compile(each.format(escaped).encode()) for each in (_WORD, _EXPORTED, _MEMBER)
    )
    is_instance = is_mentioned = False
    for body in bodies:
        if body is None:
            return True
        is_instance = is_instance or _INSTANCE.search(body) is not None
        if word.search(body) is None:
            continue
        is_mentioned = True
        if (
            pattern.search(body)
            or (_OBJECT.search(body) and member.search(body))
            or any(
                re.search(_GIVEN.format(re.escape(whole.decode()), escaped).encode(), body)
                for whole in _WHOLE.findall(body)
            )
        ):
            return True
    # What a class has that a module is an instance of is written in many ways.
    return is_instance and is_mentioned


def define_member(boundary: Boundary, folders: Iterable[Path], name: str) -> bool:
    """Return whether a class that the JavaScript of packages has defines a member.

    What cannot be read is passed over.

    Args:
        boundary: what may be read.
        folders: the packages.
        name: of the class and the member, with a dot between them.
    """
    return define_member_in(boundary, _files(boundary, folders, SCRIPTS), name)


def define_member_in(boundary: Boundary, files: Iterable[Path], name: str) -> bool:
    """Return whether a class that files of JavaScript have defines a member, as above."""
    owner, _, member = name.encode().partition(b".")
    defined = re.compile(_DEFINED.format(re.escape(member.decode())).encode())
    given = re.compile(_GIVEN.format(*map(re.escape, name.split("."))).encode())
    for body in _read(boundary, files):
        if body is None or owner not in body or member not in body:
            continue
        if given.search(body):
            return True
        classes = [*_CLASS.finditer(body)]
        ends = [each.start() for each in classes[1:]] + [len(body)]
        for each, end in zip(classes, ends, strict=False):
            if each[1] == owner and defined.search(body, each.end(), end):
                return True
    return False


def declare_below(boundary: Boundary, folders: Iterable[Path], name: str) -> bool:
    """Return whether declarations of packages have a class below another one, with a member.

    What cannot be read is passed over.

    Args:
        boundary: what may be read.
        folders: the packages.
        name: of the class above and the member, with a dot between them.
    """
    owner, _, member = name.encode().partition(b".")
    declared = re.compile(_DECLARED_MEMBER.format(re.escape(member.decode())).encode())
    bases: dict[bytes, set[bytes]] = {}
    having: set[bytes] = set()
    for body in _bodies(boundary, folders, _DECLARATIONS):
        if body is None:
            continue
        classes = [*_DECLARED.finditer(body)]
        ends = [*(each.start() for each in classes), len(body)][1:]
        for each, end in zip(classes, ends, strict=False):
            bases.setdefault(each[1], set()).update(_BASES.findall(each[2]))
            if not each[1].endswith(_STATIC) and declared.search(body, each.end(), end):
                having.add(each[1])
    above: set[bytes] = set()
    while new := {base for each in having for base in bases.get(each, ())} - above:
        above |= new
        having = new
    return owner in above


def mention(boundary: Boundary, folders: Iterable[Path], name: str) -> bool:
    """Return whether the code or the declarations of packages have a word, anywhere.

    So they may where not all of them can be read, as what is compiled.

    Args:
        boundary: what may be read.
        folders: the packages.
        name: to look for.
    """
    word = re.compile(_WORD.format(re.escape(name)).encode())
    return _may_match(word, _bodies(boundary, folders, (*SCRIPTS, *_OTHERS)))


def quote(boundary: Boundary, folders: Iterable[Path], name: str) -> bool:
    """Return whether the code or the declarations of packages have a text that is all of a literal.

    So they may where not all of them can be read.

    Args:
        boundary: what may be read.
        folders: the packages.
        name: the text.
    """
    literal = re.compile(rb"(['\"`])%s\1" % re.escape(name.encode()))
    return _may_match(literal, _bodies(boundary, folders, (*SCRIPTS, *_OTHERS)))


def give(boundary: Boundary, folders: Iterable[Path], name: str) -> bool:
    """Return whether the code of packages has a word, but where it reads a member of that name.

    So may give it to values: by an assignment, an object, a class or a text. So they may where not
    all of them can be read. What declarations tell of other values is not given to one.

    Args:
        boundary: what may be read.
        folders: the packages.
        name: to look for.
    """
    given = re.compile(_WRITTEN.format(re.escape(name)).encode())
    files = _files(boundary, folders, (*SCRIPTS, *_OTHERS))
    code = (each for each in files if not each.name.endswith(_DECLARATIONS))
    return _may_match(given, _read(boundary, code))


def declare_member(boundary: Boundary, folders: Iterable[Path], name: str) -> bool:
    """Return whether the declarations of packages have a member of that name, of any type.

    So they may where not all of them can be read.

    Args:
        boundary: what may be read.
        folders: the packages.
        name: to look for.
    """
    declared = re.compile(_DECLARED_MEMBER.format(re.escape(name)).encode())
    return _may_match(declared, _bodies(boundary, folders, _DECLARATIONS))


def augment(boundary: Boundary, files: Iterable[Path], name: str) -> bool:
    """Return whether files declare a name or a member of modules or of what is global.

    So they may where they cannot be read.

    Args:
        boundary: what may be read.
        files: declarations.
        name: to look for.
    """
    escaped = re.escape(name)
    declared = re.compile(f"{_DECLARED_MEMBER}|{_DECLARED_NAME}".format(escaped).encode())
    return any(
        body is None
        or any(declared.search(body, *each.span(1)) for each in _AUGMENTATION.finditer(body))
        for body in _read(boundary, files)
    )


def _may_match(pattern: re.Pattern[bytes], bodies: Iterable[bytes | None]) -> bool:
    return any(each is None or pattern.search(each) is not None for each in bodies)


def _bodies(
    boundary: Boundary, folders: Iterable[Path], endings: tuple[str, ...]
) -> Iterator[bytes | None]:
    """Yield the files of packages, and None where one cannot be read, or there are too many."""
    return _read(boundary, _files(boundary, folders, endings))


def _files(boundary: Boundary, folders: Iterable[Path], endings: tuple[str, ...]) -> Iterator[Path]:
    files = (file for folder in folders for file in boundary.walk(folder, _SKIPPED))
    return (each for each in files if each.name.endswith(endings))


def _read(boundary: Boundary, files: Iterable[Path]) -> Iterator[bytes | None]:
    left = _MOST_BYTES
    for count, file in enumerate(files):
        if count >= _MOST_FILES:
            yield None
            return
        try:
            body = boundary.read(file, most=left, text=file.suffix != _COMPILED)
        except (DocstowError, OSError):
            yield None
            return
        left -= len(body)
        yield body
