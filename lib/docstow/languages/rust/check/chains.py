"""What the standard library's generic methods return, which its tables leave open.

Options, results, iterators and collections hold types that pass through chains of calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from docstow.languages.rust.check.std import ARRAY, OPTION, PRIMITIVES, RESULT, SLICE
from docstow.languages.rust.check.types import (
    ITERATOR,
    SOME_ITERATOR,
    TUPLE,
    Type,
    iterator,
    standard_type,
    tuple_of,
    wrapper,
)

Evaluated = Callable[[], Type | None]

#: Methods of iterators that return one of the same items.
_SAME_ITEMS = frozenset(
    {
        *("filter", "skip", "take", "rev", "peekable", "inspect", "chain", "step_by", "fuse"),
        *("skip_while", "take_while", "cloned", "copied", "by_ref", "cycle", "into_iter", "clone"),
        # Those of itertools.
        *("dedup", "dedup_by", "unique", "unique_by", "sorted", "sorted_by", "sorted_by_key"),
        *("sorted_unstable", "sorted_unstable_by", "sorted_unstable_by_key", "intersperse"),
        *("sorted_by_cached_key", "interleave", "merge", "merge_by", "while_some", "k_smallest"),
        *("filter_ok", "duplicates", "take_while_inclusive", "peeking_take_while", "coalesce"),
    }
)
#: Methods that go from one value to the next, beginning with one that they are given.
FOLDING = frozenset({"fold", "try_fold", "scan"})
#: Methods of iterators that make what is not known by their items.
_MADE = frozenset({"collect", "sum", "product", "fold", "partition", "unzip", "scan"})
#: Methods of itertools that return iterators of other items.
_OTHER_ITEMS = frozenset(
    {
        *("tuple_windows", "tuples", "combinations", "permutations", "powerset", "positions"),
        *("with_position", "zip_longest", "zip_eq", "batching", "map_ok", "map_into", "kmerge"),
        *("cartesian_product", "dedup_with_count", "merge_join_by", "flatten_ok", "array_chunks"),
        *("circular_tuple_windows", "multi_cartesian_product", "tuple_combinations", "update"),
    }
)
#: Methods of iterators that return an option of an item.
_ONE_ITEM = frozenset(
    {
        *("next", "last", "min", "max", "min_by", "max_by", "min_by_key", "max_by_key", "find"),
        *("nth", "reduce", "next_back", "rfind", "nth_back", "peek", "next_if"),
    }
)
#: Methods of iterators that return no item.
_PLAIN = {"count": "usize", "len": "usize", "any": "bool", "all": "bool"}
_OPENED = frozenset({"unwrap", "expect", "unwrap_or_default", "unwrap_or_else", "unwrap_or"})
_OPTION_OPENED = _OPENED | {"insert", "get_or_insert", "get_or_insert_with"}
#: Methods of Option and Result, and of crates that extend them, that return the same again.
_SAME = frozenset(
    {
        *("context", "with_context", "or_else", "inspect_err", "or", "as_ref", "as_mut", "cloned"),
        *("copied", "take", "filter", "inspect", "wrap_err", "wrap_err_with", "into_diagnostic"),
    }
)
_PUSHING = frozenset({"push", "push_back", "push_front"})
_VECTOR, _DEQUE = "std::vec::Vec", "std::collections::VecDeque"
_SETS = tuple(f"std::collections::{name}" for name in ("HashSet", "BTreeSet"))
_MAPS = tuple(f"std::collections::{name}" for name in ("HashMap", "BTreeMap"))
_HEAP = "std::collections::BinaryHeap"
LISTS = frozenset({_VECTOR, SLICE, ARRAY, _DEQUE})
_ELEMENTS = frozenset({*LISTS, *_SETS, _HEAP, OPTION, "std::collections::LinkedList"})
_ITERATING = frozenset({"iter", "iter_mut", "into_iter", "drain"})
TEXTS = frozenset({"str", "std::string::String"})
#: Methods of lists that give one or two elements to their closure.
_COMPARING = frozenset(
    {
        *("retain", "retain_mut", "sort_by_key", "sort_by", "sort_unstable_by", "dedup_by_key"),
        *("sort_unstable_by_key", "sort_by_cached_key", "binary_search_by", "partition_point"),
        *("binary_search_by_key", "dedup_by", "is_sorted_by_key", "chunk_by"),
    }
)
_OPTIONAL = frozenset(
    {
        *("first", "last", "first_mut", "last_mut", "pop", "front", "back", "pop_front"),
        *("pop_back", "front_mut", "back_mut", "peek", "pop_first", "pop_last"),
    }
)
#: Methods that a pointer may have itself.
_OF_POINTERS = frozenset({"clone", "as_ref", "as_mut", "to_owned", "into_iter", "borrow"})
COW = "std::borrow::Cow"
#: What a value is called once it is owned, by what is borrowed.
OWNED: Mapping[str, str] = {
    "str": "std::string::String",
    "std::path::Path": "std::path::PathBuf",
    "std::ffi::OsStr": "std::ffi::OsString",
    SLICE: "std::vec::Vec",
}
#: What parsing a text fails with, by what is made of it.
PARSE_ERRORS: Mapping[str, str] = {
    **dict.fromkeys(
        (f"{sign}{size}" for sign in "iu" for size in (8, 16, 32, 64, 128, "size")),
        "std::num::ParseIntError",
    ),
    **dict.fromkeys(("f32", "f64"), "std::num::ParseFloatError"),
    "bool": "std::str::ParseBoolError",
    "char": "std::char::ParseCharError",
    **{
        f"std::net::{name}": "std::net::AddrParseError"
        for name in ("IpAddr", "Ipv4Addr", "Ipv6Addr", "SocketAddr", "SocketAddrV4", "SocketAddrV6")
    },
}
_DURATION, _INSTANT, _TIME = (
    f"std::time::{each}" for each in ("Duration", "Instant", "SystemTime")
)
#: What operators of the library's types give that are not of the type before them, by both.
_OPERATED: Mapping[tuple[str, str, str], str] = {
    (_INSTANT, "-", _INSTANT): _DURATION,
    **{(time, sign, _DURATION): time for time in (_INSTANT, _TIME) for sign in "+-"},
    **{(_DURATION, sign, "u32"): _DURATION for sign in "*/"},
    ("std::string::String", "+", "str"): "std::string::String",
    ("std::string::String", "+", "std::string::String"): "std::string::String",
}
_CELL, _LOCK, _RW_LOCK = "std::cell::RefCell", "std::sync::Mutex", "std::sync::RwLock"
#: What lends what it holds, by the methods that do, with the guard and whether it may fail.
_LENDING: Mapping[str, Mapping[str, tuple[str, bool]]] = {
    _CELL: {
        "borrow": ("std::cell::Ref", False),
        "borrow_mut": ("std::cell::RefMut", False),
        "try_borrow": ("std::cell::Ref", True),
        "try_borrow_mut": ("std::cell::RefMut", True),
    },
    _LOCK: dict.fromkeys(("lock", "try_lock"), ("std::sync::MutexGuard", True)),
    _RW_LOCK: {
        **dict.fromkeys(("read", "try_read"), ("std::sync::RwLockReadGuard", True)),
        **dict.fromkeys(("write", "try_write"), ("std::sync::RwLockWriteGuard", True)),
    },
}
#: What is made of the very value that it holds.
HOLDING = frozenset({_CELL, _LOCK, _RW_LOCK})
_ONCE = frozenset({"std::sync::OnceLock", "std::cell::OnceCell"})
THREAD = "std::thread::JoinHandle"
#: Entries of maps, by the map.
_ENTRIES = {
    "std::collections::HashMap": "std::collections::hash_map::Entry",
    "std::collections::BTreeMap": "std::collections::btree_map::Entry",
}
_CELLS = frozenset({*_LENDING, *_ONCE, *_ENTRIES.values(), THREAD})
#: What iterators of the library give whose type is their own.
_ITEMS: Mapping[str, str] = {
    "std::str::Chars": "char",
    "std::str::Bytes": "u8",
    **{
        f"std::str::{name}": "str"
        for name in (
            *(
                "Lines",
                "Split",
                "SplitN",
                "RSplit",
                "RSplitN",
                "SplitWhitespace",
                "SplitTerminator",
            ),
            *("SplitAsciiWhitespace", "SplitInclusive", "Matches"),
        )
    },
    "std::path::Components": "std::path::Component",
    "std::env::Args": "std::string::String",
}


def element(owner: Type) -> Type | None:
    """Return what iterating over a value of the standard library gives."""
    if owner.through:
        return None
    if owner.name in _ELEMENTS or owner.name in {ITERATOR, SOME_ITERATOR}:
        return owner.inner
    if owner.name in _MAPS:
        return tuple_of(*owner.args[:2]) if len(owner.args) >= 2 else None
    if owner.name == "std::str::CharIndices":
        return tuple_of(standard_type("usize"), standard_type("char"))
    return standard_type(_ITEMS[owner.name]) if owner.name in _ITEMS else None


def is_filling(kind: Type, method: str, given: int) -> bool:
    """Tell whether a method puts all that it is given into a collection of the library."""
    if kind.name in _MAPS:
        return method == "insert" and given > 1
    lists = kind.name in {_VECTOR, _DEQUE, _HEAP} and method in _PUSHING
    return given == 1 and (lists or (kind.name in _SETS and method == "insert"))


def filled(kind: Type, source: Type) -> Type:
    """Return a collection such as ``Vec<_>`` with what an iterator gives put in."""
    if any(kind.args) or source.inner is None:
        return kind
    if kind.name in _ELEMENTS - {OPTION}:
        return standard_type(kind.name, source.inner)
    if kind.name in _MAPS and source.inner.name == TUPLE:
        return standard_type(kind.name, *source.inner.args)
    return kind


def operated(before: Type | None, operator: str, after: Type | None) -> Type | None:
    """Return what an operator of the library gives; None where that is not certain."""
    if before is None or after is None or before.through or after.through:
        return None
    if before.name == after.name and before.name in {*PRIMITIVES, _DURATION} - {"str", "char"}:
        return before if before.name != _DURATION or operator in "+-" else None
    given = _OPERATED.get((before.name, operator, after.name))
    return standard_type(given) if given is not None else None


def is_iterator(owner: Type) -> bool:
    """Tell whether a value of the standard library is an iterator."""
    if owner.name in {ITERATOR, SOME_ITERATOR}:
        return True
    return (
        owner.crate is not None
        and owner.crate.root == "std"
        and not owner.through
        and any(each.endswith("::Iterator") for each in owner.crate.traits(owner.name))
    )


def returned(
    owner: Type, name: str, closure: Evaluated, argument: Evaluated
) -> tuple[Type | None, bool]:
    """Return what a method of the standard library's generic types gives, and whether it is here.

    Args:
        owner: the type of the value.
        name: of the method.
        closure: returns what the call's closure gives.
        argument: returns the type of the call's only argument.
    """
    if owner.through and name in _OF_POINTERS and owner.name not in _CELLS:
        return None, False
    if owner.name in _CELLS:
        return _of_cell(owner, name, closure)
    if owner.name == OPTION:
        return _of_option(owner, name, closure, argument)
    if owner.name == RESULT:
        return _of_result(owner, name, closure)
    if is_iterator(owner):
        return _of_iterator(element(owner), name, closure, argument)
    if owner.name in _MAPS:
        return _of_map(owner, name)
    if owner.name in _ELEMENTS:
        return _of_list(owner, name)
    return None, False


def _of_cell(owner: Type, name: str, closure: Evaluated) -> tuple[Type | None, bool]:
    """Return what is lent by a cell or a lock, put into a map, or given by a thread."""
    held = owner.args[-1] if owner.args else None
    if name in _LENDING.get(owner.name, {}):
        guard, may_fail = _LENDING[owner.name][name]
        lent = None if held is None else Type(held.name, held.crate, held.args, guard)
        return (wrapper("Result", lent) if may_fail else lent), True
    if owner.name in _ENTRIES.values() and name.startswith("or_"):
        return held, True
    if owner.name in _ONCE and name in {"get", "get_mut", "take", "into_inner"}:
        return wrapper("Option", held), True
    if owner.name in _ONCE and name == "get_or_init":
        return held if held is not None else closure(), True
    if owner.name == THREAD and name == "join":
        return wrapper("Result", held), True
    is_opened = owner.name in _LENDING and name in {"into_inner", "get_mut"}
    if is_opened and not owner.through:
        return (held if owner.name == _CELL else wrapper("Result", held)), True
    return None, False


def _of_option(
    owner: Type, name: str, closure: Evaluated, argument: Evaluated
) -> tuple[Type | None, bool]:
    if name in _OPTION_OPENED:
        return owner.inner, True
    if name in _SAME or name in {"or", "xor", "replace"}:
        return owner, True
    match name:
        case "map":
            return wrapper("Option", closure()), True
        case "and_then":
            return closure(), True
        case "ok_or" | "ok_or_else":
            return wrapper("Result", owner.inner), True
        case "zip":
            return wrapper("Option", tuple_of(owner.inner, _inner(argument()))), True
        case "flatten":
            return owner.inner, True
        case "iter" | "iter_mut" | "into_iter":
            return iterator(owner.inner), True
    return None, name in {"map_or", "map_or_else", "as_deref", "as_deref_mut"}


def _of_result(owner: Type, name: str, closure: Evaluated) -> tuple[Type | None, bool]:
    failed = owner.args[1] if len(owner.args) > 1 else None
    if name in _OPENED:
        return owner.inner, True
    if name in _SAME:
        return owner if name in {"as_ref", "as_mut", "inspect", "inspect_err"} else (
            wrapper("Result", owner.inner)
        ), True
    match name:
        case "map":
            return wrapper("Result", closure(), failed), True
        case "map_err":
            return wrapper("Result", owner.inner, closure()), True
        case "and_then":
            return closure(), True
        case "ok" | "err":
            return wrapper("Option", owner.inner if name == "ok" else failed), True
        case "unwrap_err" | "expect_err":
            return failed, True
    return None, name in {"map_or", "map_or_else"}


def _of_iterator(
    item: Type | None, name: str, closure: Evaluated, argument: Evaluated
) -> tuple[Type | None, bool]:
    if name in _SAME_ITEMS:
        return iterator(item), True
    if name in _ONE_ITEM:
        return wrapper("Option", item), True
    if name in _OTHER_ITEMS:
        return iterator(None), True
    match name:
        case "map":
            return iterator(closure()), True
        case "filter_map" | "map_while":
            return iterator(_inner(closure())), True
        case "flat_map":
            given = closure()
            return iterator(element(given) if given is not None else None), True
        case "flatten":
            return iterator(element(item) if item is not None else None), True
        case "enumerate":
            return iterator(tuple_of(standard_type("usize"), item)), True
        case "zip":
            other = argument()
            return iterator(tuple_of(item, element(other) if other is not None else None)), True
        case "position" | "rposition":
            return wrapper("Option", standard_type("usize")), True
        case "find_map":
            return closure(), True
    plain = standard_type(_PLAIN[name]) if name in _PLAIN else None
    return plain, plain is not None or name in _MADE


def _of_map(owner: Type, name: str) -> tuple[Type | None, bool]:
    key, value = (*owner.args, None, None)[:2]
    match name:
        case "get" | "get_mut" | "remove" | "insert":
            return wrapper("Option", value), True
        case "iter" | "iter_mut" | "into_iter" | "drain" | "range":
            return iterator(tuple_of(key, value)), True
        case "entry":
            return standard_type(_ENTRIES[owner.name], key, value), True
        case "keys" | "into_keys":
            return iterator(key), True
        case "values" | "values_mut" | "into_values":
            return iterator(value), True
        case "get_key_value" | "first_key_value" | "last_key_value" | "pop_first" | "pop_last":
            return wrapper("Option", tuple_of(key, value)), True
        case "remove_entry":
            return wrapper("Option", tuple_of(key, value)), True
    return None, False


def _of_list(owner: Type, name: str) -> tuple[Type | None, bool]:
    if name in _ITERATING:
        return iterator(owner.inner), True
    if name in _OPTIONAL:
        return wrapper("Option", owner.inner), True
    if owner.name in LISTS:
        match name:
            case "windows" | "chunks" | "chunks_exact" | "rchunks" | "chunks_mut":
                return iterator(standard_type(SLICE, owner.inner)), True
            case "as_slice" | "as_mut_slice":
                return standard_type(SLICE, owner.inner), True
            case "to_vec" | "into_vec":
                return standard_type(_VECTOR, owner.inner), True
            case "join" | "concat" if owner.inner is not None and owner.inner.name in TEXTS:
                return standard_type("std::string::String"), True
            case "remove" | "swap_remove":
                removed = owner.inner
                return (wrapper("Option", removed) if owner.name == _DEQUE else removed), True
            case "split_first" | "split_last":
                rest = standard_type(SLICE, owner.inner)
                return wrapper("Option", tuple_of(owner.inner, rest)), True
            case "split_at" | "split_at_mut":
                rest = standard_type(SLICE, owner.inner)
                return tuple_of(rest, rest), True
    return None, False


def closure_inputs(owner: Type, name: str) -> tuple[Type | None, ...]:
    """Return what a method of the library's generic types gives to its closure."""
    if owner.through:
        return ()
    if (
        owner.name == RESULT
        and len(owner.args) > 1
        and name in {"map_err", "or_else", "inspect_err"}
    ):
        return (owner.args[1],)
    if owner.name == RESULT and name == "unwrap_or_else":
        return (owner.args[1] if len(owner.args) > 1 else None,)
    if owner.name in {OPTION, RESULT}:
        return (owner.inner,)
    if is_iterator(owner):
        item = element(owner)
        if name in FOLDING:
            return (None, item)
        return (item, item)
    if owner.name in _MAPS and name == "retain":
        return (owner.args[0], owner.args[1]) if len(owner.args) > 1 else ()
    if owner.name in _ELEMENTS:
        return (owner.inner, owner.inner) if name in _COMPARING else ()
    return ()


def _inner(given: Type | None) -> Type | None:
    """Return what an option or a result holds."""
    return given.inner if given is not None and given.name in {OPTION, RESULT} else None
