"""A loopback service of JSON: answers by path and query, for those who send the right token."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from servers.loopback import Handler, Loopback

TOKEN = "Bearer let-me-in"


class JsonService(Loopback):
    """A server of JSON objects, and of pages for anybody; a context manager.

    Args:
        answers: by path with query; changed by a test as a service's data change.
        pages: HTML by path.
    """

    def __init__(self, answers: Mapping[str, Any], pages: Mapping[str, str] | None = None) -> None:
        super().__init__(self._answer_by_path)
        self.answers = dict(answers)
        self.pages = dict(pages or {})

    @property
    def asked(self) -> list[str]:
        """The paths of all requests so far, without queries."""
        return [request.path for request in self.requests]

    def _answer_by_path(self, handler: Handler) -> None:
        if (page := self.pages.get(handler.place)) is not None:
            handler.reply(200, page.encode(), {"Content-Type": "text/html"})
        elif handler.path not in self.answers:
            handler.reply(404, b"{}")
        elif handler.headers.get("Authorization") != TOKEN:
            handler.reply(401, b"{}")
        else:
            body = json.dumps(self.answers[handler.path]).encode()
            handler.reply(200, body, {"Content-Type": "application/json"})
