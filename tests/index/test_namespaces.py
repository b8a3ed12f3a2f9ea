"""Items of one path: which comes first, how each is chosen, and what belongs to which."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest

from docstow.core.errors import ItemNotFound
from docstow.core.settings import load
from docstow.core.spelling import RUST
from docstow.index.loaded import Index
from docstow.index.lookup import find_items
from docstow.runtime import Runtime
from paths import CRATES as FIXTURES

Ask = Callable[..., str]
NAMES = ("namespaces", "reexports", "globs", "macros", "members")


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    folder = tmp_path_factory.mktemp("namespaces")
    flags = {"store": str(folder / "store"), "cache": str(folder / "cache")}
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:
        for name in NAMES:
            file = FIXTURES / name / "rustdoc.json.zst"
            runtime.rustdoc_files([file]).ingest(file)
        yield runtime


@pytest.fixture(scope="module")
def index(runtime: Runtime) -> Index:
    return runtime.library.index(runtime.library.crate("namespaces", "").snapshot)


@pytest.fixture(scope="module")
def page(runtime: Runtime) -> Ask:
    def read(path: str, **more: int) -> str:
        answer = runtime.toolbox.call("get_item_doc", {"item_path": path, **more})
        return answer.render()

    return read


@pytest.mark.parametrize(
    ("written", "kinds"),
    [
        ("namespaces::same", ["module", "function", "macro"]),
        ("mod@namespaces::same", ["module"]),
        ("module@same", ["module"]),
        ("type@same", ["module"]),
        ("fn@namespaces::same", ["function"]),
        ("namespaces::same()", ["function"]),
        ("value@same", ["function"]),
        ("macro@namespaces::same", ["macro"]),
        ("`same!`", ["macro"]),
        ("same![]", ["macro"]),
        ("same!()", ["macro"]),
        ("namespaces::Older()", ["struct"]),  # no function: calls are written of types too
    ],
)
def test_a_disambiguator_chooses(index: Index, written: str, kinds: list[str]) -> None:
    assert [index.columns["kind"][row] for row in find_items(index, written)] == kinds


def test_a_kind_that_is_not_there_is_refused_with_those_that_are(index: Index) -> None:
    with pytest.raises(ItemNotFound) as caught:
        find_items(index, "trait@namespaces::same")
    assert [each["item_path"] for each in caught.value.suggestions] == [
        "mod@namespaces::same",
        "fn@namespaces::same",
        "macro@namespaces::same",
    ]
    assert "There is no trait@namespaces::same" in caught.value.message


@pytest.mark.parametrize("word", ["struct", "trait", "derive", "prim", "type", "value", "macro"])
def test_the_crate_of_a_path_is_known_without_its_disambiguator(word: str) -> None:
    assert RUST.normalise(f"{word}@serde::de::Deserialize") == "serde::de::Deserialize"


@pytest.mark.parametrize("text", ["someone@example.com", "@types/node", "attr@x::y"])
def test_other_uses_of_the_sign_stay(text: str) -> None:
    assert RUST.choose(text).path == text
    assert not RUST.choose(text).kinds


def test_each_page_of_an_ambiguous_path_names_the_others(page: Ask) -> None:
    pages = page("namespaces::same").split("\n---\n\n")
    assert [each.splitlines()[0] for each in pages] == [
        "# module `namespaces::same`",
        "# function `namespaces::same`",
        "# macro `namespaces::same`",
    ]
    assert (
        "Of the same path: module `mod@namespaces::same`, macro `macro@namespaces::same`"
        in (pages[1])
    )
    assert "Of the same path" not in page("namespaces::old")
    short = page("namespaces::same", max_tokens=100)
    assert "function `fn@namespaces::same`" in short


def test_members_belong_to_the_kind_that_can_have_them(page: Ask) -> None:
    assert "inside" in page("mod@namespaces::same")
    assert "inside" not in page("fn@namespaces::same")
    assert "inside" not in page("macro@namespaces::same")


def test_search_takes_a_disambiguator(runtime: Runtime) -> None:
    def kinds(query: str) -> list[str]:
        asked = {"crate": "namespaces", "query": query}
        answer = runtime.toolbox.call("search_items", asked)
        assert answer.structured is not None
        return [each["item_type"] for each in answer.structured["results"]]

    assert set(kinds("same")) >= {"module", "function", "macro"}
    assert kinds("macro@namespaces::same") == ["macro"]
    assert kinds("fn@same")[:1] == ["function"]
    assert set(kinds("fn@same")) <= {"function", "method", "re-export"}


def test_aliases_keep_their_kind(runtime: Runtime) -> None:
    index = runtime.library.index(runtime.library.crate("reexports", "").snapshot)
    assert index.aliases["reexports::prelude::Hidden"] == [("reexports::Hidden", "struct")]


def test_a_module_lists_what_it_re_exports_and_where_that_is(page: Ask) -> None:
    shown = page("reexports::prelude")
    assert "- **Hidden**: `pub use reexports::Hidden;` — struct: Words of the re-export." in shown
    assert "- **Twice**: `pub use reexports::public::nested::Twice;` — struct: In a module" in shown
    assert "- **Port**: `pub use globs::Side::Port;` — variant: Port." in page("globs::sides")


def test_re_exports_of_other_crates_say_whose_they_are(page: Ask) -> None:
    shown = page("reexports")
    gadget = "https://docs.rs/fixture-inner/2.1.0/inner/struct.Gadget.html"
    assert "`pub use inner::Gadget;` — " in shown
    assert f"struct of fixture-inner 2.1.0 <{gadget}>" in shown


def test_a_glob_of_another_crate_is_listed_with_its_crate(runtime: Runtime, page: Ask) -> None:
    assert "\n- `pub use inner::*;` — module of fixture-inner 2.1.0 <https://docs.rs/" in (
        page("globs")
    )
    asked = {"crate": "globs", "query": "inner"}
    answer = runtime.toolbox.call("search_items", asked).structured
    assert answer is not None
    assert "globs::inner::*" in [each["item_path"] for each in answer["results"]]


def test_the_tree_and_the_summary_count_re_exports(runtime: Runtime) -> None:
    tree = runtime.toolbox.call("get_module_tree", {"crate": "reexports"}).structured
    assert tree is not None
    counts = {each["path"]: each["items"] for each in tree["results"]}
    assert counts["reexports::prelude"] == {"re-export": 2}
    summary = runtime.toolbox.call("get_crate_summary", {"crate": "reexports"}).structured
    assert summary is not None
    sizes = {each["path"]: each["items"] for each in summary["results"]}
    assert sizes["reexports::prelude"] == 2


def test_a_search_in_a_module_finds_what_it_re_exports(runtime: Runtime) -> None:
    asked = {"crate": "reexports", "query": "hidden", "module": "reexports::prelude"}
    answer = runtime.toolbox.call("search_items", asked).structured
    assert answer is not None
    assert {each["item_path"] for each in answer["results"]} == {
        "reexports::prelude",
        "reexports::Hidden",
        "reexports::public::nested::Twice",
    }


def test_a_derive_macro_says_which_trait_it_derives(page: Ask) -> None:
    shown = page("macros::Nothing")
    assert "helper attributes: #[skip], #[rename]" in shown or "#[skip]" in shown
    assert "Derives the trait" not in shown  # the crate has no trait of this name
