"""The choice of a model by the settings ``model`` and ``model_precision``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from docstow.core.errors import ConfigurationError

Kind = Literal["bundled", "hub", "folder", "endpoint"]

PRECISIONS = ("fp32", "int8")
ENDPOINT = "openai:"
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_REVISION = re.compile(r"[A-Za-z0-9][\w.-]*")


@dataclass(frozen=True, slots=True)
class Choice:
    """A model that was chosen.

    Attributes:
        kind: ``bundled``, ``hub``, ``folder`` or ``endpoint``.
        name: an id of the hub, a folder, or the endpoint's name for the model.
        revision: branch, tag or commit on the hub; empty: the pinned one, or else ``main``.
        precision: ``fp32`` or ``int8``; empty: either, ``fp32`` first.
    """

    kind: Kind
    name: str
    revision: str = ""
    precision: str = ""


def parse(model: str, precision: str = "") -> Choice:
    """Parse ``bundled``, ``openai:MODEL``, ``OWNER/NAME[@REVISION][#int8|#fp32]`` or a folder.

    What begins with ``.``, ``~`` or ``/`` (or a drive) is a folder, and so is every name that
    cannot be one of the hub's.

    Args:
        model: the setting ``model``.
        precision: the setting ``model_precision``, used where ``model`` names none.

    Raises:
        ConfigurationError: it is none of these.
    """
    if precision and precision not in PRECISIONS:
        raise ConfigurationError(f"model_precision: must be fp32 or int8, not {precision!r}")
    if model == "bundled":
        return Choice("bundled", "bundled")
    if model.startswith(ENDPOINT):
        if not model.removeprefix(ENDPOINT):
            raise ConfigurationError("model: openai: needs the model's name, as in openai:NAME")
        return Choice("endpoint", model.removeprefix(ENDPOINT))
    rest, mark, suffix = model.partition("#")
    if mark and suffix not in PRECISIONS:
        raise ConfigurationError(f"model: after # comes fp32 or int8, not {suffix!r}")
    name, mark, revision = rest.partition("@")
    if _HUB_ID.fullmatch(name):
        if mark and not _REVISION.fullmatch(revision):
            raise ConfigurationError(f"model: {revision!r} cannot be a branch, tag or commit")
        return Choice("hub", name, revision, suffix or precision)
    if "/" in rest or Path(rest).anchor or rest.startswith((".", "~")):
        return Choice("folder", str(Path(rest).expanduser()), "", suffix or precision)
    raise ConfigurationError(
        f"model: there is no model {model!r}; use bundled, an id of the hub such as "
        "BAAI/bge-small-en-v1.5, a folder such as ./model, or openai:NAME"
    )
