"""What is found of a Node package → symbols: kind, place, signature, documentation, parameters.

This room knows how findings are told. It does not look anything up by name.
"""

from __future__ import annotations

from collections.abc import Iterable

from docstow.languages.shared.surface import Parameter, Symbol, SymbolKind
from docstow.languages.typescript.members import Members, NodeMembers
from docstow.languages.typescript.names import Space, Thing
from docstow.languages.typescript.source import types
from docstow.languages.typescript.source.comments import Comment, parse_comment
from docstow.languages.typescript.source.model import DEFAULT, Declaration, Span
from docstow.languages.typescript.source.types import Signature

#: What says most of a thing with several declarations, first.
_KINDS: dict[str, SymbolKind] = {
    "class": "class",
    "function": "function",
    "interface": "interface",
    "enum": "enum",
    "type": "type",
    "constant": "constant",
    "value": "constant",
    "namespace": "module",
}
_OBJECT = ("constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toString",
           "toLocaleString", "valueOf", "__proto__")  # fmt: skip
_FUNCTION = ("apply", "bind", "call", "length", "name", "prototype", "caller", "arguments")
_LONGEST = 4000


def symbol(path: str, thing: Thing, members: NodeMembers) -> Symbol:
    """Tell a thing.

    Args:
        path: what was asked for.
        thing: what it is.
        members: for its calls and its declarations in full.
    """
    if thing.members:
        return _member(path, thing, members)
    if thing.declared:
        return _declared(path, thing, members)
    if thing.spaces:
        return _module(path, thing, members)
    return Symbol(path, "re-export", "", 0, 0, "", "")


def builtin(path: str, name: str, owner: Thing, members: NodeMembers) -> Symbol | None:
    """What every object or function has of itself."""
    spaces = owner.spaces
    if spaces and not owner.declared and not any(map(members.names.whole, spaces)):
        return None
    found = members.of(owner)
    callable_ = found.calls is None or found.calls or found.constructs is None or found.constructs
    if name not in _OBJECT and not (name in _FUNCTION and callable_):
        return None
    return Symbol(path, "property", "", 0, 0, name, "")


def place(thing: Thing) -> tuple[Space, int] | None:
    """The file and the line of a thing's first definition."""
    if thing.members:
        space, member = thing.members[0]
        return space, member.span.line
    if thing.declared:
        space, declaration = _main(thing)
        return space, declaration.span.line
    return (thing.spaces[0], 0) if thing.spaces else None


def _main(thing: Thing) -> tuple[Space, Declaration]:
    """The declaration that says most."""
    order = list(_KINDS)
    return min(thing.declared, key=lambda each: order.index(each[1].kind))


def _member(path: str, thing: Thing, members: NodeMembers) -> Symbol:
    space, first = thing.members[0]
    found = members.of(thing)
    kind: SymbolKind = "property" if first.kind == "property" else "method"
    if first.kind == "constant":
        kind = "constant"
    docs = [parse_comment(member.doc) for _, member in thing.members]
    return Symbol(
        path,
        kind,
        _file(space),
        first.span.line,
        first.span.end_line,
        _lines(member.signature for _, member in thing.members),
        _text(docs),
        docs[0].deprecated if all(doc.deprecated for doc in docs) else "",
        _home(path, space, ""),
        _parameters(found.calls),
    )


def _declared(path: str, thing: Thing, members: NodeMembers) -> Symbol:
    order = list(_KINDS)
    ranked = sorted(thing.declared, key=lambda each: order.index(each[1].kind))
    space, main = ranked[0]
    kind = _KINDS[main.kind]
    if main.kind in ("constant", "value") and _is_script_function(space, main):
        kind = "function"
    docs = [parse_comment(each.doc) for _, each in ranked if each.kind != "namespace"]
    same = [each for each in ranked if each[1].kind == main.kind]
    span = main.span if len(same) == 1 else _together([each for _, each in same], main.span)
    written = [each for each in ranked if each[1].kind != "namespace"] or ranked[:1]
    own = [doc for doc, each in zip(docs, ranked, strict=False) if each[1].kind == main.kind]
    return Symbol(
        path,
        kind,
        _file(space),
        span.line,
        span.end_line,
        _lines(members.detail(*each).signature for each in written),
        _text(docs),
        own[0].deprecated if own and all(doc.deprecated for doc in own) else "",
        _home(path, space, main.name),
        _called(members.of(thing.only(types=False)), kind),
    )


def _module(path: str, thing: Thing, members: NodeMembers) -> Symbol:
    space = thing.spaces[0]
    source = space.unit.source
    lines = source.body.count(b"\n") + 1
    found = members.of(thing)
    whole = members.names.whole(space)
    told = symbol(path, whole[0], members) if whole and not whole[0].spaces else None
    return Symbol(
        path,
        "module",
        _file(space),
        1,
        lines,
        told.signature if told else "",
        told.docstring if told else "",
        "",
        _home(path, space, ""),
        _called(found, "module"),
    )


def _is_script_function(space: Space, declaration: Declaration) -> bool:
    span = declaration.span
    head = space.unit.source.body[span.start : min(span.end, span.start + 200)]
    return declaration.kind == "value" and b"function" in head


def _called(found: Members, kind: SymbolKind) -> tuple[Parameter, ...] | None:
    if kind == "class":
        return _parameters(found.constructs)
    if found.calls is None or found.constructs is None:
        return None
    return _parameters(found.calls + found.constructs)


def _parameters(calls: tuple[Signature, ...] | None) -> tuple[Parameter, ...] | None:
    """What any of the overloads takes: a call that is outside of this fits none of them."""
    if not calls:
        return None
    fixed = [[each for each in call.parameters if not each.rest] for call in calls]
    longest = max(fixed, key=len)
    fewest = min(_needed(call) for call in fixed)
    parameters = [
        Parameter(each.name, "positional_only", index < fewest)
        for index, each in enumerate(longest)
    ]
    rest = next((each for call in calls for each in call.parameters if each.rest), None)
    if rest is not None:
        parameters.append(Parameter(rest.name, "var_positional", required=False))
    return tuple(parameters)


def _needed(parameters: list[types.Parameter]) -> int:
    required = (at for at, e in enumerate(parameters, 1) if e.required and not e.omittable)
    return max(required, default=0)


def _together(found: list[Declaration], main: Span) -> Span:
    """The lines of overloads that follow each other."""
    span = main
    for each in sorted(found, key=lambda each: each.span.line):
        if 0 <= each.span.line - span.end_line <= 60 and each.span.start > span.start:
            span = Span(span.start, each.span.end, span.line, each.span.end_line)
    return span


def _text(docs: list[Comment]) -> str:
    """The first documentation, of overloads preferably of one that is not deprecated."""
    return next((doc.text for doc in sorted(docs, key=_is_deprecated) if doc.text), "")


def _is_deprecated(doc: Comment) -> bool:
    return bool(doc.deprecated)


def _lines(signatures: Iterable[str]) -> str:
    lines = list(dict.fromkeys(filter(None, signatures)))
    shown = "\n".join(lines)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"


def _file(space: Space) -> str:
    return space.unit.path.relative_to(space.unit.folder.root).as_posix()


def _home(path: str, space: Space, name: str) -> str:
    """Where it is defined, if another package or name is meant than the path says."""
    package = space.unit.folder.name
    if path == package or path.startswith((f"{package}.", f"{package}/")):
        return (
            "" if not name or name == DEFAULT or path.endswith(f".{name}") else f"{package}.{name}"
        )
    return f"{package}.{name}" if name and name != DEFAULT else package
