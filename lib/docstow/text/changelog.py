"""Changelogs and migration guides: what maintainers write of each version, line by line.

The layouts that are read are those in use: headings of versions as in keep-a-changelog,
conventional-changelog, changesets and towncrier, underlined ones, bold ones, and lists whose items
are versions. Everything else about them is free text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from docstow.core.patterns import lazy_pattern

#: Characters that are read of a text, and of one line.
MOST_TEXT = 4_000_000
MOST_LINE = 1500
#: Lines that are read of a text.
MOST_LINES = 40_000

_HISTORY = lazy_pattern(
    r"(?:^|[/_.\-\s])(?:changes|change[-_ ]?logs?|history|news|release[-_ ]?(?:notes?|history)"
    r"|releases?|whats[-_ ]?new|what.s new|version[-_ ]?history)(?:$|[/_.\-\s])",
    re.IGNORECASE,
)
_GUIDE = lazy_pattern(r"(?:^|[/_.\-\s])(?:migrat|upgrad|porting)", re.IGNORECASE)

_RELEASE = (
    r"\d+(?:\.\d+){1,3}(?:\.?[-_]?(?:alpha|beta|rc|dev|pre|post|a|b|c)[-._]?\d*(?:[.-]\d+)*)?"
)
_VERSION = lazy_pattern(
    rf"(?<![\w.])v?(?P<dotted>{_RELEASE})(?:\+[\w.]+)?(?![\w.]*\w)"
    r"|(?<![\w.])(?:version|release|v\.?)[ ]?(?P<whole>\d{1,3})(?![\w.\-/]*\w)",
    re.IGNORECASE,
)
#: What may stand before a version, and behind it: dates, brackets, links, and such words.
_BEFORE = lazy_pattern(
    r"(?:\W|versions?|released?|releases|changes|changelog|change log|what.?s|new|in|the|notes"
    r"|for|of|from|since|series|upgrad(?:e|ing)|migrat(?:e|ing|ion)|moving|porting|to|guide)*+",
    re.IGNORECASE,
)
_AFTER = lazy_pattern(
    r"(?:\W|[a-f0-9]{7,40}|\d|released?|notes|changelog|final|stable|beta|alpha|unreleased|yanked"
    r"|lts|st|nd|rd|th(?!u)|of|on|at|codename|patch|minor|major|https?\S*|jan(?:uary)?"
    r"|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
    r"|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?)*+",
    re.IGNORECASE,
)
#: Names before a number that is the number of something else.
_OTHERS = frozenset(
    {"python", "node", "nodejs", "pypy", "cpython", "rust", "msrv", "npm", "typescript"}
)
_UNRELEASED = lazy_pattern(
    r"\W*(?:unreleased|next|upcoming|master|main|dev(?:elopment)?)\W*", re.IGNORECASE
)
_HEADING = lazy_pattern(r" {0,3}(#{1,6})[ \t]+(\S.*)")
_UNDERLINE = lazy_pattern(r" {0,3}(={3,}|-{3,}|~{3,})[ \t]*")
_FENCE = lazy_pattern(r"[ \t]*(`{3,}|~{3,})")
_ITEM = lazy_pattern(r"([ \t]*)(?:[-*+•]|\d{1,3}[.)])[ \t]+(\S.*)")
_BOLD = lazy_pattern(r"\*\*[^*]+\*\*[^*]*")
_BREAKING = lazy_pattern(
    r"break(?:ing|s)\b|incompatib|\bremov(?:als?|ed?|es)\b|major changes?|\N{WARNING SIGN}"
    r"|\N{COLLISION SYMBOL}",
    re.IGNORECASE,
)
_BREAKING_LINE = lazy_pattern(
    r"\W*(?:break(?:ing)?\b|backwards?[- ]incompatib|drop(?:ped|s)?\b"
    r"|removed?\b(?!.{0,30}\b(?:unn|unused|redundant|warning|usage|duplicate|from (?:the )?docs)))"
    r"|\w+(?:\([^)]*\))?!:|.{0,40}\bBREAKING\b|[\W_]*(?:\N{WARNING SIGN}|\N{COLLISION SYMBOL})",
    re.IGNORECASE,
)
_CELL = lazy_pattern(r"(?<!\\)\|")

_SPAN = lazy_pattern(r"(`{1,3})(?!`)([^`\n]{1,200})(?<!`)\1(?!`)")
_DOTTED = lazy_pattern(r"[@$A-Za-z_][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*){0,12}")
#: A word of prose that can only be a name: it has dots, underscores, capitals inside or a call.
_NAME = lazy_pattern(
    r"(?<![\w`/.@$:\-])(?:"
    r"[A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*){1,12}"
    r"|[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z]{2,}[a-z]\w+|[A-Za-z_]\w*(?=\(\)))"
    r"(?![\w`/@])"
)
_HOST = lazy_pattern(r"\w+\.(?:com|org|io|net|dev|html?|md|rst|txt|py|toml|json|rs|[jt]sx?)\b")


@dataclass(frozen=True, slots=True)
class Note:
    """One line of a changelog: an item of a list, a paragraph, or a row of a table.

    Attributes:
        version: that it stands below, as it is written; empty where none is.
        text: Markdown on one line.
        section: the headings between the version and it, and the item that it is below of.
        breaking: whether its section or itself says that code may fail.
        names: what it names in code, as it is written: ``Foo.bar``, ``foo::Bar``; then the names
            of its section.
    """

    version: str
    text: str
    section: str = ""
    breaking: bool = False
    names: tuple[str, ...] = field(default=())


def is_history(path: str, title: str = "") -> bool:
    """Return whether a page is a changelog by its path or title."""
    return any(_HISTORY.search(each) is not None for each in (path, title) if each)


def is_guide(path: str, title: str = "") -> bool:
    """Return whether a page tells how to move to another version, by its path or title."""
    return any(_GUIDE.search(each) is not None for each in (path, title) if each)


def version_key(version: str) -> tuple[tuple[int, ...], bool, tuple[int, ...]]:
    """Return what versions in texts are sorted by: ``2.0`` is ``2.0.0``, after ``2.0rc1``."""
    found = re.match(r"\W*v?(\d+(?:\.\d+)*)(.*)", version.strip(), re.IGNORECASE | re.DOTALL)
    if found is None:
        return (), False, ()
    numbers = [int(each) for each in found[1].split(".")[:4] if len(each) < 10]
    tail = found[2].partition("+")[0]
    later = not tail or "post" in tail
    rank = [ord(tail.lstrip(".-_")[:1] or "0"), *map(int, re.findall(r"\d{1,9}", tail)[:4])]
    return (*numbers, *[0] * (4 - len(numbers))), later, tuple(rank if tail else [])


def title_version(title: str, name: str = "") -> str:
    """Return the version that a heading or the first line of an item is of; empty where none is.

    Args:
        title: as written.
        name: of the package, which may stand before the version.
    """
    title = re.sub(r"\[([^\]]*)\]\([^)]*\)|\[([^\]]*)\](?:\[[^\]]*\])?", r"\1\2", title[:200])
    found = _VERSION.search(title.replace("`", ""))
    if found is None:
        return ""
    before = title.replace("`", "")[: found.start()].replace("*", "")
    after = title.replace("`", "")[found.end() :]
    if _AFTER.fullmatch(after) is None:
        return ""
    if _BEFORE.fullmatch(before) is None:
        words = [
            each for each in re.findall(r"[\w@/.\-]+", before) if _BEFORE.fullmatch(each) is None
        ]
        folded = [re.sub(r"[\W_]", "", each).lower() for each in words]
        own = re.sub(r"[\W_]", "", name).lower()
        if len(words) != 1 or (folded[0] in _OTHERS and folded[0] != own):
            return ""
    return found["dotted"] or found["whole"] or ""


def read_notes(text: str, name: str = "", version: str = "") -> list[Note]:
    """Return the lines of a changelog or guide, in order.

    Args:
        text: normalised Markdown.
        name: of the package.
        version: that the whole text is of, where it is of one.
    """
    return list(_Reader(name, version).read(text[:MOST_TEXT]))


def names_in(text: str) -> tuple[str, ...]:
    """Return the names of code in a line: those in code marks, then words that can be no other."""
    found: dict[str, None] = {}
    rest = []
    end = 0
    for span in _SPAN.finditer(text):
        rest.append(text[end : span.start()])
        end = span.end()
        for each in _DOTTED.findall(span[2]):
            found.setdefault(each.lstrip("@"))
    rest.append(text[end:])
    for each in _NAME.findall(" ` ".join(rest)):
        if _HOST.fullmatch(each) is None:
            found.setdefault(each)
    return tuple(found)


class _Reader:
    """The state of reading one text: the version, its headings and the open items."""

    def __init__(self, name: str, version: str) -> None:
        self._name = name
        self._whole = version
        self._version, self._level = version, 0
        #: Headings below the version, and items that hold others: level or indent, and title.
        self._headings: list[tuple[int, str]] = []
        self._items: list[tuple[int, str]] = []
        #: An item of a list is the version.
        self._listed = -1

    def read(self, text: str) -> Iterator[Note]:
        lines = text.split("\n")[:MOST_LINES]
        block: list[str] = []
        fence = ""
        for number, raw in enumerate(lines):
            line = raw[:MOST_LINE].rstrip()
            if mark := _FENCE.match(line):
                if not fence:
                    yield from self._close(block)
                    block, fence = [], mark[1]
                elif mark[1].startswith(fence[:3]) and len(mark[1]) >= len(fence):
                    fence = ""
                continue
            if fence:
                continue
            following = lines[number + 1] if number + 1 < len(lines) else ""
            underlined = _UNDERLINE.fullmatch(following[:MOST_LINE]) if line.strip() else None
            if _UNDERLINE.fullmatch(line) and not underlined:
                yield from self._close(block)
                block = []
            elif heading := _HEADING.fullmatch(line):
                yield from self._close(block)
                block = []
                self._open_heading(len(heading[1]), heading[2].strip(" #"))
            elif underlined and not block and not _ITEM.fullmatch(line) and "|" not in line:
                self._open_heading("=-~".index(underlined[1][0]) + 1, line.strip())
            elif not line.strip():
                yield from self._close(block)
                block = []
            elif _ITEM.fullmatch(line) or line.lstrip().startswith("|"):
                yield from self._close(block)
                block = [line]
            else:
                block.append(line)
        yield from self._close(block)

    def _open_heading(self, level: int, title: str) -> None:
        self._items, self._listed = [], -1
        version = title_version(title, self._name)
        if version or _UNRELEASED.fullmatch(title.replace("[", "").replace("]", "")):
            self._version, self._level, self._headings = version, level, []
            return
        if self._version and level <= self._level:
            self._version, self._level = self._whole, 0
        self._headings = [each for each in self._headings if each[0] < level]
        self._headings.append((level, title))

    def _close(self, block: Sequence[str]) -> Iterator[Note]:
        """Yield the line that a block is."""
        if not block:
            return
        text = " ".join(each.strip() for each in block)[: MOST_LINE * 2]
        item = _ITEM.fullmatch(block[0])
        indent = len(item[1].expandtabs(4)) if item else len(block[0]) - len(block[0].lstrip())
        if item is not None:
            self._items = [each for each in self._items if each[0] < indent]
            text = text[item.start(2) - len(item[1]) :].strip()
        elif indent == 0:
            self._items = []
        if text.startswith("|"):
            text = " | ".join(each.strip() for each in _CELL.split(text.strip("| ")))
            if not re.search(r"\w", text):
                return
        if (version := self._own_version(text, -1 if item is None else indent)) is not None:
            self._version, self._headings = version, []
            self._items, self._listed = [(indent, "")], indent
            return
        if item is None and _BOLD.fullmatch(text) and len(text) < 80:
            self._items = [(-1, text.strip("*: "))]
            return
        yield self._note(text)
        if item is not None:
            self._items.append((indent, text if len(text) < 200 else ""))

    def _own_version(self, text: str, indent: int) -> str | None:
        """Return the version of what follows, where a line that is no heading says one alone.

        Args:
            text: the line.
            indent: of an item of a list; negative for a paragraph.
        """
        is_item = indent >= 0
        if len(text) > 80 or (self._level and not is_item and not text.startswith("**")):
            return None
        if is_item and (self._level or (0 <= self._listed < indent)):
            return None
        plain = text.strip("*: ")
        return title_version(plain, self._name) or None

    def _note(self, text: str) -> Note:
        above = [title for _, title in (*self._headings, *self._items) if title]
        section = " > ".join(above)
        breaking = _BREAKING.search(section) is not None or _BREAKING_LINE.match(text) is not None
        names = dict.fromkeys((*names_in(text), *names_in(section)))
        return Note(self._version, text, section, breaking, tuple(names))
