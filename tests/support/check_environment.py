"""What the suite checks against: crates of the corpus, and real installed packages."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from docstow.core.settings import load
from docstow.languages.projects import Projects
from docstow.languages.python.resolver import PythonResolver
from docstow.languages.shared.engines import Engines
from docstow.languages.shared.findings import Verdict
from docstow.languages.shared.project import Scan
from docstow.languages.typescript.resolver import CHECKING as NODE
from docstow.languages.typescript.resolver import NodeResolver
from docstow.runtime import Runtime
from docstow.tools.verify_crates import StowedCrates
from servers.docs_rs import DocsRs
from shared import shared

#: The crates that the snippets use; each is stowed in its newest version.
CRATES = (
    *("anyhow", "base64", "bytes", "chrono", "clap", "crossbeam-channel", "csv", "flate2"),
    *("futures", "hex", "http", "indexmap", "itertools", "num-bigint", "once_cell"),
    *("parking_lot", "rand", "rayon", "regex", "reqwest", "semver", "serde", "serde_json"),
    *("sha2", "smallvec", "tempfile", "thiserror", "time", "tokio", "tracing"),
    *("tracing-subscriber", "url", "uuid", "walkdir"),
    *("bitflags", "crossbeam", "either", "env_logger", "fastrand", "futures-util", "hashbrown"),
    *("http-body-util", "hyper", "hyper-util", "lazy_static", "log", "memchr", "num-traits"),
    *("lock_api", "proc-macro2", "quote", "syn", "tar", "tokio-util"),
)


@pytest.fixture(scope="session")
def rust_runtime(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """A server that has the newest versions of :data:`CRATES`, and tokio 1.43.1."""
    cache = tmp_path_factory.mktemp("crates")
    with DocsRs(corpus) as upstream, contextlib.ExitStack() as closing:
        with shared(tmp_path_factory, "stowed-crates") as store:
            flags = {
                "store": str(store),
                "cache": str(cache),
                "docs_rs_url": upstream.url,
                "crates_index_url": upstream.index_url,
                "upstream_interval_s": 0,
                "wait_s": 120,
            }
            runtime = closing.enter_context(contextlib.closing(Runtime(load(flags, {}))))
            for name in CRATES:
                runtime.crates.ensure(name)
            runtime.crates.ensure("tokio", "=1.43.1")
        yield runtime


@pytest.fixture(scope="session")
def crates(rust_runtime: Runtime) -> StowedCrates:
    return StowedCrates(rust_runtime.library, rust_runtime.snapshots, {}, "", None)


def scanned(root: Path, cache: Path) -> Scan:
    return Projects([root], cache, local=True).scan()[1]


@pytest.fixture(scope="session")
def python_resolver(
    python_project: Path, tmp_path_factory: pytest.TempPathFactory
) -> PythonResolver:
    with shared(tmp_path_factory, "python-index") as cache:
        return PythonResolver(scanned(python_project, cache))


@pytest.fixture(scope="session")
def node_resolver(npm_root: Path, tmp_path_factory: pytest.TempPathFactory) -> NodeResolver:
    with shared(tmp_path_factory, "node-index") as cache:
        return NodeResolver(scanned(npm_root, cache))


@pytest.fixture(scope="session")
def node_judge(
    npm_root: Path, engines_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Verdict]]:
    """Have code judged by TypeScript's compiler on the packages that npm has installed."""
    with shared(tmp_path_factory, "node-index") as cache:
        scan = scanned(npm_root, cache)
    engines = Engines(engines_folder)

    def judge(code: str, language: str = "typescript") -> Verdict:
        assert NODE.judge is not None
        with NODE.resolver(scan) as resolver:
            return NODE.judge(engines, code, language, resolver, [scan])

    with contextlib.closing(engines), pytest.MonkeyPatch.context() as patched:
        # Tests may share the machine with others, and judge hundreds of programs.
        patched.setattr("docstow.languages.shared.engines._WAIT_S", 120.0)
        yield judge
