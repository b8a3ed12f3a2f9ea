"""What the search of Python and Node packages is worth: ``python -m evaluation.packages ROOT...``

The questions are our own, in the words of people who do not know the name; every second one is
held out. ROOT are projects that have some of the packages installed; questions on others are left
out. ``--fit`` fits the weights of packages anew from the questions that are not held out: they are
drawn towards those of crates, as these questions are few.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from docstow.core.errors import PackageNotFound
from docstow.core.settings import load
from docstow.index.loaded import Index
from docstow.index.ranking import WEIGHTS
from docstow.index.search import ItemFilters, find_candidates
from docstow.languages import LANGUAGES, PYTHON
from docstow.runtime import Runtime
from evaluation.fit import AGAINST, Case, fit, judge
from evaluation.measures import Score, table

QUESTIONS = Path(__file__).with_name("packages.jsonl")
#: Kinds that crates do not have, from where the fit begins.
FURTHER = {"is_page": -1.5}
PENALTY = 0.1
#: What spells a name comes first, whatever else is weighed.
NAMED = 10.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its candidates."""

    language: str
    held_out: bool
    case: Case


def asked(runtime: Runtime, questions: Sequence[Mapping[str, Any]]) -> Iterator[Asked]:
    """Every question on a package that is installed, with the features of its candidates."""
    indexes: dict[tuple[str, str], Index | None] = {}
    for each in questions:
        language, package = str(each["language"]), str(each["package"])
        if (key := (language, package)) not in indexes:
            indexes[key] = None
            with contextlib.suppress(PackageNotFound):
                found = runtime.installed.find(LANGUAGES[language], package).snapshot
                indexes[key] = runtime.library.index(found)
        if (index := indexes[key]) is None:
            continue
        answers = [
            {row for path in paths for row in index.find(path)} for paths in each["relevant"]
        ]
        if not any(answers):
            continue
        brought = find_candidates(
            index, runtime.embedder, str(each["query"]), ItemFilters()
        ).features
        values = np.array([list(brought[row].values()) for row in brought])
        case = Case(package, list(brought), values, [rows for rows in answers if rows])
        yield Asked(language, bool(each["held_out"]), case)


def main(roots: Sequence[str], *, fitted: bool) -> None:
    """Print what the search is worth, and perhaps write new weights."""
    questions = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    with TemporaryDirectory(prefix="docstow-") as folder:
        flags = {"store": f"{folder}/store", "cache": f"{folder}/cache", "root": ",".join(roots)}
        with contextlib.closing(Runtime(load(flags, {}))) as runtime:
            found = list(asked(runtime, questions))
            some = runtime.installed.search(PYTHON, "", 1)
            names = _names(runtime, runtime.library.index(some[0]))
    tables = json.loads(WEIGHTS.read_text("utf-8"))
    crates = np.array([tables["weights"].get(n, FURTHER.get(n, 0.0)) for n in names])
    weights = np.array([tables["packages"].get(name, 0.0) for name in names])
    if fitted:
        weights = fit([each.case for each in found if not each.held_out], crates, PENALTY)
        pairs = zip(names, weights, strict=True)
        kept = {n: round(float(v), 5) for n, v in pairs if n not in ("named", "is_page")}
        tables["packages"] = kept | {n: min(kept[n], most) for n, most in AGAINST.items()}
        WEIGHTS.write_text(json.dumps(tables, indent=2) + "\n", "utf-8")
    weights[names.index("named")] = NAMED
    # No guide is an answer here, so that these questions cannot tell what guides are worth.
    weights[names.index("is_page")] = tables["guides"]["packages"]
    rows: dict[str, list[Score]] = {}
    for each in found:
        (score,) = judge([each.case], weights)
        part = "held out" if each.held_out else "development"
        for name in (each.case.crate, f"{each.language}, {part}", f"{each.language}, all"):
            rows.setdefault(name, []).append(score)
    print(table(dict(sorted(rows.items(), key=lambda row: ", " in row[0]))))


def _names(runtime: Runtime, index: Index) -> list[str]:
    """The names of the features, in their order."""
    brought = find_candidates(index, runtime.embedder, "set", ItemFilters()).features
    return list(next(iter(brought.values())))


if __name__ == "__main__":
    words = sys.argv[1:]
    main([each for each in words if each != "--fit"], fitted="--fit" in words)
