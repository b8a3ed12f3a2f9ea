"""Fixtures of scenarios that tests of single packages have, too."""

from __future__ import annotations

from engines import engines_folder

__all__ = ["engines_folder"]
