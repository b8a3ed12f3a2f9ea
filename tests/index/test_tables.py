from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from docstow.core.errors import StoreError
from docstow.index.tables import column_names, pack_vectors, read_table, unpack_vectors, write_table

Columns = Mapping[str, NDArray[Any] | Sequence[Any]]


def objects(*values: object) -> NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def round_trip(columns: Columns, folder: Path) -> dict[str, NDArray[Any]]:
    write_table(columns, folder / "table.parquet")
    return read_table(folder / "table.parquet")


def lists(table: Mapping[str, NDArray[Any]]) -> dict[str, tuple[str, list[Any]]]:
    return {name: (array.dtype.name, array.tolist()) for name, array in table.items()}


def test_every_type_reads_back_as_it_was(tmp_path: Path) -> None:
    columns: Columns = {
        "row": np.arange(3, dtype=np.int32),
        "big": np.array([0, -(2**62), 2**62]),
        "weight": np.array([0.5, -1, 3], dtype=np.float32),
        "score": np.array([0.1, 1e300, -0.0]),
        "flag": np.array([True, False, True]),
        "path": objects("tokio::spawn", "", "na\0ïve 🦀"),
        "blob": objects(b"\0\xff", b"", b"x"),
        'it\'s "odd"': ["a", "b'c", 'd"e'],
        "fixed": np.array(["a", "bb", ""]),
        "numbers": [1, 2, 3],
    }
    assert lists(round_trip(columns, tmp_path)) == {
        "row": ("int32", [0, 1, 2]),
        "big": ("int64", [0, -(2**62), 2**62]),
        "weight": ("float32", [0.5, -1, 3]),
        "score": ("float64", [0.1, 1e300, -0.0]),
        "flag": ("bool", [True, False, True]),
        "path": ("object", ["tokio::spawn", "", "na\0ïve 🦀"]),
        "blob": ("object", [b"\0\xff", b"", b"x"]),
        'it\'s "odd"': ("object", ["a", "b'c", 'd"e']),
        "fixed": ("object", ["a", "bb", ""]),
        "numbers": ("int64", [1, 2, 3]),
    }


def test_nulls(tmp_path: Path) -> None:
    columns: Columns = {
        "text": ["a", None, "b"],
        "late": [None] * 2 + ["x"],
        "blob": [None, b"", b"x"],
        "count": [1, None, 3],
        "none": [None, None, None],
    }
    table = round_trip(columns, tmp_path)
    assert lists({name: table[name] for name in ("text", "late", "blob", "none")}) == {
        "text": ("object", ["a", None, "b"]),
        "late": ("object", [None, None, "x"]),
        "blob": ("object", [None, b"", b"x"]),
        "none": ("object", [None, None, None]),
    }
    assert table["count"].dtype == np.float64
    np.testing.assert_array_equal(table["count"], [1, np.nan, 3])


def test_an_empty_table(tmp_path: Path) -> None:
    columns: Columns = {"path": [], "blob": objects(), "row": np.array([], dtype=np.int32)}
    assert lists(round_trip(columns, tmp_path)) == {
        "path": ("object", []),
        "blob": ("object", []),
        "row": ("int32", []),
    }
    path = tmp_path / "table.parquet"
    assert lists(read_table(path, ["row"], where="path = ?", parameters=["a"])) == {
        "row": ("int32", [])
    }


def test_the_same_columns_make_the_same_bytes(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    rows = 150_000  # more than one row group
    columns: Columns = {
        "row": np.arange(rows),
        "weight": generator.random(rows, dtype=np.float32),
        "text": [f"word{number % 977} word{number}" for number in range(rows)],
    }
    bodies = []
    for name in ("one", "two", "three"):
        write_table(columns, tmp_path / name)
        bodies.append((tmp_path / name).read_bytes())
    assert bodies[0] == bodies[1] == bodies[2]
    table = read_table(tmp_path / "one")
    assert table["text"].tolist() == columns["text"]
    np.testing.assert_array_equal(table["weight"], columns["weight"])


def test_columns_and_rows_are_chosen(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    write_table({"path": ["a", "b", "c'", "d"], "row": [3, 1, 2, 0], "x": [0] * 4}, path)
    assert lists(read_table(path, ["row", "path"])) == {
        "row": ("int64", [3, 1, 2, 0]),
        "path": ("object", ["a", "b", "c'", "d"]),
    }
    chosen = read_table(
        path, ["path"], where="path IN (?, ?) OR row = ?", parameters=["c'", "a", 0]
    )
    assert chosen["path"].tolist() == ["a", "c'", "d"]
    assert column_names(path) == {"path", "row", "x"}


@pytest.mark.parametrize("folder", ["it's here", "[x] * ?", "ünï cödé", "a;b--c"])
def test_folders_with_odd_names(tmp_path: Path, folder: str) -> None:
    if sys.platform == "win32" and "?" in folder:
        pytest.skip("Windows has no such names")
    (tmp_path / folder).mkdir()
    assert lists(round_trip({"a": [1]}, tmp_path / folder)) == {"a": ("int64", [1])}
    assert [path.name for path in (tmp_path / folder).iterdir()] == ["table.parquet"]


def test_tables_are_written_and_read_by_many_threads_at_once(tmp_path: Path) -> None:
    def work(number: int) -> list[Any]:
        path = tmp_path / f"{number}.parquet"
        write_table({"row": np.full(5000, number), "text": [f"t{number}"] * 5000}, path)
        found = read_table(path, ["row", "text"], where="row = ?", parameters=[number])
        return [set(found["row"].tolist()), set(found["text"].tolist()), len(found["row"])]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(24))) == [[{n}, {f"t{n}"}, 5000] for n in range(24)]


def test_what_is_no_table_says_so(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    with pytest.raises(StoreError, match=r"Cannot read the table table\.parquet"):
        read_table(path)
    write_table({"a": list(range(1000))}, path)
    whole = path.read_bytes()
    with pytest.raises(StoreError, match="Cannot read the table"):
        read_table(path, ["b"])
    for damaged in (b"", b"no table", whole[:-10], b"PAR1" + bytes(200) + b"PAR1"):
        path.write_bytes(damaged)
        for read in (read_table, column_names):
            with pytest.raises(StoreError, match="Cannot read the table"):
                read(path)


def test_columns_of_different_lengths_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="one length"):
        write_table({"a": [1, 2], "b": ["x"]}, tmp_path / "table.parquet")
    with pytest.raises(ValueError, match="one length"):
        write_table({}, tmp_path / "table.parquet")


def test_a_table_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Cannot write the table"):
        write_table({"a": [1]}, tmp_path / "missing" / "table.parquet")


@given(
    arrays(
        np.float32,
        st.tuples(st.integers(0, 20), st.integers(1, 40)),
        elements=st.floats(-1, 1, width=16),
    )
)
def test_vectors_of_float16_values_read_back_exactly(matrix: NDArray[np.float32]) -> None:
    blobs = pack_vectors(matrix)
    assert [len(blob) for blob in blobs] == [2 * matrix.shape[1]] * len(matrix)
    back = unpack_vectors(blobs).reshape(matrix.shape)
    assert back.dtype == np.float32
    np.testing.assert_array_equal(back, matrix)


def test_unit_vectors_keep_their_angles(tmp_path: Path) -> None:
    matrix = np.random.default_rng(2).normal(size=(500, 256)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    table = round_trip({"embedding": pack_vectors(matrix)}, tmp_path)
    back = unpack_vectors(table["embedding"])
    assert np.abs(back @ back.T - matrix @ matrix.T).max() < 1e-3
    with pytest.raises(StoreError, match="do not have 256 dimensions"):
        unpack_vectors([*table["embedding"], *pack_vectors(np.eye(2))])


def test_a_table_of_vectors_is_plain_parquet(tmp_path: Path) -> None:
    round_trip({"embedding": pack_vectors(np.eye(2)), "row": [0, 1]}, tmp_path)
    path = str(tmp_path / "table.parquet")
    with duckdb.connect(":memory:") as connection:
        schema = connection.execute("DESCRIBE FROM read_parquet(?)", [path]).fetchall()
        codecs = connection.execute(
            "SELECT DISTINCT compression FROM parquet_metadata(?)", [path]
        ).fetchall()
    assert [row[:2] for row in schema] == [("embedding", "BLOB"), ("row", "BIGINT")]
    assert codecs == [("ZSTD",)]


@pytest.mark.parametrize(
    "name", ["store.snapshots", "store.leases", "store.blobs", "store.objects", "index.tables"]
)
def test_heavy_libraries_are_imported_when_they_are_needed(name: str) -> None:
    heavy = {
        "duckdb",
        "botocore",
        "boto3",
        "filelock",
        *(() if name == "index.tables" else ("numpy",)),
    }
    program = f"import sys, docstow.{name}; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout == "[]\n"
