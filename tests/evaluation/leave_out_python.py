"""What each part of our own Python reader is worth: it is left out, and the programs are checked.

The engine is asked once for each program and its answers are kept, so that a table takes minutes::

    PYTHONPATH=tests python -m evaluation.leave_out_python DIR --cache CACHE --engines ENGINES

``DIR`` is as for :mod:`evaluation.programs`, with the packages of its second programs. Each line
is a part that is left out, with what is found of these programs with the engine and without.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from docstow import Docs
from docstow.core.settings import Settings
from docstow.languages.python import check
from docstow.languages.python.check.annotations import Annotations
from docstow.languages.python.check.bodies import Bodies
from docstow.languages.python.check.inference import Inference
from docstow.languages.python.check.local_classes import LocalClasses
from docstow.languages.python.check.members import Members
from docstow.languages.python.surface import PythonSurface
from docstow.languages.shared.engines import Engines
from docstow.languages.shared.language_server import LanguageServer
from evaluation.programs import measure

_CHECKER = check._Checker
_NOTHING: Callable[..., Any] = lambda *_, **__: None  # noqa: E731
_NO: Callable[..., Any] = lambda *_, **__: False  # noqa: E731
_YES: Callable[..., Any] = lambda *_, **__: True  # noqa: E731
_EMPTY: Callable[..., Any] = lambda *_, **__: ""  # noqa: E731
Patch = tuple[Any, str, Callable[..., Any]]
PARTS: dict[str, list[Patch]] = {
    "nothing": [],
    "what values are (inference, annotations, members)": [(Inference, "infer", _NOTHING)],
    "annotations": [(Annotations, "read", _NOTHING)],
    "members of values": [(_CHECKER, "_check_member", _NOTHING)],
    "types of the code's own classes": [
        (LocalClasses, "attribute", _NOTHING),
        (LocalClasses, "call_method", _NOTHING),
    ],
    "arguments of methods of values": [(_CHECKER, "_member_path", _EMPTY)],
    "all arguments": [(_CHECKER, "_call", _NOTHING)],
    "type variables": [(Annotations, "unify", _NOTHING)],
    "values of variables": [(Inference, "_variable", _NOTHING)],
    "functions without annotations": [(Bodies, "returned", _NOTHING)],
    "attributes without annotations": [(Bodies, "attribute", _NOTHING)],
    "`__new__` without annotations": [(Members, "_makes_own", _NO)],
    "keywords below decorators": [(_CHECKER, "_keyword_of_nobody", _NOTHING)],
    "words of packages": [
        (PythonSurface, "mentions", _YES),
        (PythonSurface, "may_be_given", _YES),
    ],
    "decorators of packages": [(Members, "makes_identity_decorator", _NO)],
}


_answers: dict[tuple[object, ...], Any] = {}


class _Recorded:
    """A server that is asked nothing twice."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._code = self._asked = ("", "", "")

    def judge(self, *code: str) -> Any:
        self._code = code  # type: ignore[assignment]
        return self._ask("judge", lambda: self._server.judge(*code))

    def signatures(self, *place: int) -> Any:
        return self._ask("signatures", lambda: self._server.signatures(*place), *place)

    def declared(self, *place: int) -> Any:
        return self._ask("declared", lambda: self._server.declared(*place), *place)

    def _ask(self, what: str, ask: Callable[[], Any], *place: int) -> Any:
        key = (what, self._code, *place)
        if key not in _answers:
            if what != "judge" and self._asked != self._code:
                self._server.judge(*self._code)
            self._asked = self._code
            _answers[key] = ask()
        return _answers[key]


_at_work = Engines.at_work


@contextmanager
def _recorded(*arguments: Any) -> Iterator[list[_Recorded]]:
    with _at_work(*arguments) as servers:
        yield [_Recorded(each) for each in servers]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--cache", default="", help="folder of the local cache")
    parser.add_argument("--engines", default="", help="folder of the engines")
    options = parser.parse_args()
    print("| left out | with the engine | without it |\n| --- | --- | --- |", flush=True)
    roots = (str(options.root),)
    with mock.patch.object(Engines, "at_work", _recorded):
        for title, patches in PARTS.items():
            figures = []
            for engines in (options.engines, "none"):
                settings = Settings(root=roots, offline=True, cache=options.cache, engines=engines)
                with Docs(settings) as docs:
                    docs.verify("import sys\n", "python")
                    patched = [mock.patch.object(*each) for each in patches]
                    for each in patched:
                        each.start()
                    line = measure(docs, "python", "second")
                    for each in patched:
                        each.stop()
                figures.append(line.partition(": ")[2].rpartition("; ")[0])
            print(f"| {title} | {' | '.join(figures)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
