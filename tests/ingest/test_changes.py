from __future__ import annotations

from contextlib import closing
from dataclasses import replace

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from docstow.core.model import Document, File, Known, Relation
from docstow.ingest.changes import LINKS_TO, Changes, Former
from docstow.ingest.jobs import Coverage
from docstow.sources import LIMITS, Event, Failed, Found, Same, Skipped

ROOT = "https://docs.example/"
NAMES = "abcdefg"
names = st.sampled_from(NAMES)


def file(path: str, text: str) -> File:
    return File(path, path, "text/markdown", f"# T\n\n{text}\n".encode())


def finish(changes: Changes) -> None:
    with closing(changes):
        assert len(list(changes.read())) == changes.pending


def stowed(kind: str, path: str, text: str, links: tuple[str, ...] = ()) -> Former:
    """What a sync of one page leaves behind."""
    changes = Changes(Former(), paths_are_urls=kind == "site", full=True)
    changes.add(Found(file(path, text), "v", links))
    finish(changes)
    return Former(changes.documents, changes.visits)


@st.composite
def formers(draw: st.DrawFn) -> Former:
    documents: dict[str, Document] = {}
    visits: dict[str, Known] = {}
    for name in draw(st.sets(names)):
        links = tuple(ROOT + each for each in draw(st.sets(names, max_size=3)))
        one = stowed("site", ROOT + name, draw(st.sampled_from(["old", "same"])), links)
        documents |= one.documents
        visits |= one.visits
    return Former(documents, visits)


@st.composite
def events(draw: st.DrawFn) -> list[Event]:
    """At most one event of each page."""
    made: list[Event] = []
    for name in draw(st.permutations(NAMES)):
        path = ROOT + name
        kinds: list[Event | None] = [
            None,
            Found(file(path, draw(st.sampled_from(["same", "new"]))), "w"),
            Same(path),
            Skipped(path, "noindex"),
            Skipped(path, min(LIMITS)),
            Failed(path, "upstream_timeout", "slow"),
        ]
        if (event := draw(st.sampled_from(kinds))) is not None:
            made.append(event)
    return made


@given(formers(), events(), st.booleans())
@hypothesis_settings(max_examples=300, deadline=None)
def test_nothing_is_lost_by_accident_nor_kept_against_the_source(
    former: Former, met: list[Event], full: bool
) -> None:
    if full:
        met = [event for event in met if not isinstance(event, Same)]
    changes = Changes(former, paths_are_urls=True, full=full)
    for event in met:
        changes.add(event)
    finish(changes)
    counts = changes.counts()
    found = {event.file.path for event in met if isinstance(event, Found)}
    same = {event.path for event in met if isinstance(event, Same)} & former.documents.keys()
    failed = {event.ref for event in met if isinstance(event, Failed)}
    limited = {e.ref for e in met if isinstance(e, Skipped) and e.reason in LIMITS}
    omitted = {e.ref for e in met if isinstance(e, Skipped)} - limited
    missed = (failed if full else failed | limited) & former.documents.keys()
    # What could be had is there, what could not keeps its former page, what is left out goes.
    assert found | same | missed <= changes.documents.keys()
    assert not omitted & changes.documents.keys()
    others = changes.documents.keys() - found - same - missed
    assert all(changes.documents[path] == former.documents[path] for path in missed | others)
    assert not others or missed
    if not missed:
        assert changes.documents.keys() == found | same
    # Every page is counted once.
    assert counts["fetched"] == len(found)
    assert counts["failed"] == len(failed)
    assert counts["documents"] == len(changes.documents)
    assert counts["new"] + counts["changed"] + counts["unchanged"] == len(found | same)
    assert counts["gone"] == len(former.documents.keys() - changes.documents.keys())
    assert changes.visits.keys() == changes.documents.keys()


def test_a_directory_that_cannot_be_listed_keeps_what_is_below_it() -> None:
    documents: dict[str, Document] = {}
    visits: dict[str, Known] = {}
    for path in ("docs/a.md", "docs/b/c.md", "docsy.md", "d.md"):
        one = stowed("folder", path, "text")
        documents |= one.documents
        visits |= one.visits
    for ref, kept in (("docs", {"docs/a.md", "docs/b/c.md"}), (".", set(documents))):
        changes = Changes(Former(documents, visits), paths_are_urls=False, full=False)
        changes.add(Failed(ref, "unreadable_input", "cannot be read"))
        finish(changes)
        assert set(changes.documents) == kept


def test_a_page_at_its_own_address_goes_before_one_that_only_names_it() -> None:
    changes = Changes(Former(), paths_are_urls=True, full=True)
    for url, text in ((f"{ROOT}a?print=1", "paper"), (f"{ROOT}a/", "own"), (f"{ROOT}a", "late")):
        changes.add(Found(File(f"{ROOT}a", url, "text/markdown", f"# A\n\n{text}\n".encode())))
    finish(changes)
    assert changes.documents[f"{ROOT}a"].text.split() == ["#", "A", "own"]
    assert changes.visits[f"{ROOT}a"].url == f"{ROOT}a/"
    assert changes.skipped == {"duplicate": 2}


def test_links_lead_to_documents_by_path_and_by_address() -> None:
    changes = Changes(Former(), paths_are_urls=False, full=True)
    shown = "https://forge.example/acme/docs/blob/main/"
    for path, links in (
        ("a.md", (f"{shown}b.md", f"{shown}b.md", f"{shown}a.md", "https://elsewhere.example")),
        ("b.md", (f"{shown}c.md",)),
    ):
        body = b"# T\n\nText.\n"
        changes.add(Found(File(path, f"{shown}{path}", "text/markdown", body), "", links))
    finish(changes)
    assert changes.relations() == [Relation("a.md", LINKS_TO, "b.md")]


def html_page(name: str, words: str) -> Found:
    body = (
        "<body><div class=top>Harbour guide <a href=/>Home</a></div>"
        f"<div class=text><h1>{name}</h1><p>{words}</p></div><div class=end>All rights</div></body>"
    )
    return Found(File(ROOT + name, ROOT + name, "text/html", body.encode()), "v")


def test_pages_are_read_with_what_their_site_shares_and_so_are_later_ones() -> None:
    first = Changes(Former(), paths_are_urls=True, full=True)
    for name in NAMES:
        first.add(html_page(name, f"The {name} of the boat."))
    finish(first)
    assert first.documents[ROOT + "a"].text == "# a\n\nThe a of the boat.\n"
    # One page that changes says nothing of its site; the former snapshot does.
    former = Former(first.documents, first.visits, first.shared)
    second = Changes(former, paths_are_urls=True, full=False)
    for name in NAMES[1:]:
        second.add(Same(ROOT + name))
    second.add(html_page("a", "The anchor of the boat."))
    finish(second)
    assert second.documents[ROOT + "a"].text == "# a\n\nThe anchor of the boat.\n"
    assert second.shared == first.shared
    alone = Changes(Former(), paths_are_urls=True, full=True)
    alone.add(html_page("a", "The anchor of the boat."))
    finish(alone)
    assert "All rights" in alone.documents[ROOT + "a"].text


def test_coverage_counts_words_and_names_pages_that_lost_some() -> None:
    whole = stowed("site", ROOT + "a", "ten words " * 5)
    lost = [
        replace(whole.documents[ROOT + "a"], path=ROOT + name, attributes={"words": 40} | kept)
        for name, kept in (("b", {"kept": 0.5}), ("c", {"kept": 0.95}), ("d", {"kept": 0.1}))
    ]
    documents = {**whole.documents, **{each.path: each for each in lost}}
    visits = {path: Known(path, path) for path in documents}
    changes = Changes(Former(documents, visits), paths_are_urls=True, full=False)
    for path in documents:
        changes.add(Same(path))
    finish(changes)
    words = 11  # with the title
    assert changes.coverage() == Coverage(
        120 + words, 20 + 38 + 4 + words, 2, {ROOT + "d": 0.1, ROOT + "b": 0.5}
    )
    assert list(changes.coverage().pages) == [ROOT + "d", ROOT + "b"]
