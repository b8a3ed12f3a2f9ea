"""The tokens of a signature, and a place among them.

This room knows Rust's tokens. It does not know what they make up.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

_TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/)|(?P<token>->|::|==|\.\.\.?|'\w+(?!')|'(?:\\.|[^'])'"
    r'|"[^"]*"|(?:r\#)?[^\W\d]\w*|\d\w*|…|[&*\[\]()<>,;:+=!?#{}|.\-/%^~])',
    re.DOTALL,
)
OPEN, CLOSE = frozenset("(<[{"), frozenset(")>]}")
END = ""
"""What stands after the last token."""
_Parsed = TypeVar("_Parsed")


class BadSignature(ValueError):
    """The text is no signature.

    Attributes:
        message: what is wrong.
        offset: where, in characters from 0.
    """

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(f"{message} at character {offset + 1}")
        self.message = message
        self.offset = offset


class Cursor:
    """A text being read token by token."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens, self._offsets = _tokens(text)
        self._at = 0

    def at(self, ahead: int = 0) -> str:
        """The token here or further on; END beyond the last."""
        place = self._at + ahead
        return self._tokens[place] if place < len(self._tokens) else END

    def next(self) -> str:
        """Take the token that is here."""
        token = self.at()
        if token == END:
            raise self.wrong("it ends too early")
        self._at += 1
        return token

    def skip(self, *tokens: str) -> bool:
        """Take the token that is here if it is one of these."""
        if self.at() in tokens and self.at() != END:
            self._at += 1
            return True
        return False

    def expect(self, token: str) -> None:
        """Take this token, or say that it is missing."""
        if self.at() != token:
            wanted = f"expected {token!r}" if token else "expected the end"
            raise self.wrong(f"{wanted}, found {self.at() or 'the end'!r}")
        if token != END:
            self._at += 1

    def name(self) -> str:
        """Take an identifier."""
        if not is_name(self.at()):
            raise self.wrong(f"expected a name, found {self.at() or 'the end'!r}")
        return self.next().removeprefix("r#")

    def wrong(self, message: str) -> BadSignature:
        """The error that something is wrong here."""
        offsets = self._offsets
        return BadSignature(
            message, offsets[self._at] if self._at < len(offsets) else len(self._text)
        )

    def items(self, item: Callable[[], _Parsed], end: str) -> list[_Parsed]:
        """Items between commas, up to and with the closing token."""
        found = []
        while self.at() != end:
            found.append(item())
            if not self.skip(","):
                break
        self.expect(end)
        return found

    def skip_expression(self, *ends: str) -> str:
        """Tokens up to one of the ends outside of any bracket; what was skipped."""
        begin, depth = self._at, 0
        while self.at() != END and (depth or self.at() not in ends):
            depth += (self.at() in OPEN) - (self.at() in CLOSE)
            self._at += 1
        return "".join(self._tokens[begin : self._at])

    def after_brackets(self) -> str:
        """The token after the bracket that is open here is closed."""
        depth = 0
        for ahead in range(len(self._tokens) - self._at):
            depth += (self.at(ahead) in "([") - (self.at(ahead) in ")]")
            if depth == 0:
                return self.at(ahead + 1)
        return END


def _tokens(text: str) -> tuple[list[str], list[int]]:
    tokens, offsets, place = [], [], 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise BadSignature(f"{text[place]!r} has no meaning here", place)
        if match["token"] is not None:
            tokens.append(match["token"])
            offsets.append(place)
        place = match.end()
    return tokens, offsets


def is_name(word: str) -> bool:
    """Whether a token is an identifier."""
    return word.removeprefix("r#").isidentifier() and word != "_"
