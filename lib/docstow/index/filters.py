"""What a search may answer with: filters of items and of pages."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from docstow.core.model import NO_ATTRIBUTES

if TYPE_CHECKING:
    from docstow.index.loaded import Index


@dataclass(frozen=True, slots=True)
class ItemFilters:
    """Which items may be in the list; a filter that is empty or None lets everything pass.

    Attributes:
        kinds: kinds of documents.
        module: paths must lie in it.
        feature: a feature that the item requires.
        has_examples: whether the item's docs have a code block.
        deprecated: whether the item is deprecated.
    """

    kinds: Collection[str] = ()
    module: str = ""
    feature: str = ""
    has_examples: bool | None = None
    deprecated: bool | None = None

    def match(self, index: Index) -> NDArray[np.bool_]:
        """Return for each document whether it may be in the list."""
        columns = index.columns
        passing = np.ones(len(index), np.bool_)
        if self.kinds:
            passing &= np.isin(columns["kind"].astype(str), list(self.kinds))
        if self.module:
            prefix = self.module.removesuffix(index.language.separator)
            inside = [index.language.contains(prefix, path) for path in columns["path"]]
            passing &= np.array(inside, np.bool_)
        if self.has_examples is not None:
            passing &= (columns["examples"] > 0) == self.has_examples
        if self.deprecated is not None:
            passing &= columns["deprecated"].astype(np.bool_) == self.deprecated
        if self.feature:
            required = [self.feature in index.features(row) for row in range(len(index))]
            passing &= np.array(required, np.bool_)
        return passing


@dataclass(frozen=True, slots=True)
class PageFilters:
    """Which pages may be in the list; a filter that is empty lets everything pass.

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

    def match(self, index: Index) -> NDArray[np.bool_]:
        """Return for each document whether it may be in the list."""
        passing = np.ones(len(index), np.bool_)
        if self.kinds:
            passing &= index.snapshot.revision.source.kind in self.kinds
        if self.path:
            passing &= np.fromiter(
                (_matches_path(path, self.path) for path in index.columns["path"]), bool
            )
        if self.language:
            wanted = self.language.casefold()
            natural = _without_country(wanted)
            coded = index.examples["document"][index.examples["language"].astype(str) == wanted]
            written = [
                _without_country(str(each.get("language", "")).casefold()) == natural
                for each in index.all_attributes
            ]
            passing &= np.array(written, bool) | np.isin(np.arange(len(index)), coded)
        for name, value in self.metadata.items():
            passing &= np.fromiter(
                (each.get("metadata", {}).get(name) == value for each in index.all_attributes),
                bool,
            )
        return passing


def _matches_path(path: str, wanted: str) -> bool:
    """Return whether a path, or the path of a URL, begins with or matches what is wanted."""
    for place in (path, urlsplit(path).path) if "://" in path else (path, "/" + path):
        if any(sign in wanted for sign in "*?["):
            if fnmatchcase(place, wanted):
                return True
        elif place.startswith(wanted):
            return True
    return False


def _without_country(language: str) -> str:
    """Return a natural language without its country: ``de`` of ``de-AT``."""
    return language.replace("_", "-").partition("-")[0]
