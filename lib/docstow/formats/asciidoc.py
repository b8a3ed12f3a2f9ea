"""AsciiDoc: headings, delimited blocks, lists, tables and macros; includes are not read.

Each line is read once for each level of nesting.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from docstow.core.model import File
from docstow.formats import ADMONITIONS, Page, markdown
from docstow.formats.hidden import drop_hidden
from docstow.formats.markdown.blocks import Line, fence, label, normalize_blocks, quote, table

_DEEPEST = 8
#: A short name may be replaced by a long value many times.
_LONGEST_VALUE = 120
_ATTRIBUTE = re.compile(r":([\w-]{1,60}):(?:\s+(.*))?$")
#: Author and revision, below the title.
_AUTHOR = re.compile(r"[^<>]{1,100}<[^<>\s]{1,100}@[^<>\s]{1,100}>$|v\d[\d.]{0,20}(?:,|$)")
_HEADER_LINES = 3
_HEADING = re.compile(r"(={1,6}|#{1,6})\s+(\S.*?)(?:(?<!\s)\s+=+)?$")
_BLOCK_ATTRIBUTES = re.compile(r"\[([^\[\]]*)\]$")
_DELIMITER = re.compile(r"(-{4,}|={4,}|\.{4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|`{3,}.*)$")
_ADMONITION = re.compile(r"(NOTE|TIP|IMPORTANT|WARNING|CAUTION):\s+(.*)$")
_ITEM = re.compile(r"(\*{1,5}|-|\.{1,5}|\d{1,9}\.)\s+(\S.*)$")
_TERM = re.compile(r"(\S.{0,300}?)::+(?:\s+(.*))?$")
_CALLOUT = re.compile(r"<(\d{1,3}|\.)>\s+(.*)$")
_INCLUDE = re.compile(r"include::([^\[\]]{1,500})\[")
_IMAGE = re.compile(r"image::([^\[\]\s]{1,1000})\[([^\[\],\]]{0,500})")
_CONDITION = re.compile(r"(?:ifdef|ifndef|ifeval|endif)::|//(?!/)|toc::|<<<$|'''$")
_INLINE = re.compile(
    r"(?P<code>`[^`\n]{1,1000}`)"
    r"|\+\+\+(?P<triple>[^\n]{1,2000}?)\+\+\+|pass:[a-z,]{0,20}\[(?P<passed>[^\n\]]{1,2000})\]"
    r"|(?:link:)?(?P<url>https?://[^\s\[\]<>]{1,1000})\[(?P<label>[^\[\]]{0,500})\]"
    r"|link:(?P<path>[^\s\[\]]{1,1000})\[(?P<path_label>[^\[\]]{0,500})\]"
    r"|xref:(?P<xref>[^\s\[\]]{1,500})\[(?P<xref_label>[^\[\]]{0,500})\]"
    r"|<<(?P<anchor>[^<>,]{1,300})(?:,\s*(?P<anchor_label>[^<>]{1,300}))?>>"
    r"|image:(?P<image>[^\s:\[\]][^\s\[\]]{0,1000})\[(?P<alt>[^\[\],]{0,300})[^\[\]]{0,300}\]"
    r"|\{(?P<name>[\w-]{1,60})\}"
    r"|(?<!\w)(?<!\*)\*(?P<strong>[^*\s](?:[^*\n]{0,500}[^*\s])?)\*(?![\w*])"
    r"|\[\[[^\[\]]{1,200}\]\]"
)


def read(text: str, file: File) -> Page:
    """Read an AsciiDoc file."""
    blocks = _Blocks(text.split("\n"), {}, 0)
    lines = blocks.read()
    attributes = {}
    if blocks.attributes.get("description"):
        attributes["description"] = blocks.attributes["description"]
    return markdown.build_page(lines, file, attributes)


class _Blocks:
    """A pass over the lines of one level of nesting."""

    def __init__(self, lines: Sequence[str], attributes: dict[str, str], depth: int) -> None:
        self._lines = [line.rstrip() for line in lines]
        self.attributes = attributes
        self._depth = depth
        self._out: list[Line] = []
        self._style: list[str] = []
        self._title = ""

    def read(self) -> list[Line]:
        at = 0
        while at < len(self._lines):
            line = self._lines[at]
            after = self._write_block(line, at) if line else at
            if after > at:
                at = after
                continue
            at += 1
            if not line:
                self._out.append(("", False))
            elif not self._is_metadata(line):
                self._write_line(line)
        return self._out

    def _is_metadata(self, line: str) -> bool:
        """Return whether a line is an attribute of the document or of the next block; store it."""
        attribute = _ATTRIBUTE.match(line)
        if attribute is not None:
            self.attributes[attribute[1].lower()] = (attribute[2] or "")[:1000]
            return True
        style = _BLOCK_ATTRIBUTES.match(line)
        if style is not None:
            self._style = [part.strip().strip('"') for part in style[1].split(",")]
            return True
        if re.match(r"\.[A-Za-z`\"'<{]", line):
            self._title = line[1:]
            return True
        if len(self._out) <= _HEADER_LINES and _AUTHOR.match(line):
            return True
        return bool(_CONDITION.match(line)) or line == "+" or line.startswith("[[")

    def _write_line(self, line: str) -> None:
        """Write a heading, or a line of a list or paragraph."""
        self._take_style()
        admonition = _ADMONITION.match(line)
        if admonition is not None:
            self._out += quote(label(admonition[1].lower()), [(self._inline(admonition[2]), False)])
        elif heading := _HEADING.match(line):
            self._out += [
                ("", False),
                (f"{'#' * len(heading[1])} {self._inline(heading[2])}", False),
                ("", False),
            ]
        elif item := _ITEM.match(line):
            depth = 0 if item[1] == "-" or item[1][0].isdigit() else len(item[1]) - 1
            mark = "1." if item[1][0] == "." else item[1] if item[1][0].isdigit() else "-"
            self._out.append((f"{'   ' * depth}{mark} {self._inline(item[2])}", False))
        elif callout := _CALLOUT.match(line):
            self._out.append((f"- ({callout[1]}) {self._inline(callout[2])}", False))
        elif term := _TERM.match(line):
            self._out.append(
                (
                    f"- **{self._inline(term[1])}**: {self._inline(term[2] or '')}".rstrip(": "),
                    False,
                )
            )
        else:
            text = self._inline(line.removesuffix(" +"))
            self._out.append(("\\" + text if text.startswith("#") else text, False))

    def _write_block(self, line: str, at: int) -> int:
        """Write the block that begins on a line; return its end, ``at`` if none begins."""
        if include := _INCLUDE.match(line):
            self._out.append((f"See the file `{include[1]}`.", False))
            return at + 1
        if image := _IMAGE.match(line):
            self._out.append((f"![{image[2]}]({image[1]})", False))
            return at + 1
        if re.fullmatch(r"[|,:!]===", line):
            return self._table(at)
        if line.startswith(" ") and not _ITEM.match(line.lstrip()):
            return self._literal(at)
        if _DELIMITER.fullmatch(line):
            return self._delimited(at)
        if self._style and self._style[0].lower() in ADMONITIONS:
            end = self._paragraph_end(at)
            style = self._take_style()
            inner = _Blocks(self._lines[at:end], self.attributes, self._depth + 1).read()
            self._out += quote(label(style[0].lower()), inner)
            return end
        if self._style and self._style[0] in {"source", "listing", "literal"} and line:
            end = self._paragraph_end(at)
            self._code(self._lines[at:end], self._take_style())
            return end
        return at

    def _paragraph_end(self, at: int) -> int:
        while at < len(self._lines) and self._lines[at]:
            at += 1
        return at

    def _take_style(self) -> list[str]:
        """Return and clear the style above a block; write and clear the title."""
        style, title = self._style, self._title
        self._style, self._title = [], ""
        if title:
            self._out += [("", False), (f"**{self._inline(title)}**", False), ("", False)]
        return style

    def _delimited(self, at: int) -> int:
        mark = self._lines[at]
        closing = re.match(r"`+", mark)
        close = closing[0] if closing else mark
        try:
            end = self._lines.index(close, at + 1)
        except ValueError:
            # An unclosed delimiter is ignored.
            return at + 1
        body = self._lines[at + 1 : end]
        style = self._take_style()
        if closing:
            self._code(body, ["source", mark[len(close) :].split(",")[0].strip()])
        elif mark[0] in "-." and len(mark) > 2:
            self._code(body, style)
        elif mark[0] == "+":
            # HTML that is passed through, as Markdown has it.
            self._out += normalize_blocks(drop_hidden("\n".join(body)).split("\n"))
        elif mark[0] != "/" and self._depth < _DEEPEST:
            inner = _Blocks(body, self.attributes, self._depth + 1).read()
            named = style[0].lower() if style else ""
            if named in ADMONITIONS:
                self._out += quote(label(named), inner)
            elif mark[0] == "_":
                self._out += quote("", inner)
            else:
                self._out += inner
        return end + 1

    def _literal(self, at: int) -> int:
        """Write an indented paragraph, which is code."""
        end = at
        while end < len(self._lines) and self._lines[end].startswith(" "):
            end += 1
        if at and self._lines[at - 1]:
            self._out += [(self._inline(line.strip()), False) for line in self._lines[at:end]]
        else:
            self._code(self._lines[at:end], self._take_style())
        return end

    def _code(self, body: Sequence[str], style: list[str]) -> None:
        language = ""
        if style and style[0].split("%")[0] in {"source", ""}:
            language = style[1] if len(style) > 1 and "=" not in style[1] else ""
            language = language or self.attributes.get("source-language", "")
        language = re.sub(r"[^\w+#.-]", "", language)
        code = fence("\n".join(body), language).split("\n")
        self._out += [("", False), *((line, True) for line in code), ("", False)]

    def _table(self, at: int) -> int:
        mark = self._lines[at]
        try:
            end = self._lines.index(mark, at + 1)
        except ValueError:
            return at + 1
        columns = _columns(self._style)
        headed = any("header" in part for part in self._style)
        self._take_style()
        body = self._lines[at + 1 : end]
        rows = [_cells(line, mark[0]) for line in body if line]
        columns = columns or max(map(len, rows), default=0)
        headed = headed or (len(body) > 1 and bool(body[0]) and not body[1])
        cells = [self._inline(cell).replace("|", "\\|") for row in rows for cell in row]
        if not cells or not columns:
            return end + 1
        grid = [cells[n : n + columns] for n in range(0, len(cells), columns)]
        grid[0] += [""] * (columns - len(grid[0]))
        self._out += [("", False), *table(grid, headed=headed), ("", False)]
        return end + 1

    def _inline(self, text: str) -> str:
        return _INLINE.sub(self._span, text)

    def _span(self, match: re.Match[str]) -> str:
        if match["code"]:
            return "`" + match["code"].strip("`+") + "`" if match["code"].strip("`+") else match[0]
        if passed := match["triple"] or match["passed"]:
            return drop_hidden(passed)
        if match["url"]:
            return f"[{_label(match['label']) or match['url']}]({match['url']})"
        if match["path"]:
            return f"[{_label(match['path_label']) or match['path']}]({match['path']})"
        if match["xref"]:
            text = match["xref_label"] or match["xref"]
            return f"[{text}]({match['xref']})" if "#" not in match["xref"][:1] else text
        if match["anchor"]:
            return match["anchor_label"] or match["anchor"].lstrip("#").replace("_", " ").strip()
        if match["image"]:
            return f"![{match['alt']}]({match['image']})"
        if match["name"]:
            return self.attributes.get(match["name"].lower(), match[0])[:_LONGEST_VALUE]
        return f"**{match['strong']}**" if match["strong"] else ""


def _label(text: str) -> str:
    return text.removesuffix("^").split(",window=")[0].strip()


def _columns(style: Sequence[str]) -> int:
    """Return the number of columns of ``cols="1,2,3"`` or ``cols=3*``; 0 if not given."""
    whole = ",".join(style)
    match = re.search(r"cols=\"?([^=]*)", whole)
    if match is None:
        return 0
    parts = [
        part for part in re.split(r"[,;]", match[1]) if re.fullmatch(r"[\d<>^.~%*aemshld]+", part)
    ]
    repeated = re.match(r"(\d{1,2})\*", parts[0]) if parts else None
    return int(repeated[1]) if repeated else len(parts)


def _cells(line: str, mark: str) -> list[str]:
    if mark != "|":
        return [cell.strip() for cell in line.split(mark)]
    parts = re.split(r"(?<!\\)(?:\b[\d.+*<>^]{0,8}[aemshld]?)?\|", line)
    return [part.replace("\\|", "|").strip() for part in (parts[1:] if len(parts) > 1 else parts)]
