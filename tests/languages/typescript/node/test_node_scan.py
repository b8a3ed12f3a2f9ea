"""Scans of what npm and pnpm really installed, and of what they would never install."""

from __future__ import annotations

import json
from pathlib import Path

from docstow.languages.projects.scan import scan
from docstow.languages.shared.project import Scan
from docstow.languages.shared.scanning import ScanCache
from settled import settle


def scanned(root: Path, cache: Path) -> Scan:
    return scan(root, ScanCache.load(cache, root), {}, cache / "home")


def test_what_npm_installed_is_what_npm_wrote_down(npm_root: Path, tmp_path: Path) -> None:
    lock = json.loads((npm_root / "node_modules" / ".package-lock.json").read_text("utf-8"))
    expected = {
        place: entry["version"]
        for place, entry in lock["packages"].items()
        if (npm_root / place).is_dir()
    }
    found = scanned(npm_root, tmp_path)
    assert {each.location: each.version for each in found.packages} == expected
    asked = json.loads((npm_root / "package.json").read_text("utf-8"))["dependencies"]
    assert {each.name for each in found.packages if each.direct} == set(asked)
    assert found.environments[0].detail == "npm"
    assert {each.reason for each in found.problems} == set()
    by_name = {each.name: each for each in found.packages}
    assert by_name["zod"].language == "typescript"
    assert by_name["zod"].summary
    assert (
        found.importing("@tanstack/react-query/build", "typescript")
        == by_name["@tanstack/react-query"]
    )
    assert scanned(npm_root, tmp_path).looked_at == 0


def test_pnpm_links_each_member_to_what_it_asks_for(pnpm_root: Path, tmp_path: Path) -> None:
    found = scanned(pnpm_root, tmp_path)
    direct = {each.location: each.editable for each in found.packages if each.direct}
    assert direct == {
        "packages/shared/node_modules/zod": False,
        "packages/web/node_modules/@acme/shared": True,
        "packages/web/node_modules/@tanstack/react-query": False,
        "packages/web/node_modules/@types/react": False,
        "packages/web/node_modules/react": False,
    }
    stored = [each for each in found.packages if "/.pnpm/" in each.location]
    assert stored
    assert not any(each.direct for each in stored)
    versions = [(each.name, each.version) for each in found.packages]
    assert len(versions) == len(set(versions))
    assert "pnpm" in {each.detail for each in found.environments}
    for each in found.packages:
        assert each.files_root is not None
        assert found.boundary.read(Path("package.json"), each.files_root)


def write(root: Path, place: str, text: str) -> None:
    (root / place).mkdir(parents=True, exist_ok=True)
    (root / place / "package.json").write_text(text)


def test_layouts_that_are_broken_are_reported_and_skipped(tmp_path: Path) -> None:
    root = tmp_path / "project"
    write(root, "node_modules/sound", '{"name": "sound", "version": "1.0.0"}')
    write(root, "node_modules/sound/node_modules/inner", '{"name": "inner", "version": "2.0.0"}')
    write(root, "node_modules/alias", '\ufeff{"name": "real", "version": "3.0.0"}')
    write(root, "node_modules/array", "[]")
    write(root, "node_modules/broken", "{")
    (root / "node_modules" / "half").mkdir()
    (root / "node_modules" / ".cache").mkdir()
    write(tmp_path, "secret", '{"name": "secret", "version": "6.0.0"}')
    (root / "node_modules" / "out").symlink_to(tmp_path / "secret")
    (root / "node_modules" / "gone").symlink_to(root / "nowhere")
    (root / "node_modules" / "circle").symlink_to(root / "node_modules" / "circle")
    (root / "node_modules" / "sound" / "node_modules" / "sound").symlink_to(
        root / "node_modules" / "sound"
    )
    (root / ".pnp.cjs").write_text("")
    found = scanned(root, tmp_path / "cache")
    assert {(each.name, each.import_names, each.version) for each in found.packages} == {
        ("sound", ("sound",), "1.0.0"),
        ("inner", ("inner",), "2.0.0"),
        ("real", ("alias",), "3.0.0"),
    }
    told = {each.location.removeprefix("node_modules/"): each.reason for each in found.problems}
    assert told.keys() == {"array", "broken", "half", "out", "gone", "circle", "."}
    assert "leads out" in told["out"]
    assert "nodeLinker: node-modules" in told["."]


def test_names_that_differ_by_a_sign_or_a_capital_are_of_several_packages(tmp_path: Path) -> None:
    root = tmp_path / "project"
    for name in ("lodash.get", "lodash-get", "Lodash.Get"):
        write(root, f"node_modules/{name}", json.dumps({"name": name, "version": "1.0.0"}))
    found = scanned(root, tmp_path / "cache")
    for name in ("lodash.get", "lodash-get", "Lodash.Get"):
        assert [each.name for each in found.named(name)] == [name]
    assert len(found.named("lodash_get")) == 3


def test_an_upgrade_is_all_that_is_read_again(tmp_path: Path) -> None:
    root = tmp_path / "project"
    for number in range(30):
        write(root, f"node_modules/@s/p{number}", f'{{"name": "@s/p{number}", "version": "1.0.0"}}')
    settle(root)
    assert scanned(root, tmp_path / "cache").looked_at == 30
    write(root, "node_modules/@s/p7", '{"name": "@s/p7", "version": "1.0.10"}')
    after = scanned(root, tmp_path / "cache")
    assert after.looked_at == 1
    assert {each.version for each in after.packages} == {"1.0.0", "1.0.10"}
