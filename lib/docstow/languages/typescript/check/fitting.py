"""How what a name stands for fits the place where another name stands: how it is used there.

What the compiler shows of a name is its declaration: ``(method) Page.click(selector: string):
Promise<void>``. Only what is written plainly in both counts; anything else may be right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from docstow.languages.typescript.check.syntax import Tree, called_at, child, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: What it counts that a function takes more arguments or fewer; that it takes as many, but others,
#: or what is read is something else; that the plain things are the same.
_OTHERWISE, _UNLIKE, _LIKE = -1.0, -0.6, 0.5
_PREFIX = re.compile(r"^\([\w ]+\) |^(?:const|let|var|function|class|get|set|readonly) ")
#: A property that has to be there.
_REQUIRED = re.compile(r"[\w$.]+: ")
_OVERLOADS = re.compile(r"\s*\(\+\d+ overloads?\)")
_DEPTH = {**dict.fromkeys("<({[", 1), **dict.fromkeys(">)}]", -1)}
_NODES = {
    **dict.fromkeys(("string", "template_string"), "string"),
    **dict.fromkeys(("true", "false"), "boolean"),
    **dict.fromkeys(("arrow_function", "function_expression"), "function"),
    "number": "number",
    "object": "object",
    "array": "array",
    "regex": "RegExp",
}
_PRIMITIVES = frozenset({"string", "number", "boolean", "bigint", "symbol"})
_NOTHING = frozenset({"void", "undefined", "null", "never"})
_ARITHMETIC = frozenset({"-", "*", "/", "%", "<", ">", "<=", ">="})
_TRUTHS = frozenset({"&&", "||"})
_BRANCHES = frozenset({"if_statement", "while_statement", "do_statement", "ternary_expression"})
#: Members of arrays, by which a value is told to be one.
_OF_ARRAYS = frozenset(
    {
        *("map", "filter", "forEach", "reduce", "push", "join", "find", "some", "every", "sort"),
        *("slice", "flatMap", "length", "at", "entries", "includes"),
    }
)


@dataclass(frozen=True, slots=True)
class Use:
    """What is done with a name.

    Attributes:
        arguments: what it is called with; None where it is not called.
        value: of a key what it is given.
        wanted: what its value has to be, as far as the place tells: ``boolean``, ``array``,
            ``Promise``, ``something``; empty where nothing does.
    """

    arguments: Sequence[Node] | None = None
    value: Node | None = None
    wanted: str = ""

    def fits(self, declaration: str) -> float:
        """Return from -1 to 1 how a declaration fits; 0 where nothing tells.

        Args:
            declaration: as the compiler shows it; empty for none.
        """
        if declaration.endswith("(): any"):
            return 0.0  # The compiler has not made out how it is called.
        shown = _OVERLOADS.sub("", _PREFIX.sub("", declaration))
        parameters, result = _taken_apart(shown)
        if self.value is not None:
            kinds = _kinds(result if parameters is None else "=>")
            needed = _REQUIRED.match(shown) is not None
            return _of_kinds(kinds, self.value) + _LIKE * needed
        if self.arguments is None:
            return _of_use(result if parameters is None else "=>", self.wanted)
        if parameters is None:
            kinds = _kinds(result)
            is_value = bool(kinds) and "function" not in kinds and "" not in kinds
            return _OTHERWISE if is_value else 0.0
        is_one = shown == _PREFIX.sub("", declaration)
        if is_one and not _takes(parameters, self.arguments):
            return _OTHERWISE
        pairs = zip(parameters, self.arguments, strict=False)
        fitting = [_of_kinds(_kinds(_type_of(wanted)), given) for wanted, given in pairs]
        used = _of_use(result, self.wanted)
        if is_one and _UNLIKE in (*fitting, used):
            return _UNLIKE
        return max([used, *fitting, 0.0])


def use_of(node: Node, tree: Tree) -> Use:
    """Return what is done with a member or a key."""
    outer = tree.parent(node)
    if outer is not None and outer.type == "pair":
        return Use(value=child(outer, "value"))
    if outer is None or outer.type != "member_expression":
        return Use()
    place, around = outer, tree.parent(outer)
    arguments: list[Node] | None = None
    call = called_at(node, tree)
    given = child(call, "arguments")
    if call is not None and given is not None and given.type == "arguments":
        arguments = [each for each in given.named_children if each.type != "comment"]
        place, around = call, tree.parent(call)
    while around is not None and around.type == "parenthesized_expression":
        place, around = around, tree.parent(around)
    return Use(arguments=arguments, wanted=_wanted(place, around, tree) if around else "")


def _wanted(place: Node, around: Node, tree: Tree) -> str:
    """Return what a place takes."""
    match around.type:
        case "await_expression":
            return "Promise"
        case "for_in_statement" | "spread_element":
            return "array" if child(around, "left") != place else ""
        case "unary_expression":
            return "boolean" if text_of(child(around, "operator")) == "!" else ""
        case "binary_expression":
            operator = text_of(child(around, "operator"))
            if operator in _ARITHMETIC:
                return "number"
            return "boolean" if operator in _TRUTHS else "something"
        case "member_expression":
            member = text_of(child(around, "property"))
            return "array" if member in _OF_ARRAYS else "object"
        case "variable_declarator" | "return_statement" | "arguments" | "pair":
            return "something"
        case "template_substitution":
            return "something"
    outer = tree.parent(around)
    is_condition = child(around, "condition") in (place, around)
    if around.type in _BRANCHES or (outer is not None and outer.type in _BRANCHES):
        return "boolean" if is_condition else ""
    return ""


def _takes(parameters: Sequence[str], given: Sequence[Node]) -> bool:
    """Return whether so many arguments can be given."""
    if any(each.type == "spread_element" for each in given):
        return True
    least = sum(1 for each in parameters if not _is_optional(each))
    is_open = any(each.startswith("...") for each in parameters)
    return least <= len(given) and (is_open or len(given) <= len(parameters))


def _is_optional(parameter: str) -> bool:
    name, _, _ = parameter.partition(":")
    return parameter.startswith("...") or name.rstrip().endswith("?")


def _type_of(parameter: str) -> str:
    name, _, kind = parameter.partition(": ")
    if name.startswith("..."):
        kind = kind.strip().removesuffix("[]")
    return kind


def _of_kinds(kinds: frozenset[str], given: Node) -> float:
    """Return how a value that is written down fits what is taken; empty kinds may be anything."""
    kind = _NODES.get(given.type, "")
    if not kind or not kinds:
        return 0.0
    if kind in kinds:
        return _LIKE
    return 0.0 if "" in kinds else _UNLIKE


def _of_use(result: str, wanted: str) -> float:
    """Return how a value fits what is done with it."""
    if not wanted or not result:
        return 0.0
    kinds = _kinds(result)
    if not kinds:
        return 0.0
    if kinds <= _NOTHING:
        return _UNLIKE if wanted != "Promise" else 0.0
    if wanted in kinds:
        return _LIKE
    if "" in kinds or wanted == "something":
        return 0.0
    if wanted == "object":
        return 0.0 if kinds - {"boolean", "number"} else _UNLIKE
    if wanted == "boolean":
        return 0.0 if "Promise" not in kinds else _UNLIKE
    return _UNLIKE


def _kinds(shown: str) -> frozenset[str]:
    """Return what a value of a type may be; an empty one among them for what is not known."""
    return frozenset(_kind(each) for each in _split(shown.strip(), "|") if each.strip())


def _kind(shown: str) -> str:
    plain = shown.strip().rstrip(";").removeprefix("readonly ")
    while plain.startswith("(") and plain.endswith(")") and "=>" not in plain:
        plain = plain[1:-1].strip()
    if plain in _PRIMITIVES or plain in _NOTHING:
        return plain
    if plain[:1] in {'"', "'", "`"}:
        return "string"
    if plain in {"true", "false"}:
        return "boolean"
    if "=>" in plain or plain == "Function":
        return "function"
    if plain.endswith("[]") or plain.startswith(("Array<", "ReadonlyArray<", "[")):
        return "array"
    if plain.startswith("Promise<"):
        return "Promise"
    if plain == "object" or plain.startswith(("{", "Record<", "Partial<")):
        return "object"
    if plain == "RegExp":
        return plain
    return "number" if re.fullmatch(r"-?\d[\d.]*", plain) else ""


def _taken_apart(shown: str) -> tuple[list[str] | None, str]:
    """Return the parameters of a declaration, None where it is no function's, and its type."""
    depth = 0
    for at, each in enumerate(shown):
        if each == "(" and depth == 0:
            end = _closing(shown, at)
            parameters = [e.strip() for e in _split(shown[at + 1 : end], ",") if e.strip()]
            rest = shown[end + 1 :].lstrip()
            if not rest.startswith(":"):
                return None, ""
            return [e for e in parameters if not e.startswith("this:")], rest[1:].strip()
        if depth == 0 and each == ":":
            return None, shown[at + 1 :].strip()
        depth += _DEPTH.get(each, 0) if shown[at - 1 : at + 1] != "=>" else 0
    return None, ""


def _closing(text: str, begin: int) -> int:
    depth = 0
    for at in range(begin, len(text)):
        depth += _DEPTH.get(text[at], 0) if text[at - 1 : at + 1] != "=>" else 0
        if depth == 0:
            return at
    return len(text)


def _split(text: str, mark: str) -> Iterator[str]:
    """Yield the parts of a text between marks that stand in no brackets."""
    depth, begin = 0, 0
    for at, each in enumerate(text):
        if each == mark and depth == 0:
            yield text[begin:at]
            begin = at + 1
        depth += _DEPTH.get(each, 0) if text[at - 1 : at + 1] != "=>" else 0
    yield text[begin:]
