"""A loopback embeddings API: a vector a text, made of the text's own letters."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from servers.loopback import Handler, Loopback

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def letters(text: str) -> list[float]:
    """How often each letter occurs in a text."""
    counts = Counter(text.lower())
    return [float(counts[letter]) for letter in LETTERS]


class Embeddings(Loopback):
    """The API at ``/v1/embeddings`` for the model ``letters``.

    Args:
        key: the bearer token that is asked for; empty for none.
    """

    def __init__(self, key: str = "") -> None:
        super().__init__(self._answer)
        self.key = key
        self.width = len(LETTERS)

    def inputs(self) -> list[Sequence[str]]:
        """The texts of every request so far."""
        return [json.loads(request.body)["input"] for request in self.requests]

    def _answer(self, handler: Handler) -> None:
        asked = json.loads(handler.asked.body)
        if self.key and handler.headers.get("Authorization") != f"Bearer {self.key}":
            handler.reply(401, b'{"error": {"message": "Incorrect API key"}}')
        elif (handler.place, asked["model"]) != ("/v1/embeddings", "letters"):
            handler.reply(404, b'{"error": {"message": "no such model"}}')
        else:
            rows: list[dict[str, Any]] = [
                {"object": "embedding", "index": index, "embedding": letters(text)[: self.width]}
                for index, text in enumerate(asked["input"])
            ]
            body = json.dumps({"object": "list", "data": rows[::-1], "model": "letters"})
            handler.reply(200, body.encode(), {"Content-Type": "application/json"})
