"""Whether a metaclass gives its classes names that are not written in them."""

from __future__ import annotations

import ast

from docstow.languages.python.source.syntax import Function, dotted, positional, string_value

#: Methods that make a class, or an instance of it.
_MAKING = frozenset({"__new__", "__init__", "__prepare__", "__call__"})
#: Methods of a namespace that only read it.
_READING = frozenset({"get", "items", "keys", "values", "copy"})
#: What a namespace is mostly called.
_SPACES = frozenset({"namespace", "attrs", "dct", "class_dict", "ns"})
#: What makes a class of a namespace.
_MAKERS = frozenset({"__new__", "__init__"})


def gives_names(node: ast.ClassDef) -> bool:
    """Return whether the methods of a class, as a metaclass, may give names to its classes.

    They do not where they hand the namespace on as it is, and set private names alone.
    """
    methods = [each for each in node.body if isinstance(each, Function) and each.name in _MAKING]
    others = {name for each in node.body for name in _targets(each)}
    return bool(_MAKING & others) or any(map(_fills, methods))


def _targets(node: ast.stmt) -> list[str]:
    return [*map(dotted, node.targets)] if isinstance(node, ast.Assign) else []


def _fills(method: Function) -> bool:
    """Return whether a method may write to a namespace, or set a public name."""
    is_stub = ast.unparse(method.body[-1]) == "..."
    calls = (each for each in ast.walk(method) if isinstance(each, ast.Call))
    sets = any(dotted(each.func).rpartition(".")[2] in {"setattr", "vars"} for each in calls)
    if is_stub or sets or method.name == "__prepare__" or _hands_out(method):
        return True
    given = positional(method)[3:4] if method.name in _MAKERS else []
    spaces, read = {each.arg for each in given} | _SPACES, _read_only(method)
    return any(
        _writes(each, spaces)
        or (isinstance(each, ast.Name) and each.id in spaces and id(each) not in read)
        for each in ast.walk(method)
    )


def _hands_out(method: Function) -> bool:
    """Return whether a method gives the class to a function that may change it.

    A function whose result alone is used, as in ``count = arity(cls)``, only reads it.
    """
    made = {each.arg for each in positional(method)[:1] if method.name == "__init__"}
    for each in ast.walk(method):
        match each:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr="__new__"))
            ):
                made.add(name)
    for each in ast.walk(method):
        match each:
            case ast.Expr(value=ast.Call(func=function, args=args)):
                is_maker = isinstance(function, ast.Attribute) and function.attr in _MAKERS
                if not is_maker and not made.isdisjoint(map(dotted, args)):
                    return True
            case ast.Assign(targets=[target], value=ast.Call(args=args)):
                if dotted(target) in made and dotted(target) in map(dotted, args):
                    return True
    return False


def _writes(node: ast.AST, spaces: set[str]) -> bool:
    """Return whether a node sets a public attribute, or a public item of a namespace."""
    match node:
        case ast.Attribute(attr=name, ctx=ast.Store()):
            return not name.startswith("_")
        case ast.Subscript(value=ast.Name(id=space), slice=key, ctx=ast.Store() | ast.Del()):
            return space in spaces and not string_value(key).startswith("_")
    return False


def _read_only(method: Function) -> set[int]:
    """Return the uses of names that read what they mean, or make a class of it."""
    found: set[int] = set()
    for each in ast.walk(method):
        match each:
            case ast.Call(func=ast.Attribute(value=value, attr=name), args=args):
                is_private = bool(args) and string_value(args[0]).startswith("_")
                if name in _READING or (name in {"setdefault", "pop"} and is_private):
                    found.add(id(value))
                elif name in _MAKERS:
                    found.update(map(id, args))
            case ast.Compare(comparators=comparators):
                found.update(map(id, comparators))
            case ast.Subscript(value=value) | ast.Assign(targets=[value]):
                found.add(id(value))
    return found
