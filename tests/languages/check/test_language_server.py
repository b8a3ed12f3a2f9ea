"""Language servers that behave badly: each judgement ends, and the next one has another server."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from docstow.core.errors import InternalError, TooLarge
from docstow.languages.shared.language_server import LanguageServer, Offer

#: Reads messages, and answers each request by what the code of the open document says.
SERVER = r"""
import json, os, sys, threading
text, waiting, held = "", [], []
def read(reply=False):
    for each in waiting if not reply else ():
        waiting.remove(each)
        return each
    while reply and (message := receive()).get("id") != "asked":
        waiting.append(message)
    return message if reply else receive()
def receive():
    length = 0
    while (line := sys.stdin.buffer.readline()) not in (b"\r\n", b""):
        if line.lower().startswith(b"content-length"):
            length = int(line.split(b":")[1])
    body = sys.stdin.buffer.read(length)
    return json.loads(body) if body else None
def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()
while (message := read()) is not None:
    given = message.get("params") or {}
    if message["method"] == "textDocument/didOpen":
        text = given["textDocument"]["text"]
    elif message["method"] == "textDocument/didChange":
        text = given["contentChanges"][0]["text"]
    if "id" not in message:
        continue
    if message["method"] == "completionItem/resolve":
        held.append(message)
        if len(held) == given["together"]:
            for each in reversed(held):
                told = {"detail": each["params"]["label"], "documentation": "first\n\nsecond"}
                send({"id": each["id"], "result": told})
            held.clear()
        continue
    if "hang" in text:
        threading.Event().wait()
    if "end" in text:
        os._exit(3)
    if "lie" in text:
        sys.stdout.buffer.write(b"Content-Length: 99999999999\r\n\r\n"); sys.stdout.buffer.flush()
    send({"id": "asked", "method": "workspace/configuration", "params": {"items": [{}, {}]}})
    answer = read(reply=True)
    assert answer["result"] == [None, None], answer
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
    said = [{"range": place, "code": "1", "message": text}]
    send({"id": message["id"], "result": {"items": said, "capabilities": {}}})
"""


def start(folder: Path, wait_s: float = 30.0) -> LanguageServer:
    for name in ("code", "home"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "code" / "server.py").write_text(SERVER)
    python = Path(sys.executable).resolve()
    return LanguageServer(
        [str(python), "-I", "-S", str(folder / "code" / "server.py")],
        folder / "code",
        folder / "home",
        reads=[Path(sys.base_prefix)],
        settings={},
        options={},
        wait_s=wait_s,
    )


def test_one_server_judges_one_piece_of_code_after_another(tmp_path: Path) -> None:
    server = start(tmp_path)
    try:
        for code in ("first", "second"):
            assert [each.message for each in server.judge("a.py", "python", code)] == [code]
        assert [each.message for each in server.judge("b.py", "python", "third")] == ["third"]
        assert server.is_running
    finally:
        server.end()


def test_a_server_judges_while_its_client_does_something_else(tmp_path: Path) -> None:
    server = start(tmp_path)
    try:
        for code in ("first", "second"):
            server.begin("a.py", "python", code)
        # Nobody has asked for the first.
        assert [each.message for each in server.judged()] == ["second"]
    finally:
        server.end()


@pytest.mark.parametrize(
    ("code", "wait_s", "error"),
    [("hang", 0.5, TooLarge), ("end", 30.0, InternalError), ("lie", 30.0, InternalError)],
)
def test_what_fails_ends(tmp_path: Path, code: str, wait_s: float, error: type[Exception]) -> None:
    server = start(tmp_path, wait_s)
    try:
        with pytest.raises(error):
            server.judge("a.py", "python", code)
        assert not server.is_running
    finally:
        server.end()


def test_names_are_described_together_whatever_the_order_of_the_answers(tmp_path: Path) -> None:
    together = [8] * 8 + [8] * 8 + [4] * 4
    offers = [
        Offer(item={"label": str(number), "together": each}) for number, each in enumerate(together)
    ]
    server = start(tmp_path)
    try:
        assert server.described(offers) == [(str(each), "first") for each in range(20)]
    finally:
        server.end()
