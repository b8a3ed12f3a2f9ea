"""Parquet files as DuckDB writes them, read without it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from docstow.index.parquet import Unusual, read_columns, read_names
from docstow.index.tables import write_table

TYPES = {
    "int32": st.integers(-(2**31), 2**31 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "float32": st.floats(width=32, allow_nan=False),
    "float64": st.floats(allow_nan=False),
    "bool": st.booleans(),
    # Few texts make a dictionary, many do not.
    "few": st.sampled_from(["", "method", "naïve 🦀"]),
    "text": st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    "blob": st.binary(max_size=20),
}


def as_array(kind: str, values: Sequence[Any]) -> np.ndarray[Any, Any]:
    if kind in ("few", "text", "blob"):
        array = np.empty(len(values), object)
        array[:] = values
        return array
    return np.array(values, kind)


@given(st.data())
def test_columns_are_read_as_duckdb_wrote_them(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("table") / "table.parquet"
    count = data.draw(st.integers(1, 300))
    columns = {}
    for number, kind in enumerate(data.draw(st.lists(st.sampled_from(list(TYPES)), min_size=1))):
        some = data.draw(st.lists(TYPES[kind], min_size=1, max_size=40))
        columns[f"{kind}{number}"] = as_array(kind, [some[row % len(some)] for row in range(count)])
    write_table(columns, path)
    found = read_columns(path)
    assert list(found) == list(columns)
    for name, array in found.items():
        assert (array.dtype, array.tolist()) == (columns[name].dtype, columns[name].tolist())
    assert read_names(path) == set(columns)
    last = list(columns)[-1]
    assert read_columns(path, [last])[last].tolist() == columns[last].tolist()


def test_tables_of_several_groups_and_pages(tmp_path: Path) -> None:
    path, rows = tmp_path / "table.parquet", 150_000
    columns = {
        "row": np.arange(rows, dtype=np.int32),
        "word": as_array("text", [f"word{row % 977}" for row in range(rows)]),
        "text": as_array("text", [f"a text that only one row has: {row}" for row in range(rows)]),
        "even": np.arange(rows) % 2 == 0,
    }
    write_table(columns, path)
    with duckdb.connect(":memory:") as connection:
        groups = connection.execute(
            "SELECT count(DISTINCT row_group_id) FROM parquet_metadata(?)", [str(path)]
        ).fetchone()
    assert groups is not None
    assert groups[0] > 1
    for name, array in read_columns(path).items():
        np.testing.assert_array_equal(array, columns[name])


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("SELECT NULL::INT AS a UNION ALL SELECT 1", "COMPRESSION zstd"),
        ("SELECT NULL::VARCHAR AS a UNION ALL SELECT 'x'", "COMPRESSION zstd"),
        ("SELECT [1, 2] AS a", "COMPRESSION zstd"),
        ("SELECT {'b': 1} AS a", "COMPRESSION zstd"),
        ("SELECT 1::UTINYINT AS a", "COMPRESSION zstd"),
        ("SELECT 1.5::DECIMAL(4, 1) AS a", "COMPRESSION zstd"),
        ("SELECT DATE '2026-11-23' AS a", "COMPRESSION zstd"),
        ("SELECT 1 AS a", "COMPRESSION snappy"),
        ("SELECT 1 AS a", "COMPRESSION uncompressed"),
        ("SELECT i AS a FROM range(5000) r(i)", "COMPRESSION zstd, PARQUET_VERSION v2"),
    ],
)
def test_what_is_not_as_tables_are_is_left_to_duckdb(
    tmp_path: Path, query: str, options: str
) -> None:
    path = tmp_path / "table.parquet"
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet, {options})")
    with pytest.raises(Unusual):
        read_columns(path)


def test_damage_is_never_another_error(tmp_path: Path) -> None:
    """Every byte is changed, and the file is cut at every place: it is read, or it is unusual."""
    path = tmp_path / "table.parquet"
    write_table({"path": ["a", "b", "a"], "row": [1, 2, 3], "on": [True, False, True]}, path)
    whole = path.read_bytes()
    damaged = [whole[:size] for size in range(len(whole))]
    for place in range(len(whole)):
        for value in (0, whole[place] ^ 1, 255):
            damaged.append(whole[:place] + bytes([value]) + whole[place + 1 :])
    refused = 0
    for body in damaged:
        path.write_bytes(body)
        try:
            read_columns(path)
        except Unusual:
            refused += 1
    assert refused > len(whole)


def test_reading_imports_no_duckdb(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    write_table({"path": ["a", "b"], "row": [1, 2]}, path)
    program = (
        "import sys; from pathlib import Path; from docstow.index.tables import read_table;"
        "print(read_table(Path(sys.argv[1]))['path'].tolist(), 'duckdb' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], check=True, capture_output=True, text=True
    )
    assert done.stdout == "['a', 'b'] False\n"
