"""Gather the training texts into one file; see README.md beside this file.

python -m docstow_training.gather --rustdoc FOLDER --python FOLDER... --into items.jsonl.zst
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import msgspec
import zstandard

from docstow_training.texts import Item, python_items, rustdoc_crates, rustdoc_items

SEED = 20261121
ITEMS_A_SOURCE = 1_500
"""So many items of one source are kept: one huge package must not drown the others."""


def gather(rustdoc: Path, python: Iterable[Path], *, leave_out: set[str]) -> list[Item]:
    """All items, Rust crates first; of a Python package's part only a sample if it is large."""
    items = [
        item
        for file in rustdoc_crates(rustdoc, leave_out=leave_out)
        for item in rustdoc_items(file)
    ]
    for folder in python:
        by_source: dict[str, list[Item]] = defaultdict(list)
        for item in python_items(folder):
            by_source[item.source].append(item)
        for source, found in by_source.items():
            chance = random.Random(f"{SEED}/{source}")  # noqa: S311 - no secret
            items += chance.sample(found, min(len(found), ITEMS_A_SOURCE))
    return items


def save(items: Iterable[Item], file: Path) -> None:
    """Write items as compressed JSON Lines."""
    body = msgspec.json.Encoder().encode_lines(items)
    file.write_bytes(zstandard.compress(body, 9))


def load(file: Path) -> list[Item]:
    """Read what :func:`save` wrote."""
    body = zstandard.decompress(file.read_bytes())
    found: list[Item] = msgspec.json.Decoder(Item).decode_lines(body)
    return found


def main() -> None:
    """Read the arguments and gather."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rustdoc", type=Path, required=True, help="<crate>/<version>/rustdoc.json.zst"
    )
    parser.add_argument("--leave-out", nargs="*", default=[], help="crates kept for evaluation")
    parser.add_argument("--python", type=Path, nargs="*", default=[], help="package folders")
    parser.add_argument("--into", type=Path, required=True)
    arguments = parser.parse_args()
    save(
        gather(arguments.rustdoc, arguments.python, leave_out=set(arguments.leave_out)),
        arguments.into,
    )


if __name__ == "__main__":
    main()
