"""Packages of a Python index: chosen as pip does, checked, and unpacked as they are installed."""

from __future__ import annotations

import hashlib
import io
import json
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docstow.core.errors import (
    DocstowError,
    InvalidParameter,
    PackageNotFound,
    TooLarge,
    UnreadableInput,
    UpstreamError,
)
from docstow.net import Fetcher
from docstow.net.decompress import Limits
from docstow.net.retry import RetryPolicy
from docstow.sources.packages import Registry
from docstow.sources.packages.python_index import MOST_BESIDE, PythonIndex
from servers.loopback import content, redirect
from servers.python_index import JSON, PythonIndexServer, metadata, sdist, wheel

MIB = 1024 * 1024
CODE = {"boats/__init__.py": "def row() -> None:\n    'Row.'\n", "boats/py.typed": ""}
LIMITS = Limits(MIB, 4 * MIB)


@pytest.fixture(params=["json", "html"])
def server(request: pytest.FixtureRequest) -> Iterator[PythonIndexServer]:
    with PythonIndexServer(form=request.param) as made:
        yield made


@pytest.fixture
def plain() -> Iterator[PythonIndexServer]:
    with PythonIndexServer() as made:
        yield made


OPENED: list[Fetcher] = []


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().close()


def index_of(
    *servers: PythonIndexServer, python: str = "3.11.7", limits: Limits = LIMITS, **headers: str
) -> PythonIndex:
    fetcher = Fetcher("tests", policy=RetryPolicy(retries=0))
    OPENED.append(fetcher)
    registries = [Registry(each.url, headers) for each in servers]
    return PythonIndex(fetcher, registries, limits=limits, python=python)


def site(folder: Path) -> Path:
    return folder / "lib" / "python3.11" / "site-packages"


def tree(folder: Path) -> dict[str, bytes]:
    files = (each for each in folder.rglob("*") if each.is_file())
    return {each.relative_to(folder).as_posix(): each.read_bytes() for each in files}


# Versions


def test_versions_are_chosen_as_pip_does(server: PythonIndexServer) -> None:
    for version in ("1.0", "1.1", "1.2", "2.0rc1"):
        server.add_wheel("boats", version, CODE)
    server.add_wheel("boats", "1.3", CODE, yanked="rows backwards")
    server.add_wheel("boats", "1.4", CODE, requires=">=3.13")
    index = index_of(server)
    for asked, expected in {
        "": "1.2", "1": "1.2", "<1.2": "1.1", "==1.0": "1.0", "2.0rc1": "2.0rc1",
        ">=2.0rc1": "2.0rc1", ">1.2,<2": "1.4", "==1.3": "1.3", "1.3": "1.3", ">=1.3,<1.4": None,
        "1.4": "1.4", "~=1.0": "1.2",
    }.items():  # fmt: skip
        if expected is None:
            with pytest.raises(PackageNotFound, match="only withdrawn versions match"):
                index.resolve("boats", asked)
        else:
            assert index.resolve("Boats", asked).version == expected, asked
    assert index_of(server, python="3.13.0").resolve("boats").version == "1.4"
    listed = {each.version: each for each in index.listing("boats").releases}
    assert listed["1.3"].withdrawn == "rows backwards"
    assert listed["1.4"].requires == ">=3.13"
    with pytest.raises(InvalidParameter, match="PEP 440"):
        index.resolve("boats", "^1")


def test_what_no_index_has_is_told(server: PythonIndexServer) -> None:
    server.add_wheel("boats", "1.0", CODE)
    index = index_of(server)
    with pytest.raises(PackageNotFound, match="no Python package named bots"):
        index.resolve("bots")
    with pytest.raises(PackageNotFound, match="Ask for one of 1") as caught:
        index.resolve("boats", ">=2")
    assert caught.value.suggestions == ({"version": "1.0", "score": 1.0},)
    for name in ("", "../boats", "a/b", "b\u00f6ats", "x" * 101, "-a", "http://host/x"):
        with pytest.raises(InvalidParameter):
            index.resolve(name)


def test_several_indexes_are_one(plain: PythonIndexServer) -> None:
    with PythonIndexServer() as other:
        plain.add_wheel("boats", "1.0", CODE)
        other.add_wheel("boats", "1.1", CODE)
        other.add_wheel("oars", "3.0", CODE)
        index = index_of(plain, other)
        assert [each.version for each in index.listing("boats").releases] == ["1.0", "1.1"]
        assert index.resolve("oars").version == "3.0"
        plain.index.always("/simple", lambda handler: handler.reply(500))
        fresh = index_of(plain, other)
        assert fresh.resolve("boats").version == "1.1"
        with pytest.raises(UpstreamError):
            fresh.resolve("sails")


def test_lists_are_cached_and_revalidated(plain: PythonIndexServer) -> None:
    plain.add_wheel("boats", "1.0", CODE)
    index = index_of(plain)
    for _ in range(5):
        index.resolve("boats")
    assert len(plain.index.requests) == 1


def test_names_of_old_files_are_understood(plain: PythonIndexServer) -> None:
    for name in ("Old.Boats-0.9-1.tar.gz", "old-boats-0.8.zip", "old_boats-0.7.tar.gz"):
        plain.add("old-boats", name, b"")
    for name in (
        "old_boats-1.0.exe",
        "old_boats-1.0-py2.7.egg",
        "other-1.0.tar.gz",
        "old-boats.zip",
    ):
        plain.add("old-boats", name, b"")
    plain.add("old-boats", "nonsense.whl", b"")
    found = [each.version for each in index_of(plain).listing("old_boats").releases]
    assert found == ["0.7", "0.8", "0.9.post1"]


@pytest.mark.parametrize(
    "body", [b"[]", b"{}", b'{"files": 3}', b'{"files": [', b'{"meta": 1, "files": []}']
)
def test_lists_that_are_none_are_told(plain: PythonIndexServer, body: bytes) -> None:
    media = {"Content-Type": "application/vnd.pypi.simple.v1+json"}
    plain.index.always("/simple", lambda handler: handler.reply(200, body, media))
    with pytest.raises(UpstreamError, match="check the configured index"):
        index_of(plain).listing("boats")


def test_entries_that_are_none_are_passed_over(plain: PythonIndexServer) -> None:
    plain.add_wheel("boats", "1.0", CODE)
    for stated in (
        {"url": "file:///etc/passwd"}, {"url": 3}, {"filename": "../boats-2.0.tar.gz"},
        {"filename": None}, {"url": "javascript:alert(1)"}, {"url": "http://[::1"},
        {"url": "http://host:99999999/x"}, {"filename": "boats-2.0-py3-none-any\0.whl"},
        {"filename": "boats-2.0-py3-none-" + ".".join(f"a{n}" for n in range(200)) + ".whl"},
    ):  # fmt: skip
        plain.add_wheel("boats", "2.0", CODE, stated=stated)
    assert [each.version for each in index_of(plain).listing("boats").releases] == ["1.0"]


def test_lists_without_end_are_refused(server: PythonIndexServer) -> None:
    entry = {"filename": "boats-1.0.tar.gz", "url": "x"}
    body = json.dumps({"files": [entry] * 100_001}).encode()
    if server.form == "html":
        body = b"<html>" + b"<a href=boats-1.0.tar.gz></a>" * 100_001
    media = {"Content-Type": JSON if server.form == "json" else "text/html"}
    server.index.always("/simple", lambda handler: handler.reply(200, body, media))
    with pytest.raises(TooLarge, match="more than 100000 files"):
        index_of(server, limits=Limits(64 * MIB, 64 * MIB)).listing("boats")


@pytest.mark.parametrize("version", ["", "x", "1" * 5000, "-1", "1.x"])
def test_an_api_without_a_number_is_told(plain: PythonIndexServer, version: str) -> None:
    body = json.dumps({"meta": {"api-version": version}, "files": []}).encode()
    plain.index.always("/simple", lambda handler: handler.reply(200, body, {"Content-Type": JSON}))
    with pytest.raises(UpstreamError, match="version"):
        index_of(plain).listing("boats")


@pytest.mark.parametrize(
    "name", ["boats-1.0-py3-none-any%2f..%2f..%2fx.whl", "boats-1.0%2B%2e%2e%2fx.tar.gz"]
)
def test_a_page_cannot_name_a_file_elsewhere(
    plain: PythonIndexServer, tmp_path: Path, name: str
) -> None:
    """Names are decoded after the address is split, so that they can have slashes."""
    page = f'<html><a href="{plain.files.url}/files/{name}">x</a>'.encode()
    plain.index.always("/simple", content(page, "text/html"))
    with pytest.raises(PackageNotFound):
        index_of(plain).unpack(index_of(plain).resolve("boats"), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_an_address_of_a_file_has_no_password(server: PythonIndexServer) -> None:
    url = server.files.url.replace("http://", "http://me:hidden@")
    page = f'<html><a href="{url}/boats-1.0.tar.gz">x</a>'.encode()
    server.index.always("/simple", content(page, "text/html"))
    assert "hidden" not in repr(index_of(server).resolve("boats"))


def test_a_later_api_is_told(plain: PythonIndexServer) -> None:
    body = b'{"meta": {"api-version": "2.0"}, "name": "boats", "files": []}'
    media = {"Content-Type": "application/vnd.pypi.simple.v1+json"}
    plain.index.always("/simple", lambda handler: handler.reply(200, body, media))
    with pytest.raises(UpstreamError, match="version 2"):
        index_of(plain).listing("boats")


# Credentials and redirects


def test_a_credential_goes_to_its_own_host_alone() -> None:
    secret = "Basic c2VjcmV0"
    with PythonIndexServer(authorization=secret) as server:
        server.add_wheel("boats", "1.0", CODE)
        with pytest.raises(UpstreamError, match="credential"):
            index_of(server).resolve("boats")
        index = index_of(server, Authorization=secret)
        index.dependencies(index.resolve("boats"))
        assert server.asked("boats")
        assert not any("authorization" in each.headers for each in server.files.requests)
        elsewhere = f"{server.files.url}/elsewhere"
        server.index.always("/simple/oars", redirect(elsewhere))
        with pytest.raises(PackageNotFound):
            index.resolve("oars")
        assert server.asked("elsewhere")
        assert not any("authorization" in each.headers for each in server.files.requests)


def test_redirects_without_end_are_told(plain: PythonIndexServer) -> None:
    plain.index.always("/simple", redirect(f"{plain.url}/boats/"))
    with pytest.raises(UpstreamError, match="redirects too often"):
        index_of(plain).resolve("boats")


@pytest.mark.parametrize("stated", ["../../evil", "x" * 5000, "", "oars"])
def test_a_list_that_names_another_package_names_none(
    plain: PythonIndexServer, stated: str
) -> None:
    plain.add_wheel("boats", "1.0", CODE)
    body = plain.listing("boats").replace(b'"name": "boats"', f'"name": "{stated}"'.encode())
    media = {"Content-Type": "application/vnd.pypi.simple.v1+json"}
    plain.index.always("/simple", lambda handler: handler.reply(200, body, media))
    assert index_of(plain).resolve("boats").source.key == "python/boats/1.0"


def test_numbers_and_markers_without_sense_do_no_harm(
    plain: PythonIndexServer, tmp_path: Path
) -> None:
    digits = "9" * 5000
    plain.add_wheel("boats", digits, CODE)
    plain.add_wheel("boats", "1.1", CODE, requires=f">={digits}")
    needs = [
        f"oars>={digits}", 'sails; python_version < "never"', 'hulls; nonsense == "1"', "???",
        "planks" * 1000, 'ropes; python_version >= "3"',
    ]  # fmt: skip
    plain.add_wheel("boats", "1.0", CODE, needs)
    index = index_of(plain)
    found = index.dependencies(index.resolve("boats", "1.0"))
    assert [each.name for each in found if each.kind == "normal"] == ["oars", "ropes"]
    unpacked = index.unpack(index.resolve("boats", "1.0"), tmp_path / "made")
    assert "What it has of oars is missing" in unpacked.left_out[0]
    assert index.resolve("boats").version == "1.1"


# Files


def test_a_package_lies_as_it_is_installed(server: PythonIndexServer, tmp_path: Path) -> None:
    own: dict[str, str | bytes] = {
        **CODE,
        "boats/_fast.cpython-311-x86_64-linux-gnu.so": b"\x7fELF",
        "boats/data.bin": b"\0",
        "boats-1.0.data/purelib/boats/more.py": "x = 1\n",
        "boats-1.0.data/scripts/boats": "#!/bin/sh\n",
        "boats-1.0.dist-info/entry_points.txt": "",
        "evil.pth": "import os",
        "other-1.0.dist-info/METADATA": "Name: other",
    }
    server.add_wheel("boats", "1.0", own, ["oars>=2", 'sails; python_version < "3"', "gone"])
    server.add_wheel("oars", "2.1", {"oars.py": "y = 2\n", "boats/__init__.py": "evil = 1\n"})
    server.add_wheel("oars", "1.0", {"oars.py": ""})
    index = index_of(server)
    unpacked = index.unpack(index.resolve("boats"), tmp_path / "made")
    found = tree(site(tmp_path / "made"))
    assert found["boats/__init__.py"].decode() == CODE["boats/__init__.py"]
    assert found["boats/more.py"] == b"x = 1\n"
    assert found["boats/_fast.cpython-311-x86_64-linux-gnu.so"] == b""
    assert found["oars.py"] == b"y = 2\n"
    assert {each.split("/")[0] for each in found} == {
        "boats", "boats.dist-info", "oars.py", "oars.dist-info",
    }  # fmt: skip
    assert not {"boats/data.bin"} & set(found)
    assert unpacked.beside == ("oars 2.1",)
    assert len(unpacked.left_out) == 1
    assert "gone" in unpacked.left_out[0]
    assert not server.asked("sails")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["made"]


def test_guides_come_from_the_source_distribution_beside_a_wheel(
    plain: PythonIndexServer, tmp_path: Path
) -> None:
    plain.add_wheel("boats", "1.0", CODE)
    files = {"CHANGELOG.md": "# 1.0\n", "docs/use.md": "Use.", "boats/extra.py": "", "setup.py": ""}
    source = sdist("boats", "1.0", files)
    plain.add("boats", "boats-1.0.tar.gz", source)
    index = index_of(plain)
    unpacked = index.unpack(index.resolve("boats"), tmp_path / "made")
    found = tree(site(tmp_path / "made"))
    guides = {each for each in found if "/guides/" in each}
    assert guides == {f"boats.dist-info/guides/{each}" for each in ("CHANGELOG.md", "docs/use.md")}
    assert "boats/extra.py" not in found
    assert unpacked.left_out == ()
    plain.add_wheel("boats", "2.0", CODE)
    plain.add("boats", "boats-2.0.tar.gz", b"no archive")
    index = index_of(plain)
    unpacked = index.unpack(index.resolve("boats"), tmp_path / "damaged")
    assert "boats/__init__.py" in tree(site(tmp_path / "damaged"))
    assert unpacked.left_out[0].startswith(
        "The changelog and the guides in boats-2.0.tar.gz are left out: "
    )


def test_a_wheel_of_python_alone_comes_first(plain: PythonIndexServer) -> None:
    plain.add("boats", "boats-1.0.tar.gz", sdist("boats", "1.0", {"boats.py": ""}))
    native = "cp311-cp311-manylinux_2_17_x86_64"
    plain.add_wheel("boats", "1.0", CODE, tag=native)
    assert index_of(plain).resolve("boats").url.endswith("x86_64.whl")
    plain.add_wheel("boats", "1.0", CODE)
    assert index_of(plain).resolve("boats").url.endswith("py3-none-any.whl")


def test_of_wheels_for_others_that_of_a_newer_python_is_read(plain: PythonIndexServer) -> None:
    for tag in ("cp27-cp27m-win32", "cp36-cp36m-win32", "cp38-cp38-win_amd64"):
        plain.add_wheel("boats", "1.0", CODE, tag=tag)
    assert index_of(plain).resolve("boats").url.endswith("cp38-cp38-win_amd64.whl")


LAYOUTS: dict[str, dict[str, str]] = {
    "flat": {"boats/__init__.py": "", "tests/__init__.py": "", "setup.py": "", "docs/conf.py": ""},
    "src": {"src/boats/__init__.py": "", "setup.py": "", "utils/x.py": ""},
    "module": {"boats.py": "", "setup.py": "", "test_boats.py": ""},
    "top_level": {
        "code/boats/__init__.py": "",
        "lib/boats/__init__.py": "",
        "boats.egg-info/top_level.txt": "boats\n",
    },
    "setup.cfg": {
        "py/boats/__init__.py": "",
        "setup.cfg": "[options]\npackage_dir =\n    =py\npackages = find:\n"
        "[options.packages.find]\nwhere = py\n",
    },
    "setup.py": {
        "in/boats/__init__.py": "",
        "setup.py": "import os\nos.system('touch /tmp/evil')\n"
        "from setuptools import setup, find_packages\n"
        "setup(package_dir={'': 'in'}, packages=find_packages('in'))\n",
    },
    "poetry": {
        "here/boats/__init__.py": "",
        "pyproject.toml": '[tool.poetry]\npackages = [{include = "boats", from = "here"}]\n',
    },
    "hatch": {
        "here/boats/__init__.py": "",
        "pyproject.toml": '[tool.hatch.build.targets.wheel]\npackages = ["here/boats"]\n',
    },
    "setuptools": {
        "here/boats/__init__.py": "",
        "pyproject.toml": '[tool.setuptools.packages.find]\nwhere = ["here"]\n',
    },
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_python_of_a_source_distribution_is_read(
    plain: PythonIndexServer, tmp_path: Path, layout: str
) -> None:
    plain.add("boats", "boats-1.0.tar.gz", sdist("boats", "1.0", LAYOUTS[layout], "oars"))
    index = index_of(plain)
    revision = index.resolve("boats")
    assert [each.name for each in index.dependencies(revision)] == ["oars"]
    index.unpack(revision, tmp_path / "made")
    found = {each for each in tree(site(tmp_path / "made")) if ".dist-info" not in each}
    assert found in ({"boats/__init__.py"}, {"boats.py"})


def test_a_source_distribution_without_python_is_told(
    plain: PythonIndexServer, tmp_path: Path
) -> None:
    plain.add("boats", "boats-1.0.tar.gz", sdist("boats", "1.0", {"boats.c": "int x;"}))
    index = index_of(plain)
    with pytest.raises(PackageNotFound, match="has to be built"):
        index.unpack(index.resolve("boats"), tmp_path / "made")
    assert list(tmp_path.iterdir()) == []


def test_stubs_are_brought_for_what_is_compiled(plain: PythonIndexServer, tmp_path: Path) -> None:
    native: dict[str, str | bytes] = {"boats/__init__.py": "", "boats/fast.abi3.so": b"\x7fELF"}
    plain.add_wheel("boats", "1.2.3", native)
    stubs = {"boats-stubs/fast.pyi": "def row() -> None: ...\n", "boats-stubs/__init__.pyi": ""}
    plain.add_wheel("types-boats", "1.2.0.7", stubs)
    plain.add_wheel("types-boats", "2.0.0.1", {"boats-stubs/fast.pyi": ""})
    index = index_of(plain)
    unpacked = index.unpack(index.resolve("boats"), tmp_path / "made")
    assert unpacked.beside == ("types-boats 1.2.0.7",)
    found = tree(site(tmp_path / "made"))
    assert [each for each in found if each.startswith("boats-stubs")] == ["boats-stubs/fast.pyi"]
    plain.add_wheel("oars", "1.0", {"oars/fast.pyd": b"MZ"})
    unpacked = index.unpack(index.resolve("oars"), tmp_path / "second")
    assert unpacked.left_out == (
        "Compiled and without stubs, so that nothing of it can be read: oars.fast.",
    )


def test_requirements_come_from_the_metadata_beside_a_wheel(server: PythonIndexServer) -> None:
    server.add_wheel("boats", "1.0", CODE, ["oars>=2", 'sails>1; extra == "wind"'])
    index = index_of(server)
    needs = index.dependencies(index.resolve("boats"))
    assert [(each.name, each.requirement, each.kind, each.extra) for each in needs] == [
        ("oars", ">=2", "normal", ""),
        ("sails", ">1", "optional", "wind"),
    ]
    assert server.asked(".metadata")
    assert len(server.asked("boats")) == 1


def test_so_many_packages_lie_beside_and_no_more(plain: PythonIndexServer, tmp_path: Path) -> None:
    names = [f"oar{number}" for number in range(MOST_BESIDE + 3)]
    plain.add_wheel("boats", "1.0", CODE, names)
    for name in names:
        plain.add_wheel(name, "1", {f"{name}.py": ""})
    index = index_of(plain)
    unpacked = index.unpack(index.resolve("boats"), tmp_path / "made")
    assert len(unpacked.beside) == MOST_BESIDE
    assert f"oar{MOST_BESIDE + 2}" in unpacked.left_out[0]


# What is not what it should be


def refused(server: PythonIndexServer, tmp_path: Path) -> DocstowError:
    """The error of unpacking boats; nothing is left of it, inside or outside."""
    (tmp_path / "outer").mkdir()
    index = index_of(server)
    with pytest.raises(DocstowError) as caught:
        index.unpack(index.resolve("boats", "1.0"), tmp_path / "outer" / "made")
    assert [each.name for each in tmp_path.rglob("*")] == ["outer"]
    return caught.value


def test_another_file_than_the_index_lists_is_refused(
    server: PythonIndexServer, tmp_path: Path
) -> None:
    wrong = {"sha256": hashlib.sha256(b"another").hexdigest()}
    server.add_wheel("boats", "1.0", CODE, stated={"hashes": wrong})
    error = refused(server, tmp_path)
    assert isinstance(error, UnreadableInput)
    assert "is not the file that the registry lists" in error.message


@pytest.mark.parametrize("size", [5, MIB + 1])
def test_a_size_that_lies_is_refused(plain: PythonIndexServer, tmp_path: Path, size: int) -> None:
    plain.add_wheel("boats", "1.0", CODE, stated={"size": size})
    assert isinstance(refused(plain, tmp_path), UnreadableInput)


def test_a_file_without_end_is_refused(server: PythonIndexServer, tmp_path: Path) -> None:
    server.add("boats", "boats-1.0-py3-none-any.whl", bytes(2 * MIB), stated={"size": 10})
    assert isinstance(refused(server, tmp_path), TooLarge)


@pytest.mark.parametrize(
    "info",
    [metadata("oars", "1.0"), metadata("boats", "2.0"), b"", b"\xff\xfe", b"Name: boats\n\n"],
)
def test_a_wheel_of_another_package_is_refused(
    plain: PythonIndexServer, tmp_path: Path, info: bytes
) -> None:
    body = wheel("boats", "1.0", CODE, info=info or b" ")
    plain.add("boats", "boats-1.0-py3-none-any.whl", body)
    assert isinstance(refused(plain, tmp_path), UnreadableInput)


def evil_wheel(name: str, **fields: Any) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("boats/__init__.py", "")
        info = zipfile.ZipInfo(name)
        for key, value in fields.items():
            setattr(info, key, value)
        archive.writestr(info, "evil")
        archive.writestr("boats-1.0.dist-info/METADATA", metadata("boats", "1.0"))
    return body.getvalue()


@pytest.mark.parametrize(
    "name",
    ["../evil.py", "/evil.py", "boats/../../evil.py", "C:/evil.py", "boats\\..\\..\\evil.py",
     "boats-1.0.data/purelib/../../evil.py"],
)  # fmt: skip
def test_a_wheel_with_names_that_lead_out_is_refused(
    plain: PythonIndexServer, tmp_path: Path, name: str
) -> None:
    plain.add("boats", "boats-1.0-py3-none-any.whl", evil_wheel(name))
    assert "leads out of it" in refused(plain, tmp_path).message


def test_links_of_a_wheel_are_left_out_and_told(plain: PythonIndexServer, tmp_path: Path) -> None:
    link = evil_wheel("boats/link.py", external_attr=(stat.S_IFLNK | 0o777) << 16)
    plain.add("boats", "boats-1.0-py3-none-any.whl", link)
    index = index_of(plain)
    unpacked = index.unpack(index.resolve("boats"), tmp_path / "made")
    assert unpacked.left_out == (
        "Files of boats-1.0-py3-none-any.whl that were left out: 1 (link).",
    )
    assert not any(each.is_symlink() for each in tmp_path.rglob("*"))


def test_a_bomb_is_refused(plain: PythonIndexServer, tmp_path: Path) -> None:
    body = wheel("boats", "1.0", {"boats/__init__.py": bytes(32 * MIB)})
    assert len(body) < MIB
    plain.add("boats", "boats-1.0-py3-none-any.whl", body)
    assert isinstance(refused(plain, tmp_path), TooLarge)


def test_a_bomb_of_a_source_distribution_is_refused(
    plain: PythonIndexServer, tmp_path: Path
) -> None:
    body = io.BytesIO()
    with tarfile.open(fileobj=body, mode="w:gz") as archive:
        info = tarfile.TarInfo("boats-1.0/boats.py")
        info.size = 64 * MIB
        archive.addfile(info, io.BytesIO(bytes(info.size)))
    plain.add("boats", "boats-1.0.tar.gz", body.getvalue())
    assert isinstance(refused(plain, tmp_path), TooLarge)


def test_a_hostile_dependency_is_left_out_and_told(
    plain: PythonIndexServer, tmp_path: Path
) -> None:
    plain.add_wheel("boats", "1.0", CODE, ["oars"])
    body = evil_wheel("../evil.py")
    plain.add("oars", "oars-1.0-py3-none-any.whl", body)
    index = index_of(plain)
    unpacked = index.unpack(index.resolve("boats"), tmp_path / "made")
    assert unpacked.beside == ()
    assert "leads out of it" in unpacked.left_out[0]
    assert not list(tmp_path.rglob("*evil*"))
