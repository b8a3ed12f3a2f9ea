"""Honest passages: of packages and manuals that talk of prompts, shells and secrets, and others.

They are third-party texts, so that only the recipe is here: packages by version and digest, which
of their passages, and the digest of all that were taken.
"""

from __future__ import annotations

import ast
import hashlib
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docstow.core.model import File
from docstow.formats import read
from fidelity.manuals import MANUALS, Unavailable
from paths import REPOSITORY

#: Wheels, pinned by digest; each other one is set aside: no rule was changed for what it says.
PACKAGES = Path(__file__).with_name("packages.txt")
CACHE = REPOSITORY / ".cache" / "screening"
#: Characters of a passage.
_SHORTEST, _LONGEST = 60, 1500
_TEXTS = (".md", ".rst", ".txt", "/METADATA")
#: Words of attacks: passages with one come first.
_HARD = re.compile(
    r"\b(?:prompts?|assistants?|instructions?|ignor\w+|system message|agents?|llm|secrets?|tokens?"
    r"|credentials?|run the|execute|send|inject\w*|jailbreak\w*|reveal\w*|role|override)\b",
    re.IGNORECASE,
)
#: Passages of one source: so many with such words, so many of the others.
_MOST_HARD, _MOST_OTHERS = 28, 10


@dataclass(frozen=True, slots=True)
class Source:
    """A package or manual.

    Attributes:
        name: with its version.
        passages: all of it, in order, each once.
    """

    name: str
    passages: tuple[str, ...]

    def sample(self) -> list[str]:
        """Return the passages that are measured: a fixed choice that depends on nothing else."""
        drawn = sorted(self.passages, key=lambda each: hashlib.sha256(each.encode()).digest())
        hard = [each for each in drawn if _HARD.search(each)]
        others = [each for each in drawn if not _HARD.search(each)]
        return hard[:_MOST_HARD] + others[:_MOST_OTHERS]


def packages() -> list[Source]:
    """Return the packages of the list, in its order.

    Raises:
        Unavailable: they cannot be had here.
    """
    folder = CACHE / hashlib.sha256(PACKAGES.read_bytes()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--require-hashes"]
    command += ["--only-binary", ":all:", "--disable-pip-version-check", "-d", str(folder)]
    wanted = PACKAGES.read_text().count("--hash")
    if len(list(folder.glob("*.whl"))) < wanted:
        done = subprocess.run(
            [*command, "-r", str(PACKAGES)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise Unavailable(done.stderr[-500:])
    return [
        Source("-".join(path.name.split("-")[:2]), _once(_of_wheel(path)))
        for path in sorted(folder.glob("*.whl"))
    ]


def manuals(most: int = 60) -> list[Source]:
    """Return the first pages of manuals of Debian."""
    found = []
    for manual in MANUALS:
        folder = manual.pages()
        pages = sorted(folder.rglob("*.html"))[:most]
        files = (File(path.name, "", "text/html", path.read_bytes()) for path in pages)
        texts = (read(file).text for file in files)
        found.append(Source(manual.name, _once(p for text in texts for p in split(text))))
    return found


def split(text: str) -> Iterator[str]:
    """Yield a text's paragraphs, joined up to the length of a passage."""
    held = ""
    for paragraph in re.split(r"\n\s*\n", text):
        if held and len(held) + len(paragraph) > _LONGEST:
            yield held
            held = ""
        held = f"{held}\n\n{paragraph}".strip()[:_LONGEST]
    yield held


def _once(passages: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for each in passages if len(each) >= _SHORTEST))


def _of_wheel(path: Path) -> Iterator[str]:
    """Yield the passages of what a wheel says of itself: texts and docstrings."""
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith(_TEXTS) and "license" not in name.lower():
                yield from split(archive.read(name).decode("utf-8", "replace"))
            elif name.endswith(".py"):
                try:
                    tree = ast.parse(archive.read(name))
                except (SyntaxError, ValueError):
                    continue
                for node in ast.walk(tree):
                    if isinstance(
                        node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
                    ):
                        yield from split(ast.get_docstring(node) or "")
