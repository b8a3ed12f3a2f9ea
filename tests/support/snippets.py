"""Snippets of the suite: right ones, and the same with one name that is not there."""

from __future__ import annotations

from dataclasses import dataclass

from paths import TESTS

LANGUAGES = TESTS / "languages"


@dataclass(frozen=True)
class Broken:
    """A right snippet with one wrong name.

    ``line`` is where it stands; ``wanted`` is the name that should be suggested first, empty where
    nothing similar can be meant.
    """

    title: str
    code: str
    line: int
    change: str
    wanted: str


@dataclass(frozen=True)
class Snippet:
    """A right snippet, and its broken forms."""

    title: str
    code: str
    broken: tuple[Broken, ...]


def load(language: str) -> list[Snippet]:
    """The snippets of a language: ``=== title``, code, then ``--- right => wrong => wanted``."""
    text = (LANGUAGES / language.partition("_")[0] / f"{language}.txt").read_text(encoding="utf-8")
    found = []
    for part in f"\n{text}".split("\n=== ")[1:]:
        title, _, rest = part.partition("\n")
        code, *changes = rest.split("\n--- ")
        found.append(Snippet(title, f"{code}\n", tuple(_broken(title, code, c) for c in changes)))
    return found


def _broken(title: str, code: str, change: str) -> Broken:
    right, wrong, wanted = (part.strip() for part in change.strip().split(" => "))
    at = code.find(right)
    assert at >= 0, f"{title}: {right!r} is not in the code"
    changed = f"{code[:at]}{wrong}{code[at + len(right) :]}\n"
    line = code[:at].count("\n") + 1
    return Broken(title, changed, line, f"{right} => {wrong}", "" if wanted == "-" else wanted)
