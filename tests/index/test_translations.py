"""Pages in several languages are one result: what is recognised, and what is listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from docstow.core.model import Document
from docstow.embedding import bundled
from docstow.formats import html
from docstow.index.loaded import Index
from docstow.index.search_pages import PageFilters, example_hit, search_examples, search_pages
from docstow.index.translations import find_translations
from fidelity.manuals import Manual, Unavailable
from prose_store import indexed, page
from require import unavailable

CODE = "```sh\nhaul --rope main\nbelay --pin 4\ncoil --with sun\nstow rope\n```"

ENGLISH = {
    "ropes": f"""# Ropes

## How to haul

Take the rope in both hands and pull it down until the sail is up.

{CODE}

## How to coil

Coil the rope with the sun and hang it up when the work is done.
""",
    "bells": """# Bells

## When to strike

Strike the bell every half hour and eight times when the watch is over.

```sh
strike --bell 8
watch --next
log --hour
```
""",
}
GERMAN = {
    "ropes": f"""# Seile

## Wie man holt

Nimm das Seil in beide Hände und zieh es nach unten, bis das Segel oben ist.

{CODE}

## Wie man aufschießt

Schieß das Seil mit der Sonne auf und häng es weg, wenn die Arbeit getan ist.
""",
    "bells": """# Glocken

## Wann man schlägt

Schlag die Glocke jede halbe Stunde an und achtmal, wenn die Wache vorbei ist.

```sh
strike --bell 8
watch --next
log --hour
```
""",
}


def translated(*paths: str) -> list[tuple[str, str]]:
    """The language of each page and the path of what it translates, or of itself."""
    documents = []
    for path in sorted(paths):
        name = "bells" if "bells" in path else "ropes"
        texts = GERMAN if "de" in path.replace("index", "") else ENGLISH
        documents.append(page(path, texts[name]))
    rows, languages = find_translations(documents)
    return [(language, documents[row].path) for language, row in zip(languages, rows, strict=True)]


@pytest.mark.parametrize(
    ("english", "german", "language"),
    [
        ("en/ropes.html", "de/ropes.html", "de"),
        ("ropes.html", "de/ropes.html", "de"),
        ("docs/ropes", "docs/de-AT/ropes", "de-at"),
        ("docs/en_US/ropes", "docs/de_DE/ropes", "de-de"),
        ("ropes.en.html", "ropes.de.html", "de"),
        ("ropes.html", "ropes.de.html", "de"),
        ("ropes.html", "ropes_de.html", "de"),
        ("ropes.html.en", "ropes.html.de", "de"),
        ("https://x.test/ropes", "https://x.test/ropes?lang=de", "de"),
        ("https://x.test/ropes?a=1&hl=en", "https://x.test/ropes?a=1&hl=de", "de"),
        ("https://x.test/en/ropes", "https://x.test/de/ropes", "de"),
        ("https://x.test/ropes", "https://x.test/de/ropes", "de"),
    ],
)
def test_a_path_names_the_language(english: str, german: str, language: str) -> None:
    found = dict(zip(sorted((english, german)), translated(english, german), strict=True))
    assert found[german] == (language, english)
    assert found[english][0].startswith("en")
    assert found[english][1] == english


@pytest.mark.parametrize(
    "paths",
    [
        ("en/ropes", "de/bells"),  # other pages
        ("a/ropes", "b/ropes"),  # no languages
        ("https://x.de/ropes", "https://x.en/ropes"),  # hosts
        ("ropes", "ropes-de"),
    ],
)
def test_other_paths_name_none(paths: tuple[str, ...]) -> None:
    assert translated(*paths) == [("", path) for path in sorted(paths)]


def test_pages_of_another_structure_are_no_translations() -> None:
    # `it` is where a department has its pages.
    documents = [page("it/ropes", GERMAN["bells"]), page("ropes", ENGLISH["ropes"])]
    rows, languages = find_translations(documents)
    assert rows.tolist() == [0, 1]
    assert languages[0] == ""


def test_a_page_that_is_out_of_date_is_a_translation_if_others_are() -> None:
    old = "# Glocken\n\n## Wann\n\nJede halbe Stunde.\n\n```sh\nold\nolder\noldest\n```\n"
    documents = [
        page("de/bells", old),
        page("de/ropes", GERMAN["ropes"]),
        page("en/bells", ENGLISH["bells"]),
        page("en/ropes", ENGLISH["ropes"]),
    ]
    assert find_translations(documents)[0].tolist() == [2, 3, 2, 3]
    assert find_translations([documents[0], documents[2]])[0].tolist() == [0, 1]


def test_a_page_that_nobody_has_translated_is_in_the_language_of_the_original() -> None:
    documents = [page("de/ropes", ENGLISH["ropes"]), page("en/ropes", ENGLISH["ropes"])]
    rows, languages = find_translations(documents)
    assert (rows.tolist(), languages) == ([1, 1], ["en", "en"])


SITE = "https://rope.test"
HOMES = {"en": f"{SITE}/", "de": f"{SITE}/seil/"}


def site_page(path: str, text: str, translations: dict[str, str]) -> Document:
    """A page of a site as it is read, with the links to its translations in its head."""
    links = "".join(
        f'<link rel="alternate" hreflang="{language}" href="{url}">'
        for language, url in translations.items()
    )
    body = f"<html><head>{links}</head><body><main><pre>{text}</pre></main></body></html>"
    read = html.read(body.encode(), SITE + path)
    return page(SITE + path, text, **read.attributes)


def test_a_site_names_its_translations() -> None:
    haul = {"en": "/how-to-haul/?utm_source=head", "DE": "wie-man-holt#top", "x-default": "/"}
    bells = {"en": f"{SITE}/bells", "de": f"{SITE}/glocken", "fr": "javascript:void(0)"}
    documents = [
        site_page("/bells", ENGLISH["bells"], bells),
        site_page("/glocken", GERMAN["bells"], bells),
        site_page("/how-to-haul", ENGLISH["ropes"], haul),
        site_page("/wie-man-holt", GERMAN["ropes"], haul),
    ]
    rows, languages = find_translations(documents)
    assert rows.tolist() == [0, 0, 2, 2]
    assert languages == ["en", "de", "en", "de"]


def test_a_page_that_its_site_names_in_a_language_may_be_left_as_it_was() -> None:
    named = {"en": "/haul", "de": "/holen"}
    documents = [site_page(path, ENGLISH["ropes"], named) for path in ("/haul", "/holen")]
    rows, languages = find_translations(documents)
    assert (rows.tolist(), languages) == ([0, 0], ["en", "en"])


@pytest.mark.parametrize(
    ("mine", "others"),
    [
        (HOMES, HOMES),  # the home pages, as some sites name them on every page
        ({"en": "/ropes", "de": "/seile"}, {}),  # which is not named in return
    ],
)
def test_pages_that_do_not_name_each_other_are_no_translations(
    mine: dict[str, str], others: dict[str, str]
) -> None:
    documents = [
        site_page("/ropes", ENGLISH["ropes"], mine),
        site_page("/seile", GERMAN["ropes"], others),
    ]
    assert find_translations(documents)[0].tolist() == [0, 1]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    french = ENGLISH["ropes"].replace("Take the rope in both hands", "Prends la corde des mains")
    french = french.replace("and pull it down until the sail is up", "et tire pour hisser la voile")
    french = french.replace("Coil the rope with the sun", "Love la corde avec le soleil")
    documents: list[Document] = [
        *(page(f"de/{name}", text) for name, text in GERMAN.items()),
        *(page(f"en/{name}", text) for name, text in ENGLISH.items()),
        page("fr/bells", ENGLISH["bells"]),
        page("fr/ropes", french.replace("How to", "Comment").replace("it up when", "la fin de")),
        page("only", "# Only here\n\nA rope that is hauled and coiled nowhere else."),
    ]
    return indexed(tmp_path_factory.mktemp("translated"), documents)


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("how to coil the rope", "en"),
        ("wie häng ich das Seil weg", "de"),
        ("haul --rope main", "en"),
        ("stow", "en"),
        ("Wache", "de"),
        ("tire la corde des mains pour hisser la voile", "fr"),
        ("strike", "en"),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_one_of_translations_is_listed_in_the_language_of_the_question(
    index: Index, query: str, language: str, mode: str
) -> None:
    hits = search_pages([index], bundled(), query, limit=20, mode=mode)  # type: ignore[arg-type]
    found = {hit.path for hit in hits} - {"only"}
    assert found
    # What there is not in that language is listed in English.
    assert found <= {f"{language}/ropes", "en/bells" if language == "fr" else f"{language}/bells"}
    blocks = search_examples([index], bundled(), query, limit=20, filters=PageFilters())
    assert {example_hit(block).path for block in blocks} <= {
        f"{language}/ropes",
        f"{language}/bells",
        "en/bells",
    }


def test_what_a_filter_leaves_of_translations_is_listed(index: Index) -> None:
    for folder in ("de", "fr", "en"):
        filters = PageFilters(path=f"{folder}/")
        hits = search_pages([index], bundled(), "coil the rope", limit=20, filters=filters)
        assert {hit.path for hit in hits} == {f"{folder}/ropes", f"{folder}/bells"}


def test_pages_without_translations_are_searched_as_they_are(tmp_path: Path) -> None:
    documents = [page(name, text) for name, text in ENGLISH.items()]
    assert indexed(tmp_path, documents).translations is None


@pytest.mark.network
@pytest.mark.timeout(300)
def test_the_languages_of_a_real_manual_are_one() -> None:
    """Some of Apache's translations are years behind, with other headings, links and code."""
    try:
        folder = Manual("Apache", "apache2-doc", "apache2-doc/manual").pages()
    except Unavailable as error:
        unavailable(str(error))
    paths = [
        path.relative_to(folder).as_posix()
        for language in ("de", "en", "fr", "ja", "ko", "tr")
        for path in sorted((folder / language).glob("[a-e]*.html"))
    ]
    bodies = [(folder / path).read_bytes() for path in paths]
    shared = html.survey((body, "") for body in bodies)
    documents = []
    for path, body in zip(paths, bodies, strict=True):
        read = html.read(body, f"https://httpd.test/{path}", shared=shared)
        documents.append(page(path, read.text, read.title))
    rows, languages = find_translations(documents)
    assert len({path.partition("/")[2] for path in paths}) < len(paths) / 2
    for row, path, language in zip(rows.tolist(), paths, languages, strict=True):
        folder_name, _, name = path.partition("/")
        assert (paths[row], language) == (f"en/{name}", folder_name)
