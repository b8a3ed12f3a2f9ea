"""Code-aware tokens of texts and identifiers, and BM25F with one stored number per posting."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass

#: Ids of :func:`tokens` and :func:`prose_tokens`, a part of recipes.
WORDS_ID = "words/1"
PROSE_WORDS_ID = "prose-words/1"

#: BM25's saturation; the value that Lucene uses.
K1 = 1.2

#: Texts and lines of no more characters are those of many rows: titles, paths, headings, code. Of
#: so many the words are kept.
_REPEATED, _MOST_KEPT = 120, 1 << 14

# A run of letters, digits and underscores; an English contraction's tail goes with its word.
_WORD = lazy_pattern(r"\w+(?:['\u2019](?:s|t|re|ve|ll|d|m)\b)?")
# "IT'S" is one word when its case is folded, and two when it is not.
_CONTRACTED_CAPITALS = lazy_pattern(r"'[A-Z]")
_CONTRACTION = lazy_pattern(r"['\u2019].*")
_PLURAL_ACRONYM = lazy_pattern(r"[A-Z]{2,}s")
# Inside an identifier: HTTP|Server, join|handle, Ipv4|Addr, each with the digits it ends in.
# A letter beyond ASCII counts as a small one.
_PART = lazy_pattern(r"[A-Z]+(?![^\W\d_A-Z])\d*|[A-Z]?[^\W\d_A-Z]+\d*|\d+")
_LETTERS_THEN_DIGITS = lazy_pattern(r"([^\W\d_]{2,})(\d+)")

# Scripts whose words stand without spaces between them, or with endings (Korean).
_RUN = lazy_pattern(
    "[\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)
_ACCENT = lazy_pattern("[\u0300-\u036f]+")

_VOWEL = lazy_pattern(r"[aeiouy]")
# Porter's measure and his *o condition, with y as a vowel unless it opens the word.
_VOWELS_THEN_CONSONANTS = lazy_pattern(r"[aeiouy]+[^aeiouy]+")
_SHORT_SYLLABLE = lazy_pattern(r"[^aeiou][aeiouy][^aeiouwxy]$")
_STEMS = {"using": "use", "used": "use", "embed": "embed", "embeds": "embed", "indices": "index"}


def tokens(text: str) -> list[str]:
    """Return the terms of a text in order, lower-cased; an identifier gives itself and its parts.

    ``JoinSet`` and ``join_set`` both give ``joinset join set``; ``sha256`` gives
    ``sha256 sha 256``, while ``u64`` stays whole. Plain words and parts are stemmed (``tasks``,
    ``spawning``, ``handle`` and ``handling`` give ``task``, ``spawn`` and ``handl``); whole
    identifiers of several parts are not.
    """
    return list(chain.from_iterable(map(_terms, _WORD.findall(text))))


def prose_tokens(text: str) -> list[str]:
    """Return the terms by which a text of prose is found, whatever a query's case and accents.

    They are those of the folded text, the parts that capitals show in an identifier
    (``JoinHandle`` gives ``joinhandl joinhandle join handl``), and the letters and pairs of
    letters of a run in a script without spaces.
    """
    if text.isascii():  # has nothing to fold but its case, and no such script
        lower = text.lower()
        return tokens(lower) if lower == text else [*tokens(lower), *_parts_in_capitals(text)]
    folded = fold(text)
    terms = tokens(_space_scripts(folded))
    terms += _parts_in_capitals(_space_scripts(_strip_accents(text)))
    for run in _RUN.findall(folded):
        terms += [*run, *map("".join, pairwise(run))] if len(run) > 1 else []
    return terms


def _parts_in_capitals(text: str) -> Iterator[str]:
    """Return the terms that only the capitals of a text show."""
    return chain.from_iterable(
        [_capital_terms(word) for word in _WORD.findall(text) if not word.islower()]
    )


@lru_cache(maxsize=1 << 14)
def _capital_terms(word: str) -> tuple[str, ...]:
    known = _terms(word.lower())
    return tuple(term for term in _terms(word) if term not in known)


@dataclass(frozen=True, slots=True)
class Words:
    """How texts become terms word by word, so that of a word in many texts it is done once.

    The terms of the words of a text are the terms of the text, in any order. No word goes over the
    end of a line.

    Attributes:
        split: gives the words of a text.
        terms: gives the terms of a word.
    """

    split: Callable[[str], Iterable[str]]
    terms: Callable[[str], tuple[str, ...]]


def _prose_words(text: str) -> Iterable[str]:
    """Return the words of a text of prose, or what it has no words for: terms behind blanks."""
    if text.isascii() and not ("'" in text and _CONTRACTED_CAPITALS.search(text)):
        return _WORD.findall(text)
    return [f" {term}" for term in prose_tokens(text)]


def _prose_terms(word: str) -> tuple[str, ...]:
    """Return the terms of what :func:`_prose_words` gives."""
    if word.startswith(" "):
        return (word[1:],)
    lower = word.lower()
    return _terms(lower) if lower == word else (*_terms(lower), *_capital_terms(word))


def query_tokens(query: str) -> list[str]:
    """Return the terms of a query for rows that are indexed by :func:`prose_tokens`."""
    folded = fold(query)
    pairs = [a + b for run in _RUN.findall(folded) for a, b in pairwise(run)]
    return tokens(_space_scripts(folded)) + pairs


def fold(text: str) -> str:
    """Return a text without differences of case, accents and width."""
    cased = unicodedata.normalize("NFKD", text).casefold()
    return _strip_accents(cased).casefold()


def _strip_accents(text: str) -> str:
    bare = _ACCENT.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", bare)


def _space_scripts(text: str) -> str:
    """Return a text with spaces around words of the scripts that have none."""
    return _RUN.sub(r" \g<0> ", text)


@lru_cache(maxsize=1 << 16)
def _terms(word: str) -> tuple[str, ...]:
    """Return the terms of one run of word characters."""
    word = _CONTRACTION.sub("", word)
    parts = [word[:-1]] if _PLURAL_ACRONYM.fullmatch(word) else _PART.findall(word)
    if len(parts) == 1:
        lower = parts[0].lower()
        return (_stem(lower), *_split_digits(lower))
    terms = ["".join(parts).lower()] if parts else []
    for part in parts:
        # A lone letter of an identifier (the T of TStruct) says nothing.
        if len(part) > 1 or part.isdigit():
            lower = part.lower()
            terms.append(_stem(lower))
            terms += _split_digits(lower)
    return tuple(terms)


def _split_digits(part: str) -> tuple[str, ...]:
    """Split ``utf8`` into ``utf 8``; after one letter (``u64``) digits are part of the name."""
    match = _LETTERS_THEN_DIGITS.fullmatch(part)
    return match.groups() if match else ()


def _stem(word: str) -> str:
    """Cut plural, -ed and -ing off a lower-case word.

    Steps 1a, 1b and 5a of M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980;
    ``-ies`` and ``-ied`` give ``-y``, and words of three letters stay as they are.
    """
    if len(word) <= 3:
        return word
    known = _STEMS.get(word)
    if known is not None:
        return known
    word = _strip_participle(_strip_plural(word))
    if word.endswith("e") and len(word) > 3:
        bare = word[:-1]
        measure = len(_VOWELS_THEN_CONSONANTS.findall(bare))
        if measure > 1 or (measure == 1 and not _SHORT_SYLLABLE.search(bare)):
            return bare
    return word


def _strip_plural(word: str) -> str:
    if not word.endswith("s") or word.endswith(("ss", "us", "is", "ias")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if _VOWEL.search(word[:-1]) else word


def _strip_participle(word: str) -> str:
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("eed"):
        return word
    for ending in ("ed", "ing"):
        bare = word.removesuffix(ending)
        if bare != word:
            return _restore_base(bare) if len(bare) > 1 and _VOWEL.search(bare) else word
    return word


def _restore_base(bare: str) -> str:
    """Return the base form of a cut verb: of ``creat``, ``runn`` and ``writ``."""
    if bare.endswith(("at", "bl", "iz")):
        return bare + "e"
    if len(bare) > 2 and bare[-1] == bare[-2] and bare[-1] not in "aeioulsz":
        return bare[:-1]
    if len(_VOWELS_THEN_CONSONANTS.findall(bare)) == 1 and _SHORT_SYLLABLE.search(bare):
        return bare + "e"
    return bare


#: The terms of :func:`tokens` and of :func:`prose_tokens`.
ITEM_WORDS = Words(_WORD.findall, _terms)
PROSE_WORDS = Words(_prose_words, _prose_terms)


@dataclass(frozen=True, slots=True)
class Postings:
    """An inverted index whose every posting holds the term's whole score in that row.

    Attributes:
        terms: sorted, each once.
        rows: for each term, the rows (ascending) that have it.
        weights: for each term, what it adds to each of those rows' scores.
    """

    terms: list[str]
    rows: list[NDArray[np.int32]]
    weights: list[NDArray[np.float32]]


def build_postings(
    rows: Sequence[Sequence[str]],
    field_weights: Sequence[float],
    field_b: Sequence[float],
    *,
    words: Words = ITEM_WORDS,
) -> Postings:
    """Build the postings of rows that have one text per field.

    BM25F as in S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and
    Beyond" (2009), 3.6: term frequencies are normalised by field length, weighted, summed over the
    fields and then saturated, ``idf * tf / (k1 + tf)``; the idf is Lucene's,
    ``ln(1 + (n - df + 0.5) / (df + 0.5))``.

    Args:
        rows: for each row its texts, one per field; all rows have the same fields.
        field_weights: what a term counts in each field.
        field_b: for each field, how far its length matters: 0 not at all, 1 fully.
        words: gives the terms of a text.

    Raises:
        ValueError: a row has another number of texts than there are fields.
    """
    fields = len(field_weights)
    if len(field_b) != fields:
        raise ValueError(f"{fields} field weights, but {len(field_b)} values of b")
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    known: dict[str, list[int]] = {}
    stream: list[int] = []
    sizes: list[int] = []
    for texts in rows:
        if len(texts) != fields:
            raise ValueError(f"a row has {len(texts)} texts where there are {fields} fields")
        for text in texts:
            before = len(stream)
            for line in text.split("\n") if len(text) > _REPEATED else (text,):
                found = known.get(line)
                if found is None:
                    found = list(map(numbers.__getitem__, words.split(line)))
                    if len(line) <= _REPEATED:
                        if len(known) == _MOST_KEPT:
                            known.clear()
                        known[line] = found
                stream += found
            sizes.append(len(stream) - before)
    terms, stream_terms, ends = _as_terms(list(map(words.terms, numbers)), stream)
    lengths = np.diff(ends[np.cumsum([0, *sizes])]).reshape(len(rows), fields)
    return _weigh(terms, stream_terms, lengths, np.asarray(field_weights), np.asarray(field_b))


def _as_terms(
    terms_of: Sequence[Sequence[str]], stream: Sequence[int]
) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """Return all terms, sorted, those of a stream by number, and where those of each word end.

    Args:
        terms_of: the terms of each word.
        stream: words by number.

    Returns:
        The last array begins with 0, and so has one value more than the stream.
    """
    terms = sorted(set(chain.from_iterable(terms_of)))
    numbers = {term: number for number, term in enumerate(terms)}
    flat = np.fromiter(map(numbers.__getitem__, chain.from_iterable(terms_of)), np.int64)
    counts = np.fromiter(map(len, terms_of), np.int64, len(terms_of))
    begins = np.cumsum(counts) - counts
    words = np.asarray(stream, np.int64)
    each = counts[words]
    ends = np.zeros(len(words) + 1, np.int64)
    np.cumsum(each, out=ends[1:])
    places = np.repeat(begins[words] - ends[:-1], each) + np.arange(ends[-1])
    return terms, flat[places], ends


def _weigh(
    terms: list[str],
    stream: NDArray[np.int64],
    lengths: NDArray[np.int64],
    field_weights: NDArray[np.float64],
    field_b: NDArray[np.float64],
) -> Postings:
    """Count and weigh ``stream``: term numbers by row and field, ``lengths`` of them in each."""
    n, fields = lengths.shape
    if not terms:
        return Postings([], [], [])
    means = lengths.mean(axis=0)
    relative = lengths / np.where(means > 0, means, 1.0)
    factors = (field_weights / (1.0 - field_b + field_b * relative).clip(1e-9)).ravel()

    cells = np.repeat(np.arange(n * fields), lengths.ravel())
    keys, counts = np.unique(stream * (n * fields) + cells, return_counts=True)
    frequencies = counts * factors[keys % (n * fields)]
    pairs = keys // fields  # in order, as the keys are
    starts = np.flatnonzero(np.diff(pairs, prepend=-1))
    frequencies = np.add.reduceat(frequencies, starts)
    pair_terms, pair_rows = np.divmod(pairs[starts], n)

    document_counts = np.bincount(pair_terms, minlength=len(terms))
    weights = (idf(n, document_counts)[pair_terms] * frequencies / (K1 + frequencies)).astype(
        np.float32
    )
    rows = pair_rows.astype(np.int32)
    places = list(pairwise([0, *np.cumsum(document_counts).tolist()]))
    return Postings(terms, [rows[a:b] for a, b in places], [weights[a:b] for a, b in places])


def weigh(
    texts: Sequence[str],
    field_weights: Sequence[float],
    field_b: Sequence[float],
    means: Sequence[float],
) -> dict[str, float]:
    """Return for each term of one row what BM25F gives it there without its idf, from 0 to 1.

    Unlike those of :func:`build_postings` these weights do not change when rows come and go, as
    the mean lengths of the fields are given: postings of several indexes can be joined.

    Args:
        texts: one for each field.
        field_weights: as for :func:`build_postings`.
        field_b: as for :func:`build_postings`.
        means: how many terms each field has on average.
    """
    frequencies: defaultdict[str, float] = defaultdict(float)
    for text, weight, b, mean in zip(texts, field_weights, field_b, means, strict=True):
        found = tokens(text)
        share = weight / max(1.0 - b + b * len(found) / mean, 1e-9)
        for term, count in Counter(found).items():
            frequencies[term] += count * share
    return {term: tf / (K1 + tf) for term, tf in frequencies.items()}


def idf(n: int, rows: NDArray[np.int64] | int) -> NDArray[np.float64]:
    """Return the inverse document frequency of a term that so many of ``n`` rows have.

    Every stored weight has it as a factor, so that a search over several indexes can weigh a term
    by all of them.
    """
    return np.log1p((n - np.asarray(rows) + 0.5) / (np.asarray(rows) + 0.5))


def score(
    lookup: Callable[[str], tuple[NDArray[np.int32], NDArray[np.float32]] | None],
    query: Sequence[str],
    n: int,
) -> NDArray[np.float32]:
    """Score all rows for a query; only the postings of the query's terms are touched.

    Args:
        lookup: gives a term's rows and weights, or None for a term that no row has.
        query: terms as from :func:`tokens`; a repeated term counts once.
        n: how many rows there are.

    Returns:
        The scores, shape ``(n,)``; 0 for a row with none of the terms.
    """
    scores = np.zeros(n, dtype=np.float32)
    for term in dict.fromkeys(query):
        posting = lookup(term)
        if posting is not None:
            rows, weights = posting
            scores[rows] += weights
    return scores
