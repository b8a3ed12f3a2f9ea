"""All that reads foreign bytes, each as a function of some, with the inputs to begin with."""

from __future__ import annotations

import atexit
import contextlib
import gzip
import io
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from docstow.core.errors import EnvironmentNotFound, InvalidParameter
from docstow.core.model import File
from docstow.core.settings import load
from docstow.formats import docstrings, openapi, read, survey
from docstow.languages.go.scanning import read_go_mod, read_go_sum
from docstow.languages.projects import lock_text, mentions
from docstow.languages.projects.packages import ProjectPackages
from docstow.languages.projects.scan import scan
from docstow.languages.python.metadata import read_about
from docstow.languages.rust import rustdoc
from docstow.languages.rust.cargo_lock import parse as parse_cargo_lock
from docstow.languages.shared.language import LANGUAGES
from docstow.languages.shared.scanning import ScanCache
from docstow.languages.typescript.comments import parse_comment
from docstow.net import Answer
from docstow.net.decompress import Limits, decompress
from docstow.ops.bundle import archive as bundle
from docstow.runtime import Runtime
from docstow.sources import tarball
from docstow.sources.crates.index import read_entry
from docstow.sources.git.refs import parse_refs
from docstow.sources.packages import packuments, simple_api
from docstow.sources.packages.archives import Unpacker
from docstow.sources.site import origin as site
from docstow.text.changelog import read_notes
from docstow.text.chunking import code_blocks, split_chunks
from docstow.text.decoding import decode
from docstow.tools import Toolbox
from fuzz import seeds

_URL = "https://docs.example/guide/page"
_CAPS = tarball.Caps(plain=64 * 1024 * 1024, entries=5000)


@dataclass(frozen=True, slots=True)
class Reader:
    """What reads one kind of foreign bytes.

    Attributes:
        read: raises nothing but DocstowError; returns anything.
        seeds: inputs that are read without an error, and corners of them.
    """

    read: Callable[[bytes], object]
    seeds: Callable[[], list[bytes]]


def _page(name: str, body: bytes) -> None:
    """Read a page, and do with it what an ingest does before it is embedded."""
    file = File(name, _URL, "", body)
    page = read(file, survey([file]))
    split_chunks(page.text, lambda text: len(text) // 4)
    code_blocks(page.text)
    read_notes(page.text)


def _description(body: bytes) -> None:
    if openapi.is_description(body):
        openapi.read(File("openapi.yaml", _URL, "", body))


def _unpacked(body: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        archive, made = Path(folder, "archive"), Path(folder, "made")
        made.mkdir()
        archive.write_bytes(body)
        Unpacker(made, _CAPS).add(archive, "archive")


def _bundle(body: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "bundle")
        place.write_bytes(body)
        with bundle.open_archive(place) as reader:
            reader.first("bundle.json")
        bundle.check(place)


def _tarball(body: bytes) -> None:
    for entry in tarball.entries(io.BytesIO(gzip.compress(body, 1)), name="x", caps=_CAPS):
        if not entry.refusal:
            entry.read()


def _locked(body: bytes) -> None:
    text = decode(body)
    for language in (lock_text.guess_language(text), *LANGUAGES.values()):
        with contextlib.suppress(InvalidParameter):
            found = lock_text.LockText(text, language)
            found.versions(), found.aliases(), found.direct()
            found.locked("alpha")


def _answered(parse: Callable[[Answer, str], object], kind: str, body: bytes) -> None:
    parse(Answer(200, "https://index.example/alpha", {"content-type": kind}, body), "alpha")


def _manifest(place: str, body: bytes) -> None:
    """Scan a project in which one file is the input."""
    with _project({place: body}) as root, contextlib.suppress(EnvironmentNotFound):
        scan(root, ScanCache.load(root / "cache", root), {}, root / "home")


def _package(place: str, body: bytes) -> None:
    """Read an installed package of which one file is the input."""
    with _project({place: body}) as root:
        found = scan(root, ScanCache.load(root / "cache", root), {}, root / "home")
        packages = ProjectPackages(found)
        package = packages.package("alpha")
        surface = packages.surface(package)
        language = next(e for e in LANGUAGES.values() if e.spelling.ecosystem == package.ecosystem)
        assert language.reading is not None
        for document in language.reading().documents(surface):
            split_chunks(document.text, lambda text: len(text) // 4)


_SITE = ".venv/lib/python3.12/site-packages"
#: A project with a package of Python and one of Node.
_INSTALLED = {
    ".venv/pyvenv.cfg": b"version = 3.12.4\n",
    f"{_SITE}/alpha-1.0.dist-info/METADATA": b"Name: alpha\nVersion: 1.0\n",
    f"{_SITE}/alpha-1.0.dist-info/RECORD": b"alpha/__init__.py,,\nalpha/x.py,,\n",
    f"{_SITE}/alpha/__init__.py": b"from .x import *\n",
    f"{_SITE}/alpha/x.py": b"def one(a: int) -> int: ...\n",
}
_INSTALLED_NODE = {
    "node_modules/alpha/package.json": b'{"name": "alpha", "version": "1.0.0"}',
    "node_modules/alpha/index.d.ts": b"export declare function one(a: number): number;\n",
}


@contextlib.contextmanager
def _project(files: dict[str, bytes]) -> Iterator[Path]:
    node = any(each.startswith("node_modules") for each in files)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "project"
        for place, body in {**(_INSTALLED_NODE if node else _INSTALLED), **files}.items():
            path = root / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)
        yield root


@cache
def _toolbox() -> Toolbox:
    """The tools of a server with the sample crate, whose store goes with this process."""
    folder = tempfile.mkdtemp(prefix="docstow-fuzz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    flags = {"store": f"{folder}/store", "cache": f"{folder}/cache", "offline": True}
    runtime = Runtime(load(flags, {}))
    runtime.ingest_sample()
    return runtime.toolbox


def _checked(language: str, body: bytes) -> None:
    versions = {"stowage": "0.1.0"} if language == "rust" else {}
    arguments = {"code": decode(body), "language": language, "versions": versions}
    _toolbox().call("verify_code", arguments)


def _scanned(body: bytes) -> None:
    text = decode(body)
    mentions.read_message(text)
    mentions.read_mentions(text)


_LOCKS = ("languages/projects/test_scan_locks.py", "languages/test_lockfile.py")
_RUST = ("languages/rust/*.py", "languages/check/*.py", "languages/rust/diff/*.py")
_PYTHON = ("languages/python/*.py", "languages/check/*.py")
_SCRIPT = ("languages/typescript/*.py", "languages/typescript/node/*.py", "languages/check/*.py")
_PAGES = ("formats/*.py", "sources/site/*.py", "text/*.py")


def _locks() -> list[bytes]:
    named = ("**/package-lock.json", "**/pnpm-lock.yaml", "*-packages.txt")
    return [*seeds.literals(*_LOCKS, "languages/typescript/node/*.py"), *seeds.support(*named)]


def _manifests() -> list[bytes]:
    return seeds.literals("languages/projects/*.py", "languages/typescript/node/*.py")


READERS: dict[str, Reader] = {
    "rustdoc": Reader(lambda body: rustdoc.read(body, try_unknown=True), seeds.rustdoc),
    "html": Reader(
        partial(_page, "page.html"),
        lambda: [*seeds.files("s*/**/*.html"), *seeds.literals("formats/test_html*.py")],
    ),
    **{
        f"page.{suffix}": Reader(
            partial(_page, f"page.{suffix}"),
            lambda: [*seeds.files("s*/**/*.md"), *seeds.literals(*_PAGES)],
        )
        for suffix in ("md", "mdx", "rst", "adoc", "txt")
    },
    "notebook": Reader(partial(_page, "page.ipynb"), seeds.notebooks),
    "pdf": Reader(partial(_page, "page.pdf"), seeds.pdf),
    "openapi": Reader(_description, lambda: seeds.literals("formats/test_openapi.py")),
    "docstrings": Reader(
        lambda body: docstrings.markdown(decode(body)),
        lambda: seeds.literals("languages/python/*.py", "formats/test_docstrings.py"),
    ),
    "comments of TypeScript": Reader(
        lambda body: parse_comment(decode(body)), lambda: seeds.literals(*_SCRIPT)
    ),
    "sitemap": Reader(
        lambda body: site.parse_sitemap(body, _URL),
        lambda: [*seeds.files("sites/**/*.xml"), *seeds.literals("sources/site/*.py")],
    ),
    "llms.txt": Reader(
        lambda body: (site.sections(decode(body)), site.links(decode(body), _URL)),
        lambda: [*seeds.files("sites/**/llms.txt"), *seeds.literals("sources/site/*.py")],
    ),
    "archives": Reader(_unpacked, seeds.archives),
    "tarball": Reader(_tarball, seeds.tar_members),
    "bundle": Reader(_bundle, seeds.compressed),
    "packed": Reader(
        lambda body: decompress([body], Limits(1 << 20, 1 << 26), name="x"), seeds.compressed
    ),
    "lock files": Reader(_locked, _locks),
    "Cargo.lock": Reader(lambda body: parse_cargo_lock(decode(body)), _locks),
    "go.mod": Reader(lambda body: (read_go_mod(decode(body)), read_go_sum(decode(body))), _locks),
    **{
        place: Reader(partial(_manifest, place), _manifests)
        for place in (
            *("pyproject.toml", "setup.cfg", "Pipfile", "requirements.txt", "environment.yml"),
            *("package.json", "pnpm-workspace.yaml", "Cargo.toml", "uv.lock", "yarn.lock"),
            *(f"{_SITE}/alpha-1.0.dist-info/{name}" for name in ("METADATA", "RECORD")),
            *("node_modules/alpha/package.json", ".venv/pyvenv.cfg", ".npmrc"),
        )
    },
    "module of Python": Reader(
        partial(_package, f"{_SITE}/alpha/__init__.py"), lambda: seeds.literals(*_PYTHON)
    ),
    "declarations of TypeScript": Reader(
        partial(_package, "node_modules/alpha/index.d.ts"), lambda: seeds.literals(*_SCRIPT)
    ),
    "module of JavaScript": Reader(
        partial(_package, "node_modules/alpha/index.js"), lambda: seeds.literals(*_SCRIPT)
    ),
    "code of Rust": Reader(partial(_checked, "rust"), lambda: seeds.literals(*_RUST)),
    "code of Python": Reader(partial(_checked, "python"), lambda: seeds.literals(*_PYTHON)),
    "code of TypeScript": Reader(partial(_checked, "typescript"), lambda: seeds.literals(*_SCRIPT)),
    "code of JavaScript": Reader(partial(_checked, "javascript"), lambda: seeds.literals(*_SCRIPT)),
    "messages": Reader(_scanned, lambda: seeds.literals("languages/check/*.py")),
    "metadata": Reader(read_about, _manifests),
    "index of crates": Reader(lambda body: read_entry(body, url=_URL), seeds.registries),
    "packument": Reader(
        partial(_answered, packuments.read, "application/json"),
        seeds.registries,
    ),
    "simple index, JSON": Reader(
        partial(_answered, simple_api.read, "application/vnd.pypi.simple.v1+json"),
        seeds.registries,
    ),
    "simple index, HTML": Reader(
        partial(_answered, simple_api.read, "text/html"), seeds.registries
    ),
    "refs of Git": Reader(parse_refs, seeds.refs),
}
