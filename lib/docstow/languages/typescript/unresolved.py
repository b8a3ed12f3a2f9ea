"""What rests on names that the compiler cannot find, and so may have any member.

Where a base is not found it takes the type for one without a base; where a function is not found
that tells what a value is, the value stays what it was; and of several forms of a function it takes
the first one for a value that is not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from docstow.languages.typescript.check.syntax import CALLS, Tree, child, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from docstow.languages.shared.language_server import Diagnostic

#: Modules, names and exports that are not found; exports that a module has otherwise.
_NOT_FOUND = frozenset({"2304", "2305", "2306", "2307", "2552", "2614", "2724", "2792", "1192"})
_NOT_FOUND |= {"2503", "2691", "2694", "2835", "6142", "7016"}
_TYPES = frozenset({"class_declaration", "abstract_class_declaration", "interface_declaration"})
_HERITAGE = frozenset({"class_heritage", "extends_type_clause", "extends_clause"})
_WORDS = frozenset({"identifier", "type_identifier"})
#: What may make a class of another one.
_MAKING = frozenset({"call_expression", "class", "identifier", "member_expression"})
_AROUND = frozenset({"await_expression", "parenthesized_expression", "non_null_expression"})
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
#: What the compiler calls a class without a name.
_NAMELESS = "Anonymous"
_DECLARATION = re.compile(r"\b(?:class|interface)\s+\w+[^{]*", re.DOTALL)
_LONGEST_HEAD = 2_000
#: From a variable to the call that gives it.
_MOST_STEPS = 8


class Unresolved:
    """The names of a file that are not found, and what rests on them.

    Args:
        tree: the file.
        said: all that the compiler says of it.
    """

    def __init__(self, tree: Tree, said: Sequence[Diagnostic]) -> None:
        self._tree = tree
        self._names: set[str] = set()
        self._told: set[str] = set()
        self._open: set[str] = set()
        places = {(each.line, each.start) for each in said if each.code in _NOT_FOUND}
        if not places:
            return
        links: list[tuple[str, frozenset[str]]] = []
        for node in tree.nodes:
            at = node.start_point
            if (at.row, at.column) in places:
                self._names |= _bound(node, tree)
            links += _links(node)
        self._open = set(self._names)
        while found := {name for name, used in links if used & self._open} - self._open:
            self._open |= found
        for node in tree.nodes:
            self._told |= set(self._told_by(node))

    @property
    def is_any(self) -> bool:
        """Whether there is any such name."""
        return bool(self._names)

    def has_type(self, displayed: str) -> bool:
        """Return whether a type, as the compiler displays it, has such a base or is made of one."""
        return not self._open.isdisjoint(_WORD.findall(displayed))

    def decides(self, value: Node) -> bool:
        """Return whether what is not found tells elsewhere in the file what a value is."""
        return _place(value) in self._told

    def call_of(self, value: Node) -> Node | None:
        """Return the call that gives a value."""
        for _ in range(_MOST_STEPS):
            if value.type in _AROUND and value.named_children:
                value = value.named_children[0]
            elif value.type == "identifier" and (given := self._given(text_of(value))) is not None:
                value = given
        return value if value.type in CALLS else None

    def has_any(self, node: Node) -> bool:
        """Return whether something that is not found stands in an expression."""
        return not self._open.isdisjoint(_words(node))

    def _given(self, name: str) -> Node | None:
        """Return the value of a variable that is declared once."""
        found = [
            each
            for each in self._tree.nodes
            if each.type == "variable_declarator" and text_of(child(each, "name")) == name
        ]
        return child(found[0], "value") if len(found) == 1 else None

    def _told_by(self, node: Node) -> Iterator[str]:
        """Yield the values of which a call or ``instanceof`` may tell what they are."""
        if node.type == "call_expression":
            passed = child(node, "arguments")
            if passed is not None and not self._names.isdisjoint(_words(child(node, "function"))):
                yield from map(_place, passed.named_children)
        elif (
            node.type == "binary_expression"
            and text_of(child(node, "operator")) == "instanceof"
            and not self._open.isdisjoint(_words(child(node, "right")))
        ):
            yield _place(child(node, "left"))


def _place(node: Node | None) -> str:
    """Return what names a value, however it is asked for: ``a!.b`` and ``a?.b`` as ``a.b``."""
    if node is not None and node.type == "assignment_expression":
        node = child(node, "left")
    return text_of(node).replace("!", "").replace("?.", ".")


def _links(node: Node) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield a type, or what may be a class, and the names that it rests on."""
    if node.type in _TYPES or node.type == "class":
        named = child(node, "name")
        bases = [each for each in node.children if each.type in _HERITAGE]
        used = frozenset(word for each in bases for word in _words(each))
        yield text_of(named) if named is not None else _NAMELESS, used
    elif node.type == "variable_declarator":
        value = child(node, "value")
        if value is not None and value.type in _MAKING:
            yield text_of(child(node, "name")), frozenset(_words(value))


def _bound(node: Node, tree: Tree) -> set[str]:
    """Return the names that come of what is not found: those of an import, or the name itself."""
    for each in (node, *tree.above(node)):
        if each.type == "import_specifier":
            return {text_of(each.named_children[-1])}
        if each.type == "import_statement":
            return set(_words(each))
        if each.type == "variable_declarator":
            return set(_words(child(each, "name")))
    return {text_of(node)} if node.type in _WORDS else set()


def _words(node: Node | None) -> list[str]:
    """Return the names in an expression or a type, but for members."""
    found, waiting = [], [node] if node is not None else []
    while waiting:
        each = waiting.pop()
        if each.type in _WORDS:
            found.append(text_of(each))
        waiting += each.named_children
    return found


def lacks_base(text: str, line: int, is_found: Callable[[str], bool]) -> bool:
    """Return whether a type that a package declares has a base of another one that is not there.

    Args:
        text: the file of the declaration.
        line: of the declaration, from 0.
        is_found: tells whether a specifier leads to a package.
    """
    below = "\n".join(text.split("\n")[line:])[:_LONGEST_HEAD]
    head = _DECLARATION.search(below)
    if head is None:
        return False
    for word in set(_WORD.findall(head[0].partition("extends")[2])):
        # What is imported at the beginning of a line: examples in comments have a star there.
        taken = (
            rf"(?m)^\s*import\s[^;'\"]*\b{re.escape(word)}\b[^;'\"]*from\s*['\"]([^.'\"][^'\"]*)"
        )
        if any(not is_found(each) for each in re.findall(taken, text)):
            return True
    return False
