"""Names that may be meant, tried in the place of the one that does not exist.

What the compiler then refuses, by what it is called with or by what its result is given to, is less
likely meant than what it takes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from docstow.languages.shared.findings import MOST, PROBLEMS, advised
from docstow.languages.typescript.check.syntax import Tree, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from docstow.languages.shared.findings import Finding
    from docstow.languages.shared.language_server import Diagnostic

#: Findings of one piece of code for which names are tried, and names of each.
_MOST_FINDINGS, MOST_TRIED = 4, 6
#: Nodes that a name can be put in the place of, and what is written then.
_WRITTEN = {
    "property_identifier": "{new}",
    "type_identifier": "{new}",
    "identifier": "{new}",
    "shorthand_property_identifier": "{new}: {old}",
    "shorthand_property_identifier_pattern": "{new}: {old}",
}
#: The compiler's rules of what is wrong in meaning, as whole numbers.
_MEANING = range(2000, 3000)


class Trials:
    """Tries names in one piece of code.

    Args:
        tree: the code.
        said: what the compiler says of it.
        judge: what it says of other code.
        spare: of places in the code, from 1: names that are tried where none of a finding's fits.
    """

    def __init__(
        self,
        tree: Tree,
        said: Sequence[Diagnostic],
        judge: Callable[[bytes], Sequence[Diagnostic]],
        spare: Mapping[tuple[int, int], Sequence[str]],
    ) -> None:
        self._tree = tree
        self._known = _faults(said)
        self._judge = judge
        self._spare = spare
        self._left = _MOST_FINDINGS
        self._by_place = {(n.start_point.row, n.start_point.column): n for n in tree.nodes}

    def ordered(self, finding: Finding) -> Finding:
        """Return a finding with the names first that the compiler takes."""
        place = finding.line, finding.column
        near, node = finding.suggestions, self._by_place.get((place[0] - 1, place[1] - 1))
        spare = [each for each in self._spare.get(place, ()) if each not in near]
        is_choice = finding.status in PROBLEMS and len(near) + len(spare) > 1
        written = self._written(node) if node is not None else ""
        if not near or not is_choice or node is None or not written or self._left <= 0:
            return replace(finding, suggestions=near[:MOST])
        self._left -= 1
        taken: list[str] = []
        refused: list[str] = []
        for count, each in enumerate([*near, *spare][:MOST_TRIED]):
            if len(taken) == MOST or (taken and count >= len(near)):
                break
            (refused if self._is_refused(node, written, each) else taken).append(each)
        better = (*taken, *refused)[:MOST]
        message = advised(finding.message, finding.name.rpartition(".")[2], better)
        return replace(finding, suggestions=better, message=message)

    def _written(self, node: Node) -> str:
        outer = self._tree.parent(node)
        if (
            outer is not None
            and outer.type == "import_specifier"
            and len(outer.named_children) == 1
        ):
            return "{new} as {old}"
        return _WRITTEN.get(node.type, "")

    def _is_refused(self, node: Node, written: str, name: str) -> bool:
        """Return whether the code has more faults with a name in the place of one."""
        body = self._tree.root.text or b""
        text = written.format(new=name.rpartition(".")[2], old=text_of(node)).encode()
        said = self._judge(body[: node.start_byte] + text + body[node.end_byte :])
        return bool(_faults(said) - self._known)


def _faults(said: Sequence[Diagnostic]) -> Counter[tuple[int, str, str]]:
    return Counter(
        (each.line, each.code, each.message)
        for each in said
        if each.code.isdecimal() and int(each.code) in _MEANING
    )
