"""Which pages a search is about.

This room knows what a filter means. It does not rank.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from docstow.core.model import NO_ATTRIBUTES
from docstow.index.loaded__page_index import PageIndex


@dataclass(frozen=True, slots=True)
class PageFilters:
    """What may be in the list; a filter that is empty lets everything pass.

    Attributes:
        path: a beginning of the page's path or of its URL's path, or a glob over either.
        kinds: kinds of sources.
        language: the page's natural language, or one that it has code in.
        metadata: what was pushed with the page must have these values.
    """

    path: str = ""
    kinds: Collection[str] = ()
    language: str = ""
    metadata: Mapping[str, Any] = field(default_factory=lambda: NO_ATTRIBUTES)


def allowed(index: PageIndex, filters: PageFilters) -> NDArray[np.bool_]:
    """Which documents may be in the list: a boolean for each."""
    passing = np.ones(len(index), np.bool_)
    if filters.kinds:
        passing &= index.snapshot.revision.source.kind in filters.kinds
    if filters.path:
        passing &= np.fromiter((_lies(path, filters.path) for path in index.columns["path"]), bool)
    if filters.language:
        wanted = filters.language.casefold()
        tongue = _tongue(wanted)
        coded = index.examples["document"][index.examples["language"].astype(str) == wanted]
        spoken = [
            _tongue(str(each.get("language", "")).casefold()) == tongue for each in index.attributes
        ]
        passing &= np.array(spoken, bool) | np.isin(np.arange(len(index)), coded)
    for name, value in filters.metadata.items():
        passing &= np.fromiter(
            (each.get("metadata", {}).get(name) == value for each in index.attributes), bool
        )
    return passing


def _lies(path: str, wanted: str) -> bool:
    """Whether a path, or the path of a URL, begins with or matches what is wanted."""
    for place in (path, urlsplit(path).path) if "://" in path else (path, "/" + path):
        if any(sign in wanted for sign in "*?["):
            if fnmatchcase(place, wanted):
                return True
        elif place.startswith(wanted):
            return True
    return False


def _tongue(language: str) -> str:
    """A natural language without its country: ``de`` of ``de-AT``."""
    return language.replace("_", "-").partition("-")[0]
