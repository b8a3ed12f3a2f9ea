"""What every piece of Rust code has without saying so: the prelude, primitives, std's traits.

This room knows names alone. It does not know how they are looked up.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from docstow.languages.rust.check.std import tables

#: Crates that no manifest names.
STANDARD = frozenset({"std", "core", "alloc", "proc_macro", "test"})
#: Those of them whose names are known.
KNOWN = frozenset({"std", "core", "alloc"})
#: Traits that need no import: their methods can be called on whatever has them.
PRELUDE = frozenset(
    {
        *("AsMut", "AsRef", "Clone", "Default", "DoubleEndedIterator", "Drop", "Eq"),
        *("ExactSizeIterator", "Extend", "Fn", "FnMut", "FnOnce", "From", "FromIterator", "Into"),
        *("IntoIterator", "Iterator", "Ord", "PartialEq", "PartialOrd", "ToOwned", "ToString"),
        *("TryFrom", "TryInto", "Future", "IntoFuture"),
    }
)
#: Traits that can be derived without an import.
DERIVES = frozenset(
    {
        *("Clone", "Copy", "Debug", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"),
    }
)
#: Traits that all types have, or all references to them: what they bring is there on any value.
UNIVERSAL = (
    *("Any", "Borrow", "BorrowMut", "Clone", "From", "Into", "IntoIterator", "ToOwned"),
    *("TryFrom", "TryInto"),
)
#: Types that need no import, with their paths. Pointers are looked through, so they are not here.
PRELUDE_TYPES: Mapping[str, str] = {
    "String": "std::string::String",
    "Vec": "std::vec::Vec",
    "Option": "std::option::Option",
    "Result": "std::result::Result",
}
#: All names of types and traits that need no import.
PRELUDE_NAMES = frozenset(
    {
        *(*PRELUDE, *PRELUDE_TYPES, "Box", "Some", "None", "Ok", "Err"),
        *("Copy", "Send", "Sized", "Sync", "Unpin", "AsyncFn", "AsyncFnMut", "AsyncFnOnce"),
    }
)
OPTION, RESULT = PRELUDE_TYPES["Option"], PRELUDE_TYPES["Result"]
#: Types whose bare names mean the library's in any crate that has none of that name itself.
PLAIN_TYPES: Mapping[str, str] = {
    "String": "std::string::String",
    "Vec": "std::vec::Vec",
    "PathBuf": "std::path::PathBuf",
    "Path": "std::path::Path",
    "OsString": "std::ffi::OsString",
    "OsStr": "std::ffi::OsStr",
}
PRIMITIVES = frozenset(
    {
        *("bool", "char", "str", "u8", "u16", "u32", "u64", "u128", "usize"),
        *("i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64"),
    }
)
SLICE, ARRAY = "[T]", "[T; N]"


def is_standard(path: str) -> bool:
    """Whether a path's first name is the library's, or that of a primitive."""
    first = path.partition("::")[0]
    return first in KNOWN or first in PRIMITIVES or first in {SLICE, ARRAY}


@cache
def std_traits() -> Mapping[str, frozenset[str]]:
    """By the trait's name the names of its members; those of one name taken together."""
    found: dict[str, set[str]] = {}
    columns, children = tables().columns, tables().rows_by_parent
    for path, kind in zip(columns["path"], columns["kind"], strict=True):
        if kind == "trait":
            members = (columns["title"][row] for row in children.get(path, ()))
            found.setdefault(path.rpartition("::")[2], set()).update(members)
    return {name: frozenset(members) for name, members in found.items()}


@cache
def universal_names() -> frozenset[str]:
    """What the traits bring that any value has."""
    return frozenset(name for trait in UNIVERSAL for name in std_traits()[trait])


@cache
def standard_paths() -> Mapping[str, str]:
    """The library's types that share their last names with none of its others, with their paths."""
    found: dict[str, set[str]] = {}
    for title, path, kind in _stable_types():
        if kind != "type_alias":
            found.setdefault(title, set()).add(path)
    return {title: path for title, (path, *more) in found.items() if not more}


@cache
def standard_types() -> frozenset[str]:
    """Names of the library's types: in a signature nobody knows whose such a name is."""
    return frozenset(title for title, _, _ in _stable_types())


def _stable_types() -> list[tuple[str, str, str]]:
    """Last names, paths and kinds of types; nobody else writes those that are unstable."""
    columns = tables().columns
    names = ("title", "path", "kind", "attributes")
    rows = zip(*(columns[name] for name in names), strict=True)
    kinds = {"struct", "enum", "union", "type_alias"}
    return [
        (title, path, kind)
        for title, path, kind, said in rows
        if kind in kinds and '"unstable"' not in said
    ]
