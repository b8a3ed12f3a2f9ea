"""Of right programs every name that is not their own is made wrong, one at a time.

``programs.py`` counts three wrong names of a program, which somebody chose. Here each member,
keyword and import of a program gets another ending, so that many more places are tried, those that
are hard to judge among them; what is not found is listed with its line::

    PYTHONPATH=tests python -m evaluation.every_name python DIR [--part PART] [--list]
    PYTHONPATH=tests:tests/support python -m evaluation.every_name rust DIR --cache CACHE

DIR is as ``programs.py`` needs it.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from docstow import Docs
from evaluation.programs import load, opened, options_of

#: Members and parts of paths in Rust, outside of comments and texts.
_RUST = re.compile(
    r"//[^\n]*|r#*\".*?\"#*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'"
    r"|(?<=\.)(?P<member>[a-z_]\w*)|(?<=::)(?P<path>\w+)",
    re.DOTALL,
)
_RUST_OWN = re.compile(
    r"\b(?:fn|struct|enum|trait|mod|type|const|static)\s+(\w+)|^\s+(?:pub )?(\w+):", re.MULTILINE
)
_PROBLEMS = frozenset({"unknown", "wrong_argument"})


@dataclass(frozen=True, slots=True)
class Place:
    """A name in a program: what kind of name, and where it ends."""

    kind: str
    name: str
    end: int


def places(code: str, language: str) -> Iterator[Place]:
    """Yield the names of a program that it does not define itself."""
    if language == "rust":
        own = {name for pair in _RUST_OWN.findall(code) for name in pair}
        for match in _RUST.finditer(code):
            kind = match.lastgroup
            if kind is not None and match[kind] not in own | {"await"}:
                yield Place(kind, match[kind], match.end())
        return
    tree = ast.parse(code)
    lines = code.split("\n")
    before = [0]
    for line in lines:
        before.append(before[-1] + len(line) + 1)

    def at(line: int, column: int) -> int:
        return before[line - 1] + len(lines[line - 1].encode()[:column].decode())

    own = {
        getattr(each, "name", "") or getattr(each, "attr", "") or getattr(each, "id", "")
        for each in ast.walk(tree)
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        or isinstance(getattr(each, "ctx", None), ast.Store)
    }
    for each in ast.walk(tree):
        match each:
            case ast.Attribute(attr=name, ctx=ast.Load()) if name not in own:
                yield Place("member", name, at(each.end_lineno or 1, each.end_col_offset or 0))
            case ast.keyword(arg=str(name)) if name not in own:
                yield Place("keyword", name, at(each.lineno, each.col_offset) + len(name))
            case ast.ImportFrom(names=names):
                for one in names:
                    end = at(one.lineno, one.col_offset) + len(one.name)
                    yield Place("import", one.name, end)


def measure(docs: Docs, language: str, part: str, *, listed: bool = False) -> str:
    """Check each program with each name made wrong; return the shares that are found, as a line."""
    tally: Counter[tuple[str, bool]] = Counter()
    for program in load(language, part):

        def wrong(code: str) -> set[tuple[int, str]]:
            findings = docs.verify(code, language).findings
            return {(each.line, each.name) for each in findings if each.status in _PROBLEMS}

        right = wrong(program.code)
        for place in places(program.code, language):
            ending = "Zq" if place.name[:1].isupper() or language != "rust" else "_zq"
            code = program.code[: place.end] + ending + program.code[place.end :]
            found = bool(wrong(code) - right)
            tally[place.kind, found] += 1
            if listed and not found:
                line = code[: place.end].count("\n")
                print(f"{program.title}: {place.kind} {place.name}: {code.split(chr(10))[line]}")
    kinds = sorted({kind for kind, _ in tally})
    shares = (
        f"{kind} {tally[kind, True]} of {tally[kind, True] + tally[kind, False]}" for kind in kinds
    )
    every = sum(count for (_, is_found), count in tally.items() if is_found)
    return f"{language}, {part}: {', '.join(shares)}; {every / tally.total():.0%} found"


def main() -> int:
    """Run the measure."""
    options = options_of(__doc__, "python", "rust")
    with opened(options.language, options.root, options.cache, options.engines) as docs:
        print(measure(docs, options.language, options.part, listed=options.list))
    return 0


if __name__ == "__main__":
    sys.exit(main())
