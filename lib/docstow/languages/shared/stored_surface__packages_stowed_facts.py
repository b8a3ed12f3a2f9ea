"""What of a surface is kept with its documents, so that code can be checked where no files are.

This room knows the attributes: ``parameters`` of what is called; of modules and classes ``others``
(names that have no document right below, each with the path of the one that it has, or nothing),
``certain`` where there are no further names, ``through`` (other packages that have a say in it) and
``heirs``. It does not know how a surface finds names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from docstow.core.model import Document
from docstow.languages.shared.surface import Everything, Home, Parameter, ParameterKind

_KINDS: tuple[ParameterKind, ...] = (
    *("positional_only", "positional", "keyword_only", "var_positional", "var_keyword"),
)
#: Kinds of what has names in Python.
PYTHON_OWNERS = frozenset({"module", "class", "enum"})


def packed(parameters: Sequence[Parameter]) -> list[str]:
    """Parameters as JSON has them: a digit for the kind, ``!`` where it is required, the name."""
    return [
        f"{_KINDS.index(each.kind)}{'!' if each.required else ''}{each.name}" for each in parameters
    ]


def parameters(told: Iterable[str] | None) -> tuple[Parameter, ...] | None:
    """The same, unpacked; None where they are not certain."""
    if told is None:
        return None
    return tuple(
        Parameter(each[1:].removeprefix("!"), _KINDS[int(each[0])], each[1:2] == "!")
        for each in told
    )


def with_names(
    made: Sequence[Document], homes: Mapping[Home, str], everything: Mapping[str, Everything]
) -> Iterator[Document]:
    """Documents of which modules and classes know all their names.

    Args:
        made: all documents of a package.
        homes: the path of the document that a definition has.
        everything: of owners by their paths.
    """
    paths = {each.path for each in made if each.kind != "page"}
    for each in made:
        found = everything.get(each.path) if each.kind != "page" else None
        if found is None:
            yield each
            continue
        others = {
            name: homes.get(home, "") if home is not None else ""
            for name, home in found.names.items()
            if f"{each.path}.{name}" not in paths
        }
        facts: dict[str, Any] = {"others": others} if others else {}
        facts |= {"certain": True} if found.certain else {}
        facts |= {"through": list(found.through)} if found.through else {}
        yield replace(each, attributes={**each.attributes, **facts})
