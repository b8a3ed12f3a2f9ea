"""What a call may pass, in any language.

This room knows the shape of parameters. It does not know where they are written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ParameterKind = Literal[
    "positional_only", "positional", "keyword_only", "var_positional", "var_keyword"
]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a call, without the ``self`` or ``cls`` that the caller does not pass."""

    name: str
    kind: ParameterKind
    required: bool
