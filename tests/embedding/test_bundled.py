from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from docstow.embedding.static import StaticEmbedder
from docstow_training.contrast import FIELDS, Ragged, batches, lesson
from docstow_training.export import PAD, UNKNOWN, quantised, tokenizer, write
from docstow_training.gather import gather, load, save
from docstow_training.judge import Judge
from docstow_training.pairs import FIRST, NAME, PATH, REST, mined, question
from docstow_training.questions import Asked, is_held_out, read_questions
from docstow_training.texts import Item, python_items, rustdoc_crates, rustdoc_items
from docstow_training.vocabulary import count_words, make_vocabulary, principal_axes, rarity
from paths import TESTS

QUESTIONS = TESTS / "evaluation" / "questions.jsonl"

VOCABULARY = [PAD, UNKNOWN, "spawn", "task", "join", "handle", "##s", "u64", "8", "utf"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("JoinHandle join_handle join-handle", ["join", "handle"] * 3),
        ("SPAWNTask", ["spawn", "task"]),
        ("T\u00e1sks!", ["task", "##s"]),
        ("u64 utf8 UTF-8", ["u64", "utf", "8", "utf", "8"]),
        ("unknown", [UNKNOWN]),
        ("<>::", []),
    ],
)
def test_tokenizer_takes_identifiers_apart(text: str, expected: list[str]) -> None:
    assert tokenizer(VOCABULARY).encode(text, add_special_tokens=False).tokens == expected


def test_quantised_rows_are_within_half_a_step() -> None:
    table = np.random.default_rng(1).normal(size=(20, 8)).astype(np.float32)
    table[0] = 0.0
    rows, scales = quantised(table)
    assert rows.dtype == np.int8
    assert np.abs(rows).max(axis=1).tolist() == [0] + [127] * 19
    assert np.abs(rows * scales[:, None] - table).max() <= scales.max() / 2 + 1e-6


def test_a_written_model_sums_its_rows(tmp_path: Path) -> None:
    table = np.zeros((len(VOCABULARY), 4), dtype=np.float32)
    table[2:6] = [[127, 0, 0, 0], [0, 254, 0, 0], [0, 0, 127, 0], [1, 1, 1, 127]]
    write(tmp_path, "tiny", VOCABULARY, table, {"why": "a test"})
    embedder = StaticEmbedder(tmp_path)
    assert embedder.id.startswith("tiny/")
    assert embedder.dimensions == 4
    expected = np.array([[1, 2, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]], dtype=np.float32)
    expected[0] /= np.sqrt(5)
    np.testing.assert_allclose(
        embedder.embed(["spawn task", "join", "nothing"]), expected, atol=1e-6
    )


def test_vocabulary_adds_the_commonest_new_words() -> None:
    counts = count_words(["tokio Tokio::spawn", "tokio the mutex serde", "serde x"])
    assert counts == {"tokio": 3, "serde": 2, "spawn": 1, "the": 1, "mutex": 1, "x": 1}
    teacher = ["[PAD]", "[unused1]", "the", "##s", "\u4e2d", "Upper", "spawn"]
    assert make_vocabulary(teacher, counts) == [
        *(PAD, UNKNOWN, "the", "##s", "spawn"),
        *("tokio", "serde", "mutex"),
    ]


def test_rare_words_weigh_more_and_unknown_ones_nothing() -> None:
    counts = count_words(["spawn spawn spawn task other"])
    weights = rarity(VOCABULARY, tokenizer(VOCABULARY), counts)
    assert weights[:2].tolist() == [0, 0]
    assert 0 < weights[2] < weights[3] < weights[4] < 1


def test_principal_axes_keep_similarities() -> None:
    random = np.random.default_rng(2)
    plane = random.normal(size=(50, 3)) @ random.normal(size=(3, 300))
    vectors = (plane / np.linalg.norm(plane, axis=1, keepdims=True)).astype(np.float32)
    reduced = vectors @ principal_axes(vectors)
    assert reduced.shape == (50, 256)
    np.testing.assert_allclose(reduced @ reduced.T, vectors @ vectors.T, atol=1e-4)


def test_items_of_python_sources(tmp_path: Path) -> None:
    package = tmp_path / "box"
    (package / "tests").mkdir(parents=True)
    (package / "_lid.py").write_text(
        '"""About lids.\n\nMore\n----\nSee :func:`shut`."""\n\n'
        'def shut(hard: bool = True) -> int:\n    """Shut it. Twice.\n\n    >>> shut()\n    """\n\n'
        'def _hidden():\n    """Hidden."""\n\n'
        'class Lid(Base):\n    """A lid."""\n    def off(self):\n        """Take it off."""\n'
    )
    (package / "tests" / "test_lid.py").write_text('"""A test."""')
    (package / "broken.py").write_text('"""Not Python""" (')
    assert list(python_items(package)) == [
        Item("python:box", "box", "", "About lids.", "More See shut.", "box"),
        Item(
            *("python:box", "box.shut", "def shut(hard: bool=True) -> int"),
            *("Shut it.", "Twice.", "shut"),
        ),
        Item("python:box", "box.Lid", "class Lid(Base)", "A lid.", "", "Lid"),
        Item("python:box", "box.Lid.off", "def off(self)", "Take it off.", "", "off"),
    ]


def test_items_of_real_crates(corpus: Path) -> None:
    files = rustdoc_crates(corpus, leave_out={"serde"})
    names = [file.parts[-3] for file in files]
    assert "tokio" in names
    assert "serde" not in names
    assert names == sorted(set(names))
    items = rustdoc_items(corpus / "kitchen" / "0.1.0" / "rustdoc.json.zst")
    assert len(items) > 20
    assert {item.source for item in items} == {"rust:kitchen"}
    assert [item.path for item in items] == sorted(item.path for item in items)
    assert any(item.signature.startswith("pub fn") and item.first for item in items)


def test_gathered_items_are_read_as_they_were_saved(tmp_path: Path) -> None:
    package = tmp_path / "box"
    package.mkdir()
    (package / "__init__.py").write_text('"""About boxes."""')
    (tmp_path / "crates").mkdir()
    items = gather(tmp_path / "crates", [package], leave_out=set())
    save(items, tmp_path / "items.zst")
    assert load(tmp_path / "items.zst") == items
    assert [item.path for item in items] == ["box"]


ITEMS = [
    Item(
        "rust:pot",
        "pot::spawn",
        "pub fn spawn()",
        "Spawns a new task.",
        "It runs at once.",
        "spawn",
    ),
    Item("rust:pot", "pot::join", "pub fn join()", "Joins two handles now.", "", "join"),
    Item("rust:pan", "pan::spawn", "pub fn spawn()", "Spawns a new task.", "", "spawn"),
    Item("rust:pan", "pan::Pan", "pub struct Pan", "", "", "Pan"),
]


def test_a_pair_hides_what_the_query_was_taken_from() -> None:
    pairs = list(mined(ITEMS, random.Random(3)))
    assert [(pair.item, pair.hidden) for pair in pairs] == [
        *[(0, (FIRST,)), (0, ()), (0, (PATH, NAME)), (0, (PATH, NAME)), (0, (REST,))],
        *[(1, (FIRST,)), (1, ()), (1, (PATH, NAME)), (1, (PATH, NAME))],
        *[(2, (FIRST,)), (2, ()), (2, (PATH, NAME)), (2, (PATH, NAME))],
    ]


def test_questions_keep_the_sentence_or_say_it_otherwise() -> None:
    chance = random.Random(5)
    plain = question("Returns the length of `Vec<T>`.", chance, change=0.0)
    assert plain.endswith("returns the length of `vec<t>`")
    changed = {question("Removes it.", chance, change=1.0).split()[-2] for _ in range(40)}
    assert changed <= {"delete", "of", "drop", "out"}
    assert len(changed) > 2


def test_batches_ask_pairs_and_questions_and_spare_twins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("docstow_training.contrast.BATCH", 4)
    words = tokenizer(VOCABULARY)
    pairs = list(mined(ITEMS, random.Random(3)))
    asked = [Asked("start a task", "pot", (0,)), Asked("join", "pot", (1, 0))]
    material = lesson(words, ITEMS, pairs, asked)
    one = next(batches(material, np.random.default_rng(1)))
    tokens, offsets = one.queries
    assert len(offsets) == len(one.answers) == 4 + 2
    assert one.documents[4:].tolist() == [0, 1]
    assert one.seen.shape == (6, len(FIELDS))
    assert one.documents[one.answers[4]] == 0
    assert tokens.max() < len(VOCABULARY)
    rows = np.arange(6)
    assert not one.excluded[rows, one.answers].any()
    twin = np.isin(one.documents, [0, 2])
    assert one.excluded[4, twin].sum() == twin.sum() - 1
    assert not one.excluded[4, ~twin].any()


def test_ragged_lists_are_taken_in_the_order_asked_for() -> None:
    ragged = Ragged.encode(tokenizer(VOCABULARY), ["spawn task", "", "join unheard", "handle"])
    tokens, offsets = ragged.take(np.array([3, 0, 1, 2]))
    assert tokens.tolist() == [5, 2, 3, 4]
    assert offsets.tolist() == [0, 1, 3, 3]


def test_a_judge_ranks_the_items_of_the_crate() -> None:
    table = np.eye(len(VOCABULARY), dtype=np.float32)
    asked = [Asked("spawn", "pot", (0,)), Asked("join", "pot", (0,))]
    judge = Judge(tokenizer(VOCABULARY), ITEMS, asked)
    assert judge.figures(table) == {"hit@5": 1.0, "MRR@10": 0.75, "nDCG@10": 0.815}


def test_a_judge_does_not_prefer_items_with_much_text() -> None:
    items = [
        Item("rust:pot", "join", "", "Spawn task, join handle.", "Task.", ""),
        Item("rust:pot", "task", "", "", "", ""),
    ]
    table = np.eye(len(VOCABULARY), dtype=np.float32)
    judge = Judge(tokenizer(VOCABULARY), items, [Asked("task", "pot", (1,))])
    assert judge.figures(table) == {"hit@5": 1.0, "MRR@10": 1.0, "nDCG@10": 1.0}


def test_questions_are_sorted_unique_and_held_out_by_crate() -> None:
    lines = QUESTIONS.read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    keys = [(row["crate"], row["query"]) for row in rows]
    assert keys == sorted(set(keys))
    assert all(list(row) == ["crate", "query", "relevant"] and row["relevant"] for row in rows)
    crates = {row["crate"] for row in rows}
    assert 0.1 < sum(map(is_held_out, crates)) / len(crates) < 0.2


def test_questions_name_items(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"crate": "pot", "query": "start", "relevant": ["pot::join", "pot::spawn"]}\n')
    assert read_questions(file, ITEMS) == [Asked("start", "pot", (1, 0))]
    file.write_text('{"crate": "pot", "query": "start", "relevant": ["pot::gone"]}\n')
    with pytest.raises(KeyError):
        read_questions(file, ITEMS)
