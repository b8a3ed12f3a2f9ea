"""Intra-doc links in Markdown, turned into ordinary links or into plain text.

Code is never changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

_FENCE = re.compile(r"^[\s>]*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})")
_LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s")
_DEFINITION = re.compile(
    r"""^[\s>]*\[(?P<label>(?:[^\]\\]|\\.)+)\]:[ \t]*\n?[ \t]*(?P<dest><[^>\n]*>|\S+)
        (?:[ \t]+(?:"[^"]*"|'[^']*'|\([^)]*\)))?[ \t]*(?:\n|\Z)""",
    re.MULTILINE | re.VERBOSE,
)
_DESTINATION = re.compile(
    r"""\(\s*(?P<dest><[^>\n]*>|(?:[^\s()]|\([^\s()]*\))*)
        (?:\s+(?:"[^"]*"|'[^']*'|\([^)]*\)))?\s*\)""",
    re.VERBOSE,
)
_INTERESTING = re.compile(r"[\\`\[<]")
_BRACKETS = re.compile(r"\\.|!?\[|[`\]]", re.DOTALL)
_TICKS = re.compile(r"`+")
_TAG = re.compile(r"<[A-Za-z/!][^<>]*>")
# `../runtime/index.html#part`; with a scheme or a host it is absolute already.
_RELATIVE_PAGE = re.compile(r"(?!//)[^:?#]+\.html(?:[?#].*)?")
Links = Mapping[str, str]


def resolve(text: str, links: Links, absolute: Callable[[str], str] | None = None) -> str:
    """Replace every link whose text or destination is a key of ``links``, or a relative page.

    Args:
        text: Markdown.
        links: link text (or destination) exactly as written to a URL; an empty URL turns the
            link into its bare text.
        absolute: returns the URL of a relative destination (``../index.html``), which is valid
            only on the page it was written for; without it such links stay as they are.

    Returns:
        Markdown in which those links are inline, so that a part of it still links after a split;
        code and all other links are as they were.
    """
    relative = absolute is not None and ".html" in text
    if not (links or relative) or "[" not in text:
        return text
    pieces = list(_pieces(text))
    defined: dict[str, str] = {}
    for is_code, piece in pieces:
        if not is_code:
            for found in _DEFINITION.finditer(piece):
                defined.setdefault(_label(found["label"]), found["dest"].strip("<>"))
    scanner = _Scanner(links, defined, absolute)
    return "".join(piece if is_code else scanner.prose(piece) for is_code, piece in pieces)


def _label(text: str) -> str:
    return " ".join(text.split()).casefold()


def _pieces(text: str) -> Iterator[tuple[bool, str]]:
    """Split into (is code, text); prose by paragraphs, beyond which no code span reaches."""
    fence = ""
    held: list[str] = []
    in_list, after_blank = False, True
    for line in text.splitlines(keepends=True):
        blank = not line.strip()
        if fence:
            yield True, line
            mark = line.strip().lstrip("> ")
            fence = "" if mark.startswith(fence) and not mark.strip(fence[0]) else fence
            continue
        opening = _FENCE.match(line)
        indented = after_blank and not blank and line.startswith(("    ", "\t")) and not in_list
        if (opening or blank or indented) and held:
            yield False, "".join(held)
            held = []
        if opening:
            fence = opening[1]
        if opening or blank or indented:
            yield True, line
            after_blank = blank or indented
            continue
        after_blank = False
        in_list = bool(_LIST_ITEM.match(line)) or (in_list and line.startswith(" "))
        held.append(line)
    if held:
        yield False, "".join(held)


class _Scanner:
    """Reads paragraphs from left to right and replaces their links.

    Args:
        links: see :func:`resolve`.
        defined: reference labels to destinations.
        absolute: see :func:`resolve`.
    """

    def __init__(
        self, links: Links, defined: Mapping[str, str], absolute: Callable[[str], str] | None
    ) -> None:
        self.links = links
        self.defined = defined
        self.absolute = absolute

    def prose(self, text: str) -> str:
        """Return a paragraph with its links resolved, and without the definitions of those."""
        text = _DEFINITION.sub(
            lambda found: "" if self._destination(found["dest"]) is not None else found[0], text
        )
        closings = _closings(text)
        out: list[str] = []
        at = 0
        while found := _INTERESTING.search(text, at):
            out.append(text[at : found.start()])
            piece, at = self._step(text, found.start(), closings)
            out.append(piece)
        out.append(text[at:])
        return "".join(out)

    def _step(self, text: str, at: int, closings: Mapping[int, int]) -> tuple[str, int]:
        """Return what stands at a special character, and where to go on."""
        mark = text[at]
        if mark == "[":
            return self._link(text, at, closings)
        if mark == "\\":
            end = at + 2
        elif mark == "`":
            end = _code_span(text, at)
        else:
            tag = _TAG.match(text, at)
            end = tag.end() if tag else at + 1
        return text[at:end], end

    def _link(self, text: str, at: int, closings: Mapping[int, int]) -> tuple[str, int]:
        """Return a link in one of its forms; a bracket around other links is none."""
        end = closings.get(at, -1)
        if end < 0:
            return "[", at + 1
        label = text[at + 1 : end]
        if found := _DESTINATION.match(text, end + 1):
            url = self._destination(found["dest"])
            shown = _shown(label, url) if url is not None else text[at : found.end()]
            return shown, found.end()
        close = closings.get(end + 1, -1)
        if close > 0:
            key = text[end + 2 : close] or label
            url = self._reference(key)
            if url is not None:
                return _shown(label, url), close + 1
            if _label(key) in self.defined:
                return text[at : close + 1], close + 1
        url = self._reference(label)
        return (_shown(label, url), end + 1) if url is not None else ("[", at + 1)

    def _reference(self, key: str) -> str | None:
        """Return the URL of ``[key]``: by its definition, or else as a link in itself."""
        dest = self.defined.get(_label(key))
        return self._destination(dest) if dest is not None else self._url(key)

    def _destination(self, written: str) -> str | None:
        """Return the URL of a destination; None if it stays as it is."""
        dest = written.strip("<>")
        url = self._url(dest)
        if url is None and self.absolute is not None and _RELATIVE_PAGE.fullmatch(dest):
            return self.absolute(dest)
        return url

    def _url(self, dest: str) -> str | None:
        url = self.links.get(dest)
        if url is None:
            url = self.links.get(" ".join(dest.split()))
        if url and "#" in dest and "#" not in url:
            return f"{url}#{dest.partition('#')[2]}"
        return url


def _shown(label: str, url: str) -> str:
    return f"[{label}]({url})" if url else label


def _code_span(text: str, at: int) -> int:
    """Return the end of the code span that opens here; of its ticks if it is never closed."""
    ticks = _TICKS.match(text, at)
    if ticks is None:
        return at + 1
    for found in _TICKS.finditer(text, ticks.end()):
        if len(found[0]) == len(ticks[0]):
            return found.end()
    return ticks.end()


@dataclass(slots=True)
class _Bracket:
    """An opening bracket: whether an image opens with it, and whether links can be inside."""

    at: int
    image: bool
    nested: bool = False


def _closings(text: str) -> dict[int, int]:
    """Return each opening bracket's closing one, over code spans and escapes.

    Brackets around other brackets are left out, for no link can contain a link; images can.
    """
    found: dict[int, int] = {}
    opened: list[_Bracket] = []
    at = 0
    while mark := _BRACKETS.search(text, at):
        at = mark.end()
        if mark[0] == "`":
            at = _code_span(text, mark.start())
        elif mark[0] in {"[", "!["}:
            opened.append(_Bracket(mark.end() - 1, image=mark[0] == "!["))
        elif mark[0] == "]" and opened:
            bracket = opened.pop()
            if not bracket.nested:
                found[bracket.at] = mark.start()
            if opened:
                opened[-1].nested = opened[-1].nested or not bracket.image
    return found
