"""Which earlier systems are known, and which of them the setting ``compat`` names."""

from __future__ import annotations

from collections.abc import Sequence

from docstow.core.errors import ConfigurationError
from docstow.server.compat import System
from docstow.server.compat.context6 import CONTEXT6
from docstow.server.compat.nats_docs import NATS_DOCS
from docstow.server.compat.pkg_local import PKG_LOCAL
from docstow.server.compat.rusty_memory import RUSTY_MEMORY

SYSTEMS = {each.name: each for each in (NATS_DOCS, RUSTY_MEMORY, CONTEXT6, PKG_LOCAL)}
#: The setting's word for all of them.
ALL = "all"


def choose(names: Sequence[str]) -> tuple[System, ...]:
    """Return the systems that the setting ``compat`` names.

    Raises:
        ConfigurationError: there is no such system.
    """
    if unknown := sorted(set(names) - {*SYSTEMS, ALL}):
        known = ", ".join((*SYSTEMS, ALL))
        raise ConfigurationError(f"compat: {', '.join(unknown)} is not known; there are {known}")
    return tuple(each for name, each in SYSTEMS.items() if {name, ALL} & set(names))
