"""Answers in which third-party text that speaks to an assistant is marked, or dropped.

Every answer passes here once, whatever tool it is of. Only what is about to be shown is read, so
that nothing is stored and new rules hold for what was stowed long ago.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from hashlib import blake2b
from itertools import pairwise
from operator import is_
from typing import Any, TypeVar

from docstow.core.errors import DocstowError
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass
from docstow.text.injection import screen
from docstow.text.injection_rules import INVISIBLE
from docstow.text.invisible import drop_from_value, drop_invisible, may_hide
from docstow.text.paging import CHARACTERS_PER_TOKEN

_Row = TypeVar("_Row")
_dropping: ContextVar[bool] = ContextVar("dropping", default=False)

#: The member of an answer or of one of its rows that says why its text is suspect.
SUSPECT = "suspect"
#: Members that the caller or docstow wrote, or that are digests.
_OWN = frozenset({"asked", "cursor", "snapshot", "chunk_id", "next", "get", "created_at", SUSPECT})
#: Parameters that say how many results a search returns.
_SIZES = ("k", "top_k")
#: So often a list is filled up for what was dropped of it.
_MOST_ROUNDS = 5
#: What was said of texts, by their digests; so many are kept, some megabytes.
_JUDGED: dict[bytes, tuple[str, ...]] = {}
_MOST_JUDGED = 50_000
#: Paragraphs of a page that are named.
_MOST_PLACES = 10
#: Types of JSON values without texts, and of values without rows.
_ATOMS = frozenset((int, float, bool, type(None)))
_TEXTS_AND_ATOMS = _ATOMS | {str}
_PARAGRAPH = lazy_pattern(r"(?:[^\n]*\S[^\n]*(?:\n|\Z))+")


def mark(value: Mapping[str, Any], written: str) -> Mapping[str, Any]:
    """Return a structured answer whose suspect texts are marked with the reasons.

    Args:
        value: the answer; it is returned itself where nothing of it is suspect.
        written: the same as JSON that escapes no more than it must.
    """
    shown, dropped = drop_from_value(value) if may_hide(written) else (value, 0)
    whole = _mark(shown)
    return {**whole, SUSPECT: [*whole.get(SUSPECT, ()), INVISIBLE]} if dropped else whole


def mark_text(text: str) -> str:
    """Return a page, below a line that says what of it is suspect, if anything is."""
    if _JUDGED.get(_digest(text)) == ():
        return text  # What was judged had no invisible characters any more.
    shown, dropped = drop_invisible(text)
    places = _places(shown)
    return _say(places, dropped, shown) + shown if places or dropped else text


def screen_error(error: DocstowError, *, drop: bool) -> None:
    """Mark an error whose message or near names speak to an assistant, or drop what does.

    Names of items, titles, paths and addresses are foreign text, too. Screening an error twice does
    no harm.
    """
    body = {"message": error.message, "suggestions": error.suggestions, "details": error.details}
    shown, dropped = drop_from_value(body)
    why = [*_reasons(shown, deep=True), *([INVISIBLE] if dropped else ())]
    if not why:
        return
    error.message = clean_text(shown["message"]) if drop else shown["message"]
    error.args = (error.message,)
    near = [each for each in shown["suggestions"] if not (drop and is_suspect(each))]
    error.suggestions = tuple(dict(_mark(each)) for each in near)
    details = _clean(shown["details"]) if drop else shown["details"]
    error.details = {**details, SUSPECT: list(dict.fromkeys([*details.get(SUSPECT, ()), *why]))}


def clean(
    value: Mapping[str, Any],
    arguments: Mapping[str, Any],
    run: Callable[[Mapping[str, Any]], Mapping[str, Any] | None],
) -> Mapping[str, Any]:
    """Return a structured answer whose suspect texts are dropped.

    Results of searches are dropped as a whole, and others take their places; elsewhere the text
    alone is, since that an item exists or has changed is no foreign text.

    Args:
        value: the tool's answer.
        arguments: the call's, checked.
        run: the tool, for further results.
    """
    whole: Mapping[str, Any] = drop_from_value(value)[0]
    gone = 0
    if "results" in whole and (size := next((e for e in _SIZES if e in arguments), "")):
        whole, gone = _filled(whole, arguments, run, size)
    if _reasons(whole, deep=True):
        whole = _mark(_clean(whole))
    if gone:
        said = f"{gone} results that speak to an assistant were dropped"
        whole = {**whole, "notice": "; ".join(filter(None, [whole.get("notice"), said]))}
    return whole


def clean_text(text: str) -> str:
    """Return a page whose suspect paragraphs are dropped."""
    shown: str = _clean(drop_invisible(text)[0])
    return shown


@contextlib.contextmanager
def dropping() -> Iterator[None]:
    """Have :func:`kept` drop what is suspect, within."""
    token = _dropping.set(True)
    try:
        yield
    finally:
        _dropping.reset(token)


def kept(rows: Sequence[_Row], show: Callable[[_Row], Mapping[str, Any]]) -> Sequence[_Row]:
    """Return candidates of a list without a cursor, without those that would be dropped of it.

    Args:
        rows: all of them.
        show: makes a result of one.
    """
    return [each for each in rows if not is_suspect(show(each))] if _dropping.get() else rows


def is_suspect(row: Mapping[str, Any]) -> bool:
    """Return whether a result would be marked."""
    return bool(_reasons(row, deep=True))


def _filled(
    whole: Mapping[str, Any],
    arguments: Mapping[str, Any],
    run: Callable[[Mapping[str, Any]], Mapping[str, Any] | None],
    size: str,
) -> tuple[dict[str, Any], int]:
    """Return an answer with results that are not suspect, and how many were dropped."""
    kept = [each for each in whole["results"] if not is_suspect(each)]
    gone = [each for each in whole["results"] if is_suspect(each)]
    total, cursor, wanted = len(gone), whole.get("cursor"), len(gone)
    for _ in range(_MOST_ROUNDS):
        if not wanted or not cursor:
            break
        further = {**arguments, "cursor": cursor, size: wanted}
        if arguments.get("max_tokens"):
            further["max_tokens"] = sum(map(_length, gone)) // CHARACTERS_PER_TOKEN + 1
        page = drop_from_value(run(further) or {"results": [], "cursor": None})[0]
        new = [each for each in page["results"] if not is_suspect(each)]
        gone = [each for each in page["results"] if is_suspect(each)]
        kept += new
        total += len(gone)
        cursor, wanted = page["cursor"], wanted - len(new)
    return {**whole, "results": kept, "cursor": cursor}, total


def _length(row: Mapping[str, Any]) -> int:
    return sum(map(len, _strings(row, deep=True)))


def _strings(value: Any, *, deep: bool) -> list[str]:
    """Return the texts of a value that others wrote; those of rows within it too if ``deep``."""
    texts: list[str] = []
    _collect(value, texts, deep=deep)
    return texts


def _collect(value: Any, texts: list[str], *, deep: bool) -> None:
    """Add a value's texts to others."""
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, dict):
        if _TEXTS_AND_ATOMS.issuperset(map(type, value.values())):
            texts += [
                each for name, each in value.items() if type(each) is str and name not in _OWN
            ]
            return
        for name, each in value.items():
            # Most members are texts, numbers and nothing.
            if (kind := type(each)) is str:
                if name not in _OWN:
                    texts.append(each)
            elif kind not in _ATOMS and name not in _OWN:
                if isinstance(each, dict):
                    texts.extend(each)
                _collect(each, texts, deep=deep)
    elif isinstance(value, list | tuple):
        for each in value:
            if deep or not isinstance(each, dict):
                _collect(each, texts, deep=deep)


@dataclass(frozen=True, slots=True)
class _Place:
    """Suspect characters of a text.

    Attributes:
        start: of the first paragraph.
        end: of the last one.
        reasons: why.
    """

    start: int
    end: int
    reasons: tuple[str, ...]

    @property
    def why(self) -> str:
        """The reasons in one phrase."""
        return " and ".join(self.reasons)


def _places(text: str) -> list[_Place]:
    """Return the suspect paragraphs of a text: each alone, else two in a row, else all of it."""
    if not (reasons := _judge(text)):
        return []
    spans = [(each.start(), each.end()) for each in _PARAGRAPH.finditer(text)]
    pairs = [(first, end) for (first, _), (_, end) in pairwise(spans)]
    for each in (spans, pairs):
        if found := [_Place(*at, why) for at in each if (why := _judge(text[slice(*at)]))]:
            return [found[0], *(b for a, b in pairwise(found) if b.start >= a.end)]
    return [_Place(0, len(text), reasons)]


def _say(places: Sequence[_Place], dropped: int, text: str) -> str:
    """Return the line that says what of a page is suspect, by the lines that it has below it."""
    # This line and an empty one come above the text.
    said = [
        f"line {text.count(chr(10), 0, each.start) + 3} {each.why}"
        for each in places[:_MOST_PLACES]
    ]
    if len(places) > _MOST_PLACES:
        said.append(f"{len(places) - _MOST_PLACES} further paragraphs")
    if dropped:
        said.append(f"{dropped} {INVISIBLE}")
    return f"*{SUSPECT}: {'; '.join(said)}*\n\n"


def _reasons(value: Any, *, deep: bool) -> tuple[str, ...]:
    return _judge("\n".join(_strings(value, deep=deep)))


def _judge(text: str) -> tuple[str, ...]:
    """Screen a text, or repeat what was said of it: most answers have texts of earlier ones."""
    key = _digest(text)
    known = _JUDGED.get(key)
    if known is None:
        if len(_JUDGED) >= _MOST_JUDGED:
            _JUDGED.clear()
        known = _JUDGED[key] = screen(text)
    return known


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _mark(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a value whose own texts are marked, and the rows within it; itself if none is."""
    shown = _mark_members(row)
    why = _reasons(row, deep=False)
    return {**shown, SUSPECT: list(why)} if why else shown


def _mark_members(row: Mapping[str, Any]) -> Mapping[str, Any]:
    marked = {
        name: shown
        for name, each in row.items()
        if type(each) not in _TEXTS_AND_ATOMS and (shown := _mark_rows(each)) is not each
    }
    return {**row, **marked} if marked else row


def _mark_rows(value: Any) -> Any:
    if isinstance(value, dict):
        return _mark_members(value)
    if isinstance(value, list | tuple):
        shown = [_mark(each) if isinstance(each, dict) else each for each in value]
        same = type(value) is list and all(map(is_, shown, value))
        return value if same else shown
    return value


def _clean(value: Any) -> Any:
    """Return a value in which suspect texts say what was dropped."""
    if isinstance(value, str):
        for place in reversed(_places(value)):
            value = f"{value[: place.start]}[dropped: it {place.why}]\n{value[place.end :]}"
        return value
    if isinstance(value, dict):
        return {name: each if name in _OWN else _clean(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(each) for each in value]
    return value
