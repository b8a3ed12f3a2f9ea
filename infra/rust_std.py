"""Make ``lib/docstow/languages/rust/check/rust_std.txt.xz``: the names of Rust's standard library.

    python infra/rust_std.py FOLDER

FOLDER has ``std``, ``core`` and ``alloc``, each with the ``rustdoc.json`` (or ``.json.zst``) of
the same version. Only facts are kept: paths, kinds, how many arguments a function takes, which
type it returns, which traits a type has, since when a name is deprecated. The module
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
            self._row(path, kind, self._declaration(key, item) if kind == "function" else "", item)

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
                    self._member(key[0], path, item, number)
        for crate, data in self.crates.items():
            for item in data["index"].values():
                if "impl" in item["inner"]:
                    self._implementation(crate, item["inner"]["impl"])

    def _parts(self, inner: Any, kind: str) -> list[int]:
        if kind == "struct" and "plain" in inner["kind"]:
            return list(inner["kind"]["plain"]["fields"])
        part = {"enum": "variants", "trait": "items", "union": "fields"}.get(kind)
        return list(inner[part]) if part else []

    def _member(self, crate: str, owner: str, item: Json, number: int) -> None:
        kind = next(iter(item["inner"]))
        name = {"function": "method", "struct_field": "field"}.get(kind, kind)
        declaration = self._declaration((crate, number), item) if kind == "function" else ""
        self._row(f"{owner}::{item['name']}", name, declaration, item)

    def _implementation(self, crate: str, impl: Json) -> None:
        owner = self._owner(crate, impl["for"])
        if owner is None or impl.get("is_negative"):
            return
        if impl["trait"] is None:
            for number in impl["items"]:
                item = self.crates[crate]["index"][str(number)]
                if item["visibility"] in {"public", "default"}:
                    self._member(crate, owner, item, number)
            return
        trait = impl["trait"]["path"].split("::")[-1]
        row = self.rows.setdefault(f"{owner}\t", [])
        if trait not in row:
            row.append(trait)
        if trait == "Deref":
            for number in impl["items"]:
                item = self.crates[crate]["index"][str(number)]
                if item["name"] == "Target" and "assoc_type" in item["inner"]:
                    given = self._owner(crate, item["inner"]["assoc_type"]["type"])
                    self.rows.setdefault(f"{owner}\t>", []).append(given or "?")

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

    def _declaration(self, key: Key, item: Json) -> str:
        sig = item["inner"]["function"]["sig"]
        inputs = sig["inputs"]
        has_self = bool(inputs) and inputs[0][0] == "self"
        names = ["self"] * has_self + ["_: ()"] * (len(inputs) - has_self)
        output = self._type(key[0], sig["output"]) if sig["output"] else ""
        given = f" -> {output}" if output and output != "()" else ""
        return f"fn f({', '.join(names)}){given}"

    def _type(self, crate: str, kind: Json) -> str:
        """Return a type as a full path; ``()`` for one that is not certain."""
        match next(iter(kind)):
            case "borrowed_ref":
                return self._type(crate, kind["borrowed_ref"]["type"])
            case "primitive":
                return "()" if kind["primitive"] in UNNAMED else str(kind["primitive"])
            case "slice":
                return "[()]"
            case "generic":
                return "Self" if kind["generic"] == "Self" else "()"
            case "resolved_path":
                return self._path_type(crate, kind["resolved_path"])
        return "()"

    def _path_type(self, crate: str, kind: Json) -> str:
        last = kind["path"].split("::")[-1]
        args = ((kind["args"] or {}).get("angle_bracketed") or {}).get("args", [])
        held = [self._type(crate, each["type"]) for each in args if "type" in each]
        if last in {"Option", "Result"}:
            return f"{last}<{held[0] if held else '()'}>"
        key = self._resolve(crate, kind["id"])
        path = self.paths.get(key) if key is not None else None
        if path is None or next(iter(self._item(key))) == "type_alias":  # type: ignore[arg-type]
            return "()"
        return path

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
        for path in sorted(self.rows):
            if "\t" in path:
                owner, _, mark = path.partition("\t")
                names = " ".join(sorted(set(self.rows[path])))
                yield f"{owner}\t>{names}" if mark else f"{owner}\t\t{names}"
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
