"""Decode rustdoc JSON of any known format: items by id, their inner parts on demand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import msgspec

from docstow.core.errors import UnreadableInput, UnsupportedFormat
from docstow.languages.rust.rustdoc import schema
from docstow.languages.rust.rustdoc.legacy import KINDS, upgrade
from docstow.languages.rust.rustdoc.schema import Id, Item

OLDEST, NEWEST = 15, 61
_LEGACY_BELOW, _INTEGER_IDS = 37, 35
_TAIL = re.compile(rb'"format_version"\s*:\s*(\d+)\s*}\s*\Z')
_TAG = re.compile(rb'\s*\{?\s*"(\w+)"')
Shape = TypeVar("Shape")


class _Version(msgspec.Struct):
    format_version: int


_crates: dict[bool, msgspec.json.Decoder[Any]] = {
    True: msgspec.json.Decoder(schema.Crate[int]),
    False: msgspec.json.Decoder(schema.Crate[str]),
}
_version = msgspec.json.Decoder(_Version)
_links = msgspec.json.Decoder(dict[str, Id])
_attrs = msgspec.json.Decoder(list[str | dict[str, Any]])
_by_tag: dict[type[Any], msgspec.json.Decoder[Any]] = {
    shape: msgspec.json.Decoder(dict[str, shape])  # type: ignore[valid-type]
    for shape in (
        schema.AssocConst,
        schema.AssocType,
        schema.ConstantInner,
        schema.EnumInner,
        schema.ExternCrate,
        schema.Function,
        schema.Impl,
        schema.Module,
        schema.Primitive,
        schema.ProcMacro,
        schema.Static,
        schema.StructInner,
        schema.Trait,
        schema.TraitAlias,
        schema.TypeAlias,
        schema.UnionInner,
        schema.Use,
        schema.Variant,
        schema.Type,
        str,
    )
}


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
            raise unsupported(self.format_version)
        with decoding(self.format_version):
            self.crate = _crates[self.format_version >= _INTEGER_IDS].decode(body)
        self.index: dict[Id, Item] = self.crate.index
        self.paths: dict[Id, schema.Summary] = self.crate.paths
        self._legacy = self.format_version < _LEGACY_BELOW
        self._traits: frozenset[Id] = frozenset()
        if self._legacy:
            self._traits = frozenset(k for k, v in self.paths.items() if v.kind == "trait")
        if self.crate.root not in self.index:
            raise UnreadableInput("the rustdoc JSON has no root module: it is not a whole file")

    @property
    def lib(self) -> str:
        """The library's name: the first segment of every public path."""
        return self.index[self.crate.root].name or ""

    def kind(self, item: Item) -> str:
        """Return the item's kind in the spelling of format 37 and later."""
        if item.kind:
            return KINDS.get(item.kind, item.kind)
        found = _TAG.match(bytes(item.inner))
        word = found[1].decode() if found else ""
        return KINDS.get(word, word)

    def inner(self, item: Item, shape: type[Shape]) -> Shape:
        """Decode the item's content as ``shape``, which must be the struct of its kind."""
        if not self._legacy:
            return cast("Shape", next(iter(_by_tag[shape].decode(item.inner).values())))
        content = msgspec.json.decode(item.inner)
        if not item.kind:
            content = next(iter(content.values()))
        elif shape is schema.Type:
            content = {"type": content}
        content = upgrade(self.kind(item), content, self._traits)
        if item.kind and shape is schema.Type:
            content = content["type"]
        return msgspec.convert(content, shape)

    def links(self, item: Item) -> dict[str, Id]:
        """Return ids by link text exactly as written."""
        return _links.decode(item.links)

    def attrs(self, item: Item) -> list[str | dict[str, Any]]:
        """Return the attributes: words, source text, or one-key objects."""
        return _attrs.decode(item.attrs)

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
            raise unsupported(version) from error
        raise UnreadableInput(f"the rustdoc JSON of format {version} is broken: {error}") from error


def unsupported(version: int) -> UnsupportedFormat:
    """Return the refusal of a format, with its number and the range."""
    hint = ", or set try_unknown_formats" if version > NEWEST else ""
    return UnsupportedFormat(
        f"rustdoc JSON format {version} cannot be read; formats {OLDEST} to {NEWEST} can. "
        f"Ask for a release that was documented with such a compiler, or update docstow{hint}.",
        format_version=version,
        supported=[OLDEST, NEWEST],
    )
