"""What registries say of packages in one line, for finding a package by its purpose.

An operator has them fetched; servers only read them. There is one object for each language.
"""

from __future__ import annotations

import gzip
import json
import logging
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass

from docstow.core.errors import DocstowError, PackageNotFound, TooLarge, UnreadableInput
from docstow.languages.shared.language import Language
from docstow.net.decompress import Limits, decompress
from docstow.sources.packages import PackageRegistry
from docstow.store.objects import ObjectStore
from docstow.store.update import Codec, update
from docstow.text.invisible import drop_invisible

log = logging.getLogger(__name__)

SCHEMA = 1
#: Of a summary so many characters are kept, of keywords so many.
LONGEST_SUMMARY, MOST_KEYWORDS, LONGEST_KEYWORD = 300, 20, 40
#: Seconds between two packages, so that a registry notices nothing.
PAUSE_S = 0.2
#: What is fetched is stored after so many packages: little is lost where the job is stopped.
BATCH = 100


@dataclass(frozen=True, slots=True)
class Description:
    """What a package says of itself: a summary, and keywords with blanks between."""

    summary: str
    keywords: str = ""


class Descriptions:
    """The descriptions in a store. Safe to share between threads.

    Args:
        store: where they are, below ``descriptions/``.
    """

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def read(self, language: Language) -> tuple[str, Mapping[str, Description]]:
        """Return the tag of the object and the descriptions by name; none where there is none."""
        stored = self._store.get(_key(language))
        if stored is None:
            return "", {}
        return stored.etag, _decode(stored.body) or {}

    def add(self, language: Language, more: Mapping[str, Description]) -> None:
        """Add descriptions, or replace those of the same packages."""
        codec = Codec(_decode, _encode)
        update(self._store, _key(language), codec, lambda found: {**(found or {}), **more})


class DescriptionTask:
    """Fetches descriptions of packages, one package after the other.

    Args:
        descriptions: where they are kept.
        registry: asked for each package.
        language: whose packages.
        pause: waits between two packages.
    """

    def __init__(
        self,
        descriptions: Descriptions,
        registry: PackageRegistry,
        language: Language,
        pause: Callable[[], None] = lambda: time.sleep(PAUSE_S),
    ) -> None:
        self._descriptions = descriptions
        self._registry = registry
        self._language = language
        self._pause = pause

    def perform(
        self, names: Sequence[str], *, renew: bool = False
    ) -> Generator[tuple[str, Description | DocstowError]]:
        """Yield what was found of each package, which is stored in batches.

        Args:
            names: of packages, the first ones first.
            renew: ask for those again that are described already; they are left out otherwise.
        """
        key = self._language.spelling.package_key
        known = {} if renew else self._descriptions.read(self._language)[1]
        fetched: dict[str, Description] = {}
        try:
            for number, name in enumerate(n for n in dict.fromkeys(names) if key(n) not in known):
                if number:
                    self._pause()
                try:
                    revision = self._registry.resolve(name)
                    about = self._registry.about(revision)
                except PackageNotFound as error:
                    # It is gone, and is not asked for again.
                    fetched[key(name)] = Description("")
                    yield name, error
                    continue
                except DocstowError as error:
                    yield name, error
                    continue
                fetched[key(name)] = described = _bounded(about.summary, about.keywords)
                yield name, described
                if len(fetched) >= BATCH:
                    self._descriptions.add(self._language, fetched)
                    fetched = {}
        finally:
            if fetched:
                self._descriptions.add(self._language, fetched)


def _bounded(summary: str, keywords: Iterable[str]) -> Description:
    words = [drop_invisible(each)[0][:LONGEST_KEYWORD] for each in list(keywords)[:MOST_KEYWORDS]]
    return Description(drop_invisible(summary)[0][:LONGEST_SUMMARY], " ".join(words))


def _key(language: Language) -> str:
    return f"descriptions/{language.name}.json.gz"


def _encode(found: Mapping[str, Description]) -> bytes:
    rows = {name: [found[name].summary, found[name].keywords] for name in sorted(found)}
    fields = {"schema": SCHEMA, "packages": rows}
    return gzip.compress(json.dumps(fields, ensure_ascii=False).encode(), mtime=0)


def _decode(body: bytes, _: str = "") -> Mapping[str, Description] | None:
    """Return descriptions by name; None if they are damaged or of another schema."""
    try:
        fields = json.loads(decompress([body], Limits(), name="descriptions of packages"))
        if fields["schema"] != SCHEMA:
            return None
        return {name: Description(*map(str, row)) for name, row in fields["packages"].items()}
    except (UnreadableInput, TooLarge, KeyError, TypeError, ValueError, AttributeError):
        return None
