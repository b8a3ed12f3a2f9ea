"""What matplotlib's ``subplots`` make: arrays of plots, of which no annotation tells.

A call with both numbers written down tells the form of the array: ``subplots(2)`` makes a row,
``subplots(2, 3)`` rows of rows. With one plot it makes no array, which annotations tell.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from docstow.languages.python.check.annotations import PackageType, ValueType

#: Functions that make plots, with what they return before these; empty for nothing.
PLOTTING: Mapping[str, str] = {
    "matplotlib.pyplot.subplots": "matplotlib.figure.Figure",
    "matplotlib.figure.FigureBase.subplots": "",
}
ARRAY, PLOT = "numpy.ndarray", "matplotlib.axes.Axes"
_NUMBERS = ("nrows", "ncols")


def plots_of(call: ast.Call, plot: PackageType, array: PackageType) -> PackageType | None:
    """Return the array of plots that a call makes; None for one plot, or where it is not certain.

    Args:
        call: of a function that makes plots.
        plot: one of them.
        array: of anything.
    """
    named = {each.arg: each.value for each in call.keywords}
    if None in named or "squeeze" in named or len(call.args) > len(_NUMBERS):
        return None
    given = dict(zip(_NUMBERS, call.args, strict=False)) | named
    numbers = [given.get(each, ast.Constant(1)) for each in _NUMBERS]
    made = plot
    for each in numbers:
        if not isinstance(each, ast.Constant) or not isinstance(each.value, int):
            return None
        made = replace(array, arguments=(made,)) if each.value > 1 else made
    return made if made is not plot else None


def is_array(value: PackageType) -> bool:
    """Return whether a value is an array of plots; numpy's own have other arguments."""
    inner = value.arguments[0] if value.path == ARRAY and len(value.arguments) == 1 else None
    return isinstance(inner, PackageType) and (inner.path == PLOT or is_array(inner))


def plot_at(value: PackageType, index: ast.expr) -> ValueType | None:
    """Return what an index leads to: a plot, a row of them, or a part of the array."""
    if isinstance(index, ast.Slice):
        return value
    found: ValueType | None = value
    for each in index.elts if isinstance(index, ast.Tuple) else [index]:
        if isinstance(each, ast.Slice) or not isinstance(found, PackageType):
            return None
        found = found.arguments[0] if is_array(found) else None
    return found


def flat_plots(value: PackageType) -> PackageType:
    """Return an array with the same plots in one row."""
    inner = value.arguments[0]
    return flat_plots(inner) if isinstance(inner, PackageType) and is_array(inner) else value
