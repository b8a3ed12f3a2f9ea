"""A normalised HTML tree as Markdown. Every word of the tree is in the Markdown.

What has no form in Markdown keeps its text: cells that span others, tables in cells, unknown
elements. Tables without a header that only arrange text become the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from docstow.formats.html.anchors import unmarked
from docstow.formats.html.tree import Element, classes, elements, make, plain, replace

_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_ITEMS = {"li", "dt", "dd", "tr", "td", "th", "caption", "thead", "tbody", "tfoot", "figcaption"}
_BLOCKS = frozenset(_HEADINGS) | _ITEMS | frozenset("""
    address article aside blockquote body center details dialog dir div dl fieldset figure footer
    footnote form frameset header hgroup hr html legend main menu nav noframes ol optgroup p pre
    search section summary table ul""".split())  # fmt: skip  # noqa: SIM905
_STRONG, _EMPHASIS, _CODE = {"b", "strong"}, {"i", "em", "var"}, {"code", "samp", "tt", "kbd"}
_STRUCK = {"del", "s", "strike"}
#: Deeper quotes, lists and cells are written as plain text.
_DEEPEST = 24
#: Deeper spans of text are written as plain text.
_DEEPEST_INLINE = 40
#: The most rows or columns that a cell may span.
_WIDEST = 100
_SPACE = re.compile(r"[^\S\n]+")
_BREAK = re.compile(r" *\n *")
_TICKS = re.compile(r"`+")
#: What would be no text at the start of a paragraph.
_MARKER = re.compile(r"(?:#{1,6}|[-+*>=]|-{3,}|={3,})(?=\s|$)|>")
_NUMBER = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
_UNBALANCED = re.compile(r"[\s<>]")


class _Block(NamedTuple):
    text: str
    is_list: bool = False


def write(top: Element) -> str:
    """Return a tree as Markdown.

    Code is ``pre`` elements with text only, their language in ``data-lang``; a footnote is a
    ``footnote`` element with its label in ``data-label``.
    """
    return _Writer(top).markdown()


class _Writer:
    def __init__(self, top: Element) -> None:
        self._top = top
        #: Elements that are blocks or hold some.
        self._blocks: set[Element] = {top}
        for element in elements(top, *_BLOCKS):
            while element is not None and element not in self._blocks:
                self._blocks.add(element)
                element = element.getparent()

    def markdown(self) -> str:
        out: list[str] = []
        for text, _ in self._content(self._top, 0):
            # A heading that repeats the one above it says nothing.
            if not (out and text.startswith("#") and _is_repeated(text, out[-1])):
                out.append(text)
        while out[-1:] == ["---"]:
            out.pop()
        return "\n\n".join(out) + "\n"

    def _content(self, element: Element, depth: int, *, nested: bool = False) -> list[_Block]:
        """Return what an element holds.

        Args:
            element: the element.
            depth: how many quotes, items and cells it is in.
            nested: whether definition lists in it are below terms.
        """
        if depth > _DEEPEST:
            text = plain(element)
            return [_Block(text)] if text else []
        out: list[_Block] = []
        line: list[str] = []

        def close() -> None:
            text = _paragraph("".join(line))
            line.clear()
            if text:
                out.append(_Block(text))

        # Elements that only hold others are entered without recursion: pages nest them deep.
        stack: list[Iterator[str | Element]] = [_inside(element)]
        while stack:
            each = next(stack[-1], None)
            if each is None:
                stack.pop()
                if stack:
                    close()
            elif isinstance(each, str):
                line.append(_flat(each))
            elif each not in self._blocks:
                line.append(self._inline(each))
            elif each.tag == "a" and (link := self._card(each)):
                line.append(link)
            else:
                close()
                written = self._block(each, depth, nested=nested)
                if written is None:
                    stack.append(_inside(each))
                else:
                    out += written
        close()
        return out

    def _block(self, element: Element, depth: int, *, nested: bool) -> list[_Block] | None:
        """Return a block; None for an element that only holds others."""
        tag = element.tag
        if tag in _HEADINGS:
            text = _one_line(self._inline(element))
            return [_Block(f"{'#' * _HEADINGS[tag]} {text}")] if text else []
        if tag == "pre":
            return [_Block(_fenced(element.text or "", element.get("data-lang") or ""))]
        if tag == "hr":
            return [_Block("---")]
        if tag == "blockquote":
            inner = self._content(element, depth + 1)
            return [_Block(_prefixed(_joined(inner), "> ", "> "))] if inner else []
        if tag in {"ul", "ol", "menu", "dir"}:
            return self._list(element, depth)
        if tag == "dl":
            return self._definitions(element, depth, nested=nested)
        if tag == "table":
            return self._table(element, depth)
        if tag == "footnote":
            inner = self._content(element, depth + 1, nested=True)
            return [_Block(_prefixed(_joined(inner), f"[^{element.get('data-label')}]: ", "    "))]
        if tag in {"figcaption", "caption"}:
            inner = self._content(element, depth + 1)
            if len(inner) == 1 and not re.search(r"[*\n]|^[#>`|-]", inner[0].text):
                return [_Block(f"*{inner[0].text}*")]
            return inner
        return None

    def _list(self, element: Element, depth: int) -> list[_Block]:
        ordered = element.tag == "ol"
        if any(each.tag in _HEADINGS for li in element.iterfind("li") for each in li.iter()):
            # Sections in a list, as in Javadoc.
            return [block for part in element for block in self._content(part, depth + 1)]
        number = _number(element.get("start"), 1)
        items: list[tuple[str, list[_Block]]] = []
        for child in _grouped(element):
            if isinstance(child, str) or child.tag != "li":
                inner = [_Block(child)] if isinstance(child, str) else self._alone(child, depth)
                if items:
                    items[-1][1].extend(inner)
                elif inner:
                    items.append(("- ", inner))
                continue
            number = _number(child.get("value"), number)
            inner = self._content(child, depth + 1, nested=True)
            if ordered and len(inner) > 1 and inner[0].text == f"{number}\\.":
                # GitBook writes the number as text too.
                del inner[0]
            if inner:
                items.append((f"{number}. " if ordered else "- ", inner))
                number += 1
        return [_Block(_items(items), is_list=True)] if items else []

    def _alone(self, element: Element, depth: int) -> list[_Block]:
        """Return an element that stands where an item is expected."""
        if element not in self._blocks:
            text = _paragraph(self._inline(element))
            return [_Block(text)] if text else []
        written = self._block(element, depth + 1, nested=True)
        return self._content(element, depth + 1, nested=True) if written is None else written

    def _definitions(self, element: Element, depth: int, *, nested: bool) -> list[_Block]:
        """Return a definition list: terms in bold, below each other definitions' terms as items."""
        groups: list[tuple[list[str], list[_Block]]] = []
        contents = "toc" in classes(element)
        signatures = False
        for child in _definition_parts(element):
            if isinstance(child, str) or child.tag not in {"dt", "dd"}:
                groups.append(
                    ([], [_Block(child)] if isinstance(child, str) else self._alone(child, depth))
                )
            elif child.tag == "dt":
                if not groups or groups[-1][1]:
                    groups.append(([], []))
                if "sig" in classes(child):
                    signatures = True
                    groups[-1][0].append(_code_span(plain(child)))
                else:
                    groups[-1][0].extend(self._terms(child, bold=not contents))
            else:
                below = not (nested and signatures) and not signatures
                inner = self._content(child, depth + 1, nested=below)
                if not groups:
                    groups.append(([], []))
                groups[-1][1].extend(inner)
        if signatures or not (nested or contents):
            between = "\n\n" if signatures else ", "
            out: list[_Block] = []
            for terms, inner in groups:
                out += [_Block(between.join(terms)), *inner] if terms else inner
            return out
        items = [
            ("- ", [*([_Block(", ".join(terms))] if terms else []), *inner])
            for terms, inner in groups
            if terms or inner
        ]
        return [_Block(_items(items), is_list=True)] if items else []

    def _terms(self, element: Element, *, bold: bool) -> list[str]:
        """Return the terms of a ``dt``: those of several lines stand alone."""
        if element in self._blocks and any(each in self._blocks for each in element):
            text = "\n".join(block.text for block in self._content(element, _DEEPEST))
        else:
            text = self._inline(element)
        lines = [_one_line(part).rstrip(",").strip() for part in text.split("\n")]
        return [f"**{line}**" if bold else line for line in lines if line]

    def _table(self, element: Element, depth: int) -> list[_Block]:
        out: list[_Block] = []
        rows: list[list[Element | None]] = []
        spans: dict[int, int] = {}
        for part in _table_parts(element):
            if part.tag != "tr":
                out += self._block(part, depth, nested=False) or self._content(part, depth + 1)
                continue
            row = _row(part, spans)
            held = [cell for cell in row if cell is not None and plain(cell)]
            if len(held) == 1 and any(each.tag in _HEADINGS for each in held[0].iter()):
                out += [*self._rows(rows, depth), *self._content(held[0], depth + 1)]
                rows = []
            elif held:
                rows.append(row)
        return [*out, *self._rows(rows, depth)]

    def _rows(self, rows: list[list[Element | None]], depth: int) -> list[_Block]:
        width = max((len(row) for row in rows), default=0)
        rows = [[*row, *[None] * (width - len(row))] for row in rows]
        used = [
            column
            for column in range(width)
            if any(row[column] is not None and plain(row[column]) for row in rows)
        ]
        cells = [[row[column] for column in used] for row in rows]
        if not cells:
            return []
        if _is_layout(cells):
            return [
                block
                for row in cells
                for cell in row
                if cell is not None
                for block in self._content(cell, depth + 1, nested=len(used) > 1)
            ]
        lines = [[self._cell(cell, depth) for cell in row] for row in cells]
        lines.insert(1, ["---"] * len(used))
        return [_Block("\n".join(f"| {' | '.join(line)} |" for line in lines))]

    def _cell(self, cell: Element | None, depth: int) -> str:
        """Return a cell's content on one line."""
        if cell is None:
            return ""
        if cell not in self._blocks or not any(each in self._blocks for each in cell):
            text = _BREAK.sub("\n", _SPACE.sub(" ", self._inline(cell))).strip()
        else:
            text = "\n".join(self._cell_lines(cell, depth))
        text = re.sub(r"\n+", "<br>", text)
        return re.sub(r"(?<!\\)\|", r"\\|", text)

    def _cell_lines(self, cell: Element, depth: int) -> Iterator[str]:
        for inner in elements(cell):
            if inner.tag == "pre":
                # Code in a cell: each line as inline code.
                lines = [_code_span(line) for line in (inner.text or "").split("\n")]
                inner.tag, inner.text = "div", None
                for line in lines:
                    part = make("verbatim")
                    part.set("data-text", line)
                    inner.append(part)
            elif inner.tag in _HEADINGS:
                inner.tag = "p"
            elif inner.tag == "table":
                # A row of a table in a cell is a line.
                for row in list(inner.iter("tr")):
                    cells = [" ".join(self._texts(each)) for each in row.iter("td", "th")]
                    part = make("verbatim")
                    part.set("data-text", " | ".join(cells))
                    replace(row, part)
                for part in [inner, *inner.iter("thead", "tbody", "tfoot")]:
                    part.tag = "div"
        for block in self._content(cell, depth + 1, nested=True):
            for line in block.text.split("\n"):
                # Spaces at the start of a line of a cell have no meaning.
                yield line.strip().removesuffix("\\")

    def _card(self, link: Element) -> str:
        """Return a link around blocks as one link; empty if they are more than text."""
        inner = list(link.iter("pre", "table", "ul", "ol", "dl", "blockquote", "footnote"))
        if inner or not link.get("href"):
            return ""
        return self._link(link, " ".join(self._texts(link)))

    def _texts(self, element: Element) -> Iterator[str]:
        """Yield the text of each block as one line, headings in bold."""
        for block in self._content(element, _DEEPEST - 1):
            text = _one_line(block.text)
            heading = re.fullmatch(r"#{1,6} (.+)", text)
            yield f"**{heading[1]}**" if heading else text

    def _inline(self, element: Element, depth: int = 0) -> str:
        r"""Return text on one line, but for ``\n`` where the page breaks it."""
        tag = element.tag
        if depth > _DEEPEST_INLINE:
            return _flat("".join(element.itertext()))
        if tag == "br":
            return "\n"
        if tag == "verbatim":
            return f"{element.get('data-text')}\n"
        if tag in _CODE and not (tag == "kbd" and element.find(".//kbd") is not None):
            return self._code(element)
        text = "".join(
            _flat(each) if isinstance(each, str) else self._inline(each, depth + 1)
            for each in _inside(element)
        )
        if tag == "a":
            return self._link(element, text)
        if tag in _STRONG:
            return _marked(text, "**")
        if tag in _EMPHASIS:
            return _marked(text, "*")
        if tag in _STRUCK:
            return _marked(text, "~~")
        if tag == "q":
            return f'"{text}"'
        if tag == "rt":
            return f"({text})"
        return f" {text} " if tag in _BLOCKS else text

    def _code(self, element: Element) -> str:
        """Return inline code; with one link in it, all of it is the link."""
        for inner in element.iter("br"):
            inner.text = " "
        text = plain(element)
        span = _code_span(text)
        links = [each for each in element.iter("a") if each.get("href") and plain(each)]
        if len(links) == 1 and next(element.iterancestors("a"), None) is None:
            span = self._link(links[0], span)
        whole = "".join(element.itertext())
        before = " " if whole[:1].isspace() and text else ""
        return before + span + (" " if whole[-1:].isspace() and text else "")

    def _link(self, element: Element, text: str) -> str:
        text = text.replace("\n", " ")
        label = _SPACE.sub(" ", text).strip()
        href = element.get("href") or ""
        if not label or not href:
            return text
        before = " " if text[:1].isspace() else ""
        after = " " if text[-1:].isspace() else ""
        if label == href:
            return f"{before}<{href}>{after}"
        if _UNBALANCED.search(href) or href.count("(") != href.count(")"):
            href = f"<{href.replace('<', '%3C').replace('>', '%3E')}>"
        return f"{before}[{label}]({href}){after}"


def _inside(element: Element) -> Iterator[str | Element]:
    """Yield the texts and elements directly in an element."""
    if element.text:
        yield element.text
    for child in element:
        yield child
        if child.tail:
            yield child.tail


def _grouped(element: Element) -> Iterator[str | Element]:
    """Yield what is directly in a list, without space between the items."""
    for each in _inside(element):
        if not isinstance(each, str):
            yield each
        elif text := _paragraph(_flat(each)):
            yield text


def _definition_parts(element: Element) -> Iterator[str | Element]:
    """Yield terms and definitions, which may be grouped by other elements."""
    for each in _grouped(element):
        if isinstance(each, str) or each.tag != "div":
            yield each
        else:
            yield from _grouped(each)


def _table_parts(table: Element) -> Iterator[Element]:
    """Yield the rows of a table and its captions."""
    for part in table:
        if part.tag in {"thead", "tbody", "tfoot"}:
            yield from part
        elif part.tag not in {"colgroup", "col"}:
            yield part


def _row(row: Element, spans: dict[int, int]) -> list[Element | None]:
    """Return the cells of a row by column; None where a cell spans.

    Args:
        row: the row.
        spans: for each column, how many rows are still covered from above; updated.
    """
    cells: list[Element | None] = []

    def skip_covered() -> None:
        while spans.get(len(cells), 0) > 0:
            spans[len(cells)] -= 1
            cells.append(None)

    for cell in row:
        skip_covered()
        below = min(_number(cell.get("rowspan"), 1), _WIDEST) - 1
        for place in range(max(1, min(_number(cell.get("colspan"), 1), _WIDEST))):
            spans[len(cells)] = max(below, 0)
            cells.append(None if place else cell)
    skip_covered()
    return cells


def _is_layout(cells: Sequence[Sequence[Element | None]]) -> bool:
    """Return whether a table only arranges text: it has no header and one column, or sections."""
    held = [cell for row in cells for cell in row if cell is not None]
    if any(cell.tag == "th" for cell in held):
        return False
    if len(cells[0]) == 1:
        return True
    return any(
        each.tag in _HEADINGS or each.tag in {"pre", "table"}
        for cell in held
        for each in cell.iterdescendants()
    )


def _number(text: str | None, default: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else default


def _is_repeated(heading: str, before: str) -> bool:
    words = unmarked(heading).lstrip("#")
    return before.startswith("#") and unmarked(before).lstrip("#") == words


def _flat(text: str) -> str:
    return text.replace("\n", " ").replace("\xa0", " ").replace("\u200b", "")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _paragraph(text: str) -> str:
    """Return inline text as a paragraph that no marker at its start changes."""
    text = _BREAK.sub("\n", _SPACE.sub(" ", text)).strip()
    text = _NUMBER.sub(r"\1\\\2", text, count=1) if _NUMBER.match(text) else text
    text = f"\\{text}" if _MARKER.match(text) else text
    return text.replace("\n", "\\\n")


def _marked(text: str, mark: str) -> str:
    inner = text.strip()
    if not inner or "\n" in inner:
        return text
    before = " " if text[:1].isspace() else ""
    return f"{before}{mark}{inner}{mark}{' ' if text[-1:].isspace() else ''}"


def _code_span(text: str) -> str:
    """Return text as inline code."""
    if not text.strip():
        return ""
    ticks = "`" * (max((len(each) for each in _TICKS.findall(text)), default=0) + 1)
    ticks = "`" if "`" not in text else ticks
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def _fenced(text: str, language: str) -> str:
    longest = max((len(each) for each in _TICKS.findall(text)), default=2)
    fence = "`" * max(longest + 1, 3)
    return f"{fence}{language}\n{text}\n{fence}"


def _prefixed(text: str, first: str, rest: str) -> str:
    """Return text with a prefix before its first line and one before the others."""
    lines = text.split("\n")
    below = [f"{rest}{line}" if line else rest.rstrip() for line in lines[1:]]
    return "\n".join([f"{first}{lines[0]}".rstrip(), *below])


def _joined(blocks: Sequence[_Block]) -> str:
    return "\n\n".join(block.text for block in blocks)


def _items(items: Sequence[tuple[str, list[_Block]]]) -> str:
    """Return the items of a list, without blank lines if each is a paragraph and lists."""
    tight = all(all(block.is_list for block in blocks[1:]) for _, blocks in items)
    between = "\n" if tight else "\n\n"
    return between.join(
        _prefixed(between.join(block.text for block in blocks), marker, " " * len(marker))
        for marker, blocks in items
    )
