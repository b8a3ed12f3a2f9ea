from __future__ import annotations

import base64
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from bert import tiny_model, write_json
from docstow import embedding as models
from docstow.core.errors import ConfigurationError
from docstow.embedding.model_folder import open_folder
from docstow.embedding.transformer import TransformerEmbedder
from embedding.conftest import WORDS
from paths import FIXTURES

REFERENCE = FIXTURES / "minilm.json"


def reference() -> tuple[list[str], NDArray[np.float32]]:
    """Texts, and the vectors that torch gives them."""
    said = json.loads(REFERENCE.read_text(encoding="utf-8"))
    rows = [np.frombuffer(base64.b64decode(each), "<f2") for each in said["vectors"]]
    return said["texts"], np.array(rows, np.float32)


@pytest.mark.parametrize(("precision", "least"), [("fp32", 0.9995), ("int8", 0.98)])
def test_minilm_gives_the_vectors_that_torch_gives(
    minilm: Path, precision: str, least: float
) -> None:
    texts, expected = reference()
    vectors = TransformerEmbedder(open_folder(minilm, precision)).embed(texts)
    assert (vectors * expected).sum(axis=1).min() > least


def test_minilm_finds_what_is_meant(minilm: Path) -> None:
    embedder = TransformerEmbedder(open_folder(minilm))
    passages = ["Waits until the duration has elapsed.", "Parses a JSON document from a string."]
    nearest = embedder.embed(passages) @ embedder.embed_query("sleep for some time")
    assert nearest.argmax() == 0


def test_rows_are_unit_vectors_in_order_and_texts_without_words_are_zero(tiny: Path) -> None:
    embedder = TransformerEmbedder(open_folder(tiny))
    many = [" ".join(WORDS[:length]) for length in (3, 0, 7, 1, 5)] * 500
    vectors = embedder.embed(many)
    assert vectors.shape == (2500, 16)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors[:5], axis=1), [1, 0, 1, 1, 1], atol=1e-5)
    for row in (0, 1, 2, 3, 4, 2047, 2048, 2499):
        np.testing.assert_allclose(vectors[row], embedder.embed_query(many[row]), atol=1e-5)
    assert embedder.embed([]).shape == (0, 16)


def test_pooling_and_prefixes_are_as_the_folder_says(tmp_path: Path) -> None:
    def embedder(pooling: str, **prompts: str) -> TransformerEmbedder:
        folder = tiny_model(tmp_path / pooling, words=WORDS, pooling=pooling)
        write_json(folder / "config_sentence_transformers.json", prompts=prompts)
        return TransformerEmbedder(open_folder(folder))

    bare, mean = embedder("cls"), embedder("mean")
    assert abs(float(bare.embed_query("lock task") @ mean.embed_query("lock task"))) < 0.99
    prefixed = embedder("cls", query="query : ", document="passage : ")
    for made, text in (
        (prefixed.embed_query("lock"), "query : lock"),
        (prefixed.embed(["lock"])[0], "passage : lock"),
    ):
        np.testing.assert_allclose(made, bare.embed_query(text), atol=1e-6)


def test_long_texts_are_cut(tiny: Path) -> None:
    write_json(tiny / "sentence_bert_config.json", max_seq_length=4)
    embedder = TransformerEmbedder(open_folder(tiny))
    np.testing.assert_array_equal(
        embedder.embed_query("spawn a " + "mutex " * 9999), embedder.embed_query("spawn a")
    )


def test_the_id_changes_with_all_that_shapes_a_passage(tiny: Path) -> None:
    def identity() -> str:
        return TransformerEmbedder(open_folder(tiny)).id

    first = identity()
    assert first.startswith("tiny/")
    assert first.endswith("/cls-64")
    seen = [first]
    prompts = {"passage": "passage : "}
    write_json(tiny / "config_sentence_transformers.json", prompts=prompts)
    seen.append(identity())
    write_json(tiny / "sentence_bert_config.json", max_seq_length=8)
    seen.append(identity())
    tokenizer = tiny / "tokenizer.json"
    tokenizer.write_bytes(tokenizer.read_bytes() + b"\n")
    seen.append(identity())
    tiny_model(tiny, words=WORDS, seed=1)
    seen.append(identity())
    assert len(set(seen)) == len(seen)
    before = seen[-1]
    prompts["query"] = "query : "
    write_json(tiny / "config_sentence_transformers.json", prompts=prompts)
    assert identity() == before


def test_threads_share_one_model(tiny: Path) -> None:
    embedder = TransformerEmbedder(open_folder(tiny))
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: embedder.embed(WORDS), range(16)))
    for result in results:
        np.testing.assert_allclose(result, results[0], atol=1e-6)


def test_a_file_that_is_no_model_is_refused(tiny: Path) -> None:
    (tiny / "onnx" / "model.onnx").write_bytes(b"version https://git-lfs")
    with pytest.raises(ConfigurationError, match="cannot be run as an ONNX model"):
        TransformerEmbedder(open_folder(tiny)).embed(["task"])


def test_a_wrong_number_of_dimensions_is_refused(tiny: Path) -> None:
    write_json(tiny / "config.json", hidden_size=8)
    with pytest.raises(ConfigurationError, match=r"gives 16 dimensions, its config\.json says 8"):
        TransformerEmbedder(open_folder(tiny)).embed(["task"])


def test_libraries_are_imported_with_the_first_text(tiny: Path) -> None:
    script = f"""
import sys
from pathlib import Path
from docstow.embedding.model_folder import open_folder
from docstow.embedding.transformer import TransformerEmbedder
embedder = TransformerEmbedder(open_folder(Path({str(tiny)!r})))
embedder.id, embedder.dimensions, embedder.embed([])
assert not {{"onnxruntime", "tokenizers"}} & set(sys.modules)
embedder.embed(["task"])
assert {{"onnxruntime", "tokenizers"}} <= set(sys.modules)
"""
    library = Path(models.__file__).parents[2]
    subprocess.run([sys.executable, "-c", script], check=True, env={"PYTHONPATH": str(library)})
