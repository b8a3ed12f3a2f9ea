"""Pages that say the same in several languages, of which a search lists one.

A site may name them by ``hreflang``, and is believed where both pages name each other. Else
translations have the same path but for a language: ``/de/ropes``, ``ropes.de.html``,
``ropes?lang=de``. A path may have such letters for another reason, so they are confirmed by what
no translator changes: code, targets of links, and how many headings there are.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from docstow.core.model import Document
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass
from docstow.text.headings import find_headings
from docstow.text.markdown import FENCED

#: The columns of the documents' table: the row of the page that each one translates, which is its
#: own for all others, and the language; empty unless there are translations.
COLUMNS = ("translates", "language")

#: The attribute of a page by which its site names its translations: URLs by language.
NAMED = "translations"

#: What is listed where the question's language cannot be told.
_DEFAULT = "en"

#: A language is a question's if that is so many times as likely as the default.
_SURE = 10.0
#: The words of a chunk that a language has not shown are so frequent.
_UNSEEN = 0.1

#: Pages are alike in structure if they share so much of their code and links, and if of both
#: numbers of headings the smaller is so much of the larger.
_LEAST_SHARED, _LEAST_HEADINGS = 0.3, 0.6
#: So few lines of code or links say nothing; then there have to be as many headings, and so many.
_LEAST_COMPARED, _HEADINGS_ALONE = 3, 3
#: A language is one if so many of its pages are like those that they translate: translations are
#: often years behind, while of pages that have nothing to do with each other one in 90 is alike.
_LEAST_ALIKE = 0.25
#: Pages with so many of their words in common are in the same language.
_SAME_WORDS = 0.6

# ISO 639-1, of languages that software is documented in.
_CODES = (
    "ar az be bg bn bs ca cs cy da de el en eo es et eu fa fi fr gl he hi hr hu hy id is it ja ka"
    " kk km ko lt lv mk ml mn ms my nb ne nl nn no pl pt ro ru sk sl sq sr sv ta te th tr uk ur uz"
    " vi zh"
)
_LANGUAGE = lazy_pattern(
    rf"(?<![^/._=])((?:{'|'.join(_CODES.split())})(?:[-_](?:[a-z]{{2}}|hans|hant|\d{{3}}))?)"
    r"(?![^/._&#])",
    re.IGNORECASE,
)
# What goes with a language: `/` of `/de`, `?lang=` of `?lang=de`.
_BEFORE = lazy_pattern(r"(?:[?&]\w+=|.)\Z")
_TARGET = lazy_pattern(r"\]\(<?([^()\s<>]{1,500})")
_WORD = lazy_pattern(r"\w+")


class Translations:
    """The pages of a snapshot that there are in several languages.

    Args:
        translates: the first of :data:`COLUMNS`.
        languages: the second.
    """

    def __init__(self, translates: NDArray[np.int32], languages: NDArray[np.object_]) -> None:
        counts = np.bincount(translates, minlength=len(translates))
        self._rows = np.flatnonzero(counts[translates] > 1)
        self._groups = translates[self._rows]
        self._names, self._numbers = np.unique(
            languages[self._rows].astype(str), return_inverse=True
        )
        self._english = np.array([_is_default(name) for name in self._names], bool)

    def __len__(self) -> int:
        return len(self._rows)

    def keep_one(self, passing: NDArray[np.bool_], language: str) -> NDArray[np.bool_]:
        """Return the pages that pass, without all but one of those that translate each other.

        Args:
            passing: whether each page does: shape ``(pages,)``.
            language: which is preferred; then English is, and then the page that is translated.
        """
        found = passing.copy()
        found[self._rows] = False
        here = passing[self._rows]
        rows, groups, numbers = self._rows[here], self._groups[here], self._numbers[here]
        wanted = np.where(self._names == language, 0, np.where(self._english, 1, 2))[numbers]
        order = np.lexsort((rows, rows != groups, wanted, groups))
        _, first = np.unique(groups[order], return_index=True)
        found[rows[order[first]]] = True
        return found

    def guess_language(
        self,
        terms: Sequence[str],
        rows_of: Callable[[str], NDArray[np.int32] | None],
        documents: NDArray[np.int32],
    ) -> str:
        """Return the language that has the words of a query where its pages have theirs.

        Args:
            terms: of the query.
            rows_of: gives the chunks that hold a term.
            documents: the page of each chunk.
        """
        languages = np.full(int(documents.max(initial=0)) + 1, len(self._names))
        languages[self._rows] = self._numbers
        of_chunks = languages[documents]
        count = len(self._names)
        chunks = np.bincount(of_chunks, minlength=count + 1)[:count]
        likely = np.zeros(count)
        for term in dict.fromkeys(terms):
            rows = rows_of(term)
            if rows is not None:
                held = np.bincount(of_chunks[rows], minlength=count + 1)[:count]
                likely += np.log((held + _UNSEEN) / (chunks + 1))
        best = int(likely.argmax())
        default = likely[self._english].max(initial=-np.inf)
        return str(self._names[best]) if likely[best] > default + np.log(_SURE) else _DEFAULT


def find_translations(documents: Sequence[Document]) -> tuple[NDArray[np.int32], list[str]]:
    """Return :data:`COLUMNS` of pages.

    Args:
        documents: all pages of a snapshot, sorted by path.
    """
    translates = np.arange(len(documents), dtype=np.int32)
    languages = [""] * len(documents)
    for named in _named_translations(documents):
        first, _ = min(named.items(), key=_order)
        structure = _structure(documents[first])
        for row, language in named.items():
            translates[row] = first
            same = row != first and _same_words(_structure(documents[row]), structure)
            languages[row] = named[first] if same else language
    groups: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for row, page in enumerate(documents):
        if languages[row]:
            continue
        key, language = _split_path(page.path)
        groups[key].append((row, language))
    pairs: defaultdict[str, list[tuple[int, int, _Structure, _Structure]]] = defaultdict(list)
    for pages in groups.values():
        if len({language for _, language in pages}) > 1:
            first, own = min(pages, key=_order)
            structure = _structure(documents[first])
            languages[first] = own or _declared(documents[first]) or _DEFAULT
            for row, language in pages:
                if row != first and language:
                    pair = row, first, _structure(documents[row]), structure
                    pairs[language].append(pair)
    for language, found in pairs.items():
        alike = sum(_are_alike(one, other) for _, _, one, other in found)
        if alike >= max(1, _LEAST_ALIKE * len(found)):
            for row, first, one, other in found:
                translates[row] = first
                languages[row] = languages[first] if _same_words(one, other) else language
    return translates, languages


def _named_translations(documents: Sequence[Document]) -> Iterator[dict[int, str]]:
    """Yield the rows of pages that name each other as translations, with their languages."""
    rows = {page.path: row for row, page in enumerate(documents)}
    named = [page.attributes.get(NAMED, {}) for page in documents]
    urls = [frozenset(each.values()) for each in named]
    done: set[int] = set()
    for row, page in enumerate(documents):
        if row in done:
            continue
        # Some sites name their home pages on every page: these do not name it in return.
        found = {
            rows[url]: language
            for language, url in named[row].items()
            if url in rows and page.path in urls[rows[url]]
        }
        if row in found and len(found) > 1 and done.isdisjoint(found):
            done.update(found)
            yield found


@dataclass(frozen=True, slots=True)
class _Structure:
    """What translations of a page have in common, and its words."""

    headings: int
    code: frozenset[str]
    links: frozenset[str]
    words: frozenset[str]


def _structure(page: Document) -> _Structure:
    code = {
        line
        for match in FENCED.finditer(page.text)
        for line in map(str.strip, match[0].split("\n")[1:-1])
        if line
    }
    links = {_split_path(target.partition("#")[0])[0] for target in _TARGET.findall(page.text)}
    return _Structure(
        len(find_headings(page.text)),
        frozenset(code),
        frozenset(links - {""}),
        frozenset(_WORD.findall(FENCED.sub("", page.text).casefold())),
    )


def _are_alike(one: _Structure, other: _Structure) -> bool:
    """Return whether one page may be a translation of the other."""
    fewer, more = sorted((one.headings, other.headings))
    if fewer < _LEAST_HEADINGS * more:
        return False
    shares = [
        len(mine & yours) / len(mine | yours)
        for mine, yours in ((one.code, other.code), (one.links, other.links))
        if len(mine | yours) >= _LEAST_COMPARED
    ]
    if shares:
        return sum(shares) / len(shares) >= _LEAST_SHARED
    return fewer == more >= _HEADINGS_ALONE


def _same_words(one: _Structure, other: _Structure) -> bool:
    return len(one.words & other.words) >= _SAME_WORDS * len(one.words | other.words)


def _split_path(path: str) -> tuple[str, str]:
    """Return a path without the language that it names, and that; what is no part of a host."""
    parts = urlsplit(path) if "://" in path else None
    host = f"{parts.scheme}://{parts.netloc}" if parts else ""
    rest = path[len(host) :]
    match = _LANGUAGE.search(rest)
    if match is None:
        return path, ""
    before, after = rest[: match.start()], rest[match.end() :]
    # Without a language the sign before it goes, too: `ropes.html` is what `ropes.de.html` says.
    key = _BEFORE.sub("", before) + after if before else after[1:]
    return host + key, match[1].lower().replace("_", "-")


def _order(page: tuple[int, str]) -> tuple[int, int]:
    """Put English first, then what names no language."""
    row, language = page
    return (0 if _is_default(language) else 1 if not language else 2), row


def _declared(page: Document) -> str:
    return str(page.attributes.get("language", "")).lower().replace("_", "-")


def _is_default(language: str) -> bool:
    return language.partition("-")[0] == _DEFAULT
