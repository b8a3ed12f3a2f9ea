"""A loopback server of files and knowledge bases that answers as Open WebUI's routers do.

backend/open_webui/routers/{knowledge,files}.py of github.com/open-webui/open-webui: lists come in
pages of 30, files are processed in the background, a knowledge base takes each text once, and what
the API does not know is answered by the application's page.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any
from urllib.parse import parse_qs, urlsplit

from servers.loopback import Handler, Loopback

TOKEN = "sk-let-me-in"
_PAGE = 30


class OpenWebUi(Loopback):
    """A server with one user; a context manager.

    Args:
        paged: whether lists come in pages; in older releases they come whole, and files are
            processed while they are uploaded.

    Attributes:
        bases: knowledge bases by id: ``name``, ``access``, and ``files``, ids in order.
        files: by id.
        polls: how often a file is still being processed when its status is asked for.
        broken: names of files that cannot be processed.
    """

    def __init__(self, *, paged: bool = True) -> None:
        super().__init__(self._answer)
        self.paged = paged
        self.bases: dict[str, dict[str, Any]] = {}
        self.files: dict[str, dict[str, Any]] = {}
        self.polls = 1
        self.broken: set[str] = set()
        self._waited: dict[str, int] = {}

    def add_base(self, name: str, *, writable: bool = True) -> str:
        """Make a knowledge base, as a person does."""
        identity = str(uuid.uuid4())
        self.bases[identity] = {"name": name, "files": [], "write_access": writable}
        return identity

    def add_file(self, base: str, name: str, text: str) -> str:
        """Put a file into a knowledge base, as a person does."""
        identity = self._store(name, text, None)
        self.files[identity]["data"]["status"] = "completed"
        self.bases[base]["files"].append(identity)
        return identity

    def texts(self, base: str) -> dict[str, str]:
        """The texts of a knowledge base by the names of files."""
        held = (self.files[each] for each in self.bases[base]["files"])
        return {each["filename"]: each["text"] for each in held}

    def _store(self, name: str, text: str, metadata: Any) -> str:
        identity = str(uuid.uuid4())
        meta = {"name": name, "content_type": "text/markdown", "size": len(text), "data": metadata}
        data = {"status": "pending"} if self.paged else {}
        self.files[identity] = {"filename": name, "text": text, "meta": meta, "data": data}
        return identity

    def _shown(self, identity: str) -> dict[str, Any]:
        file = self.files[identity]
        return {
            "id": identity,
            "user_id": "u1",
            "filename": file["filename"],
            "meta": file["meta"],
            "data": file["data"],
            "created_at": 1,
            "updated_at": 1,
        }

    def _answer(self, handler: Handler) -> None:
        path = handler.place.removeprefix("/api/v1/")
        query = {name: each[0] for name, each in parse_qs(urlsplit(handler.path).query).items()}
        if path == handler.place:
            handler.reply(200, b"<!doctype html><title>Open WebUI</title>")
        elif handler.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._json(handler, {"detail": "401 Unauthorized"}, 401)
        elif handler.asked.method == "DELETE":
            found = self.files.pop(path.removeprefix("files/"), None)
            self._json(handler, {"message": "File deleted successfully"}, 200 if found else 404)
        elif handler.asked.method == "POST":
            self._post(handler, path)
        else:
            self._get(handler, path, query)

    @staticmethod
    def _json(handler: Handler, value: Any, status: int = 200) -> None:
        handler.reply(status, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _get(self, handler: Handler, path: str, query: dict[str, str]) -> None:
        bases = [{"id": each, **held} for each, held in self.bases.items()]
        if path == "knowledge/":
            self._list(handler, [{**each, "files": None} for each in bases], query)
        elif match := re.fullmatch(r"knowledge/([^/]+)(/files)?", path):
            if match[1] not in self.bases:
                self._json(handler, {"detail": "not found"}, 404)
            elif not match[2]:
                whole = [self._shown(each) for each in self.bases[match[1]]["files"]]
                files = None if self.paged else whole
                self._json(handler, {"id": match[1], **self.bases[match[1]], "files": files})
            elif self.paged:
                shown = [self._shown(each) for each in self.bases[match[1]]["files"]]
                self._list(handler, shown, query)
            else:
                handler.reply(200, b"<!doctype html><title>Open WebUI</title>")
        elif path == "files/search" and self.paged:
            named = [i for i, f in self.files.items() if f["filename"] == query["filename"]]
            if named:
                self._json(handler, [self._shown(each) for each in named])
            else:
                self._json(handler, {"detail": "No files found matching the pattern."}, 404)
        elif match := re.fullmatch(r"files/([^/]+)(/process/status)?", path):
            if match[1] not in self.files:
                self._json(handler, {"detail": "not found"}, 404)
            elif match[2] and self.paged:
                self._json(handler, {"status": self._process(match[1])})
            elif match[2]:
                handler.reply(200, b"<!doctype html><title>Open WebUI</title>")
            else:
                self._json(handler, self._shown(match[1]))
        else:
            handler.reply(200, b"<!doctype html><title>Open WebUI</title>")

    def _list(self, handler: Handler, entries: list[Any], query: dict[str, str]) -> None:
        if not self.paged:
            self._json(handler, entries)
            return
        begin = (int(query.get("page", "1")) - 1) * _PAGE
        self._json(handler, {"items": entries[begin : begin + _PAGE], "total": len(entries)})

    def _process(self, identity: str) -> str:
        file = self.files[identity]
        self._waited[identity] = self._waited.get(identity, 0) + 1
        if self._waited[identity] > self.polls and file["data"]["status"] == "pending":
            broken = file["filename"] in self.broken
            file["data"] = (
                {"status": "failed", "error": "no text"} if broken else {"status": "completed"}
            )
        return str(file["data"]["status"])

    def _post(self, handler: Handler, path: str) -> None:
        body = handler.asked.body
        if path == "files/":
            self._upload(handler, body)
            return
        form = json.loads(body)
        if path == "knowledge/create":
            identity = self.add_base(form["name"])
            self.bases[identity]["access"] = (form.get("access_control"), form.get("access_grants"))
            self._json(handler, {"id": identity, "name": form["name"], "user_id": "u1"})
            return
        match = re.fullmatch(r"knowledge/([^/]+)/file/(add|remove)", path)
        held = self.bases[match[1]]["files"] if match and match[1] in self.bases else None
        identity = form.get("file_id")
        if match is None or held is None or identity not in self.files:
            self._json(handler, {"detail": "We could not find what you're looking for :/"}, 400)
        elif match[2] == "add":
            self._add(handler, held, identity)
        elif identity not in held:
            self._json(handler, {"detail": "We could not find what you're looking for :/"}, 400)
        else:
            held.remove(identity)
            del self.files[identity]
            self._json(handler, {"id": match[1], "files": []})

    def _add(self, handler: Handler, held: list[str], identity: str) -> None:
        file = self.files[identity]
        digest = hashlib.sha256(file["text"].encode()).hexdigest()
        others = {hashlib.sha256(self.files[e]["text"].encode()).hexdigest() for e in held}
        if file["data"].get("status", "completed") != "completed":
            self._json(handler, {"detail": "The file has not been processed yet"}, 400)
        elif identity not in held and digest in others:
            self._json(handler, {"detail": "400: Duplicate content detected."}, 400)
        else:
            if identity not in held:
                held.append(identity)
            self._json(handler, {"id": "x", "files": [self._shown(each) for each in held]})

    def _upload(self, handler: Handler, body: bytes) -> None:
        head = f"Content-Type: {handler.headers['Content-Type']}\r\n\r\n".encode()
        form = BytesParser(policy=HTTP).parsebytes(head + body)
        parts = {
            part.get_param("name", header="content-disposition"): part for part in form.iter_parts()
        }
        file, told = parts["file"], parts["metadata"]
        content, metadata = file.get_payload(decode=True), told.get_payload(decode=True)
        assert isinstance(content, bytes)
        assert isinstance(metadata, bytes)
        identity = self._store(str(file.get_filename()), content.decode(), json.loads(metadata))
        self._json(handler, {"status": True, **self._shown(identity)})
