"""What a summary of a package shows of its documents."""

from __future__ import annotations

from typing import Any

from docstow.core.model import Document
from docstow.core.spelling import RUST
from docstow.ingest.overview import describe_package, suggested_features
from growth import growth

ROOT = Document(
    "boats",
    "module",
    "boats",
    text="""\
Boats. See the [guide](https://boats.example/book), the [docs](https://docs.rs/boats) and
[what changed](https://github.com/quay/boats/blob/main/CHANGELOG.md).

[![Source](https://img.example/x.svg)](https://github.com/quay/boats)

```toml
[dependencies]
rope = { version = "3", features = ["long"] }
boats = { version = "1", features = ["sails", "oars"] }
```

```no_run
# use boats::Boat;
Boat::new();
```
""",
)


def item(name: str, kind: str, text: str = "", mentions: int = 0, owner: str = "boats") -> Document:
    attributes = {"in_degree": mentions}
    return Document(f"{owner}::{name}", kind, name, "", text, "", owner, attributes)


def test_items_of_the_root_have_a_line_each() -> None:
    items = [
        item("Boat", "struct", "Floats. On water."),
        item("Anchor", "struct"),
        item("new", "method", owner="boats::Boat"),
        item("moor", "function", "Makes fast."),
        item("rigging", "module", "Ropes."),
    ]
    found = describe_package("boats", [ROOT, *items], ROOT, None, RUST, ("rust",))
    assert found == {
        "contents": {"function": ["moor — Makes fast."], "struct": ["Anchor", "Boat — Floats."]},
        "example": "Boat::new();",
        "links": {
            "changelog": "https://github.com/quay/boats/blob/main/CHANGELOG.md",
            "guide": "https://boats.example/book",
            "repository": "https://github.com/quay/boats",
        },
    }


def test_of_many_items_those_stay_that_others_mention() -> None:
    items = [item(f"Deck{n:04}", "struct", "A deck of a boat. " * 3, n % 100) for n in range(1000)]
    found = describe_package("boats", [ROOT, *items], ROOT, None, RUST, ("rust",))
    lines = found["contents"]["struct"]
    assert found["further"] == {"struct": 1000 - len(lines)}
    assert sum(map(len, lines)) <= 6000
    assert "Deck0099 — A deck of a boat." in lines
    assert "Deck0001 — A deck of a boat." not in lines


def test_metadata_comes_before_what_the_text_links_to() -> None:
    links = {
        "repository": "https://git.example/boats",
        "release notes": "https://boats.example/news",
    }
    page = Document("boats/README", "page", "boats", attributes={"links": links})
    found = describe_package("boats", [ROOT], ROOT, page, RUST, ("rust",))
    assert found["links"] == {
        "changelog": "https://boats.example/news",
        "guide": "https://boats.example/book",
        "repository": "https://git.example/boats",
    }


def test_features_are_those_with_which_the_docs_show_the_crate() -> None:
    assert suggested_features("boats", ROOT.text) == ["sails", "oars"]
    assert suggested_features("oats", ROOT.text) == []


def test_a_bracket_that_is_never_closed_costs_no_more_than_others() -> None:
    def describe(size: int) -> dict[str, Any]:
        links = " ".join(f"[#{n}](https://git.example/quay/boats/{n})," for n in range(size * 750))
        text = f"[ {links} [![a [b](c)](https://img.example)" + "[" * (size * 5000)
        page = item("notes", "page", text)
        return describe_package("boats", [ROOT, page], ROOT, page, RUST, ("rust",))

    assert describe(4)["links"]["guide"] == "https://boats.example/book"
    assert growth(describe) < 2
