"""What the files of a Python package say of one name, put into one symbol.

This room knows what a stub tells better than a source, and the other way round. It does not know
how names are found (:mod:`docstow.languages.python.names`).
"""

from __future__ import annotations

from dataclasses import replace

from docstow.languages.python.calls import overloads, parameters
from docstow.languages.python.names__packages_python_views import View
from docstow.languages.python.source.facts import Definition
from docstow.languages.shared.surface import Symbol, SymbolKind
from docstow.languages.shared.surface__readers_call_parameters import Parameter


def main_of(views: list[View]) -> View:
    """The source's view before a stub's."""
    return next((each for each in views if each.layer.role == "source"), views[0])


def defined(path: str, views: list[View], within: View | None) -> Symbol:
    """One symbol of all that files say of a name.

    Args:
        path: by which it is asked for.
        views: of it, at least one.
        within: the class that a method is asked of, where that is known.
    """
    source = main_of(views)
    stub = next((each for each in views if each.layer.role != "source"), None)
    typed = stub or source
    if source.definition.kind != "attribute" or stub is None:
        kind, given = _kind(source), _parameters(source, stub, within)
    else:
        # The source binds a value that only the stub tells more of.
        kind, given = _kind(stub), None
    there = source if source.definition.line else typed
    return Symbol(
        path=path,
        kind=kind,
        file=there.names.files.shown(there.layer.path),
        line=there.definition.line,
        end_line=there.definition.end_line,
        signature=typed.definition.signature or source.definition.signature or path,
        docstring=source.definition.docstring or typed.definition.docstring,
        deprecated=source.definition.deprecated or typed.definition.deprecated,
        target=source.path if source.path != path else "",
        parameters=given,
        module=typed.module,
        overloads=_overloads(source) if given is None else (),
    )


def _parameters(
    source: View, stub: View | None, within: View | None
) -> tuple[Parameter, ...] | None:
    """Those of the source; a stub's where there is no source and the stub is the package's own."""
    if source.layer.role == "foreign stub":
        return None
    if stub is not None and stub is not source and stub.several:
        return None
    given = parameters(source, within)
    return _loose(given) if given is not None and _is_told(source) else given


def _overloads(source: View) -> tuple[tuple[Parameter, ...], ...]:
    """What overloads take where they alone say it: in a stub of the package's own."""
    if source.layer.role != "stub":
        return ()
    found = overloads(source)
    return tuple(_loose(each) for each in found) if _is_told(source) else found


def _loose(given: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """The same names, as many as anybody likes."""
    names = [replace(each, required=False) for each in given]
    rest = Parameter("rest", "var_positional", required=False)
    return (*names, *([] if any(each.kind == rest.kind for each in given) else [rest]))


def _is_told(view: View) -> bool:
    """Whether a stub speaks of what was compiled: it may take more than it is said to take."""
    module = view.names.files.module(view.module)
    others = module is not None and any(each.role == "source" for each in module.layers)
    return view.layer.role == "stub" and (others or (module is not None and module.native))


def _kind(view: View) -> SymbolKind:
    definition: Definition = view.definition
    if definition.kind == "class":
        known = view.names.lineage(view).known
        return "enum" if any(each.__module__ == "enum" for each in known) else "class"
    if definition.kind == "function":
        return "method" if view.owner is not None else "function"
    if definition.kind == "property":
        return "property"
    if view.owner is None and definition.name.isupper():
        return "constant"
    return "attribute"


def attributes(view: View) -> list[str]:
    """The public names of a class, its own first."""
    names: dict[str, None] = {}
    for owner in view.names.lineage(view).classes:
        body = owner.definition.body
        names |= dict.fromkeys(each for each in (body.names if body else ()) if each[0] != "_")
    return list(names)
