"""Decode rustdoc JSON of any known format: items by id, their inner parts on demand."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property
from typing import Any, TypeVar, cast

import msgspec

from docstow.core.errors import UnreadableInput, UnsupportedFormat
from docstow.languages.rust.rustdoc import schema
from docstow.languages.rust.rustdoc.schema import Id, Item

OLDEST, NEWEST = 15, 61
_LEGACY_BELOW, _INTEGER_IDS = 37, 35
_TAIL = re.compile(rb'"format_version"\s*:\s*(\d+)\s*}\s*\Z')
_TAG = re.compile(rb'\s*\{?\s*"(\w+)"')
#: Names of formats 15 to 36, and those of format 37.
_KINDS = {"import": "use", "typedef": "type_alias", "method": "function", "opaque_ty": "type_alias"}
_KEYS = {
    "bindings": "constraints",
    "c_variadic": "is_c_variadic",
    "decl": "sig",
    "fields_stripped": "has_stripped_fields",
    "glob": "is_glob",
    "mutable": "is_mutable",
    "negative": "is_negative",
    "region_predicate": "lifetime_predicate",
    "synthetic": "is_synthetic",
    "variants_stripped": "has_stripped_variants",
}
_HEADER = {"const": "is_const", "unsafe": "is_unsafe", "async": "is_async"}
_TRAITS = ("trait", "trait_")
_NULL = b"null"
Shape = TypeVar("Shape")
_crates: dict[bool, msgspec.json.Decoder[Any]] = {
    True: msgspec.json.Decoder(schema.Crate[int]),
    False: msgspec.json.Decoder(schema.Crate[str]),
}
_links = msgspec.json.Decoder(dict[str, Id])
_attrs = msgspec.json.Decoder(list[str | dict[str, Any]])
_generics = msgspec.json.Decoder(schema.Generics)
_type = msgspec.json.Decoder(schema.Ty)
_path = msgspec.json.Decoder(schema.Path)


class _Version(msgspec.Struct):
    format_version: int


_version = msgspec.json.Decoder(_Version)


@cache
def _by_tag(shape: type[Any]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(dict[str, shape])  # type: ignore[valid-type]


# msgspec prepares a struct when it first meets it, and crashes where another thread meets it
# meanwhile. One thread imports a module, so all are prepared here; 8 ms.
for _shape in msgspec.Struct.__subclasses__():
    if _shape.__module__ == schema.__name__ and _shape is not schema.Crate:
        _by_tag(_shape)


def format_version(body: bytes) -> int:
    """Return the format's number, which rustdoc writes last: the tail is read without parsing.

    Raises:
        UnreadableInput: if the body is not rustdoc JSON, or is cut short.
    """
    if found := _TAIL.search(body, max(0, len(body) - 200)):
        return int(found[1])
    try:
        return _version.decode(body).format_version
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise UnreadableInput(
            f"not rustdoc JSON ({error}): give the whole file that `rustdoc --output-format json` "
            "wrote"
        ) from error


class RustdocFile:
    """A decoded file.

    Args:
        body: the JSON.
        try_unknown: whether a format newer than 61 is tried instead of refused.

    Raises:
        UnsupportedFormat: the format is older than 15 or newer than 61; or it was tried and is
            too different.
        UnreadableInput: the bytes are not rustdoc JSON.
    """

    def __init__(self, body: bytes, *, try_unknown: bool = False) -> None:
        self.format_version = format_version(body)
        newer = self.format_version > NEWEST
        if self.format_version < OLDEST or (newer and not try_unknown):
            raise _unsupported(self.format_version)
        with decoding(self.format_version):
            self.crate = _crates[self.format_version >= _INTEGER_IDS].decode(body)
        self.index: dict[Id, Item] = self.crate.index
        self.paths: dict[Id, schema.Summary] = self.crate.paths
        self._legacy = self.format_version < _LEGACY_BELOW
        self._traits: frozenset[Id] = frozenset()
        self._decoded: dict[tuple[type[Any], str, bytes], Any] = {}
        self._read_attrs = cache(_attrs.decode)
        if self._legacy:
            self._traits = frozenset(k for k, v in self.paths.items() if v.kind == "trait")
        if self.crate.root not in self.index:
            raise UnreadableInput("the rustdoc JSON has no root module: it is not a whole file")
        self._kinds_beside = bool(self.index[self.crate.root].kind)
        for item in self.index.values():
            word = item.kind or _tag(item.inner)
            item.kind = _KINDS.get(word, word)

    @property
    def lib(self) -> str:
        """The library's name: the first segment of every public path."""
        return self.index[self.crate.root].name or ""

    @cached_property
    def impls(self) -> dict[Id, schema.Impl]:
        """All implementations: the owner's page, and that of each type they name, list them.

        Each type has the same blanket ones, so that generics, traits and types that are written
        alike are decoded once, and are one object.
        """
        items = {key: item for key, item in self.index.items() if item.kind == "impl"}
        if self._legacy:
            return {key: self._decode(item, schema.Impl) for key, item in items.items()}
        return dict(zip(items, _read_impls(items.values()), strict=True))

    def inner(self, item: Item, shape: type[Shape]) -> Shape:
        """Decode the item's content as ``shape``, which must be the struct of its kind.

        What is written alike is decoded once, and is one object: of four functions with docs, three
        have another's arguments and result.
        """
        key = shape, item.kind, bytes(item.inner)
        content = self._decoded.get(key)
        if content is None:
            content = self._decoded[key] = self._decode(item, shape)
        return cast("Shape", content)

    def _decode(self, item: Item, shape: type[Shape]) -> Shape:
        if not self._legacy:
            decoder = _by_tag(shape)  # type: ignore[arg-type]
            return cast("Shape", next(iter(decoder.decode(item.inner).values())))
        content = msgspec.json.decode(item.inner)
        if not self._kinds_beside:
            content = next(iter(content.values()))
        elif shape is schema.Type:
            content = {"type": content}
        content = _upgrade(item.kind, content, self._traits)
        if self._kinds_beside and shape is schema.Type:
            content = content["type"]
        return msgspec.convert(content, shape)

    def links(self, item: Item) -> dict[str, Id]:
        """Return ids by link text exactly as written."""
        return _links.decode(item.links)

    def attrs(self, item: Item) -> list[str | dict[str, Any]]:
        """Return the attributes: words, source text, or one-key objects."""
        return self._read_attrs(bytes(item.attrs))

    def local(self, item_id: Id | None) -> Item | None:
        """Return the item if it is this crate's own."""
        item = self.index.get(item_id) if item_id is not None else None
        return item if item is not None and item.crate_id == 0 else None


@contextmanager
def decoding(version: int) -> Iterator[None]:
    """Turn decoding errors into UnsupportedFormat and UnreadableInput."""
    try:
        yield
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        if version > NEWEST:
            raise _unsupported(version) from error
        raise UnreadableInput(f"the rustdoc JSON of format {version} is broken: {error}") from error


def _read_impls(items: Iterable[Item]) -> Iterator[schema.Impl]:
    """Yield the implementations; parts that are the same bytes are shared."""
    generics, types, paths = cache(_generics.decode), cache(_type.decode), cache(_path.decode)
    decode = _by_tag(schema.ImplParts).decode
    for item in items:
        (parts,) = decode(item.inner).values()
        trait, blanket = bytes(parts.trait), bytes(parts.blanket_impl)
        yield schema.Impl(
            generics(bytes(parts.generics)),
            types(bytes(parts.target)),
            paths(trait) if trait != _NULL else None,
            parts.items,
            parts.is_unsafe,
            parts.is_negative,
            parts.is_synthetic,
            types(blanket) if blanket != _NULL else None,
        )


def _tag(inner: msgspec.Raw) -> str:
    """Return the name of the one member of an item's content."""
    found = _TAG.match(inner)
    return found[1].decode() if found else ""


def _unsupported(version: int) -> UnsupportedFormat:
    """Return the refusal of a format, with its number and the range."""
    hint = ", or set try_unknown_formats" if version > NEWEST else ""
    return UnsupportedFormat(
        f"rustdoc JSON format {version} cannot be read; formats {OLDEST} to {NEWEST} can. "
        f"Ask for a release that was documented with such a compiler, or update docstow{hint}.",
        format_version=version,
        supported=[OLDEST, NEWEST],
    )


def _upgrade(kind: str, inner: Any, traits: Container[Id]) -> Any:
    """Rewrite the content of an item of formats 15 to 36 in the form of format 37.

    The differences are those of the change notes of ``rustdoc-types``: adjacent tags until 24,
    ``import``/``typedef``/``method`` and un-prefixed booleans until 33, variants and structs that
    were laid out flat until 22.

    Args:
        kind: the item's kind in its new spelling.
        inner: the content without its tag, as decoded JSON.
        traits: ids of traits; format 15 wrote ``dyn Trait`` as the bare path of a trait.

    Returns:
        JSON that converts into the struct of :mod:`.schema` for that kind.
    """
    value = _value(inner, traits)
    if not isinstance(value, dict):
        return {"impls": []} if kind == "primitive" else value
    if kind == "struct" and "struct_type" in value:
        value["kind"] = _struct_kind(value)
    elif kind == "variant" and "variant_kind" in value:
        return _variant(value)
    elif kind == "constant" and "const" not in value:
        value["const"] = {key: value[key] for key in ("expr", "value", "is_literal")}
    elif kind == "assoc_const" and "default" in value:
        value["value"] = value.pop("default")
    elif kind == "assoc_type" and "default" in value:
        value["type"] = value.pop("default")
    return value


def _value(value: Any, traits: Container[Id]) -> Any:
    if isinstance(value, list):
        return [_value(each, traits) for each in value]
    if not isinstance(value, dict):
        return value
    if "kind" in value and isinstance(value["kind"], str) and not value.keys() - {"kind", "inner"}:
        return _tagged(value, traits)
    if "param_names" in value:
        value = {key: each for key, each in value.items() if key != "param_names"}
    if "abi" in value:
        return {_HEADER.get(key, key): each for key, each in value.items()}
    new = {_KEYS.get(key, key): _value(each, traits) for key, each in value.items()}
    for key in _TRAITS:
        if isinstance(new.get(key), dict):
            new[key] = _bare_path(new[key])
    if "lifetime_predicate" in new and "bounds" in new["lifetime_predicate"]:
        bounds = new["lifetime_predicate"].pop("bounds")
        new["lifetime_predicate"]["outlives"] = [
            each["outlives"] for each in bounds if "outlives" in each
        ]
    return new


def _tagged(value: dict[str, Any], traits: Container[Id]) -> Any:
    """Turn ``{"kind": k, "inner": x}`` into ``{k: x}``, and a trait used as a type into dyn."""
    kind, inner = value["kind"], value.get("inner")
    if inner is None:
        return kind
    if kind == "resolved_path" and (inner.get("param_names") or inner.get("id") in traits):
        bounds = [_value(each, traits) for each in inner.get("param_names", ())]
        poly = [{"trait": _value(inner, traits), "generic_params": []}]
        poly += [each["trait_bound"] for each in bounds if "trait_bound" in each]
        lifetimes = [each["outlives"] for each in bounds if "outlives" in each]
        return {"dyn_trait": {"traits": poly, "lifetime": lifetimes[0] if lifetimes else None}}
    return {kind: _value(inner, traits)}


def _bare_path(trait: dict[str, Any]) -> dict[str, Any]:
    """Return the path of a trait, which was a type until format 15."""
    if "dyn_trait" in trait:
        trait = trait["dyn_trait"]["traits"][0]["trait"]
    path: dict[str, Any] = trait.get("resolved_path", trait)
    return path


def _struct_kind(value: dict[str, Any]) -> Any:
    if value["struct_type"] == "tuple":
        return {"tuple": value["fields"]}
    if value["struct_type"] == "plain":
        return {
            "plain": {
                "fields": value["fields"],
                "has_stripped_fields": value["has_stripped_fields"],
            }
        }
    return "unit"


def _variant(value: dict[str, Any]) -> dict[str, Any]:
    kind: str = value["variant_kind"]
    inner: Any = value.get("variant_inner")
    if kind == "tuple":
        if any(isinstance(each, dict) for each in inner):
            return {"kind": {"types": inner}}
        return {"kind": {"tuple": inner}}
    if kind == "struct":
        return {"kind": {"struct": inner if isinstance(inner, dict) else {"fields": inner}}}
    return {"kind": "plain", "discriminant": inner}
