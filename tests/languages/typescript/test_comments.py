"""Documentation comments: every tag is kept, but for what the declaration says itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from docstow.languages.typescript.comments import parse_comment
from languages.typescript.node.test_node_items import items


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("@typeParam T - what is held", "- `T`: what is held"),
        ("@template T what is held", "- `T`: what is held"),
        ("@throws {TypeError} for words", "Throws: `TypeError` for words"),
        ("@overloadSummary By name.", "Overload summary: By name."),
        ("@category Loading", "Category: Loading"),
        ("@link https://example.org/a", "Link: https://example.org/a"),
        ("@experimental", "Experimental."),
        ("@privateRemarks Not for you.", ""),
        ("@todo Mend it.", ""),
        ("@public", ""),
        ("@see {@link Other.name} and {@linkcode two | second}", "See: `Other.name` and `second`"),
        (
            "@example ```ts\n * @decorated\n * ```\n * @since 1",
            "Example:\n\n```ts\n@decorated\n```\n\nSince: 1",
        ),
        ("@param {{a: {b: 1}}} given the rest", "- `given`: the rest"),
        ("@param list\n *\n * - one\n * - two", "- `list`: \n  - one\n  - two"),
    ],
)  # fmt: skip
def test_tags(written: str, text: str) -> None:
    assert parse_comment(f"/** {written} */").text == text


def test_a_comment_that_names_what_it_inherits(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        {
            "index.d.ts": (
                "/** Sends. */\nexport declare function send(): void;\n"
                "export declare class Client { /** Closes it. */ close(): void }\n"
                "/** {@inheritDoc send} */\nexport declare function post(): void;\n"
                "/** {@inheritDoc (Client:class).close} */\nexport declare function end(): void;\n"
                "/** @inheritDoc Missing */\nexport declare function lost(): void;\n"
            )
        },
    )
    assert found["lib.post"].text == "Sends."
    assert found["lib.end"].text == "Closes it."
    assert found["lib.lost"].text == "See `Missing`."
