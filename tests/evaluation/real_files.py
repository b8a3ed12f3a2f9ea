"""Alarms in files of real packages that run: there should be none.

``DIR`` has packages installed as for :mod:`evaluation.programs`: ``.venv`` and ``node_modules``.
Files of their own sources, tests and examples are checked in one process, evenly chosen from all,
a dozen of one package at most::

    PYTHONPATH=tests python -m evaluation.real_files python DIR --files 1000 --cache CACHE
        --engines ENGINES --part 0/2

``--part 0/2`` leaves one half of the files aside, for a measure after what was found is mended.

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
import os
import re
import resource
import sys
import time
import tomllib
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docstow import Docs
from docstow.core.errors import DocstowError
from docstow.core.settings import Settings, load
from docstow.core.versions import Requirement, Version
from docstow.languages.shared.findings import Finding
from docstow.runtime import Runtime

_ENDINGS = {
    "python": (".py",),
    "typescript": (".ts", ".mts", ".cts", ".tsx"),
    "javascript": (".js", ".mjs", ".cjs"),
}
#: Code blocks of docs, and what marks those that rustdoc does not compile, or not as Rust.
_FENCE = re.compile(r"^```([\w, ]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_OTHERS = re.compile(r"ignore|compile_fail|^(?!rust)[a-z]+\b(?<!no_run)(?<!should_panic)|custom")
_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")
_HIDDEN = re.compile(r"^(\s*)#(?: |$)", re.MULTILINE)
_LARGEST_CRATE = 400_000
#: Files with more lie on one line, or are tables.
_LARGEST = 100_000
_LONGEST_LINE = 2_000


def choose_files(root: Path, language: str, count: int, most: int, part: str) -> list[Path]:
    """Return files of installed packages that somebody wrote, evenly chosen.

    Args:
        root: has the packages.
        language: of the files.
        count: at most so many, sources before declarations.
        most: of one package.
        part: ``0/2`` for one half of all files, ``1/2`` for the other one.
    """
    folder = root / "node_modules"
    if language == "python":
        folder = next((root / ".venv").glob("lib/*/site-packages"))
    number, parts = map(int, part.split("/"))
    packages: dict[str, list[Path]] = {}
    for each in sorted(folder.rglob("*")):
        if (
            each.suffix in _ENDINGS[language]
            and each.is_file()
            and 0 < each.stat().st_size <= _LARGEST
            and not _has_versions_of_its_own(each, folder)
            and zlib.crc32(str(each.relative_to(folder)).encode()) % parts == number
        ):
            names = each.relative_to(folder).parts
            package = "/".join(names[: 2 if names[0].startswith("@") else 1])
            packages.setdefault(package, []).append(each)
    found: list[Path] = []
    for files in packages.values():
        files.sort(key=lambda each: each.name.endswith(_DECLARATIONS))
        sources = [e for e in files if not e.name.endswith(_DECLARATIONS)] or files
        found += sources[:: -(-len(sources) // most)]
    chance = {each: zlib.crc32(f"{each.relative_to(folder)} chosen".encode()) for each in found}
    found.sort(key=lambda each: (each.name.endswith(_DECLARATIONS), chance[each]))
    return sorted(found[:count], key=lambda each: chance[each])


def _has_versions_of_its_own(file: Path, folder: Path) -> bool:
    """Tell whether a package's files see other versions of what they import than a project does."""
    parents = file.relative_to(folder).parts[:-1]
    return "node_modules" in parents or any(
        (folder.joinpath(*parents[:depth]) / "node_modules").is_dir()
        for depth in range(1, min(3, len(parents) + 1))
    )


def read(file: Path) -> str:
    """Return the code of a file; nothing of what is no code of anybody's own hand."""
    try:
        code = file.read_text("utf-8")
    except UnicodeDecodeError:
        return ""
    return code if max(map(len, code.split("\n"))) <= _LONGEST_LINE else ""


@dataclass(slots=True)
class Figures:
    """What is found, and what it costs.

    Attributes:
        files: that were checked.
        wrong: files with an alarm.
        alarms: in all of them.
        names: in all of them.
        open: names that nobody could judge.
        first: seconds of CPU for each file, those of engines included.
        again: the same for some that were checked before, with a change.
        engine_mb: of each engine, after each file.
    """

    files: int = 0
    wrong: int = 0
    alarms: int = 0
    names: int = 0
    open: int = 0
    first: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    engine_mb: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        told = (
            f"{self.alarms} alarms in {self.wrong} of {self.files} files;"
            f" {1 - self.open / max(1, self.names):.0%} of {self.names} names judged; CPU of a file"
        )
        for title, times in (("first", self.first), ("again", self.again)):
            middle, high = _quantiles(times)
            told += f" {title} {1000 * middle:.0f} ms (p95 {1000 * high:.0f})"
        middle, high = _quantiles(self.engine_mb)
        largest = max(self.engine_mb, default=0.0)
        return f"{told}; engine {middle:.0f} MB (p95 {high:.0f}, most {largest:.0f})"


def _quantiles(values: Sequence[float]) -> tuple[float, float]:
    """Return the median, and what one in twenty is above; 0 of nothing."""
    ordered = sorted(values) or [0.0]
    return ordered[len(ordered) // 2], ordered[len(ordered) * 19 // 20]


def _cpu_s(runtime: Runtime) -> float:
    """Return the seconds that this process and its engines have computed."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = time.process_time() + ended.ru_utime + ended.ru_stime
    for pid in runtime.engines.pids():
        fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def check(runtime: Runtime, code: str, language: str) -> tuple[dict[str, Any], float]:
    """Return the answer of the tool, and the seconds of CPU that it cost."""
    began = _cpu_s(runtime)
    answer = runtime.toolbox.call("verify_code", {"code": code, "language": language}).structured
    return dict(answer or {}), _cpu_s(runtime) - began


def alarms(options: argparse.Namespace) -> int:
    """Check files of packages, and print each alarm as it is found, then the figures."""
    flags: dict[str, Any] = {
        "root": (str(options.root),),
        "store": f"{options.cache}/store",
        "cache": f"{options.cache}/cache",
        "engines": options.engines,
        "offline": True,
    }
    figures = Figures()
    files = choose_files(options.root, options.language, options.files, options.most, options.part)
    with closing(Runtime(load(flags, {}))) as runtime:
        for file in files:
            if not (code := read(file)).strip():
                continue
            name = file.relative_to(options.root)
            try:
                answer, cpu_s = check(runtime, code, options.language)
            except DocstowError as error:
                print(f"REFUSED {name}: {error}", flush=True)
                continue
            figures.files += 1
            figures.first.append(cpu_s)
            figures.names += sum(answer["counts"].values())
            figures.open += answer["counts"].get("not_checked", 0)
            found = [each for each in answer["results"] if each["status"] != "deprecated"]
            figures.wrong += bool(found)
            figures.alarms += len(found)
            if options.engines != "none" and answer.get("engine", "none") == "none":
                print(f"NO ENGINE {name}: {answer.get('notice')}", flush=True)
            for each in found:
                line = code.split("\n")[each["line"] - 1].strip()[:160]
                told = each.get("message") or each["name"]
                print(f"{name}:{each['line']}: [{each.get('engine')}] {told} | {line}", flush=True)
            figures.engine_mb += map(_resident_mb, runtime.engines.pids())
            if figures.files % 5 == 0:
                figures.again.append(check(runtime, f"{code}\n", options.language)[1])
            if figures.files % 50 == 0:
                print(f"-- {figures}", flush=True)
    print(f"{options.language}: {figures}")
    return 1 if figures.wrong else 0


def _resident_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024**2


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
    parser.add_argument("--most", type=int, default=12, help="files of one package")
    parser.add_argument("--part", default="0/1", help="0/2 for a half of the files, 1/2 for others")
    parser.add_argument("--cache", required=True, help="folder of the local cache")
    parser.add_argument("--engines", default="none", help="folder of the engines, or none")
    parser.add_argument("--crates", type=int, default=100)
    parser.add_argument("--sources", type=Path, help="folder of unpacked crates")
    options = parser.parse_args()
    if options.language == "rust":
        return source_alarms(options) if options.sources else rust_alarms(options)
    return alarms(options)


if __name__ == "__main__":
    sys.exit(main())
