"""Files with chains of modules and re-exports that no compiler has written."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from docstow.core.errors import UnreadableInput
from docstow.languages.rust.rustdoc import read
from docstow.languages.rust.rustdoc.paths import DEEPEST
from growth import growth

Item = dict[str, Any]


def item(number: int, name: str | None, inner: Item, visibility: str = "public") -> Item:
    return {
        "id": number,
        "crate_id": 0,
        "name": name,
        "span": None,
        "visibility": visibility,
        "docs": "Text.",
        "links": {},
        "attrs": [],
        "deprecation": None,
        "inner": inner,
    }


def module(items: list[int], *, root: bool = False) -> Item:
    return {"module": {"is_crate": root, "items": items, "is_stripped": False}}


def use(target: int, name: str, *, glob: bool = False) -> Item:
    return {"use": {"source": f"s{target}", "name": name, "id": target, "is_glob": glob}}


def body(items: list[Item]) -> bytes:
    return json.dumps(
        {
            "root": 0,
            "crate_version": "1.0.0",
            "includes_private": False,
            "index": {str(each["id"]): each for each in items},
            "paths": {},
            "external_crates": {},
            "target": {"triple": "x", "target_features": []},
            "format_version": 45,
        }
    ).encode()


def modules(depth: int) -> bytes:
    """Modules, each with the next one in it."""
    inner = [
        item(n, f"m{n}", module([n + 1] if n + 1 < depth else [], root=not n)) for n in range(depth)
    ]
    return body(inner)


def reexports(depth: int) -> bytes:
    """Public names, each of the next one; the last is of a module."""
    chain = [item(n, None, use(n + 1, f"u{n}")) for n in range(1, depth + 1)]
    root = item(0, "c", module(list(range(1, depth + 1)), root=True))
    return body([root, *chain, item(depth + 1, "end", module([]), "crate")])


def globs(depth: int) -> bytes:
    """Private modules, each with all names of the next one; the last has a name."""
    found = []
    for n in range(depth):
        found.append(item(2 * n, f"m{n}", module([2 * n + 1], root=not n), "crate"))
        found.append(item(2 * n + 1, None, use(2 * n + 2, "x", glob=True)))
    last = 2 * depth
    found.append(item(last, "end", module([last + 1]), "crate"))
    found.append(item(last + 1, "Name", module([])))
    return body(found)


@pytest.mark.parametrize("chain", [modules, reexports, globs])
def test_what_is_too_deep_is_refused_with_the_reason(chain: Callable[[int], bytes]) -> None:
    assert read(chain(DEEPEST)).documents
    with pytest.raises(UnreadableInput, match=f"more than {DEEPEST} times"):
        read(chain(DEEPEST + 1))


@pytest.mark.parametrize("chain", [modules, reexports, globs])
def test_what_a_refusal_costs_grows_with_the_length(chain: Callable[[int], bytes]) -> None:
    bodies = {size: chain(3000 * size) for size in (1, 4)}

    def refuse(size: int) -> None:
        with pytest.raises(UnreadableInput):
            read(bodies[size])

    assert growth(refuse) < 2
