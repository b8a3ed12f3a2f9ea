"""What a language contributes to finding the packages that a text speaks of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

#: A quoted name; compilers that are asked to speak nicely use curly quotes.
QUOTED = "['\"`\u2018]+([^'\"`\u2019]+)['\"`\u2019]+"


@dataclass(frozen=True, slots=True)
class Mention:
    """A name that a message says is wrong.

    Attributes:
        package: the import name or specifier that begins it.
        names: what is below it; empty where the whole package is not found.
        line: of the text, from 1.
    """

    package: str
    names: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class MessageForm:
    """Error messages of one program.

    Attributes:
        language: of the code that they complain about.
        marks: found in every such message.
        mentions: yields the names that the lines of a message speak of.
        compiled: whether a compiler words them; its messages are recognised first.
    """

    language: str
    marks: re.Pattern[str]
    mentions: Callable[[Sequence[str]], Iterator[Mention]]
    compiled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """How texts of a language and about it are recognised.

    Attributes:
        messages: forms of error messages.
        imports: finds what code imports; one of its groups has the names, separated by commas.
        is_package: whether an imported name is that of a package, not the language's own.
        code: finds lines that only code of the language has; None where it is not checked.
        dialect: which of the language's names a piece of code is in; its first if empty.
    """

    messages: tuple[MessageForm, ...] = ()
    imports: re.Pattern[str] | None = None
    is_package: Callable[[str], bool] = lambda _: True
    code: re.Pattern[str] | None = None
    dialect: Callable[[str], str] = lambda _: ""
