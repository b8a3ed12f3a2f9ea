"""What each part of Rust's checks is worth: programs are checked without it.

The programs are those of :mod:`evaluation.programs`, which tells what ``DIR`` and the cache hold::

    PYTHONPATH=tests:tests/support python -m evaluation.leave_out DIR --cache CACHE
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

from docstow import Docs
from docstow.core.settings import Settings
from docstow.languages.rust import check
from docstow.languages.rust.check import (
    calls,
    chains,
    documented,
    expressions,
    own_items,
    resolver,
    undocumented,
)
from evaluation import programs
from servers.docs_rs import DocsRs

_Change = tuple[object, str, object]


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _unknown(*_: Any, **__: Any) -> tuple[None, bool]:
    return None, False


#: Parts, and what stands in their places: what holds it, its name, what it is replaced by.
PARTS: Mapping[str, list[_Change]] = {
    "types of values (expressions, and all below)": [
        (expressions.Expressions, "type_of", _nothing),
    ],
    "what docs say that functions and fields are": [
        (documented.Documented, each, _nothing) for each in ("returned", "field", "variant", "at")
    ],
    "what iterators of the docs yield": [(documented.Documented, "yielded", _nothing)],
    "parameters of closures": [
        (expressions.Expressions, "closure_inputs", lambda *_: ()),
    ],
    "chains of the standard library": [
        (chains, "returned", _unknown),
        (chains, "element", _nothing),
        (chains, "closure_inputs", lambda *_: ()),
    ],
    "patterns, parameters and loops": [(check, "bind", _nothing)],
    "what let binds": [(check, "bind_let", _nothing)],
    "the code's own items": [
        (own_items.OwnItems, each, _nothing) for each in ("field", "returned", "bound")
    ],
    "methods of traits that code imports": [(resolver.Resolver, "brought", _nothing)],
    "macros of known types": [(expressions.Expressions, "_expanded", _nothing)],
    "arguments of println! and the like": [(check._Checker, "_arguments", lambda *_: False)],
    "paths in other macros": [(check._Checker, "_tokens", _nothing)],
    "attributes and derives": [(check._Checker, "_attribute", _nothing)],
    "numbers of arguments": [(calls.Calls, "_arity", _nothing)],
    "bounds of type parameters": [(calls.Calls, "_by_bound", _nothing)],
    "fields that are read": [(calls.Calls, "field", _nothing)],
    "fields of literals": [(calls.Calls, "literal", _nothing)],
    "what docs leave out": [
        (undocumented.Undocumented, "may_have", lambda *_: False),
    ],
}


def table(measure: Callable[[], str]) -> None:
    """Print the figures with all parts, then without each."""
    print(f"all parts | {measure()}", flush=True)
    for title, changes in PARTS.items():
        patches = [patch.object(*each) for each in changes]
        for each in patches:
            each.start()
        try:
            print(f"without {title} | {measure()}", flush=True)
        finally:
            for each in patches:
                each.stop()


def main() -> int:
    """Run it on the programs that are worked with."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--cache", required=True, help="folder of the store and the cache")
    options = parser.parse_args()
    text = (programs.HERE / "rust.txt").read_text("utf-8")
    named = set(re.findall(r"\b([a-z]\w*)::", text)) - {"std", "core", "alloc"}
    crates = sorted(e.name for e in options.root.iterdir() if e.name.replace("-", "_") in named)
    with DocsRs(options.root) as upstream:
        settings = Settings(
            store=f"{options.cache}/store",
            cache=f"{options.cache}/cache",
            docs_rs_url=upstream.url,
            crates_index_url=upstream.index_url,
            upstream_interval_s=0,
            wait_s=120,
        )
        with Docs(settings) as docs:
            for each in crates:
                docs.crate(each)
            table(lambda: programs.measure(docs, "rust"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
