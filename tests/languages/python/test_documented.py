"""What docstrings say that functions return."""

from __future__ import annotations

import pytest

from docstow.languages.python.check.documented import (
    documented_return,
    may_be_sparse,
    tells_another,
)

NUMPY = "Do it.\n\nReturns\n-------\n{}\n    What it is.\n\nNotes\n-----\nNone\n"


@pytest.mark.parametrize(
    ("docstring", "annotation"),
    [
        ("Do it.\n\n:rtype: :class:`~pkg.Session`\n", "pkg.Session"),
        (":rtype: Session or None", "Session"),
        (":rtype: list[Session]", "list[Session]"),
        (":rtype: str", ""),
        (":return: A :class:`~pkg.Connection` instance.\n", "pkg.Connection"),
        (":returns: a list of :class:`Connection`", ""),
        (":returns: the :class:`Connection` or a :class:`Pool`", ""),
        (NUMPY.format("ax : `~matplotlib.axes.Axes`"), "matplotlib.axes.Axes"),
        (NUMPY.format("RegressionResults"), "RegressionResults"),
        (NUMPY.format("properties : list of RegionProperties"), "list[RegionProperties]"),
        (NUMPY.format("a : Axes\nb : Figure"), ""),
        (NUMPY.format("x : ndarray"), "numpy.ndarray"),
        (NUMPY.format("p : ndarray of shape (n_samples, n_classes)"), "numpy.ndarray"),
        (NUMPY.format("x : (N,) array of float"), "numpy.ndarray"),
        (NUMPY.format("f : ndarray\nPxx : ndarray"), "tuple[numpy.ndarray, numpy.ndarray]"),
        (NUMPY.format("x : np.ndarray\ncost : float"), "tuple[numpy.ndarray, Any]"),
        (NUMPY.format("x : ndarray or float"), ""),
        (NUMPY.format("x : {ndarray, sparse matrix} of shape (n, m)"), ""),
        (NUMPY.format("x : ndarray") + "\nOf a DataFrame it makes another.", ""),
        (NUMPY.format("self : object"), ""),
        ("Do it.\n\nReturns:\n    Client: the client that was made.\n", "Client"),
        ("Do it.\n\nReturns:\n    the client that was made.\n", ""),
        ("Returns the Client.", ""),
        ("Returns:", ""),
        ("", ""),
    ],
)
def test_the_class_that_a_docstring_names(docstring: str, annotation: str) -> None:
    assert documented_return(docstring) == annotation


@pytest.mark.parametrize(
    ("docstring", "told"),
    [
        ("Note that a |Frame| shape object is returned, not the |Chart| object.", True),
        ("The :class:`~pkg.Frame` is returned.", True),
        ("The |Chart| is returned.", False),
        ("A |Frame| holds the |Chart| that is returned.", False),
        ("Return the |Frame|.", False),
        ("", False),
    ],
)
def test_another_class_than_the_annotation_is_told(docstring: str, told: bool) -> None:
    assert tells_another(docstring, "(data: Data) -> Chart") is told


def test_arrays_that_docstrings_name_may_be_sparse() -> None:
    assert may_be_sparse("numpy", "toarray")
    assert not may_be_sparse("numpy", "tolist")
    assert not may_be_sparse("pandas", "toarray")
