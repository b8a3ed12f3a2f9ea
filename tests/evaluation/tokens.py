"""What an agent reads until it has the answer: ``python -m evaluation.tokens STORE CACHE ROOT``.

Each question of ``tokens.jsonl`` has the decisive phrase of its answer, or several of which one is
enough. Those with an id were written from the docs, and the hash of the id says which are held out:
``--held-out`` asks these alone, and nothing else asks them. Those without an id are older. ``in``
is a stowed crate, a package of the project ROOT, or a part of the address of a stowed source. A
token is four characters.

Ways: ``snippets`` searches for snippets, then opens the hits in their order; ``passages`` searches
for whole passages and item docs, then opens what is left; ``ask`` asks everything that the project
uses, with the name of what is asked about, then goes on as ``passages``. An answer that is not
there after the hits are opened counts as missed, and costs what was read.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from docstow.core.settings import load
from docstow.languages import LANGUAGES
from docstow.runtime import Runtime

QUESTIONS = Path(__file__).with_name("tokens.jsonl")
WAYS = ("snippets", "passages", "ask")
#: Hits, or further pages of passages, that are read before an agent gives up.
_OPENED = 2
#: What stands where docs are cut.
_CUT = "[…]"


class Reader:
    """An agent that reads answers until one has the fact."""

    def __init__(self, runtime: Runtime, question: Mapping[str, Any]) -> None:
        self._runtime = runtime
        self._question = question
        fact = question["fact"]
        self._facts = [plain(each) for each in ([fact] if isinstance(fact, str) else fact)]
        self.shown: list[str] = []
        self._sources = {
            each.id: each.uri
            for each in runtime.registry.all()
            if question["in"] in each.uri and runtime.prose.newest(each) is not None
        }

    def read(self, way: str) -> tuple[int, int, bool]:
        """Return tokens read, calls made, and whether the fact was there."""
        characters = calls = 0
        self.shown = []
        for text in self._answers(way):
            characters += len(text)
            calls += 1
            if self._has_fact(text):
                return characters // 4, calls, True
        return characters // 4, calls, False

    def _answers(self, way: str) -> Iterator[str]:
        if way == "ask":
            yield self._call(
                "ask", question=f"{self._question['in']}: {self._question['question']}"
            )
        budget = {"max_tokens": 0} if way == "snippets" else {}
        search, arguments = self._search()
        found = self._call(search, **arguments, **budget)
        yield found
        if search == "search_docs" and way != "snippets":
            while (cursor := json.loads(found)["cursor"]) and len(self.shown) < _OPENED:
                self.shown.append(cursor)
                found = self._call(search, **arguments, cursor=cursor)
                yield found
            return
        results = json.loads(found)["results"]
        for hit in results:
            if search == "search_docs":
                yield self._call("get_chunk", chunk_id=hit["chunk_id"])
            elif hit.get("text", _CUT).endswith(_CUT):
                where = {
                    key: arguments[key]
                    for key in ("package", "crate", "language")
                    if key in arguments
                }
                yield self._call(
                    "get_item_doc", item_path=hit["item_path"], max_tokens=2000, **where
                )

    def _search(self) -> tuple[str, dict[str, Any]]:
        query = {"query": self._question["question"]}
        if self._sources:
            return "search_docs", {**query, "sources": list(self._sources)}
        language = {"language": self._question["language"]} if "language" in self._question else {}
        return "search_items", {**query, "crate": self._question["in"], **language}

    def is_answered(self) -> bool:
        """Return whether the docs have the fact at all."""
        if self._sources:
            found = [
                self._runtime.prose.newest(self._runtime.registry.get(e)) for e in self._sources
            ]
            indexes = [self._runtime.prose.index(each) for each in found if each is not None]
        else:
            language = LANGUAGES[self._question.get("language", "rust")]
            library = self._runtime.library
            name = self._question["in"]
            of = library.package(language, name) if language.packaged else library.crate(name)
            indexes = [library.index(of.snapshot)]
        return any(
            self._has_fact(f"{each.path} {each.signature} {each.text}")
            for index in indexes
            for each in index.documents()
        )

    def _has_fact(self, text: str) -> bool:
        said = plain(text)
        return any(fact in said for fact in self._facts)

    @property
    def kind(self) -> str:
        """What is asked: ``pages``, or the language of a package."""
        return "pages" if self._sources else str(self._question.get("language", "rust"))

    def _call(self, tool: str, **arguments: Any) -> str:
        return self._runtime.toolbox.call(tool, arguments).render()


def plain(text: str) -> str:
    """Return a text, or the strings of an answer, in small letters without marks and breaks."""
    with contextlib.suppress(ValueError):
        text = " ".join(_strings(json.loads(text)))
    return " ".join(text.replace("`", "").replace("*", "").casefold().split())


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():  # names of members are no text
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    elif isinstance(value, str):
        yield value


def part_of(question: Mapping[str, Any]) -> str:
    """Return ``older``, ``development`` or ``held out``."""
    if "id" not in question:
        return "older"
    digest = hashlib.sha256(question["id"].encode()).digest()
    return "held out" if digest[0] % 2 else "development"


def report(name: str, read: Sequence[tuple[int, int, bool]]) -> str:
    """Return a row: answers in the first call and at all, tokens and calls."""
    tokens = [each[0] for each in read]
    first = sum(each[1] == 1 and each[2] for each in read)
    return (
        f"| {name} | {len(read)} | {first} | {sum(each[2] for each in read)} "
        f"| {statistics.mean(tokens):.0f} | {statistics.median(tokens):.0f} "
        f"| {statistics.mean(each[1] for each in read):.2f} |"
    )


def main(store: str, cache: str, root: str, *options: str) -> None:
    """Print the table of each part, way and kind of source."""
    questions = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    held_out = "--held-out" in options
    questions = [each for each in questions if (part_of(each) == "held out") == held_out]
    flags = {"store": store, "cache": cache, "root": root}
    rows: dict[str, list[tuple[int, int, bool]]] = {}
    with contextlib.closing(Runtime(load(flags, {}))) as runtime:
        for question in questions:
            reader = Reader(runtime, question)
            if not reader.is_answered():
                print(f"left out, as the docs do not have it: {question['fact']}")
                continue
            for way in WAYS:
                read = reader.read(way)
                for kind in ("all", reader.kind):
                    rows.setdefault(f"{part_of(question)}, {kind}, {way}", []).append(read)
    print("| part, kind, way | questions | in the first call | found | mean | median | calls |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in sorted(rows):
        print(report(name, rows[name]))


if __name__ == "__main__":
    main(*sys.argv[1:])
