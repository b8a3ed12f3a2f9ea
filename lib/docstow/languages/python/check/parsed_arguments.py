"""What a command line leaves in the namespace that ``argparse`` returns.

The calls of ``add_argument`` tell its attributes with their types, where all are in the code.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from copy import deepcopy

from docstow.languages.python.source.syntax import Function, dotted, string_value
from docstow.text.python_ast import parse_module

_PARSER = "argparse.ArgumentParser"
#: Methods that make further parsers of the same command line.
_MAKING = frozenset(
    {
        *("ArgumentParser", "add_parser", "add_subparsers"),
        *("add_argument_group", "add_mutually_exclusive_group"),
    }
)
#: Functions of others that a parser may be given to, which add no arguments to it.
_HARMLESS = frozenset({"argcomplete.autocomplete", "autocomplete"})
#: What actions leave; all others what ``type`` makes of a text.
_LEFT = {
    **dict.fromkeys(("store_true", "store_false", "BooleanOptionalAction"), "bool"),
    "count": "int",
}
_SILENT = frozenset({"help", "version"})


def parsed_arguments(tree: ast.AST, path_of: Callable[[ast.expr], str]) -> ast.ClassDef | None:
    """Return a class with the attributes of what ``parse_args`` returns.

    None where the code has no command line, or something else may add to it.

    Args:
        tree: of the code.
        path_of: returns the path of what is imported by an expression; empty for others.
    """
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call)]
    making = [each for each in calls if path_of(each.func) == _PARSER]
    if not making or any(map(_is_open, calls)):
        return None
    if _hands_out(tree, calls):
        return None
    body: list[ast.AnnAssign] = []
    for call in calls:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if name in {"add_argument", "add_subparsers"}:
            found = _argument(call) if name == "add_argument" else _destination(call)
            if found is None:
                return None
            body += [_attribute(*found)] if found[0] else []
        elif name == "set_defaults" or dotted(call.func).endswith("Namespace"):
            if any(each.arg is None for each in call.keywords):
                return None
            body += [_attribute(each.arg or "", None) for each in call.keywords]
    for node in ast.walk(tree):
        # What the code itself gives to the namespace later.
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            body.append(_attribute(node.attr, None))
    return _class({ast.dump(each): each for each in body}.values(), making[0]) if body else None


def _class(body: Iterable[ast.stmt], place: ast.expr) -> ast.ClassDef:
    """Return a class of annotated attributes, all of which are at one place of the code."""
    made = parse_module("class Namespace: ...").body[0]
    assert isinstance(made, ast.ClassDef)
    made.body = [*body]
    for node in ast.walk(made):
        ast.copy_location(node, place)
    return made


def _is_open(call: ast.Call) -> bool:
    """Return whether a call may add arguments that are not seen."""
    name = dotted(call.func).rpartition(".")[2]
    keywords = {each.arg for each in call.keywords}
    return (
        (name == "ArgumentParser" and not keywords.isdisjoint({"parents", None}))
        or (name == "add_parser" and "parents" in keywords)
        or (name.startswith("parse_") and ("namespace" in keywords or len(call.args) > 1))
        or name == "setattr"
    )


def _hands_out(tree: ast.AST, calls: list[ast.Call]) -> bool:
    """Return whether a parser is given to what is not of the code."""
    functions = {each.name for each in ast.walk(tree) if isinstance(each, Function)}
    parsers = {
        dotted(each.func.value)
        for each in calls
        if isinstance(each.func, ast.Attribute) and each.func.attr == "add_argument"
    }
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Assign) else None
        if isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] in _MAKING:
            parsers |= {dotted(each) for each in getattr(node, "targets", ())}
    return any(
        dotted(given) in parsers - {""}
        for call in calls
        if dotted(call.func) not in functions | _HARMLESS
        for given in (*call.args, *(each.value for each in call.keywords))
    )


def _argument(call: ast.Call) -> tuple[str, ast.expr | None] | None:
    """Return what ``add_argument`` leaves, with its type where that is known; None if not clear."""
    texts = [string_value(each) for each in call.args]
    keywords = {each.arg: each.value for each in call.keywords}
    if not all(texts) or None in keywords:
        return None
    action = string_value(keywords.get("action")) or dotted(keywords.get("action"))
    action = action.rpartition(".")[2]
    if action in _SILENT:
        return "", None
    if "dest" in keywords:
        name = string_value(keywords["dest"])
    else:
        long = [each for each in texts if each.startswith("--")]
        first = next(iter(long or texts), "")
        name = first.lstrip("-").replace("-", "_") if first.startswith("-") else first
    return (name, _type(action, keywords)) if name else None


def _destination(call: ast.Call) -> tuple[str, ast.expr | None] | None:
    given = [each.value for each in call.keywords if each.arg == "dest"]
    if not given:
        return "", None
    name = string_value(given[0])
    return (name, ast.Name("str", ast.Load())) if name else None


def _type(action: str, keywords: dict[str | None, ast.expr]) -> ast.expr | None:
    """Return the type of an argument; None where that is not known."""
    if action in _LEFT:
        return ast.Name(_LEFT[action], ast.Load())
    if action not in {"", "store", "append", "extend"}:
        return None
    plain = keywords.get("type")
    if plain is None and "default" in keywords and not string_value(keywords["default"]):
        default = keywords["default"]
        if not isinstance(default, ast.Constant) or default.value is not None:
            return None
    made = plain if plain is not None else ast.Name("str", ast.Load())
    if not isinstance(made, ast.Name | ast.Attribute):
        return None
    number = keywords.get("nargs")
    if number is not None and not isinstance(number, ast.Constant):
        return None
    many = number is not None and string_value(number) != "?"
    if action == "append" and many:
        return None
    if many or action in {"append", "extend"}:
        return ast.Subscript(ast.Name("list", ast.Load()), made, ast.Load())
    return made


def _attribute(name: str, kind: ast.expr | None) -> ast.AnnAssign:
    annotation = deepcopy(kind) if kind is not None else ast.Constant(None)
    return ast.AnnAssign(ast.Name(name, ast.Store()), annotation, None, simple=1)
