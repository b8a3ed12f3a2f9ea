"""What ty says of code, as claims about the nodes of its syntax tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from docstow.languages.shared.language_server import Diagnostic

_ABSENT = re.compile(r"^(Object of type|Class|Module) `(.+)` has no (?:attribute|member) `(\w+)`")
_UNKNOWN_KEYWORD = re.compile(r"^Argument `(\w+)` does not match any known parameter")
_TOO_MANY = re.compile(r"^Too many positional arguments\b.*: expected (\d+), got (\d+)")
_NOT_GIVEN = re.compile(r"^No arguments? provided for required parameters? (`\w+`(?:, `\w+`)*)")
_NO_OVERLOAD = re.compile(r"^No overload of .+ matches arguments")
_LITERAL = re.compile(r"\bExpected `([^\n]+?)`, found `Literal\[(\"[^\"]*\")\]`")
_NO_KEY = re.compile(r"^Unknown key \"([^\"]+)\" for TypedDict `(\w+)`")
_NOT_CALLABLE = "Object of type `None` is not callable"
_CHOICE = re.compile(r"\"([^\"]*)\"")
_BRACKETS = {"[": 1, "(": 1, "{": 1, "<": 1, "]": -1, ")": -1, "}": -1, ">": -1}
#: Rules of which the claims are made.
_ATTRIBUTES = frozenset({"missing-attribute", "missing-module-member", "unresolved-import"})
_ARGUMENTS = frozenset({"unknown-argument", "too-many-positional-arguments", "missing-argument"})
Nodes = Mapping[tuple[int, int], Sequence[ast.AST]]


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
    """

    said: Diagnostic
    node: ast.Call
    keyword: str = ""
    reason: str = ""
    overloaded: bool = False


@dataclass(frozen=True, slots=True)
class ChoiceClaim:
    """That a text is none of a fixed set, or that a dictionary of known keys has no such key."""

    said: Diagnostic
    node: ast.AST
    text: str
    choices: tuple[str, ...]


Claim = MemberClaim | ModuleClaim | ArgumentClaim | ChoiceClaim


def claims(said: Sequence[Diagnostic], tree: ast.Module) -> Iterator[Claim]:
    """Yield what is claimed of a tree."""
    nodes: dict[tuple[int, int], list[ast.AST]] = {}
    calls: dict[ast.AST, ast.Call] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.keyword | ast.alias):
            nodes.setdefault((node.lineno - 1, node.col_offset), []).append(node)
        if isinstance(node, ast.Call):
            calls |= dict.fromkeys([*node.args, *node.keywords], node)
    for each in said:
        here = nodes.get((each.line, each.start), [])
        if each.code in _ATTRIBUTES:
            claim = _absent(each, here)
        elif each.code in _ARGUMENTS:
            claim = _argument(each, here, calls)
        elif each.code == "no-matching-overload" and _NO_OVERLOAD.match(each.message):
            call = _called(each, here)
            claim = ArgumentClaim(each, call, overloaded=True) if call is not None else None
        elif each.message.startswith(_NOT_CALLABLE):
            claim = _absent_by_getattr(each, here)
        else:
            claim = _choice(each, here)
        if claim is not None:
            yield claim


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


def _absent(said: Diagnostic, here: Sequence[ast.AST]) -> Claim | None:
    found = _ABSENT.match(said.message)
    if found is None:
        return None
    kind, title, name = found.groups()
    for node in here:
        is_imported = isinstance(node, ast.alias) and node.name == name
        is_member = isinstance(node, ast.Attribute) and node.attr == name
        if kind == "Module" and (is_imported or is_member):
            return ModuleClaim(said, node, name, title)
        if isinstance(node, ast.Attribute) and is_member and isinstance(node.ctx, ast.Load):
            return MemberClaim(said, node, name, title, is_class=kind == "Class")
    return None


def _absent_by_getattr(said: Diagnostic, here: Sequence[ast.AST]) -> Claim | None:
    """Return the member that is called, where that is None: its class answers for any name."""
    call = _called(said, here)
    if call is None or not isinstance(call.func, ast.Attribute):
        return None
    return MemberClaim(said, call.func, call.func.attr, "")


def _called(said: Diagnostic, here: Sequence[ast.AST]) -> ast.Call | None:
    """Return the call that a place is: the outermost one that ends there."""
    for node in here:
        if isinstance(node, ast.Call):
            is_line = node.end_lineno == said.line + 1
            if is_line and node.end_col_offset == said.end:
                return node
            if not is_line and said.end > 1 << 29:
                return node
    return None


def _argument(
    said: Diagnostic, here: Sequence[ast.AST], calls: Mapping[ast.AST, ast.Call]
) -> Claim | None:
    if found := _UNKNOWN_KEYWORD.match(said.message):
        for node in here:
            if isinstance(node, ast.keyword) and node.arg == found[1]:
                return ArgumentClaim(said, calls[node], keyword=found[1])
        return None
    if found := _TOO_MANY.match(said.message):
        most, given = found.groups()
        reason = f"takes at most {most} positional argument{'s' * (most != '1')}, not {given}"
        call = next((calls[node] for node in here if node in calls), None)
    elif found := _NOT_GIVEN.match(said.message):
        reason, call = f"needs {found[1].replace('`', '')}", _called(said, here)
    else:
        return None
    return ArgumentClaim(said, call, reason=reason) if call is not None else None


def _choice(said: Diagnostic, here: Sequence[ast.AST]) -> Claim | None:
    here = [each.value if isinstance(each, ast.keyword) else each for each in here]
    if found := _NO_KEY.match(said.message):
        node = next((e for e in here if isinstance(e, ast.Constant) and e.value == found[1]), None)
        return ChoiceClaim(said, node, found[1], ()) if node is not None else None
    found = _LITERAL.search(said.message) if said.code == "invalid-argument-type" else None
    if found is None:
        return None
    expected = alternatives(found[1])
    if not all(each.startswith("Literal[") or each == "None" for each in expected):
        return None
    text = found[2].strip('"')
    node = next((e for e in here if isinstance(e, ast.Constant) and e.value == text), None)
    choices = tuple(_CHOICE.findall(found[1]))
    return ChoiceClaim(said, node, text, choices) if node is not None and choices else None
