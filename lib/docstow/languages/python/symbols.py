"""One symbol out of all views of a name, those of source and stubs."""

from __future__ import annotations

from dataclasses import replace

from docstow.languages.python.calls import call_overloads, call_parameters
from docstow.languages.python.names import DefinitionView
from docstow.languages.shared.surface import (
    Parameter,
    Symbol,
    SymbolKind,
)


def main_view(views: list[DefinitionView]) -> DefinitionView:
    """Return the view of the source, or else the first of a stub."""
    return next((each for each in views if each.layer.role == "source"), views[0])


def build_symbol(path: str, views: list[DefinitionView], within: DefinitionView | None) -> Symbol:
    """Build the symbol of a name.

    Args:
        path: by which it is named.
        views: at least one.
        within: the class of which a method is called, where that is known.
    """
    source = main_view(views)
    stub = next((each for each in views if each.layer.role != "source"), None)
    typed = stub or source
    if source.definition.kind != "attribute" or stub is None:
        kind, taken = _kind(source), _parameters(source, stub, within)
    else:
        # The source binds a value, of which the stub has more.
        kind, taken = _kind(stub), None
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
        parameters=taken,
        module=typed.module,
        overloads=_overloads(source) if taken is None else (),
    )


def _parameters(
    source: DefinitionView, stub: DefinitionView | None, within: DefinitionView | None
) -> tuple[Parameter, ...] | None:
    """Return the parameters of the source, or of a stub of the package's own without source."""
    if source.layer.role == "foreign stub":
        return None
    if stub is not None and stub is not source and stub.is_ambiguous:
        return None
    taken = call_parameters(source, within)
    return _accept_more(taken) if taken is not None and _is_of_compiled(source) else taken


def _overloads(source: DefinitionView) -> tuple[tuple[Parameter, ...], ...]:
    """Return the parameters of overloads in a stub of the package's own."""
    if source.layer.role != "stub":
        return ()
    found = call_overloads(source)
    return tuple(_accept_more(each) for each in found) if _is_of_compiled(source) else found


def _accept_more(taken: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """Return the same parameters, all optional, and any number of others."""
    names = [replace(each, required=False) for each in taken]
    rest = Parameter("rest", "var_positional", required=False)
    return (*names, *([] if any(each.kind == rest.kind for each in taken) else [rest]))


def _is_of_compiled(view: DefinitionView) -> bool:
    """Return whether a stub is of a compiled module, which may take more arguments than it says."""
    module = view.names.files.module(view.module)
    if module is None or view.layer.role != "stub":
        return False
    return module.native or any(each.role == "source" for each in module.layers)


def _kind(view: DefinitionView) -> SymbolKind:
    definition = view.definition
    if definition.kind == "class":
        standard = view.names.lineage(view).standard
        return "enum" if any(each.__module__ == "enum" for each in standard) else "class"
    if definition.kind == "function":
        return "method" if view.owner is not None else "function"
    if definition.kind == "property":
        return "property"
    if view.owner is None and definition.name.isupper():
        return "constant"
    return "attribute"
