"""What takes the place of a name, as sentences say it: "use `b` instead of `a`", "renamed to b"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from docstow.core.patterns import lazy_pattern

#: Names that one sentence gives, and characters between a name and what takes its place.
MOST = 3
_FAR = 320

_NAME = r"[@$A-Za-z_][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*){0,12}"
#: A word that can only be a name of code.
_BARE = (
    r"[A-Za-z_$][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*){1,12}(?:\(\))?"
    r"|[A-Za-z]\w*_\w+(?:\(\))?|[a-z]+[A-Z]\w*(?:\(\))?|[A-Z][a-z0-9]+[A-Z]\w*(?:\(\))?"
    r"|[A-Z]{2,}[a-z]\w+|[A-Za-z_]\w*\(\)"
)
_CANDIDATE = lazy_pattern(
    rf"(?P<ticks>`{{1,2}})(?P<code>[^`\n]{{1,160}})(?P=ticks)"
    rf"|(?<![\w`/@.])\.?(?P<bare>{_BARE})(?![\w`/])|[\"'](?P<quoted>{_NAME})(?:\(\))?[\"']"
)
_PLAIN = lazy_pattern(r"(?<![\w`/@.])[A-Za-z_$][\w$]*(?:(?:\.|::)[\w$]+)*")
#: What stands between a name that goes and the one that comes.
_CUES = lazy_pattern(
    r"\b(?:us(?:e|es|ing)|replaced? (?:it |them )?(?:by|with)|replaced"
    r"|rename[ds]? (?:it )?(?:to|as|into)|in favou?r of|favou?r(?:ing)?"
    r"|supersed(?:ed|es) (?:by|with)|moved? (?:in)?to|switch(?:ed|ing)? to"
    r"|migrat(?:e|ed|ing) to|prefer|chang(?:e|ed) (?:in)?to|instead"
    r"|import(?:ed)? (?:it |them )?(?:directly )?from"
    r"|now (?:called|named|known as|lives? in|available (?:as|from|in|at|under)|at|in|under)"
    r"|are now|is now|becomes?|has become|have become|became|available (?:as|from|via|through)"
    r"|alternatives? (?:is|are|to (?:it|this) (?:is|are))|alternatively|consider|converted to"
    r"|merged (?:in)?to|folded into|equivalent (?:to|is)|successors?(?: is)?|replacements?(?: is)?"
    r"|deprecated for|new name is|turned into|transition to|upgrade to|subclass)\b"
    r"|->|=>|\u2192|\u27a1|\u21d2",
    re.IGNORECASE,
)
#: What stands between the name that comes and the one that goes.
_REVERSED = lazy_pattern(
    r"(?:\b(?:instead of|replac(?:es|ing)|rather than|in place of|formerly|previously(?: known as)?"
    r"|renamed from|supersed(?:es|ing)|(?:as )?(?:a |an |the )?(?:\w+ )?"
    r"(?:replacement|alternative|substitute|successor)s? (?:for|of|to)|in lieu of|used to be"
    r"|was previously|were previously|over|was))"
    r"[\s(:*_]*(?:the |an? |old |existing |deprecated |legacy |now-\w+ |method |function |class"
    r"|module |attribute |\w+'s ){0,4}\s*$",
    re.IGNORECASE,
)
#: A verb before the name that goes, and what then stands between it and the one that comes.
_VERB = lazy_pattern(
    r"\b(?:renam(?:e[ds]?|ing)|replac(?:e[ds]?|ing)|mov(?:e[ds]?|ing)|chang(?:e[ds]?|ing)"
    r"|convert(?:s|ed|ing)?|swap(?:s|ped)?|migrat(?:e[ds]?|ing)|switch(?:ed|es|ing)?|turn(?:ed|s)?"
    r"|deprecat(?:e[ds]?|ing)|merg(?:e[ds]?|ing))\b[^.;]{0,120}$",
    re.IGNORECASE,
)
_TO = lazy_pattern(
    r"(?:(?!\bexcept\b)[^.;`]){0,60}?\b(?:to|into|as|with|by|in favou?r of)\b", re.IGNORECASE
)
#: What follows a note that says no more than where to look.
_SEE = lazy_pattern(r"\b(?:see|see also|call|with)\b", re.IGNORECASE)
_PAUSE = lazy_pattern(r"[.;](?=\s+(?:[A-Z(]|$))")
_JOINT = lazy_pattern(r"[\s,/]*(?:\b(?:or|and)\b|,|/|&)[\s,]*(?:the )?(?:new )?")
#: What names, or kinds of names, may stand between a cue and a name.
_FILLER = lazy_pattern(
    r"[\s:,(*_\[]*(?:(?:the|an?|new|its|their|our|either|instead|both|to|by|of|same|built-?in|native"
    r"|standard|library|improved|methods?|functions?|class(?:es)?|modules?|attribute|property|type"
    r"|hook|component|context|manager|helper|decorator|argument|parameter|option|keyword|macro"
    r"|trait|constructor|one|async|function call|more|explicit|python|direct(?:ly)?|like|with"
    r"|following|import(?:ing|s)?|call(?:ing|s)?|us(?:e|ing)|from|as|is|are|it)\b[\s:,(*_\[]*){0,6}"
    r"(?::[\w:]{1,30}:(?=`))?",
    re.IGNORECASE,
)
#: What may stand before a name in code marks.
_FEW_WORDS = lazy_pattern(
    r"\s*(?!(?:of|than|that|when|if)\b)(?:[\w'/-]+[\s,]+){0,4}(?::[\w:]{1,30}:)?[(*_]*"
)
_IMPORT = lazy_pattern(
    r"from\s+(?P<q>['\"]?)(?P<module>[\w@/.\-]+)(?P=q)\s+import\s+(?P<name>\w+)"
    r"|import\s+\{?\s*(?P<names>[\w]+)[^}]*\}?\s+from\s+['\"](?P<from>[\w@/.\-]+)['\"]"
)


_FIRST_NAME = lazy_pattern(rf"\W*(?:new |await |async )?@?({_NAME})")
_CALLED = lazy_pattern(r"\([^()]{0,80}\)|\[[^\[\]]{0,80}\]")
_DOTS = lazy_pattern(r"\.|::|#|/")


#: What is written as code and is the name of nothing that could take a place.
_CONSTANTS = frozenset(
    {"True", "False", "None", "true", "false", "null", "undefined", "self", "this", "import"}
    | {
        "instanceof",
        "typeof",
        "except",
        "from",
        "class",
        "def",
        "return",
        "if",
        "for",
        "with",
        "as",
        "try",
        "new",
        "async",
    }
    | {"DeprecationWarning", "FutureWarning", "PendingDeprecationWarning"}
)


_ABBREVIATIONS = frozenset({"e.g", "i.e", "a.k.a", "et.al"})


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    end: int
    name: str


@lru_cache(maxsize=4096)
def _pattern(last: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$]){re.escape(last)}(?![\w$])")


def find_replacements(text: str, old: str, *, own: bool = False) -> tuple[str, ...]:
    """Return the names that take the place of another one, as a text says; the surest first.

    Args:
        text: one line of Markdown.
        old: the name, or its last part.
        own: the text is about the name even where it does not mention it: a note of deprecation, or
            what stands below a heading with the name.
    """
    last = _last(old)
    text = text[:3000]
    if not last:
        return ()
    places = list(_places(text))
    mentions = [each.span() for each in list(_pattern(last).finditer(text))[:6]]
    found: dict[str, None] = {}
    if " | " in text:
        for each in _in_table(text, last):
            found.setdefault(each)
    if own:
        for each in _after(text, places, -1, 0, last):
            found.setdefault(each)
    for start, end in () if found else mentions:
        for each in (*_after(text, places, start, end, last), *_before(text, places, start, last)):
            found.setdefault(each)
    return tuple(found)[:MOST]


def _last(name: str) -> str:
    return _DOTS.split(name.rstrip("()!"))[-1]


def _places(text: str) -> Iterator[_Place]:
    for found in _CANDIDATE.finditer(text):
        name = found["bare"] or found["quoted"] or _of_code(found["code"] or "")
        if len(name) > 1 and name not in _CONSTANTS and name not in _ABBREVIATIONS:
            yield _Place(found.start(), found.end(), name.removesuffix("()"))


def _of_code(code: str) -> str:
    """Return the name that a piece of code is about; empty where there is none."""
    if imported := _IMPORT.search(code):
        module, name = imported["module"] or imported["from"], imported["name"] or imported["names"]
        return f"{module}.{name}"
    found = _FIRST_NAME.match(_CALLED.sub("", code))
    return found[1].lstrip("@") if found else ""


def _is_other(name: str, last: str) -> bool:
    """Return whether a name is not the one that goes: another, or the same in another place."""
    return _last(name) != last


def _after(text: str, places: list[_Place], start: int, end: int, last: str) -> Iterator[str]:
    """Yield the names behind a cue that stands behind a mention of what goes."""
    stop = min(len(text), end + _FAR)
    pauses = [each.end() for each in _PAUSE.finditer(text, end, stop)]
    if len(pauses) > 1:
        stop = pauses[1]
    olds = _run_back(text, places, start, end)
    mentioned = {each.name for each in olds} | {last}
    for begin, end_of_cue, plainly in _cues(text, olds, start, end, stop):
        first = _next_name(text, places, end_of_cue)
        if first is None and plainly:
            filler = _FILLER.match(text, end_of_cue, stop)
            plain = _PLAIN.match(text, filler.end() if filler else end_of_cue, stop)
            first = _Place(plain.start(), plain.end(), plain[0]) if plain else None
        if first is not None and (first.start >= stop or begin < end):
            continue
        run = _run(text, places, first) if first is not None else []
        if not run and text[begin:end_of_cue].lower() == "instead":
            run = _run_before(text, places, end, begin)
        if not run:
            continue
        if len(olds) == len(run) > 1:
            run = [run[next(at for at, e in enumerate(olds) if e.start <= start < e.end)]]
        others = [each.name for each in run if _is_other(each.name, last)]
        if others and text[begin:end_of_cue].lower().startswith("import"):
            # What a name is imported from is where it is, not what it is called.
            others = [f"{each}.{last}" for each in others if each.islower()]
        moved = [each.name for each in run if _is_elsewhere(each.name, last, mentioned)]
        if others or moved:
            yield from (others or moved)[:MOST]
            return


def _cues(
    text: str, olds: list[_Place], start: int, end: int, stop: int
) -> Iterator[tuple[int, int, bool]]:
    """Yield where cues begin and end, and whether a plain word may follow as a name."""
    behind = max([end, *(each.end for each in olds)])
    before = min([start, *(each.start for each in olds)])
    verb = _VERB.search(text, max(0, before - 200), before) if start >= 0 else None
    if verb is not None and (found := _TO.match(text, behind, stop)) is not None:
        yield behind, found.end(), verb[0].lower().startswith("renam")
    for cue in _CUES.finditer(text, end, stop):
        near = _NEGATED.search(text, max(0, cue.start() - 16), cue.start())
        if near is None and _NOT_NEEDED.search(text, max(0, start - 60), cue.start()) is None:
            word = cue[0].lower()
            yield cue.start(), cue.end(), word.startswith("renam") or not word[0].isalpha()
    if start < 0:
        for cue in _SEE.finditer(text, 0, stop):
            yield cue.start(), cue.end(), False


#: "No longer require `a` to use `b`" says nothing of what takes a place.
_NOT_NEEDED = lazy_pattern(
    r"\b(?:do(?:es)? not|don't|no longer|not)\s+(?:requir|need|forc)[^;]{1,80}\bto\s+$",
    re.IGNORECASE,
)
_NEGATED = lazy_pattern(
    r"\b(?:not|don't|never|no longer|cannot|stop|can be|was|were)\s+$", re.IGNORECASE
)


def _is_elsewhere(name: str, last: str, mentioned: set[str]) -> bool:
    """Return whether a name is the one that goes, in another place than it is mentioned in."""
    return _last(name) == last and len(_DOTS.split(name)) > 1 and name not in mentioned


def _next_name(text: str, places: list[_Place], begin: int) -> _Place | None:
    """Return the name that a cue is about: the next one, if hardly a word is before it."""
    first = next((each for each in places if each.start >= begin), None)
    if first is None or _FILLER.fullmatch(text, begin, first.start):
        return first
    marked = text[first.start] == "`"
    return first if marked and _FEW_WORDS.fullmatch(text, begin, first.start) else None


def _run(text: str, places: list[_Place], first: _Place) -> list[_Place]:
    """Return the names of an enumeration that begins with one."""
    run = [first]
    for each in places:
        if each.start < run[-1].end:
            continue
        joint = _JOINT.fullmatch(text, run[-1].end, each.start)
        if joint is None or len(run) == 8:
            break
        run.append(each)
    return run


def _run_before(text: str, places: list[_Place], end: int, cue: int) -> list[_Place]:
    """Return the names of a sentence that ends in "instead", behind what goes."""
    pauses = [each.end() for each in _PAUSE.finditer(text, end, cue)]
    begin = pauses[-1] if pauses else end
    if _NEGATED.search(text, begin, cue) or cue - begin > _FAR:
        return []
    inside = [each for each in places if begin <= each.start and each.end <= cue]
    if not inside or not _FEW_WORDS.fullmatch(text, begin, inside[0].start):
        return []
    return _run(text, places, inside[0])


def _run_back(text: str, places: list[_Place], start: int, end: int) -> list[_Place]:
    """Return the names of the enumeration that a mention is in."""
    here = [each for each in places if each.start <= start and end <= each.end + 1]
    if not here:
        return []
    run = here[:1]
    for each in reversed([p for p in places if p.end <= run[0].start]):
        if _JOINT.fullmatch(text, each.end, run[0].start) is None or len(run) == 8:
            break
        run.insert(0, each)
    tail = _run(text, places, run[-1])
    return [*run, *tail[1:]]


def _before(text: str, places: list[_Place], start: int, last: str) -> Iterator[str]:
    """Yield the name before what says that it replaces a mention."""
    own = next((each for each in places if each.start <= start < each.end), None)
    # Of an enumeration the first stands behind the cue.
    run = _run_back(text, places, start, own.end) if own is not None else []
    mark = run[0].start if run else own.start if own is not None else start
    begin = max(0, mark - _FAR)
    cue = _REVERSED.search(text, begin, mark)
    if cue is None:
        return
    here = {last} | {each.name for each in places if each.start <= start < each.end}
    previous = [
        each
        for each in places
        if begin <= each.start and each.end <= cue.start()
        if _is_other(each.name, last) or _is_elsewhere(each.name, last, here)
    ]
    if previous and not _PAUSE.search(text, previous[-1].end, cue.start()):
        yield previous[-1].name


def _in_table(text: str, last: str) -> Iterator[str]:
    """Yield the name in the cell behind the one that names what goes."""
    cells = text.split(" | ")
    for cell, following in pairwise(cells):
        named = [each.name for each in _places(cell)] or _PLAIN.findall(cell)[:1]
        if any(_last(each) == last for each in named) and len(cell) < 200:
            names = [each.name for each in _places(following)]
            yield from [each for each in names if _is_other(each, last)][:1]
            return
