"""A loopback hub of models: ``/{id}/resolve/{revision}/{file}`` over a folder, with ranges."""

from __future__ import annotations

import re
from pathlib import Path

from servers.loopback import Handler, Loopback, part_of

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(Loopback):
    """Serves ``folder/{id}/{file}`` at the branch ``main`` and at :data:`COMMIT`.

    Args:
        folder: holds a folder a model.
        commits: name the commit in each answer, as the real hub does.
    """

    def __init__(self, folder: Path, *, commits: bool = True) -> None:
        super().__init__(self._serve)
        self._models = folder
        self._headers = {"X-Repo-Commit": COMMIT} if commits else {}

    def _serve(self, handler: Handler) -> None:
        match = re.fullmatch(rf"/([^/]+/[^/]+)/resolve/(?:main|{COMMIT})/(.+)", handler.place)
        path = self._models / match[1] / match[2] if match else self._models / "none"
        if not path.is_file():
            handler.reply(404, b"Entry not found")
            return
        body = path.read_bytes()
        part_of(handler, body, {"ETag": f'"{len(body)}"', **self._headers})
