"""Markup that one generator has for what HTML has elements for: tables, code, lists of terms."""

from __future__ import annotations

from collections.abc import Set
from functools import lru_cache

from docstow.formats.html.tree import Element, classes, elements, make, plain, replace

#: Doxygen's sections that are admonitions.
_SECTIONS = {"note", "warning", "attention", "remark", "deprecated", "todo", "bug"}
#: Tables that are no ``table``: GitBook's.
_ROLES = {"table": "table", "row": "tr", "cell": "td", "columnheader": "th", "rowgroup": "tbody"}
#: Titles that are paragraphs.
_TITLES = {"title", "rubric", "topic-title", "sidebar-title", "caption-title"}
_SIGNATURES = {"member-signature", "type-signature"}
_GRIDS = {"summary-table", "details-table"}
#: Between the names of a menu.
_CARET = "\u203a"
_PROTOTYPES = {"memname", "funcprototype-table"}


def restore_elements(main: Element) -> None:
    """Replace what Javadoc, Doxygen, Asciidoctor, DocBook and Sphinx write by HTML's elements."""
    for element in elements(main):
        role, style = element.get("role"), element.get("class")
        if not (role or style) or element.getparent() is None:
            continue
        if role in _ROLES:
            element.tag = _ROLES[role]
        if style and (restore := _RESTORE.get(element.tag)) and (names := _names(style)):
            restore(element, names)


@lru_cache(maxsize=4096)
def _names(style: str) -> Set[str]:
    return frozenset(style.split())


def _restore_div(element: Element, names: Set[str]) -> None:
    table = element.find("table")
    if "admonitionblock" in names and table is not None:
        _unbox(element, table)
    elif "colist" in names and table is not None:
        _write_callouts(table)
    elif "hdlist" in names and table is not None:
        _write_terms(table)
    elif names & _GRIDS:
        _write_summary(element)
    elif names & _SIGNATURES:
        code = make("pre", "".join(element.itertext()).replace("\xa0", " ").replace("\u200b", ""))
        code.set("data-lang", "java")
        replace(element, code)
    elif "fragment" in names and element.find("div[@class='line']") is not None:
        _write_fragment(element)
    elif "title" in names and plain(element) and element.find(".//p") is None:
        _write_title(element)
    elif "ec-line" in names:
        _sign_line(element, names)
    elif "line-block" in names:
        for line in element.findall("div"):
            if "line" in classes(line):
                line.tag = "span"
                line.append(make("br"))


def _restore_table(element: Element, names: Set[str]) -> None:
    if not _PROTOTYPES.isdisjoint(names):
        _write_prototype(element)


def _restore_terms(element: Element, names: Set[str]) -> None:
    if kinds := names & _SECTIONS:
        _box_section(element, min(kinds))


def _restore_span(element: Element, names: Set[str]) -> None:
    following = element.getnext()
    if "permalink" in names:
        element.drop_tree()
    elif "keycap" in names:
        replace(element, make("kbd", plain(element)))
    elif "term" in names and following is not None and "term" in classes(following):
        # DocBook: terms of one definition.
        element.append(make("br"))
    elif "menuseq" in names:
        for caret in element.findall(".//i"):
            if "caret" in classes(caret) and not plain(caret):
                caret.tag, caret.text = "span", _CARET


def _restore_paragraph(element: Element, names: Set[str]) -> None:
    if names & _TITLES:
        _strengthen(element)


def _restore_link(element: Element, names: Set[str]) -> None:
    # Rustdoc: the address of the playground has the whole example.
    if "test-arrow" in names:
        element.drop_tree()


_RESTORE = {
    "a": _restore_link,
    "div": _restore_div,
    "table": _restore_table,
    "dl": _restore_terms,
    "span": _restore_span,
    "p": _restore_paragraph,
}


def _strengthen(element: Element) -> None:
    element[:] = [make("strong", element.text or "", *element)]
    element.text = None


def _write_title(element: Element) -> None:
    """Write the title of a page of Doxygen as a heading, those of blocks in bold."""
    if "headertitle" in classes(element.getparent()):
        element.tag = "h1"
        # The groups that it belongs to.
        for inner in reversed(element.findall("div")):
            inner.tag = "p"
            inner.tail = None
            element.addnext(inner)
    else:
        element.tag = "p"
        _strengthen(element)


def _sign_line(element: Element, names: Set[str]) -> None:
    """Write the sign of a line of a diff, which Starlight only styles."""
    block = next(element.iterancestors("pre"), None)
    sign = "+ " if "ins" in names else "- " if "del" in names else "  "
    if block is not None and block.get("data-language") == "diff":
        code = next((each for each in element if "code" in classes(each)), element)
        code.text = sign + (code.text or "")


def _write_callouts(table: Element) -> None:
    """Write Asciidoctor's callouts of code as a list: a row is a number and a text."""
    rows = [row.findall("td") for row in table.iter("tr")]
    items = [make("li", cells[-1].text or "", *cells[-1]) for cells in rows if cells]
    replace(table, make("ol", "", *items))


def _write_terms(table: Element) -> None:
    """Write Asciidoctor's horizontal list of terms as one of terms."""
    cells = [cell for row in table.iter("tr") for cell in row.findall("td")]
    for cell in cells:
        cell.tag = "dt" if "hdlist1" in classes(cell) else "dd"
        cell.tail = None
    replace(table, make("dl", "", *cells))


def _unbox(element: Element, table: Element) -> None:
    """Take an admonition of AsciiDoc out of its table, its icon as a title."""
    cells = list(table.iter("td"))
    if len(cells) < 2:
        return
    icon, content = cells[0], cells[1]
    kind = plain(icon)
    if not kind:
        kind = next((each.get("title") or each.get("alt") or "" for each in icon.iter()
                     if each.get("title") or each.get("alt")), "")  # fmt: skip
    title = content.find("div")
    if title is not None and "title" in classes(title):
        kind = plain(title)
        title.drop_tree()
    if element.get("class") == "admonitionblock" and plain(icon):
        element.set("class", f"admonitionblock {plain(icon).lower()}")
    heading = make("p", kind)
    heading.set("class", "admonition-title")
    content.tag = "div"
    content.tail = None
    for each in list(element):
        element.remove(each)
    element.text = None
    element.extend([heading, content] if kind else [content])


def _write_summary(element: Element) -> None:
    """Write a grid of Javadoc as a table: a row ends with its last column."""
    rows: list[Element] = []
    open_row = False
    for cell in list(element):
        names = classes(cell)
        if not any(name.startswith("col-") for name in names):
            return
        if not open_row:
            rows.append(make("tr"))
        cell.tag = "th" if "table-header" in names else "td"
        cell.tail = None
        rows[-1].append(cell)
        open_row = "col-last" not in names
    replace(element, make("table", "", *rows))


def _write_prototype(table: Element) -> None:
    """Write a prototype that a table aligns as one line of code."""
    text = " ".join(part for cell in table.iter("td", "th") if (part := plain(cell)))
    for before, after in (("( ", "("), (" (", "("), (" )", ")"), (" ,", ","), ("* ", "*")):
        text = text.replace(before, after)
    replace(table, make("p", "", make("code", text)))


def _write_fragment(element: Element) -> None:
    """Write Doxygen's lines of code as code."""
    lines = []
    for line in element.findall("div"):
        if "line" in classes(line):
            for number in line.findall(".//span[@class='lineno']"):
                number.drop_tree()
            lines.append("".join(line.itertext()).replace("\xa0", " "))
    replace(element, make("pre", "\n".join(lines)))


def _box_section(element: Element, kind: str) -> None:
    title = element.find("dt")
    heading = make("p", plain(title) if title is not None else kind)
    heading.set("class", "admonition-title")
    if title is not None:
        element.remove(title)
    for each in element.findall("dd"):
        each.tag = "div"
    element.tag = "div"
    element.set("class", f"admonition {kind}")
    element.insert(0, heading)
