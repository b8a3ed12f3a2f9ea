"""The bundled model's files: its tokenizer, model, mapped graph and manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

PAD, UNKNOWN = "[PAD]", "[UNK]"

#: Constants of so many bytes are tables; a smaller one is needed to lay out the graph.
_TABLE = 64
MAX_TOKENS = 512

# join|Handle and HTTP|Server; zero-width, so that replacing puts a blank there.
_IDENTIFIER_BORDER = r"(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})"
# Short type names (u64, f32) stay whole; other letters and digits part, the rest is dropped.
_WORD = r"(?<![\p{L}\p{N}])\p{L}\p{N}+(?![\p{L}\p{N}])|\p{L}+|\p{N}+"


def tokenizer(vocabulary: Sequence[str]) -> Tokenizer:
    """WordPiece behind an identifier splitter; the first two entries are padding and unknown."""
    made = Tokenizer(
        models.WordPiece(
            {entry: number for number, entry in enumerate(vocabulary)},
            unk_token=UNKNOWN,
            max_input_chars_per_word=64,
        )
    )
    made.normalizer = normalizers.Sequence(
        [
            normalizers.NFD(),
            normalizers.StripAccents(),
            normalizers.Replace(Regex(_IDENTIFIER_BORDER), " "),
            normalizers.Lowercase(),
        ]
    )
    made.pre_tokenizer = pre_tokenizers.Split(Regex(_WORD), "removed", invert=True)
    return made


def quantised(table: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Rows as int8 with one scale each, the largest component of a row being 127."""
    scales = np.abs(table).max(axis=1) / 127.0
    steps = table / np.where(scales > 0, scales, 1.0)[:, None]
    return np.rint(steps).astype(np.int8), scales.astype(np.float32)


def graph(table: NDArray[np.float32]) -> Any:
    """The ONNX model: look up rows, scale, sum over the tokens, bring to unit length.

    Input ``input_ids`` is int64 ``[batch, length]``, 0 being padding, whose row is zero; output
    ``embedding`` is float32 ``[batch, dimensions]``. A text without any token has a zero vector.
    """
    from onnx import TensorProto, helper, numpy_helper

    rows, scales = quantised(table)
    constants: dict[str, NDArray[Any]] = {
        "rows": rows,
        "scales": scales[:, None],
        "over_tokens": np.array([1], dtype=np.int64),
        "tiny": np.array(1e-12, dtype=np.float32),
    }
    nodes = [
        helper.make_node("Gather", ["rows", "input_ids"], ["picked"], axis=0),
        helper.make_node("Cast", ["picked"], ["steps"], to=TensorProto.FLOAT),
        helper.make_node("Gather", ["scales", "input_ids"], ["picked_scales"], axis=0),
        helper.make_node("Mul", ["steps", "picked_scales"], ["vectors"]),
        helper.make_node("ReduceSum", ["vectors", "over_tokens"], ["sum"], keepdims=0),
        helper.make_node("ReduceL2", ["sum", "over_tokens"], ["length"], keepdims=1),
        helper.make_node("Max", ["length", "tiny"], ["divisor"]),
        helper.make_node("Div", ["sum", "divisor"], ["embedding"]),
    ]
    made = helper.make_graph(
        nodes,
        "static-embedding",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"])],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", table.shape[1]])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return helper.make_model(
        made, ir_version=10, opset_imports=[helper.make_opsetid("", 18)], producer_name="docstow"
    )


def mapped(model: bytes) -> Any:
    """The same model without its tables, which it finds in the file ``model.onnx`` beside it.

    Args:
        model: that file.
    """
    import onnx

    made = onnx.load_model_from_string(model)
    for each in made.graph.initializer:
        if len(each.raw_data) >= _TABLE:
            where = {"offset": model.index(each.raw_data), "length": len(each.raw_data)}
            each.ClearField("raw_data")
            each.data_location = onnx.TensorProto.EXTERNAL
            for key, value in {"location": "model.onnx", **where}.items():
                entry = each.external_data.add()
                entry.key, entry.value = key, str(value)
    return made


def _places(model: bytes) -> dict[str, int]:
    """Where the rows and their scales begin in the model's file."""
    import onnx

    initializers = onnx.load_model_from_string(model).graph.initializer
    return {
        each.name: model.index(each.raw_data)
        for each in initializers
        if len(each.raw_data) >= _TABLE
    }


def write(
    folder: Path, name: str, vocabulary: Sequence[str], table: NDArray[np.float32], made_by: Any
) -> None:
    """Write the four files; ``made_by`` is any JSON value, for the record."""
    import onnx

    model = graph(table).SerializeToString(deterministic=True)
    (folder / "model.onnx").write_bytes(model)
    (folder / "mapped.onnx").write_bytes(mapped(model).SerializeToString(deterministic=True))
    (folder / "tokenizer.json").write_text(tokenizer(vocabulary).to_str(), "utf-8")
    manifest = {
        "name": name,
        "dimensions": table.shape[1],
        "max_tokens": MAX_TOKENS,
        "sha256": {
            file: hashlib.sha256((folder / file).read_bytes()).hexdigest()
            for file in ("model.onnx", "mapped.onnx", "tokenizer.json")
        },
        "tables": _places(model),
        "made_by": made_by,
    }
    onnx.checker.check_model(str(folder / "model.onnx"))
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")
