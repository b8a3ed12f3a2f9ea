"""Fixtures and marks that the tests of several packages share."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

from docstow.core.errors import ConfigurationError
from docstow.core.settings import guides_mode
from docstow.sources.packages import Registry, configuration
from paths import SHARED, TESTS
from servers import s3, seaweed

# ``HYPOTHESIS_PROFILE=fuzz`` looks for examples that the fixed seeds of ``make test`` miss, as many
# of each test as ``HYPOTHESIS_EXAMPLES`` says.
hypothesis.settings.register_profile("ci", derandomize=True, deadline=None)
most = int(os.environ.get("HYPOTHESIS_EXAMPLES") or 2000)
hypothesis.settings.register_profile("fuzz", max_examples=most, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

#: Fixtures that need a package registry, and Node for some.
NETWORK = {
    "axe",
    "judge",
    "more_python_project",
    "node_judge",
    "node_resolver",
    "npm",
    "npm_more_root",
    "npm_root",
}
NETWORK |= {
    "engines_folder",
    "pnpm_root",
    "python_project",
    "python_resolver",
    "python_surfaces",
    "two_versions",
}
#: Fixtures over whole crates, an S3 server, and a browser.
SLOW = {"bucket", "chromium", "corpus", "crates", "minilm", "rust_runtime"}
#: Folders of tests that start processes, servers and workers by the dozen.
SLOW_FOLDERS = {"benchmarks", "cli", "conformance", "evaluation", "fidelity", "functions", "infra"}
SLOW_FOLDERS |= {"scenarios"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what they need: ``network``, ``slow``, ``property``; see pyproject.toml."""
    for item in items:
        needed = set(getattr(item, "fixturenames", ()))
        if needed & NETWORK:
            item.add_marker("network")
        if needed & SLOW or SLOW_FOLDERS & set(item.path.relative_to(TESTS).parts):
            item.add_marker("slow")
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("property")


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder with real rustdoc JSON, one ``<crate>/<version>/rustdoc.json.zst`` each."""
    folder = SHARED / "corpus"
    if not (folder / "index.json").is_file():
        pytest.skip("the corpus of real rustdoc JSON is not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def seaweedfs() -> Iterator[str]:
    """The address of a SeaweedFS, which takes seconds to start."""
    with seaweed.seaweedfs() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def buckets(request: pytest.FixtureRequest) -> Iterator[Callable[[str], s3.Bucket]]:
    """Open an empty bucket on one of ``s3.SERVERS``, the same for all of a module's tests."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def on(server: str) -> s3.Bucket:
            own = server == "seaweedfs"
            endpoint = request.getfixturevalue("seaweedfs") if own else s3.NAMED
            return stack.enter_context(s3.bucket(endpoint))

        yield on


@pytest.fixture(scope="module")
def bucket(buckets: Callable[[str], s3.Bucket]) -> s3.Bucket:
    """An empty bucket for a module's tests, each of which keeps to a prefix of its own."""
    return buckets(s3.SERVERS[-1])


@pytest.fixture(autouse=True)
def _no_registries_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep tests that name no registry from asking those that this machine's installers use."""
    python_indexes, npm_registries = configuration.python_indexes, configuration.npm_registries

    def named(setting: str, surroundings: configuration.Surroundings) -> tuple[Registry, ...]:
        if not setting:
            raise ConfigurationError("The test names no registry.")
        return python_indexes(setting, surroundings)

    def named_npm(
        setting: str, surroundings: configuration.Surroundings
    ) -> configuration.NpmRegistries:
        if not setting:
            raise ConfigurationError("The test names no registry.")
        return npm_registries(setting, surroundings)

    monkeypatch.setattr(configuration, "python_indexes", named)
    monkeypatch.setattr(configuration, "npm_registries", named_npm)


@pytest.fixture(autouse=True)
def _no_websites_of_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep tests that do not say so from reading the websites that real packages name."""
    monkeypatch.setattr(
        "docstow.runtime.guides_mode",
        lambda settings: guides_mode(settings) if settings.guides else "never",
    )
