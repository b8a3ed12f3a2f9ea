from __future__ import annotations

import json
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from docstow.text.chunking import Block, code_blocks, first_sentence, plain, snippet, split_passages
from growth import growth

GUIDE = """\
Runs a future on the *current* thread, see [`spawn`](https://x.io/a_(b)) and <https://x.io>.
Not for `Vec<T>`!

[![badge](https://img)](https://ci)

# Examples

Run it like this. And so on:

```no_run
# fn main() {
run(async { 1 });
#[allow(unused)]
## not hidden
# }
```

- first item

  ```toml
  key = 1 # kept
  ```
- second item
  with two lines

> quoted
>
>     indented();

## Panics & more

| Type | When |
| ---- | ---- |
| `A`  | *always* |

<div class="warning">Take <b>care</b>.</div>

# Empty

```text
only code
```
"""


def test_split_keeps_headings_and_leaves_code_out() -> None:
    assert split_passages(GUIDE) == [
        (
            "",
            "Runs a future on the current thread, see `spawn` and https://x.io. Not for `Vec<T>`!",
        ),
        (
            "Examples",
            "Run it like this. And so on:\n- first item\n- second item with two lines\n\nquoted",
        ),
        (
            "Examples > Panics & more",
            "Type | When\n`A` | always\n\nTake care .",
        ),
    ]


def test_examples_are_whole_blocks_with_language_and_context() -> None:
    assert code_blocks(GUIDE) == [
        Block("rust", "run(async { 1 });\n#[allow(unused)]\n# not hidden", "And so on:"),
        Block("toml", "key = 1 # kept", "- first item"),
        Block("rust", "indented();", "quoted"),
        Block("text", "only code", "Empty"),
    ]


@pytest.mark.parametrize(
    ("info", "default", "language"),
    [
        ("", "rust", "rust"),
        ("", "python", "python"),
        ("ignore", "text", "rust"),
        ("rust,no_run", "text", "rust"),
        ("should_panic,edition2021", "text", "rust"),
        ("compile_fail,E0277", "text", "rust"),
        ("ignore-windows", "text", "rust"),
        ("{.rust .custom}", "rust", "rust"),
        ("RS", "text", "rust"),
        ("Python title=x", "rust", "python"),
        ("console", "rust", "console"),
        ("none", "rust", "text"),
    ],
)
def test_language_of_info_strings(info: str, default: str, language: str) -> None:
    assert code_blocks(f"```{info}\nx\n```", default_language=default) == [Block(language, "x", "")]


def test_hidden_lines_are_rusts_alone() -> None:
    code = "# comment\n#\n  # x\nkept"
    assert code_blocks(f"```\n{code}\n```")[0].code == "kept"
    assert code_blocks(f"```python\n{code}\n```")[0].code == code
    assert code_blocks("```\n# all hidden\n```") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sends a value. Waits for `x.y`. More.", "Sends a value."),
        ("Sends a value, e.g. A thing, i.e. B. Then more.", "Sends a value, e.g. A thing, i.e. B."),
        ("Is `a` (really?) Yes.", "Is `a` (really?)"),
        ("One line\ngoes on. Next.", "One line goes on."),
        ("# Title\n\n[![b](u)](v)\n\nThe crate does x", "The crate does x"),
        ("- a list. More", "- a list."),
        ("Version 1.2 of tokio::spawn is new. X", "Version 1.2 of tokio::spawn is new."),
        ("```\ncode\n```", ""),
        ("", ""),
    ],
)
def test_first_sentence(text: str, expected: str) -> None:
    assert first_sentence(text) == expected


def test_plain_has_headings_and_no_code() -> None:
    text = "# A *title*\n\ntext &amp; [link][1] ![image](u) a<br>b<i>c</i>\n\n    code\n\n[1]: http://x"
    assert plain(text) == "A title\n\ntext & link image a bc"


words = st.sampled_from(["alpha", "beta.", "Gamma", "`code`", "d\u00e9j\u00e0", "e!"])
paragraphs = st.lists(st.lists(words, min_size=1, max_size=40).map(" ".join), max_size=8)


@given(paragraphs, st.integers(1, 30))
def test_passages_have_all_words_in_order_and_no_more_than_the_limit(
    texts: list[str], limit: int
) -> None:
    passages = split_passages("\n\n".join(texts), limit_words=limit)
    assert [word for _, prose in passages for word in prose.split()] == " ".join(texts).split()
    assert all(0 < len(prose.split()) <= limit for _, prose in passages)


def test_short_paragraphs_share_a_passage_and_long_ones_are_split_by_sentences() -> None:
    text = "One two.\n\nThree four.\n\nFive six seven. Eight nine ten eleven twelve."
    assert split_passages(text, limit_words=5) == [
        ("", "One two.\n\nThree four."),
        ("", "Five six seven."),
        ("", "Eight nine ten eleven twelve."),
    ]


def test_real_documentation_is_divided_whole(corpus: Path) -> None:
    packed = (corpus / "tokio" / "1.53.2" / "rustdoc.json.zst").read_bytes()
    crate = json.loads(zstandard.decompress(packed, max_output_size=1 << 30))
    texts = [item["docs"] for item in crate["index"].values() if item["docs"]]
    assert all("```" not in prose for text in texts for _, prose in split_passages(text))
    fences = sum(text.count("\n```") + text.startswith("```") for text in texts) // 2
    blocks = [block for text in texts for block in code_blocks(text)]
    assert abs(len(blocks) - fences) < 20
    assert not any(
        line == "#" or line.startswith("# ")
        for b in blocks
        for line in b.code.split("\n")
        if b.language == "rust"
    )


sentences = st.lists(
    st.sampled_from(
        [
            "The quick task runs to its end.",
            "A `spawn` never blocks the thread!",
            "Short.",
            "word " * 60,
            "Is it so, e.g. here?",
            "- an item of a list\n- and another",
            "x" * 300,
        ]
    ),
    max_size=25,
).map("\n\n".join)


@given(
    sentences,
    st.sampled_from([["spawn", "block"], ["item"], []]),
    st.integers(240, 400),
)
def test_snippets_are_bounded(text: str, terms: list[str], size: int) -> None:
    result = snippet(text, terms, size=size)
    assert len(result) <= size
    assert len(result) >= min(200, len(text.strip()))
    assert result.removeprefix("\u2026").removesuffix("\u2026") in text


def test_snippet_shows_the_sentences_with_most_terms() -> None:
    filler = "Nothing of interest is said in this sentence, nor in the next one at all. " * 6
    match = "Call `spawn` to start a background task."
    text = filler + "\n\n" + match + " It returns at once.\n\n" + filler
    result = snippet(text, ["spawn", "background"])
    assert match in result
    assert result.endswith(".")
    assert text.startswith(snippet(text, []))


def test_short_texts_are_their_own_snippet() -> None:
    assert snippet(" A short text.\n", ["absent"]) == "A short text."


@pytest.mark.parametrize(
    "text", ["<!--" * 50_000, " " * 100_000 + "x", "`" * 50_000 + "[" * 50_000]
)
def test_the_cost_of_hostile_texts_grows_with_their_length(text: str) -> None:
    def read(size: int) -> None:
        part = text[: len(text) // 4 * size]
        snippet("x" + part, ["x"])
        split_passages(part)
        code_blocks(part)

    assert growth(read) < 2
