"""What maintainers wrote, beside the changes of ``diff_versions`` and in ``verify_code``."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docstow.core.errors import ItemNotFound
from docstow.core.settings import load
from docstow.runtime import Runtime

CHANGES = """\
# Changelog

## 2.0.0 (2024-06-01)

### Breaking changes

- Renamed `knots.tie` to `knots.bind`.
- Python 3.7 is no longer supported.
- `Rope(colour=...)` is gone: use the `paint` argument instead of `colour`.
- `knots.measure` counts in metres.
- Dropped the alias `knots.Hawser`; use `knots.Rope`.

### Added

- `knots.bind`

## 1.0.0

- Renamed `knots.bind` to `knots.nonsense`.
"""
OLD = '''\
"""Knots."""


def tie(rope: str) -> None:
    """Tie a rope."""


def coil(rope: str) -> None:
    """Coil a rope.

    .. deprecated:: 1.0
        Use `Rope.roll` instead.
    """


def measure(rope: str) -> int:
    """Measure a rope."""


class Rope:
    """A rope."""

    def __init__(self, colour: str = "") -> None: ...

    def roll(self) -> None:
        """Roll it up."""
'''
NEW = '''\
"""Knots."""


def bind(rope: str) -> None:
    """Tie a rope."""


def measure(rope: str) -> int:
    """Measure a rope."""


class Rope:
    """A rope."""

    def __init__(self, paint: str = "") -> None: ...

    def roll(self) -> None:
        """Roll it up."""
'''


def install(root: Path, version: str, code: str, readme: str) -> Path:
    python = f"python3.{sys.version_info.minor}"
    packages = root / ".venv" / "lib" / python / "site-packages"
    info = packages / f"knots-{version}.dist-info"
    info.mkdir(parents=True)
    (packages / "knots").mkdir()
    (packages / "knots" / "__init__.py").write_text(code)
    (root / ".venv" / "pyvenv.cfg").write_text(f"version = 3.{sys.version_info.minor}.0\n")
    metadata = f"Metadata-Version: 2.1\nName: knots\nVersion: {version}\n"
    metadata += f"Description-Content-Type: text/markdown\n\n{readme}"
    (info / "METADATA").write_text(metadata)
    (info / "RECORD").write_text(f"knots/__init__.py,,\n{info.name}/METADATA,,\n")
    (info / "top_level.txt").write_text("knots\n")
    return root


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    folder = tmp_path_factory.mktemp("lines")
    roots = [
        install(folder / "new", "2.0.0", NEW, CHANGES),
        install(folder / "old", "1.0.0", OLD, "# knots\n"),
    ]
    flags = {
        "store": str(folder / "store"),
        "cache": str(folder / "cache"),
        "docs_rs_url": "http://127.0.0.1:1",
        "crates_index_url": "http://127.0.0.1:1",
        "python_index_url": "http://127.0.0.1:1",
        "retries": 0,
        "root": ",".join(map(str, roots)),
    }
    with contextlib.closing(Runtime(load(flags, {}))) as made:
        yield made


def compare(runtime: Runtime, **arguments: Any) -> dict[str, Any]:
    given = {"package": "knots", "language": "python", "from_version": "1.0.0"}
    answer = runtime.toolbox.call("diff_versions", given | {"to_version": "2.0.0"} | arguments)
    rendered: dict[str, Any] = json.loads(answer.render())
    return rendered


def test_changes_have_the_lines_that_name_them_and_what_takes_their_place(
    runtime: Runtime,
) -> None:
    answer = compare(runtime)
    rows = {(each["path"], each["rule"]): each for each in answer["results"]}
    tie = rows["knots.tie", "item-removed"]
    assert tie["successor"] == "knots.bind"
    assert tie["successor_from"] == "changelog"
    assert tie["changelog"] == ["2.0.0: Renamed `knots.tie` to `knots.bind`."]
    coil = rows["knots.coil", "item-removed"]
    assert coil["successor"] == "knots.Rope.roll"
    assert coil["successor_from"] == "deprecation note"
    removed = next(each for (path, _), each in rows.items() if path == "knots.Rope")
    assert "paint" in removed["successor"] or "paint" in removed["changelog"][0]
    # What names no change is listed; what older versions say is none of it.
    assert answer["breaking_lines"] == [
        "2.0.0: Python 3.7 is no longer supported.",
        "2.0.0: `knots.measure` counts in metres.",
    ]
    assert "nonsense" not in json.dumps(answer)


def test_items_that_are_asked_for_and_have_no_change_have_their_lines(runtime: Runtime) -> None:
    answer = compare(runtime, paths=["knots.measure"])
    assert answer["results"] == []
    assert answer["only_in_changelog"] == [
        {"path": "knots.measure", "changelog": ["2.0.0: `knots.measure` counts in metres."]}
    ]


def test_names_that_are_no_items_are_found_in_the_changelog_or_refused(runtime: Runtime) -> None:
    answer = compare(runtime, paths=["knots.Hawser"])
    assert answer["only_in_changelog"] == [
        {
            "path": "knots.Hawser",
            "successor": "knots.Rope",
            "changelog": ["2.0.0: Dropped the alias `knots.Hawser`; use `knots.Rope`."],
        }
    ]
    with pytest.raises(ItemNotFound):
        compare(runtime, paths=["knots.Hawser", "knots.nowhere_at_all"])


def test_code_that_uses_what_is_gone_gets_what_takes_its_place(runtime: Runtime) -> None:
    compare(runtime)
    given = {"versions": {"knots": "2.0.0"}, "language": "python"}
    code = "import knots\nknots.tie('a')\nknots.coil('a')\n"
    answer = runtime.toolbox.call("verify_code", given | {"code": code}).structured
    assert answer is not None
    tie, coil = answer["results"]
    assert (tie["status"], tie["suggestions"][0]) == ("unknown", "knots.bind")
    assert tie["message"].endswith("; use knots.bind, as the changelog of 2.0.0 says.")
    assert (coil["status"], coil["suggestions"][0]) == ("unknown", "knots.Rope.roll")
    given["versions"] = {"knots": "1.0.0"}
    older = runtime.toolbox.call("verify_code", given | {"code": code}).structured
    assert older is not None
    assert [(each["name"], each["status"]) for each in older["results"]] == [
        ("knots.coil", "deprecated")
    ]
    assert older["results"][0]["suggestions"] == ["knots.Rope.roll"]


SAILS = """\
# Changelog

## 2.0.0

- The deprecated `wind` argument of `hoist`, `strike` and `furl` has now been removed.
- A `str` can be given instead of a `Mast` to `Sail`, `hoist` too.

## 1.0.0

- The `wind=...` shortcut is deprecated. Use the explicit style of `gust=Gust()` instead.
"""
HOISTS = '"""Knots."""\n\nclass Base: ...\n' + "".join(
    f"def {name}(area: int, wind: int = 0) -> None: ...\n" for name in ("hoist", "strike", "furl")
)


def test_lines_of_several_changes_stand_once_and_a_class_without_its_base_stays(
    tmp_path: Path,
) -> None:
    before = f"{HOISTS}class Sail(Base):\n    def set(self) -> None: ...\n"
    after = before.replace(", wind: int = 0", ", gust: int = 0").replace("(Base)", "")
    roots = [
        install(tmp_path / "new", "2.0.0", after, SAILS),
        install(tmp_path / "old", "1.0.0", before, "# knots\n"),
    ]
    flags = {"store": str(tmp_path / "store"), "cache": str(tmp_path / "cache")}
    flags |= {"root": ",".join(map(str, roots))}
    with contextlib.closing(Runtime(load(flags, {}))) as made:
        results = compare(made)["results"]
    found = {(each["path"], each["rule"]): each for each in results}
    lines = {path: e["changelog"] for (path, rule), e in found.items() if rule.startswith("para")}
    assert lines["knots.furl"][-1].startswith("2.0.0: The deprecated `wind` argument")
    assert lines["knots.hoist"] != lines["knots.furl"]
    assert lines["knots.strike"] == ["as for knots.furl"]
    assert found["knots.furl", "parameter-removed"]["successor"] == "wind: gust"
    assert "successor" not in found["knots.Sail", "base-removed"]
