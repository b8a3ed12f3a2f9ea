"""A client of language servers, which judge code as it is typed.

The protocol is the Language Server Protocol 3.17 over pipes. One document is open at a time; each
judgement has a deadline, after which the server is killed.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docstow.core import confined
from docstow.core.errors import InternalError, TooLarge

#: Of computing in a server's whole life; it is started again thereafter.
_CPU_S = 600
#: Of data that a server may have.
_MEMORY_BYTES = 2 * 1024**3
#: A server that has closed its pipe has so many seconds to say how it ended.
_ENDING_S = 1.0
#: The number of the first request.
_INTRODUCTION = 1
_LONGEST_MESSAGE = 64 * 1024**2
#: Requests that wait for an answer at the same time.
_MOST_AT_ONCE = 8
_PARAMETER = re.compile(r"\*{0,2}\w+")
#: The kinds of a word that a server knows; the protocol has words for them.
_KINDS = (
    *("namespace", "class", "enum", "interface", "typeParameter", "type", "parameter", "variable"),
    *("property", "enumMember", "function", "method", "selfParameter", "clsParameter", "keyword"),
    *("string", "number", "decorator", "builtinConstant", "operator", "regexp"),
)


#: Numbers that the protocol has for methods, functions, constructors and classes, and for what is
#: deprecated.
_CALLABLE, _OUTDATED = frozenset({2, 3, 4, 7}), 1


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """What a server says of a place in the code.

    Attributes:
        line: from 0.
        start: the first byte of the place in its line.
        end: the byte after it, or after the line if it ends in another.
        code: of the rule.
        message: for people.
    """

    line: int
    start: int
    end: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the code whose meaning a server knows."""

    line: int
    start: int
    kind: str


@dataclass(frozen=True, slots=True)
class Offer:
    """A name that may stand at a place.

    Attributes:
        is_callable: it is a function, a method or a class.
        is_outdated: its maintainers advise against it.
        item: it, as the server says it.
    """

    is_callable: bool = False
    is_outdated: bool = False
    item: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


def memory_of(pid: int) -> int:
    """Return the bytes that a process has of the machine's memory; 0 where no system tells."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


class LanguageServer:
    """A server that judges one document. It is no more than one thread's at a time.

    Args:
        program: its path and arguments.
        folder: what it works in; the document lies there, unwritten.
        home: an empty folder.
        reads: further folders that it may read.
        settings: variables of its environment.
        options: what it is told when it begins.
        wait_s: how long one judgement may take.
    """

    def __init__(
        self,
        program: Sequence[str],
        folder: Path,
        home: Path,
        *,
        reads: Sequence[Path],
        settings: Mapping[str, str],
        options: Mapping[str, Any],
        wait_s: float,
    ) -> None:
        allowed = [str(each) for each in (folder, home, *reads)]
        self._wait_s = wait_s
        self._number = 0
        self._opened: str = ""
        self._version = 0
        self._judging = 0
        self._legend: Sequence[str] = ()
        self._popen = subprocess.Popen(  # noqa: S603
            confined.command(program, reads=allowed, memory_bytes=_MEMORY_BYTES, cpu_s=_CPU_S),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=confined.environment(str(home), settings),
            start_new_session=True,
        )
        self._folder = folder
        self._options = options

    @property
    def pid(self) -> int:
        """The id of its process."""
        return self._popen.pid

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._popen.poll() is None

    def judge(self, name: str, language: str, code: str) -> list[Diagnostic]:
        """Return what it says of a piece of code; the parameters are those of :meth:`begin`."""
        self.begin(name, language, code)
        return self.judged()

    def begin(self, name: str, language: str, code: str) -> None:
        """Have it judge a piece of code while the caller does something else.

        Args:
            name: of the file that it would be.
            language: as the protocol calls it.
            code: all of it.

        Raises:
            TooLarge: it took too long, and was ended.
            InternalError: it ended for another reason; another server may do better.
        """
        uri = (self._folder / name).as_uri()
        with self._deadline():
            if not self._number:
                self._introduce()
            if self._opened and self._opened != uri:
                closed = {"textDocument": {"uri": self._opened}}
                self._notify("textDocument/didClose", closed)
                self._opened = ""
            self._version += 1
            document = {"uri": uri, "version": self._version}
            if self._opened:
                changed = {"textDocument": document, "contentChanges": [{"text": code}]}
                self._notify("textDocument/didChange", changed)
            else:
                opened = {**document, "languageId": language, "text": code}
                self._notify("textDocument/didOpen", {"textDocument": opened})
                self._opened = uri
            self._judging = self._request("textDocument/diagnostic", {"textDocument": {"uri": uri}})

    def replace(self, code: str) -> None:
        """Have it take another piece of code for the one that it was given, without a judgement."""
        with self._deadline():
            self._version += 1
            document = {"uri": self._opened, "version": self._version}
            changed = {"textDocument": document, "contentChanges": [{"text": code}]}
            self._notify("textDocument/didChange", changed)

    def judged(self) -> list[Diagnostic]:
        """Return what it says of the code that it was given last.

        Raises:
            TooLarge: it took too long, and was ended.
            InternalError: it ended for another reason; another server may do better.
        """
        with self._deadline():
            found = self._answers([self._judging])[0] or {}
        return [_diagnostic(each) for each in found.get("items", ())]

    def words(self) -> list[Word]:
        """Return the words of the code whose meaning it knows."""
        with self._deadline():
            asked = {"textDocument": {"uri": self._opened}}
            found = self._ask("textDocument/semanticTokens/full", asked) or {}
        data, words, line, start = found.get("data") or [], [], 0, 0
        for at in range(0, len(data) - 4, 5):
            start = data[at + 1] + (0 if data[at] else start)
            line += data[at]
            kind = data[at + 3]
            words.append(Word(line, start, self._legend[kind] if kind < len(self._legend) else ""))
        return words

    def members(self, line: int, start: int) -> dict[str, Offer]:
        """Return the names that may stand at a place, and what they are."""
        with self._deadline():
            found = self._ask("textDocument/completion", self._at(line, start)) or {}
        items = found.get("items", ()) if isinstance(found, dict) else found
        return {
            str(each.get("label", "")).rstrip("?"): Offer(
                is_callable=each.get("kind") in _CALLABLE,
                is_outdated=_OUTDATED in (each.get("tags") or ()),
                item=each,
            )
            for each in items
        }

    def described(self, offers: Sequence[Offer]) -> list[tuple[str, str]]:
        """Return how names are declared, and what their docs say first; empty where none tell."""
        answers = []
        with self._deadline():
            # So few at once that neither side waits for the other to read.
            for start in range(0, len(offers), _MOST_AT_ONCE):
                numbers = [
                    self._request("completionItem/resolve", each.item)
                    for each in offers[start : start + _MOST_AT_ONCE]
                ]
                answers += self._answers(numbers)
        return [_description(each or {}) for each in answers]

    def signatures(self, line: int, start: int) -> list[list[str]]:
        """Return the parameters of each form in which the call around a place can be made.

        A parameter is its name, with the stars before it where it takes any number.
        """
        with self._deadline():
            found = self._ask("textDocument/signatureHelp", self._at(line, start)) or {}
        return [
            [match[0] for each in one.get("parameters") or () if (match := _named(each))]
            for one in found.get("signatures", ())
        ]

    def declared(self, line: int, start: int) -> list[tuple[Path, int]]:
        """Return the files and lines, from 0, in which the type of a place is declared."""
        from urllib.parse import urlsplit
        from urllib.request import url2pathname

        with self._deadline():
            found = self._ask("textDocument/typeDefinition", self._at(line, start)) or []
        return [
            (
                Path(url2pathname(urlsplit(str(each["uri"])).path)),
                int(each["range"]["start"]["line"]),
            )
            for each in (found if isinstance(found, list) else [found])
            if str(each.get("uri", "")).startswith("file:")
        ]

    def shown(self, line: int, start: int) -> str:
        """Return what it shows of a place, as Markdown; empty where it shows nothing."""
        with self._deadline():
            found = self._ask("textDocument/hover", self._at(line, start)) or {}
        contents = found.get("contents")
        return str(contents.get("value", "")) if isinstance(contents, dict) else ""

    def end(self) -> None:
        """Kill it, whatever it does."""
        self._popen.kill()
        self._popen.wait()
        for pipe in (self._popen.stdin, self._popen.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _at(self, line: int, start: int) -> dict[str, Any]:
        position = {"line": line, "character": start}
        return {"textDocument": {"uri": self._opened}, "position": position}

    def _introduce(self) -> None:
        """Tell it what it needs to know; what it answers is read before its next answer."""
        tokens = {
            "requests": {"full": True},
            "tokenTypes": _KINDS,
            "tokenModifiers": [],
            "formats": ["relative"],
        }
        abilities = {
            "textDocument": {"diagnostic": {}, "semanticTokens": tokens, "typeDefinition": {}},
            "general": {"positionEncodings": ["utf-8"]},
        }
        uri = self._folder.as_uri()
        self._request(
            "initialize",
            {
                # The namespace of processes may be another one; the end of the pipe says it, too.
                "processId": None,
                "rootUri": uri,
                "workspaceFolders": [{"uri": uri, "name": "code"}],
                "capabilities": abilities,
                "initializationOptions": self._options,
            },
        )
        self._notify("initialized", {})

    def _deadline(self) -> _Deadline:
        return _Deadline(self._popen, self._wait_s)

    def _ask(self, method: str, parameters: Mapping[str, Any]) -> Any:
        return self._answers([self._request(method, parameters)])[0]

    def _request(self, method: str, parameters: Mapping[str, Any]) -> int:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": parameters})
        return self._number

    def _answers(self, numbers: Sequence[int]) -> list[Any]:
        """Return the results of requests, which may be answered in any order."""
        results: dict[int, Any] = {}
        while len(results) < len(numbers):
            message = self._receive()
            if "method" in message:
                if "id" in message:
                    self._send({"id": message["id"], "result": _reply(message)})
                continue
            result = message.get("result")
            if message.get("id") == _INTRODUCTION:
                provider = (result or {}).get("capabilities", {}).get("semanticTokensProvider")
                self._legend = (provider or {}).get("legend", {}).get("tokenTypes", ())
            if message.get("id") in numbers:
                results[message["id"]] = result
        return [results[each] for each in numbers]

    def _notify(self, method: str, parameters: Mapping[str, Any]) -> None:
        self._send({"method": method, "params": parameters})

    def _send(self, message: Mapping[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._popen.stdin is not None
        try:
            self._popen.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            self._popen.stdin.flush()
        except OSError as error:
            raise _Ended from error

    def _receive(self) -> dict[str, Any]:
        stdout = self._popen.stdout
        assert stdout is not None
        length = 0
        while (line := stdout.readline(1000)) not in (b"\r\n", b"\n"):
            if not line:
                raise _Ended
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                length = int(value)
        if not 0 < length <= _LONGEST_MESSAGE:
            raise ValueError(f"a message of {length} bytes")
        body = stdout.read(length)
        if len(body) < length:
            raise _Ended
        message: dict[str, Any] = json.loads(body)
        return message


def _description(item: Mapping[str, Any]) -> tuple[str, str]:
    """Return the declaration of an item and the first paragraph of its docs."""
    told = item.get("documentation") or ""
    text = told.get("value", "") if isinstance(told, dict) else told
    return str(item.get("detail") or ""), str(text).strip().partition("\n\n")[0]


class _Ended(Exception):
    """The server's pipe ended."""


class _Deadline:
    """Kills a server that takes too long, and says why it ended."""

    def __init__(self, popen: subprocess.Popen[bytes], wait_s: float) -> None:
        self._popen = popen
        self._wait_s = wait_s
        self._timer = threading.Timer(wait_s, self._kill)
        self._timer.daemon = True
        self._is_over = False

    def _kill(self) -> None:
        self._is_over = True
        self._popen.kill()

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        self._timer.cancel()
        if kind is None:
            return
        with suppress(subprocess.TimeoutExpired):
            self._popen.wait(_ENDING_S if issubclass(kind, _Ended) else 0)
        self._popen.kill()
        status = self._popen.wait()
        if self._is_over:
            raise TooLarge(
                f"The engine took more than {self._wait_s:g} seconds for this code, and was ended.",
                limit=int(self._wait_s),
            )
        if issubclass(kind, (_Ended, ValueError, KeyError)):
            raise InternalError(f"The engine ended with status {status}.")


def _reply(message: Mapping[str, Any]) -> Any:
    """Answer what a server asks: it gets no settings but those that it was begun with."""
    if message["method"] == "workspace/configuration":
        return [None for _ in message.get("params", {}).get("items", ())]
    return None


def _named(parameter: Mapping[str, Any]) -> re.Match[str] | None:
    return _PARAMETER.match(str(parameter.get("label", "")))


def _diagnostic(said: Mapping[str, Any]) -> Diagnostic:
    start, end = said["range"]["start"], said["range"]["end"]
    until = end["character"] if end["line"] == start["line"] else 1 << 30
    code, message = str(said.get("code", "")), str(said.get("message", ""))
    return Diagnostic(start["line"], start["character"], until, code, message)
