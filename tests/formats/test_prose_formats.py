"""What each format's own constructs become: whole pages compared."""

from __future__ import annotations

import json

import pytest

from docstow.core.errors import UnreadableInput
from docstow.core.model import File
from docstow.formats import read, readable
from prose_texts import URL, page

MARKDOWN = """\
---
title: "Said: so"
tags: [a, "b c"]
description: >
  Folded
  text
---
<!-- a
comment -->
[![CI](https://img.shields.io/x.svg)](https://ci) <img src="logo.png" alt="Logo">

# Hello `World` {#hello}

See [the
guide](guide.md#x "t"), [ref][], [other][ref], `[not](link)` and Vec<T>.

[ref]: ../up.md

> [!WARNING]
> Careful with
> ```py
> x = [a](b)
> ```

!!! note "Mind this"
    Body

    ```rust,ignore
    let x = <T>::new();
    ```

=== "Python"

    ```python title="x.py"
    print()
    ```

:::tip[Pro]
Use it
:::

<details><summary>More</summary>

<a href="/root.md">Link</a>

</details>

Setext
------

<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>

```js{1,3}
<Foo/> <!-- kept -->
```
"""
FORGE = "https://github.com/owner/repo"
FROM_MARKDOWN = f"""\
# Hello `World`

![Logo]({FORGE}/raw/main/docs/logo.png)

See [the
guide]({FORGE}/blob/main/docs/guide.md#x), [ref]({FORGE}/blob/main/up.md), \
[other]({FORGE}/blob/main/up.md), `[not](link)` and Vec<T>.

> **Warning:** Careful with

```py
x = [a](b)
```

> **Mind this:** Body

```rust
let x = <T>::new();
```

**Python**

```python
print()
```

> **Pro:** Use it

**More**

[Link]({FORGE}/blob/main/root.md)

## Setext

| A | B |
| --- | --- |
| 1 | 2 |

```js
<Foo/> <!-- kept -->
```"""


def test_markdown_of_many_tools_is_one_dialect() -> None:
    made = page("md", MARKDOWN, URL)
    assert made.text == FROM_MARKDOWN
    assert made.title == "Hello World"
    assert made.attributes == {
        "description": "Folded text",
        "tags": ["a", "b c"],
        "anchors": ["", "setext"],
    }
    assert made.links == (
        f"{FORGE}/blob/main/docs/guide.md",
        f"{FORGE}/blob/main/up.md",
        f"{FORGE}/blob/main/root.md",
    )


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("---\ntitle: 'It''s'\n---\ntext", "It's", "text"),
        ('+++\ntitle = "Toml"\n+++\n\ntext', "Toml", "text"),
        ('{\n "title": "Json"\n}\n\ntext', "Json", "text"),
        ("---\n\ntext\n\n---\n", "page", "---\n\ntext\n\n---"),
        ("text [x](y.md)", "page", "text [x](y.md)"),
    ],
)
def test_a_title_without_a_heading_stays_out_of_the_text(text: str, title: str, body: str) -> None:
    made = page("md", text)
    assert (made.title, made.text) == (title, body)


def test_mdx_keeps_the_children_of_components() -> None:
    made = page(
        "mdx",
        """\
import A from 'x'
import {
  B } from 'y'

export const z = () => {

  return 1
}

# Title {z}

<Tabs>
  <TabItem value="py" label="Python">

    Some `{a}` here {"lit"} {props.x}

    ```jsx title="a"
    <Foo x={1}/>
      import z from q
    ```

  </TabItem>
</Tabs>

<Admonition type="tip" title="Hey">
  body <Foo onClick={() => a > b}>in</Foo>
</Admonition>

a < b
""",
    )
    assert made.text == (
        "# Title\n\n**Python**\n\nSome `{a}` here lit\n\n"
        "```jsx\n<Foo x={1}/>\n  import z from q\n```\n\n> **Hey:** body in\n\na < b"
    )


def test_markdown_with_imports_is_mdx() -> None:
    text = (
        "---\ntitle: T\n---\n\nimport Tabs from '@theme/Tabs';\n\n<Tabs>\n\nwords {1}\n\n</Tabs>\n"
    )
    made = page("md", text)
    assert (made.title, made.text) == ("T", "words")
    code = "```js\nimport a from 'b'\n```\n\nA {set}"
    assert page("md", code).text == code


def test_headings_in_a_directive_are_kept() -> None:
    made = page("rst", "Title\n=====\n\n.. only:: html\n\n   Part\n   ----\n\n   Words.\n")
    assert made.text == "# Title\n\n## Part\n\nWords."


def test_rst_is_the_same_dialect() -> None:
    made = page(
        "rst",
        """\
:orphan:

=====
Title
=====

*em* ``code`` :class:`~a.b.C` :doc:`the guide <guide>` `link <other.html>`_ ref_ |sub|

.. _ref: https://ref.example/a
.. |sub| replace:: **SUB**

.. note:: Careful

   .. code-block:: python
      :linenos:

      x = 1
        # y

.. versionadded:: 1.2
   It came.

.. toctree::

   a

Section
-------

- a
- b

.. include:: /etc/hostname

.. csv-table::
   :file: /etc/hostname

.. weird:: arg
   :opt: 1

   Kept.

=====  ====
A      B
=====  ====
1      2|3
=====  ====

>>> 1+1
2
""",
        "https://docs.example/x/page",
    )
    assert made.text == (
        "# Title\n\n*em* `code` `C` the guide [link](https://docs.example/x/other.html)"
        " [ref](https://ref.example/a) **SUB**\n\n> **Note:** Careful\n\n"
        "```python\nx = 1\n  # y\n```\n\n> **New in version 1.2:** It came.\n\n## Section\n\n"
        "- a\n- b\n\nSee the file `/etc/hostname`.\n\n`arg`\n\nKept.\n\n"
        "| A | B |\n| --- | --- |\n| 1 | 2\\|3 |\n\n```pycon\n>>> 1+1\n2\n```"
    )
    assert made.links == ("https://docs.example/x/other.html", "https://ref.example/a")


def test_asciidoc_is_the_same_dialect() -> None:
    made = page(
        "adoc",
        """\
= Title
:description: About it
:version: 1.2

A *bold* {version} https://a.example/c[Label].

[WARNING]
====
Danger

[source,java]
----
int x = 1; // <1>
----
====

* a
** b

[cols="1,2",options="header"]
|===
|A |B
|1
|2
|===

include::x.adoc[]
""",
    )
    assert made.text == (
        "# Title\n\nA **bold** 1.2 [Label](https://a.example/c).\n\n> **Warning:** Danger\n\n"
        "```java\nint x = 1; // <1>\n```\n\n- a\n   - b\n\n| A | B |\n| --- | --- |\n| 1 | 2 |\n\n"
        "See the file `x.adoc`."
    )
    assert made.attributes == {"description": "About it"}


def test_an_asciidoc_paragraph_may_be_an_admonition() -> None:
    made = page("adoc", "= T\nAn Author <a@b.example>\nv1.0\n\n[NOTE]\nOne.\nTwo.\n\nThree.\n")
    assert made.text == "# T\n\n> **Note:** One.\n> Two.\n\nThree."


@pytest.mark.parametrize("old", [False, True])
def test_notebooks_show_code_and_text_outputs(old: bool) -> None:
    outputs = [
        {"output_type": "stream", "text": ["one\n", "two\n"]},
        {"output_type": "display_data", "data": {"image/png": "AAAA"}},
    ]
    code = {"cell_type": "code", "input" if old else "source": ["1\n", "2"], "outputs": outputs}
    cells = [{"cell_type": "markdown", "source": "# Title\n\n```\nopen"}, code]
    body: dict[str, object] = {"metadata": {"kernelspec": {"language": "julia"}}}
    body |= {"nbformat": 3, "worksheets": [{"cells": cells}]} if old else {"cells": cells}
    assert page("ipynb", json.dumps(body)).text == (
        "# Title\n\n```\nopen\n```\n\n```julia\n1\n2\n```\n\n```text\none\ntwo\n```"
    )


def test_plain_text_has_underlined_headings_and_keeps_the_rest() -> None:
    made = page("txt", "Title\n=====\n\nWords *as* they are.\n\n    code\n\nPart\n----\nmore\n")
    assert made.text == "# Title\n\nWords *as* they are.\n\n    code\n\n## Part\nmore"


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("Größe — naïve".encode(), ""),
        ("Größe — naïve".encode("utf-16"), ""),
        ("Größe — naïve".encode("cp1252"), "windows-1252"),
        ("Größe — naïve".encode(), "no-such-charset"),
        (("Größe — naïve, die Straße über schöne Hügel. " * 9).strip().encode("cp1252"), ""),
    ],
)
def test_text_of_many_encodings(body: bytes, charset: str) -> None:
    made = read(File("a.txt", "", f"text/plain; charset={charset}", body))
    assert made.text.startswith("Größe — naïve")


def test_cyrillic_is_guessed() -> None:
    text = "Привет, мир! Это страница о том, как устроена документация. " * 5  # noqa: RUF001
    assert page("txt", text.encode("cp1251")).text == text.strip()


def test_binary_is_unreadable() -> None:
    with pytest.raises(UnreadableInput, match="NUL"):
        page("md", b"a\0b")


@pytest.mark.parametrize(
    ("path", "media_type", "expected"),
    [
        ("a.md", "", True),
        ("https://x.example/guide.MD?raw=1", "text/plain; charset=utf-8", True),
        ("https://x.example/guide", "text/html", True),
        ("README", "", True),
        ("a.py", "", False),
        ("a.md", "image/png", False),
        ("Makefile", "", False),
    ],
)
def test_what_is_readable(path: str, media_type: str, expected: bool) -> None:
    assert readable(path, media_type) is expected
    if not expected:
        with pytest.raises(UnreadableInput, match="reads HTML"):
            read(File(path, "", media_type, b"x"))
