"""Blocks of Markdown: those of MkDocs, Docusaurus, VitePress, MyST and GitHub become CommonMark.

Other formats write their admonitions, quotes and code by the same functions.

Each line is read a fixed number of times for each of few levels of nesting.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from docstow.formats import ADMONITIONS

#: A line, and whether it is code, which stays verbatim.
Line = tuple[str, bool]

_LABELS = {"seealso": "See also", "versionadded": "New in version", "admonition": "Note"}
_OPENING = re.compile(r"\s{0,20}<(h[1-6]|table|pre|style|script|!--)(?=[\s>-]|$)", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,1500}>")
_CELL = re.compile(r"<t[hd](?=[\s>])[^<>]{0,1500}>", re.IGNORECASE)
_ROW = re.compile(r"<tr(?=[\s>])[^<>]{0,1500}>", re.IGNORECASE)
_CODE_CLASS = re.compile(r"(?:lang|language|highlight-source)-([\w+#-]+)")
#: A block of HTML that does not close within so many lines is text.
_LONGEST = 400


def label(name: str, title: str = "") -> str:
    """Return the heading of an admonition: its title, or its name for people."""
    return title.strip().rstrip(":") or _LABELS.get(name.lower(), name.capitalize())


def quote(heading: str, body: Sequence[Line]) -> list[Line]:
    """Return the lines of a block as a quote; code blocks stay verbatim between quotes.

    Args:
        heading: in bold before the body; empty for a plain quote.
        body: the lines.
    """
    lines: list[Line] = [("", False)]
    pending = f"**{heading}:** " if heading else ""
    for text, code in body:
        if code:
            if pending:
                lines.append((f"> {pending.rstrip()}", False))
                pending = ""
            while lines[-1] == (">", False):
                lines.pop()
            lines += [(text, True)] if lines[-1][1] else [("", False), (text, True)]
        elif not text.strip():
            quoting = lines[-1][0].startswith(">") and not lines[-1][1]
            lines.append((">" if quoting else "", False))
        else:
            if lines[-1][1]:
                lines.append(("", False))
            if pending and text.lstrip().startswith(("-", "*", "#", "|", ">", "1.")):
                lines += [(f"> {pending.rstrip()}", False), (">", False)]
                pending = ""
            lines.append((f"> {pending}{text}", False))
            pending = ""
    if pending:
        lines.append((f"> {pending.rstrip()}", False))
    while lines[-1] == (">", False):
        lines.pop()
    return [*lines, ("", False)]


def table(rows: Sequence[Sequence[str]], *, headed: bool = True) -> list[Line]:
    """Return the lines of a table of one row or more; short rows are filled up.

    Args:
        rows: their cells.
        headed: whether the first row is the header; else the header is empty.
    """
    width = max(map(len, rows))
    grid = [[*row, *[""] * (width - len(row))] for row in rows]
    if not headed:
        grid.insert(0, [""] * width)
    grid.insert(1, ["---"] * width)
    return [(f"| {' | '.join(row)} |", False) for row in grid]


def fence(code: str, language: str) -> str:
    """Return code in a fence that is longer than any fence in it."""
    runs = [len(run) for run in re.findall(r"`{3,}", code)]
    marks = "`" * max([3, *(run + 1 for run in runs)])
    return f"{marks}{language}\n{code}\n{marks}"


def _html_block(lines: Sequence[str], at: int) -> tuple[list[Line], int]:
    """Return the block of HTML at a line as Markdown, and its end; ``at`` if there is none."""
    match = _OPENING.match(lines[at])
    if match is None:
        return [], at
    name = match[1].lower()
    closing = "-->" if name == "!--" else f"</{name}>"
    for end in range(at, min(len(lines), at + _LONGEST)):
        if closing in lines[end].lower():
            break
    else:
        return ([], at + 1) if name == "!--" else ([], at)
    whole = "\n".join(lines[at : end + 1])
    place = whole.lower().rfind(closing) if name == "!--" else whole.lower().find(closing)
    body = whole[match.end() : place].partition(">")[2]
    rest: list[Line] = [(whole[place + len(closing) :], False)]
    if not rest[0][0].strip():
        rest = []
    if name in {"!--", "style", "script"}:
        return rest, end + 1
    if name == "pre":
        return [*_preformatted(body), *rest], end + 1
    if name == "table":
        return [*_html_table(body), *rest], end + 1
    title = " ".join(body.split())
    return [("", False), (f"{'#' * int(name[1])} {title}", False), ("", False), *rest], end + 1


def _preformatted(body: str) -> list[Line]:
    named = _CODE_CLASS.search(body[:300])
    code = html.unescape(_TAG.sub("", body)).strip("\n").split("\n")
    fence = "````" if any("```" in line for line in code) else "```"
    return [(line, True) for line in (fence + (named[1] if named else ""), *code, fence)]


def _html_table(body: str) -> list[Line]:
    """Return rows as a Markdown table; cells keep their inline tags."""
    rows = []
    for row in _ROW.split(body)[1:]:
        cells = [re.sub(r"</t[hdr]>|</?t(?:head|body|foot)>", " ", c) for c in _CELL.split(row)[1:]]
        rows.append([" ".join(cell.split()).replace("|", "\\|") for cell in cells])
    rows = [row for row in rows if any(row)]
    if not rows:
        return []
    if max(map(len, rows)) == 1:
        return [line for row in rows for line in ((row[0], False), ("", False))]
    return [("", False), *table(rows), ("", False)]


_DEEPEST = 8
_FENCE = re.compile(r"([ \t]*)(`{3,}(?=[^`]*$)|~{3,})(.*)$")
_LANGUAGE = re.compile(r"\{?[.=]?([\w+#./-]+)")
_MYST = re.compile(r"\{([\w:-]+)\}[ \t]*(.*)$")
_ADMONITION = re.compile(r"( *)(?:!!!|\?\?\?\+?) +([\w-]+)[^\"]*+(?:\"(.*)\")?\s*$")
_TAB = re.compile(r"( *)===[!+]* +[\"'](.+)[\"']\s*$")
_CONTAINER = re.compile(r" {0,8}:{3,} *\{?([A-Za-z][\w.:-]*)\}?(?:\[(.*)\])?(.*)$")
_CONTAINER_END = re.compile(r" {0,8}:{3,}\s*$")
_ALERT = re.compile(r"\s*\[!(\w+)\][+-]?\s*(.*)$")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?$")
#: ``{#id}`` behind a heading, as Docusaurus, Hugo, kramdown and Python-Markdown read it.
HEADING_ID = re.compile(
    r"(?<![ \t])[ \t]*\{:?[ \t]*#([\w:.-]{1,200})[^{}\n]{0,200}\}$", re.MULTILINE
)
_HEADING_ATTRIBUTES = re.compile(r"(?<![ \t])[ \t]*\{(?:#|:|\.)[^{}]{0,200}\}$")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]")
_CODE_CELLS = {"code-block", "code", "sourcecode", "code-cell", "code-include"}
#: What a block begins with that is no fence, no indented code and no underlined heading.
_OPENINGS = frozenset("!?=:><#")
_NAVIGATION = {"toctree", "contents", "tableofcontents", "include", "figure", "image"}


def normalize_blocks(lines: Sequence[str], depth: int = 0) -> list[Line]:
    """Return the lines with every block in one form of CommonMark."""
    if depth > _DEEPEST:
        return [(line, False) for line in lines]
    return _Blocks(lines, depth).read()


class _Blocks:
    """A pass over the lines of one level of nesting."""

    def __init__(self, lines: Sequence[str], depth: int) -> None:
        self._lines = lines
        self._depth = depth
        self._out: list[Line] = []
        self._in_list = False
        self._fences, self._containers = _find_closings(lines)
        self._marks = [*(line.lstrip()[:2] for line in lines), ""]

    def read(self) -> list[Line]:
        at = 0
        steps = (
            self._fence, self._indented_code, self._admonition, self._tab, self._container,
            self._quote, self._html, self._heading,
        )  # fmt: skip
        while at < len(self._lines):
            for step in steps if self._may_open(at) else ():
                after = step(at)
                if after > at:
                    at = after
                    break
            else:
                line, mark = self._lines[at], self._marks[at][:1]
                if mark:
                    item = (mark in "-*+" or mark.isdecimal()) and _ITEM.match(line) is not None
                    self._in_list = item or (self._in_list and line[0] in " \t")
                self._out.append((line.replace("[[toc]]", "").replace("[TOC]", ""), False))
                at += 1
        return self._out

    def _may_open(self, at: int) -> bool:
        """Return whether any of the steps may take a line; most lines begin with a word."""
        return (
            self._marks[at][:1] in _OPENINGS
            or at in self._fences
            or self._lines[at].startswith(("    ", "\t"))
            or self._marks[at + 1] == "--"
            or self._marks[at + 1][:1] == "="
        )

    def _inner(self, lines: Sequence[str]) -> list[Line]:
        return normalize_blocks(lines, self._depth + 1)

    def _fence(self, at: int) -> int:
        end = self._fences.get(at)
        match = _FENCE.match(self._lines[at]) if end is not None else None
        if match is None or end is None:
            return at
        indent, marks, info = match.groups()
        body = list(self._lines[at + 1 : end])
        closed = end < len(self._lines)
        directive = _MYST.match(info.strip())
        if directive and self._directive(directive[1], directive[2], body):
            return end + 1
        words = directive[2] if directive and directive[1] in _CODE_CELLS else info.strip()
        named = _LANGUAGE.match(words)
        self._out.append((f"{indent}{marks}{named[1] if named else ''}", True))
        self._out += [(line, True) for line in body]
        self._out.append((self._lines[end] if closed else indent + marks, True))
        return end + 1

    def _directive(self, name: str, title: str, body: list[str]) -> bool:
        """Write a MyST directive that holds text; return False for one that is code."""
        if name in _NAVIGATION:
            return True
        if name not in ADMONITIONS:
            return False
        options = [line for line in body if not re.match(r":[\w-]+:", line)]
        self._out += quote(label(name, title), self._inner(options))
        return True

    def _indented_code(self, at: int) -> int:
        before = self._lines[at - 1] if at else ""
        if self._in_list or before.strip() or not self._lines[at].startswith(("    ", "\t")):
            return at
        end = at
        while end < len(self._lines) and (
            self._lines[end].startswith(("    ", "\t")) or not self._lines[end].strip()
        ):
            end += 1
        self._out += [(line, bool(line.strip())) for line in self._lines[at:end]]
        return end

    def _below(self, at: int, indent: int) -> tuple[list[str], int]:
        """Return the indented lines of a block, and their end."""
        prefix = " " * (indent + 4)
        end = at
        while end < len(self._lines):
            line = self._lines[end].replace("\t", "    ", 1)
            if line.strip() and not line.startswith(prefix):
                break
            end += 1
        lines = [line.replace("\t", "    ", 1)[indent + 4 :] for line in self._lines[at:end]]
        return lines, end

    def _admonition(self, at: int) -> int:
        match = _ADMONITION.match(self._lines[at])
        if match is None:
            return at
        body, end = self._below(at + 1, len(match[1]))
        self._out += quote(label(match[2], match[3] or ""), self._inner(body))
        return end

    def _tab(self, at: int) -> int:
        match = _TAB.match(self._lines[at])
        if match is None:
            return at
        body, end = self._below(at + 1, len(match[1]))
        self._out += [("", False), (f"**{match[2]}**", False), ("", False), *self._inner(body)]
        return end

    def _container(self, at: int) -> int:
        match = _CONTAINER.match(self._lines[at])
        if match is None:
            return at
        end = self._containers.get(at)
        if end is None:
            # mkdocstrings: the name of an item that it would describe here.
            if "." not in match[1]:
                return at
            self._out.append((f"`{match[1]}`", False))
            return self._below(at + 1, 0)[1]
        body = self._inner(self._lines[at + 1 : end])
        name = match[1].lower()
        title = match[2] or re.sub(r"\{[^{}]*\}", "", match[3] or "")
        self._out += quote(label(name, title), body) if name in ADMONITIONS else body
        return end + 1

    def _quote(self, at: int) -> int:
        end = at
        while end < len(self._lines) and self._lines[end].lstrip(" ").startswith(">"):
            end += 1
        if end == at or (self._in_list and self._lines[at].startswith(" ")):
            return at
        body = [line.lstrip(" ")[1:].removeprefix(" ") for line in self._lines[at:end]]
        alert = _ALERT.match(body[0])
        if alert and alert[1].lower() in ADMONITIONS:
            heading = label(alert[1], alert[2])
            self._out += quote(heading, self._inner(body[1:]))
        else:
            self._out += quote("", self._inner(body))[1:-1]
        return end

    def _html(self, at: int) -> int:
        lines, end = _html_block(self._lines, at)
        self._out += lines
        return end

    def _heading(self, at: int) -> int:
        line = self._lines[at]
        match = _HEADING.match(line)
        if match is not None:
            self._in_list = False
            title = self._title((match[2] or "").rstrip().rstrip("#").rstrip())
            self._out += [(f"{match[1]} {title}".rstrip(), False)]
            return at + 1
        below = self._lines[at + 1] if at + 1 < len(self._lines) else ""
        underline = _UNDERLINE.match(below)
        alone = not (at and self._lines[at - 1].strip())
        if not (underline and alone and line.strip()) or line.lstrip()[0] in ">-*+|#<`=":
            return at
        title = self._title(line.strip())
        self._out.append((f"{'#' if underline[1][0] == '=' else '##'} {title}", False))
        return at + 2

    def _title(self, text: str) -> str:
        """Return a heading without attributes; its id stays where a page is made of it."""
        found = HEADING_ID.search(text)
        title = _HEADING_ATTRIBUTES.sub("", text)
        return f"{title} {{#{found[1]}}}" if found and not self._depth else title


def _find_closings(lines: Sequence[str]) -> tuple[dict[int, int], dict[int, int]]:
    """Return the closing lines of fences and containers by their opening lines, in one pass."""
    fences: dict[int, int] = {}
    containers: dict[int, int] = {}
    open_containers: list[int] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        match = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if match is not None:
            closing = re.compile(rf"\s*{re.escape(match[2][0])}{{{len(match[2])},}}\s*$")
            end = at + 1
            while end < len(lines) and not closing.match(lines[end]):
                end += 1
            fences[at] = end
            at = end
        elif ":::" in line:
            if _CONTAINER_END.match(line):
                if open_containers:
                    containers[open_containers.pop()] = at
            elif _CONTAINER.match(line):
                open_containers.append(at)
        at += 1
    return fences, containers
