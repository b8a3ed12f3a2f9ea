"""Rustdoc's Markdown as a reader sees it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from docstow.text.chunking import code_blocks
from docstow.text.markdown import rewrite_code_blocks, without_links

TEXT = """\
Stows it.

```no_run
# use stowage::Hold;
let hold = Hold::new(3);
## [derive(Debug)]
#
# drop(hold);
```

- in a list

  ~~~compile_fail,E0382
  # hidden();
  let moved = hold;
  ~~~

> ```toml
> # a comment stays
> [dependencies]
> ```

    indented # stays
    # so does this
"""

SHOWN = """\
Stows it.

```rust
let hold = Hold::new(3);
# [derive(Debug)]
```

- in a list

  ~~~rust,compile_fail
  let moved = hold;
  ~~~

> ```toml
> # a comment stays
> [dependencies]
> ```

    indented # stays
    # so does this
"""


def test_blocks_name_their_language_and_lose_hidden_lines() -> None:
    assert rewrite_code_blocks(TEXT) == SHOWN


def test_a_block_that_never_ends_is_shown_to_the_end() -> None:
    assert rewrite_code_blocks("```\n# a\nb") == "```rust\nb"
    assert rewrite_code_blocks("text only") == "text only"


LINES = st.lists(
    st.sampled_from(["a", "# a", "#", "", "```", "```rust", "~~~toml", "- x", "  y"]), max_size=12
)


@given(LINES)
def test_what_is_shown_has_the_same_examples(lines: list[str]) -> None:
    text = "\n".join(lines)
    fields = [(block.language, block.code) for block in code_blocks(text)]
    assert [
        (block.language, block.code) for block in code_blocks(rewrite_code_blocks(text))
    ] == fields


LINKED = """\
See [`Hold`](https://docs.example/hold.html#new) and [the guide](#guide), not `[a](https://b.example)`.

```text
[kept](https://code.example)
```
![a picture](https://docs.example/ship.png)
"""


def test_links_are_their_words_and_code_stays() -> None:
    _, _, rest = LINKED.partition("\n")
    shown = "See `Hold` and the guide, not `[a](https://b.example)`.\n"
    assert without_links(LINKED) == shown + rest
