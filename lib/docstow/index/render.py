"""An item's page as Markdown: header, facts, docs, members."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from docstow.core.model import Document
from docstow.core.recent import RecentTexts
from docstow.index.item_facts import Package, facts_of
from docstow.index.item_page import HEADINGS, ItemPage, Member, Traits, read_item, read_own
from docstow.text.markdown import rewrite_code_blocks, without_links

if TYPE_CHECKING:
    from docstow.index.loaded import Index


#: The same few items answer many questions.
_shown = RecentTexts(2_000_000)


def item_page(index: Index, row: int, provenance: str) -> str:
    """Return the whole page of an item as Markdown; it is kept for the next who asks for it.

    Args:
        index: the item's.
        row: the item's.
        provenance: a line that says which version answers and where it comes from.
    """
    key = (index.snapshot.id, row, provenance)
    return _shown.get(key, lambda: page(read_item(index, row), provenance))


def item_docs(index: Index, row: int, *, signature: bool = True) -> str:
    """Return what an item's page says of the item itself: facts, docs and members.

    It is for answers that are short: links are their words, and where the source lies is left out.

    Args:
        index: the item's.
        row: the item's.
        signature: whether it is wanted too.
    """
    key = (index.snapshot.id, row, signature)
    return _shown.get(key, lambda: _item_docs(index, row, signature=signature))


def _item_docs(index: Index, row: int, *, signature: bool) -> str:
    own = read_own(index, row)
    document = own.document
    attributes = {key: value for key, value in document.attributes.items() if key != "source"}
    document = replace(
        document, attributes=attributes, signature=document.signature if signature else ""
    )
    text = page(replace(own, document=document), "")
    return without_links(text.partition("\n")[2].strip())


def page(item: ItemPage, provenance: str) -> str:
    """Return the page of an item as Markdown.

    Args:
        item: what it shows.
        provenance: a line that says which version answers and where it comes from.
    """
    document = item.document
    blocks = header(document, provenance, item.package)
    if item.derives:
        blocks.insert(3, f"Derives the trait `{item.derives}`")
    if item.namesakes:
        others = ", ".join(f"{kind} `{spelling}`" for kind, spelling in item.namesakes)
        blocks.insert(2, f"Of the same path: {others}")
    if document.text:
        blocks.append(
            rewrite_code_blocks(document.text, default_language=_language(document)).strip()
        )
    for kind, group in item.grouped:
        blocks.append("\n".join([f"## {HEADINGS[kind]}", "", *map(_line, group)]))
    blocks += _implements(item.traits)
    if item.links:
        blocks.append("\n".join(["## Links", "", *(f"- `{link}`" for link in item.links)]))
    if item.neighbours:
        lines = [_line(each, name=each.path) for each in item.neighbours]
        blocks.append("\n".join(["## See also", "", *lines]))
    return "\n\n".join(blocks) + "\n"


def _implements(traits: Traits) -> list[str]:
    lines = []
    if traits.own:
        shown = (
            f"`{each}` ({traits.available[each]})" if each in traits.available else f"`{each}`"
            for each in traits.own
        )
        lines.append(", ".join(shown))
    if traits.further:
        more = "more, " if traits.own else ""
        lines.append(f"{traits.further} {more}auto and blanket: find_implementations")
    if traits.lacking:
        lines.append(f"Not {', '.join(f'`{each}`' for each in traits.lacking)}")
    lines += [f"By `Deref` it has the methods of `{each}` too" for each in traits.derefs]
    return ["\n\n".join(["## Implements", *lines])] if lines else []


def header(document: Document, provenance: str, package: Package | None = None) -> list[str]:
    """Return the blocks above an item's docs: heading, provenance, signature, facts."""
    blocks = [f"# {document.kind.replace('_', ' ')} `{document.path}`", provenance]
    if document.signature:
        blocks.append(f"```{_language(document)}\n{document.signature}\n```")
    if constructor := document.attributes.get("constructor"):
        blocks.append(f"```{_language(document)}\n{constructor}\n```")
    return blocks + facts_of(document, package)


def _language(document: Document) -> str:
    return str(document.attributes.get("language", "rust"))


def _line(member: Member, name: str = "") -> str:
    lines = member.signature.splitlines() or [member.path]
    # A function's signature says more of it than its decorators.
    first = next((line for line in lines if not line.startswith("@")), lines[0])
    more = " …" if len(lines) > 1 else ""
    summary = f" — {member.summary}" if member.summary else ""
    if member.path.endswith("::*"):
        return f"- `{first}{more}`{summary}"
    name = name or re.split(r"::|\.", member.path)[-1]
    return f"- **{name}**: `{first}{more}`{summary}"
