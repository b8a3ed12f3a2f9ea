"""The model that the settings name, opened when it is first needed, and fetched from a hub.

A model of a hub is fetched once, checked against digests, and used without a network afterwards. A
file of a known model must have the digest in ``known_models.json``. Of any other model, the digests
of the first fetch are written into the folder's manifest, and must hold at every load.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docstow.core.errors import ConfigurationError, UpstreamError
from docstow.core.patterns import lazy_pattern
from docstow.core.records import dataclass
from docstow.core.threads import lazy
from docstow.embedding import PRECISIONS, Choice, bundled, parse_choice
from docstow.embedding.model_folder import DESCRIPTIONS, FILES, MANIFEST, TOKENIZER, open_folder

if TYPE_CHECKING:
    from docstow.core.settings import Settings
    from docstow.embedding import Embedder
    from docstow.net import Fetcher

#: How long one file of a model may take, in seconds: files are large and may come slowly.
FETCH_S = 3600.0
#: The largest file that is fetched, in bytes; one ONNX file cannot be larger.
MOST_BYTES = 2 * 1024**3

_COMMIT = lazy_pattern(r"[0-9a-f]{40}")
_KNOWN = Path(__file__).parent / "known_models.json"
_ABSENT = (401, 403, 404)  # hubs answer 401 for what does not exist, too

log = logging.getLogger(__name__)


class Models:
    """The model of the settings, and the folder that models of the hub are fetched into.

    Args:
        settings: which model it is.
        open_fetcher: returns a client that asks the host of an address alone, of which one answer
            may take so many seconds; 0 for the setting.
        folder: for fetched models, unless the settings name one.

    Raises:
        ConfigurationError: there is no such model, or its API's address is missing.
    """

    def __init__(
        self, settings: Settings, open_fetcher: Callable[[str, float], Fetcher], folder: str
    ) -> None:
        self._settings = settings
        self._open_fetcher = open_fetcher
        self._folder = Path(settings.models or folder).expanduser()
        self._choice = parse_choice(settings.model, settings.model_precision)
        if self._choice.kind == "endpoint" and not settings.embeddings_url:
            raise ConfigurationError(
                f"embeddings_url: the model {settings.model} needs its API's root, such as "
                "https://host/v1"
            )

    @lazy
    def embedder(self) -> Embedder:
        """The model that texts and queries are embedded with."""
        chosen = self._choice
        if chosen.kind == "bundled":
            return bundled()
        if chosen.kind == "endpoint":
            from docstow.embedding.endpoint import EndpointEmbedder

            url, key = self._settings.embeddings_url, self._settings.embeddings_key.reveal()
            fetcher = cache(lambda: self._open_fetcher(url, 0.0))
            return EndpointEmbedder(fetcher, url, chosen.name, key)
        from docstow.embedding.transformer import TransformerEmbedder

        folder = Path(chosen.name) if chosen.kind == "folder" else self.fetch(chosen)
        return TransformerEmbedder(open_folder(folder, chosen.precision))

    def fetch(self, chosen: Choice, into: Path | None = None) -> Path:
        """Return the folder of a model of the hub, fetched if it is not there."""
        url = self._settings.hub_url
        hub = Hub(lambda: self._open_fetcher(url, FETCH_S), url, self._folder)
        return hub.fetch(chosen, into)


@dataclass(frozen=True, slots=True)
class _Request:
    """What is fetched: from where, and which files with which digests and facts."""

    repository: str
    revision: str
    model: tuple[str, ...]
    sha256: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


class Hub:
    """A hub of models.

    Args:
        fetcher: makes the client when something has to be fetched.
        url: the hub's root; a file is at ``/{id}/resolve/{revision}/{file}``.
        folder: where models are kept, each in a folder of its own.
    """

    def __init__(self, fetcher: Callable[[], Fetcher], url: str, folder: Path) -> None:
        self._fetcher = fetcher
        self._url = url
        self._folder = folder

    def fetch(self, choice: Choice, into: Path | None = None) -> Path:
        """Return the folder of a model, fetched if it is not complete.

        Args:
            choice: of kind ``hub``.
            into: the folder to use in place of the hub's own.

        Raises:
            ConfigurationError: the hub has no such model, or not in this form.
            UpstreamError, UpstreamTimeout: the hub cannot be asked, or sent a file whose digest
                is not the known one. What has arrived of a large file stays for the next time.
        """
        known = json.loads(_KNOWN.read_bytes()).get(choice.name)
        request = _make_request(choice, known)
        name, precision = choice.name.replace("/", "--"), choice.precision or "fp32"
        folder = into or self._folder / f"{name}@{request.revision}--{precision}"
        if (folder / MANIFEST).is_file():
            return folder
        from filelock import FileLock  # 75 ms of imports that only a download needs

        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".lock"):
            if not (folder / MANIFEST).is_file():
                self._download(choice, request, folder)
        return folder

    def _download(self, choice: Choice, request: _Request, folder: Path) -> None:
        log.info("fetching the model %s from %s", choice.name, self._url)
        download = _Download(self._fetcher(), self._url, request, folder)
        if not request.facts:
            for file in DESCRIPTIONS:
                download.get(file)
        if not download.get(TOKENIZER):
            raise ConfigurationError(
                f"model: {self._url} has no {choice.name} at {request.revision}, or no {TOKENIZER} "
                "in it; check the id and the revision"
            )
        if not any(download.get(file) for file in request.model):
            raise ConfigurationError(
                f"model: {choice.name} has no {choice.precision or 'fp32'} ONNX file (none of "
                f"{', '.join(request.model)}); choose {' or '.join(PRECISIONS)}, or a repository "
                "with ONNX files"
            )
        manifest = {
            "id": choice.name,
            "repository": request.repository,
            "revision": download.revision,
            "sha256": download.sha256,
            **request.facts,
        }
        unfinished = folder / f"{MANIFEST}.part"
        unfinished.write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        unfinished.replace(folder / MANIFEST)


class _Download:
    """The download of one model; all its files are of the commit that answered first."""

    def __init__(self, fetcher: Fetcher, url: str, request: _Request, folder: Path) -> None:
        self._fetcher = fetcher
        self._root = f"{url}/{request.repository}/resolve"
        self._request = request
        self._folder = folder
        self.revision = request.revision
        self.sha256: dict[str, str] = {}

    def get(self, file: str) -> bool:
        """Fetch a file into the folder and note its digest; False if the hub does not have it."""
        path = self._folder / file
        part = path.with_name(f"{path.name}.part")
        pinned = self._request.sha256.get(file)
        if not pinned and not _COMMIT.fullmatch(self.revision):
            # A branch moves on: what is left of an earlier fetch may begin another file.
            part.unlink(missing_ok=True)
        answer = self._fetcher.download(
            f"{self._root}/{self.revision}/{file}", part, most=MOST_BYTES, expected=(200, *_ABSENT)
        )
        if answer.status in _ABSENT:
            return False
        commit = answer.headers.get("x-repo-commit", "")
        if _COMMIT.fullmatch(commit):
            self.revision = commit
        with part.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if pinned and digest != pinned:
            part.unlink()
            raise UpstreamError(
                f"{file} of {self._request.repository} has the SHA-256 {digest}, but {pinned} is "
                "the known one; it was thrown away. Try again, or check DOCSTOW_HUB_URL."
            )
        part.replace(path)
        self.sha256[file] = digest
        return True


def _make_request(choice: Choice, known: Mapping[str, Any] | None) -> _Request:
    """Return where a chosen model is from; known models are pinned unless a revision is given."""
    precision = choice.precision or "fp32"
    if known is None:
        return _Request(choice.name, choice.revision or "main", FILES[precision])
    facts = {name: value for name, value in known.items() if name not in PRECISIONS}
    if choice.revision:
        return _Request(choice.name, choice.revision, FILES[precision], facts=facts)
    pin = known[precision]
    return _Request(pin["repository"], pin["revision"], (pin["model"],), pin["sha256"], facts)
