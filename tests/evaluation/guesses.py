"""Names that users of other libraries guess, and the weights by which suggestions are ordered.

``guesses/LANGUAGE.txt`` has on each line a module, a type or a call (``()``) and what is asked of
it: a wrong name, and after ``>`` the right one. They were written before any answer was seen, of
packages that ``programs`` does not have. One letter of some right names is changed as well, so that
slips keep their share. The weights are fitted on packages of one half and judged on the other::

    python -m pip install -r guesses/requirements.txt   # in PYTHON/.venv
    npm install --ignore-scripts axios …                # in NODE
    PYTHONPATH=tests python -m evaluation.guesses PYTHON NODE CORPUS

CORPUS has ``CRATE/VERSION/rustdoc.json.zst``; of the standard library what docstow brings is used.
"""

from __future__ import annotations

import json
import random
import sys
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from docstow.core.settings import Settings
from docstow.languages.python.resolver import PythonResolver
from docstow.languages.rust.check.crate_items import standard
from docstow.languages.shared.findings import owner_words
from docstow.languages.shared.likeness import WEIGHTS, features, rarity
from docstow.languages.shared.lookup import Resolver
from docstow.languages.typescript.resolver import NodeResolver
from docstow.runtime import Runtime
from evaluation import fit

HERE = Path(__file__).parent / "guesses"
PENALTY = 0.003
#: One right name of so many is misspelt, too.
SLIPS = 7
#: What its docs say first, of each name that there is.
Members = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Guess:
    """A wrong name, the right one, and what there is."""

    language: str
    package: str
    owner: str
    wrong: str
    right: str
    members: Members


def guesses(language: str) -> Iterator[tuple[str, str, str]]:
    """Yield owner, wrong name and right name."""
    for line in (HERE / f"{language}.txt").read_text("utf-8").splitlines():
        owner, _, pairs = line.partition(" | ")
        for pair in pairs.split(", "):
            wrong, _, right = pair.partition(">")
            yield owner, wrong, right


def _installed(resolver: Resolver, owner: str, language: str) -> Members:
    called = owner.endswith("()")
    path = owner.removesuffix("()").removesuffix("{}").removesuffix(".*")
    slash = path.rfind("/") + 1
    first = path[:slash] + path[slash:].partition(".")[0]
    package = resolver.package_for(path if language == "python" else first)
    if package is None:
        return {}
    if called:
        symbol = package.symbol(path)
        every = (*(symbol.overloads if symbol else ()), (symbol and symbol.parameters) or ())
        return {each.name: "" for one in every for each in one if "var" not in each.kind}
    found: dict[str, str] = {}
    for each in (path, package.own_path(path)):
        members = package.surface.members(each) or {}
        found |= {name: symbol.docstring.partition("\n\n")[0] for name, symbol in members.items()}
    return found


def _of_std(owner: str) -> Members:
    names = standard()
    found = names.find(owner) or names.find(f"std::primitive::{owner}")
    paths = [each.path for each in found[:1]] + [
        d for each in found[:1] for d in names.derefs(each.path)
    ]
    return {e.path.rpartition("::")[2]: e.summary for path in paths for e in names.members(path)}


def _of_crate(corpus: Path, owner: str) -> Members:
    crate, *below = owner.split("::")
    files = sorted(corpus.glob(f"{crate.replace('_', '[-_]')}/*/rustdoc.json.zst"))
    if not files:
        return {}
    with files[-1].open("rb") as stream:
        read = zstandard.ZstdDecompressor().stream_reader(stream).read()
    index = json.loads(read)["index"]
    last = below[-1] if below else crate
    kinds = ("struct", "enum", "trait") if last[:1].isupper() else ("module",)
    found: dict[str, str] = {}
    for item in index.values():
        if item.get("name") == last and (kind := next(iter(item["inner"]))) in kinds:
            for each in _below(index, item["inner"][kind]):
                found.setdefault(each["name"], (each.get("docs") or "").partition("\n\n")[0])
    return found


def _below(index: Mapping[str, Any], inner: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    shape = inner.get("kind")
    plain = shape.get("plain", {}) if isinstance(shape, dict) else {}
    ids = [*inner.get("items", ()), *inner.get("variants", ()), *plain.get("fields", ())]
    for each in inner.get("impls", ()):
        block = index.get(str(each), {}).get("inner", {}).get("impl")
        ids += block["items"] if block and block["trait"] is None else ()
    for each in ids:
        item = index.get(str(each))
        if item and item.get("name") and item["visibility"] in {"public", "default"}:
            yield item


def cases(python: Path, node: Path, corpus: Path) -> Iterator[Guess]:
    """Yield the guesses whose right name is among what there is."""
    roots = {"python": python, "typescript": node, "rust": corpus}
    for language, root in roots.items():
        known: dict[str, Members] = {}
        resolver: Resolver | None = None
        if language != "rust":
            runtime = Runtime(Settings(root=(str(root),), offline=True, engines="none"))
            scan = runtime.projects.scan("")[1]
            resolver = PythonResolver(scan) if language == "python" else NodeResolver(scan)
        for owner, wrong, right in guesses(language):
            if owner not in known and resolver is not None:
                known[owner] = _installed(resolver, owner, language)
            elif owner not in known:
                is_std = owner.startswith("std::") or "::" not in owner[:6]
                known[owner] = _of_std(owner) if is_std else _of_crate(root, owner)
            members, package = known[owner], owner.replace("::", ".").split(".")[0]
            if right in members and wrong not in members:
                yield Guess(language, package, owner, wrong, right, members)


def _slip(guess: Guess, chance: random.Random) -> Guess:
    at, right = chance.randrange(len(guess.right)), guess.right
    change = chance.choice(("", right[at] * 2, chance.choice("aeioustrnz")))
    return replace(guess, wrong=right[:at] + change + right[at + 1 :])


def _case(guess: Guess) -> fit.Case:
    shown = [each for each in guess.members if not each.startswith("_")]
    rare = rarity(shown)
    about = owner_words(guess.owner.rstrip("(){}").removesuffix(".*"))
    rows = [features(guess.wrong, each, guess.members[each], rare, about) for each in shown]
    values = np.array([[float(row[name]) for name in WEIGHTS] for row in rows])
    right = {shown.index(guess.right)} if guess.right in shown else set()
    return fit.Case(guess.package, list(range(len(shown))), values, [right])


def _share(judged: list[fit.Case], weights: NDArray[np.float64]) -> str:
    firsts = [int(np.argmax(each.features @ weights)) in each.answers[0] for each in judged]
    return f"{sum(firsts)} of {len(firsts)} ({sum(firsts) / max(1, len(firsts)):.0%})"


def main() -> int:
    """Fit on each half, judge on the other, and print the weights of both."""
    found = list(cases(*map(Path, sys.argv[1:4])))
    chance = random.Random(7)
    slips = [_slip(each, chance) for each in found[::SLIPS] if len(each.right) > 3]
    halves: list[list[fit.Case]] = [[], []]
    judged: dict[str, list[list[fit.Case]]] = {}
    for guess in (*found, *slips):
        half = zlib.crc32(guess.package.encode()) % 2
        case = _case(guess)
        halves[half].append(case)
        title = "slips" if guess in slips else guess.language
        judged.setdefault(title, [[], []])[half].append(case)
    weights = [fit.fit(each, penalty=PENALTY) for each in halves]
    kept = np.array(list(WEIGHTS.values()))
    for title, (one, other) in judged.items():
        unseen = f"{_share(one, weights[1])}, {_share(other, weights[0])}"
        print(
            f"{title}: right name first by weights of the other half {unseen};"
            f" by those that are kept {_share([*one, *other], kept)}"
        )
    whole = fit.fit([*halves[0], *halves[1]], penalty=PENALTY)
    print(json.dumps({name: round(float(v), 1) for name, v in zip(WEIGHTS, whole, strict=True)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
