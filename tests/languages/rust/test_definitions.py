"""Definition paths share relations, and none is lost."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from docstow.core.model import Relation, pack_definitions
from docstow.core.model import unpack_definitions as unpacked
from docstow.languages.rust.rustdoc import CrateDocs

paths = st.lists(st.sampled_from(["a", "b", "Cd"]), min_size=2, max_size=4).map("::".join)


def found(relations: list[Relation]) -> dict[str, str]:
    each = (unpacked(r.subject, r.object, r.detail) for r in relations)
    return {path: document for some in each for path, document in some.items()}


def test_the_items_of_a_module_share_a_relation() -> None:
    definitions = {
        "x::m::imp::One": "x::m::One",
        "x::m::imp::Two": "x::m::Two",
        "x::m::imp::Old": "x::m::New",
        "x::m::imp::Far": "x::Far",
        "x::m::known": "x::known",
    }
    relations = pack_definitions(definitions, ["x::m::known"])
    assert relations == [
        Relation("x::m::imp", "defines", "x", "Far"),
        Relation("x::m::imp", "defines", "x::m", "New=Old One Two"),
    ]
    del definitions["x::m::known"]
    assert found(relations) == definitions


def test_what_is_in_a_moved_module_needs_no_relation_of_its_own() -> None:
    definitions = {"x::old": "x::new", "x::old::One": "x::new::One", "x::old::Two": "x::Two"}
    assert pack_definitions(definitions, []) == [
        Relation("x", "defines", "x", "new=old"),
        Relation("x::old", "defines", "x", "Two"),
    ]


@given(st.dictionaries(paths, paths, max_size=6))
def test_every_definition_path_leads_to_its_document(definitions: dict[str, str]) -> None:
    unpacked_ones = found(pack_definitions(definitions, []))
    for path, document in definitions.items():
        module, _, name = path.rpartition("::")
        assert unpacked_ones.get(path, f"{definitions.get(module)}::{name}") == document


def test_private_modules_of_a_crate(crate: Callable[[str], CrateDocs]) -> None:
    docs = crate("reexports")
    present = {document.path for document in docs.documents}
    assert set(docs.definitions.values()) <= present
    assert not present & docs.definitions.keys()
