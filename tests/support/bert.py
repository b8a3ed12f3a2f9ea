"""BERT encoders as folders of ONNX models: of given weights, or tiny ones made up from a seed.

The graph is the encoder of Devlin et al., 2019, with learned positions and erf-GELU.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

Weights = Mapping[str, NDArray[np.float32]]

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def read_safetensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """The float32 tensors of a safetensors file: a length, a JSON header, and bare numbers."""
    body = path.read_bytes()
    (length,) = struct.unpack("<Q", body[:8])
    header = json.loads(body[8 : 8 + length])
    tensors = {}
    for name, said in header.items():
        if name != "__metadata__" and said["dtype"] == "F32":
            begin, end = (8 + length + offset for offset in said["data_offsets"])
            tensors[name] = np.frombuffer(body[begin:end], "<f4").reshape(said["shape"])
    return tensors


@dataclass(frozen=True)
class _Graph:
    """A graph under construction; each method adds a node and returns the name of its output."""

    nodes: list[onnx.NodeProto]
    constants: dict[str, NDArray[Any]]

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def constant(self, value: Any, kind: Any = np.float32) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(value, kind)
        return name

    def linear(self, x: str, weights: Weights, at: str) -> str:
        product = self.node("MatMul", x, self.constant(weights[f"{at}.weight"].T.copy()))
        return self.node("Add", product, self.constant(weights[f"{at}.bias"]))

    def norm(self, x: str, weights: Weights, at: str) -> str:
        scale, shift = (self.constant(weights[f"{at}.{part}"]) for part in ("weight", "bias"))
        return self.node("LayerNormalization", x, scale, shift, epsilon=1e-12, axis=-1)

    def attention(self, x: str, mask: str, weights: Weights, at: str, heads: int) -> str:
        split = self.constant([0, 0, heads, -1], np.int64)
        query, key, value = (
            self.node("Reshape", self.linear(x, weights, f"{at}.self.{part}"), split)
            for part in ("query", "key", "value")
        )
        size = weights[f"{at}.self.query.weight"].shape[0] // heads
        products = self.node(
            "MatMul",
            self.node("Transpose", query, perm=[0, 2, 1, 3]),
            self.node("Transpose", key, perm=[0, 2, 3, 1]),
        )
        scores = self.node("Mul", products, self.constant(size**-0.5))
        shares = self.node("Softmax", self.node("Add", scores, mask), axis=-1)
        mixed = self.node("MatMul", shares, self.node("Transpose", value, perm=[0, 2, 1, 3]))
        joined = self.node(
            "Reshape",
            self.node("Transpose", mixed, perm=[0, 2, 1, 3]),
            self.constant([0, 0, -1], np.int64),
        )
        added = self.node("Add", self.linear(joined, weights, f"{at}.output.dense"), x)
        return self.norm(added, weights, f"{at}.output.LayerNorm")

    def gelu(self, x: str) -> str:
        error = self.node("Erf", self.node("Mul", x, self.constant(0.5**0.5)))
        half = self.node("Mul", x, self.constant(0.5))
        return self.node("Mul", half, self.node("Add", error, self.constant(1.0)))


def write_model(weights: Weights, heads: int, path: Path) -> None:
    """Write the encoder whose tensors have the names that transformers gives them."""
    graph = _Graph([], {})
    length = graph.node(
        "Slice",
        graph.node("Shape", "input_ids"),
        *(graph.constant(value, np.int64) for value in ([1], [2])),
    )
    positions = graph.node(
        "Slice",
        graph.constant(weights["embeddings.position_embeddings.weight"]),
        graph.constant([0], np.int64),
        length,
    )
    words, types = (
        graph.node("Gather", graph.constant(weights[f"embeddings.{table}.weight"]), ids)
        for table, ids in (
            ("word_embeddings", "input_ids"),
            ("token_type_embeddings", "token_type_ids"),
        )
    )
    x = graph.node("Add", graph.node("Add", words, types), positions)
    x = graph.norm(x, weights, "embeddings.LayerNorm")
    seen = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
    hidden = graph.node("Sub", graph.constant(1.0), seen)
    mask = graph.node("Mul", hidden, graph.constant(-1e9))
    mask = graph.node("Unsqueeze", mask, graph.constant([1, 2], np.int64))
    layers = sum(name.endswith("attention.self.query.bias") for name in weights)
    for layer in (f"encoder.layer.{number}" for number in range(layers)):
        x = graph.attention(x, mask, weights, f"{layer}.attention", heads)
        wide = graph.gelu(graph.linear(x, weights, f"{layer}.intermediate.dense"))
        x = graph.node("Add", graph.linear(wide, weights, f"{layer}.output.dense"), x)
        x = graph.norm(x, weights, f"{layer}.output.LayerNorm")
    graph.nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"]))
    shape = ["batch", "length"]
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "bert",
            [
                helper.make_tensor_value_info(name, TensorProto.INT64, shape)
                for name in ("input_ids", "attention_mask", "token_type_ids")
            ],
            [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, None])],
            [numpy_helper.from_array(value, name) for name, value in graph.constants.items()],
        ),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, path)


def tiny_model(
    folder: Path, *, words: Sequence[str], dimensions: int = 16, seed: int = 0, pooling: str = "cls"
) -> Path:
    """A folder with a whole, very small model of one layer: random weights, one token a word."""
    chance = np.random.default_rng(seed)
    layer, wide, size = "encoder.layer.0", 2 * dimensions, len(SPECIAL) + len(words)
    shapes = {
        "embeddings.word_embeddings.weight": (size, dimensions),
        "embeddings.position_embeddings.weight": (64, dimensions),
        "embeddings.token_type_embeddings.weight": (2, dimensions),
        f"{layer}.intermediate.dense.weight": (wide, dimensions),
        f"{layer}.intermediate.dense.bias": (wide,),
        f"{layer}.output.dense.weight": (dimensions, wide),
        f"{layer}.output.dense.bias": (dimensions,),
    }
    for part in ("self.query", "self.key", "self.value", "output.dense"):
        shapes[f"{layer}.attention.{part}.weight"] = (dimensions, dimensions)
        shapes[f"{layer}.attention.{part}.bias"] = (dimensions,)
    weights = {
        name: chance.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()
    }
    for part in ("embeddings", f"{layer}.attention.output", f"{layer}.output"):
        weights[f"{part}.LayerNorm.weight"] = np.ones(dimensions, np.float32)
        weights[f"{part}.LayerNorm.bias"] = np.zeros(dimensions, np.float32)
    write_model(weights, 2, folder / "onnx" / "model.onnx")
    vocabulary = {token: number for number, token in enumerate((*SPECIAL, *words))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.save(str(folder / "tokenizer.json"))
    write_json(folder / "config.json", hidden_size=dimensions, max_position_embeddings=64)
    names = {"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens"}
    chosen = {name: name == names[pooling] for name in names.values()}
    write_json(folder / "1_Pooling" / "config.json", word_embedding_dimension=dimensions, **chosen)
    return folder


def write_json(path: Path, **members: Any) -> None:
    """Write a JSON object."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(members), encoding="utf-8")
