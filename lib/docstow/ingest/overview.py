"""What a stranger to a package reads first: what it has, an example, where it is at home."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from docstow.core.errors import DocstowError
from docstow.core.model import NO_ATTRIBUTES, Document
from docstow.core.patterns import lazy_pattern
from docstow.core.spelling import Spelling
from docstow.core.urls import canonical_url
from docstow.text.chunking import code_blocks, first_sentence

#: Characters of the list of items, and of a line in it.
_MOST_LISTED = 6000
_LONGEST_LINE = 110
#: Characters of the first example; a longer one is passed over.
_LONGEST_EXAMPLE = 2000
#: Pages that are listed, in the order of what they are.
_MOST_GUIDES = 20
_GUIDE_ORDER = ("readme", "changelog", "guide", "example")

#: A link with its label, in which pictures and brackets may stand. What was read is not read in
#: another way: there are exponentially many where a bracket is never closed.
_LINK = lazy_pattern(
    r"\[((?>[^\[\]]|!?\[[^\[\]]{0,300}\](?:\([^()]{0,300}\))?+){0,400}+)\]\((https?://[^\s()]++)\)"
)
_FORGE = lazy_pattern(
    r"https?://(?:www\.)?(?:github\.com|gitlab\.com|codeberg\.org|bitbucket\.org|sr\.ht)"
    r"/~?[\w.-]+/([\w.-]+?)(?:\.git)?/?"
)
#: Hosts whose pages are no guides: forges, registries of crates, documentation of items.
_NO_SITES = frozenset(
    {
        *("github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "sr.ht", "git.sr.ht"),
        *("gist.github.com", "crates.io", "lib.rs", "docs.rs", "doc.rust-lang.org"),
    }
)
#: The page that a registry has of each package.
_REGISTRY_PAGE = lazy_pattern(r"^/(?:project|package|pypi)/(?:@[\w.-]+/)?[\w.-]+/?$")
#: Labels of a package's website in its metadata, the surest first.
_SITES = ("documentation", "docs", "guide", "homepage", "home", "home page", "website")
#: Where the documentation of items is, which the answer itself is about.
_ITEM_DOCS = lazy_pattern(r"https?://(?:docs\.rs|doc\.rust-lang\.org)/")
_CHANGELOG = lazy_pattern(
    r"change ?log|release notes|what'?s new|what changed|changes", re.IGNORECASE
)
_GUIDE = lazy_pattern(r"guide|book|tutorial|documentation|docs|manual|handbook", re.IGNORECASE)
_HOME = lazy_pattern(r"home ?page|website|home", re.IGNORECASE)
_REPOSITORY = lazy_pattern(r"repository|source|source code|code|github|gitlab", re.IGNORECASE)


def describe_package(
    name: str,
    documents: Sequence[Document],
    root: Document,
    page: Document | None,
    spelling: Spelling,
    example_languages: Sequence[str],
    links: Mapping[str, str] = NO_ATTRIBUTES,
) -> dict[str, Any]:
    """Return the facts ``contents``, ``further``, ``example``, ``links``, ``guides``, ``site``.

    Those without a value are left out. ``guides`` are the paths of its pages, ``site`` is the
    canonical address of the website with its documentation.

    Args:
        name: the package's.
        documents: all of its items.
        root: the module that the others are in.
        page: its README, if that is a document.
        spelling: how paths are written.
        example_languages: how code blocks of its language are marked; the first is that of blocks
            without a mark.
        links: the addresses in its metadata, by label; by default those that its README has.
    """
    texts = [root.text, *([page.text] if page is not None else [])]
    metadata = links or (page.attributes.get("links", {}) if page is not None else {})
    guides = [each for each in documents if each.kind == "page"]
    guides.sort(key=lambda each: _GUIDE_ORDER.index(each.attributes.get("role", "readme")))
    contents, further = _list_items(documents, root, spelling)
    marks = example_languages
    found = {
        "contents": contents,
        "further": further,
        "example": next(filter(None, (_first_example(each, marks) for each in texts)), ""),
        "links": _sort_links(name, [*metadata.items(), *_text_links(texts)]),
        "guides": [each.path for each in guides[:_MOST_GUIDES]],
        "site": _find_site(metadata),
    }
    return {key: value for key, value in found.items() if value}


def suggested_features(name: str, text: str) -> list[str]:
    """Return the features with which docs show a crate in a manifest; none where they show none."""
    line = rf"(?m)^\s*{re.escape(name)}\s*=\s*\{{[^}}\n]*\bfeatures\s*=\s*\[([^\]]*)\]"
    shown = re.search(line, text)
    return re.findall(r"\"([^\"]+)\"", shown[1]) if shown else []


def _list_items(
    documents: Sequence[Document], root: Document, spelling: Spelling
) -> tuple[dict[str, list[str]], dict[str, int]]:
    """Return lines on the root's members by kind, and how many of each kind are left out.

    Modules are left out: they have a list of their own. Where there is no room for all, those stay
    that others mention most.
    """
    members = [each for each in documents if each.parent == root.path and each.kind != "module"]
    ranked = sorted(members, key=lambda each: -int(each.attributes.get("in_degree", 0)))
    kept: dict[str, list[tuple[str, str]]] = {}
    further: Counter[str] = Counter()
    room = _MOST_LISTED
    for each in ranked:
        title = each.path.rpartition(spelling.separator)[2]
        sentence = first_sentence(each.text)
        line = f"{title} — {sentence}" if sentence else title
        line = line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 2]} …"
        if len(line) > room:
            further[each.kind] += 1
        else:
            room -= len(line) + 4
            kept.setdefault(each.kind, []).append((each.path, line))
    contents = {kind: [line for _, line in sorted(lines)] for kind, lines in sorted(kept.items())}
    return contents, dict(sorted(further.items()))


def _first_example(text: str, languages: Sequence[str]) -> str:
    """Return the first code block in one of the languages that is not too long; empty if none."""
    shown = (
        each.code
        for each in code_blocks(text, default_language=languages[0])
        if each.language in languages and len(each.code) <= _LONGEST_EXAMPLE
    )
    return next(filter(None, shown), "")


def _text_links(texts: Iterable[str]) -> list[tuple[str, str]]:
    """Return the labels and addresses of a text's links; a picture's label is its description."""
    found = [match for text in texts for match in _LINK.finditer(text)]
    return [(" ".join(re.sub(r"!?\[|\](\([^()]*\))?", " ", m[1]).split()), m[2]) for m in found]


def _sort_links(name: str, links: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the address of each sort that is known: repository, homepage, guide, changelog."""
    found: dict[str, str] = {}
    for label, url in links:
        if sort := _sort_of(name, label.strip("`*_ "), url):
            found.setdefault(sort, url)
    return dict(sorted(found.items()))


def _find_site(links: Mapping[str, str]) -> str:
    """Return the address of a package's website by its metadata; empty where none is named."""
    labelled = [(label.strip().lower(), url) for label, url in links.items()]
    for wanted in _SITES:
        for label, url in labelled:
            if label == wanted and is_site(url):
                with contextlib.suppress(DocstowError):
                    return canonical_url(url)
    return ""


def is_site(url: str) -> bool:
    """Return whether an address may be that of a package's website: no forge, no registry."""
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    return bool(host) and host not in _NO_SITES and not _REGISTRY_PAGE.search(parts.path)


def _sort_of(name: str, label: str, url: str) -> str:
    if (forge := _FORGE.fullmatch(url)) is not None:
        same = _fold(forge[1]) == _fold(name) or _fold(label) == _fold(name)
        return "repository" if same or _REPOSITORY.fullmatch(label) else ""
    last = urlsplit(url).path.rstrip("/").rpartition("/")[2]
    if _CHANGELOG.search(label) or _CHANGELOG.fullmatch(last.partition(".")[0]):
        return "changelog"
    if _HOME.fullmatch(label):
        return "homepage"
    if label.casefold() in ("repository", "source code"):
        return "repository"
    # A page of somebody else's repository is a guide to that.
    parts = urlsplit(url)
    if parts.hostname in _NO_SITES and _fold(name) not in _fold(parts.path):
        return ""
    guide = len(label) <= 40 and _GUIDE.search(label) and not _ITEM_DOCS.match(url)
    return "guide" if guide else ""


def _fold(name: str) -> str:
    return re.sub(r"[-_.]", "", name.lower()).removesuffix("rs").removesuffix("js")
