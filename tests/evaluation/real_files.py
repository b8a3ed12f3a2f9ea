"""Alarms in files of real packages that run: there should be none.

``DIR`` has packages installed as for :mod:`evaluation.programs`: ``.venv`` and ``node_modules``.
Files of their own sources, tests and examples are checked in one process, evenly chosen from all::

    PYTHONPATH=tests python -m evaluation.real_files python DIR --files 1000 --cache CACHE

Of Rust they are the examples in the docs of crates, which rustdoc compiles, hidden lines included.
Names of other crates are not counted, whose stowed versions are not those of the docs.
``DIR`` has ``CRATE/VERSION`` with rustdoc JSON; crates of more than 400 KB are left out::

    PYTHONPATH=tests:tests/support python -m evaluation.real_files rust DIR --cache CACHE
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from docstow import Docs
from docstow.core.errors import DocstowError
from docstow.core.settings import Settings
from docstow.core.versions import Version

_ENDINGS = {
    "python": (".py",),
    "typescript": (".ts", ".mts", ".cts", ".tsx"),
    "javascript": (".js", ".mjs", ".cjs"),
}
#: Code blocks of docs, and what marks those that rustdoc does not compile, or not as Rust.
_FENCE = re.compile(r"^```([\w, ]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_OTHERS = re.compile(r"ignore|compile_fail|^(?!rust)[a-z]+\b(?<!no_run)(?<!should_panic)|custom")
_HIDDEN = re.compile(r"^(\s*)#(?: |$)", re.MULTILINE)
_LARGEST_CRATE = 400_000
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


def docs_examples(rustdoc: Path) -> Iterator[str]:
    """Yield the examples of a crate's docs as they are compiled."""
    import zstandard

    body = zstandard.ZstdDecompressor().stream_reader(rustdoc.read_bytes()).read()
    items = json.loads(body)["index"].values()
    for docs in dict.fromkeys(each["docs"] for each in items if each["docs"]):
        for marks, code in _FENCE.findall(docs):
            if not _OTHERS.search(marks.strip()):
                yield _HIDDEN.sub(r"\1", code).replace("##", "#")


def rust_alarms(options: argparse.Namespace) -> int:
    """Stow crates, check examples of their docs, evenly chosen, and print each alarm."""
    from servers.docs_rs import DocsRs

    found = options.root.glob("*/*/rustdoc*.json.zst")
    newest = sorted(found, key=lambda each: Version.parse(each.parent.name))
    rustdocs = {each.parents[1].name: each for each in newest}
    rustdocs = {n: e for n, e in sorted(rustdocs.items()) if e.stat().st_size <= _LARGEST_CRATE}
    chosen = [*rustdocs][:: max(1, len(rustdocs) // options.crates)][: options.crates]
    each_has = max(1, options.files // len(chosen))
    wrong = total = 0
    with DocsRs(options.root) as upstream:
        settings = Settings(
            store=f"{options.cache}/store",
            cache=f"{options.cache}/cache",
            docs_rs_url=upstream.url,
            crates_index_url=upstream.index_url,
            upstream_interval_s=0,
            wait_s=120,
        )
        with Docs(settings) as docs:
            for name in chosen:
                try:
                    docs.crate(name)
                except DocstowError as error:
                    print(f"REFUSED {name}: {error}", flush=True)
            for name in chosen:
                codes = [*dict.fromkeys(docs_examples(rustdocs[name]))]
                for code in codes[:: max(1, len(codes) // each_has)][:each_has]:
                    said = [
                        each
                        for each in docs.verify(code, "rust").findings
                        if each.status in {"unknown", "wrong_argument"}
                        and each.package in {name, "std"}
                    ]
                    total, wrong = total + 1, wrong + bool(said)
                    for each in said:
                        line = code.split("\n")[each.line - 1].strip()
                        print(
                            f"{name}:{each.line}: {each.message or each.name} | {line}", flush=True
                        )
    print(f"rust: alarms in {wrong} of {total} examples of {len(chosen)} crates")
    return 1 if wrong else 0


def main() -> int:
    """Check the files and print each alarm, then the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language", choices=(*_ENDINGS, "rust"))
    parser.add_argument("root", type=Path)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--cache", default="", help="folder of the local cache")
    parser.add_argument("--engines", default="none", help="folder of the engines, or none")
    parser.add_argument("--crates", type=int, default=100)
    options = parser.parse_args()
    if options.language == "rust":
        return rust_alarms(options)
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
