from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from bert import write_json
from docstow.core.errors import ConfigurationError
from docstow.embedding.model_folder import MANIFEST, ModelFolder, open_folder


def mistakes_of(folder: Path, precision: str = "") -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        open_folder(folder, precision)
    assert str(folder) in caught.value.message
    return list(caught.value.details["mistakes"])


def test_a_folder_says_what_its_model_is(tiny: Path) -> None:
    expected = ModelFolder(
        path=tiny,
        name="tiny",
        model="onnx/model.onnx",
        pooling="cls",
        query_prefix="",
        passage_prefix="",
        max_tokens=64,
        dimensions=16,
        sha256={},
    )
    assert open_folder(tiny) == expected
    write_json(tiny / "sentence_bert_config.json", max_seq_length=8)
    prompts = {"query": "query: ", "passage": "passage: "}
    write_json(tiny / "config_sentence_transformers.json", prompts=prompts)
    pooling = {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}
    write_json(tiny / "1_Pooling" / "config.json", **pooling)
    assert open_folder(tiny) == replace(
        expected,
        max_tokens=8,
        query_prefix="query: ",
        passage_prefix="passage: ",
        pooling="mean",
    )


def test_a_default_prompt_is_for_both(tiny: Path) -> None:
    said = {"prompts": {"a": "about: ", "query": ""}, "default_prompt_name": "a"}
    write_json(tiny / "config_sentence_transformers.json", **said)
    folder = open_folder(tiny)
    assert (folder.query_prefix, folder.passage_prefix) == ("", "about: ")


@pytest.mark.parametrize(
    ("file", "precision", "found"),
    [
        ("model.onnx", "fp32", "model.onnx"),
        ("model_int8.onnx", "int8", "model_int8.onnx"),
        ("model_quantized.onnx", "", "model_quantized.onnx"),
        ("onnx/model_qint8_avx512.onnx", "int8", "onnx/model_qint8_avx512.onnx"),
    ],
)
def test_precisions_are_found_by_name(tiny: Path, file: str, precision: str, found: str) -> None:
    shutil.move(tiny / "onnx" / "model.onnx", tiny / file)
    assert open_folder(tiny, precision).model == found


def test_whole_numbers_come_first_unless_others_are_asked_for(tiny: Path) -> None:
    shutil.copy(tiny / "onnx" / "model.onnx", tiny / "onnx" / "model_quantized.onnx")
    chosen = [open_folder(tiny, precision).model for precision in ("", "fp32", "int8")]
    assert chosen == ["onnx/model.onnx", "onnx/model.onnx", "onnx/model_quantized.onnx"]


NO_POOLING = (
    "1_Pooling/config.json is missing; it says pooling_mode_cls_token or pooling_mode_mean_tokens"
)
NO_MODEL = (
    "the ONNX model is missing: none of onnx/model.onnx, model.onnx, onnx/model_quantized.onnx, "
    "onnx/model_int8.onnx, model_quantized.onnx, model_int8.onnx"
)
MAX_POOLING = (
    "1_Pooling/config.json asks for pooling_mode_max_tokens; one of pooling_mode_cls_token and "
    "pooling_mode_mean_tokens can be done"
)
NO_INT8 = (
    "the int8 model is missing: none of onnx/model_quantized.onnx, onnx/model_int8.onnx, "
    "model_quantized.onnx, model_int8.onnx"
)


def test_everything_that_is_missing_is_named_at_once(tmp_path: Path) -> None:
    assert mistakes_of(tmp_path) == [
        "config.json is missing; it says hidden_size and max_position_embeddings",
        NO_POOLING,
        NO_MODEL,
        "tokenizer.json is missing",
    ]


def test_what_cannot_be_run_is_refused(tiny: Path) -> None:
    kind = "sentence_transformers.models."
    modules = f'[{{"type": "{kind}Transformer"}}, {{"type": "{kind}Dense"}}, 3]'
    (tiny / "modules.json").write_text(modules)
    write_json(tiny / "1_Pooling" / "config.json", pooling_mode_max_tokens=True)
    (tiny / "config.json").write_text("[]")
    assert mistakes_of(tiny, "int8") == [
        "config.json is not a JSON object",
        "config.json does not say hidden_size, the length of a vector",
        "modules.json names a Dense module; only Normalize, Pooling, Transformer can be run",
        "modules.json names a nameless module; only Normalize, Pooling, Transformer can be run",
        MAX_POOLING,
        NO_INT8,
    ]


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="there is no folder"):
        open_folder(tmp_path / "none")


def test_a_manifest_counts_first_and_its_digests_hold(tiny: Path) -> None:
    shutil.rmtree(tiny / "1_Pooling")
    facts = {"id": "a/b", "pooling": "mean", "max_tokens": 8, "dimensions": 16}
    write_json(tiny / MANIFEST, **facts, sha256={"tokenizer.json": "0" * 64})
    folder = open_folder(tiny)
    assert (folder.name, folder.pooling, folder.max_tokens) == ("a/b", "mean", 8)
    assert folder.read("onnx/model.onnx")
    with pytest.raises(ConfigurationError, match=r"tokenizer\.json is not the file that was fetch"):
        folder.read("tokenizer.json")
