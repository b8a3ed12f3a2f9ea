"""What type checkers say of code, as claims about the nodes of its syntax tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from docstow.languages.shared.language_server import Diagnostic

_CHOICE = re.compile(r"\"([^\"]*)\"|'([^']*)'")
#: A class that is no text, nor anything that a text may be.
_PLAIN_CLASS = re.compile(r"None|bool|int|float|(?!Any|Unknown|LiteralString)[A-Z]\w+")
_BRACKETS = {"[": 1, "(": 1, "{": 1, "<": 1, "]": -1, ")": -1, "}": -1, ">": -1}
#: Where a place ends that is not in the line in which it begins.
_ELSEWHERE = 1 << 29


@dataclass(frozen=True, slots=True)
class MemberClaim:
    """That a value or a class has no such member.

    Attributes:
        said: by whom it is said.
        node: the member.
        name: of the member.
        title: the type as it is displayed; empty where it is known only that the member is None.
        is_class: it is the class that is asked, and not an instance.
    """

    said: Diagnostic
    node: ast.Attribute
    name: str
    title: str
    is_class: bool = False


@dataclass(frozen=True, slots=True)
class ModuleClaim:
    """That a module has no such name; the node is a member or an imported name."""

    said: Diagnostic
    node: ast.AST
    name: str
    module: str


@dataclass(frozen=True, slots=True)
class ArgumentClaim:
    """That a call cannot be made so.

    Attributes:
        said: by whom it is said.
        node: the call.
        keyword: the argument that nothing takes; empty where it may be any, or none is named.
        reason: what is wrong, where that is no keyword.
        overloaded: it is said of all overloads together.
        callee: the dotted path of what is called, where it is told.
    """

    said: Diagnostic
    node: ast.Call
    keyword: str = ""
    reason: str = ""
    overloaded: bool = False
    callee: str = ""


@dataclass(frozen=True, slots=True)
class ChoiceClaim:
    """That a text is none of a fixed set, or that a dictionary of known keys has no such key.

    Attributes:
        said: by whom it is said.
        node: the text.
        text: what it says.
        choices: the set, where it is known.
        callee: the dotted path of what is given the text, where it is told.
        call: the call that none of several forms takes, the nearest for this text.
    """

    said: Diagnostic
    node: ast.AST
    text: str
    choices: tuple[str, ...]
    callee: str = ""
    call: ast.Call | None = None


@dataclass(frozen=True, slots=True)
class ImportClaim:
    """That there is no such module; the node is the import, or the module's name in one."""

    said: Diagnostic
    node: ast.AST
    module: str


Claim = MemberClaim | ModuleClaim | ArgumentClaim | ChoiceClaim | ImportClaim


class Syntax:
    """The nodes of a tree by where they begin.

    Args:
        tree: of the code.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._begin: dict[tuple[int, int], list[ast.AST]] = {}
        self._calls: dict[ast.AST, ast.Call] = {}
        self._relative: set[ast.AST] = set()
        self._imports: dict[int, ast.ImportFrom] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.expr | ast.keyword | ast.alias):
                self._begin.setdefault((node.lineno - 1, node.col_offset), []).append(node)
            if isinstance(node, ast.Call):
                self._calls |= dict.fromkeys([*node.args, *node.keywords], node)
            if isinstance(node, ast.ImportFrom):
                self._imports[node.lineno - 1] = node
                self._relative.update(node.names if node.level else ())

    def at(self, said: Diagnostic) -> Sequence[ast.AST]:
        """Return the nodes that begin where something is said, the outermost first."""
        return self._begin.get((said.line, said.start), [])

    def given_to(self, node: ast.AST) -> ast.Call | None:
        """Return the call of which a node is an argument; None where it is none."""
        return self._calls.get(node)

    def called(self, said: Diagnostic) -> ast.Call | None:
        """Return the call that a place is: the outermost one that ends there."""
        for node in self.at(said):
            if isinstance(node, ast.Call):
                is_line = node.end_lineno == said.line + 1
                if is_line and node.end_col_offset == said.end:
                    return node
                if not is_line and said.end > _ELSEWHERE:
                    return node
        return None

    def called_with(self, said: Diagnostic) -> ast.Call | None:
        """Return the call whose arguments, with their parentheses, a place is."""
        for each in self._begin.values():
            for node in each:
                if isinstance(node, ast.Call) and _ends_before(node.func, said):
                    return node
        return None

    def member(self, said: Diagnostic, name: str) -> ast.Attribute | None:
        """Return the member of a name that a place is, where it is read."""
        for node in self.at(said):
            if isinstance(node, ast.Attribute) and node.attr == name:
                return node if isinstance(node.ctx, ast.Load) else None
        return None

    def taken_over(self, said: Diagnostic, name: str) -> ast.AST | None:
        """Return the name that is imported of a package, or the member, that a place is."""
        for node in self.at(said):
            is_imported = isinstance(node, ast.alias) and node.name == name
            is_imported = is_imported and node not in self._relative
            if is_imported or (isinstance(node, ast.Attribute) and node.attr == name):
                return node
        return None

    def imported(self, said: Diagnostic, module: str) -> ast.AST | None:
        """Return what imports a module, which may be of the code's own project for ``from .``."""
        for node in self.at(said):
            if isinstance(node, ast.alias) and node.name == module:
                return node
        found = self._imports.get(said.line)
        return found if found is not None and not found.level and found.module == module else None

    def text(self, said: Diagnostic, text: str) -> ast.Constant | None:
        """Return the text that a place is, or that a keyword there is given."""
        here = [each.value if isinstance(each, ast.keyword) else each for each in self.at(said)]
        return next((e for e in here if isinstance(e, ast.Constant) and e.value == text), None)


def _ends_before(node: ast.expr, said: Diagnostic) -> bool:
    return node.end_lineno == said.line + 1 and node.end_col_offset == said.start


def too_many(most: str, given: str) -> str:
    """Return what is wrong with a call that has too many arguments without names."""
    return f"takes at most {most} positional argument{'s' * (most != '1')}, not {given}"


def choices(expected: str) -> tuple[str, ...]:
    """Return the texts of a type that takes but a fixed set of them; none of another one.

    Beside them it may take values of plain classes.
    """
    kinds = alternatives(expected)
    if not all(each.startswith("Literal[") or _PLAIN_CLASS.fullmatch(each) for each in kinds):
        return ()
    return tuple(one or other for one, other in _CHOICE.findall(expected))


def alternatives(title: str) -> list[str]:
    """Return the members of a union as it is displayed, or the type alone."""
    parts, depth, quote = [""], 0, ""
    for each in title:
        if quote:
            quote = "" if each == quote else quote
        elif each in "\"'":
            quote = each
        depth += _BRACKETS.get(each, 0) if not quote else 0
        if each == "|" and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += each
    return [each.strip() for each in parts]
