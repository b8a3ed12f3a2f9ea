"""Guides of packages: the pages that they carry, and the websites that their metadata names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from docstow.core import auth
from docstow.core.errors import DocstowError
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass
from docstow.core.urls import canonical_url, directory_of, site_of
from docstow.ingest.overview import is_site
from docstow.sources.site.versions import (
    SiteVersions,
    VersionPlace,
    family,
    find_place,
    is_of,
    labels,
)
from docstow.text.chunking import split_chunks
from docstow.text.headings import find_anchor, slugs
from docstow.text.paging import CHARACTERS_PER_TOKEN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from docstow.core.model import Document, Registration, Snapshot
    from docstow.embedding import Embedder
    from docstow.index.loaded import Index
    from docstow.library.requests import SyncRequests
    from docstow.sources.presets import Preset
    from docstow.sources.registry import Registry

SITE = "site"
ASK, AUTO, NEVER = "ask", "auto", "never"
_CODE = lazy_pattern(r"```.*?```|~~~.*?~~~|``[^`]+``|`[^`\n]+`", re.DOTALL)
#: Names shorter than this are told from words only with their owner.
_SHORTEST = 3
#: Characters of the line that is shown of a passage.
_LONGEST_LINE = 160
#: How a page that tells of an item ranks by what it is, the best first.
_ROLES = ("site", "guide", "readme", "example", "changelog")


@dataclass(frozen=True, slots=True)
class Guide:
    """The website of a package.

    Attributes:
        url: canonical.
        registration: the source that has it; None where there is none.
        snapshot: what answers for that source; None where it was never synced.
        notice: what a caller should know: how to add it, that it is being read, or of which
            version it is.
        place: where its addresses have a version, with that which is for the package; None where
            the site does not tell versions apart.
    """

    url: str
    registration: Registration | None = None
    snapshot: Snapshot | None = None
    notice: str = ""
    place: VersionPlace | None = None

    def holds(self, url: str) -> bool:
        """Return whether a page of the site is not one of another version."""
        if self.place is None:
            return True
        place = find_place(url)
        return place is None or place.root != self.place.root or place.label == self.place.label


@dataclass(frozen=True, slots=True)
class GuidePassage:
    """A passage of a package's own pages.

    Attributes:
        document: the page.
        heading_path: the headings above it, outermost first.
        text: Markdown as it stands there.
        url: where a person reads it.
        score: of the page, from 0 to 1.
    """

    document: Document
    heading_path: str
    text: str
    url: str
    score: float


@dataclass(frozen=True, slots=True)
class Mention:
    """Where a guide names an item: a heading, a line, and an address or a page's path."""

    heading: str
    line: str
    place: str


class Guides:
    """Finds the guides of packages, and has their websites read when they are first wanted.

    Args:
        registry: the registered sources.
        newest: returns what answers for a source now.
        open_index: returns the loaded tables of a snapshot of pages.
        open_sync: opens what has them synced.
        preset_of: returns how a known website is read, by its addresses.
        versions: finds the part of a website for a version.
        mode: whether a website that is not registered is added (``auto``), named (``ask``) or
            passed over (``never``).
    """

    def __init__(
        self,
        registry: Registry,
        newest: Callable[[Registration], Snapshot | None],
        open_index: Callable[[Snapshot], Index],
        open_sync: Callable[[], SyncRequests],
        preset_of: Callable[..., Preset | None],
        versions: SiteVersions,
        mode: str,
    ) -> None:
        self._preset_of = preset_of
        self._versions = versions
        self._registry = registry
        self._newest = newest
        self._open_index = open_index
        self._open_sync = open_sync
        self._mode = mode
        self._begun: set[str] = set()
        self._places: dict[str, dict[tuple[str, str], VersionPlace]] = {}

    def find(self, snapshot: Snapshot) -> Guide | None:
        """Return the website of a package, added and being read by now where that is allowed.

        A source that was registered for the site, or for a part of it that the package is in,
        answers whoever registered it; so packages of one site share it.
        """
        url = str(snapshot.facts.get("site", ""))
        if not url:
            return None
        version = snapshot.revision.version
        registration = self._registered_for(url, version)
        if registration is None and not auth.sees(
            SITE, canonical_url(url) if is_site(url) else url
        ):
            return None
        if registration is None and self._mode == AUTO and self._may_add(url):
            return self._find_or_add(snapshot, url)
        registration = registration or self._registered(url)
        if registration is not None:
            return self._guide(registration, url, version)
        return None if self._mode == NEVER else Guide(url, notice=_offer(_name(snapshot), url))

    def others(self, snapshots: Iterable[Snapshot]) -> set[str]:
        """Return the ids of sources that are of other versions than those of some packages.

        Nothing is added and no site is asked.
        """
        linked: dict[str, str] = {}
        for snapshot in snapshots:
            if url := str(snapshot.facts.get("site", "")):
                version = snapshot.revision.version
                found = self._registered_for(url, version) or self._registered(url)
                if found is not None:
                    linked[found.id] = found.uri
        families = set(map(family, linked.values()))
        return {
            each.id
            for each in self._sites()
            if each.id not in linked and family(each.uri) in families
        }

    def mentions(self, index: Index, row: int, most: int) -> list[Mention]:
        """Return where a package's guides name an item in code, the clearest first.

        Args:
            index: the package.
            row: the item's.
            most: the largest number.
        """
        path, title = str(index.columns["path"][row]), str(index.columns["title"][row])
        name = _named_in_code(path, title, index.language.separator)
        found = list(_mentions_in_pages(index, name, title))
        guide = self.find(index.snapshot)
        if guide is not None and guide.snapshot is not None:
            found += _mentions_in_site(self._open_index(guide.snapshot), guide, name, title)
        best = sorted(found, key=lambda each: each[0])
        lines: dict[str, Mention] = {}
        for _, mention in best:
            lines.setdefault(mention.place, mention)
        return list(lines.values())[:most]

    def _sites(self) -> list[Registration]:
        return [each for each in self._registry.all() if each.kind == SITE]

    def _registered(self, url: str) -> Registration | None:
        """Return the source that has a site: of the same address, else the nearest above it."""
        above = [each for each in self._sites() if _is_within(url, each.uri)]
        return max(above, key=lambda each: len(each.uri), default=None)

    def _registered_for(self, url: str, version: str) -> Registration | None:
        """Return the source of a site that is for a version or its series, by its address."""
        own = family(url)
        found = [
            (labels(version).index(place.label.lower()), each)
            for each in self._sites()
            if family(each.uri) == own
            and (place := find_place(each.uri)) is not None
            and is_of(place.label, version)
        ]
        return min(found, key=lambda each: each[0])[1] if found else None

    def _guide(self, registration: Registration, url: str, version: str) -> Guide:
        """Return what a source answers for a package with."""
        made = self._newest(registration)
        if made is None:
            return Guide(url, registration, None, _reading(registration.uri))
        place = find_place(registration.uri) or self._place_in(made, version)
        notice = f"guide of {place.label} for {version}" if place is not None else ""
        return Guide(url, registration, made, notice, place)

    def _place_in(self, snapshot: Snapshot, version: str) -> VersionPlace | None:
        """Return where a site that was read whole has the pages of a version, if it has any."""
        if snapshot.id not in self._places:
            urls = self._open_index(snapshot).columns["url"]
            found = filter(None, (find_place(str(url)) for url in urls))
            self._places[snapshot.id] = {(each.root, each.label): each for each in found}
        places = self._places[snapshot.id].values()
        fitting = [each for each in places if is_of(each.label, version)]
        return min(fitting, key=lambda each: (len(each.root), len(each.label)), default=None)

    def _may_add(self, url: str) -> bool:
        """Return whether a caller may have a website added."""
        try:
            auth.require_credential(f"the guide {url} is not stowed yet")
        except DocstowError:
            return False
        return True

    def _find_or_add(self, snapshot: Snapshot, url: str) -> Guide | None:
        """Return the part of a site for a package's version, added where it is not there."""
        version = snapshot.revision.version
        preset = self._preset_of(url)
        begin = preset.uri if preset is not None and family(preset.uri) != family(url) else url
        site = self._versions.nearest(begin, version)
        if preset is None and (preset := self._preset_of(site.url, *site.aliases)) is not None:
            site = self._versions.nearest(preset.uri, version)
        chosen = canonical_url(site.url) if is_site(site.url) else url
        registration = self._registered(chosen)
        if registration is not None:
            return self._guide(registration, url, version)
        if not auth.sees(SITE, chosen):
            return None
        name = _name(snapshot)
        if chosen in self._begun:
            return Guide(url, notice=_offer(name, chosen))
        self._begun.add(chosen)
        try:
            if any(each.registration.uri == chosen for each in self._registry.deleted()):
                return Guide(url, notice=_offer(name, chosen))
            place = find_place(chosen)
            title = preset.title if preset else f"{name} guide"
            registration, _ = self._registry.create(
                SITE,
                chosen,
                title=f"{title} {place.label}" if place is not None else title,
                options=_options(preset, chosen) if preset else None,
            )
            self._open_sync().start(registration.id)
        except DocstowError as error:
            return Guide(url, notice=f"the guide {chosen} cannot be added: {error.message}")
        return Guide(url, registration, None, _reading(chosen))


def search_own(
    index: Index, embedder: Embedder | None, query: str, limit: int
) -> list[GuidePassage]:
    """Return the best passages of the pages that a package carries, one of each page.

    Args:
        index: the package.
        embedder: the model that made the index's vectors; None: words alone count.
        query: what is looked for.
        limit: the largest number.
    """
    from docstow.index.search import ItemFilters, search_items
    from docstow.text import bm25

    if "page" not in index.columns["kind"]:
        return []
    terms = set(bm25.query_tokens(query))
    filters = ItemFilters(kinds=("page",))
    found = []
    for hit in search_items(index, embedder, query, limit=limit, filters=filters):
        document = index.document(index.row(hit.path, hit.kind))
        chunks = _chunks(document)
        # The passage that the search found, else that with most of the question's words.
        best = max(
            chunks,
            key=lambda each: (
                len(terms & set(bm25.prose_tokens(f"{each[0]} {each[1]}")))
                + (each[0] == hit.heading_path)
            ),
            default=("", document.text, document.url),
        )
        found.append(GuidePassage(document, *best, hit.score))
    return found


def _chunks(document: Document) -> list[tuple[str, str, str]]:
    """Return headings, text and address of each passage of a page."""
    made = split_chunks(document.text, lambda text: len(text) // CHARACTERS_PER_TOKEN + 1)
    found = []
    for each in made:
        heading = each.heading_path.rpartition(" > ")[2]
        fragment = slugs([heading])[0] if heading else ""
        found.append((each.heading_path, each.text, _with_fragment(document.url, fragment)))
    return found


def _with_fragment(url: str, fragment: str) -> str:
    return f"{url}#{fragment}" if url and fragment and "#" not in url else url


def _named_in_code(path: str, title: str, separator: str) -> re.Pattern[str]:
    """Return what finds an item's name in code; ``whole`` is with its owner."""
    owner = path.rpartition(separator)[0].rpartition(separator)[2]
    name = re.escape(title)
    qualified = rf"{re.escape(owner)}{re.escape(separator)}{name}" if owner else re.escape(path)
    if len(title) < _SHORTEST or title.startswith("_"):
        return re.compile(rf"(?<!\w)(?P<whole>{qualified})(?!\w)")
    return re.compile(rf"(?<!\w)(?:(?P<whole>{qualified})|{name})(?!\w)")


def _mentions_in_pages(
    index: Index, name: re.Pattern[str], title: str
) -> Iterator[tuple[tuple[int, ...], Mention]]:
    rows = [row for row, kind in enumerate(index.columns["kind"]) if kind == "page"]
    for document in index.documents(rows) if rows else ():
        if title not in document.text:
            continue
        role = str(document.attributes.get("role", "readme"))
        for place, (heading, text, _) in enumerate(_chunks(document)):
            fragment = slugs([heading.rpartition(" > ")[2]])[0] if heading else ""
            where = _with_fragment(document.path, fragment)
            yield from _mention(name, title, (heading, text, where), role, place)


def _mentions_in_site(
    index: Index, guide: Guide, name: re.Pattern[str], title: str
) -> Iterator[tuple[tuple[int, ...], Mention]]:
    texts = index.passages["text"]
    for row in [row for row, text in enumerate(texts) if title in text]:
        passage = index.passage(row)
        document = index.document(passage.document)
        if not guide.holds(document.url):
            continue
        heading = passage.heading_path or document.title
        attributes = document.attributes
        fragment = find_anchor(
            document.text,
            attributes.get("anchors", ()),
            passage.heading_path,
            passage.text,
            attributes.get("terms", ()),
        )
        where = _with_fragment(document.url, fragment)
        yield from _mention(name, title, (heading, passage.text, where), "site", row)


def _mention(
    name: re.Pattern[str], title: str, passage: tuple[str, str, str], role: str, place: int
) -> Iterator[tuple[tuple[int, ...], Mention]]:
    """Yield a passage that names an item in code, with what it is sorted by."""
    heading, text, where = passage
    code = "\n".join(_CODE.findall(text))
    found = list(name.finditer(code))
    if not found:
        return
    headed = title.lower() in heading.lower()
    whole = any(each["whole"] for each in found)
    line = next((each for each in text.splitlines() if _is_line(each) and title in each), "")
    line = line or next((each for each in text.splitlines() if _is_line(each)), "")
    line = " ".join(line.split())
    shown = line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 1]}…"
    order = (role == "changelog", not headed, not whole, _ROLES.index(role), -len(found), place)
    yield tuple(map(int, order)), Mention(heading, shown, where)


def _is_line(line: str) -> bool:
    """Return whether a line is prose or code that says something: no heading, fence or rule."""
    return bool(re.match(r"\s*(?:[-*>] )?[\w`\[(*_]", line)) and not line.startswith(("```", "#"))


def _name(snapshot: Snapshot) -> str:
    return snapshot.revision.source.name


def _is_within(url: str, above: str) -> bool:
    """Return whether an address is another or lies below it, on the same host."""
    if site_of(url) != site_of(above):
        return False
    return url == above or f"{urlsplit(url).path}/".startswith(f"{directory_of(above)}/")


def _options(preset: Preset, url: str) -> dict[str, Any]:
    """Return a preset's options for another version of its site."""
    options = dict(preset.options)
    place = find_place(url)
    prefixes = []
    for prefix in options.pop("path_prefixes", ()):
        own = find_place(f"{site_of(url)}{prefix}")
        prefixes.append(urlsplit(own.of(place.label)).path if own and place else prefix)
    path = f"{urlsplit(url).path}/"
    # Where the version has another place, its own folder bounds it.
    if any(path.startswith(f"{each.rstrip('/')}/") for each in prefixes):
        options["path_prefixes"] = prefixes
    return options


def _offer(name: str, url: str) -> str:
    call = f'{{"kind": "site", "uri": "{url}"}}'
    return f"{name} has a guide at {url} that is not stowed: create_source {call} and start_sync"


def _reading(url: str) -> str:
    return f"the guide {url} is being read for the first time; list_sources shows how far it is"
