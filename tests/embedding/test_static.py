from __future__ import annotations

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from docstow import embedding as embed
from docstow.core.errors import ConfigurationError
from docstow.embedding import bundled
from docstow.embedding.static import FILES, StaticEmbedder

BUNDLED = Path(embed.__file__).parent / "bundled"

TEXTS = [
    "Spawns a new asynchronous task, returning a `JoinHandle` for it.",
    "",
    "Locks this mutex, blocking the current thread until it is able to do so.",
    "\u2014\u2026!",
    "sha256",
]


@lru_cache
def _tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(BUNDLED / "tokenizer.json"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the bundled model's files that a test may spoil."""
    for file in ("manifest.json", *FILES):
        shutil.copy(BUNDLED / file, tmp_path)
    return tmp_path


def test_rows_are_unit_vectors_and_texts_without_words_are_zero() -> None:
    vectors = bundled().embed(TEXTS)
    assert vectors.shape == (5, bundled().dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 0, 1, 0, 1], atol=1e-5)


def test_nothing_gives_no_rows() -> None:
    assert bundled().embed([]).shape == (0, bundled().dimensions)


def test_a_query_is_a_text_alone() -> None:
    """Queries are embedded without onnxruntime."""
    queries = [bundled().embed_query(text) for text in TEXTS]
    np.testing.assert_allclose(queries, bundled().embed(TEXTS), atol=1e-6)
    assert {each.dtype for each in queries} == {np.dtype(np.float32)}


texts = st.lists(
    st.lists(st.sampled_from(["a", "spawn", "JoinHandle", "task", "utf8"]), max_size=50).map(
        " ".join
    ),
    max_size=40,
)


@settings(max_examples=25, deadline=None)
@given(texts)
def test_a_vector_does_not_depend_on_the_texts_beside_it(batch: list[str]) -> None:
    alone = [bundled().embed([text])[0] for text in batch]
    together = bundled().embed(batch)
    np.testing.assert_allclose(together, np.reshape(alone, together.shape), atol=1e-5)


def test_many_texts_of_all_lengths_keep_their_order() -> None:
    many = [" ".join(["spawn task"] * (i % 97) + [f"word{i}"]) for i in range(2500)]
    vectors = bundled().embed(many)
    for row in (0, 1, 96, 97, 2047, 2048, 2499):
        np.testing.assert_allclose(vectors[row], bundled().embed_query(many[row]), atol=1e-5)


def test_long_texts_are_cut_at_the_manifests_limit() -> None:
    limit = json.loads((BUNDLED / "manifest.json").read_bytes())["max_tokens"]
    full = "task " * limit
    np.testing.assert_array_equal(
        bundled().embed_query(full + "mutex " * 100_000), bundled().embed_query(full)
    )


def test_tokens_are_counted_beyond_the_limit() -> None:
    assert bundled().count("") == 0
    assert bundled().count("lock the mutex") == 3
    assert bundled().count("mutex " * 100_000) == 100_000


def test_words_that_the_model_does_not_know_count_by_their_length() -> None:
    assert bundled().count("重试间隔可以设置") == 8
    assert bundled().count("lock 再試行 mutex") == 5
    assert bundled().count("x" * 4000) == 1000
    assert bundled().count("мьютекс") == 2
    assert bundled().count("ลองใหม่" * 600) >= 3000


def test_lines_count_alone_whether_they_were_counted_before_or_not() -> None:
    lines = ["# Ships", "", "Ships moor at 12 quays.", "Http 東京 ðþ", "", "`moor(ship)`" * 300]
    static = bundled()
    alone = [static.count(line) for line in lines]
    fresh = StaticEmbedder(BUNDLED)
    for each in (static, fresh, fresh):
        assert each.count("\n".join(lines)) == each.count(" ".join(lines)) == sum(alone)
    assert fresh.count(lines[0]) == alone[0]


@given(st.text(st.sampled_from("abZé\u0301ﬁß19 \t\n\u2028\u00a0.,_-:^`~'[("), max_size=80))
def test_words_are_tokenised_alone_as_they_are_in_their_text(text: str) -> None:
    tokens = _tokenizer().encode(text, add_special_tokens=False).tokens
    assume("[UNK]" not in tokens)
    assert bundled().count(text) == len(tokens)


def test_identifiers_mean_what_their_words_mean() -> None:
    camel, snake, words, other = bundled().embed(
        ["SpawnBlocking", "spawn_blocking", "spawn blocking", "regular expression"]
    )
    np.testing.assert_allclose(camel, words, atol=1e-6)
    np.testing.assert_allclose(snake, words, atol=1e-6)
    assert words @ other < 0.5


def test_similar_texts_are_near() -> None:
    passages = [
        "Waits until the duration has elapsed.",
        "Parses a JSON document from a string.",
        "Sends an HTTP request and returns the response.",
        "Sorts the elements of the slice.",
    ]
    queries = ["sleep for some time", "deserialize json text", "make a http call", "order a list"]
    similarity = bundled().embed(queries) @ bundled().embed(passages).T
    assert similarity.argmax(axis=1).tolist() == [0, 1, 2, 3]


def test_the_id_holds_both_digests() -> None:
    digests = json.loads((BUNDLED / "manifest.json").read_bytes())["sha256"]
    expected = f"bundled/{digests['model.onnx'][:12]}+{digests['tokenizer.json'][:12]}"
    assert bundled().id == expected


def test_threads_share_one_model(folder: Path) -> None:
    embedder = StaticEmbedder(folder)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: embedder.embed(TEXTS), range(16)))
    for result in results:
        np.testing.assert_array_equal(result, results[0])


@pytest.mark.parametrize("file", FILES)
def test_a_changed_file_is_refused(folder: Path, file: str) -> None:
    body = (folder / file).read_bytes()
    (folder / file).write_bytes(body[:-1] + bytes([body[-1] ^ 1]))
    with pytest.raises(ConfigurationError, match=rf"{file} is damaged or of another model"):
        StaticEmbedder(folder).embed(["task"])


@pytest.mark.parametrize("file", FILES)
def test_a_missing_file_is_refused(folder: Path, file: str) -> None:
    (folder / file).unlink()
    with pytest.raises(ConfigurationError, match=f"{file} of the embedding model cannot be read"):
        StaticEmbedder(folder).embed(["task"])


@pytest.mark.parametrize("manifest", ["", "[]", "{}", '{"sha256": {}}'])
def test_a_folder_without_a_manifest_is_refused(tmp_path: Path, manifest: str) -> None:
    with pytest.raises(ConfigurationError, match="is not the manifest of a model"):
        StaticEmbedder(tmp_path)
    (tmp_path / "manifest.json").write_text(manifest)
    with pytest.raises(ConfigurationError, match="is not the manifest of a model"):
        StaticEmbedder(tmp_path)


def test_libraries_are_imported_with_the_first_text() -> None:
    script = """
import sys
from docstow.embedding import bundled
embedder = bundled()
embedder.id, embedder.dimensions, embedder.embed([])
assert not {"onnxruntime", "tokenizers"} & set(sys.modules)
embedder.embed(["task"])
assert {"onnxruntime", "tokenizers"} <= set(sys.modules)
"""
    subprocess.run(
        [sys.executable, "-c", script], check=True, env={"PYTHONPATH": str(BUNDLED.parents[1])}
    )


def test_the_files_are_small() -> None:
    sizes = [(BUNDLED / file).stat().st_size for file in FILES]
    assert sum(sizes) <= 12_000_000


def test_a_query_is_embedded_once_and_nobody_changes_its_vector() -> None:
    embedder = StaticEmbedder(BUNDLED)
    vector = embedder.embed_query("spawn a task")
    assert embedder.embed_query("spawn a task") is vector
    assert vector.tolist() == embedder.embed(["spawn a task"])[0].tolist()
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1
