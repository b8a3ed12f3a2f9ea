"""What registries say of packages: fetched once, bounded, and kept though the job is stopped."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from docstow.cli import main
from docstow.core.errors import DocstowError, PackageNotFound
from docstow.core.settings import load
from docstow.ingest.descriptions import Description, DescriptionTask
from docstow.languages import TYPESCRIPT
from docstow.languages.python.metadata import read_about
from docstow.languages.shared.project import About
from docstow.runtime import Runtime
from servers.npm import NpmServer

METADATA = b"""Metadata-Version: 2.4
Name: lantern
Version: 1.0
Summary: Lights a lamp
 in the dark
Keywords: lamp,light
License-Expression: MIT OR Apache-2.0

# Lantern
"""
CLASSIFIED = b"""Metadata-Version: 2.1
Name: lantern
Version: 1.0
License: Permission is hereby granted, to any person
        who obtains a copy
Classifier: Programming Language :: Python
Classifier: License :: OSI Approved :: BSD License
"""


@pytest.fixture
def registry() -> Iterator[NpmServer]:
    with NpmServer() as server:
        server.publish("lantern", "1.0.0", description="Lights a lamp", keywords=["lamp"])
        server.publish("lantern", "2.0.0", description="Lights  every\u200b lamp", license="ISC")
        server.publish("@quay/crane", "1.0.0", description="x" * 5000, keywords="lift, load")
        server.publish("odd", "1.0.0", description=["no", "text"], licenses=[{"type": "MIT"}])
        yield server


@pytest.fixture
def runtime(tmp_path: Path, registry: NpmServer) -> Iterator[Runtime]:
    flags = {"store": str(tmp_path / "store"), "cache": str(tmp_path / "cache"), "retries": 0}
    with contextlib.closing(Runtime(load(flags | {"npm_registry_url": registry.url}, {}))) as made:
        yield made


def task(runtime: Runtime) -> DescriptionTask:
    registry = runtime.installed.registry(TYPESCRIPT)
    return DescriptionTask(runtime.descriptions, registry, TYPESCRIPT, lambda: None)


def test_the_newest_version_describes_its_package(runtime: Runtime) -> None:
    names = ["lantern", "@quay/crane", "odd", "gone", "lantern"]
    found = dict(task(runtime).perform(names))
    assert found["lantern"] == Description("Lights every lamp")
    assert found["@quay/crane"] == Description("x" * 300, "lift load")
    assert found["odd"] == Description("")
    assert isinstance(found["gone"], PackageNotFound)
    _, kept = runtime.descriptions.read(TYPESCRIPT)
    assert kept == {name: d for name, d in found.items() if not isinstance(d, DocstowError)} | {
        "gone": Description("")
    }
    assert not list(task(runtime).perform(names))
    assert len(list(task(runtime).perform(names, renew=True))) == 4


def test_what_was_fetched_is_kept_where_the_job_is_stopped(runtime: Runtime) -> None:
    going = task(runtime).perform(["lantern", "odd", "gone"])
    list(itertools.islice(going, 2))
    del going  # as the end of a program does
    assert set(runtime.descriptions.read(TYPESCRIPT)[1]) == {"lantern", "odd"}


def test_the_command(
    tmp_path: Path, registry: NpmServer, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["ingest", "descriptions", "npm:lantern", "npm:gone", "--pause", "0"]
    words += ["--store", str(tmp_path / "store"), "--npm-registry-url", registry.url]
    assert main(words) == 1
    captured = capsys.readouterr()
    assert captured.out == "typescript: 2 packages asked for, 0 known already\n"
    assert "gone" in captured.err
    assert main(words) == 0
    assert capsys.readouterr().out == "typescript: 0 packages asked for, 2 known already\n"
    assert main(["ingest", "descriptions", "rust:5", "--store", str(tmp_path / "store")]) == 1


@pytest.mark.parametrize(
    ("metadata", "about"),
    [
        (METADATA, About("Lights a lamp in the dark", ("lamp", "light"), "MIT OR Apache-2.0")),
        (CLASSIFIED, About("", (), "BSD License")),
        (b"", About()),
    ],
)
def test_metadata_of_python(metadata: bytes, about: About) -> None:
    assert read_about(metadata) == about
