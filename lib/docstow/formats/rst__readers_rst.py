"""reStructuredText files as pages, by docutils without files, raw output or configuration.

This room knows how docutils is asked and when it must not be: a text that is too large or too
deep for it is read as plain text.
"""

from __future__ import annotations

import re

from docstow.core.model import File
from docstow.formats import plain as plain
from docstow.formats._readers_page import Page
from docstow.formats.markdown import _readers_markdown as markdown

_LONGEST = 1024 * 1024
#: docutils' time grows with the square of a paragraph's marks, and of a nesting's depth.
_LONGEST_PARAGRAPH = 16 * 1024
_DEEPEST = 30
_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "halt_level": 6,
    "report_level": 6,
    "syntax_highlight": "none",
    "line_length_limit": _LONGEST,
}


def read(text: str, file: File) -> Page:
    """Read a reStructuredText file."""
    if not _tractable(text):
        return plain.read(text, file)
    from docutils.frontend import get_default_settings
    from docutils.parsers.rst import Parser
    from docutils.utils import new_document

    from docstow.formats.rst import Writer
    from docstow.formats.rst__readers_rst_directives import admit

    admit(text)
    settings = get_default_settings(Parser)
    for name, value in _SETTINGS.items():
        setattr(settings, name, value)
    document = new_document(file.path or "page", settings)
    try:
        Parser().parse(text, document)
        lines = Writer(document).lines()
    # docutils promises nothing for what is no reStructuredText; such text is still text.
    except Exception:  # noqa: BLE001
        return plain.read(text, file)
    return markdown.page(lines, file, {})


def _tractable(text: str) -> bool:
    """Whether docutils can read this in a time that is in proportion to its size."""
    if len(text) > _LONGEST:
        return False
    if any(len(paragraph) > _LONGEST_PARAGRAPH for paragraph in re.split(r"\n\s*\n", text)):
        return False
    indents: list[int] = []
    for line in text.split("\n"):
        bare = line.lstrip()
        if not bare:
            continue
        if len(re.match(r"(?:[-*+|] ?){0,60}", bare)[0]) > _DEEPEST * 2:  # type: ignore[index]
            return False
        indent = len(line) - len(bare)
        while indents and indents[-1] >= indent:
            indents.pop()
        indents.append(indent)
        if len(indents) > _DEEPEST:
            return False
    return True
