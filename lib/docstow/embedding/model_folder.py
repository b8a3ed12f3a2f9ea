"""A folder of model files: which files it has, and how its vectors are made.

The files are those that sentence-transformers writes: ``config.json``, ``tokenizer.json``,
``1_Pooling/config.json``, ``config_sentence_transformers.json`` and an ONNX model. A folder that
was fetched from the hub has a manifest besides, which counts first and names digests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docstow.core.errors import ConfigurationError
from docstow.core.records import dataclass

MANIFEST, TOKENIZER = "docstow-model.json", "tokenizer.json"

#: Where the model of each precision may be; the first that exists is taken.
FILES = {
    "fp32": ("onnx/model.onnx", "model.onnx"),
    "int8": (
        "onnx/model_quantized.onnx",
        "onnx/model_int8.onnx",
        "model_quantized.onnx",
        "model_int8.onnx",
    ),
}

#: Further files that describe a model.
DESCRIPTIONS = (
    "config.json",
    "modules.json",
    "1_Pooling/config.json",
    "config_sentence_transformers.json",
    "sentence_bert_config.json",
)

_POOLINGS = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean"}
_MODULES = {"Transformer", "Pooling", "Normalize"}


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A transformer's files and how its vectors are made.

    Attributes:
        path: the folder.
        name: what people call the model.
        model: the ONNX file, relative to the folder.
        pooling: ``cls``: the first token's vector; ``mean``: the mean over all tokens.
        query_prefix: stands before every query.
        passage_prefix: stands before every passage.
        max_tokens: longer texts are cut there, special tokens included.
        dimensions: length of a vector.
        sha256: the digests that the model and the tokenizer must have; empty for a folder of the
            user's own, which is taken as it is.
    """

    path: Path
    name: str
    model: str
    pooling: str
    query_prefix: str
    passage_prefix: str
    max_tokens: int
    dimensions: int
    sha256: Mapping[str, str]

    @property
    def files(self) -> tuple[str, str]:
        """Model and tokenizer, relative to the folder."""
        return self.model, TOKENIZER

    def digest(self, file: str) -> str:
        """Return the SHA-256 that a file must have, or the one that it has if none is known."""
        return self.sha256.get(file) or hashlib.sha256(self.read(file)).hexdigest()

    def read(self, file: str) -> bytes:
        """Read a file.

        Raises:
            ConfigurationError: it cannot be read, or is not the one that was fetched.
        """
        path = self.path / file
        try:
            body = path.read_bytes()
        except OSError as error:
            raise ConfigurationError(
                f"{path} of the embedding model cannot be read ({error}); fetch the model again"
            ) from error
        expected = self.sha256.get(file)
        if expected and (digest := hashlib.sha256(body).hexdigest()) != expected:
            raise ConfigurationError(
                f"{path} is not the file that was fetched: its SHA-256 is {digest}, the manifest "
                f"says {expected}; delete the folder and fetch the model again"
            )
        return body


def open_folder(path: Path, precision: str = "") -> ModelFolder:
    """Read the description of a folder's model.

    Args:
        path: the folder.
        precision: ``fp32``, ``int8``, or empty for either.

    Raises:
        ConfigurationError: with everything that is missing, one a line.
    """
    if not path.is_dir():
        raise ConfigurationError(f"model: there is no folder {path}")
    mistakes: list[str] = []
    manifest = _read_manifest(path, mistakes)
    described = _read_descriptions(path, mistakes) if "pooling" not in manifest else {}
    facts = {**described, **manifest}
    model = _model_file(path, precision, mistakes)
    if not (path / TOKENIZER).is_file():
        mistakes.append(f"{TOKENIZER} is missing")
    if mistakes:
        raise ConfigurationError(
            f"The model folder {path} cannot be used:\n" + "\n".join(mistakes), mistakes=mistakes
        )
    return ModelFolder(
        path=path,
        name=facts.get("id") or path.resolve().name,
        model=model,
        pooling=facts["pooling"],
        query_prefix=facts.get("query_prefix", ""),
        passage_prefix=facts.get("passage_prefix", ""),
        max_tokens=facts["max_tokens"],
        dimensions=facts["dimensions"],
        sha256=facts.get("sha256", {}),
    )


def _read_manifest(path: Path, mistakes: list[str]) -> dict[str, Any]:
    manifest: dict[str, Any] = _read_json(path, MANIFEST, mistakes) or {}
    digests = manifest.get("sha256", {})
    if not isinstance(digests, dict) or not all(isinstance(each, str) for each in digests.values()):
        mistakes.append(f"{MANIFEST}: sha256 must name a digest for each file")
    return manifest


def _read_descriptions(path: Path, mistakes: list[str]) -> dict[str, Any]:
    """Read pooling, prefixes, length and dimensions from the files of sentence-transformers."""
    config = _read_json(path, "config.json", mistakes)
    if config is None:
        mistakes.append("config.json is missing; it says hidden_size and max_position_embeddings")
        config = {}
    elif not isinstance(config.get("hidden_size"), int):
        mistakes.append("config.json does not say hidden_size, the length of a vector")
    sentences = _read_json(path, "sentence_bert_config.json", mistakes) or {}
    length = sentences.get("max_seq_length") or config.get("max_position_embeddings") or 512
    query, passage = _prefixes(
        _read_json(path, "config_sentence_transformers.json", mistakes) or {}
    )
    return {
        "pooling": _pooling(path, mistakes),
        "query_prefix": query,
        "passage_prefix": passage,
        "max_tokens": int(length),
        "dimensions": config.get("hidden_size"),
    }


def _pooling(path: Path, mistakes: list[str]) -> str:
    for module in _read_json(path, "modules.json", mistakes, kind=list) or []:
        name = str(module.get("type", "")).rpartition(".")[2] if isinstance(module, dict) else ""
        if name not in _MODULES:
            mistakes.append(
                f"modules.json names a {name or 'nameless'} module; only "
                f"{', '.join(sorted(_MODULES))} can be run"
            )
    pooling = _read_json(path, "1_Pooling/config.json", mistakes)
    if pooling is None:
        mistakes.append(
            "1_Pooling/config.json is missing; it says pooling_mode_cls_token or "
            "pooling_mode_mean_tokens"
        )
        return ""
    chosen = [name for name, value in pooling.items() if name.startswith("pooling_") and value]
    if len(chosen) != 1 or chosen[0] not in _POOLINGS:
        mistakes.append(
            f"1_Pooling/config.json asks for {', '.join(chosen) or 'no pooling'}; one of "
            f"{' and '.join(_POOLINGS)} can be done"
        )
        return ""
    return _POOLINGS[chosen[0]]


def _prefixes(config: Mapping[str, Any]) -> tuple[str, str]:
    """Return what stands before a query and before a passage."""
    prompts = config.get("prompts") or {}
    default = prompts.get(config.get("default_prompt_name"), "")
    passage = prompts.get("document", prompts.get("passage", default))
    return prompts.get("query", default), passage


def _model_file(path: Path, precision: str, mistakes: list[str]) -> str:
    candidates = FILES[precision] if precision else FILES["fp32"] + FILES["int8"]
    candidates += tuple(file for file in _find_int8(path) if not precision or precision == "int8")
    for file in candidates:
        if (path / file).is_file():
            return file
    mistakes.append(f"the {precision or 'ONNX'} model is missing: none of {', '.join(candidates)}")
    return ""


def _find_int8(path: Path) -> tuple[str, ...]:
    """Return further int8 models: exports are named after the processor that they suit best."""
    found = [file for folder in (path / "onnx", path) for file in folder.glob("model_q*int8*.onnx")]
    return tuple(sorted(file.relative_to(path).as_posix() for file in found))


def _read_json(path: Path, file: str, mistakes: list[str], *, kind: type = dict) -> Any:
    """Read a JSON file; None if there is none, empty if it is not as it should be."""
    try:
        content = json.loads((path / file).read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        mistakes.append(f"{file} cannot be read ({error})")
        return kind()
    if not isinstance(content, kind):
        mistakes.append(f"{file} is not a JSON {'object' if kind is dict else 'list'}")
        return kind()
    return content
