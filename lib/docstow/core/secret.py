"""Texts that are never shown."""

from __future__ import annotations

import hmac
from typing import NoReturn

_SHOWN = "***"


class Secret:
    """A text that no log, message, representation or pickle has; empty ones are false.

    Args:
        text: what is secret.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str = "") -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text, to be sent where it belongs and nowhere else."""
        return self._text

    def __repr__(self) -> str:
        return f"Secret({_SHOWN!r})" if self._text else "Secret()"

    def __str__(self) -> str:
        return _SHOWN if self._text else ""

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._text.encode(), other._text.encode())

    def __hash__(self) -> int:
        return hash((Secret, self._text))

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: object) -> Secret:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not pickled")
