"""Finding the standard library's JSON, with a ``rustc`` that is a script."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from docstow.core.errors import CrateNotDocumented
from docstow.sources.crates.origin import standard_library

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="the stand-in for rustc is a shell script"
)


@pytest.fixture
def rustc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with toolchains ``stable`` (in use, no JSON) and ``nightly`` (with)."""
    program = tmp_path / "bin" / "rustc"
    program.parent.mkdir()
    program.write_text(
        "#!/bin/sh\n"
        'case "$1" in\n'
        f"  --print) echo {tmp_path}/stable;;\n"
        f"  +nightly) echo {tmp_path}/nightly;;\n"
        "  *) echo error: not installed >&2; exit 1;;\n"
        "esac\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    folder(tmp_path, "nightly").mkdir(parents=True)
    for name in ("std", "core", "alloc"):
        (folder(tmp_path, "nightly") / f"{name}.json").write_text("{}")
    return tmp_path


def folder(root: Path, toolchain: str) -> Path:
    return root / toolchain / "share" / "doc" / "rust" / "json"


def test_the_toolchain_in_use_and_else_nightly(rustc: Path) -> None:
    nightly = folder(rustc, "nightly")
    wanted = [nightly / "std.json", nightly / "core.json", nightly / "alloc.json"]
    assert standard_library() == wanted
    assert standard_library("nightly") == wanted
    (nightly / "proc_macro.json").write_text("{}")
    assert standard_library() == [*wanted, nightly / "proc_macro.json"]
    own = folder(rustc, "stable")
    nightly.rename(rustc / "moved")
    own.parent.mkdir(parents=True)
    (rustc / "moved").rename(own)
    assert standard_library()[0] == own / "std.json"


def test_what_is_missing_is_told(rustc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CrateNotDocumented, match=r"no toolchain 1\.80.*--component rust-docs-json"):
        standard_library("1.80")
    (folder(rustc, "nightly") / "core.json").unlink()
    with pytest.raises(CrateNotDocumented, match=r"is not in .*stable.* or .*nightly"):
        standard_library()
    monkeypatch.setenv("PATH", str(rustc))
    with pytest.raises(CrateNotDocumented, match="no rustc in PATH"):
        standard_library()


def test_a_program_that_cannot_be_run_is_told(rustc: Path) -> None:
    (rustc / "bin" / "rustc").write_bytes(b"\0neither a script nor a program")
    with pytest.raises(CrateNotDocumented, match="cannot be asked"):
        standard_library()
