"""Markdown, MDX and plain text as pages, with front matter in YAML, TOML or JSON.

Of MDX's components the children stay; callouts and tabs of common documentation tools become
Markdown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from docstow.core import toml
from docstow.core.model import File
from docstow.formats import ADMONITIONS, Page, default_title
from docstow.formats.hidden import drop_hidden
from docstow.formats.markdown.blocks import HEADING_ID, Line, normalize_blocks
from docstow.formats.markdown.boxes import quote_boxes
from docstow.formats.markdown.inline import Inline, normalize_label, page_address
from docstow.text.headings import find_headings, slugs

_DEFINITION = re.compile(
    r" {0,3}\[(?!\^)([^\[\]]{1,200})\]:[ \t]*<?([^\s<>]{1,2000})>?"
    r"(?:[ \t]+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t]*$"
)
#: Docusaurus reads ``.md`` as MDX too: an import before any code shows it.
_IMPORT = re.compile(r"^import [\w{*][^\n]{0,500} from ['\"]", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]]{0,500})\]\([^()]{0,2000}\)")


def read(text: str, file: File) -> Page:
    """Read a Markdown file, or MDX under the suffix of Markdown."""
    if _IMPORT.search(text.partition("```")[0]):
        text = mdx_to_markdown(text)
    attributes, body = _split_front_matter(text)
    body = quote_boxes(drop_hidden(body))
    return build_page(normalize_blocks(body.split("\n")), file, attributes)


def build_page(lines: Sequence[Line], file: File, attributes: dict[str, Any]) -> Page:
    """Build a page from lines whose blocks are normalised.

    Args:
        lines: the lines.
        file: their origin.
        attributes: metadata of the file; ``title`` is the fallback for a missing heading.
    """
    references: dict[str, str] = {}
    prose: list[Line] = []
    for line, code in lines:
        definition = None if code or "]:" not in line else _DEFINITION.match(line)
        if definition is None:
            prose.append((line, code))
        else:
            references.setdefault(normalize_label(definition[1]), definition[2])
    inline = Inline(file.url, references)
    written, heading = _title_first(_paragraphs(prose, inline))
    attributes = dict(attributes)
    metadata_title = str(attributes.pop("title", ""))
    title = plain(HEADING_ID.sub("", heading)) or metadata_title or default_title(file)
    text, anchors = _take_anchors("\n".join(written))
    if any(anchors):
        attributes["anchors"] = anchors
    return Page(title, text, links=tuple(inline.links), attributes=attributes)


def _take_anchors(text: str) -> tuple[str, list[str]]:
    """Return the text without the ids that headings state, and the fragment of each heading.

    The title has none: the page's own URL leads there.
    """
    found = find_headings(text)
    ends = [text.find("\n", each.start) % (len(text) + 1) for each in found]
    stated = [
        HEADING_ID.search(text, each.start, end) if "{" in each.title else None
        for each, end in zip(found, ends, strict=True)
    ]
    titles = [
        each.title[: each.title.rfind("{#")] if match else each.title
        for each, match in zip(found, stated, strict=True)
    ]
    anchors = [
        "" if each.start == 0 else match[1] if match else slug
        for each, match, slug in zip(found, stated, slugs(titles), strict=True)
    ]
    for match in reversed(stated):
        if match:
            text = text[: match.start()] + text[match.end() :]
    return text, anchors


def plain(text: str) -> str:
    """Return inline Markdown as plain text on one line."""
    return " ".join(_unlinked(text).replace("`", "").replace("**", "").split())


def _unlinked(text: str) -> str:
    return " ".join(_LINK.sub(r"\1", text).split())


def _paragraphs(lines: Sequence[Line], inline: Inline) -> list[Line]:
    """Rewrite each paragraph as a whole, as links may span lines."""
    out: list[Line] = []
    paragraph: list[str] = []

    def close() -> None:
        if paragraph:
            rewritten = inline.rewrite("\n".join(paragraph))
            if rewritten.strip():
                out.extend((line, False) for line in rewritten.split("\n"))
            paragraph.clear()

    for line, code in lines:
        if code:
            close()
            if out and out[-1] != ("", False) and not out[-1][1] and _opens(line):
                out.append(("", False))
            out.append((line, True))
        elif not line or line.isspace():
            close()
            if out and (out[-1][0] or out[-1][1]):
                out.append(("", False))
        elif line.startswith("#"):
            close()
            paragraph.append(line.rstrip() if not line.endswith("  ") else line)
            close()
        else:
            paragraph.append(line.rstrip() if not line.endswith("  ") else line)
    close()
    return out


def _opens(line: str) -> bool:
    """Return whether a line of code opens a fence outside lists."""
    return line.startswith(("```", "~~~"))


def _title_first(lines: list[Line]) -> tuple[list[str], str]:
    """Move the title heading to the front; return the lines and its text, empty without one."""
    place = next(
        (n for n, (line, code) in enumerate(lines) if not code and re.match(r"#{1,6} ", line)), -1
    )
    heading = ""
    if place >= 0 and lines[place][0].startswith("# "):
        heading = lines[place][0][2:].strip()
        title = [(f"# {_unlinked(heading)}", False), ("", False)]
        lines = [*title, *lines[:place], ("", False), *lines[place + 1 :]]
    texts = [
        line
        for number, (line, code) in enumerate(lines)
        if line.strip() or code or (number and lines[number - 1] != ("", False))
    ]
    while texts and not texts[-1].strip():
        texts.pop()
    while texts and not texts[0].strip():
        texts.pop(0)
    return texts, heading


_FENCE = re.compile(r"([ \t]*)(`{3,}(?=[^`]*$)|~{3,})")
_STATEMENT = re.compile(
    r"import\s+(?:[\"']|[\w*{][^\n]{0,2000}$)"
    r"|export\s+(?:default|const|let|var|function|async|class|type|interface|\{|\*)"
)
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]")
_NAME = re.compile(r"</?([A-Za-z][\w.:-]{0,60})?")
_ATTRIBUTE = re.compile(r"(type|title|label|value)=\{?[\"'`]([^\"'`]{0,300})[\"'`]")
_STRING = re.compile(r"\{\s*([\"'`])([^\"'`{}]{0,500})\1\s*\}")
_TITLED = {"TabItem", "Tab", "Step", "Card", "Accordion", "AccordionItem", "Expandable"}
_CALLOUTS = {"Admonition", "Callout", "Alert", "Aside"}
_LONGEST_STATEMENT = 400
#: How many characters may be scanned for the ends of tags without finding one.
_SCAN_BUDGET = 300_000


def read_mdx(text: str, file: File) -> Page:
    """Read an MDX file."""
    return read(mdx_to_markdown(text), file)


def mdx_to_markdown(text: str) -> str:
    """Return MDX without statements, tags and expressions; code stays verbatim."""
    scanner = _Scanner()
    out: list[str] = []
    prose: list[str] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        match = _FENCE.match(lines[at])
        if match is not None:
            out += scanner.prose(prose)
            prose = []
            end = _fence_end(lines, at, match[2])
            out += _dedented(lines[at:end], len(match[1])) if scanner.depth else lines[at:end]
            at = end
        elif _STATEMENT.match(lines[at]) and not (at and prose and prose[-1].strip()):
            at = _statement_end(lines, at)
        else:
            prose.append(lines[at])
            at += 1
    return "\n".join([*out, *scanner.prose(prose)])


def _fence_end(lines: list[str], at: int, marks: str) -> int:
    closing = re.compile(rf"\s*{re.escape(marks[0])}{{{len(marks)},}}\s*$")
    for end in range(at + 1, len(lines)):
        if closing.match(lines[end]):
            return end + 1
    return len(lines)


def _dedented(lines: list[str], indent: int) -> list[str]:
    return [line[min(indent, len(line) - len(line.lstrip())) :] for line in lines]


def _statement_end(lines: list[str], at: int) -> int:
    """Return the end of a statement: an empty line outside brackets, or the next statement."""
    depth = 0
    first_empty = 0
    for end in range(at, min(len(lines), at + _LONGEST_STATEMENT)):
        line = lines[end]
        if end > at and (_STATEMENT.match(line) or (depth <= 0 and not line.strip())):
            return end
        if not line.strip():
            first_empty = first_empty or end
        depth += sum(line.count(mark) for mark in "{([") - sum(line.count(mark) for mark in "})]")
    return first_empty or (len(lines) if depth <= 0 else at + 1)


class _Scanner:
    """Converts the text between fences; ``depth`` is that of open components."""

    def __init__(self) -> None:
        self.depth = 0
        self._scan_budget = _SCAN_BUDGET

    def prose(self, lines: list[str]) -> list[str]:
        """Return lines of text as Markdown."""
        inside = self.depth > 0
        text = self._text("\n".join(lines))
        if not (inside or self.depth or "<" in "".join(lines)):
            return text.split("\n")
        return [
            line if _ITEM.match(line) or not line.startswith(" ") else line.lstrip()
            for line in text.split("\n")
        ]

    def _text(self, text: str) -> str:
        out: list[str] = []
        at = last = 0
        for match in re.finditer(r"\\.|`+|[<{]", text):
            at = match.start()
            if at < last or match[0][0] == "\\":
                continue
            if match[0][0] == "`":
                end = text.find(match[0], match.end(), match.end() + 2000)
                if end > 0:
                    out.append(text[last : end + len(match[0])])
                    last = end + len(match[0])
                continue
            end = self._end(text, at)
            if end:
                out += [text[last:at], self._convert(text[at:end])]
                last = end
        return "".join([*out, text[last:]])

    def _end(self, text: str, at: int) -> int:
        """Return the end of a tag or expression; 0 if it is neither."""
        if text[at] == "<" and not re.match(r"</?[A-Za-z>]", text[at : at + 3]):
            return 0
        if text[at] == "<" and text.startswith(("<http", "<mailto"), at):
            return 0
        braces, quote = 0, ""
        for place in range(at, min(len(text), at + 5000, at + self._scan_budget)):
            mark = text[place]
            if quote:
                quote = "" if mark == quote else quote
            elif mark in "\"'`" and (braces or text[place - 1] == "="):
                quote = mark
            elif mark == "{":
                braces += 1
            elif mark == "}":
                braces -= 1
                if braces == 0 and text[at] == "{":
                    return place + 1
            elif mark == ">" and braces == 0:
                return place + 1
            elif mark == "<" and braces == 0 and place > at:
                break
        else:
            self._scan_budget -= min(5000, len(text) - at, self._scan_budget)
        return 0

    def _convert(self, markup: str) -> str:
        if markup[0] == "{":
            string = _STRING.fullmatch(markup)
            return string[2] if string else ""
        named = _NAME.match(markup)
        name = (named[1] if named else "") or ""
        if name[:1].islower() and "." not in name:
            return markup if "{" not in markup or len(markup) < 1500 else ""
        closing, alone = markup.startswith("</"), markup.endswith("/>")
        if closing or not alone:
            self.depth = max(0, self.depth + (-1 if closing else 1))
        attributes = dict(_ATTRIBUTE.findall(markup))
        if name in _CALLOUTS or name.lower() in ADMONITIONS:
            return self._callout(name, attributes, closing=closing, alone=alone)
        if closing or name not in _TITLED:
            return ""
        title = attributes.get("label") or attributes.get("title") or attributes.get("value", "")
        return f"\n\n**{title}**\n\n" if title else ""

    def _callout(self, name: str, attributes: dict[str, str], *, closing: bool, alone: bool) -> str:
        if alone:
            return ""
        if closing:
            return "\n:::\n"
        kind = attributes.get("type", "note").lower() if name in _CALLOUTS else name.lower()
        kind = kind if kind in ADMONITIONS else "note"
        title = attributes.get("title", "")
        return f"\n:::{kind}{f'[{title}]' if title else ''}\n"


_FRONT_FENCES = {"---": ("---", "..."), "+++": ("+++",)}
_KEY = re.compile(r"([A-Za-z_][\w-]{0,60})[ \t]*:(?:[ \t]+(.*))?$")
_LONGEST_FRONT = 64 * 1024
_MOST_TAGS = 50


def _split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """Split a file into front matter and text.

    Returns:
        ``title``, ``description``, ``tags`` (a list) and ``language``, where given, and the text
        without front matter. Invalid front matter is removed too.
    """
    first, _, rest = text.partition("\n")
    closing = _FRONT_FENCES.get(first.rstrip())
    if closing is None:
        return _parse_json(text) if first.rstrip() == "{" else ({}, text)
    lines = rest[:_LONGEST_FRONT].split("\n")
    for number, line in enumerate(lines):
        if line.rstrip() in closing:
            head = "\n".join(lines[:number])
            if first.startswith("-") and not _is_yaml(lines[:number]):
                return {}, text
            read = _parse_toml(head) if first.startswith("+") else _parse_yaml(lines[:number])
            return known_fields(read), rest[len(head) + (number > 0) + len(line) :].lstrip("\n")
    return {}, text


def known_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that docstow keeps, as text."""
    found: dict[str, Any] = {}
    for name, keys in (
        ("title", ("title",)),
        ("description", ("description", "summary")),
        ("language", ("language", "lang")),
    ):
        for key in keys:
            value = fields.get(key)
            if isinstance(value, str | int | float) and str(value).strip():
                found.setdefault(name, " ".join(str(value).split())[:1000])
    tags = fields.get("tags", fields.get("keywords"))
    if isinstance(tags, str):
        tags = tags.split(",")
    if isinstance(tags, list):
        names = [str(tag).strip() for tag in tags if isinstance(tag, str | int | float)]
        if any(names):
            found["tags"] = [name[:100] for name in names if name][:_MOST_TAGS]
    return found


def _is_yaml(lines: list[str]) -> bool:
    """Return whether lines can be front matter: a file may also begin with a rule."""
    return any(_KEY.match(line) for line in lines) or not any(line.strip() for line in lines)


def _parse_toml(head: str) -> Mapping[str, Any]:
    try:
        return toml.loads(head)
    except (ValueError, RecursionError):
        return {}


def _parse_json(text: str) -> tuple[dict[str, Any], str]:
    try:
        fields, end = json.JSONDecoder().raw_decode(text[:_LONGEST_FRONT])
    except (ValueError, RecursionError):
        return {}, text
    return known_fields(fields), text[end:].lstrip("\n")


def _parse_yaml(lines: list[str]) -> Mapping[str, Any]:
    """Parse scalars, lists of scalars and block texts at the top level.

    There are no anchors to expand and no types to construct.
    """
    fields: dict[str, Any] = {}
    at = 0
    while at < len(lines):
        match = _KEY.match(lines[at])
        at += 1
        if match is None:
            continue
        start = at
        while at < len(lines) and (not lines[at].strip() or lines[at][0] in " \t-"):
            at += 1
        fields[match[1]] = _value((match[2] or "").strip(), lines[start:at])
    return fields


def _value(inline: str, below: list[str]) -> Any:
    """Return the value of a key from the text after it and the lines below."""
    if inline.startswith("[") and (whole := " ".join([inline, *map(str.strip, below)])):
        return [_scalar(part) for part in whole.strip("[] ").split(",")]
    if inline and inline[0] in "|>":
        return " ".join(line.strip() for line in below)
    items = [line.strip() for line in below if line.strip()]
    if not inline and items and all(item.startswith("-") for item in items):
        return [_scalar(item[1:]) for item in items]
    return _scalar(" ".join([inline, *items]))


def _scalar(text: str) -> str:
    text = text.strip()
    if text[:1] in {'"', "'"}:
        quote = text[0]
        end = text.rfind(quote)
        if end > 0:
            return text[1:end].replace("\\" + quote, quote).replace(quote * 2, quote)
    return text.partition(" #")[0].strip()


_UNDERLINE = re.compile(r"([=~*-])\1{2,}\s*$")
_ADDRESS = re.compile(r"https?://[^\s<>\[\]()\"'`]{1,2000}")
_LONGEST_TITLE = 120


def read_plain(text: str, file: File) -> Page:
    """Read plain text: underlined lines become headings, text like Markdown stays as it is."""
    lines = [line.rstrip() for line in text.expandtabs(4).split("\n")]
    out: list[str] = []
    levels: list[str] = []
    at = 0
    while at < len(lines):
        mark = _underlining(lines, at)
        if mark:
            if mark not in levels:
                levels.append(mark)
            out.append("#" * min(6, levels.index(mark) + 1) + " " + lines[at].strip())
            at += 1
        elif lines[at] or (out and out[-1]):
            out.append(lines[at])
        at += 1
    while out and not out[-1]:
        out.pop()
    title = out[0][2:] if out and out[0].startswith("# ") else default_title(file)
    found = (page_address(match.rstrip(".,;:!?")) for match in _ADDRESS.findall(text))
    return Page(
        title.strip() or default_title(file),
        "\n".join(out),
        links=tuple(dict.fromkeys(filter(None, found))),
    )


def _underlining(lines: list[str], at: int) -> str:
    """Return the character that underlines a heading; empty if the line is not one."""
    line = lines[at]
    if not line.strip() or line[0] in " #" or len(line) > _LONGEST_TITLE or at + 1 >= len(lines):
        return ""
    if (at and lines[at - 1].strip()) or _UNDERLINE.match(line):
        return ""
    match = _UNDERLINE.match(lines[at + 1])
    near = match is not None and abs(len(match[0]) - len(line)) <= max(3, len(line) // 2)
    return match[1] if match and near else ""
