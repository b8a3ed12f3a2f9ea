"""The text of PDF files, page by page; needs the extra ``pdf``."""

from __future__ import annotations

import io
import logging
from typing import TYPE_CHECKING, Any

from docstow.core.errors import ConfigurationError, UnreadableInput
from docstow.core.model import File
from docstow.formats import Page, default_title

if TYPE_CHECKING:
    from pypdf import PdfReader

_MOST_PAGES = 2000
_LONGEST_TEXT = 8 * 1024 * 1024
_DEEPEST_OUTLINE = 20
#: Operators of all pages: forms that show each other twice have no end of them.
_MOST_OPERATORS = 3_000_000


def read(file: File) -> Page:
    """Read a PDF file; each page has a heading, its title in the outline or its number.

    Raises:
        ConfigurationError: the extra is not installed.
        UnreadableInput: the file is broken or encrypted, or would take too long.
    """
    try:
        import pypdf
    except ImportError as error:
        raise ConfigurationError(
            "Reading PDF needs an extra: install docstow[pdf], for example with"
            " `pip install 'docstow[pdf]'`."
        ) from error
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = pypdf.PdfReader(io.BytesIO(file.body), strict=False)
        # Files without a user password open with an empty one.
        locked = reader.is_encrypted and not reader.decrypt("")
        page = None if locked else _page(reader, file)
    except _TooMuch as error:
        shown = f"more than {_MOST_OPERATORS} operators"
        raise UnreadableInput(f"{file.path} is a PDF file of {shown}: divide it.") from error
    # pypdf raises many kinds of exceptions for a damaged file.
    except Exception as error:
        raise UnreadableInput(f"{file.path} is no PDF that can be read: it is damaged.") from error
    if page is None:
        raise UnreadableInput(f"{file.path} is encrypted: give a copy without a password.")
    return page


class _TooMuch(Exception):
    """There are more operators than are read."""


class _Budget:
    """A visitor of the operators of all pages, which raises at the first that is too much."""

    def __init__(self) -> None:
        self._left = _MOST_OPERATORS

    def __call__(self, *_: object) -> None:
        self._left -= 1
        self.check()

    def check(self) -> None:
        """Raise if there were too many; pypdf swallows what is raised within a form."""
        if self._left < 0:
            raise _TooMuch


def _page(reader: PdfReader, file: File) -> Page:
    title = (str(reader.metadata.title or "") if reader.metadata else "").strip()
    titles = _titles(reader)
    parts: list[str] = []
    size = 0
    budget = _Budget()
    for number, page in enumerate(reader.pages[:_MOST_PAGES]):
        extracted = page.extract_text(visitor_operand_before=budget)
        budget.check()
        text = "\n".join(line.rstrip() for line in extracted.split("\n")).strip()
        if text:
            parts.append(f"## {titles.get(number, f'Page {number + 1}')}\n\n{_escape_markup(text)}")
        size += len(text)
        if size > _LONGEST_TEXT:
            break
    text = "\n\n".join(parts)
    return Page(title or default_title(file), text.encode("utf-8", "replace").decode())


def _escape_markup(text: str) -> str:
    """Escape lines that would be headings or fences in Markdown."""
    return "\n".join(
        "\\" + line if line.startswith(("#", "```", "~~~")) else line for line in text.split("\n")
    )


def _titles(reader: PdfReader) -> dict[int, str]:
    """Return the first title in the outline of each page number."""
    titles: dict[int, str] = {}

    def walk(entries: list[Any], depth: int) -> None:
        for entry in entries:
            if isinstance(entry, list):
                if depth < _DEEPEST_OUTLINE:
                    walk(entry, depth + 1)
                continue
            number = reader.get_destination_page_number(entry)
            title = " ".join(str(entry.title).split())
            if number is not None and title:
                titles.setdefault(number, title)

    walk(list(reader.outline), 0)
    return titles
