"""A language that docstow does not have works end to end by one record."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from docstow import languages
from docstow.cli import main
from docstow.core.errors import InvalidParameter, ItemNotFound
from docstow.core.model import Document
from docstow.core.settings import load
from docstow.core.spelling import Spelling
from docstow.languages.shared.diff import COMPATIBLE, PackageChange
from docstow.languages.shared.findings import Verdict
from docstow.languages.shared.language import (
    Checking,
    Comparing,
    ErrorMessageFormat,
    Language,
    Mention,
    ModuleGraph,
    Reading,
    Texts,
)
from docstow.languages.shared.lookup import Installed, Resolver, look_up_all
from docstow.languages.shared.project import Environment, Locked, Package, Scan, ordered
from docstow.languages.shared.scanning import Finder, LockFile, ScanCache, Scanning, Walk
from docstow.languages.shared.surface import Openness, Parameter, Symbol
from docstow.ops.export import Export
from docstow.runtime import Runtime

#: A function of a toy file: its name, its parameters, and what it does.
LINE = re.compile(r"(\w+)([\w ]*) -- (.+)")
CALL = re.compile(r"\b[a-z]\w*(?:\.\w+)+")


class ToyFinder(Finder):
    """Finds the folder ``toybox``, in which packages are folders named ``name-version``."""

    claimed = frozenset(("toybox",))

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._boxes: list[Path] = []

    def claim(self, folder: Path) -> None:
        self._walk.watch(folder)
        self._boxes.append(folder)

    def environments(self, asked: frozenset[str], memory: ScanCache) -> list[Environment]:
        del memory
        return [
            Environment(
                "toys", "toybox", box.name, "", ordered(map(package(asked), sorted(box.iterdir())))
            )
            for box in self._boxes
        ]


def package(asked: frozenset[str]) -> Callable[[Path], Package]:
    def read(folder: Path) -> Package:
        name, _, version = folder.name.partition("-")
        return Package(
            ecosystem="toys",
            name=name,
            version=version,
            location=f"toybox/{folder.name}",
            import_names=(name,),
            direct=name in asked,
            language="toy",
            summary=f"Toys that are {name}",
            installed=True,
            editable=False,
            files_root=folder,
        )

    return read


class ToySurface:
    """The functions of a package: each file is a module, each line of it a function."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self._symbols: dict[str, Symbol] = {}
        assert package.files_root is not None
        self._add(package.name, "module", "", 0, "", f"All {package.name}.")
        for file in sorted(package.files_root.glob("*.toy")):
            module = f"{package.name}.{file.stem}"
            self._add(module, "module", file.name, 0, "", f"The {file.stem} of {package.name}.")
            for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
                if found := LINE.fullmatch(line):
                    path = f"{module}.{found[1]}"
                    self._add(path, "function", file.name, number, found[2], found[3])

    def _add(
        self, path: str, kind: Any, file: str, line: int, parameters: str, docstring: str
    ) -> None:
        given = tuple(Parameter(each, "positional", required=True) for each in parameters.split())
        names = ", ".join(parameters.split())
        signature = f"{path.rpartition('.')[2]}({names})" if kind == "function" else ""
        self._symbols[path] = Symbol(
            path, kind, file, line, line, signature, docstring, parameters=given
        )

    def modules(self) -> tuple[str, ...]:
        return tuple(path for path, each in self._symbols.items() if each.kind == "module")

    def symbol(self, path: str) -> Symbol | None:
        return self._symbols.get(path)

    def members(self, path: str) -> Mapping[str, Symbol] | None:
        if path not in self._symbols:
            return None
        return {
            name.rpartition(".")[2]: each
            for name, each in self._symbols.items()
            if name.rpartition(".")[0] == path
        }

    def listed(self, path: str) -> Iterator[str]:
        yield from self.members(path) or ()

    def certain(self, path: str, name: str = "") -> bool:
        return path in self._symbols

    def openness(self, path: str, name: str = "") -> Openness:
        return Openness.CLOSED if self.certain(path) else Openness.ANY

    def names(self) -> Iterator[str]:
        yield from self._symbols

    def homes(self, name: str) -> Iterator[str]:
        del name
        yield from ()


class ToySurfaces:
    def __init__(self, scan: Scan) -> None:
        del scan

    def __call__(self, package: Package) -> ToySurface:
        return ToySurface(package)

    def again(self) -> bool:
        return False


def documents(surface: ToySurface) -> Iterator[Document]:
    for path in surface.names():
        symbol = surface.symbol(path)
        assert symbol is not None
        parent, _, title = path.rpartition(".")
        yield Document(
            path=path,
            kind=symbol.kind,
            title=title,
            signature=symbol.signature,
            text=symbol.docstring,
            parent=parent,
            attributes={"language": "toy", "certain": True},
        )


class ToyResolver:
    """The packages of a project; a version without any where there is no scan."""

    def __init__(self, scan: Scan | None) -> None:
        self._scan = scan

    def package_for(self, imported: str) -> Installed | None:
        found = self._scan.importing(imported, "toy") if self._scan is not None else None
        return Installed(found.name, found.version, ToySurface(found)) if found else None

    def is_standard(self, imported: str) -> bool:
        return imported.startswith("core.")


@contextlib.contextmanager
def project_resolver(scan: Scan) -> Iterator[Resolver]:
    yield ToyResolver(scan)


def verify(code: str, resolver: Resolver, language: str) -> Verdict:
    assert language == "toy"
    named = [
        (first, tuple(below), number)
        for number, line in enumerate(code.splitlines(), 1)
        for first, *below in (found.split(".") for found in CALL.findall(line))
    ]
    return look_up_all(named, resolver)


def changes(old: Document, new_kind: str, before: str, after: str) -> Iterator[PackageChange]:
    del new_kind
    yield PackageChange(old.path, old.kind, "signature-changed", before, after, found=COMPATIBLE)


def mentions(lines: Sequence[str]) -> Iterator[Mention]:
    for number, line in enumerate(lines, 1):
        for first, *below in (found.split(".") for found in CALL.findall(line)):
            yield Mention(first, tuple(below), number)


def wanted(text: str) -> set[str]:
    return set(text.split())


def locked(text: str) -> list[Locked]:
    rows = (line.split() for line in text.splitlines())
    return [Locked(name, version) for name, version in rows]


SCANNING = Scanning(
    finder=ToyFinder,
    manifests=("toys.txt",),
    read_manifest=lambda file, _: wanted if file.name == "toys.txt" else None,
    lock_files={"toys.lock": LockFile("toys", locked)},
    lock_text=lambda _: iter((locked,)),
)
TEXTS = Texts(
    messages=(ErrorMessageFormat("toy", re.compile(r"^toy error: ", re.MULTILINE), mentions),),
    imports=re.compile(r"^play (\w+)", re.MULTILINE),
    code=re.compile(r"^play \w+", re.MULTILINE),
)
READING = Reading(
    reader="toy/1",
    surfaces=ToySurfaces,
    documents=documents,
    graph=ModuleGraph(
        ".",
        lambda files: {each.removesuffix(".toy"): each for each in files},
        lambda text, *_: iter(re.findall(r"see (\w+)", text)),
    ),
)
TOY = Language(
    spelling=Spelling(name="toy", ecosystem="toys", kind="toys"),
    fences={".toy": "toy"},
    scanning=lambda: SCANNING,
    texts=lambda: TEXTS,
    reading=lambda: READING,
    checking=lambda: Checking(
        verify=verify, resolver=project_resolver, standard=lambda _: ToyResolver(None)
    ),
    comparing=lambda: Comparing(same=str.__eq__, changes=changes),
)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """A project with two versions of a toy package, in a process that has the language."""
    root = tmp_path / "project"
    for version, rowing in (
        ("1.0", "row boat -- Row a boat across the lake.\ndrift -- Let the wind do it.\n"),
        ("2.0", "row boat speed -- Row a boat across the lake, see sailing.\n"),
    ):
        folder = root / "toybox" / f"boats-{version}"
        folder.mkdir(parents=True)
        (folder / "rowing.toy").write_text(rowing)
        (folder / "sailing.toy").write_text("reef sail -- Make a sail smaller in strong wind.\n")
    (root / "toys.txt").write_text("boats\n")
    languages.register(TOY)
    yield root
    languages.unregister(TOY)


def settings(folder: Path, root: Path | None = None) -> dict[str, str]:
    nowhere = "http://127.0.0.1:1"
    given = {"store": str(folder / "store"), "cache": str(folder / "cache")}
    given |= {"docs_rs_url": nowhere, "crates_index_url": nowhere}
    return given | ({"root": str(root)} if root is not None else {})


@contextlib.contextmanager
def caller(folder: Path, root: Path | None = None) -> Iterator[tuple[Callable[..., Any], Runtime]]:
    with contextlib.closing(Runtime(load(settings(folder, root), {}))) as runtime:

        def call(tool: str, **arguments: Any) -> Any:
            answer = runtime.toolbox.call(tool, arguments)
            return answer.structured if answer.structured is not None else answer.text

        yield call, runtime


def test_a_project_is_scanned_and_its_packages_are_read(project: Path, tmp_path: Path) -> None:
    with caller(tmp_path, project) as (call, _):
        found = call("scan_packages", ecosystem="toys")
        (environment,) = found["environments"]
        assert environment["kind"] == "toybox"
        versions = {each["version"]: each["direct"] for each in environment["packages"]}
        assert versions == {"1.0": True, "2.0": True}
        named = call("scan_packages", text="play boats\nplay ships\n")
        assert named["missing"] == ["ships"]

        overview = call("read_package", package_name="boats")
        assert "rowing.toy" in overview
        symbol = call("read_package", package_name="boats", symbol="rowing.row")
        assert "# function `boats.rowing.row`" in symbol
        assert "```toy\nrow(boat)\n```" in symbol
        assert '"modules":2' in call("read_package", package_name="boats", graph="json")
        file = call("read_package", package_name="boats", file_path="sailing.toy")
        assert "```toy\nreef sail --" in file


def test_its_packages_are_stowed_searched_and_compared(project: Path, tmp_path: Path) -> None:
    with caller(tmp_path, project) as (call, _):
        asked = {"crate": "boats", "language": "toy"}
        (hit,) = call("search_items", **asked, query="smaller sail in a storm", k=1)["results"]
        assert (hit["item_path"], hit["header"]) == ("boats.sailing.reef", "reef(sail)")
        page = call("get_item_doc", item_path="boats.rowing.row()", language="toy")
        assert "Row a boat across the lake." in page
        with pytest.raises(ItemNotFound):
            call("get_item_doc", item_path="boats.rowing.sink", language="toy")
        summary = call("get_crate_summary", **asked)
        assert (summary["answered"], summary["items"]["function"]) == ("1.0", 3)
        versions = call("list_versions", **asked)["results"]
        assert [(each["version"], each["stowed"]) for each in versions] == [
            ("2.0", False),
            ("1.0", True),
        ]
        found = call("diff_versions", **asked, from_version="1.0", to_version="2.0")
        assert {each["path"]: each["rule"] for each in found["results"]} == {
            "boats.rowing.drift": "item-removed",
            "boats.rowing.row": "signature-changed",
        }
        with pytest.raises(InvalidParameter, match="rust, python, typescript, javascript, toy"):
            call("get_item_doc", item_path="boats", language="dolls")


def test_code_is_checked_by_what_is_installed_and_stowed(project: Path, tmp_path: Path) -> None:
    code = "play boats\nboats.rowing.row(boat)\nboats.rowing.rov(boat)\ncore.print()\n"
    with caller(tmp_path, project) as (call, _):
        found = call("verify_code", code=code, root="project")
        assert found["language"] == "toy"
        assert found["counts"] == {"ok": 1, "unknown": 1}
        assert found["results"][0]["suggestions"] == ["boats.rowing.row"]
        message = "toy error: there is no boats.rowing.sink\n"
        (wrong,) = call("verify_code", code=message, root="project")["results"]
        assert wrong["name"] == "boats.rowing.sink"
        call("get_item_doc", item_path="boats.rowing.row", language="toy")
    with caller(tmp_path) as (call, _):
        asked = {"code": code, "language": "toy"}
        stowed = call("verify_code", **asked, versions={"boats": "1.0"})
        assert stowed["counts"] == {"ok": 1, "unknown": 1}
        assert stowed == call("verify_code", **asked, lockfile="boats 1.0\n")


def test_it_is_ingested_exported_and_bundled(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle, other = str(tmp_path / "boats.tar"), tmp_path / "other"
    flags = [f"--store={tmp_path / 'store'}", f"--cache={tmp_path / 'cache'}"]
    there = [f"--store={other / 'store'}", f"--cache={other / 'cache'}"]
    assert main(["ingest", "project", str(project), *flags]) == 0
    assert main(["export-bundle", "--all", bundle, *flags]) == 0
    assert main(["import-bundle", bundle, *there]) == 0
    assert "boats" in capsys.readouterr().out
    with caller(other) as (call, runtime):
        found = call("search_items", query="row across the lake", language="toy")
        assert found["results"][0]["item_path"] == "boats.rowing.row"
        stowed = runtime.library.package(TOY, "boats")
        text = "".join(Export(runtime.library.index(stowed.snapshot)).texts("markdown", 0))
        assert "Make a sail smaller in strong wind." in text
