"""The documents that are stowed of an installed package."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from docstow.core.errors import PackageNotFound
from docstow.core.model import Document

_NAME = re.compile(r"[A-Za-z]\w+")
_QUOTED = re.compile(r"`([^`\n]+)`")
_CALLED = re.compile(r"\b([A-Za-z]\w+)\(")


def documents(made: Iterable[Document], name: str) -> list[Document]:
    """Return what a package is as a source, sorted, each path of a kind once.

    Args:
        made: the documents of its surface, as its language makes them.
        name: the package's.

    Raises:
        PackageNotFound: there is nothing to read.
    """
    found = {(each.path, each.kind): each for each in _weighed(list(made))}
    if not found:
        raise PackageNotFound(f"{name} has nothing that can be read.")
    return [found[key] for key in sorted(found)]


def _weighed(made: list[Document]) -> Iterator[Document]:
    """Yield the same, each knowing how many others mention its name in signature or docs."""
    titles = {each.title for each in made if each.kind not in ("page", "module")}
    mentions = Counter(
        word
        for each in made
        for word in {*_identifiers(each.signature), *_mentioned(each.text)} & titles
        if word != each.title and not each.path.endswith(f"{word}.{each.title}")
    )
    for each in made:
        degree = 0 if each.kind in ("page", "module") else mentions[each.title]
        yield replace(each, attributes={**each.attributes, "in_degree": degree})


def _identifiers(text: str) -> Iterator[str]:
    """Yield the names in a text that are no words of English."""
    return (each for each in _NAME.findall(text) if not each.isalpha() or not each.islower())


def _mentioned(text: str) -> Iterator[str]:
    """Yield the names that prose means as such: plain words only in code or before a call."""
    yield from _identifiers(text)
    yield from _CALLED.findall(text)
    for code in _QUOTED.findall(text):
        yield from _NAME.findall(code)
