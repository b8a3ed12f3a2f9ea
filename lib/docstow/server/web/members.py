"""How the members of an item stand on its page: by kind, impl block and trait."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from docstow.index.item_page import HEADINGS
from docstow.server.web.markdown import Heading

if TYPE_CHECKING:
    from docstow.index.item_page import ItemPage, Member
    from docstow.index.loaded import Index

#: Kinds that are parts of one item; what is none of them stands in a module or package.
_PARTS = frozenset(
    {"variant", "field", "assoc_type", "assoc_const", "attribute", "property", "method"}
)
#: Contents name the members of an item that has no more than so many.
_MOST_NAMED = 120


@dataclass(frozen=True, slots=True)
class Group:
    """Members under one heading.

    Attributes:
        title: of the heading.
        anchor: of the heading.
        members: each with its own anchor; none if it is not a part of the item.
        block: the impl block they stand in, where it says more than the type; or the trait.
        below: whether it continues the group before it.
    """

    title: str
    anchor: str
    members: list[tuple[Member, str]]
    block: str = ""
    below: bool = False


def group_members(index: Index, read: ItemPage, taken: set[str]) -> list[Group]:
    """Return the members of an item as rustdoc has them.

    A trait's methods are those that must be written and those that come with it; a type's are those
    of its own blocks, then those of traits that say more of them than the trait does.

    Args:
        index: the item's.
        read: the item's.
        taken: the fragments that the page has already; those of the members are added.
    """
    found: list[Group] = []
    for kind, listed in read.grouped:
        if kind == "method" and not index.language.packaged:
            found += _methods(index, listed, of_trait=read.document.kind == "trait")
        else:
            found.append(_group(HEADINGS[kind], f"ui-{kind}", listed))
    return [_free(each, taken) for each in found]


def _free(group: Group, taken: set[str]) -> Group:
    """Return a group without fragments that another item of the page has."""
    anchor = group.anchor if group.anchor not in taken or group.below else f"{group.anchor}-1"
    members = [(each, "" if name in taken else name) for each, name in group.members]
    taken |= {anchor, *(name for _, name in members if name)}
    return replace(group, anchor=anchor, members=members)


def _group(
    title: str, anchor: str, members: list[Member], block: str = "", *, below: bool = False
) -> Group:
    named = [(each, _anchor(each)) for each in members]
    return Group(title, anchor, named, block, below)


def _anchor(member: Member) -> str:
    if member.kind not in _PARTS:
        return ""
    return f"{member.kind}.{member.path.replace('::', '.').rpartition('.')[2]}"


def _methods(index: Index, listed: list[Member], *, of_trait: bool) -> Iterator[Group]:
    blocks: dict[tuple[str, str], list[Member]] = {}
    for each in listed:
        rows = index.rows_by_path.get(each.path, ())
        row = next((row for row in rows if index.columns["kind"][row] == each.kind), None)
        attributes = index.attributes(row) if row is not None else {}
        if of_trait:
            key = ("Required methods" if attributes.get("required") else "Provided methods", "")
        elif trait := attributes.get("trait"):
            key = ("Methods of traits", str(trait))
        else:
            key = ("Methods", str(attributes.get("impl", "")))
        blocks.setdefault(key, []).append(each)
    titles = ("Required methods", "Provided methods", "Methods", "Methods of traits")
    shown = ""
    for title, block in sorted(blocks, key=lambda key: (titles.index(key[0]), key[1])):
        anchor = f"ui-{title.lower().replace(' ', '-')}"
        yield _group(title, anchor, blocks[title, block], block, below=title == shown)
        shown = title


def contents(groups: list[Group]) -> Iterator[Heading]:
    """Yield the headings of groups, and below each the names of the parts of the item."""
    named = sum(len(each.members) for each in groups) <= _MOST_NAMED
    for group in groups:
        if not group.below:
            yield Heading(1, group.title, group.anchor)
        for _, anchor in group.members if named else ():
            if anchor:
                yield Heading(2, anchor.partition(".")[2], anchor, code=True)
