"""Items' pages as Markdown."""

from __future__ import annotations

from docstow.core.model import Document
from docstow.index.item_facts import Package
from docstow.index.item_page import ItemPage, Member, Traits
from docstow.index.render import page

DOCUMENT = Document(
    path="stowage::Hold",
    kind="struct",
    title="Hold",
    signature="pub struct Hold { /* private fields */ }",
    text="A ship's hold.\n\n```\n# hidden();\nlet hold = 1;\n```",
    url="https://docs.rs/stowage/0.1.0/stowage/struct.Hold.html",
    parent="stowage",
    attributes={
        "deprecated": {"since": "0.2.0", "note": "use Bay"},
        "features": ["ships"],
        "aliases": ["stowage::prelude::Hold"],
        "available": "on crate feature `ships` only",
        "source": "src/hold.rs:15",
        "must_use": "or the cargo is lost",
        "non_exhaustive": True,
        "stability": {"level": "stable", "since": "1.2.0"},
    },
)

TRAITS = Traits(("core::clone::Clone", "!core::marker::Send"), 12, ("str",))

PAGE = """\
# struct `stowage::Hold`

*stowage 0.1.0*

```rust
pub struct Hold { /* private fields */ }
```

**Deprecated since 0.2.0**: use Bay

Available on crate feature `ships` only

Must be used: or the cargo is lost

Non-exhaustive: more may be added in a compatible version

Stable since 1.2.0

Also at: `stowage::prelude::Hold`

Source: `src/hold.rs:15`

A ship's hold.

```rust
let hold = 1;
```

## Fields

- **weight**: `pub weight: f64`

## Methods

- **stow**: `pub fn stow<T>(&mut self, cargo: T) …` — Puts it in.

## Implements

`core::clone::Clone`, `!core::marker::Send`

12 more, auto and blanket: find_implementations

By `Deref` it has the methods of `str` too
"""


def test_a_page_has_header_facts_docs_and_members() -> None:
    members = [
        Member(
            "stowage::Hold::stow",
            "method",
            "pub fn stow<T>(&mut self, cargo: T)\nwhere\n    T: Stowable,",
            "Puts it in.",
        ),
        Member("stowage::Hold::weight", "field", "pub weight: f64", ""),
    ]
    assert page(ItemPage(DOCUMENT, members, TRAITS), "*stowage 0.1.0*") == PAGE


def test_required_features_come_with_the_line_that_turns_them_on() -> None:
    package = Package("stowage", "0.1.0", {"ships": [], "default": []}, "1.85")
    shown = page(ItemPage(DOCUMENT, [], Traits(), package=package), "*stowage 0.1.0*")
    line = '`stowage = { version = "0.1", features = ["ships"] }`'
    assert f"Available on crate feature `ships` only ({line})\n\n" in shown
    assert "Needs Rust 1.85 or newer\n\nA ship's hold." in shown
