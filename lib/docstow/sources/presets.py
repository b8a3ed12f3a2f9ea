"""Presets: well-known documentation by name, from a bundled list and a file of the operator's.

The format is described at the top of ``presets.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from docstow import sources
from docstow.core import auth, toml
from docstow.core.errors import ConfigurationError, DocstowError, SourceNotFound
from docstow.sources.site.versions import family

_NAME = re.compile(r"[a-z0-9][a-z0-9.+-]{0,39}")
_ENTRY = ("kind", "uri", "title", "options", "sites")
_SUGGESTED = 5
_LIKE = 60


@dataclass(frozen=True, slots=True)
class Preset:
    """A source that can be registered by name.

    Attributes:
        kind: a kind of source that allows presets.
        uri: as users give it.
        title: for people.
        options: as users give them.
        sites: further addresses under which the same documentation is known.
    """

    kind: str
    uri: str
    title: str
    options: Mapping[str, Any]
    sites: tuple[str, ...] = ()


class Presets:
    """The bundled list, and the entries of a file.

    Args:
        file: in the format of the bundled list; its entries replace those of the same name.

    Raises:
        ConfigurationError: with every mistake in the file, one per line.
    """

    def __init__(self, file: Path | None = None) -> None:
        bundled = resources.files("docstow.sources").joinpath("presets.toml")
        self._presets = read(bundled.read_text(encoding="utf-8"), "presets.toml")
        if file is not None:
            self._presets |= read(_text(file), str(file))

    def names(self) -> list[str]:
        """Return all names whose sources the caller sees, sorted."""
        bound = auth.caller().bound is not None
        found = self._presets.items()
        return sorted(
            name
            for name, each in found
            if not bound or auth.sees(each.kind, sources.spelling(each.kind, each.uri))
        )

    def find(self, name: str) -> Preset:
        """Return the preset of a name, whatever its case.

        Raises:
            SourceNotFound: there is none; with similar names as suggestions.
        """
        from rapidfuzz import fuzz, process

        wanted, names = name.strip().lower(), self.names()
        if wanted in names:
            return self._presets[wanted]
        near = process.extract(
            wanted, names, scorer=fuzz.WRatio, limit=_SUGGESTED, score_cutoff=_LIKE
        )
        raise SourceNotFound(
            f"There is no preset {name[:80]!r}; give the address of the documentation instead.",
            suggestions=[{"name": each, "score": round(score / 100, 2)} for each, score, _ in near],
        )

    def of_site(self, *urls: str) -> Preset | None:
        """Return the preset of the website at one of some addresses; None where there is none.

        Versions, English as the language, ``www`` and the scheme make no difference, and a page of
        the documentation means all of it.
        """
        best: tuple[int, Preset | None] = (0, None)
        for preset in self._presets.values():
            if preset.kind != "site":
                continue
            own = family(preset.uri)
            for url in map(family, urls):
                same = url in (own, *map(family, preset.sites)) or url.startswith(f"{own}/")
                if same and len(own) > best[0]:
                    best = len(own), preset
        return best[1]


def read(text: str, name: str) -> dict[str, Preset]:
    """Parse a file of presets.

    Args:
        text: the content.
        name: of the file, for messages.

    Raises:
        ConfigurationError: with every mistake, one per line.
    """
    try:
        tables = toml.loads(text)
    except toml.TomlError as error:
        raise ConfigurationError(f"{name}: is not TOML ({error})") from error
    presets: dict[str, Preset] = {}
    mistakes: list[str] = []
    for each, table in tables.items():
        try:
            presets[each] = _preset(each, table)
        except DocstowError as error:
            mistakes.append(f"{name} [{each}]: {error.message}")
        except ValueError as error:
            mistakes.append(f"{name} [{each}]: {error}")
    if mistakes:
        raise ConfigurationError("\n".join(mistakes), mistakes=mistakes)
    return presets


def _preset(name: str, table: object) -> Preset:
    """Check an entry as its kind checks user input; raise ValueError with the reason."""
    if not _NAME.fullmatch(name):
        raise ValueError("a name has lower-case letters, digits, '.', '+' and '-', at most 40")
    if not isinstance(table, dict):
        raise ValueError("must be a table with kind, uri and title")
    if unknown := [key for key in table if key not in _ENTRY]:
        raise ValueError(f"{', '.join(unknown)}: not known; there are {', '.join(_ENTRY)}")
    kind, uri, title = (table.get(key, "") for key in _ENTRY[:3])
    chosen = table.get("options", {})
    offered = [each.name for each in sources.kinds().values() if each.preset]
    if kind not in offered:
        raise ValueError(f"kind: must be {' or '.join(offered)}, not {kind!r}")
    if not isinstance(uri, str) or not isinstance(title, str) or not uri or not title.strip():
        raise ValueError("uri and title: must be texts, and not empty")
    if not isinstance(chosen, dict):
        raise ValueError("options: must be a table")
    of_kind = sources.find(kind)
    of_kind.canonical_uri(uri)
    of_kind.checked_options(chosen, uri)
    also = table.get("sites", [])
    if not isinstance(also, list) or not all(isinstance(each, str) for each in also):
        raise ValueError("sites: must be a list of addresses")
    if also and kind != "site":
        raise ValueError("sites: are for websites alone")
    return Preset(kind, uri, title, chosen, tuple(map(of_kind.canonical_uri, also)))


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{file}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file}: is not UTF-8 ({error})") from error
