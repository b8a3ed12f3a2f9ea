"""Footnotes and the references to them, as Markdown writes them: ``[^1]``."""

from __future__ import annotations

import re

from lxml import etree

from docstow.formats.html.tree import Element, classes, make, plain, replace

_LABEL = re.compile(r"[\[(]?\^?([^\W_][\w.-]{0,30}|[*\u2020\u2021])[\])]?")
#: Around a label: ``[1]``, ``1.``; a link back is an arrow or a caret.
_SIGNS = "[]()^. \xa0\u21a9\ufe0e\u2191\u21b5\u2b06"
_DEFINITIONS = {"footnote-definition"}
_NOTES = {"li", "aside", "div", "p", "dt", "dd", "table", "tr"}
#: Elements that links in superscripts may be in.
_AROUND = 2


def write_footnotes(main: Element) -> None:
    """Replace references by ``[^label]``, and notes by ``footnote`` elements.

    A reference and its note link to each other, whatever the generator; a note has the attribute
    ``data-label``.
    """
    places: dict[str, Element] = {}
    for each in main.iter(etree.Element):
        for name in (each.get("id"), each.get("name")):
            if name:
                places.setdefault(name, each)
    for link in list(main.iter("a")):
        match = _LABEL.fullmatch(plain(link))
        note = places.get(_fragment(link)) if match else None
        if match is None or note is None or note.tag not in {*_NOTES, "footnote"}:
            continue
        names = _names(link)
        back = [each for each in note.iter("a") if _fragment(each) in names]
        # Old versions of mdBook have no link back.
        found = back or not _DEFINITIONS.isdisjoint(classes(note))
        if found and note.tag != "footnote" and note not in list(link.iterancestors()):
            _write_note(note, match[1])
        if note.tag == "footnote" and note not in list(link.iterancestors()):
            _write_reference(link, note.get("data-label"))
            for each in back:
                _drop_back(each)


def _fragment(link: Element) -> str:
    href = (link.get("href") or "").strip()
    return href[1:] if href.startswith("#") else ""


def _names(link: Element) -> set[str]:
    """Return the identifiers of a reference and of the elements just around it."""
    near = [link, *link.iterdescendants()]
    above = link.getparent()
    for _ in range(_AROUND):
        if above is None or above.tag not in {"sup", "span"}:
            break
        near.append(above)
        above = above.getparent()
    return {name for each in near for name in (each.get("id"), each.get("name")) if name}


def _write_reference(link: Element, label: str) -> None:
    while (above := link.getparent()) is not None and above.tag in {"sup", "span"}:
        if plain(above).strip(_SIGNS) != plain(link).strip(_SIGNS):
            break
        link = above
    replace(link, make("span", f"[^{label}]"))


def _write_note(note: Element, label: str) -> None:
    listed = note.getparent()
    if listed is not None and listed.tag in {"ol", "ul", "dl"}:
        listed.tag = "div"
    if note.tag == "dt":
        # The note is the definition of its number.
        text = note.getnext()
        if text is not None and text.tag == "dd":
            note.append(text)
            text.tag = "div"
    for each in note.findall("sup"):
        if plain(each).strip(_SIGNS) == label:
            each.drop_tree()
    note.tag = "footnote"
    note.set("data-label", label)


def _drop_back(link: Element) -> None:
    """Remove a link back, with the label around it."""
    above = link.getparent()
    while above is not None and above.tag != "footnote":
        if plain(above).strip(_SIGNS) != plain(link).strip(_SIGNS):
            break
        link, above = above, above.getparent()
    if link.getparent() is not None:
        link.tail = (link.tail or "").lstrip(". ]")
        link.drop_tree()
