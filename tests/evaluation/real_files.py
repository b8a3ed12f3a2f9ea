"""Alarms in files of real packages that run: there should be none.

``DIR`` has packages installed as for :mod:`evaluation.programs`: ``.venv`` and ``node_modules``.
Files of their own sources, tests and examples are checked in one process, evenly chosen from all::

    PYTHONPATH=tests python -m evaluation.real_files python DIR --files 1000 --cache CACHE
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from docstow import Docs
from docstow.core.errors import DocstowError
from docstow.core.settings import Settings

_ENDINGS = {
    "python": (".py",),
    "typescript": (".ts", ".mts", ".cts", ".tsx"),
    "javascript": (".js", ".mjs", ".cjs"),
}
#: Files with more lie on one line, or are tables.
_LARGEST = 100_000
_LONGEST_LINE = 2_000


def choose(root: Path, language: str, count: int) -> list[Path]:
    """Return files of installed packages that somebody wrote, evenly chosen."""
    folder = root / ("node_modules" if language != "python" else ".venv")
    found = sorted(
        each
        for each in folder.rglob("*")
        if each.suffix in _ENDINGS[language]
        and 0 < each.stat().st_size <= _LARGEST
        and not _has_versions_of_its_own(each, folder)
    )
    return found[:: max(1, len(found) // count)][:count]


def _has_versions_of_its_own(file: Path, folder: Path) -> bool:
    """Tell whether a package's files see other versions of what they import than a project does."""
    parents = file.relative_to(folder).parts[:-1]
    return "node_modules" in parents or any(
        (folder.joinpath(*parents[:depth]) / "node_modules").is_dir()
        for depth in range(1, min(3, len(parents) + 1))
    )


def alarms(docs: Docs, file: Path, language: str) -> Iterator[str]:
    """Yield what is said to be wrong in a file; nothing of what is no code of this language."""
    try:
        code = file.read_text("utf-8")
    except UnicodeDecodeError:
        return
    if not code.strip() or max(map(len, code.split("\n"))) > _LONGEST_LINE:
        return
    for each in docs.verify(code, language).findings:
        if each.status in {"unknown", "wrong_argument"}:
            yield f"{each.line}: {each.message or each.name}"


def main() -> int:
    """Check the files and print each alarm, then the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language", choices=tuple(_ENDINGS))
    parser.add_argument("root", type=Path)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--cache", default="", help="folder of the local cache")
    parser.add_argument("--engines", default="none", help="folder of the engines, or none")
    options = parser.parse_args()
    settings = Settings(
        root=(str(options.root),), offline=True, cache=options.cache, engines=options.engines
    )
    files = choose(options.root, options.language, options.files)
    wrong = total = 0
    began = time.process_time()
    with Docs(settings) as docs:
        for file in files:
            try:
                found = list(alarms(docs, file, options.language))
            except DocstowError as error:
                print(f"REFUSED {file}: {error}", flush=True)
                continue
            wrong, total = wrong + bool(found), total + len(found)
            for each in found:
                print(f"{file.relative_to(options.root)}:{each}", flush=True)
    took = time.process_time() - began
    print(
        f"{options.language}: {total} alarms in {wrong} of {len(files)} files,"
        f" {1000 * took / max(1, len(files)):.0f} ms of CPU for each"
    )
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
