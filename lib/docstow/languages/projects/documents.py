"""An installed package as the documents that are stowed of it.

This room knows what of a package mentions what. It does not know how documents are made of a
language's packages, nor where they go.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from docstow.core.errors import PackageNotFound
from docstow.core.model import Document

if TYPE_CHECKING:
    from docstow.languages.python.surface import PythonSurface
    from docstow.languages.typescript.surface import NodeSurface

_NAME = re.compile(r"[A-Za-z]\w+")
_QUOTED = re.compile(r"`([^`\n]+)`")
_CALLED = re.compile(r"\b([A-Za-z]\w+)\(")


def documents(surface: PythonSurface | NodeSurface | None, name: str) -> list[Document]:
    """What a package is as a source, sorted, each path of a kind once.

    Args:
        surface: of an installed package; None where there is no reader for it.
        name: the package's.

    Raises:
        PackageNotFound: there is nothing to read.
    """
    from docstow.languages.python import documents as python_documents
    from docstow.languages.python.surface import PythonSurface
    from docstow.languages.typescript import documents as node_documents
    from docstow.languages.typescript.surface import NodeSurface

    made: Iterable[Document] = ()
    if isinstance(surface, PythonSurface):
        made = python_documents.documents(surface)
    elif isinstance(surface, NodeSurface):
        made = node_documents.documents(surface)
    found = {(each.path, each.kind): each for each in _weighed(list(made))}
    if not found:
        raise PackageNotFound(f"{name} has nothing that can be read.")
    return [found[key] for key in sorted(found)]


def _weighed(made: list[Document]) -> Iterator[Document]:
    """The same, each knowing how many others mention its name in signature or docs."""
    titles = {each.title for each in made if each.kind not in ("page", "module")}
    mentions = Counter(
        word
        for each in made
        for word in {*_said(each.signature), *_mentioned(each.text)} & titles
        if word != each.title and not each.path.endswith(f"{word}.{each.title}")
    )
    for each in made:
        degree = 0 if each.kind in ("page", "module") else mentions[each.title]
        yield replace(each, attributes={**each.attributes, "in_degree": degree})


def _said(text: str) -> Iterator[str]:
    """The names in a text that are no words of English."""
    return (each for each in _NAME.findall(text) if not each.isalpha() or not each.islower())


def _mentioned(text: str) -> Iterator[str]:
    """The names that a text of prose means as such: plain words only in code or before a call."""
    yield from _said(text)
    yield from _CALLED.findall(text)
    for code in _QUOTED.findall(text):
        yield from _NAME.findall(code)
