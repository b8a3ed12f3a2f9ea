"""Wheels that are too large: of them only what is read is fetched, and each file is checked."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from docstow.core.errors import DocstowError, TooLarge, UnreadableInput
from docstow.net import Fetcher
from docstow.net.client import is_untapped
from docstow.net.decompress import Limits
from docstow.net.retry import RetryPolicy
from docstow.sources.packages import Registry, partial_wheels
from docstow.sources.packages.python_index import PythonIndex
from servers.python_index import PythonIndexServer, wheel

MIB = 1024 * 1024
NATIVE = random.Random(1).randbytes(3 * MIB)
FILES: dict[str, str | bytes] = {
    "boats/__init__.py": "def row() -> None:\n    'Row.'\n",
    "boats/_engine.abi3.so": NATIVE,
    **{f"boats/part{each}.py": f"SIZE = {each}\n" for each in range(40)},
    "boats/_sails.abi3.so": NATIVE,
    "boats/_sails.pyi": "def hoist() -> int: ...\n",
}
WHEEL = wheel("boats", "1.0", FILES)
NAME = "boats-1.0-py3-none-any.whl"


@pytest.fixture
def server() -> Iterator[PythonIndexServer]:
    with PythonIndexServer() as made:
        yield made


@pytest.fixture
def fetcher() -> Iterator[Fetcher]:
    made = Fetcher("tests", policy=RetryPolicy(retries=0))
    yield made
    made.close()


def unpack(server: PythonIndexServer, fetcher: Fetcher, folder: Path, most: int) -> tuple[str, ...]:
    limits = Limits(most, 16 * MIB)
    index = PythonIndex(fetcher, [Registry(server.url)], limits=limits, python="3.11.7")
    return index.unpack(index.resolve("boats"), folder).left_out


def refused(server: PythonIndexServer, fetcher: Fetcher, tmp_path: Path) -> DocstowError:
    with pytest.raises(DocstowError) as caught:
        unpack(server, fetcher, tmp_path / "made", MIB)
    assert list(tmp_path.iterdir()) == []
    return caught.value


def files(folder: Path) -> dict[str, bytes]:
    found = (each for each in folder.rglob("*") if each.is_file())
    return {each.relative_to(folder).as_posix(): each.read_bytes() for each in found}


@pytest.mark.parametrize("tail", [100, 2 * MIB])
def test_of_a_large_wheel_what_is_read_is_the_same_and_the_rest_is_not_fetched(
    server: PythonIndexServer,
    fetcher: Fetcher,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tail: int,
) -> None:
    monkeypatch.setattr(partial_wheels, "_TAIL", tail)
    server.add("boats", NAME, WHEEL)
    assert unpack(server, fetcher, tmp_path / "whole", 16 * MIB) == ()
    assert len(server.asked(NAME)) == 1
    (said,) = unpack(server, fetcher, tmp_path / "parts", MIB)
    assert said.startswith(f"{NAME} is too large to be fetched whole")
    assert files(tmp_path / "parts") == files(tmp_path / "whole")
    asked = [each.headers["range"] for each in server.files.requests[1:]]
    assert 2 <= len(asked) <= 6
    assert all(each.startswith("bytes=") for each in asked)


@pytest.mark.parametrize("lie", ["another digest", "not listed", "no list"])
def test_a_file_other_than_its_record_lists_is_refused(
    server: PythonIndexServer, fetcher: Fetcher, tmp_path: Path, lie: str
) -> None:
    body = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(WHEEL)) as whole, zipfile.ZipFile(body, "w") as made:
        for each in whole.namelist():
            text = whole.read(each)
            if each.endswith("RECORD"):
                lines = text.splitlines(keepends=True)
                wrong = lines[0].replace(b"sha256=", b"sha256=A")
                first = b"" if lie == "not listed" else wrong
                text = b"".join([first, *lines[1:]])
            if not each.endswith("RECORD") or lie != "no list":
                made.writestr(each, text)
    server.add("boats", NAME, body.getvalue())
    error = refused(server, fetcher, tmp_path)
    assert isinstance(error, UnreadableInput)
    expected = "no list of its files" if lie == "no list" else "its RECORD lists"
    assert expected in error.message


def test_metadata_other_than_the_index_lists_are_refused(
    server: PythonIndexServer, fetcher: Fetcher, tmp_path: Path
) -> None:
    server.add("boats", NAME, WHEEL, metadata=b"Name: boats\nVersion: 1.0\n")
    assert "metadata" in refused(server, fetcher, tmp_path).message


def test_a_damaged_file_is_refused(
    server: PythonIndexServer, fetcher: Fetcher, tmp_path: Path
) -> None:
    place = WHEEL.index(b"boats/part7.py") + len("boats/part7.py") + 2
    body = WHEEL[:place] + bytes([WHEEL[place] ^ 0x55]) + WHEEL[place + 1 :]
    server.add("boats", NAME, body)
    assert isinstance(refused(server, fetcher, tmp_path), UnreadableInput)


def test_a_server_that_sends_no_parts_is_told_of(
    server: PythonIndexServer, fetcher: Fetcher, tmp_path: Path
) -> None:
    server.ranges = False
    server.add("boats", NAME, WHEEL)
    error = refused(server, fetcher, tmp_path)
    assert isinstance(error, TooLarge)
    assert "does not send the parts" in error.message
    assert "max_compressed" in error.message


def test_more_to_be_read_than_may_be_fetched_is_refused(
    server: PythonIndexServer, fetcher: Fetcher, tmp_path: Path
) -> None:
    text = random.Random(2).randbytes(2 * MIB).hex()
    server.add("boats", NAME, wheel("boats", "1.0", {**FILES, "boats/data.py": text}))
    error = refused(server, fetcher, tmp_path)
    assert isinstance(error, TooLarge)
    assert "max_compressed" in error.message


@pytest.mark.parametrize("offset", [2**31, 5, -1])
def test_a_list_of_files_that_leads_elsewhere_is_refused(
    server: PythonIndexServer, fetcher: Fetcher, tmp_path: Path, offset: int
) -> None:
    # Of the central header of a file: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
    place = WHEEL.rindex(b"boats/part7.py") - 4
    body = WHEEL[:place] + (offset % 2**32).to_bytes(4, "little") + WHEEL[place + 4 :]
    server.add("boats", NAME, body)
    assert isinstance(refused(server, fetcher, tmp_path), UnreadableInput)


def test_a_size_that_no_wheel_has_is_refused(
    server: PythonIndexServer, fetcher: Fetcher, tmp_path: Path
) -> None:
    server.add("boats", NAME, WHEEL, stated={"size": 2**62})
    assert "has 6" in refused(server, fetcher, tmp_path).message


def test_parts_are_only_fetched_where_nobody_can_change_them() -> None:
    assert is_untapped("https://files.example/boats.whl")
    assert is_untapped("http://127.0.0.1:8080/boats.whl")
    assert not is_untapped("http://files.example/boats.whl")
