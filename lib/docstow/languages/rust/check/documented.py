"""The types that documented functions return, fields hold and closures are given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from docstow.core.versions import Version
from docstow.index.signatures.parser import parse_declaration, parse_query
from docstow.index.signatures.syntax import UNIT, BadSignature, Kind, Node
from docstow.languages.rust.check import chains
from docstow.languages.rust.check.crate_items import TYPES, CrateNames, Crates, Found, standard
from docstow.languages.rust.check.std import (
    ARRAY,
    PLAIN_TYPES,
    PRIMITIVES,
    SLICE,
    is_standard,
    standard_paths,
    standard_types,
)
from docstow.languages.rust.check.types import (
    FUTURE,
    ITERATOR,
    WRAPPERS,
    Signature,
    Type,
    is_type_parameter,
    iterator,
    parse_signature,
    standard_type,
    tuple_of,
    wrapper,
)

#: Names that many crates use, so that a signature may mean another crate's.
_COMMON_TYPES = frozenset(
    {
        *("Error", "Request", "Response", "Body", "Uri", "Url", "Method", "StatusCode", "Bytes"),
        *("Value", "Map", "Stream", "Sink", "Either", "Span", "Id", "Version", "HeaderMap"),
    }
)
#: Pointers whose methods are mostly those of what they point to.
_POINTERS = {
    "Box": "std::boxed::Box",
    "Arc": "std::sync::Arc",
    "Rc": "std::rc::Rc",
    "Ref": "std::cell::Ref",
    "RefMut": "std::cell::RefMut",
    "MutexGuard": "std::sync::MutexGuard",
    "RwLockReadGuard": "std::sync::RwLockReadGuard",
    "RwLockWriteGuard": "std::sync::RwLockWriteGuard",
    "LazyLock": "std::sync::LazyLock",
    "LazyCell": "std::cell::LazyCell",
}
_CALLABLE = frozenset({"Fn", "FnMut", "FnOnce", "AsyncFn", "AsyncFnMut", "AsyncFnOnce"})
_ITERATORS = frozenset({"Iterator", "DoubleEndedIterator", "ExactSizeIterator"})
_TYPE_HEAD = re.compile(r"pub (?:struct|enum|union) (\w+)")
_ALIAS = re.compile(r"pub type \w+(<.*?>)?(?: where [^=]*)? = (.+?);?", re.DOTALL)
_CONSTANT = re.compile(r"(?:pub )?(?:const|static)(?: mut)? \w+: ([^=;]+)")
_MOST_HOPS = 4
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a declaration stands, and what its names mean there."""

    names: CrateNames
    owner: str = ""
    receiver: Type | None = None
    bound: dict[str, Type | None] = field(default_factory=dict)
    mentions: Mapping[str, str] = field(default_factory=dict)
    makes: bool = False
    lends: bool = False
    params: tuple[str, ...] = ()

    def own(self) -> Type:
        """Return the type that the declaration belongs to, with what is bound of its parameters."""
        args = tuple(self.bound.get(each) for each in self.params)
        return behind_pointer(Type(self.owner, self.names, args if any(args) else ()))


class Documented:
    """Reads the types of declarations.

    Args:
        crates: finds the crates that they name.
    """

    def __init__(self, crates: Crates) -> None:
        self._crates = crates
        #: Aliases that are being followed.
        self._aliases = 0

    def returned(
        self,
        found: Found,
        receiver: Type | None = None,
        given: Sequence[Type | None] = (),
        passed: Sequence[Type | None] = (),
    ) -> Type | None:
        """Return the type that a call has, if that is certain.

        Args:
            found: a function or method.
            receiver: the type of the value that the method is called on.
            given: the type arguments of the call.
            passed: the types of the arguments, ``self`` left out, which tell what parameters
                stand for.
        """
        if found.kind not in {"function", "method"}:
            return None
        signature = parse_signature(found.signature)
        if signature is None or signature.output == UNIT:
            return None
        place = self._place(found, signature, receiver, given)
        for wanted, kind in zip(signature.inputs, passed, strict=False):
            is_open = wanted.name in {*place.params, *signature.params}
            if wanted.kind == Kind.PATH and is_open and place.bound.get(wanted.name) is None:
                place.bound[wanted.name] = kind
        output = self._resolved(signature.output, place, 0)
        return Type(FUTURE, None, (output,)) if signature.is_async else output

    def field(self, found: Found, owner: Type) -> Type | None:
        """Return the type of a documented field of a value."""
        text = found.signature.strip().rstrip(",").removeprefix("pub ")
        label, _, written = text.partition(": ")
        node = _read(written if label.isidentifier() or label.isdigit() else "")
        if node is None:
            return None
        names = found.names
        place = _Place(names, "", None, _arguments(owner), names.mentions(found.path))
        return self._resolved(node, place, 0)

    def built(self, found: Found, passed: Sequence[Type | None]) -> Type:
        """Return the type of a tuple struct by what its fields are given."""
        params = _params_of(found.path, found.names)
        bound: dict[str, Type | None] = dict.fromkeys(params)
        for at, kind in enumerate(passed):
            for each in found.names.find(f"{found.path}::{at}"):
                written = each.signature.strip().removeprefix("pub ").rpartition(": ")[2]
                bound |= {written: kind} if written in bound else {}
        args = tuple(bound.values())
        return behind_pointer(Type(found.path, found.names, args if any(args) else ()))

    def constant(self, found: Found) -> Type | None:
        """Return the type of a documented constant or static."""
        match = _CONSTANT.match(found.signature.strip())
        node = _read(match[1].strip()) if match is not None else None
        if node is None:
            return None
        names = found.names
        owner = found.parent if found.kind == "assoc_const" else ""
        place = _Place(names, owner, None, {}, names.mentions(found.path))
        return self._resolved(node, place, 0)

    def variant(self, found: Found, at: int, owner: Type | None) -> Type | None:
        """Return the type of the value at a place of a tuple variant."""
        here = found.names.find(f"{found.path}::{at}")
        if len(here) == 1 and owner is not None:
            return self.field(here[0], owner)
        _, opened, inside = found.signature.strip().rstrip(",").partition("(")
        node = _read(f"({inside}") if opened else None
        if node is None:
            return None
        parts = node.args if node.kind == Kind.TUPLE else (node,)
        place = _Place(found.names, "", None, _arguments(owner) if owner else {})
        return self._resolved(parts[at], place, 0) if at < len(parts) else None

    def yielded(self, owner: Type) -> Type | None:
        """Return what a value gives one after another, or once it is awaited."""
        if owner.crate is None or owner.through:
            return None
        said = set(owner.crate.yields(owner.name))
        node = _read(said.pop()) if len(said) == 1 else None
        if node is None:
            return None
        return self._resolved(node, _Place(owner.crate, "", owner, _arguments(owner)), 0)

    def own_iterator(self, owner: Type) -> Type | None:
        """Return ``IntoIter`` beside a type without parameters that gives the same.

        That the type is turned into it is the custom of all libraries.
        """
        if owner.crate is None or owner.through or _params_of(owner.name, owner.crate):
            return None
        path = f"{owner.name.rpartition('::')[0]}::IntoIter"
        found = [each for each in owner.crate.find(path) if each.kind == "struct"]
        is_same = len(found) == 1 and owner.crate.yields(path) == owner.crate.yields(owner.name)
        return Type(found[0].path, owner.crate) if is_same and path != owner.name else None

    def operated(self, owner: Type, trait: str, other: Type | None) -> Type | None:
        """Return what an operator gives of a value, or its index, by the trait of that.

        Args:
            owner: the type of the value.
            trait: the operator's, such as ``Sub``.
            other: the type of the value after it, which decides where several are taken.
        """
        if owner.crate is None or owner.through:
            return None
        known = owner.crate.operates(owner.name, trait)
        outputs = {output for _, output in known}
        if len(outputs) > 1:
            names = {other.name, "Self" if other.name == owner.name else ""} if other else set()
            names |= {f"core::{each.removeprefix('std::')}" for each in names}
            outputs = {output for taken, output in known if taken.partition("<")[0] in names}
        node = _read(outputs.pop()) if len(outputs) == 1 else None
        if node is None:
            return None
        return self._resolved(node, _Place(owner.crate, "", owner, _arguments(owner)), 0)

    def closure_inputs(
        self, found: Found, at: int, receiver: Type | None, given: Sequence[Type | None] = ()
    ) -> tuple[Type | None, ...]:
        """Return the types that a documented function gives to the closure at a place."""
        signature = parse_signature(found.signature)
        if signature is None or at >= len(signature.inputs):
            return ()
        wanted = signature.inputs[at]
        bounds = wanted.args if wanted.kind == Kind.IMPL else signature.bounds.get(wanted.name, ())
        place = self._place(found, signature, receiver, given)
        for each in bounds:
            if each.kind == Kind.CALL and each.name.rpartition("::")[2] in _CALLABLE:
                return tuple(self._resolved(part, place, 0) for part in each.args[0].args)
        return ()

    def at(self, path: str, names: CrateNames, args: tuple[Type | None, ...] = ()) -> Type | None:
        """Return the type at a path that the docs of a crate mention, through re-exports."""
        for _ in range(_MOST_HOPS):
            first = path.partition("::")[0]
            there: CrateNames | None = names
            if is_standard(path):
                there = standard()
            elif first != names.root:
                there = self._crates.behind(names, first)
                if there is None or not _is_version_used(names, there):
                    return None
            found = there.find(path) if there is not None else ()
            types = [each for each in found if each.kind in TYPES]
            if len(types) == 1:
                return self.with_defaults(Type(types[0].path, types[0].names, args))
            if len(found) == 1 and found[0].kind == "type_alias":
                return self._behind_alias(found[0], args)
            shown = [each for each in found if each.kind == "re-export"]
            if there is None or len(shown) != 1 or shown[0].path not in there.re_exports:
                return None
            path, names = there.re_exports[shown[0].path], there
        return None

    def with_defaults(self, kind: Type) -> Type:
        """Return a type that is written without arguments with what its parameters stand for."""
        if kind.args or kind.crate is None or kind.through:
            return behind_pointer(kind)
        names = kind.crate
        types = [each for each in names.find(kind.name) if each.kind in TYPES]
        defaults = _defaults(types[0].signature) if len(types) == 1 else ()
        place = _Place(names, mentions=names.mentions(kind.name))
        args = tuple(each and self._resolved(each, place, 0) for each in defaults)
        return behind_pointer(Type(kind.name, names, args)) if any(args) else kind

    def _behind_alias(self, alias: Found, args: tuple[Type | None, ...]) -> Type | None:
        """Return what ``pub type Name<T> = ...;`` stands for, with type arguments put in."""
        match = _ALIAS.fullmatch(alias.signature.strip())
        node = _read(match[2]) if match is not None else None
        if match is None or node is None or self._aliases >= _MOST_HOPS:
            return None
        declared = f"pub struct Alias{match[1] or ''};"
        params = _parameters(declared)
        bound = dict.fromkeys(params) | dict(zip(params, args, strict=False))
        names = alias.names
        self._aliases += 1
        try:
            place = _Place(names, "", None, bound, names.mentions(alias.path))
            for param, default in list(zip(params, _defaults(declared), strict=True))[len(args) :]:
                bound[param] = default and self._resolved(default, place, 0)
            return self._resolved(node, place, 0)
        finally:
            self._aliases -= 1

    def _place(
        self,
        found: Found,
        signature: Signature,
        receiver: Type | None,
        given: Sequence[Type | None],
    ) -> _Place:
        names = found.names
        is_type = any(each.kind in TYPES for each in names.find(found.parent))
        owner = found.parent if is_type else ""
        own = receiver is not None and receiver.name == owner
        bound: dict[str, Type | None] = dict(_arguments(receiver)) if receiver and own else {}
        bound |= dict.fromkeys(signature.generics)
        if len(given) == len(signature.params):
            bound |= dict(zip(signature.params, given, strict=True))
        return _Place(
            names,
            owner,
            receiver,
            bound,
            names.mentions(found.path),
            makes=not signature.takes_self,
            lends=signature.lends,
            params=_params_of(owner, names),
        )

    def _resolved(self, node: Node, place: _Place, depth: int) -> Type | None:
        if depth > _DEEPEST:
            return None
        deeper = depth + 1
        match node.kind:
            case Kind.REFERENCE:
                return self._resolved(node.args[0], place, deeper)
            case Kind.SLICE | Kind.ARRAY:
                kind = SLICE if node.kind == Kind.SLICE else ARRAY
                return standard_type(kind, self._resolved(node.args[0], place, deeper))
            case Kind.TUPLE:
                parts = [self._resolved(each, place, deeper) for each in node.args]
                return tuple_of(*parts) if parts else None
            case Kind.IMPL:
                return self._bounded(node.args, place, deeper)
            case Kind.PATH:
                return self._path(node, place, deeper)
            case Kind.QUALIFIED:
                whole = self._resolved(node.args[0], place, deeper)
                return self._associated(whole, node.name.rpartition("::")[2])
        return None

    def _associated(self, whole: Type | None, name: str) -> Type | None:
        """Return ``T::Item``, ``F::Output`` and the like by what the parameter stands for."""
        if whole is None or whole.through:
            return None
        match name:
            case "Output":
                return whole.inner if whole.name == FUTURE else None
            case "IntoFuture":
                return whole
            case "Item" | "IntoIter":
                known = chains.element(whole)
                item = known if known is not None else self.yielded(whole)
                return item if name == "Item" or item is None else iterator(item)
        return None

    def _bounded(self, bounds: Iterable[Node], place: _Place, depth: int) -> Type | None:
        """Return the type of ``impl Iterator<Item = T>`` or ``impl Future<Output = T>``."""
        for each in bounds:
            last = each.name.rpartition("::")[2]
            for argument in each.args if last in {*_ITERATORS, "Future"} else ():
                if argument.kind == Kind.EQUALITY and argument.name in {"Item", "Output"}:
                    given = self._resolved(argument.args[-1], place, depth)
                    return iterator(given) if last != "Future" else Type(FUTURE, None, (given,))
        return None

    def _path(self, node: Node, place: _Place, depth: int) -> Type | None:
        name = node.name
        held = tuple(
            self._resolved(each, place, depth)
            for each in node.args
            if each.kind not in {Kind.LIFETIME, Kind.EQUALITY, Kind.CONSTRAINT}
        )
        head, _, last = name.partition("::")
        if head == "Self" and last and place.receiver is not None:
            return self._associated(place.receiver, last)
        if last and head in place.bound:
            return self._associated(place.bound[head], last)
        if last:
            return self._whole(name, place, held)
        if name in PRIMITIVES:
            return standard_type(name)
        if name in place.bound:
            return place.bound[name]
        if name in WRAPPERS and not (name == "Option" and place.names.types_by_title.get(name)):
            if name == "Result" and len(held) == 1:
                held = (*held, self._failed(place))
            return wrapper(name, *held[:2]) if held else wrapper(name, None)
        if name == "Self":
            if place.receiver is not None and not place.receiver.through:
                return place.receiver
            return place.own() if place.owner else None
        return self._by_name(name, held, place)

    def _failed(self, place: _Place) -> Type | None:
        """Return the error of ``Result<T>``, which is an alias of the crate's or of ``std::io``."""
        paths = place.names.types_by_title.get("Result", [])
        meant = place.mentions.get("Result") or (paths[0] if len(paths) == 1 else "")
        if meant in {"std::io::Result", "core::io::Result", "std::io::error::Result"}:
            return standard_type("std::io::Error")
        kind = self.at(meant, place.names) if meant and not is_standard(meant) else None
        return kind.args[1] if kind is not None and len(kind.args) > 1 else None

    def _whole(self, name: str, place: _Place, held: tuple[Type | None, ...]) -> Type | None:
        last = name.rpartition("::")[2]
        if not is_standard(name):
            return self.at(name, place.names, held)
        if last in WRAPPERS and name.split("::")[1] in {"option", "result"}:
            return wrapper(last, *held[:2]) if held else wrapper(last, None)
        if place.names.root == "std":
            return behind_pointer(Type(name, standard(), held)) if standard().find(name) else None
        if (through := _POINTERS.get(last)) is not None:
            return _behind(held, through)
        found = [each.path for each in standard().find(name) if each.kind in TYPES]
        known = PLAIN_TYPES.get(last) or standard_paths().get(last) or next(iter(found), None)
        return behind_pointer(standard_type(known, *held)) if known else None

    def _by_name(self, name: str, held: tuple[Type | None, ...], place: _Place) -> Type | None:
        """Return the type that a bare name means.

        Where the tables do not tell where a name comes from, it is only taken for one of the
        crate's own where no other can be meant: a constructor's own type, or a name that is
        neither the standard library's nor twice in the crate.
        """
        names = place.names
        if meant := place.mentions.get(name):
            if is_standard(meant):
                return self._whole(meant, place, held)
            return self.at(meant, names, held)
        if name in place.mentions:
            return None
        if name not in names.types_by_title and (renamed := _renamed(name, place)):
            return self.at(renamed, names, held)
        paths = names.types_by_title.get(name, [])
        owner = place.owner
        if owner and name in {owner.rpartition("::")[2], _declared_name(owner, names)}:
            if place.makes:
                return Type(owner, names, held) if any(held) else place.own()
            if place.lends and not names.tells_mentions:  # what it wraps may bear the same name
                return None
        if not paths and (known := _standard_by_name(name, held, names)) is not None:
            return known
        if not names.tells_mentions and (name in standard_types() or name in _COMMON_TYPES):
            return None
        if len(paths) != 1:
            here = owner.rpartition("::")[0]
            paths = [path for path in paths if here and path.rpartition("::")[0] == here]
        return self.at(paths[0], names, held) if len(paths) == 1 else None


def _renamed(name: str, place: _Place) -> str:
    """Return the path of what a declaration calls by a longer name: ``ClapResult`` of ``Result``.

    Empty where that is not certain.
    """
    meant = [path for last, path in place.mentions.items() if name.endswith(last) and path]
    return meant[0] if len(meant) == 1 and not is_standard(meant[0]) else ""


def _standard_by_name(name: str, held: tuple[Type | None, ...], names: CrateNames) -> Type | None:
    """Return the standard library's type that a name means in a crate without one of that name."""
    if name in PLAIN_TYPES:
        return standard_type(PLAIN_TYPES[name], *held)
    if name in _POINTERS:
        return _behind(held, _POINTERS[name])
    known = standard_paths().get(name) if names.tells_mentions else None
    return behind_pointer(standard_type(known, *held)) if known is not None else None


def _behind(held: Sequence[Type | None], through: str) -> Type | None:
    inner = held[0] if held else None
    if inner is None or inner.name in {FUTURE, ITERATOR}:
        return None
    return Type(inner.name, inner.crate, inner.args, through)


def behind_pointer(kind: Type) -> Type:
    """Return what a smart pointer or a guard leads to, where that is known; others as they are."""
    if kind.crate is None or kind.through or not kind.args:
        return kind
    targets = kind.crate.derefs(kind.name)
    if kind.name in _POINTERS.values():
        inner = kind.args[0]
    else:
        inner = _arguments(kind).get(targets[0]) if len(targets) == 1 else None
    return _behind((inner,), kind.name) or kind


def _arguments(owner: Type) -> dict[str, Type | None]:
    """Return the type parameters of a type with what they stand for in a value."""
    params = _params_of(owner.name, owner.crate)
    args = [*owner.args, *([None] * len(params))]
    return dict(zip(params, args, strict=False))


def _params_of(path: str, names: CrateNames | None) -> tuple[str, ...]:
    """Return the names of a type's parameters, lifetimes left out."""
    found = names.find(path) if names is not None and path else ()
    types = (each for each in found if each.kind in TYPES)
    return tuple(name for each in types for name in _parameters(each.signature))


@lru_cache(maxsize=2048)
def _parameters(text: str) -> tuple[str, ...]:
    try:
        declared = parse_declaration(text)
    except BadSignature:
        return ()
    return tuple(each.name for each in declared.generics if is_type_parameter(each))


@lru_cache(maxsize=2048)
def _defaults(text: str) -> tuple[Node | None, ...]:
    """Return the defaults of a type's parameters."""
    try:
        declared = parse_declaration(text)
    except BadSignature:
        return ()
    return tuple(each.default for each in declared.generics if is_type_parameter(each))


@lru_cache(maxsize=2048)
def _read(written: str) -> Node | None:
    """Parse a type; None where it is none."""
    try:
        output = parse_query(f"fn() -> {written}").output if written else None
    except BadSignature:
        return None
    return output


def _is_version_used(names: CrateNames, other: CrateNames) -> bool:
    """Tell whether a crate is compatible with the one that another crate's docs were made with."""
    external = names.index.snapshot.facts.get("externals", {}).get(other.root, {})
    version = external.get("version", "")
    if not version:
        return False
    wanted, given = Version.parse(version), Version.parse(other.version)
    mine, its = version.split("."), other.version.split(".")
    return given >= wanted and mine[0] == its[0] and (mine[0] != "0" or mine[:2] == its[:2])


def _declared_name(path: str, names: CrateNames) -> str:
    """Return the name that a type's own declaration has: it may be shown by another one."""
    heads: Iterator[re.Match[str] | None] = (
        _TYPE_HEAD.match(each.signature) for each in names.find(path)
    )
    return next((head[1] for head in heads if head is not None), "")
