from __future__ import annotations

from pathlib import Path

import pytest

from docstow.core.errors import ConfigurationError
from docstow.embedding import Choice, parse_choice


@pytest.mark.parametrize(
    ("model", "precision", "expected"),
    [
        ("bundled", "", Choice("bundled", "bundled")),
        ("bundled", "int8", Choice("bundled", "bundled")),
        ("BAAI/bge-small-en-v1.5", "", Choice("hub", "BAAI/bge-small-en-v1.5")),
        ("a/b", "int8", Choice("hub", "a/b", "", "int8")),
        ("a/b#fp32", "int8", Choice("hub", "a/b", "", "fp32")),
        ("a/b@v1.0#int8", "", Choice("hub", "a/b", "v1.0", "int8")),
        ("./b", "", Choice("folder", "b")),
        ("/a/b", "", Choice("folder", str(Path("/a/b")))),
        ("/a/b#int8", "", Choice("folder", str(Path("/a/b")), "", "int8")),
        ("a/b/c", "fp32", Choice("folder", str(Path("a/b/c")), "", "fp32")),
        ("~/b", "", Choice("folder", str(Path.home() / "b"))),
        ("openai:text-embedding-3-small", "", Choice("endpoint", "text-embedding-3-small")),
        ("openai:BAAI/bge-m3#x", "", Choice("endpoint", "BAAI/bge-m3#x")),
    ],
)
def test_what_a_setting_means(model: str, precision: str, expected: Choice) -> None:
    assert parse_choice(model, precision) == expected


@pytest.mark.parametrize(
    ("model", "precision", "message"),
    [
        ("", "", "there is no model ''; use bundled, an id of the hub"),
        ("bge", "", "there is no model 'bge'"),
        ("openai:", "", "openai: needs the model's name"),
        ("a/b#int4", "", "after # comes fp32 or int8, not 'int4'"),
        ("a/b@", "", "'' cannot be a branch, tag or commit"),
        ("a/b@../c", "", "'../c' cannot be a branch, tag or commit"),
        ("bundled", "fp16", "model_precision: must be fp32 or int8, not 'fp16'"),
    ],
)
def test_mistakes_are_named(model: str, precision: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_choice(model, precision)
    assert message in caught.value.message
