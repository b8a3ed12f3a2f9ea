"""Members of types that are computed: mapped, selected, indexed, conditional, with arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from docstow.languages.typescript import reading
from docstow.languages.typescript.source import scripts
from languages.typescript.node.test_node_items import items
from languages.typescript.node.test_node_written import surface, written

_KNOWN = """
interface Known {
  /** The first. */ a: number;
  /** The second. */ b: string;
  c: { /** Within. */ deep: 1 };
}
declare const table: { /** In a value. */ one: 1; two: 2 };
type Id<T> = { [K in keyof T]: T[K] } & {};
type Choose<T, K extends keyof T> = { [P in K]: T[P] };
type Without<T, K> = { [P in Exclude<keyof T, K>]: T[P] };
type With<T, K extends keyof T = "a"> = Omit<T, K> & Required<Pick<T, K>>;
"""


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("{ [K in keyof typeof table]: K }", {"one": "In a value.", "two": ""}),
        ("{ [K in 'x' | 'y']: Known }", {"x": "", "y": ""}),
        ("Record<'x' | 'y', Known>", {"x": "", "y": ""}),
        ("Record<keyof Known, boolean>", {"a": "The first.", "b": "The second.", "c": ""}),
        ("Id<Known>", {"a": "The first.", "b": "The second.", "c": ""}),
        ("Choose<Known, 'a'>", {"a": "The first."}),
        ("Without<Known, 'a'>", {"b": "The second.", "c": ""}),
        ("With<Known>", {"a": "The first.", "b": "The second.", "c": ""}),
        ("Known['c']", {"deep": "Within."}),
        ("Known extends infer U ? Pick<Known, 'a'> : { z: 1 }", {"a": "The first.", "z": ""}),
        ("Partial<Pick<Known, 'a'>> & { /** Own. */ z: 1 }", {"a": "The first.", "z": "Own."}),
        ("InstanceType<typeof Made>", {"made": "By it."}),
    ],
)
def test_members_of_computed_types(tmp_path: Path, type_: str, expected: dict[str, str]) -> None:
    made = "declare class Made { /** By it. */ made: 1 }\n"
    found = items(
        tmp_path, {"index.d.ts": f"{_KNOWN}{made}export type X = {type_};\nexport {{}};\n"}
    )
    members = {path: each.text for path, each in found.items() if path.count(".") == 2}
    assert members == {f"lib.X.{name}": text for name, text in expected.items()}


def test_what_a_mapped_type_gives_its_members_is_shown(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        {
            "index.d.ts": (
                "type Name = 'open' | 'close';\ninterface Handler { (code: number): void }\n"
                "export type Handlers = Record<Name, Handler>;\n"
                "export type Flags = { [K in Name]?: boolean };\nexport {};\n"
            )
        },
    )
    shown = {path: each.signature for path, each in found.items() if path.count(".") == 2}
    assert shown == {
        "lib.Handlers.open": "open: Handler",
        "lib.Handlers.close": "close: Handler",
        "lib.Flags.open": "open?: boolean",
        "lib.Flags.close": "close?: boolean",
    }


def test_a_type_that_unfolds_without_end_ends(tmp_path: Path) -> None:
    found = items(
        tmp_path,
        {
            "index.d.ts": (
                "type Grow<T> = { a: T } & Grow<T[]> & Grow<{ x: T }>;\n"
                "export type X = Grow<1>;\nexport declare const y: 1;\n"
            )
        },
    )
    assert {"lib.X", "lib.y"} <= set(found)
    assert "Some types unfold beyond what is followed" in found["lib"].text


def test_a_mapped_type_is_certain_where_its_names_are(tmp_path: Path) -> None:
    text = "export type X = { [K in 'a' | 'b']: string };\n"
    written(tmp_path, {"index.d.ts": text}, types="index.d.ts")
    found = surface(tmp_path)
    assert found.symbol("lib.X.a") is not None
    assert (found.symbol("lib.X.c"), found.certain("lib.X")) == (None, True)


def test_modules_that_are_left_out_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_MAX_MODULES", 2)
    names = ("a", "bb", "ccc")
    for name in names:
        path = tmp_path / "node_modules" / "lib"
        path.mkdir(parents=True, exist_ok=True)
        (path / f"{name}.d.ts").write_text(f"export declare const in_{name}: 1;\n")
    exports = {".": "./a.d.ts", "./bb": "./bb.d.ts", "./ccc": "./ccc.d.ts"}
    written(tmp_path, {}, exports=exports)
    found = {each.path: each for each in reading.documents(surface(tmp_path))}
    assert found["lib"].text == "Of 3 modules, the 2 with the shortest names are read."
    assert "lib/bb.in_bb" in found
    assert "lib/ccc.in_ccc" not in found


def test_a_bundle_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "_MAX_SIZE", 20)
    text = "module.exports = { first: 1, second: 2 };\n"
    written(tmp_path, {"index.js": text}, main="index.js")
    found = {each.path: each for each in reading.documents(surface(tmp_path))}
    assert found["lib"].text == ("Files too large for all that they export to be seen: index.js.")
