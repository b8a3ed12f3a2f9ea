"""Make ``lib/docstow/languages/rust/check/rust_std.txt.xz``: the names of Rust's standard library.

    python infra/rust_std.py FOLDER

FOLDER has ``std``, ``core`` and ``alloc``, each with the ``rustdoc.json`` (or ``.json.zst``) of
the same version. Only facts are kept: paths, kinds, what a function takes and gives, what fields
and variants hold, which traits a type has, since when a name is deprecated. The module
``docstow.languages.rust.check.std``, which reads the file, describes its form.
"""

from __future__ import annotations

import json
import lzma
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

OUT = Path(__file__).resolve().parent.parent / "lib/docstow/languages/rust/check/rust_std.txt.xz"
CRATES = ("std", "core", "alloc")
#: Modules that differ from one machine to the other, or that are the compiler's own.
CLOSED = frozenset({"arch", "os", "intrinsics", "simd", "core_arch", "core_simd", "prelude"})
PRIMITIVES = {"slice": "[T]", "array": "[T; N]"}
PRIMITIVE_MODULES = tuple(f"{sign}{size}" for sign in "iu" for size in (8, 16, 32, 64, 128, "size"))
UNNAMED = frozenset({"pointer", "tuple", "unit", "fn", "never", "reference"})

#: What one of the crates adds to types of a lower one, which its JSON leaves out.
ADDED = {
    "[T]": {
        **dict.fromkeys(("sort",), "fn f(self)"),
        **dict.fromkeys(("sort_by", "sort_by_key", "sort_by_cached_key"), "fn f(self, _: ())"),
        **dict.fromkeys(("to_vec", "into_vec"), "fn f(self) -> std::vec::Vec"),
        **dict.fromkeys(
            ("to_ascii_uppercase", "to_ascii_lowercase"), "fn f(self) -> std::vec::Vec"
        ),
        "repeat": "fn f(self, _: ()) -> std::vec::Vec",
        **dict.fromkeys(("to_vec_in", "concat", "join", "connect"), ""),
    },
    "std::io::Error": {
        "new": "fn f(_: (), _: ()) -> std::io::Error",
        "other": "fn f(_: ()) -> std::io::Error",
        "last_os_error": "fn f() -> std::io::Error",
        "from_raw_os_error": "fn f(_: ()) -> std::io::Error",
        "into_inner": "fn f(self)",
        "downcast": "fn f(self)",
    },
    "std::ffi::CStr": {"to_string_lossy": "fn f(self)", "into_c_string": "fn f(self)"},
}

Key = tuple[str, int]
Json = dict[str, Any]


def _arguments(path: Json) -> list[Json]:
    """Return the types among a path's arguments."""
    given = ((path["args"] or {}).get("angle_bracketed") or {}).get("args", [])
    return [each["type"] for each in given if isinstance(each, dict) and "type" in each]


def _bounds(generics: Json) -> Iterator[tuple[str, list[Json]]]:
    """Yield the parameters that have bounds, written beside them or in the where clause."""
    for each in generics["params"]:
        if "type" in each["kind"]:
            yield each["name"], each["kind"]["type"]["bounds"]
    for each in generics["where_predicates"]:
        said = each.get("bound_predicate")
        if said is not None and "generic" in said["type"]:
            yield said["type"]["generic"], said["bounds"]


class Library:
    """The three crates as one."""

    def __init__(self, crates: Mapping[str, Json]) -> None:
        self.crates = crates
        self.version = crates["std"]["crate_version"]
        self.defined: dict[tuple[str, ...], dict[str, Key]] = {}
        for name, crate in crates.items():
            for number, entry in crate["paths"].items():
                if entry["crate_id"] == 0 and number in crate["index"]:
                    known = self.defined.setdefault(tuple(entry["path"]), {})
                    known[entry["kind"]] = (name, int(number))
        self.paths: dict[Key, str] = {}
        self.aliases: dict[str, str] = {}
        self.rows: dict[str, list[str]] = {}

    def _item(self, key: Key) -> Json:
        crate, number = key
        found: Json = self.crates[crate]["index"][str(number)]
        return found

    def _resolve(self, crate: str, number: int | None) -> Key | None:
        """Return the key of an item in the crate that defines it; None if none does."""
        if number is None:
            return None
        if str(number) in self.crates[crate]["index"]:
            return crate, number
        entry = self.crates[crate]["paths"].get(str(number))
        known = self.defined.get(tuple(entry["path"])) if entry else None
        if entry is None or known is None:
            return None
        return known.get(entry["kind"]) or next(iter(known.values()))

    # -- modules -----------------------------------------------------------------------------

    def walk(self) -> None:
        """Collect all public paths, the shortest first: the first of an item is its own."""
        for crate in CRATES:
            pending = deque([((crate, self.crates[crate]["root"]), crate)])
            while pending:
                key, path = pending.popleft()
                known = key in self.paths
                self._place(key, path)
                if not known:
                    pending += self._module(key, path)

    def _module(self, key: Key, path: str) -> Iterator[tuple[Key, str]]:
        """Record what stands in a module, and yield the modules in it."""
        for child, name in self._children(key):
            here = f"{path}::{name}"
            kind = next(iter(self._item(child)["inner"])) if child is not None else ""
            if child is None or (kind == "module" and name in CLOSED):
                self.rows.setdefault(here, ["unknown"])
            elif kind == "module":
                yield child, here
            elif kind not in {"impl", "primitive"}:
                self._place(child, here)

    def _children(
        self, module: Key, above: tuple[Key, ...] = ()
    ) -> Iterator[tuple[Key | None, str]]:
        crate, inner = module[0], self._item(module)["inner"]
        numbers = inner["module"]["items"] if "module" in inner else inner["enum"]["variants"]
        for number in numbers:
            item = self.crates[crate]["index"].get(str(number))
            if item is None:
                continue
            if "use" not in item["inner"]:
                yield (crate, number), item["name"]
                continue
            use = item["inner"]["use"]
            target = self._resolve(crate, use["id"])
            if not use["is_glob"]:
                yield target, use["name"]
            elif target is not None and target not in above:
                yield from self._children(target, (*above, module))

    def _place(self, key: Key, path: str) -> None:
        if self.paths.setdefault(key, path) != path:
            self.aliases.setdefault(path, self.paths[key])

    def items(self) -> None:
        """Add rows for what stands in modules."""
        for key, path in self.paths.items():
            item = self._item(key)
            kind = next(iter(item["inner"]))
            kind = {"proc_macro": "macro", "static": "constant"}.get(kind, kind)
            declaration = ""
            if kind == "function":
                declaration = self._declaration(key, item, {})
            elif kind in {"struct", "enum", "union"} and (params := self._params(key)):
                declaration = f"pub {kind} {path.rpartition('::')[2]}<{', '.join(params)}>"
            self._row(path, kind, declaration, item)

    def _row(self, path: str, kind: str, declaration: str, item: Json) -> None:
        since = (item.get("deprecation") or {}).get("since") or ""
        unstable = (item.get("stability") or {}).get("level") == "unstable"
        status = "unstable" if unstable else since if since[:1].isdigit() else ""
        fields = [kind, declaration, status]
        line = "\t".join(fields).rstrip("\t")
        rows = self.rows.setdefault(path, [])
        if rows and kind == "method" and rows != [line]:
            rows[:] = [kind]  # several implementations have it, each its own
        elif line not in rows:
            rows.append(line)

    # -- members -----------------------------------------------------------------------------

    def members(self) -> None:
        """Add rows for members of types and traits, and for what types implement."""
        for key, path in list(self.paths.items()):
            inner = self._item(key)["inner"]
            kind = next(iter(inner))
            for number in self._parts(inner[kind], kind):
                item = self.crates[key[0]]["index"].get(str(number))
                if item is not None and item["name"] and not item["name"].isdigit():
                    own = dict.fromkeys(self._params(key))
                    self._member(key[0], path, item, number, {each: each for each in own})
        for crate, data in self.crates.items():
            for item in data["index"].values():
                if "impl" in item["inner"]:
                    self._implementation(crate, item["inner"]["impl"])

    def _parts(self, inner: Any, kind: str) -> list[int]:
        if kind == "struct" and "plain" in inner["kind"]:
            return list(inner["kind"]["plain"]["fields"])
        part = {"enum": "variants", "trait": "items", "union": "fields"}.get(kind)
        return list(inner[part]) if part else []

    def _member(
        self, crate: str, owner: str, item: Json, number: int, names: Mapping[str, str]
    ) -> None:
        kind = next(iter(item["inner"]))
        name = {"function": "method", "struct_field": "field"}.get(kind, kind)
        declaration = ""
        if kind == "function":
            declaration = self._declaration((crate, number), item, names)
        elif kind == "struct_field":
            declaration = f"{item['name']}: {self._type(crate, item['inner'][kind], names)}"
        elif kind == "variant" and "tuple" in item["inner"][kind]["kind"]:
            fields = item["inner"][kind]["kind"]["tuple"]
            held = [self.crates[crate]["index"].get(str(each)) for each in fields]
            parts = [
                self._type(crate, each["inner"]["struct_field"], names) if each else "()"
                for each in held
            ]
            declaration = f"{item['name']}({', '.join(parts)})"
        self._row(f"{owner}::{item['name']}", name, declaration, item)

    def _implementation(self, crate: str, impl: Json) -> None:
        owner = self._owner(crate, impl["for"])
        if owner is None or impl.get("is_negative"):
            return
        names = self._names_in(crate, impl["for"])
        if "::" not in owner and owner not in PRIMITIVES.values():
            names["Self"] = owner
        if impl["trait"] is None:
            for number in impl["items"]:
                item = self.crates[crate]["index"][str(number)]
                if item["visibility"] in {"public", "default"}:
                    self._member(crate, owner, item, number, names)
            return
        trait = impl["trait"]["path"].split("::")[-1]
        row = self.rows.setdefault(f"{owner}\t", [])
        if trait not in row:
            row.append(trait)
        wanted = {"Deref": "Target", "Iterator": "Item", "IntoIterator": "Item", "Future": "Output"}
        for number in impl["items"] if trait in wanted else ():
            item = self.crates[crate]["index"][str(number)]
            if item["name"] != wanted[trait] or "assoc_type" not in item["inner"]:
                continue
            target = item["inner"]["assoc_type"]["type"]
            if trait == "Deref":
                given = self._owner(crate, target) or names.get(target.get("generic", ""), "?")
                self.rows.setdefault(f"{owner}\t>", []).append(given)
            else:
                self.rows.setdefault(f"{owner}\t*", []).append(self._type(crate, target, names))

    def _owner(self, crate: str, kind: Json) -> str | None:
        if "resolved_path" in kind:
            key = self._resolve(crate, kind["resolved_path"]["id"])
            return self.paths.get(key) if key is not None else None
        if "borrowed_ref" in kind:
            return self._owner(crate, kind["borrowed_ref"]["type"])
        if "primitive" in kind:
            return None if kind["primitive"] in UNNAMED else str(kind["primitive"])
        return PRIMITIVES.get(next(iter(kind)))

    # -- declarations ------------------------------------------------------------------------

    def _params(self, key: Key | None) -> list[str]:
        """Return the names of a type's parameters, lifetimes and constants left out."""
        inner = next(iter(self._item(key)["inner"].values())) if key is not None else {}
        generics = inner.get("generics") or {"params": []}
        return [each["name"] for each in generics["params"] if "type" in each["kind"]]

    def _names_in(self, crate: str, target: Json) -> dict[str, str]:
        """Return what the parameters of an implementation are called by its type."""
        while "borrowed_ref" in target:
            target = target["borrowed_ref"]["type"]
        if "slice" in target or "array" in target:
            inner = target.get("slice") or target["array"]["type"]
            return {inner["generic"]: "T"} if "generic" in inner else {}
        if "resolved_path" not in target:
            return {}
        key = self._resolve(crate, target["resolved_path"]["id"])
        names: dict[str, str] = {}
        for own, each in zip(self._params(key), _arguments(target["resolved_path"]), strict=False):
            while "borrowed_ref" in each:
                each = each["borrowed_ref"]["type"]
            if "generic" in each:
                names[each["generic"]] = own
        return names

    def _declaration(self, key: Key, item: Json, names: Mapping[str, str]) -> str:
        """Return what a function takes and gives.

        Args:
            key: of the function.
            item: the function.
            names: what the parameters of its implementation are called.
        """
        function = item["inner"]["function"]
        sig, generics = function["sig"], function["generics"]
        own = [
            each["name"]
            for each in generics["params"]
            if "type" in each["kind"] and not each["kind"]["type"]["is_synthetic"]
        ]
        known = {**names, **{name: f"P{number}" for number, name in enumerate(own)}}
        bounds: dict[str, str] = {}
        for name, every in _bounds(generics):
            for each in every:
                if name in known and (text := self._callable(key[0], each, known)):
                    bounds[known[name]] = f": {text}"
        given = ", ".join(f"{known[name]}{bounds.get(known[name], '')}" for name in own)
        inputs = sig["inputs"]
        has_self = bool(inputs) and inputs[0][0] == "self"
        taken = ["self"] * has_self
        for _, kind in inputs[has_self:]:
            taken.append(f"_: {self._type(key[0], kind, known)}")
        output = self._type(key[0], sig["output"], known) if sig["output"] else "()"
        result = f" -> {output}" if output != "()" else ""
        return f"fn f{f'<{given}>' if given else ''}({', '.join(taken)}){result}"

    def _callable(self, crate: str, bound: Json, names: Mapping[str, str]) -> str:
        """Return the bound ``FnMut(A) -> B``; empty for any other."""
        path: Json = bound["trait_bound"]["trait"] if "trait_bound" in bound else {"path": ""}
        last = path["path"].split("::")[-1]
        given = (path.get("args") or {}).get("parenthesized")
        if last not in {"Fn", "FnMut", "FnOnce"} or given is None:
            return ""
        inputs = ", ".join(self._type(crate, each, names) for each in given["inputs"])
        output = self._type(crate, given["output"], names) if given["output"] else "()"
        return f"{last}({inputs}) -> {output}"

    def _type(self, crate: str, kind: Json, names: Mapping[str, str]) -> str:
        """Return a type with full paths and without references; ``()`` for one that is open."""
        match next(iter(kind)):
            case "borrowed_ref":
                return self._type(crate, kind["borrowed_ref"]["type"], names)
            case "primitive":
                return "()" if kind["primitive"] in UNNAMED else str(kind["primitive"])
            case "slice":
                return f"[{self._type(crate, kind['slice'], names)}]"
            case "array":
                return f"[{self._type(crate, kind['array']['type'], names)}; N]"
            case "tuple":
                parts = [self._type(crate, each, names) for each in kind["tuple"]]
                return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
            case "generic":
                whole = {"Self": "Self", **names}
                return whole.get(kind["generic"], "()")
            case "impl_trait":
                return self._opaque(crate, kind["impl_trait"], names)
            case "resolved_path":
                return self._path_type(crate, kind["resolved_path"], names)
        return "()"

    def _opaque(self, crate: str, bounds: list[Json], names: Mapping[str, str]) -> str:
        for each in bounds:
            if text := self._callable(crate, each, names):
                return f"impl {text}"
            path: Json = each["trait_bound"]["trait"] if "trait_bound" in each else {}
            given = (path.get("args") or {}).get("angle_bracketed") or {}
            for one in given.get("constraints", ()):
                item = one["binding"].get("equality", {}).get("type")
                if one["name"] == "Item" and item is not None:
                    return f"impl Iterator<Item = {self._type(crate, item, names)}>"
        return "()"

    def _path_type(self, crate: str, kind: Json, names: Mapping[str, str]) -> str:
        last = kind["path"].split("::")[-1]
        held = [self._type(crate, each, names) for each in _arguments(kind)]
        key = self._resolve(crate, kind["id"])
        path = self.paths.get(key) if key is not None else None
        is_alias = key is not None and "type_alias" in self._item(key)["inner"]
        if last in {"Option", "Result"}:
            if is_alias and path is not None and path.startswith("std::io::"):
                held = [*held[:1], "std::io::Error"]
            return f"{last}<{', '.join(held) or '()'}>"
        if path is None or is_alias:
            return "()"
        while held and held[-1] == "()":
            held.pop()
        return f"{path}<{', '.join(held)}>" if held else path

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file."""
        for owner, members in ADDED.items():
            self.rows |= {f"{owner}::{name}": [f"method\t{form}"] for name, form in members.items()}
        self.rows["[T; N]\t>"] = ["[T]"]  # not by Deref, but for methods it comes to the same
        yield self.version
        for path, traits in self.rows.items():
            if path.endswith("\t"):  # what the crates below alloc cannot tell of themselves
                traits += ["ToOwned"] * ("Clone" in traits) + ["ToString"] * ("Display" in traits)
        for path in PRIMITIVE_MODULES:  # their constants are left out
            self.rows |= {path: ["unknown"] for path in (f"std::{path}", f"core::{path}")}
        owners = {path.partition("\t")[0] for path in self.rows if "\t" in path}
        self.rows |= {path: ["primitive"] for path in owners if "::" not in path}
        self.rows |= {path: ["primitive\tpub struct List<T>"] for path in PRIMITIVES.values()}
        for path in sorted(self.rows):
            if "\t" in path:
                owner, _, mark = path.partition("\t")
                names = sorted(set(self.rows[path]))
                if mark != "*":
                    yield f"{owner}\t{mark or chr(9)}{' '.join(names)}"
                elif len(known := [each for each in names if each != "()"]) == 1:
                    yield f"{owner}\t*{known[0]}"
                continue
            for line in self.rows[path]:
                yield f"{path}\t{line}"
        for path in sorted(self.aliases):
            yield f"{path}\t=\t{self.aliases[path]}"


def _load(folder: Path) -> Json:
    file = next(iter(sorted(folder.glob("rustdoc.json*"))))
    data = file.read_bytes()
    if file.suffix == ".zst":
        import zstandard

        data = zstandard.ZstdDecompressor().decompress(data, max_output_size=1 << 30)
    found: Json = json.loads(data)
    return found


def main(folder: Path) -> None:
    """Write the file."""
    library = Library({name: _load(folder / name) for name in CRATES})
    library.walk()
    library.items()
    library.members()
    text = "\n".join(library.lines())
    OUT.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(len(text), OUT.stat().st_size)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
