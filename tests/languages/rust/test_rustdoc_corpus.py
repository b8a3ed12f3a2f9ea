"""Every crate of the corpus, against a count made here, from plain JSON and by other means."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import zstandard

from docstow.core.errors import DocstowError
from docstow.languages.rust.rustdoc import CrateDocs, read
from paths import SHARED

_GIANTS = {"alloc", "core", "libc", "std", "syn", "web-sys"}
_OLD_KINDS = {"import": "use", "typedef": "type_alias", "method": "function"}
_MEMBERS = {"method", "field", "assoc_const", "assoc_type"}
_OWNERS = {"struct", "union", "enum", "trait", "primitive", "variant"}


def _bodies() -> list[Path]:
    """The newest file of each crate in each format, of the largest only one; and some more."""
    folder = SHARED / "corpus"
    found = []
    for crate in sorted(folder.iterdir()) if folder.is_dir() else ():
        files = sorted(crate.glob("*/*.zst")) if crate.is_dir() else []
        formats = {each.stem.split("-")[0]: each for each in files if ".f57" not in each.name}
        found += files[-1:] if crate.name in _GIANTS else sorted(formats.values())
    return found + sorted((SHARED / "corpus-more").glob("*/*/*.zst"))[::40]


def _load(path: Path) -> bytes:
    return zstandard.ZstdDecompressor().stream_reader(path.read_bytes()).read()


class Plain:
    """The public items of a file as ids, found by depth-first search over plain JSON."""

    def __init__(self, body: bytes) -> None:
        self.data = json.loads(body)
        self.index: dict[str, dict[str, Any]] = self.data["index"]

    def item(self, item_id: object) -> dict[str, Any] | None:
        item = self.index.get(str(item_id))
        return item if item is not None and item["crate_id"] == 0 else None

    def kind(self, item: dict[str, Any]) -> str:
        kind = item.get("kind") or (
            item["inner"] if isinstance(item["inner"], str) else next(iter(item["inner"]))
        )
        return _OLD_KINDS.get(kind, kind)

    def inner(self, item: dict[str, Any]) -> Any:
        if item.get("kind") or isinstance(item["inner"], str):
            return item["inner"]
        return next(iter(item["inner"].values()))

    @cached_property
    def names(self) -> dict[str, dict[str, set[str]]]:
        """Module id to name to the local ids that it can mean; explicit names hide glob's."""
        memo: dict[str, dict[str, set[str]]] = {}
        explicit: dict[str, dict[str, set[str]]] = {}
        globs: dict[str, list[str]] = {}
        for module, item in self.index.items():
            if self.kind(item) == "module":
                explicit[module], globs[module] = self._explicit(item)
            elif self.kind(item) == "enum":
                variants = [v for v in self.inner(item)["variants"] if str(v) in self.index]
                explicit[module] = {self.index[str(v)]["name"]: {str(v)} for v in variants}
                globs[module] = []
        for module in explicit:
            memo[module] = {
                name: {target for target, _ in found if not target.startswith("foreign")}
                for name, found in self._seen(module, explicit, globs, frozenset()).items()
            }
        return memo

    def _explicit(self, item: dict[str, Any]) -> tuple[dict[str, set[str]], list[str]]:
        names: dict[str, set[str]] = {}
        globs = []
        for child_id in self.inner(item)["items"]:
            child = self.index.get(str(child_id))
            if child is None or child["visibility"] not in {"public", "default"}:
                continue
            if self.kind(child) != "use":
                if child["name"] and self.kind(child) not in {"extern_crate", "impl"}:
                    names.setdefault(child["name"], set()).add(str(child_id))
                continue
            use = self.inner(child)
            target = self._final(use["id"])
            if use.get("is_glob", use.get("glob")):
                if target and self.kind(self.index[target]) in {"module", "enum"}:
                    globs.append(target)
            elif use["name"] != "_":
                names.setdefault(use["name"], set()).add(target or f"foreign {use['id']}")
        return names, globs

    def _final(self, target: object) -> str | None:
        for _ in range(20):
            item = self.item(target)
            if item is None:
                return None
            if self.kind(item) != "use":
                return str(target)
            target = self.inner(item)["id"]
        return None

    def _space(self, item_id: str) -> set[str]:
        foreign = item_id.startswith("foreign")
        summary = self.data["paths"].get(item_id.removeprefix("foreign "), {"kind": ""})
        kind = summary["kind"] if foreign else self.kind(self.index[item_id])
        if kind in {"function", "constant", "static"}:
            return {"value"}
        if kind.startswith(("macro", "proc_")):
            return {"macro"}
        if foreign:
            return {"type", "value"} if kind == "variant" else {"type"}
        if kind == "variant" or (kind == "struct" and self._is_value(item_id)):
            return {"type", "value"}
        return {kind} if kind == "primitive" else {"type"}

    def _is_value(self, item_id: str) -> bool:
        inner = self.inner(self.index[item_id])
        kind = inner.get("struct_type", inner.get("kind"))
        return kind == "unit" or "tuple" in kind

    def _seen(
        self,
        module: str,
        explicit: dict[str, dict[str, set[str]]],
        globs: dict[str, list[str]],
        above: frozenset[str],
    ) -> dict[str, set[tuple[str, str]]]:
        found = {
            name: {(each, space) for each in ids for space in self._space(each)}
            for name, ids in explicit[module].items()
        }
        own = {(name, space) for name, ids in found.items() for _, space in ids}
        for target in globs[module]:
            if target in above:
                continue
            for name, ids in self._seen(target, explicit, globs, above | {module}).items():
                fresh = {each for each in ids if (name, each[1]) not in own}
                if fresh:
                    found.setdefault(name, set()).update(fresh)
        return found

    @cached_property
    def reachable(self) -> set[str]:
        """Ids of all items that some module shows, from the root on."""
        root = str(self.data["root"])
        found, pending = {root}, [root]
        while pending:
            for ids in self.names[pending.pop()].values():
                for each in ids - found:
                    found.add(each)
                    if self.kind(self.index[each]) == "module":
                        pending.append(each)
        return found

    def paths(self, longest: int = 5) -> Iterator[tuple[str, str]]:
        """Public paths with the id that they mean, up to a length."""
        root = str(self.data["root"])
        stack = [(self.index[root]["name"], root, frozenset({root}))]
        while stack:
            path, module, above = stack.pop()
            for name, ids in self.names[module].items():
                for each in ids:
                    yield f"{path}::{name}", each
                    deeper = path.count("::") + 2 < longest and each not in above
                    if deeper and self.kind(self.index[each]) == "module":
                        stack.append((f"{path}::{name}", each, above | {each}))

    def members(self) -> Iterator[tuple[str, str, str]]:
        """(owner id, kind, name) of everything that the reachable types and traits own."""
        for owner in self.reachable:
            item = self.index[owner]
            kind, inner = self.kind(item), self.inner(item)
            if kind == "trait":
                yield from self._named(owner, inner["items"])
            elif kind in {"struct", "union", "enum", "primitive"} and isinstance(inner, dict):
                yield from self._named(owner, self._fields(inner))
                for variant in inner.get("variants", ()):
                    if str(variant) in self.index:
                        yield owner, "variant", self.index[str(variant)]["name"]
                        yield from self._variant_fields(str(variant))
                for each in inner["impls"]:
                    yield from self._impl(owner, str(each))

    def _named(self, owner: str, ids: list[Any]) -> Iterator[tuple[str, str, str]]:
        for each in ids:
            item = self.index.get(str(each))
            if item is not None:
                kind = {"function": "method", "struct_field": "field"}
                yield owner, kind.get(self.kind(item), self.kind(item)), item["name"]

    def _fields(self, inner: dict[str, Any]) -> list[Any]:
        if "fields" in inner:
            return list(inner["fields"])
        kind = inner.get("kind")
        if not isinstance(kind, dict):
            return []
        return list(kind["tuple"]) if "tuple" in kind else list(kind["plain"]["fields"])

    def _variant_fields(self, variant: str) -> Iterator[tuple[str, str, str]]:
        inner = self.inner(self.index[variant])
        if inner.get("variant_kind") == "struct":
            fields = inner["variant_inner"]
            yield from self._named(
                variant, fields if isinstance(fields, list) else fields["fields"]
            )
        kind = inner.get("kind")
        if isinstance(kind, dict) and "struct" in kind:
            yield from self._named(variant, kind["struct"]["fields"])
        elif isinstance(kind, dict):
            documented = [f for f in kind["tuple"] if (i := self.item(f)) and i["docs"]]
            yield from self._named(variant, documented)

    def _impl(self, owner: str, impl_id: str) -> Iterator[tuple[str, str, str]]:
        item = self.index.get(impl_id)
        inner = self.inner(item) if item is not None else {}
        if item is None or inner["blanket_impl"] or self.kind(item) != "impl":
            return
        ids = [str(each) for each in inner["items"] if str(each) in self.index]
        if inner["trait"] is not None:
            ids = [each for each in ids if self.index[each]["docs"]]
            ids = ids if self._is_for(owner, inner["for"]) else []
        yield from self._named(owner, ids)

    def _is_for(self, owner: str, target: Any) -> bool:
        while "borrowed_ref" in json.dumps(target)[:40]:
            target = target.get("borrowed_ref", target.get("inner"))["type"]
        name = self.index[owner]["name"]
        path = target.get("resolved_path", target.get("inner"))
        if isinstance(path, dict) and "id" in path:
            return str(path["id"]) == owner
        return bool(target.get("primitive", target.get("inner")) == name)


def _resolve(docs: CrateDocs, aliases: dict[str, set[str]], known: set[str], path: str) -> bool:
    """Whether a path leads to a document: itself, as an alias, or below an aliased module."""
    for _ in range(8):
        if path in known or path in aliases:
            return True
        segments = path.split("::")
        for end in range(len(segments) - 1, 0, -1):
            prefix = "::".join(segments[:end])
            if prefix in aliases:
                path = "::".join([min(aliases[prefix]), *segments[end:]])
                break
        else:
            return False
    return False


@pytest.mark.parametrize("path", _bodies(), ids=lambda p: f"{p.parts[-3]}-{p.parts[-2]}-{p.stem}")
def test_every_public_item_is_there_once(path: Path, corpus: Path) -> None:
    body = _load(path)
    try:
        docs = read(body)
    except DocstowError as error:
        assert "\n" not in error.message
        raise
    plain = Plain(body)

    keys = [(each.path, each.kind) for each in docs.documents]
    assert keys == sorted(set(keys))

    top = [d for d in docs.documents if d.kind not in _MEMBERS | {"variant", "re-export"}]
    expected = [i for i in plain.reachable if plain.kind(plain.index[i]) != "variant"]
    assert len(top) == len(expected)

    known = set(docs.facts["counts"])
    paths = {each.path for each in docs.documents}
    aliases: dict[str, set[str]] = {}
    for relation in docs.relations:
        if relation.predicate == "alias":
            aliases.setdefault(relation.subject, set()).add(relation.object)
    assert {o for objects in aliases.values() for o in objects} <= paths
    lost = [p for p, _ in plain.paths() if not _resolve(docs, aliases, paths, p)]
    assert lost == []
    assert known <= {d.kind for d in docs.documents}

    if path.parts[-3] not in {"core", "std", "alloc"}:  # primitives: types without ids
        members = [d for d in docs.documents if d.kind in _MEMBERS | {"variant"}]
        assert len(members) == len(set(plain.members()))


@pytest.mark.parametrize("path", _bodies()[::7], ids=lambda p: f"{p.parts[-3]}-{p.parts[-2]}")
def test_documents_hang_together(path: Path, corpus: Path) -> None:
    docs = read(_load(path))
    kinds: dict[str, set[str]] = {}
    for each in docs.documents:
        kinds.setdefault(each.path, set()).add(each.kind)
    aliases = {r.subject for r in docs.relations if r.predicate == "alias"}
    for each in docs.documents:
        assert each.title == each.path.rpartition("::")[2]
        if each.title == "*":  # `pub use other::*` of a crate that is not at hand
            assert each.path == f"{each.parent}::{each.attributes['target']}"
            continue
        assert each.parent == each.path.rpartition("::")[0]
        assert each.signature
        assert each.url.startswith("https://")
        if each.kind in _MEMBERS:
            assert kinds[each.parent] & _OWNERS
        elif each.parent:
            assert each.parent in kinds or each.parent in aliases
        if each.kind == "struct":
            assert each.parent.rpartition("::")[2] != each.title
