"""What a server offers beside tools: resources that a client opens by URI, and prompts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from docstow.core.errors import DocstowError
from docstow.core.records import dataclass
from docstow.tools import Answer

#: The most values of one completion, as MCP has it.
MOST_VALUES = 100


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource that is listed.

    Attributes:
        uri: opens it.
        name: for lists.
        description: what it is, in our words alone.
        mime_type: of its content.
    """

    uri: str
    name: str
    description: str
    mime_type: str = "text/markdown"


@dataclass(frozen=True, slots=True)
class ResourcePage:
    """One page of the list of resources; ``cursor`` leads to the next one."""

    resources: Sequence[Resource]
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Contents:
    """What a resource holds: a text, or bytes as base64."""

    uri: str
    mime_type: str
    text: str = ""
    blob: str = ""


@dataclass(frozen=True, slots=True)
class Resources:
    """All resources of a server; its functions may read the store, so they run in threads.

    Attributes:
        templates: URI templates (RFC 6570) with ``{name}`` alone; ``uri`` is the template.
        listed: the page of a cursor, empty for the first one; raises DocstowError.
        read: opens a URI, given the id of the request; returns an error of the taxonomy.
        complete: values for an argument of a template, given its beginning and those before it.
    """

    templates: Sequence[Resource]
    listed: Callable[[str], ResourcePage]
    read: Callable[[str, str], Contents | DocstowError]
    complete: Callable[[str, str, str, Mapping[str, str]], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a prompt, which is always a text.

    Attributes:
        name: as clients write it.
        description: for people.
        required: without it the prompt is not made.
        complete: values for it, given its beginning and the other arguments.
    """

    name: str
    description: str
    required: bool = False
    complete: Callable[[str, Mapping[str, str]], Sequence[str]] = lambda *_: ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt: words of ours, with what the user gave as its arguments.

    Attributes:
        name: unique.
        title: for people.
        description: what it is for.
        arguments: in the order in which they are asked for.
        messages: makes it from arguments that were checked.
        tools: those that it names; it is offered where all of them are.
    """

    name: str
    title: str
    description: str
    arguments: Sequence[Argument]
    messages: Callable[[Mapping[str, str]], Sequence[Mapping[str, Any]]]
    tools: Sequence[str] = ()


def say(text: str) -> Sequence[Mapping[str, Any]]:
    """Return a text as what a user says."""
    return [{"role": "user", "content": {"type": "text", "text": text}}]


def beginning(value: str, names: Sequence[str]) -> Sequence[str]:
    """Return the names that a beginning may stand for: those that begin so, then those with it."""
    wanted = value.casefold().replace("-", "_")
    folded = [(each, each.casefold().replace("-", "_")) for each in names]
    first = [each for each, plain in folded if plain.startswith(wanted)]
    return first + [e for e, plain in folded if wanted in plain and not plain.startswith(wanted)]


def contents(uri: str, answer: Answer) -> Contents:
    """Return a tool's answer as what a resource holds."""
    structured = answer.structured is not None
    return Contents(uri, "application/json" if structured else "text/markdown", answer.render())
