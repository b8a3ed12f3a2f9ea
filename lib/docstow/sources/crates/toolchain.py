"""The rustdoc JSON of the standard library in an installed toolchain, by rustup's component."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from docstow.core.errors import CrateNotDocumented

NAMES = ("std", "core", "alloc")
#: Further crates that the component may have.
_EXTRA = ("proc_macro",)
_FOLDER = Path("share", "doc", "rust", "json")
_NIGHTLY = "nightly"
_TIMEOUT_S = 60
_INSTALL = (
    "Run `rustup toolchain install nightly --component rust-docs-json`, then `docstow ingest std`; "
    "or give files from elsewhere: `docstow ingest rustdoc std.json core.json alloc.json`."
)


def standard_library(toolchain: str = "") -> list[Path]:
    """Return the files of ``std``, ``core``, ``alloc`` and further crates of the component.

    Args:
        toolchain: rustup's name of it; empty for the current one, or ``nightly`` where that has no
            such files (only nightly toolchains have).

    Raises:
        CrateNotDocumented: there is no working Rust, no such toolchain, or it lacks the component.
    """
    if (rustc := shutil.which("rustc")) is None:
        raise CrateNotDocumented(f"There is no rustc in PATH. {_INSTALL}")
    looked = []
    for name in (toolchain,) if toolchain else ("", _NIGHTLY):
        if (sysroot := _sysroot(rustc, name)) is None:
            continue
        folder = sysroot / _FOLDER
        files = [folder / f"{each}.json" for each in (*NAMES, *_EXTRA)]
        if all(file.is_file() for file in files[: len(NAMES)]):
            return [file for file in files if file.is_file()]
        looked.append(str(folder))
    if not looked:
        raise CrateNotDocumented(f"rustc knows no toolchain {toolchain or _NIGHTLY}. {_INSTALL}")
    raise CrateNotDocumented(
        f"The standard library's rustdoc JSON is not in {' or '.join(looked)}. {_INSTALL}"
    )


def _sysroot(rustc: str, toolchain: str) -> Path | None:
    """Return the folder of a toolchain; None where rustc does not know it."""
    command = [rustc, *([f"+{toolchain}"] if toolchain else []), "--print", "sysroot"]
    try:
        done = subprocess.run(  # noqa: S603 - the operator's own rustc, no shell
            command,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
            # A query must not install anything.
            env=os.environ | {"RUSTUP_AUTO_INSTALL": "0"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CrateNotDocumented(f"{rustc} cannot be asked ({error}). {_INSTALL}") from error
    return Path(done.stdout.strip()) if done.returncode == 0 and done.stdout.strip() else None
