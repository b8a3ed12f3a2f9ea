"""Regular expressions that are compiled when they are first used.

A process that starts for one answer imports two hundred, which would take it a tenth of its time,
and uses some dozens. Type checkers see :func:`re.compile`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

__all__ = ["lazy_pattern"]

if TYPE_CHECKING:
    from re import compile as lazy_pattern
else:

    class lazy_pattern:  # noqa: N801 - it stands for a function
        """What :func:`re.compile` returns, but for functions of ``re`` that take a pattern."""

        def __init__(self, source: str | bytes, flags: int = 0) -> None:
            self._source = source
            self._flags = flags

        def __getattr__(self, name: str) -> Any:
            compiled = re.compile(self._source, self._flags)
            # What is used is found in the instance from now on, as fast as in the pattern itself.
            vars(self).update({each: getattr(compiled, each) for each in _MEMBERS})
            return getattr(compiled, name)


_MEMBERS = (
    *("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"),
    *("pattern", "flags", "groups", "groupindex"),
)
