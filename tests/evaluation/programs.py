"""Programs that were written before any answer was seen, and how many wrong names are found.

``programs/typescript.txt`` and ``programs/python.txt`` hold 40 right programs each, over packages
that no other suite uses, and three changes of each: one wrong name or argument, with the last part
of the name that is right. Every second program is kept aside: whoever works on the checks looks at
the others alone, and states both figures. ``programs/second``, ``programs/fourth``,
``programs/fifth`` and ``programs/sixth`` have 95, 118, 78 and 86 more that nobody who works on the
checks had seen when they were first counted; they are worked with since, and so are in Python all
but the last two. ``programs/third`` has 61, which are kept aside whole in TypeScript and Rust:
their shares are stated, and nobody lists what is missed; so are those in Rust of the 86 in
``programs/seventh`` (``seventh-kept``), and every second one, but in Python, of the 98 in
``programs/eighth`` (``eighth-kept``) and of the 98 in ``programs/ninth`` (``ninth-kept``).
``programs/tenth`` has 32 in Python over the most used packages, of which none was looked at, and
32 in TypeScript and JavaScript, ``programs/eleventh`` 32 in Python over less used ones, too: of
both every second one is kept aside (``tenth-kept``, ``eleventh-kept``).
``programs/twelfth`` has 24 over other packages of npm, half of them JavaScript, of which every
second one is kept aside (``twelfth-kept``), though it was looked at when its figure was known;
``programs/thirteenth`` 32 in JavaScript alone, ``programs/fourteenth`` 24 and
``programs/fifteenth`` 28 in both: every second one is kept aside (``thirteenth-kept``,
``fourteenth-kept``, ``fifteenth-kept``), and nobody has looked at it but, when its figure was
known, at what was missed in JavaScript of ``ninth-kept`` and ``fourteenth-kept``.
``programs/sixteenth`` has 24 in TypeScript and JavaScript, of which TypeScript's compiler refuses
every change, and 24 in Python: every second one is kept aside (``sixteenth-kept``).
``programs/seventeenth`` has 48 in Python, half of them over the most used packages, 30 in Rust and
32 in TypeScript and JavaScript, which TypeScript's compiler refuses: every second one is kept aside
(``seventeenth-kept``), but for one alarm in Python; nobody has looked at those of the last three.
``programs/eighteenth`` has 64 in Python, half of them over the most used packages: every second one
is kept aside (``eighteenth-kept``); ``programs/nineteenth`` 48 more over the most used ones, of
which nobody has looked at every second one, nor at the last eight (``nineteenth-kept``);
``programs/twentieth`` 32 over packages of both kinds, of which every second one is kept aside
(``twentieth-kept``), but for one alarm; ``programs/twentyfirst`` 32 more, likewise
(``twentyfirst-kept``); ``programs/twentysecond`` 32 more, for Python 3.12, likewise
(``twentysecond-kept``); ``programs/twentythird`` 51 over packages drawn from the most used ones and
20 in TypeScript and JavaScript, of which every second one is kept aside (``twentythird-kept``), but
for three lines of JavaScript; ``programs/twentyfourth``, ``programs/twentyfifth`` and
``programs/twentysixth`` 26 each in Python, over packages drawn from the 1,000 most used ones
(``twentyfourth-kept`` and so on), of which alone the alarms were looked at;
``programs/twentyseventh`` and ``programs/twentyeighth`` 26 each over packages that everybody knows,
likewise; ``programs/twentyninth`` to ``programs/thirtyfifth`` 26 each, likewise: the first two, the
fourth and the sixth over packages drawn from the 500 most used ones, the others over known ones;
``programs/thirtysixth`` to ``programs/fortyfifth`` 26 each, likewise: the first two, the fifth, the
sixth and the eighth over drawn packages; ``programs/fortysixth`` to ``programs/fortyeighth`` 26
each, likewise, the second one over known packages; ``programs/fortyninth`` to
``programs/fiftyfirst`` 26 each over packages drawn from the 1,000 most used ones, likewise.
Programs with ``(js)`` in their titles are given as JavaScript.

The packages are installed, and never run::

    npm install --ignore-scripts --prefix DIR   # beside a copy of programs/package.json
    python -m pip install -r programs/requirements.txt   # in DIR/.venv
    PYTHONPATH=tests python -m evaluation.programs typescript DIR [--part PART] [--list]

``programs/rust.txt`` has 60 programs over crates. For them DIR holds ``CRATE/VERSION`` with rustdoc
JSON (rand of 0.8 alone); the newest versions of what the programs name are stowed in the cache::

    PYTHONPATH=tests:tests/support python -m evaluation.programs rust DIR --cache CACHE
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from docstow import Docs, Finding
from docstow.core.settings import Settings

HERE = Path(__file__).parent / "programs"
#: Of the first programs: those that are worked with, and those that are kept aside.
HALVES = ("worked", "kept")
_LATER = (
    *("second", "third", "fourth", "fifth", "sixth", "seventh"),
    *("eighth", "ninth", "tenth", "eleventh", "twelfth"),
    *("thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth"),
    *("eighteenth", "nineteenth", "twentieth", "twentyfirst", "twentysecond"),
    *("twentythird", "twentyfourth", "twentyfifth", "twentysixth"),
    *("twentyseventh", "twentyeighth", "twentyninth", "thirtieth"),
    *("thirtyfirst", "thirtysecond", "thirtythird", "thirtyfourth", "thirtyfifth"),
    *("thirtysixth", "thirtyseventh", "thirtyeighth", "thirtyninth", "fortieth"),
    *("fortyfirst", "fortysecond", "fortythird", "fortyfourth", "fortyfifth"),
    *("fortysixth", "fortyseventh", "fortyeighth", "fortyninth", "fiftieth"),
    "fiftyfirst",
)
_KEPT = (*_LATER[5:],)
PARTS = (*HALVES, *_LATER, *(f"{each}-kept" for each in _KEPT))
_LAST = re.compile(r"::|[./#]")


@dataclass(frozen=True, slots=True)
class Change:
    """A program with one wrong name on a line; what is right, or empty where nothing is alike."""

    said: str
    code: str
    line: int
    wanted: str


@dataclass(frozen=True, slots=True)
class Program:
    """A right program, and its changed copies."""

    title: str
    code: str
    changes: tuple[Change, ...]


def load(language: str, part: str = "worked") -> list[Program]:
    """Read a part of the programs: of :data:`PARTS`."""
    folder = HERE if part in HALVES else HERE / part.removesuffix("-kept")
    texts = f"\n{(folder / f'{language}.txt').read_text('utf-8')}".split("\n=== ")[1:]
    found = []
    if part in HALVES:
        texts = texts[HALVES.index(part) :: 2]
    elif part.endswith("-kept") and (language, part) != ("rust", "seventh-kept"):
        texts = texts[1::2]
    for text in texts:
        title, _, rest = text.partition("\n")
        code, *changes = rest.split("\n--- ")
        found.append(Program(title, f"{code}\n", tuple(_changes(code, changes))))
    return found


def _changes(code: str, changes: Sequence[str]) -> Iterator[Change]:
    for each in changes:
        right, wrong, wanted = each.strip().split(" => ")
        at = code.index(right)
        changed = f"{code[:at]}{wrong}{code[at + len(right) :]}\n"
        yield Change(each.strip(), changed, code[:at].count("\n") + 1, wanted.strip(" -"))


def _wrong(findings: Sequence[Finding]) -> list[Finding]:
    return [each for each in findings if each.status in {"unknown", "wrong_argument"}]


def _is_first(findings: Sequence[Finding], wanted: str) -> bool:
    firsts = [each.suggestions[0] for each in findings if each.suggestions]
    return any(_LAST.split(each)[-1] == wanted or each == wanted for each in firsts)


def measure(docs: Docs, language: str, part: str = "worked", *, listed: bool = False) -> str:
    """Check programs of :func:`load`; return the figures as a line."""
    programs = load(language, part)
    alarmed = found = first = wanted = changes = 0
    walls = []
    for program in programs:
        dialect = "javascript" if "(js)" in program.title else language
        alarms = _wrong(docs.verify(program.code, dialect).findings)
        alarmed += bool(alarms)
        for alarm in alarms if listed else ():
            print(f"ALARM {program.title}: {alarm.line} {alarm.message}")
        for change in program.changes:
            began = time.perf_counter()
            wrong = _wrong(docs.verify(change.code, dialect).findings)
            walls.append(time.perf_counter() - began)
            here = [each for each in wrong if each not in alarms]
            is_found = any(each.line >= change.line for each in here)
            is_first = is_found and _is_first(here, change.wanted)
            changes += 1
            found += is_found
            wanted += bool(change.wanted)
            first += bool(change.wanted) and is_first
            if listed and not (is_found and (is_first or not change.wanted)):
                said = "; ".join(f"{each.message} {each.suggestions}" for each in here)
                fault = "first" if is_found else "MISSED"
                print(f"{fault} {program.title}: {change.said} | {said}")
    return (
        f"{language}, {part}: {len(programs)} programs,"
        f" {alarmed} with a false alarm; {found} of {changes} found ({found / changes:.0%});"
        f" right name first {first} of {wanted} ({first / wanted:.0%});"
        f" median {1000 * statistics.median(walls):.0f} ms"
    )


@contextmanager
def opened(language: str, root: Path, cache: str, engines: str) -> Iterator[Docs]:
    """Open what the programs are checked against; of Rust the crates that they name are stowed."""
    if language == "rust":
        with _crates(root, Path(cache)) as docs:
            yield docs
        return
    settings = Settings(root=(str(root),), offline=True, cache=cache, engines=engines)
    with Docs(settings) as docs:
        yield docs


@contextmanager
def _crates(root: Path, cache: Path) -> Iterator[Docs]:
    from servers.docs_rs import DocsRs

    text = "".join(each.read_text("utf-8") for each in sorted(HERE.rglob("rust.txt")))
    named = set(re.findall(r"\b([a-z]\w*)::", text)) - {"std", "core", "alloc"}
    crates = [each for each in root.iterdir() if each.name.replace("-", "_") in named]
    with DocsRs(root) as upstream:
        settings = Settings(
            store=str(cache / "store"),
            cache=str(cache / "cache"),
            docs_rs_url=upstream.url,
            crates_index_url=upstream.index_url,
            upstream_interval_s=0,
            wait_s=120,
        )
        with Docs(settings) as docs:
            for each in sorted(crates):
                docs.crate(each.name)
            yield docs


def options_of(description: str | None, *languages: str) -> argparse.Namespace:
    """Return what the command line says of the programs and of what they are checked against."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("language", choices=languages)
    parser.add_argument("root", type=Path)
    parser.add_argument("--part", choices=PARTS, default="worked", help="of the programs")
    parser.add_argument("--list", action="store_true", help="show what is missed")
    parser.add_argument("--cache", default="", help="folder of the local cache")
    parser.add_argument("--engines", default="", help="folder of the engines, or none")
    return parser.parse_args()


def main() -> int:
    """Run the measure."""
    options = options_of(__doc__, "typescript", "python", "rust")
    with opened(options.language, options.root, options.cache, options.engines) as docs:
        print(measure(docs, options.language, options.part, listed=options.list))
    return 0


if __name__ == "__main__":
    sys.exit(main())
