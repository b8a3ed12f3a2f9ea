"""Functions that JavaScript gives by their names, written out where they are given.

``app.use(timing)`` says what ``timing`` takes, as ``app.use(function timing(ctx, next) { … })``
does; the compiler tells the types of the parameters in the second form alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from docstow.languages.shared.findings import PROBLEMS, Finding, sort_findings
from docstow.languages.typescript.check.syntax import Tree, child, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

#: Functions that are written out, and places of each.
_MOST_FUNCTIONS, _MOST_PLACES = 12, 4
_DECLARED = frozenset({"function_declaration", "generator_function_declaration"})
_VALUES = frozenset({"arrow_function", "function_expression", "generator_function"})
_FUNCTIONS = _DECLARED | _VALUES | {"method_definition"}
#: Places from 0, each a line and a column in bytes.
_Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Copy:
    """A function where it is given.

    Attributes:
        begin: where it is written out.
        end: where that ends.
        origin: where it is declared.
    """

    begin: _Place
    end: _Place
    origin: _Place

    def placed(self, line: int, column: int) -> _Place | None:
        """Return the place in the declaration of a place in the copy; None for one outside."""
        if not self.begin <= (line, column) < self.end:
            return None
        shift = self.origin[1] - self.begin[1] if line == self.begin[0] else 0
        return self.origin[0] + line - self.begin[0], column + shift


@dataclass(frozen=True, slots=True)
class WrittenOut:
    """Code with the functions written out that it gives by name.

    Attributes:
        code: the text.
        copies: of each function the places where it is given.
    """

    code: str
    copies: tuple[tuple[_Copy, ...], ...]

    def joined(self, known: Sequence[Finding], found: Sequence[Finding]) -> tuple[Finding, ...]:
        """Return what is known of the code, and what all copies of a function tell of it.

        Args:
            known: the findings of the code as it is.
            found: those of the code with the copies.
        """
        told: dict[_Place, Finding] = {}
        for copies in self.copies:
            ways = [self._within(each, found) for each in copies]
            for place in set(ways[0]).intersection(*ways[1:]):
                same = [each[place] for each in ways]
                if len({each.status for each in same}) == 1:
                    told[place] = same[0]
        kept = []
        for each in known:
            place = each.line - 1, each.column - 1
            is_open = each.status == "not_checked"
            kept.append(told.get(place, each) if is_open else each)
        placed = {(each.line - 1, each.column - 1) for each in known}
        kept += [e for place, e in told.items() if place not in placed and e.status in PROBLEMS]
        return sort_findings(kept)

    def _within(self, copy: _Copy, found: Sequence[Finding]) -> Mapping[_Place, Finding]:
        """Return the findings in a copy, as if they were made where the function is declared."""
        moved = {}
        for each in found:
            place = copy.placed(each.line - 1, each.column - 1)
            if place is not None:
                moved[place] = replace(each, line=place[0] + 1, column=place[1] + 1)
        return moved


def write_out(tree: Tree) -> WrittenOut | None:
    """Return code with the functions written out that it gives by name; None where it gives none.

    A function is left as it is that is called, too, or given to what does not tell more of it.
    """
    declared = {name: node for name, node in _declared(tree) if name}
    uses: dict[str, list[Node]] = {}
    for node in tree.nodes:
        if node.type in {"identifier", "shorthand_property_identifier"}:
            uses.setdefault(text_of(node), []).append(node)
    given = {}
    for name, function in islice(declared.items(), _MOST_FUNCTIONS):
        places = [each for each in uses.get(name, ()) if not _is_declaring(each, function, tree)]
        is_given = all(_is_given(each, tree) for each in places)
        if 0 < len(places) <= _MOST_PLACES and is_given and _is_free(function, places, tree):
            given[name] = function, places
    return _written(tree, given) if given else None


def _written(tree: Tree, given: Mapping[str, tuple[Node, list[Node]]]) -> WrittenOut:
    body, parts, at = tree.root.text or b"", list[bytes](), 0
    copies: dict[str, list[_Copy]] = {}
    line, column = 0, 0
    places = sorted(
        (each.start_byte, name, each) for name, (_, nodes) in given.items() for each in nodes
    )
    for start, name, node in places:
        function = given[name][0]
        text = function.text or b""
        is_short = node.type == "shorthand_property_identifier"
        before = body[at:start] + (f"{name}: ".encode() if is_short else b"")
        line, column = _moved((line, column), before)
        begin = line, column
        line, column = _moved(begin, text)
        origin = function.start_point.row, function.start_point.column
        copies.setdefault(name, []).append(_Copy(begin, (line, column), origin))
        parts += [before, text]
        at = node.end_byte
    parts.append(body[at:])
    code = b"".join(parts).decode("utf-8", "replace")
    return WrittenOut(code, tuple(map(tuple, copies.values())))


def _moved(place: _Place, text: bytes) -> _Place:
    """Return the place behind a text that begins at one."""
    lines = text.count(b"\n")
    last = len(text) - text.rfind(b"\n") - 1
    return (place[0] + lines, last) if lines else (place[0], place[1] + len(text))


def _declared(tree: Tree) -> Iterator[tuple[str, Node]]:
    """Yield the functions that one name alone stands for, with parameters without types."""
    found: dict[str, list[Node]] = {}
    for node in tree.nodes:
        if node.type in _DECLARED:
            found.setdefault(text_of(child(node, "name")), []).append(node)
        elif node.type == "variable_declarator":
            value = child(node, "value")
            ways = found.setdefault(text_of(child(node, "name")), [])
            ways += [value] if value is not None and value.type in _VALUES else [node]
    for name, ways in found.items():
        if len(ways) == 1 and ways[0].type in _DECLARED | _VALUES and _takes_any(ways[0]):
            yield name, ways[0]


def _takes_any(function: Node) -> bool:
    """Return whether a function has parameters, of which no type is written."""
    if child(function, "parameter") is not None:
        return True
    parameters = child(function, "parameters")
    return parameters is not None and any(
        child(each, "type") is None for each in parameters.named_children
    )


def _is_declaring(node: Node, function: Node, tree: Tree) -> bool:
    outer = tree.parent(node)
    if outer is None or outer.type != "variable_declarator":
        return outer is not None and outer.id == function.id
    return child(outer, "name") == node


def _is_given(node: Node, tree: Tree) -> bool:
    """Return whether a name is an argument of a call, or in an object that is one."""
    outer = tree.parent(node)
    if outer is not None and outer.type == "pair" and child(outer, "value") == node:
        outer = tree.parent(outer)
    while outer is not None and outer.type in {"object", "pair", "array"}:
        outer = tree.parent(outer)
    return outer is not None and outer.type == "arguments"


def _is_free(function: Node, places: Sequence[Node], tree: Tree) -> bool:
    """Return whether what a function names means the same where it is given."""
    around = {each.id for each in tree.above(function) if each.type in _FUNCTIONS}
    inner = [each for each in tree.nodes if _is_in(each, function)]
    used = {text_of(each) for each in inner} - {text_of(e) for e in inner if _binds(e, tree)}
    for place in places:
        outer = [each for each in tree.above(place) if each.type in _FUNCTIONS]
        if any(each.id == function.id for each in outer):
            return False
        for each in (each for each in outer if each.id not in around):
            own = (e for e in tree.nodes if _is_in(e, each) and _binds(e, tree))
            if any(text_of(one) in used for one in own):
                return False
    return True


def _is_in(node: Node, outer: Node) -> bool:
    is_variable = node.type == "identifier" or node.type.startswith("shorthand_property_")
    return is_variable and outer.start_byte <= node.start_byte < outer.end_byte


def _binds(node: Node, tree: Tree) -> bool:
    """Return whether an identifier declares a variable or a parameter."""
    outer = tree.parent(node)
    kinds = {"variable_declarator", "required_parameter", "optional_parameter", "formal_parameters"}
    kinds |= {"object_pattern", "array_pattern", "pair_pattern", "arrow_function"}
    return outer is not None and (outer.type in kinds or node.type.endswith("_pattern"))
