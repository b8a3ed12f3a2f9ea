"""Error messages of Python and its type checkers, and what Python code imports."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence

from docstow.core.patterns import lazy_pattern
from docstow.languages.shared.language import QUOTED, ErrorMessageFormat, Mention, Texts

_MARKS = lazy_pattern(
    r"^Traceback \(most recent call last\)|^(?:E\s+)?(?:\w+\.)*"
    r"(?:ModuleNotFoundError|ImportError|AttributeError|TypeError): "
    # mypy and Pyright end, or begin, so.
    r"|: error: .* \[(?:import|attr)-\w+(?:-\w+)?\]$"
    r"|- error: .*\b(?:could not be resolved|report[A-Z]\w+\)$)",
    re.MULTILINE,
)
_NO_MODULE = lazy_pattern(
    r"(?:[Nn]o module named|library stub for module named|library stubs not installed for) "
    rf'{QUOTED}|error: Import "([\w.]+)" could not be resolved'
)
_NO_NAME = lazy_pattern(
    r"cannot import name " + QUOTED + r" from (?:partially initialized module )?" + QUOTED
)
_NO_ATTRIBUTE = lazy_pattern(r"[Mm]odule " + QUOTED + r" has no attribute " + QUOTED)
_NOT_OF_MODULE = lazy_pattern(rf"{QUOTED} is not a known attribute of module {QUOTED}")
#: What an object lacks, as Python, mypy and Pyright say it.
_NO_MEMBER = lazy_pattern(
    rf"{QUOTED} (?:object )?has no attribute {QUOTED}"
    r"|attribute \"(\w+)\" for class \"([\w.]+)\""
)
_CALLED = lazy_pattern(
    r"TypeError: ([\w.]+)\(\) (?:got an unexpected keyword|got multiple|missing \d|takes )"
)
_IMPORTED = lazy_pattern(r"^\W*from ([\w.]+) import (.+)")
#: Shorter names that stand before a dot are what imports are renamed to.
_SHORTEST = 4
_FRAME = lazy_pattern(r"(?:site|dist)-packages[/\\]([A-Za-z_]\w*)")
_IMPORTS = lazy_pattern(
    r"^[ \t]*(?:>>> |\.\.\. |In \[\d+\]: )?"
    r"(?:from[ \t]+([A-Za-z_][\w.]*)[ \t]+(?:\\\n[ \t]*)?import\b"
    r"|import[ \t]+([A-Za-z_][\w.]*(?:[ \t]+as[ \t]+\w+)?"
    r"(?:[ \t]*,[ \t]*[A-Za-z_][\w.]*(?:[ \t]+as[ \t]+\w+)?)*)"
    r"(?:[ \t]+as)?[ \t]*,?[ \t]*(?:[#;].*)?$)",
    re.MULTILINE,
)
_CODE = lazy_pattern(
    r"^[ \t]*(import [\w.]+|from [\w.]+ import|def \w+\(.*\).*:|class \w+.*:|>>> )", re.MULTILINE
)


def mentions(lines: Sequence[str]) -> Iterator[Mention]:
    """Yield the names that the lines of a message speak of."""
    for number, line in enumerate(lines, 1):
        for either in _NO_MODULE.findall(line):
            package, *names = "".join(either).split(".")
            yield Mention(package, tuple(names), number)
        for name, module in _NO_NAME.findall(line):
            package, *names = module.split(".")
            yield Mention(package, (*names, name), number)
        for module, name in _NO_ATTRIBUTE.findall(line):
            package, *names = module.split(".")
            yield Mention(package, (*names, name), number)
        for name, module in _NOT_OF_MODULE.findall(line):
            package, *names = module.split(".")
            yield Mention(package, (*names, name), number)
        for owner, name, other, its in _NO_MEMBER.findall(line):
            if " " not in (owner or its):
                yield from _of_object(owner or its, (name or other,), lines, number)
        for called in _CALLED.findall(line):
            yield from _of_object(called.removesuffix(".__init__"), (), lines, number)
        for package in _FRAME.findall(line):
            yield Mention(package, (), number)


def _of_object(
    owner: str, below: tuple[str, ...], lines: Sequence[str], number: int
) -> Iterator[Mention]:
    """Yield what a class or function lacks, where code in the message shows whose it is."""
    first, *others = owner.split(".")
    before = re.compile(rf"(?<![\w.])((?:\w+\.)+){re.escape(owner)}\b")
    for line in lines:
        imported = _IMPORTED.match(line)
        named = re.findall(r"\w+", imported[2]) if imported is not None else ()
        if imported is not None and first in named:
            package, *names = imported[1].split(".")
            yield Mention(package, (*names, first, *others, *below), number)
            return
    modules = (
        match[1] for line in lines if "Error: " not in line for match in before.finditer(line)
    )
    for module in modules:
        package, *names = module.rstrip(".").split(".")
        if len(package) >= _SHORTEST and package not in {"self", "super"}:
            yield Mention(package, (*names, first, *others, *below), number)
            return
    if others and below:  # compiled classes say whose they are: ``numpy.ndarray``
        yield Mention(first, (*others, *below), number)


def _is_package(name: str) -> bool:
    return name.partition(".")[0] not in sys.stdlib_module_names


TEXTS = Texts(
    messages=(ErrorMessageFormat("python", _MARKS, mentions),),
    imports=_IMPORTS,
    is_package=_is_package,
    code=_CODE,
)
