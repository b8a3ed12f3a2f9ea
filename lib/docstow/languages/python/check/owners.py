"""Which classes a type checker means by a type.

Of ty they are found by where they are defined, of Pyrefly by the dotted paths that it shows.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from docstow.core.errors import DocstowError
from docstow.languages.python.check.annotations import LocalType, PackageType
from docstow.languages.python.check.edited import Edited, Insertion
from docstow.languages.python.check.type_claims import alternatives
from docstow.languages.python.files import LARGEST_FILE
from docstow.text.python_ast import try_parse_module

if TYPE_CHECKING:
    from docstow.languages.python.check.checked import Checked
    from docstow.languages.python.check.parse import Scope
    from docstow.languages.shared.boundary import Boundary
    from docstow.languages.shared.language_server import LanguageServer

#: What a method gets of its own class.
_SELF = re.compile(r"Self@\w+")
#: How Pyrefly shows a variable that was made for this.
_VARIABLE = re.compile(r"\(variable\) docstow_\d+: ([^\n]+)")
_PATH = re.compile(r"\w+(?:\.\w+)*")
#: What ty takes the fields of any decorator for that makes a class as ``dataclass`` does.
_SPECIFIED = "dataclasses.Field"
#: Of these a value is annotated that has names that they have not.
_UNINFORMATIVE = frozenset({"object", "type", "None", "Never", "Unknown", "Any", "Todo", "super"})
#: The header of a class that tells of others what they have at least.
PROTOCOL = re.compile(r"\bclass \w+\(.*\bProtocol\b", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Owner:
    """A class that a value may be of.

    Attributes:
        kind: the class, of a package or of the code.
        typed: whether its package says that its types are complete.
    """

    kind: PackageType | LocalType
    typed: bool


class Owners:
    """The classes of expressions.

    Args:
        own: what our reader knows of the code.
        roots: the folders of import names that the engine was given, with what may be read there.
        file: the name of the code's own file.
    """

    def __init__(self, own: Checked, roots: Mapping[Path, Boundary], file: str) -> None:
        self._own = own
        self._roots = roots
        self._file = file
        self._classes: dict[Path, dict[int, str]] = {}
        self._typed: dict[str, bool] = {}
        self._words = frozenset(re.findall(r"\w+", own.parsed.text))

    def is_typed(self, path: str) -> bool:
        """Return whether what is at a dotted path is of a package with types for all, or stubs."""
        top, *inner = path.split(".")
        if top not in self._typed:
            stubbed = any((root / f"{top}-stubs").is_dir() for root in self._roots)
            self._typed[top] = stubbed or self._is_marked(top)
        # Of a namespace each package is marked by itself.
        while inner and not self._typed[top]:
            folder = f"{top}/{'/'.join(inner)}"
            if folder not in self._typed:
                self._typed[folder] = self._is_marked(folder)
            if self._typed[folder]:
                return True
            inner.pop()
        return self._typed[top]

    def _is_marked(self, folder: str) -> bool:
        return any((root / folder / "py.typed").is_file() for root in self._roots)

    def beside(self, path: str) -> tuple[str, list[str]]:
        """Return the module of a namespace that is not there, and the modules that are beside it.

        Empty where a dotted path leads to no folder that several packages share.
        """
        parts = path.split(".")
        for end in range(1, len(parts)):
            shared = [root.joinpath(*parts[:end]) for root in self._roots]
            folders = [each for each in shared if each.is_dir()]
            if not folders or any((each / "__init__.py").is_file() for each in folders):
                break
            names = {each.stem for folder in folders for each in folder.iterdir()}
            if parts[end] not in names:
                above = ".".join(parts[:end])
                known = sorted(each for each in names if each.isidentifier())
                return f"{above}.{parts[end]}", [f"{above}.{each}" for each in known]
        return "", []

    def find(
        self,
        server: LanguageServer,
        asked: Sequence[tuple[ast.expr, str]],
        *,
        within: Edited,
        shows_paths: bool = False,
    ) -> list[list[Owner]]:
        """Return the classes that each of some expressions may be of; none where one is not known.

        Args:
            server: has judged the code.
            asked: expressions with their types as they are displayed, which may be empty.
            within: the text that it judges.
            shows_paths: the server shows of a variable the dotted paths of its classes.
        """
        if not asked:
            return []
        named = [_named(number, node) for number, (node, _) in enumerate(asked)]
        edited = within.with_more([each for one in named for each in one])
        server.replace(str(edited))
        # The name stands behind a parenthesis.
        places = [
            (line, column + 1) for line, column in (edited.place_of(begin) for begin, _ in named)
        ]
        if shows_paths:
            return [
                self._shown(node, server.shown(*place))
                for place, (node, _) in zip(places, asked, strict=True)
            ]
        return [
            self._owners(node, server.declared(*place), title)
            for place, (node, title) in zip(places, asked, strict=True)
        ]

    def _owners(
        self, node: ast.expr, declared: Sequence[tuple[Path, int]], title: str
    ) -> list[Owner]:
        if _SELF.fullmatch(title):
            return self._around(node)
        names = [each for each in alternatives(title) if each != "None"] if title else []
        shown = [_display(each) for each in names]
        if not _UNINFORMATIVE.isdisjoint(shown) or title == "None":
            return []
        found = [self._at(path, line) for path, line in declared]
        known = [each for each in found if each is not None]
        if len(known) < len(found):
            return []
        titles = {
            each.kind.node.name
            if isinstance(each.kind, LocalType)
            else each.kind.path.rpartition(".")[2]
            for each in known
        }
        # What is in the stubs of Python itself has no place that could be opened.
        for each in dict.fromkeys(shown):
            if each not in titles:
                standard = self._standard(each)
                if not standard:
                    return []
                known += standard
        return known

    def _shown(self, node: ast.expr, text: str) -> list[Owner]:
        """Return the classes of a variable that is shown with their paths; none for other words."""
        match = _VARIABLE.search(text)
        kinds = [e for e in alternatives(match[1]) if e != "None"] if match is not None else []
        found: dict[PackageType | LocalType, Owner] = {}
        for each in kinds:
            inner = each[len("type[") : -1] if each.startswith("type[") else each
            owners = self._around(node) if _SELF.fullmatch(inner) else self._named_so(inner)
            if not owners:
                return []
            found |= {one.kind: one for one in owners}
        return list(found.values())

    def _named_so(self, shown: str) -> list[Owner]:
        """Return the class that is shown by its path, by its name in the code, or as a literal."""
        plain = _literal(shown[len("Literal[") : -1]) if shown.startswith("Literal[") else shown
        plain = plain.split("[", 1)[0]
        if not _PATH.fullmatch(plain) or plain in _UNINFORMATIVE:
            return []
        if "." in plain:
            typed = self.is_typed(plain) or self._is_standard(plain)
            found = self._of_package(plain, typed=typed)
            return [found] if found is not None else []
        local = [
            Owner(LocalType(each, scope), typed=True)
            for each, scope in self._own.scopes.items()
            if isinstance(each, ast.ClassDef) and each.name == plain and is_plain(each, scope)
        ]
        # Its stub imports others.
        is_builtin = hasattr(builtins, plain)
        builtin = self._of_package(f"builtins.{plain}", typed=True) if is_builtin else None
        return local if local or builtin is None else [builtin]

    def _is_standard(self, path: str) -> bool:
        return self._own.names.resolver.is_standard(path.partition(".")[0])

    def _at(self, path: Path, line: int) -> Owner | None:
        if path.name == self._file and not any(path.is_relative_to(each) for each in self._roots):
            return self._local(line + 1)
        roots = [each for each in self._roots if path.is_relative_to(each)]
        if not roots:
            return None
        root = max(roots, key=lambda each: len(each.parts))
        if path not in self._classes:
            self._classes[path] = _classes(path, self._roots[root])
        name = self._classes[path].get(line + 1)
        parts = list(path.relative_to(root).with_suffix("").parts)
        if name is None or not parts:
            return None
        typed = path.suffix == ".pyi" or self.is_typed(".".join(parts))
        parts[0] = parts[0].removesuffix("-stubs")
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        return self._of_package(f"{module}.{name}", typed=typed)

    def _of_package(self, path: str, *, typed: bool) -> Owner | None:
        package = self._own.names.resolver.package_for(path)
        symbol = package.surface.symbol(path) if package is not None else None
        if package is None or symbol is None or PROTOCOL.search(symbol.signature):
            return None
        return Owner(PackageType(path, package), typed)

    def _local(self, line: int) -> Owner | None:
        for node, scope in self._own.scopes.items():
            if isinstance(node, ast.ClassDef) and node.lineno == line and is_plain(node, scope):
                return Owner(LocalType(node, scope), typed=True)
        return None

    def _around(self, node: ast.expr) -> list[Owner]:
        """Return the class whose method a node is in."""
        classes = [
            each
            for each in self._own.scopes
            if isinstance(each, ast.ClassDef)
            and each.lineno <= node.lineno <= (each.end_lineno or 0)
        ]
        inner = max(classes, key=lambda each: each.lineno, default=None)
        kind = LocalType(inner, self._own.scopes[inner], is_receiver=True) if inner else None
        return [Owner(kind, typed=True)] if kind is not None else []

    def _standard(self, name: str) -> list[Owner]:
        package = self._own.names.resolver.package_for("builtins")
        if package is None:
            return []
        paths = [f"builtins.{name}"] if hasattr(builtins, name) else []
        # The code names the module of any other, or of what gives it.
        paths = paths or [
            each
            for each in package.surface.names()
            if each.rpartition(".")[2] == name and each.partition(".")[0] in self._words
        ]
        if _SPECIFIED in paths:
            return []
        found = (self._of_package(each, typed=True) for each in paths)
        return [each for each in found if each is not None]


def is_plain(node: ast.ClassDef, scope: Scope) -> bool:
    """Return whether a class is not one of several that branches define."""
    around = scope.parent if scope.node is node else scope
    return around is None or node in getattr(around.node, "body", ())


def _named(number: int, node: ast.expr) -> tuple[Insertion, Insertion]:
    """Return what gives a name to an expression; of two that begin together the longer is first."""
    end = (node.end_lineno or 0, node.end_col_offset or 0)
    begin_rank = (1, -end[0], -end[1], number)
    return (
        Insertion(node.lineno - 1, node.col_offset, begin_rank, f"(docstow_{number}:="),
        Insertion(end[0] - 1, end[1], (0,), ")"),
    )


def _classes(path: Path, boundary: Boundary) -> dict[int, str]:
    """Return the dotted names of a file's classes by their lines."""
    try:
        found = path.stat()
    except OSError:
        return {}
    return _classes_as_of(path, boundary, (found.st_mtime_ns, found.st_size))


@lru_cache(maxsize=64)
def _classes_as_of(path: Path, boundary: Boundary, stamp: tuple[int, int]) -> dict[int, str]:
    """Return the same of a file as it is; large ones take long to parse."""
    del stamp
    try:
        text = boundary.read(path, most=LARGEST_FILE).decode("utf-8", "replace")
    except DocstowError:
        return {}
    tree, found = try_parse_module(text), {}
    waiting: list[tuple[ast.AST, str]] = [(tree, "")] if tree is not None else []
    while waiting:
        node, above = waiting.pop()
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.ClassDef):
                found[each.lineno] = f"{above}{each.name}"
                waiting.append((each, f"{above}{each.name}."))
            elif not isinstance(each, ast.expr):
                waiting.append((each, above))
    return found


def _display(title: str) -> str:
    """Return the name of a class that a type is displayed by; ``Unknown`` where it is none."""
    if title.startswith("Literal["):
        inner = title[len("Literal[") : -1]
        return _literal(inner)
    plain = title.split("[", 1)[0].rpartition(".")[2]
    return plain if plain.isidentifier() else "Unknown"


def _literal(text: str) -> str:
    """Return the class of a literal as it is displayed; of a member of an enumeration that."""
    if text[:1] in "\"'":
        return "str"
    if text[:2] in {'b"', "b'"}:
        return "bytes"
    if text[:4] in {"True", "Fals"}:
        return "bool"
    return "int" if text[:1].isdigit() or text[:1] == "-" else text.partition(".")[0]
