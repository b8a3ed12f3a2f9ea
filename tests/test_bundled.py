from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from docstow.bundled.build import count_words, make_vocabulary, principal_axes, rarity
from docstow.bundled.export import PAD, UNKNOWN, quantised, tokenizer, write
from docstow.bundled.texts import python_passages, rustdoc_crates, rustdoc_passages
from docstow.embed import OnnxEmbedder

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
    embedder = OnnxEmbedder(tmp_path)
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


def test_passages_of_python_sources(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        '"""Module text.\n\nMore."""\n\n'
        'def f():\n    """Does f.\n\n    >>> f()\n    """\n\n'
        "class C: pass\n"
    )
    (tmp_path / "broken.py").write_text('"""Not Python""" (')
    assert list(python_passages(tmp_path)) == ["Module text.\n\nMore.", "Does f."]


def test_passages_of_real_crates(corpus: Path) -> None:
    files = rustdoc_crates(corpus, leave_out={"serde"})
    names = [file.parts[-3] for file in files]
    assert "tokio" in names
    assert "serde" not in names
    assert names == sorted(set(names))
    passages = list(rustdoc_passages(corpus / "kitchen" / "0.1.0" / "rustdoc.json.zst"))
    assert len(passages) > 20
    assert max(len(passage.split()) for passage in passages) <= 70
