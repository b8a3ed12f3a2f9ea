"""What belongs to types and traits."""

from __future__ import annotations

from collections.abc import Callable

from docstow.core.model import Document
from docstow.languages.rust.rustdoc import CrateDocs

Crates = Callable[[str], CrateDocs]


def _found(docs: CrateDocs, owner: str) -> list[tuple[str, str, str]]:
    base = "https://docs.rs/members/1.0.0/members/"
    return [
        (each.path, each.kind, each.url.removeprefix(base))
        for each in docs.documents
        if each.path.startswith(f"{owner}::")
    ]


def test_members_of_structs_and_unions(crate: Crates) -> None:
    docs = crate("members")

    assert _found(docs, "members::Plain") == [
        ("members::Plain::LIMIT", "assoc_const", "struct.Plain.html#associatedconstant.LIMIT"),
        ("members::Plain::new", "method", "struct.Plain.html#method.new"),
        ("members::Plain::run", "method", "struct.Plain.html#method.run"),
        ("members::Plain::shown", "field", "struct.Plain.html#structfield.shown"),
    ]
    assert _found(docs, "members::Numbered") == [
        ("members::Numbered::0", "field", "struct.Numbered.html#structfield.0"),
        ("members::Numbered::2", "field", "struct.Numbered.html#structfield.2"),
    ]
    assert _found(docs, "members::Bits") == [
        ("members::Bits::bytes", "field", "union.Bits.html#structfield.bytes"),
        ("members::Bits::word", "field", "union.Bits.html#structfield.word"),
    ]


def test_members_of_enums(crate: Crates) -> None:
    page = "enum.Choice.html#variant."

    assert _found(crate("members"), "members::Choice") == [
        ("members::Choice::Named", "variant", f"{page}Named"),
        ("members::Choice::Named::name", "field", f"{page}Named.field.name"),
        ("members::Choice::Named::size", "field", f"{page}Named.field.size"),
        ("members::Choice::Nothing", "variant", f"{page}Nothing"),
        ("members::Choice::Number", "variant", f"{page}Number"),
        ("members::Choice::One", "variant", f"{page}One"),
        ("members::Choice::One::0", "field", f"{page}One.field.0"),
    ]


def test_members_of_traits_tell_required_from_provided(crate: Crates) -> None:
    docs = crate("members")
    required = {
        each.title: each.attributes.get("required", False)
        for each in docs.documents
        if each.parent == "members::Work"
    }

    assert required == {
        "NAME": False,
        "Output": True,
        "SIZE": True,
        "View": True,
        "run": True,
        "run_twice": False,
    }
    assert _found(docs, "members::Work")[-2:] == [
        ("members::Work::run", "method", "trait.Work.html#tymethod.run"),
        ("members::Work::run_twice", "method", "trait.Work.html#method.run_twice"),
    ]


def test_methods_of_one_name_in_several_blocks_become_one_document(crate: Crates) -> None:
    (toggle,) = [d for d in crate("members").documents if d.path == "members::Door::toggle"]

    assert toggle == Document(
        path="members::Door::toggle",
        kind="method",
        title="toggle",
        signature=(
            "impl Door<Open> {\n    pub fn toggle(self) -> Door<Closed>\n}\n\n"
            "impl Door<Closed> {\n    pub fn toggle(self) -> Door<Open>\n}"
        ),
        text="### `impl Door<Open>`\n\nShuts it.\n\n### `impl Door<Closed>`\n\nOpens it.",
        url="https://docs.rs/members/1.0.0/members/struct.Door.html#method.toggle",
        parent="members::Door",
        attributes={"source": "src/lib.rs:110", "depth": 3},
    )


def test_documented_items_of_trait_implementations_name_their_trait(crate: Crates) -> None:
    found = {
        each.path: (each.text, each.attributes["trait"])
        for each in crate("members").documents
        if "trait" in each.attributes
    }

    assert found == {
        "members::Local::from": ("Points at it.", "core::convert::From"),
        "members::Plain::run": (
            "Runs and says more about it than the trait does.",
            "members::Work",
        ),
    }


def test_docs_of_a_block_go_to_its_type(crate: Crates) -> None:
    (plain,) = [d for d in crate("members").documents if d.path == "members::Plain"]

    assert plain.text == (
        "A struct with fields.\n\n### `impl Plain`\n\n# Notes on the block\n\n"
        "An impl block may have docs, which may link to [`Plain::new`]"
        "(https://docs.rs/members/1.0.0/members/struct.Plain.html#method.new)."
    )
