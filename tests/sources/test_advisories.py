"""Advisories that an operator has: exports of OSV and a checkout of RustSec's database."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from docstow.core.errors import ConfigurationError
from docstow.languages import PYTHON, RUST, TYPESCRIPT, Language
from docstow.sources.advisories import Advisories


def osv(
    name: str,
    ecosystem: str,
    *events: dict[str, str],
    kind: str = "ECOSYSTEM",
    versions: tuple[str, ...] = (),
    **more: Any,
) -> dict[str, Any]:
    affected = {
        "package": {"name": name, "ecosystem": ecosystem},
        "ranges": [{"type": kind, "events": list(events)}] if events else [],
        "versions": list(versions),
    }
    return {"id": "OSV-1", "summary": "A fault", "affected": [affected], **more}


def known(tmp_path: Path, *entries: dict[str, Any]) -> Advisories:
    file = tmp_path / "osv.json"
    file.write_text(json.dumps(list(entries)), "utf-8")
    return Advisories(file, tmp_path / "cache")


#: Events, and versions that they are about and those that they are not about; the first are the
#: examples of the schema's own documentation.
RANGES = [
    (PYTHON, [{"introduced": "0"}], ["0.1", "9!1"], []),
    (PYTHON, [{"introduced": "0"}, {"fixed": "1.0.2"}], ["1.0.1", "1.0.2rc1"], ["1.0.2", "2"]),
    (PYTHON, [{"introduced": "1.0"}, {"last_affected": "2.0"}], ["1", "2.0.0"], ["0.9", "2.0.1"]),
    (PYTHON, [{"introduced": "1.0.post1"}], ["1.0.post2"], ["1.0"]),
    (
        TYPESCRIPT,
        [{"introduced": "1.0.0"}, {"fixed": "1.0.2"}, {"introduced": "3.0.0"}, {"fixed": "3.2.5"}],
        ["1.0.0", "1.0.1", "3.2.4", "3.2.5-rc.1"],
        ["0.9.9", "1.0.2", "2.9.9", "3.2.5"],
    ),
    (
        TYPESCRIPT,
        [{"fixed": "3.2.5"}, {"introduced": "3.0.0"}, {"fixed": "1.0.2"}, {"introduced": "0"}],
        ["0.0.1", "3.1.0"],
        ["1.0.2", "3.2.5"],
    ),
    (RUST, [{"introduced": "0.0.0-0"}, {"fixed": "0.3.1"}], ["0.3.0", "0.3.1-pre"], ["0.3.1"]),
    (RUST, [{"introduced": "0"}, {"limit": "2.0.0"}], ["1.9.9"], ["2.0.0"]),
]
ECOSYSTEM = {"python": "PyPI", "typescript": "npm", "rust": "crates.io"}


@pytest.mark.parametrize(("language", "events", "bad", "good"), RANGES)
def test_ranges_are_evaluated_as_the_schema_says(
    tmp_path: Path,
    language: Language,
    events: list[dict[str, str]],
    bad: list[str],
    good: list[str],
) -> None:
    advisories = known(tmp_path, osv("lantern", ECOSYSTEM[language.name], *events))
    for version in bad:
        assert [each.id for each in advisories.of(language, "lantern", version)] == ["OSV-1"]
    for version in good:
        assert advisories.of(language, "lantern", version) == []


def test_lists_of_versions_count_beside_ranges(tmp_path: Path) -> None:
    entry = osv("Lan_tern", "PyPI", {"introduced": "5"}, versions=("1.0", "odd"))
    advisories = known(tmp_path, entry)
    for version in ("1.0", "1.0.0", "odd", "5.1"):
        assert advisories.of(PYTHON, "lan.tern", version)
    assert not advisories.of(PYTHON, "lan-tern", "1.1")
    assert not advisories.of(TYPESCRIPT, "lan-tern", "1.0.0")


def test_what_is_withdrawn_or_about_commits_is_not_told(tmp_path: Path) -> None:
    gone = osv("lantern", "npm", {"introduced": "0"}, withdrawn="2024-01-01T00:00:00Z")
    commits = osv("lantern", "npm", {"introduced": "0"}, kind="GIT", id="OSV-2")
    assert known(tmp_path, gone, commits).of(TYPESCRIPT, "lantern", "1.0.0") == []


def test_one_fault_of_two_databases_is_told_once(tmp_path: Path) -> None:
    one = osv("lantern", "PyPI", {"introduced": "0"}, {"fixed": "2.0"}, id="GHSA-1")
    one |= {"aliases": ["CVE-1", "PYSEC-1"], "severity": [{"type": "CVSS_V3", "score": "CVSS:3.1"}]}
    one |= {"database_specific": {"severity": "HIGH"}, "published": "2024-02-03T04:05:06Z"}
    one |= {"references": [{"type": "WEB", "url": "w"}, {"type": "ADVISORY", "url": "a"}]}
    other = osv("lantern", "PyPI", {"introduced": "0"}, id="PYSEC-1", aliases=["CVE-1"])
    (only,) = known(tmp_path, other, one).of(PYTHON, "lantern", "1.0")
    assert (only.id, only.aliases, only.severity) == ("GHSA-1", ("CVE-1", "PYSEC-1"), "HIGH")
    assert (only.published, only.fixed, only.url) == ("2024-02-03", ("2.0",), "a")


RUSTSEC = """```toml
[advisory]
id = "RUSTSEC-2020-0001"
package = "quay_crane"
date = "2020-01-02"
url = "https://example.org/1"
{extra}
aliases = ["CVE-2"]

[versions]
patched = [">= 1.2.3, < 2.0.0", ">= 2.1.0"]
unaffected = ["< 0.5.0"]
```

# Loads fall

Text.
"""


def test_rustsecs_checkout(tmp_path: Path) -> None:
    folder = tmp_path / "advisory-db" / "crates" / "quay_crane"
    folder.mkdir(parents=True)
    file = folder / "RUSTSEC-2020-0001.md"
    file.write_text(RUSTSEC.replace("{extra}", 'informational = "unsound"'), "utf-8")
    (folder.parent.parent / "README.md").write_text("# About\n", "utf-8")
    advisories = Advisories(tmp_path / "advisory-db", tmp_path / "cache")
    for version in ("0.5.0", "1.2.2", "2.0.0", "2.1.0-rc.1"):
        (found,) = advisories.of(RUST, "quay-crane", version)
        assert (found.id, found.summary, found.kind) == (
            "RUSTSEC-2020-0001",
            "Loads fall",
            "unsound",
        )
    for version in ("0.4.9", "1.2.3", "1.9.0", "2.1.0", "3.0.0"):
        assert advisories.of(RUST, "quay-crane", version) == []
    assert advisories.unread == 0


def test_a_folder_of_everything_is_read_again_where_a_file_changes(tmp_path: Path) -> None:
    folder = tmp_path / "osv"
    folder.mkdir()
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        entry = osv("lantern", "PyPI", {"introduced": "0"})
        archive.writestr("PyPI/OSV-1.json", json.dumps(entry))
        archive.writestr("PyPI/broken.json", "{")
    now = 0.0
    advisories = Advisories(folder, tmp_path / "cache", lambda: now)
    assert len(advisories.of(PYTHON, "lantern", "1.0")) == 1
    assert advisories.unread == 1
    single = folder / "more.json"
    single.write_text(json.dumps(osv("lantern", "PyPI", {"introduced": "0"}, id="OSV-2")), "utf-8")
    assert len(advisories.of(PYTHON, "lantern", "1.0")) == 1
    now = 61.0
    assert len(advisories.of(PYTHON, "lantern", "1.0")) == 2
    assert len(list((tmp_path / "cache").iterdir())) == 1
    # Another process finds the index made.
    before = (tmp_path / "cache").stat().st_mtime_ns
    assert len(Advisories(folder, tmp_path / "cache").of(PYTHON, "lantern", "1.0")) == 2
    assert (tmp_path / "cache").stat().st_mtime_ns == before


@pytest.mark.parametrize(
    "body",
    [b"", b"[1, 2]", b'{"id": 3}', b'{"id": "a", "affected": 5}', b"[" * 100_000, b"\xff\xfe"],
)
def test_files_that_are_damaged_are_counted(tmp_path: Path, body: bytes) -> None:
    (tmp_path / "osv").mkdir()
    (tmp_path / "osv" / "a.json").write_bytes(body)
    (tmp_path / "osv" / "b.zip").write_bytes(b"PK no zip")
    (tmp_path / "osv" / "c.json").symlink_to("/dev/zero")
    advisories = Advisories(tmp_path / "osv", tmp_path / "cache")
    assert advisories.of(PYTHON, "lantern", "1.0") == []
    assert advisories.unread == 2


def test_a_place_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="absent"):
        Advisories(tmp_path / "absent", tmp_path / "cache").of(PYTHON, "lantern", "1.0")
