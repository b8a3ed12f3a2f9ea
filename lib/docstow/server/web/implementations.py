"""How implementations stand on an item's page: by sort, each named as contents name it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from docstow.core.errors import ItemNotFound
from docstow.server.web.markdown import Heading

if TYPE_CHECKING:
    from docstow.index.implementations import Implementation
    from docstow.index.loaded import Index

#: So many implementations of one sort are shown.
_MOST = 200


@dataclass(frozen=True, slots=True)
class Block:
    """One impl block, or one that stands for a family.

    Attributes:
        name: the trait as its contents name it (``From<Vec<u8>>``), or the type.
        header: the whole header.
        anchor: where it stands.
        note: what else is known of it.
    """

    name: str
    header: str
    anchor: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Implementations of one sort.

    Attributes:
        title: of the heading.
        anchor: of the heading.
        folded: whether only those who ask see them.
        blocks: those that are shown.
        left: how many more there are.
    """

    title: str
    anchor: str
    folded: bool
    blocks: list[Block]
    left: int


def find_sections(index: Index, path: str, *, of_trait: bool) -> list[Section]:
    """Return who implements a trait, or what a type implements, in the order of their use.

    Args:
        index: the snapshot's.
        path: the item's.
        of_trait: whether it is a trait.
    """
    from docstow.index.implementations import (
        AUTO_SORT,
        BLANKET_SORT,
        DERIVED_SORT,
        WRITTEN_SORT,
        find_by_trait,
        find_by_type,
    )

    try:
        _, rows = (find_by_trait if of_trait else find_by_type)(index, path)
    except ItemNotFound:
        return []
    own = "Implementors" if of_trait else "Trait implementations"
    sorts = (
        (own, "ui-implementations", {WRITTEN_SORT, DERIVED_SORT}, False),
        ("Auto traits" if not of_trait else "Auto implementors", "ui-auto", {AUTO_SORT}, True),
        ("Blanket impls", "ui-blanket", {BLANKET_SORT}, not of_trait),
    )
    taken: set[str] = set()
    found = []
    for title, anchor, sort, folded in sorts:
        chosen = [each for each in rows if each.sort in sort]
        if chosen:
            found.append(_section(title, anchor, chosen, taken, folded=folded, of_trait=of_trait))
    return found


def _section(
    title: str,
    anchor: str,
    rows: list[Implementation],
    taken: set[str],
    *,
    folded: bool,
    of_trait: bool,
) -> Section:
    from docstow.index.families import group_families

    families = group_families(rows, lambda each: each.header, lambda each: (each.trait, each.sort))
    blocks = []
    for family in families:
        first = family.rows[0]
        trait, kind = split_header(first.header)
        name = (kind if of_trait else trait) or first.header
        notes = [first.sort] if first.sort == "derived" else []
        if first.available:
            notes.append(f"available {first.available}")
        if family.sizes:
            notes.append(f"and {len(family.rows) - 1} alike, of sizes {family.sizes}")
        blocks.append(Block(name, first.header, _anchor(name, taken), "; ".join(notes)))
    # As rustdoc has them: by name, what is denied with what is there.
    blocks.sort(key=lambda each: each.name.lstrip("!").casefold())
    return Section(title, anchor, folded, blocks[:_MOST], max(0, len(blocks) - _MOST))


def _anchor(name: str, taken: set[str]) -> str:
    plain = "impl-" + "-".join("".join(c if c.isalnum() else " " for c in name).split())
    anchor, number = plain, 1
    while anchor in taken:
        anchor, number = f"{plain}-{number}", number + 1
    taken.add(anchor)
    return anchor


def split_header(header: str) -> tuple[str, str]:
    """Return the trait and the type of an impl block's header, without parameters and bounds.

    Of ``impl<T: Clone> From<Vec<T>> for Bag<T> where T: Send`` these are ``From<Vec<T>>`` and
    ``Bag<T>``; the trait is empty in a block without one.
    """
    rest = header.removeprefix("unsafe ").removeprefix("impl")
    if rest.startswith("<"):
        rest = rest[_end_of_generics(rest) :]
    rest = _before(rest, " where ").strip().removeprefix("const ")
    trait = _before(rest, " for ")
    kind = rest[len(trait) + len(" for ") :]
    return (trait, kind) if kind else ("", rest)


def _end_of_generics(text: str) -> int:
    depth = 0
    for place, character in enumerate(text):
        if character == "<":
            depth += 1
        elif character == ">" and text[place - 1] not in "-=":
            depth -= 1
            if not depth:
                return place + 1
    return len(text)


def _before(text: str, mark: str) -> str:
    """Return what stands before a mark that is in no brackets; all if there is none."""
    depth = 0
    for place, character in enumerate(text):
        if character in "<([":
            depth += 1
        elif character in ")]" or (character == ">" and text[place - 1] not in "-="):
            depth -= 1
        elif not depth and text.startswith(mark, place):
            return text[:place]
    return text


def contents(sections: list[Section]) -> Iterator[Heading]:
    """Yield the headings of sections, and the names of what is not folded."""
    for each in sections:
        yield Heading(1, each.title, each.anchor)
        for block in each.blocks if not each.folded else ():
            yield Heading(2, block.name, block.anchor, code=True)
