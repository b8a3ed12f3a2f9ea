"""The packages and names that a text speaks of: error messages, manifests, and code."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from docstow.languages.shared.language import LANGUAGES, Language, Mention


@dataclass(frozen=True, slots=True)
class Message:
    """What an error message speaks of, in the order in which it does."""

    language: str
    mentions: tuple[Mention, ...]


@dataclass(frozen=True, slots=True)
class Mentions:
    """What a text speaks of.

    Attributes:
        language: it is written in, or complains about; empty where it speaks of nothing.
        names: import names and specifiers, each with the names below it that are at fault.
        message: whether it is an error message.
        manifest: whether it is one; its names are those of packages, not of imports.
    """

    language: str
    names: Mapping[str, tuple[str, ...]]
    message: bool = False
    manifest: bool = False


def read_message(text: str) -> Message | None:
    """Return the names that an error message speaks of; None where the text is none."""
    forms = [form for each in LANGUAGES.values() for form in each.texts().messages]
    for form in sorted(forms, key=lambda each: not each.compiled):
        if form.marks.search(text):
            found = list(dict.fromkeys(form.mentions(text.split("\n"))))
            return Message(form.language, tuple(_specific(found)))
    return None


def read_mentions(text: str) -> Mentions:
    """Return the packages that a text names, in its order."""
    message = read_message(text)
    if message is not None and message.mentions:
        names: dict[str, tuple[str, ...]] = {}
        for each in message.mentions:
            names.setdefault(each.package, each.names)
        return Mentions(message.language, names, message=True)
    text = _notebook_code(text)
    manifest = _read_manifest(text)
    if manifest is not None:
        return manifest
    imported = {name: read_imports(each, text) for name, each in LANGUAGES.items()}
    language = max(imported, key=lambda each: len(imported[each]))
    if not imported[language]:
        return Mentions("", {})
    return Mentions(language, dict.fromkeys(imported[language], ()))


def _specific(found: Sequence[Mention]) -> Iterator[Mention]:
    """Yield each name once; a package by itself only where nothing of it is named."""
    named = {each.package for each in found if each.names}
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for each in found:
        key = (each.package, each.names)
        if key in seen or (not each.names and each.package in named):
            continue
        seen.add(key)
        yield each


def _notebook_code(text: str) -> str:
    """Return the code of a notebook, of which an editor may send the file; other texts as is."""
    if not text.lstrip().startswith("{") or '"cells"' not in text:
        return text
    try:
        cells = json.loads(text)["cells"]
        sources = [each["source"] for each in cells if each["cell_type"] == "code"]
        return "\n".join(each if isinstance(each, str) else "".join(each) for each in sources)
    except (ValueError, TypeError, KeyError, RecursionError):
        return text


def _read_manifest(text: str) -> Mentions | None:
    """Read a text that looks like a manifest of some language."""
    readers = ((name, each.scanning().manifest_of(text)) for name, each in LANGUAGES.items())
    language, reader = next((each for each in readers if each[1] is not None), ("", None))
    if reader is None:
        return None
    try:
        listed = reader(text)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    return Mentions(language, dict.fromkeys(sorted(listed), ()), manifest=True) if listed else None


def read_imports(language: Language, text: str) -> list[str]:
    """Return what a piece of code imports of packages, in its order: names and specifiers."""
    texts = language.texts()
    names: list[str] = []
    for groups in texts.imports.findall(text) if texts.imports is not None else ():
        for part in "".join(groups).split(","):
            words = part.split()
            if words and texts.is_package(words[0]):
                names.append(words[0])
    return list(dict.fromkeys(names))
