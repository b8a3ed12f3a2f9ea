"""The tool ``ask``: one search over all that a project uses, answered with whole passages."""

from __future__ import annotations

import json
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from docstow import languages
from docstow.core.errors import (
    CrateNotFound,
    DocstowError,
    EnvironmentNotFound,
    Forbidden,
    InvalidParameter,
)
from docstow.index.render import item_docs
from docstow.languages.projects.lock_text import guess_language, parse_lock
from docstow.languages.rust.cargo_lock import parse
from docstow.library import ResolvedVersion
from docstow.text.paging import CHARACTERS_PER_TOKEN
from docstow.tools import COUNT, TEXT, Answer, Tool, fit, json_size, result_schema
from docstow.tools.parameters import LOCKFILE, Parameter
from docstow.tools.screening import kept

if TYPE_CHECKING:
    from docstow.index.search_pages import ChunkHit
    from docstow.ingest.packages import InstalledPackage
    from docstow.languages.projects import Projects
    from docstow.library import Library
    from docstow.library.guides import Guide
    from docstow.library.prose import Prose

#: So many packages are searched at most, and so many hits of each kind are looked at.
_MOST_PACKAGES = 60
_DEPTH = 12
#: Seconds for reading installed packages that are not stowed yet.
_READING_S = 10.0
#: What one kind may take of the budget while others have something to say.
_SHARES = {"item": 0.5, "passage": 0.6, "example": 0.3}
#: What the best item of a search may take of the budget, what another may, and the least of a
#: text that is cut.
_LARGEST_ITEM = 0.4
_FURTHER_ITEM = 0.15
_LEAST = 400
#: What is left of the budget to other sources than those that the question names.
_OTHERS = 0.2
#: What a score counts where the question names other sources than the candidate's.
_UNNAMED = 0.6
#: Words of titles that say nothing of what a source is about.
_COMMON = frozenset({"api", "book", "docs", "documentation", "guide", "manual", "reference", "the"})
#: Packages that are named where they are not stowed.
_MOST_NAMES = 10
#: Characters that a result has beside its text.
_AROUND = 350


@dataclass(slots=True)
class _Scope:
    """What is searched, and what is left out."""

    packages: dict[str, ResolvedVersion] = field(default_factory=dict)
    missing: list[dict[str, Any]] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def add(self, found: ResolvedVersion) -> None:
        self.packages.setdefault(found.snapshot.id, found)

    def limit(self, question: _Words) -> None:
        """Leave the packages that the question names, then as many of each language."""
        if (total := len(self.packages)) <= _MOST_PACKAGES:
            return
        places: Counter[str] = Counter()
        order: dict[str, tuple[bool, int]] = {}
        for key, each in self.packages.items():
            language = _language(each).name
            order[key] = (not question.names(each.name), places[language])
            places[language] += 1
        kept = sorted(self.packages, key=order.__getitem__)[:_MOST_PACKAGES]
        self.packages = {key: self.packages[key] for key in kept}
        self.notices.append(f"{_MOST_PACKAGES} of {total} packages are searched")


class _Words:
    """The words of a question, to see which sources it names."""

    def __init__(self, question: str) -> None:
        self._question = question
        self._words = {_fold(each) for each in question.split()}

    def names(self, name: str) -> bool:
        """Return whether the name of a package is one of the words, without its scope."""
        return _fold(name.rpartition("/")[2]) in self._words

    def without(self, names: Iterable[str]) -> str:
        """Return the question without the first mention of each name, or whole if nothing is left.

        Within a package its name says nothing, and items that spell it would come first.
        """
        left = self._question.split()
        for name in {_fold(each.rpartition("/")[2]) for each in names}:
            folded = [_fold(each) for each in left]
            if name in folded:
                del left[folded.index(name)]
        return " ".join(left) if any(map(_fold, left)) else self._question

    def mentions(self, title: str) -> bool:
        """Return whether a word of a source's title is one, other than what many are called."""
        own = {_fold(each) for each in title.split()} - _COMMON
        return not self._words.isdisjoint(own - {""})


def _fold(word: str) -> str:
    return re.sub(r"[^a-z0-9]", "", word.lower())


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A result before it is known whether it fits.

    Attributes:
        kind: ``item``, ``passage`` or ``example``.
        score: of its search, 0 to 1.
        row: what is said of it beside the text.
        text: what it shows.
        named: whether the question names its source.
    """

    kind: str
    score: float
    row: Mapping[str, Any]
    text: str
    named: bool


def tool(library: Library, prose: Prose, projects: Projects) -> Tool:
    """Make the tool, bound to what is stowed and to the projects that may be looked into."""
    result = result_schema(
        {
            "kind": {"type": "string", "enum": list(_SHARES)},
            "score": {"type": "number", "minimum": 0, "maximum": 1},
            "source": TEXT,
            "version": TEXT,
            "title": TEXT,
            "url": TEXT,
            "text": TEXT,
            "next": {"type": "object", "required": ["tool", "arguments"]},
        }
    )
    texts = {"type": "array", "items": TEXT}
    return Tool(
        name="ask",
        toolset="docs",
        title="Ask everything",
        description=(
            "Answers from all that the project uses: its packages' items and examples, and all "
            "stowed pages, within max_tokens, each with its version and the call that reads on. "
            'Example: {"question": "retry a failed request"}.'
        ),
        parameters=(
            Parameter("question", "string", "What to answer", required=True, max_length=500),
            Parameter("max_tokens", "integer", "Budget", default=2000, minimum=200, maximum=25000),
            Parameter("root", "string", "Project", default="", max_length=1000),
            LOCKFILE,
            Parameter("sources", "array", "Ids or titles", max_length=50),
        ),
        run=partial(_ask, library, prose, projects),
        output_schema={
            "type": "object",
            "properties": {
                "searched": {
                    "type": "object",
                    "properties": {"packages": COUNT, "sources": texts},
                },
                "not_stowed": {"type": "array", "items": {"type": "object"}},
                "notice": TEXT,
                "results": {"type": "array", "items": result},
            },
            "required": ["searched", "results"],
        },
    )


def _ask(
    library: Library, prose: Prose, projects: Projects, arguments: Mapping[str, Any]
) -> Answer:
    question = arguments["question"].strip()
    if not question:
        raise InvalidParameter("question", "must say what is looked for")
    scope = _find_scope(library, projects, question, arguments)
    return Answer(_answer(library, prose, scope, question, arguments))


def search_stowed(library: Library, prose: Prose, question: str, tokens: int) -> dict[str, Any]:
    """Return what the tool answers from all that is stowed, whatever a project uses.

    Args:
        library: the crates and packages.
        prose: the pages.
        question: what is looked for; not empty.
        tokens: for all results together.
    """
    scope = _Scope()
    _add_stowed(library, scope, question)
    return _answer(library, prose, scope, question, {"max_tokens": tokens})


def _answer(
    library: Library,
    prose: Prose,
    scope: _Scope,
    question: str,
    arguments: Mapping[str, Any],
) -> dict[str, Any]:
    limit = arguments["max_tokens"] * CHARACTERS_PER_TOKEN
    others: set[str] = set()
    guides: dict[str, Guide] = {}
    if library.guides is not None:
        words = _Words(question)
        for each in scope.packages.values():
            # The websites of those that are asked about are wanted now.
            if words.names(each.name) and (guide := library.guides.find(each.snapshot)):
                scope.notices += [guide.notice] if guide.notice else []
                if guide.registration is not None:
                    guides[guide.registration.id] = guide
        others = library.guides.others(each.snapshot for each in scope.packages.values())
    candidates = list(_search_packages(library, scope, question, limit))

    def fits(hit: ChunkHit) -> bool:
        of = guides.get(hit.source_id)
        return of is None or of.holds(hit.url)

    wanted = arguments.get("sources") or ()
    pages, sources = _search_prose(prose, question, wanted, limit, others, fits)
    found = kept([*candidates, *pages], lambda each: {**each.row, "text": each.text})
    results = _choose(question, found, limit)
    notices = scope.notices
    if len(scope.missing) > _MOST_NAMES:
        notices.append(f"{len(scope.missing)} packages of the project are not stowed")
    if not results:
        notices.append(
            "nothing answers; use other words"
            if scope.packages or sources
            else "nothing is stowed yet; ingest packages, or add a source with create_source"
        )
    return {
        "searched": {"packages": len(scope.packages), "sources": sources},
        **({"not_stowed": scope.missing[:_MOST_NAMES]} if scope.missing else {}),
        **({"notice": "; ".join(notices)} if notices else {}),
        "results": results,
    }


# What is searched


def _find_scope(
    library: Library, projects: Projects, question: str, arguments: Mapping[str, Any]
) -> _Scope:
    """Return the stowed packages of the project, or all that are stowed where there is none."""
    scope = _Scope()
    root = arguments["root"].strip()
    if arguments["lockfile"]:
        _add_locked(library, scope, arguments["lockfile"])
        if not root:
            return scope
    try:
        _add_project(library, projects, scope, question, root)
    except (EnvironmentNotFound, Forbidden, InvalidParameter):
        if root:
            raise
        scope.notices.append("no project is at hand: all that is stowed is searched")
        _add_stowed(library, scope, question)
    return scope


def _add_locked(library: Library, scope: _Scope, lockfile: str) -> None:
    """Add what a project asks for itself, by its lock file of any language."""
    language = guess_language(lockfile)
    if not language.packaged:
        for name, version in parse(lockfile).direct().items():
            _add_crate(library, scope, name, version)
        return
    for name, version in parse_lock(lockfile, language).direct().items():
        if (snapshot := library.installed.stored(language, name, version)) is not None:
            scope.add(ResolvedVersion(version, snapshot))
        else:
            scope.missing.append(_name_missing(name, version, language))


def _add_project(
    library: Library, projects: Projects, scope: _Scope, question: str, root: str
) -> None:
    _, scan = projects.scan(root)
    rust = languages.RUST.spelling.ecosystem
    direct = [each for each in scan.packages if each.direct]
    for each in direct:
        if each.ecosystem == rust:
            _add_crate(library, scope, each.name, each.version)
    installed = library.installed.of_project(root) if any(e.installed for e in direct) else []
    # Those that the question names are read first.
    words = _Words(question)
    until = time.monotonic() + _READING_S
    for package in sorted(installed, key=lambda each: not words.names(each.source.name)):
        _add_installed(library, scope, package, until)
    scope.limit(words)


def _add_crate(library: Library, scope: _Scope, name: str, version: str) -> None:
    found = library.stowed(name, version)
    if found is not None:
        scope.add(found)
        return
    call = {"tool": "get_package_summary", "arguments": {"package": name, "version": version}}
    scope.missing.append({"name": name, "version": version, "get": call})


def _add_installed(
    library: Library, scope: _Scope, package: InstalledPackage, until: float
) -> None:
    source = package.source
    language = languages.of_kind(source.kind)
    if language is None:
        return
    snapshot = library.installed.stowed(package)
    if snapshot is None and time.monotonic() < until:
        try:
            snapshot = library.installed.ingest(package)
        except DocstowError as error:
            scope.notices.append(f"{package} cannot be read: {error.message}")
            return
    if snapshot is not None:
        scope.add(ResolvedVersion(source.version, snapshot))
        return
    scope.missing.append(_name_missing(source.name, source.version, language))


def _name_missing(name: str, version: str, language: languages.Language) -> dict[str, Any]:
    """Return a package that is not stowed, with the call that stows it."""
    arguments = {"package": name, "language": language.name, "version": version}
    call = {"tool": "get_package_summary", "arguments": arguments}
    return {"name": name, "version": version, "get": call}


def _add_stowed(library: Library, scope: _Scope, question: str) -> None:
    from docstow.index.search import ItemFilters

    try:
        for found, _ in library.across(question, ItemFilters()):
            scope.add(found)
    except CrateNotFound:
        pass
    for language in languages.documented():
        if language.packaged:
            for found in library.packages(language, question):
                scope.add(found)


# What is found


def _search_packages(
    library: Library, scope: _Scope, question: str, limit: int
) -> Iterator[_Candidate]:
    from docstow.index.search import ItemFilters, SearchedCrate, search_across_crates
    from docstow.index.search_pages import example_hit, search_examples

    current = [library.current(each) for each in scope.packages.values()]
    stowed = [each for each, _ in current]
    scope.notices += [each.notice for each in stowed if each.notice]
    indexes = library.indexes([each.snapshot for each in stowed])
    suits = library.suits(question, stowed)
    largest = int(limit * _LARGEST_ITEM)
    words = _Words(question)
    named = [words.names(each.name) for each in stowed]
    within = words.without(each.name for each in stowed)
    for packaged, wanted in product((False, True), (True, False)):
        chosen = [
            n
            for n, each in enumerate(stowed)
            if _language(each).packaged == packaged and named[n] == wanted
        ]
        crates = [SearchedCrate(indexes[n], current[n][1], suits[n]) for n in chosen]
        query = within if wanted else question
        hits = search_across_crates(crates, query, limit=_DEPTH, filters=ItemFilters())
        for place, found in enumerate(hits):
            number, hit = chosen[found.crate], found.hit
            text = item_docs(indexes[number], indexes[number].row(hit.path, hit.kind))
            text = fit(text, int(limit * _FURTHER_ITEM) if place else largest)
            row = _describe(stowed[number], hit.path, hit.kind, hit.url)
            yield _Candidate("item", hit.score, row, text, wanted)
    by_name = {each.snapshot.revision.source.name: each for each in stowed}
    embedder = library.open_embedder()
    for wanted in (True, False):
        of = [index for index, is_named in zip(indexes, named, strict=True) if is_named == wanted]
        query = within if wanted else question
        ranked = search_examples(of, embedder, query, limit=_DEPTH)
        for place, example in enumerate(map(example_hit, ranked)):
            stowed_in = by_name[example.source_id]
            code = f"{example.context}\n\n```{example.language}\n{example.code}\n```".strip()
            if len(code) <= largest:
                row = _describe(stowed_in, example.path, "", example.url)
                yield _Candidate("example", 1 / (place + 2), row, code, wanted)


def _language(stowed: ResolvedVersion) -> languages.Language:
    return languages.of_kind(stowed.snapshot.revision.source.kind) or languages.RUST


def _describe(stowed: ResolvedVersion, path: str, kind: str, url: str) -> dict[str, Any]:
    language = _language(stowed)
    arguments = {"package": stowed.name, "item_path": path, "version": stowed.version}
    if language.packaged:
        arguments["language"] = language.name
    return {
        "source": f"{stowed.name} ({language.name})",
        "version": stowed.version,
        "title": f"{kind} {path}".strip(),
        "url": url,
        "next": {"tool": "get_item_doc", "arguments": arguments},
    }


def _search_prose(
    prose: Prose,
    question: str,
    sources: Sequence[str],
    limit: int,
    without: Collection[str],
    fits: Callable[[ChunkHit], bool],
) -> tuple[list[_Candidate], list[str]]:
    """Return passages, merged by page, and the titles of what was searched.

    Args:
        prose: what was synced.
        question: what is looked for.
        sources: those that are asked for; all but ``without`` where none are.
        limit: characters of what is found.
        without: ids of sources on other versions than those that the project uses.
        fits: whether a hit is not of another version.
    """
    from docstow.index.excerpts import make_excerpts

    hits, parts = prose.search(question, source_ids=sources, limit=4 * _DEPTH, without=without)
    hits = list(filter(fits, hits))
    words = _Words(question)
    named = {each.id for each, _ in parts if words.mentions(each.title)}
    hits = [each for each in hits if each.source_id in named] or hits
    indexes = {registration.id: prose.index(snapshot) for registration, snapshot in parts}
    of = {registration.id: (registration, snapshot) for registration, snapshot in parts}
    excerpts, _ = make_excerpts(
        lambda hit: indexes[hit.source_id],
        hits[:_DEPTH],
        limit if indexes else 0,
        around=_AROUND,
    )
    found = []
    for each in excerpts:
        registration, snapshot = of[each.hit.source_id]
        version = snapshot.revision.version or f"{snapshot.created_at:%Y-%m-%d}"
        row = {
            "source": registration.title or registration.uri,
            "version": version,
            "title": each.hit.heading_path or each.hit.title,
            "url": each.hit.url,
            "next": {"tool": "get_doc", "arguments": {"doc": each.hit.document_id}},
        }
        is_named = registration.id in named
        found.append(_Candidate("passage", each.hit.score, row, each.text, is_named))
    return found, [registration.title for registration, _ in parts]


# What is shown


def _choose(question: str, candidates: Sequence[_Candidate], limit: int) -> list[dict[str, Any]]:
    """Return the best candidates within the budget: first none above its kind's share, then any.

    What the question names is taken before, up to its part of the budget.
    """
    scored = sorted(_scored(question, candidates), key=lambda pair: -pair[0])
    named = [place for place, (_, each) in enumerate(scored) if each.named]
    chosen: dict[int, dict[str, Any]] = {}
    for places, most in ((named, limit * (1 - _OTHERS)), (range(len(scored)), limit)):
        kinds = {scored[place][1].kind for place in places}
        for shares in (_SHARES, dict.fromkeys(_SHARES, 1.0)):
            for place in places:
                _take(chosen, place, scored[place], most, shares if len(kinds) > 1 else {})
    return [chosen[place] for place in sorted(chosen)]


def _take(
    chosen: dict[int, dict[str, Any]],
    place: int,
    scored: tuple[float, _Candidate],
    limit: float,
    shares: Mapping[str, float],
) -> None:
    """Add a candidate to those that are chosen where it fits; the first one is cut until it does.

    Args:
        chosen: by their places.
        place: its own.
        scored: it and its score.
        limit: characters of all together.
        shares: what its kind may take of them; everything where it is not there.
    """
    score, each = scored
    if place in chosen or any(each.text in other["text"] for other in chosen.values()):
        return
    row = {"kind": each.kind, "score": round(score, 3), **each.row, "text": each.text}
    if not chosen and (over := _size(row) - limit) > 0:
        row["text"] = fit(each.text, max(json_size(each.text) - int(over), _LEAST))
    size = _size(row)
    used = sum(map(_size, chosen.values()))
    of_kind = sum(_size(other) for other in chosen.values() if other["kind"] == each.kind)
    share = limit * shares.get(each.kind, 1.0)
    if not chosen or (used + size <= limit and of_kind + size <= share):
        chosen[place] = row


def _size(row: Mapping[str, Any]) -> int:
    return len(json.dumps(row, ensure_ascii=False))


def _scored(question: str, candidates: Sequence[_Candidate]) -> Iterator[tuple[float, _Candidate]]:
    """Yield candidates with scores that can be compared between kinds.

    That is the mean of the score in its own search, relative to that search's best, and of the
    share of the question's words that it has, each weighed by how few candidates have it. It is
    less where the question names another source.
    """
    from docstow.text import bm25

    terms = set(bm25.query_tokens(question))
    has = [
        terms & set(bm25.prose_tokens(f"{each.row['source']} {each.row['title']} {each.text}"))
        for each in candidates
    ]
    weights = {
        term: math.log(1 + len(candidates) / (1 + sum(term in each for each in has)))
        for term in terms
    }
    total = sum(weights.values()) or 1.0
    some_named = any(each.named for each in candidates)
    best: dict[tuple[str, bool], float] = {}
    for each in candidates:
        of = each.kind, each.named
        best[of] = max(best.get(of, 0.0), each.score)
    for each, words in zip(candidates, has, strict=True):
        highest = best[each.kind, each.named]
        own = each.score / highest if highest > 0 else 0.0
        score = (own + sum(weights[term] for term in words) / total) / 2
        yield score if each.named or not some_named else score * _UNNAMED, each
