"""Finding a package by its purpose: among what is stowed, installed, or most used.

A package has a row of texts (name, keywords, description). The
share of the best BM25F and the cosine of the embedded description are added; how much a package is
used is the prior. Nothing is asked of a registry: descriptions are those that an operator has
fetched, that stowed packages have, that installed ones state, and that docstow brings of crates.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from docstow.core import auth
from docstow.core.errors import DocstowError
from docstow.core.model import CRATE, LOCAL
from docstow.ingest.preload import described, popular
from docstow.languages import Language

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from docstow.core.visibility import Visibility
    from docstow.embedding import Embedder
    from docstow.index.cards import Entry
    from docstow.index.catalog import Catalog
    from docstow.ingest.descriptions import Descriptions
    from docstow.languages.projects import Projects
    from docstow.library.package_cards import PackageCards

#: The keyword fields of a package with their BM25F weight and length normalisation b.
_FIELDS = {"name": (3.0, 0.0), "keywords": (1.5, 0.5), "about": (2.0, 0.5)}
#: What the cosine counts beside the keywords, and what a tenfold of downloads does.
_COSINE, _USE = 1.0, 0.35
#: What being stowed or installed counts: enough where packages are equal, and no more.
_AT_HAND = 0.05
#: A package whose name is the query comes first.
_NAMED = 2.0
#: What is known is looked up again after so many seconds.
_FRESH_S = 60.0
#: So many directories are kept: one for each language and each visibility.
_DIRECTORIES_KEPT = 16


@dataclass(frozen=True, slots=True)
class Candidate:
    """A package that may be what is looked for.

    Attributes:
        language: whose package.
        name: as its registry spells it.
        about: what it says of itself; may be empty.
        keywords: its own, with blanks between.
        rank: its place among the most used, from 0; None where it is not among them.
        stowed: the version that is stowed; empty if none is.
        installed: the version that a project here has; empty if none has it.
    """

    language: Language
    name: str
    about: str = ""
    keywords: str = ""
    rank: int | None = None
    stowed: str = ""
    installed: str = ""


class PackageFinder:
    """Finds packages by purpose. Safe to share between threads.

    Args:
        stored: which packages are stored.
        open_catalog: opens the catalog of stowed crates.
        projects: the projects that may be looked into.
        descriptions: what registries say of packages.
        open_embedder: opens the model that texts are embedded with.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        stored: PackageCards,
        open_catalog: Callable[[], Catalog],
        projects: Projects,
        descriptions: Descriptions,
        open_embedder: Callable[[], Embedder],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stored = stored
        self._open_catalog = open_catalog
        self._projects = projects
        self._descriptions = descriptions
        self._open_embedder = open_embedder
        self._clock = clock
        self._lock = threading.Lock()
        #: By language, and by the sources that callers see.
        self._directories: OrderedDict[tuple[str, Visibility | None], _Directory] = OrderedDict()
        self._vectors: dict[tuple[str, str], NDArray[np.float32]] = {}

    def find(
        self, query: str, languages: Iterable[Language], limit: int
    ) -> list[tuple[Candidate, float]]:
        """Return packages for a purpose with their scores, the best first.

        Args:
            query: the purpose, in words, or a name.
            languages: whose packages.
            limit: how many at most.
        """
        embedder = self._open_embedder()
        vector = embedder.embed_query(query)
        found = [
            pair
            for language in languages
            for pair in self._directory(language, embedder).rank(query, vector, limit)
        ]
        return sorted(found, key=lambda each: -each[1])[:limit]

    def described(self, language: Language) -> int:
        """Return of how many packages of a language the registry's description is here."""
        return len(self._descriptions.read(language)[1])

    def _directory(self, language: Language, embedder: Embedder) -> _Directory:
        with self._lock:
            key = language.name, auth.caller().bound
            known = self._directories.pop(key, None)
            now, stowed = self._clock(), self._stowed(language)
            # What was stowed a moment ago is found, as whoever had it stowed expects.
            same = known is not None and (known.model, known.stowed) == (embedder.id, stowed)
            if known is not None and same and now - known.made < _FRESH_S:
                self._directories[key] = known
                return known
            found = list(self._candidates(language).values())
            if known is not None and known.candidates == found and known.model == embedder.id:
                fresh = replace(known, made=now, stowed=stowed)
            else:
                fresh = self._make(found, stowed, embedder, now)
            self._directories[key] = fresh
            if len(self._directories) > _DIRECTORIES_KEPT:
                self._directories.popitem(last=False)
            return fresh

    def _stowed(self, language: Language) -> tuple[str, ...]:
        """Return what changes with what is stowed."""
        if language.packaged:
            return tuple(self._stored.state(language))
        return tuple(each.identity for each in self._open_catalog().card_set().segments)

    def _make(
        self, found: list[Candidate], stowed: tuple[str, ...], embedder: Embedder, now: float
    ) -> _Directory:
        import numpy as np

        from docstow.text import bm25

        texts = [f"{each.name} {each.about}".strip() if each.about else "" for each in found]
        new = (each for each in texts if each and (embedder.id, each) not in self._vectors)
        if wanted := list(dict.fromkeys(new)):
            made = embedder.embed(wanted)
            self._vectors |= {(embedder.id, e): v for e, v in zip(wanted, made, strict=True)}
        nothing = np.zeros(embedder.dimensions, np.float32)
        rows = [self._vectors.get((embedder.id, each), nothing) for each in texts]
        vectors = np.stack(rows) if rows else np.zeros((0, embedder.dimensions), np.float32)
        weights, lengths = zip(*_FIELDS.values(), strict=True)
        postings = bm25.build_postings(
            [(e.name.replace("/", " "), e.keywords, e.about) for e in found],
            weights,
            lengths,
        )
        terms = dict(
            zip(postings.terms, zip(postings.rows, postings.weights, strict=True), strict=True)
        )
        return _Directory(found, terms, vectors, embedder.id, now, stowed)

    def _candidates(self, language: Language) -> dict[str, Candidate]:
        key = language.spelling.package_key
        found: dict[str, Candidate] = {}

        def put(
            name: str,
            about: str,
            *,
            keywords: str = "",
            stowed: str = "",
            installed: str = "",
        ) -> None:
            own = found.get(key(name)) or Candidate(language, name)
            found[key(name)] = replace(
                own,
                about=own.about or about,
                keywords=own.keywords or keywords,
                stowed=own.stowed or stowed,
                installed=own.installed or installed,
            )

        brought = described(language)
        for rank, name in enumerate(popular(language)):
            found[key(name)] = Candidate(language, name, brought.get(name, ""), rank=rank)
        for name, told in self._descriptions.read(language)[1].items():
            put(name, told.summary, keywords=told.keywords)
        for entry in self._entries(language):
            if not entry.source.target:
                source = entry.source
                put(source.name, entry.about, keywords=entry.keywords, stowed=source.version)
        for name, about, version in self._installed(language):
            put(name, about, installed=version)
        # Before anything is counted, so that what a caller does not see changes no score.
        seen = [language.kind] if language.packaged else [CRATE, LOCAL]
        return {
            name: each
            for name, each in found.items()
            if any(auth.sees(kind, each.name) for kind in seen)
        }

    def _entries(self, language: Language) -> Iterable[Entry]:
        """Return what is told of what is stowed, each package in its newest version."""
        if language.packaged:
            return self._stored.newest(language).values()
        from docstow.index.cards import CRATES

        return self._open_catalog().card_set().entries(CRATES)

    def _installed(self, language: Language) -> Iterable[tuple[str, str, str]]:
        for project in self._projects.names:
            try:
                scan = self._projects.scan(project)[1]
            except DocstowError:
                continue
            for each in scan.packages:
                if each.ecosystem == language.spelling.ecosystem and each.version:
                    yield each.name, each.summary, each.version


@dataclass(frozen=True, slots=True, eq=False)
class _Directory:
    """The packages of a language, ready to be ranked."""

    candidates: list[Candidate]
    terms: Mapping[str, tuple[NDArray[np.int32], NDArray[np.float32]]]
    vectors: NDArray[np.float32]
    model: str
    made: float
    stowed: tuple[str, ...]

    def rank(
        self, query: str, vector: NDArray[np.float32], limit: int
    ) -> list[tuple[Candidate, float]]:
        import numpy as np

        from docstow.text import bm25

        count = len(self.candidates)
        terms = bm25.query_tokens(query) or bm25.tokens(query)
        keyword = bm25.score(self.terms.get, terms, count)
        known = [self.terms[each][1] for each in dict.fromkeys(terms) if each in self.terms]
        best = float(sum(each.max() for each in known)) or 1.0
        relevance = keyword / best + _COSINE * (self.vectors @ vector).clip(0.0)
        prior = np.array([self._prior(each) for each in self.candidates], np.float32)
        name = query.strip().lower()
        named = np.array([each.name.lower() == name for each in self.candidates], np.float32)
        scores = relevance + np.where(relevance > 0, prior, 0) + _NAMED * named
        order = np.argsort(-scores, kind="stable")[:limit]
        return [(self.candidates[row], float(scores[row])) for row in order if relevance[row] > 0]

    def _prior(self, each: Candidate) -> float:
        used = 0.0 if each.rank is None else _USE * (1 - math.log10(each.rank + 10) / 4.1)
        return used + (_AT_HAND if each.stowed or each.installed else 0.0)
