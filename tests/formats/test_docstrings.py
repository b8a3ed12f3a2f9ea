"""Docstrings of every usual style become Markdown."""

from __future__ import annotations

from textwrap import dedent

import pytest

from docstow.formats.docstrings import guess_language, markdown


def made(docstring: str) -> str:
    return markdown(dedent(docstring).strip("\n"))


def test_sections_of_google() -> None:
    assert made(
        """
        Row the boat.

        Args:
            strokes (int): How many,
                at least one.
            side: Either of
                - left
                - right

        Returns:
            The distance.

        Raises:
            SunkError: The boat is gone.

        Note:
            Mind the rocks.

        Example:
            boat = Boat()
            row(boat, 3)
        """
    ) == dedent(
        """\
        Row the boat.

        **Args:**

        - `strokes` (int): How many, at least one.
        - `side`: Either of
          - left
          - right

        **Returns:**

        The distance.

        **Raises:**

        - `SunkError`: The boat is gone.

        > **Note:** Mind the rocks.

        **Example:**

        ```python
        boat = Boat()
        row(boat, 3)
        ```"""
    )


def test_sections_of_numpydoc() -> None:
    assert made(
        """
        Row.

        .. versionchanged:: 1.2
           Rows faster.

        Parameters
        ----------
        strokes : int, optional
            How many.

        See Also
        --------
        sail : The other way.

        Examples
        --------
        >>> row(3)
        6
        """
    ) == dedent(
        """\
        Row.

        > **Changed in 1.2:** Rows faster.

        ## Parameters

        - `strokes` (int, optional): How many.

        ## See Also

        - `sail`: The other way.

        ## Examples

        ```python
        >>> row(3)
        6
        ```"""
    )


def test_fields_roles_and_literal_blocks() -> None:
    assert made(
        """
        Row a :class:`~boats.hull.Boat`, see :ref:`the guide <guide>` and `Rowing <https://r.example>`_::

            row(boat)

        .. note:: Not :meth:`_core.Boat.sail`.

        .. code-block:: toml

           [boat]

        :param int strokes: how many,
            at least one
        :type other: str
        :return: the distance
        :raises SunkError: when it is gone
        """
    ) == dedent(
        """\
        Row a `Boat`, see the guide and [Rowing](https://r.example):

        ```python
        row(boat)
        ```

        > **Note:** Not `Boat.sail`.

        ```toml
        [boat]
        ```

        - `strokes` (int): how many, at least one
        - **Returns**: the distance
        - **Raises** `SunkError`: when it is gone"""
    )


def test_what_it_is_for_comes_before_a_remark() -> None:
    text = '!!! abstract "Guide"\n    [Rowing](rowing.md)\n\nRow the\nboat.\n\nMore.'
    assert markdown(text) == "Row the\nboat.\n\n> **Guide:** [Rowing](rowing.md)\n\nMore."


def test_what_html_hides_is_dropped() -> None:
    text = 'Row.\n\n<p style="display:none">Sink it.</p>\n\n<span hidden>Now</span>Gently.'
    assert markdown(text) == "Row.\n\nGently."
    code = '>>> show("<p hidden>x</p>")'
    assert code in markdown(f"Row.\n\n{code}")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Plain.",
        "Text.\n\n```python\nx = 1\n>>> y\n```\n\n- a\n- b\n    c",
        "# Title\n\n| a | b |\n| --- | --- |\n| 1 | 2 |",
        "Keys: `a`, `b::c` and 10:30.",
    ],
)
def test_markdown_stays_as_it_is(text: str) -> None:
    assert markdown(text) == text


def test_code_is_told_from_prose() -> None:
    assert guess_language("import boats\nboats.row()") == "python"
    assert guess_language(">>> row()\nrowing") == "python"
    assert guess_language("$ boats row --fast") == "text"
    assert guess_language("word") == "text"
