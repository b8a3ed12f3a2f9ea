"""The model that the settings name, opened when it is first needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from docstow.core.concurrency import lazy
from docstow.core.errors import ConfigurationError
from docstow.embedding.select import Choice, parse

if TYPE_CHECKING:
    from docstow.core.settings import Settings
    from docstow.embedding import Embedder
    from docstow.net import Fetcher

#: How long one file of a model may take, in seconds: files are large and may come slowly.
FETCH_S = 3600.0


class Models:
    """The model of the settings, and the folder that models of the hub are fetched into.

    Args:
        settings: which model it is.
        open_fetcher: returns a client of which one answer may take so many seconds; 0 for the
            setting.
        folder: for fetched models, unless the settings name one.

    Raises:
        ConfigurationError: there is no such model, or its API's address is missing.
    """

    def __init__(
        self, settings: Settings, open_fetcher: Callable[[float], Fetcher], folder: str
    ) -> None:
        self._settings = settings
        self._open_fetcher = open_fetcher
        self._folder = Path(settings.models or folder).expanduser()
        self._choice = parse(settings.model, settings.model_precision)
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
            from docstow.embedding import bundled

            return bundled()
        if chosen.kind == "endpoint":
            from docstow.embedding.endpoint import EndpointEmbedder

            url, key = self._settings.embeddings_url, self._settings.embeddings_key
            return EndpointEmbedder(cache(lambda: self._open_fetcher(0.0)), url, chosen.name, key)
        from docstow.embedding.model_folder import open_folder
        from docstow.embedding.transformer import TransformerEmbedder

        folder = Path(chosen.name) if chosen.kind == "folder" else self.fetch(chosen)
        return TransformerEmbedder(open_folder(folder, chosen.precision))

    def fetch(self, chosen: Choice, into: Path | None = None) -> Path:
        """Return the folder of a model of the hub, fetched if it is not there."""
        from docstow.embedding.hub import Hub

        hub = Hub(lambda: self._open_fetcher(FETCH_S), self._settings.hub_url, self._folder)
        return hub.fetch(chosen, into)
