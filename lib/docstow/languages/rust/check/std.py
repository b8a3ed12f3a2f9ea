"""Rust's standard library as tables, in the form that those of a stored crate have.

They are read from ``rust_std.txt.xz``, which ``infra/rust_std.py`` makes from the library's own
documentation.

The file's first line is the version. Each further line has a path, a tab and one of

* a kind, what a call takes and gives (``fn f(self, _: ()) -> Option<str>``; ``()`` stands for what
  is not certain, parameters of the type have its names for them, references are left out) or what
  a field or variant holds, and since when it is deprecated or that it is ``unstable``: parted by
  tabs;
* a tab and the last names of the traits that the type has;
* ``>`` and the path or parameter that it dereferences to, ``?`` for whatever it holds;
* ``*`` and what it gives one after another, or once it is awaited;
* ``=``, a tab and the path of the same item: this one is an alias.
"""

from __future__ import annotations

import json
import lzma
import pkgutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, cached_property
from typing import Any

from docstow.core.model import (
    CRATE,
    DEREFS_TO,
    WRITTEN,
    YIELDS,
    Recipe,
    Revision,
    Snapshot,
    Source,
)

_FILE = "rust_std.txt.xz"
#: The kind of an item of which only the path is known.
_UNKNOWN = "unknown"
#: Crates that no manifest names.
STANDARD = frozenset({"std", "core", "alloc", "proc_macro", "test"})
#: Those of them whose names are in the tables.
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
#: Traits that all types have, or all references to them: any value has their members.
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
#: The types of public fields, which the tables leave out.
FIELDS: Mapping[str, str] = {
    "std::process::Output::status": "std::process::ExitStatus",
    "std::process::Output::stdout": "std::vec::Vec",
    "std::process::Output::stderr": "std::vec::Vec",
}
#: Types whose aliases begin as they do: ``AtomicBool`` is ``Atomic<bool>``.
ALIASED = ("std::sync::atomic::Atomic", "std::num::NonZero")
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


class StdTables:
    """The library's names; each column has one entry for each item.

    Args:
        text: of the file.
    """

    def __init__(self, text: str) -> None:
        version, *lines = text.split("\n")
        self._rows: dict[str, list[int]] = {}
        self.columns: Mapping[str, list[str]] = {
            name: [] for name in ("path", "kind", "title", "signature", "parent", "attributes")
        }
        self.aliases: dict[str, str] = {}
        self._related: list[tuple[str, str, str]] = []
        for line in lines:
            path, kind, *fields = line.split("\t")
            if kind == "=":
                self.aliases[path] = fields[0]
            elif kind.startswith(">"):
                self._related.append((path, DEREFS_TO, kind[1:]))
            elif kind.startswith("*"):
                self._related.append((path, YIELDS, kind[1:]))
            elif not kind:
                traits = " ".join(f"std::{each}" for each in fields[0].split())
                self._related.append((path, WRITTEN, traits))
            else:
                self._add(path, kind, *fields)
        self.snapshot = _snapshot(version)

    def _add(self, path: str, kind: str, declaration: str = "", status: str = "") -> None:
        attributes: dict[str, Any] = {}
        if status:
            unstable = status == "unstable"
            attributes = {"unstable": True} if unstable else {"deprecated": {"since": status}}
        parent, _, title = path.rpartition("::")
        self._rows.setdefault(path, []).append(len(self.columns["path"]))
        row = {
            "path": path,
            "kind": "re-export" if kind == _UNKNOWN else kind,
            "title": title,
            "signature": declaration,
            "parent": parent,
            "attributes": json.dumps(attributes),
        }
        for name, value in row.items():
            self.columns[name].append(value)

    @cached_property
    def rows_by_parent(self) -> Mapping[str, list[int]]:
        """Rows of the direct members of each path."""
        rows: dict[str, list[int]] = {}
        for row, parent in enumerate(self.columns["parent"]):
            rows.setdefault(parent, []).append(row)
        return rows

    @property
    def relations(self) -> Mapping[str, Sequence[str]]:
        """The columns subject, predicate and object."""
        columns = zip(*self._related, strict=True)
        return dict(zip(("subject", "predicate", "object"), map(list, columns), strict=True))

    @property
    def passages(self) -> Mapping[str, Sequence[str]]:
        """No passages: the file has no prose."""
        return {"text": ()}

    @property
    def examples(self) -> Mapping[str, Sequence[str]]:
        """No examples."""
        return {"code": (), "language": ()}

    def find(self, path: str) -> tuple[int, ...]:
        """Return the rows of a path or alias; ``core`` and ``alloc`` have what ``std`` has."""
        if rows := self._rows.get(path):
            return tuple(rows)
        head, tail = path, ""
        while head:
            if head in self.aliases:
                return self.find(self.aliases[head] + tail)
            head, _, last = head.rpartition("::")
            tail = f"::{last}{tail}"
        first, _, rest = path.partition("::")
        return self.find(f"std::{rest}") if first in {"core", "alloc"} and rest else ()

    def attributes(self, row: int) -> dict[str, Any]:
        """Return since when an item is deprecated, or that it is unstable."""
        found: dict[str, Any] = json.loads(self.columns["attributes"][row])
        return found

    def features(self, _: int) -> list[str]:
        """Return no features: the library has none that a manifest could turn on."""
        return []


@cache
def tables() -> StdTables:
    """Return the library's tables; they are read when they are first needed."""
    data = pkgutil.get_data("docstow.languages.rust.check", _FILE)
    return StdTables(lzma.decompress(data or b"").decode())


def _snapshot(version: str) -> Snapshot:
    source = Source(CRATE, "std", version)
    never = datetime(1970, 1, 1, tzinfo=UTC)
    recipe = Recipe("", "", "", "")
    return Snapshot("", Revision(source, version), recipe, {}, {}, {}, {}, never)


def is_standard(path: str) -> bool:
    """Tell whether a path's first name is the library's, or that of a primitive."""
    first = path.partition("::")[0]
    return first in KNOWN or first in PRIMITIVES or first in {SLICE, ARRAY}


@cache
def std_traits() -> Mapping[str, frozenset[str]]:
    """Return the names of members by the trait's name; traits of one name are merged."""
    found: dict[str, set[str]] = {}
    columns, children = tables().columns, tables().rows_by_parent
    for path, kind in zip(columns["path"], columns["kind"], strict=True):
        if kind == "trait":
            members = (columns["title"][row] for row in children.get(path, ()))
            found.setdefault(path.rpartition("::")[2], set()).update(members)
    return {name: frozenset(members) for name, members in found.items()}


@cache
def members_of_any_value() -> frozenset[str]:
    """Return the members of the traits that any value has."""
    return frozenset(name for trait in UNIVERSAL for name in std_traits()[trait])


@cache
def standard_paths() -> Mapping[str, str]:
    """Return paths of the library's types by last name, where only one type has it."""
    found: dict[str, set[str]] = {}
    for title, path, kind in _stable_types():
        if kind != "type_alias":
            found.setdefault(title, set()).add(path)
    return {title: path for title, (path, *more) in found.items() if not more}


@cache
def standard_types() -> frozenset[str]:
    """Return the names of the library's types: in a signature they may be another crate's too."""
    return frozenset(title for title, _, _ in _stable_types())


def _stable_types() -> list[tuple[str, str, str]]:
    """Return last names, paths and kinds of types, unstable ones left out."""
    columns = tables().columns
    names = ("title", "path", "kind", "attributes")
    rows = zip(*(columns[name] for name in names), strict=True)
    kinds = {"struct", "enum", "union", "type_alias"}
    return [
        (title, path, kind)
        for title, path, kind, attributes in rows
        if kind in kinds and '"unstable"' not in attributes
    ]
