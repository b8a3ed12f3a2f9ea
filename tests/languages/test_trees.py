"""Code is parsed within a limit of time, and nothing of it is kept."""

from __future__ import annotations

import tracemalloc
from contextlib import suppress

import pytest
from tree_sitter import Language

from docstow.core.errors import UnreadableInput
from docstow.languages.shared import trees

#: Code of which the scanner of the grammar reads the rest at each line.
ENDLESS = b"export declare const " + b"/** Stops. *#/ stop: () =#=> void,\n" * 3_000
HONEST = b"let a = { b: 1 };\n" * 4_000


@pytest.fixture(scope="module")
def language() -> Language:
    import tree_sitter_typescript

    return Language(tree_sitter_typescript.language_typescript())


def test_code_is_parsed_as_a_whole(language: Language) -> None:
    tree = trees.parse(language, HONEST)
    assert tree.root_node.text == HONEST
    assert tree.root_node.named_child_count == 4_000


def test_code_that_takes_far_too_long_is_refused(language: Language) -> None:
    with pytest.raises(UnreadableInput, match="send the part of it"):
        trees.parse(language, ENDLESS)


@pytest.mark.parametrize(
    ("code", "most"), [(HONEST, 20_000), (ENDLESS, 10_000_000)], ids=["parsed", "refused"]
)
def test_a_parser_keeps_nothing_of_the_code(language: Language, code: bytes, most: int) -> None:
    # Of each part that it reads it keeps an empty view, and of what is refused it reads as many
    # parts, of 64 KB, as it can in the time that it has.
    def parse() -> None:
        with suppress(UnreadableInput):
            trees.parse(language, code)

    parse()
    tracemalloc.start()
    try:
        for _ in range(5):
            parse()
        assert tracemalloc.get_traced_memory()[0] < most
    finally:
        tracemalloc.stop()
