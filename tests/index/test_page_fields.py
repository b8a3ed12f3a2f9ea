"""What pages are about, and what that is worth in a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from docstow.core.model import Document
from docstow.embedding import bundled
from docstow.index.loaded import Index
from docstow.index.page_fields import COLUMNS, page_fields
from docstow.index.ranking import page_weights
from docstow.index.search_pages import find_page_candidates, search_pages
from docstow.index.tables import read_table, write_table
from docstow.text.chunking import first_sentence
from fictional_docs import PAGES, QUESTIONS
from growth import growth
from prose_store import ProseStore, indexed, page

DECK = "https://deck.test"


def placed(path: str, text: str) -> Document:
    return replace(page(path, text), url=f"{DECK}/{path}")


def fields(*documents: Document) -> tuple[list[str], list[str]]:
    summaries = [first_sentence(each.text) for each in documents]
    return page_fields(documents, summaries, str.split)


def test_a_page_is_about_its_title_its_summary_and_its_headings() -> None:
    text = (
        "# Ropes\n\nOf *hemp*, mostly. Also of wire.\n\n## Coils\n\nHung up.\n\n### With the sun\n"
    )
    about, lead = fields(placed("ropes", text))
    assert about == ["Ropes Of hemp, mostly. Coils With the sun"]
    assert lead == ["Of hemp, mostly. Also of wire. Hung up."]


def test_a_lead_has_neither_code_nor_the_addresses_of_links_and_ends() -> None:
    words = " ".join(f"word{number}" for number in range(200))
    text = f"# A\n\n```sh\nhaul\n```\n\nSee [the bell]({DECK}/bell) `now`.\n\n{words}"
    (lead,) = fields(placed("a", text))[1]
    assert lead.split() == ["See", "the", "bell", "now.", *(f"word{n}" for n in range(56))]


def test_what_others_say_where_they_link_to_a_page_tells_what_it_is_about() -> None:
    bell, rope, sail = (f"({DECK}/{name})" for name in ("bell", "rope", "sail"))
    texts = {
        "bell": f"# Bell\n\nIs struck.\n\nBy [the watch]{bell}.",
        "list": f"# List\n\n- [Bell]({DECK}/bell#top): how to tell the hour\n- [Rope]{rope}",
        "many": f"# Many\n\nOf [bells]{bell}, [ropes]{rope} and [sails]{sail}.",
        "rope": f"# Rope\n\n![drawing]{bell}\n\n```\n[code]{bell}\n```\n",
        "sail": f"# Sail\n\n[Rope]{rope}\n\nFastens what must not move.",
    }
    documents = [placed(path, text) for path, text in texts.items()]
    about = dict(zip(texts, fields(*documents)[0], strict=True))
    # Neither what a page says of itself, nor pictures, code, and texts that link to many.
    assert about["bell"] == "Bell Is struck. Bell: how to tell the hour"
    # A link alone is described by the prose that follows; in a list another link follows.
    assert about["rope"] == "Rope drawing Rope: Fastens what must not move."
    assert "sails" not in about["sail"]


def test_of_a_long_text_what_stands_around_the_link_is_kept() -> None:
    before, after = (" ".join(f"{name}{n}" for n in range(80)) for name in ("before", "after"))
    text = f"# A\n\n{before} [the bell]({DECK}/bell) {after}"
    (_, said) = fields(placed("a", text), placed("bell", "# Bell\n\nRings."))[0]
    assert said.startswith("Bell Rings. ")
    assert " before79 the bell after0 " in said
    assert "before0 " not in said
    assert "after79" not in said


def test_of_very_much_that_is_said_a_part_is_kept() -> None:
    headings = "\n\n".join(f"## Coil {number}" for number in range(900))
    (about,) = fields(placed("a", f"# A\n\n{headings}"))[0]
    assert 100 < len(about.split()) < 400
    assert len(set(about.split())) == len(about.split())


def test_hostile_pages_take_time_in_proportion_to_their_length() -> None:
    for part in ("[", "[[a", "![", '[a](b "', "[a](", "`", "~~~\n", "- ", "\n \n", "[a](b   "):

        def work(size: int, part: str = part) -> Sequence[str]:
            return fields(placed("a", part * size), placed("b", "# B"))[0]

        assert growth(work) < 2, part


def measured(index: Index) -> float:
    """The share of questions whose page is first."""
    first = 0
    for question, path, _ in QUESTIONS:
        (hit, *_) = search_pages([index], bundled(), question, limit=1)
        first += hit.path == path
    return first / len(QUESTIONS)


def without_fields(index: Index, folder: Path) -> Index:
    """The same snapshot as it was made before pages had fields."""

    def file(table: str) -> Path:
        found = index._file(table)
        if table != "documents":
            return found
        columns = read_table(found)
        write_table({n: c for n, c in columns.items() if n not in COLUMNS}, folder / table)
        return folder / table

    return Index(index.snapshot, file)


def test_snapshots_without_fields_answer_by_weights_of_their_own(tmp_path: Path) -> None:
    store = ProseStore(tmp_path)
    documents = [page(path, text) for path, text in PAGES.items()]
    index = store.prose.index(store.stow("harbour", documents)[1])
    earlier = without_fields(index, tmp_path)
    assert index.page_words is not None
    assert earlier.page_words is None
    for each, with_fields in ((index, True), (earlier, False)):
        described = find_page_candidates(each, bundled(), "how do I run a job")
        assert set(described.features) == set(page_weights(with_fields=with_fields))
        assert measured(each) >= 0.8
    # Together they are ranked by what both have.
    hits = search_pages([index, earlier], bundled(), "how do I run a job", limit=5)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    alone = search_pages([earlier], bundled(), "how do I run a job", limit=5)
    assert [hit.path for hit in hits] == [hit.path for hit in alone]


def test_a_page_is_found_by_what_another_says_of_it(tmp_path: Path) -> None:
    filler = "It takes two arguments and prints what it did. "
    documents = [
        placed(name, f"# {name}\n\n{filler * 4}\n\n## Options\n\n`-v` says more. {filler}")
        for name in ("kelp", "limpet", "mussel", "whelk")
    ]
    said = f"# Tasks\n\n- [limpet]({DECK}/limpet): undo the last change and keep the files\n"
    documents.append(placed("tasks", said + f"- [kelp]({DECK}/kelp): send everything away\n"))
    index = indexed(tmp_path, documents)
    _ = index.page_words
    hits = search_pages([index], bundled(), "take back my last change", limit=5)
    assert [hit.path for hit in hits][:2] in (["tasks", "limpet"], ["limpet", "tasks"])
    index.__dict__["page_words"] = None
    former = [h.path for h in search_pages([index], bundled(), "take back my last change", limit=5)]
    assert former.index("limpet") > 1
