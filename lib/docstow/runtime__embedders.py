"""Composition of the model: which one the settings mean, and where its files come from.

This room alone knows which kinds of models there are. What texts are it does not know.
"""

from __future__ import annotations

import threading
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from docstow.core.errors import ConfigurationError
from docstow.embedding import select as choice

if TYPE_CHECKING:
    from docstow.core.settings import Settings
    from docstow.embedding._embed import Embedder
    from docstow.embedding.select import Choice
    from docstow.runtime__upstreams import Upstreams

#: How long one file of a model may take, in seconds: they are large and come from afar.
FETCH_S = 3600.0


class Embedders:
    """The model of the settings, opened when it is first asked for.

    Args:
        settings: which model it is.
        upstreams: what models are fetched by.
        folder: where fetched models are kept, unless the settings name one.

    Raises:
        ConfigurationError: there is no such model, or its API's address is missing.
    """

    def __init__(self, settings: Settings, upstreams: Upstreams, folder: str) -> None:
        self._settings = settings
        self._upstreams = upstreams
        self._folder = Path(settings.models or folder).expanduser()
        self._lock = threading.Lock()
        self._choice = choice.parse(settings.model, settings.model_precision)
        if self._choice.kind == "endpoint" and not settings.embeddings_url:
            raise ConfigurationError(
                f"embeddings_url: the model {settings.model} needs its API's root, such as "
                "https://host/v1"
            )

    @property
    def embedder(self) -> Embedder:
        """The model that texts and queries are embedded with."""
        with self._lock:
            return self._embedder

    @cached_property
    def _embedder(self) -> Embedder:
        chosen = self._choice
        if chosen.kind == "bundled":
            from docstow.embedding._embed import bundled

            return bundled()
        if chosen.kind == "endpoint":
            from docstow.embedding.endpoint import EndpointEmbedder

            url, key = self._settings.embeddings_url, self._settings.embeddings_key
            return EndpointEmbedder(cache(self._upstreams.fetcher), url, chosen.name, key)
        from docstow.embedding.model_folder import open_folder
        from docstow.embedding.transformer import TransformerEmbedder

        folder = Path(chosen.name) if chosen.kind == "folder" else self.fetch(chosen)
        return TransformerEmbedder(open_folder(folder, chosen.precision))

    def fetch(self, chosen: Choice, into: Path | None = None) -> Path:
        """The folder of a model of the hub, fetched if it is not there yet."""
        from docstow.embedding.hub import Hub

        hub = Hub(lambda: self._upstreams.fetcher(FETCH_S), self._settings.hub_url, self._folder)
        return hub.obtain(chosen, into)
