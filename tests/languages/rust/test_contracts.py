"""What items ask of their users, and when they are there: facts of members and implementations."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import pytest

from docstow.core.model import AVAILABLE, Document
from docstow.core.settings import load
from docstow.languages.rust.rustdoc import CrateDocs
from docstow.languages.rust.rustdoc.links import public_path
from docstow.languages.rust.rustdoc.schema import Summary
from docstow.runtime import Runtime
from paths import CRATES

Page = Callable[[str], str]


@pytest.fixture(scope="module")
def docs(crate: Callable[[str], CrateDocs]) -> CrateDocs:
    return crate("contracts")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder = tmp_path_factory.mktemp("contracts")
    flags = {"store": str(folder / "store"), "cache": str(folder / "cache")}
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:
        contracts = CRATES / "contracts" / "rustdoc.json.zst"
        runtime.rustdoc_files([contracts]).ingest(contracts)
        parts = sorted((CRATES / "thiserror").glob("*.zst"))
        together = runtime.rustdoc_files(parts)
        for part in parts:
            together.ingest(part)

        def read(path: str) -> str:
            return runtime.toolbox.call("get_item_doc", {"item_path": path}).render()

        yield read


def facts(docs: CrateDocs, name: str) -> dict[str, dict[str, object]]:
    def chosen(document: Document) -> dict[str, object]:
        return {k: v for k, v in document.attributes.items() if k == name}

    return {each.path: told for each in docs.documents if (told := chosen(each))}


def test_a_layout_is_told_only_where_users_may_rely_on_it(docs: CrateDocs) -> None:
    assert facts(docs, "repr") == {
        "contracts::Level": {"repr": "u8"},
        "contracts::Open": {"repr": "transparent"},
        "contracts::Point": {"repr": "C"},
    }


def test_members_say_what_must_be_used_and_what_is_unsafe(docs: CrateDocs, page: Page) -> None:
    assert facts(docs, "must_use") == {
        "contracts::Plain::say": {"must_use": "it costs"},
        "contracts::Point::save": {"must_use": True},
    }
    assert facts(docs, "unsafe") == {"contracts::Plain::beyond": {"unsafe": True}}
    assert "**Unsafe**: There must be more.\n" in page("contracts::Plain::beyond")


def test_members_say_what_they_need_beyond_their_owner(docs: CrateDocs, page: Page) -> None:
    assert facts(docs, "available_here") == {
        path: {"available_here": told}
        for path, told in {
            "contracts::Point::save": "on crate feature `fs` only",
            "contracts::Point::send": "on crate feature `net` only",
            "contracts::Point::send_file": "on crate features `net` and `fs` only",
            "contracts::Point::wide": "on 64-bit only",
            "contracts::Sized2::connect": "on crate feature `net` only",
        }.items()
    }
    shown = page("contracts::Point")
    assert "— The block has the feature. (available on crate feature `net` only)\n" in shown
    assert "Available on crate features `net` and `fs` only (" in page(
        "contracts::Point::send_file"
    )


def test_implementations_say_when_they_are_there(docs: CrateDocs, page: Page) -> None:
    told = {each.detail for each in docs.relations if each.predicate == AVAILABLE}
    assert told == {
        "on crate feature `fs` only\nimpl From<u16> for Level",
        "on crate features `net` or `fs` only\nimpl From<u8> for Level",
        "on crate feature `net` only\nimpl Plain for Point",
        "on crate feature `fs` only\nimpl From<u16> for Point",
    }
    # One of the two is always there.
    implements = page("contracts::Point").split("## Implements\n\n")[1].split("\n\n")[0]
    assert implements == (
        "`contracts::Plain` (on crate feature `net` only), `core::convert::From`, `inner::Keeps`"
    )


def test_traits_that_no_dyn_is_made_of_say_so(page: Page) -> None:
    assert "Not dyn compatible" in page("contracts::Sized2")
    assert "Not dyn compatible" not in page("contracts::Plain")


def test_auto_traits_that_a_type_lacks_are_named(page: Page) -> None:
    assert "\n\nNot `core::marker::Send`, `core::marker::Sync`\n" in page("contracts::Local")
    assert "\n\nNot `" not in page("contracts::Point")


def test_a_path_of_another_crate_is_the_one_that_docs_write(docs: CrateDocs) -> None:
    linked = {
        (each.subject, each.object) for each in docs.relations if each.predicate == "links-to"
    }
    assert linked == {("contracts", "inner::Kept"), ("contracts::Point", "inner::Keeps")}


def test_a_derive_macro_says_which_trait_it_implements_and_its_attributes(page: Page) -> None:
    shown = page("thiserror::Error")
    assert shown.startswith("# derive macro `thiserror::Error`\n")
    assert "// helper attributes: #[backtrace], #[error], #[from], #[source]" in shown
    assert "\n\nDerives the trait `std::error::Error`\n" in shown


@pytest.mark.parametrize(
    ("path", "kind", "public"),
    [
        ("core::future::future::Future", "trait", "core::future::Future"),
        ("alloc::collections::btree::map::BTreeMap", "struct", "alloc::collections::BTreeMap"),
        ("std::collections::hash::map::HashMap", "struct", "std::collections::HashMap"),
        ("core::ops::arith::Add", "trait", "core::ops::Add"),
        ("core::panic::unwind_safe::UnwindSafe", "trait", "core::panic::UnwindSafe"),
        ("core::marker::Send", "trait", "core::marker::Send"),
        ("core::option::Option::Some", "variant", "core::option::Option::Some"),
        ("core::ops::control_flow::ControlFlow::Break", "variant", "core::ops::ControlFlow::Break"),
        ("tokio::sync::mutex::Mutex", "struct", "tokio::sync::mutex::Mutex"),
    ],
)
def test_paths_of_the_standard_library_are_public(path: str, kind: str, public: str) -> None:
    assert public_path(Summary(crate_id=1, path=path.split("::"), kind=kind)) == public
