"""Alarms in files of real packages that run: there should be none.

``DIR`` has packages installed as for :mod:`evaluation.programs`: ``.venv`` and ``node_modules``.
Files of their own sources, tests and examples are checked in one process, evenly chosen from all::

    PYTHONPATH=tests python -m evaluation.real_files python DIR --files 1000 --cache CACHE

Of Rust they are the examples in the docs of crates, which rustdoc compiles, hidden lines included.
Names of other crates are not counted, whose stowed versions are not those of the docs.
``DIR`` has ``CRATE/VERSION`` with rustdoc JSON; crates of more than 400 KB are left out::

    PYTHONPATH=tests:tests/support python -m evaluation.real_files rust DIR --cache CACHE

With ``--sources`` they are files of packages instead, unpacked as ``SOURCES/NAME-VERSION`` with a
``Cargo.toml``: those that name a crate which ``DIR`` has in a version that their package takes.
Other crates are not judged there, and Rust's own library always is.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from docstow import Docs
from docstow.core.errors import DocstowError
from docstow.core.settings import Settings
from docstow.core.versions import Requirement, Version
from docstow.languages.shared.findings import Finding

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


def choose_files(root: Path, language: str, count: int) -> list[Path]:
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
    found = options.root.glob("*/*/rustdoc*.json.zst")
    newest = sorted(found, key=lambda each: Version.parse(each.parent.name))
    rustdocs = {each.parents[1].name: each for each in newest}
    rustdocs = {n: e for n, e in sorted(rustdocs.items()) if e.stat().st_size <= _LARGEST_CRATE}
    chosen = [*rustdocs][:: max(1, len(rustdocs) // options.crates)][: options.crates]
    each_has = max(1, options.files // len(chosen))
    wrong = total = 0
    with _stowing(options) as docs:
        for name in chosen:
            try:
                docs.crate(name)
            except DocstowError as error:
                print(f"REFUSED {name}: {error}", flush=True)
        for name in chosen:
            codes = [*dict.fromkeys(docs_examples(rustdocs[name]))]
            for code in codes[:: max(1, len(codes) // each_has)][:each_has]:
                found = docs.verify(code, "rust").findings
                said = [each for each in found if each.package in {name, "std"}]
                total, wrong = total + 1, wrong + _tell(name, code, said)
    print(f"rust: alarms in {wrong} of {total} examples of {len(chosen)} crates")
    return 1 if wrong else 0


def source_alarms(options: argparse.Namespace) -> int:
    """Check files of crates' sources, evenly chosen, and print each alarm."""
    stowed = {
        each.name.replace("-", "_"): (each.name, [version.name for version in each.iterdir()])
        for each in options.root.iterdir()
        if each.is_dir()
    }
    files = [*_sources(options.sources, stowed)]
    files = files[:: max(1, len(files) // options.files)][: options.files]
    wrong = 0
    with _stowing(options) as docs:
        for file, versions in files:
            code = file.read_text("utf-8")
            said = docs.verify(code, "rust", versions=versions).findings
            wrong += _tell(str(file.relative_to(options.sources)), code, said)
    packages = {file.relative_to(options.sources).parts[0] for file, _ in files}
    print(f"rust: alarms in {wrong} of {len(files)} files of {len(packages)} packages")
    return 1 if wrong else 0


def _sources(
    folder: Path, stowed: Mapping[str, tuple[str, Sequence[str]]]
) -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield files that name stowed crates, with the versions of these that their package takes."""
    for manifest in sorted(folder.glob("*/Cargo.toml")):
        versions = {
            stowed[name][0]: version
            for name, wanted in _dependencies(manifest)
            if name in stowed and (version := _newest(wanted, stowed[name][1]))
        }
        named = re.compile(rf"\b(?:{'|'.join(versions).replace('-', '_')})::") if versions else None
        for file in sorted(manifest.parent.rglob("*.rs")):
            if named and file.stat().st_size <= _LARGEST and named.search(file.read_text("utf-8")):
                yield file, versions


def _newest(wanted: str, versions: Iterable[str]) -> str:
    """Return the newest of versions that a manifest's requirement takes; empty where none is."""
    requirement = Requirement.parse(wanted)
    fitting = [each for each in map(Version.parse, versions) if requirement.matches(each)]
    return str(max(fitting)) if fitting else ""


def _dependencies(manifest: Path) -> Iterator[tuple[str, str]]:
    """Yield what a package depends on: names as code has them, and requirements."""
    read = tomllib.loads(manifest.read_text("utf-8"))
    package = read["package"]
    yield package["name"].replace("-", "_"), f"={package['version']}"
    for each in (read, *read.get("target", {}).values()):
        for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
            for name, given in each.get(kind, {}).items():
                facts = given if isinstance(given, dict) else {"version": given}
                if facts.get("package", name) == name and "version" in facts:
                    yield name.replace("-", "_"), facts["version"]


@contextmanager
def _stowing(options: argparse.Namespace) -> Iterator[Docs]:
    """Provide documentation that is stowed from the crates of a folder when it is asked for."""
    from servers.docs_rs import DocsRs

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
            yield docs


def _tell(name: str, code: str, findings: Iterable[Finding]) -> bool:
    """Print what is said to be wrong in a piece of Rust code; tell whether anything is."""
    said = [each for each in findings if each.status in {"unknown", "wrong_argument"}]
    for each in said:
        line = code.split("\n")[each.line - 1].strip()
        print(f"{name}:{each.line}: {each.message or each.name} | {line}", flush=True)
    return bool(said)


def main() -> int:
    """Check the files and print each alarm, then the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language", choices=(*_ENDINGS, "rust"))
    parser.add_argument("root", type=Path)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--cache", default="", help="folder of the local cache")
    parser.add_argument("--engines", default="none", help="folder of the engines, or none")
    parser.add_argument("--crates", type=int, default=100)
    parser.add_argument("--sources", type=Path, help="folder of unpacked crates")
    options = parser.parse_args()
    if options.language == "rust":
        return source_alarms(options) if options.sources else rust_alarms(options)
    settings = Settings(
        root=(str(options.root),), offline=True, cache=options.cache, engines=options.engines
    )
    files = choose_files(options.root, options.language, options.files)
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
