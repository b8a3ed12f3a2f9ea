"""Requests for a version of a package, and which of the known versions they choose."""

from __future__ import annotations

import re
from collections.abc import Iterable

from docstow.core.errors import InvalidParameter
from docstow.core.versions import choose


def choose_version(asked: str, versions: Iterable[str]) -> str | None:
    """Return the newest version that is asked for: exact, by its beginning, or by a requirement.

    The first stands for the newest where nothing is asked and nothing orders them.
    """
    known = list(dict.fromkeys(versions))
    asked = asked.strip().removeprefix("==").strip()
    if asked in known:
        return asked
    if asked in ("", "latest", "*"):
        return max(known, key=recency, default=None)
    below = [each for each in known if each.startswith(f"{asked}.")]
    if below:
        return max(below, key=recency)
    if re.fullmatch(r"\d+(\.\d+)*", asked):
        # Cargo would take any compatible one; of packages a number is what it says.
        return None
    # Cargo's requirements want three numbers.
    whole = {_padded(each): each for each in reversed(known)}
    try:
        best = choose(_as_range(asked), whole)
    except InvalidParameter:
        return None
    return whole[best] if best is not None else None


def _padded(version: str) -> str:
    """Return a version of numbers alone with three of them at least."""
    if not re.fullmatch(r"\d+(\.\d+)?", version):
        return version
    return f"{version}{'.0' * (2 - version.count('.'))}"


def _as_range(asked: str) -> str:
    """Return ``~=1.4.2`` of Python as ``>=1.4.2, <1.5``; anything else as it is."""
    if not (found := re.fullmatch(r"~=\s*((?:\d+\.)*)(\d+)\.(\d+)", asked)):
        return asked
    above, last, least = found.groups()
    return f">={above}{last}.{least}, <{above}{int(last) + 1}"


def recency(version: str) -> tuple[bool, list[int]]:
    """Return what versions are sorted by: final releases after others, then by their numbers."""
    final = re.fullmatch(r"[\d.]+(?:\.post\d+)?(?:\+.*)?", version) is not None
    return final, [int(each) for each in re.findall(r"\d+", version)]
