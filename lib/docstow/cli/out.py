"""What commands print: JSON if that is asked for, colour and tables on a terminal, else lines."""

from __future__ import annotations

import json
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from docstow.cli.progress import on_terminal

#: Colours of words that tell how something is.
_STYLES = {
    **dict.fromkeys(("success", "ok", "docs-only", "compatible"), "green"),
    **dict.fromkeys(("failed", "fault", "breaking", "unknown", "wrong_argument"), "red"),
    **dict.fromkeys(("running", "queued", "warning", "deprecated"), "yellow"),
}
#: What stands before the words of a line: spaces, and the mark of a list's item or a quote.
_BEGIN = re.compile(r"\s*(?:(?:[-*+>]|\d+\.)\s+)?")


class Out:
    """The standard output of a command.

    Args:
        as_json: whether machines read it.
    """

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json

    def tell(self, body: Any, text: str, *, style: str = "", wrap: bool = False) -> None:
        """Print one thing.

        Args:
            body: the thing as a line of JSON.
            text: the same for people.
            style: how rich writes the first line on a terminal; a word of :data:`_STYLES` or bold.
            wrap: whether it is prose, which a terminal has in whole words.
        """
        if wrap and not self.as_json and on_terminal(sys.stdout):
            text = wrap_text(text, shutil.get_terminal_size().columns)
        if self.as_json:
            print(json.dumps(body, ensure_ascii=False, default=str), flush=True)
        elif style and on_terminal(sys.stdout):
            from rich.console import Console
            from rich.text import Text

            first, newline, rest = text.partition("\n")
            shown = Text(first, style=_STYLES.get(style, style)).append(
                f"{newline}{rest}", "not bold"
            )
            Console(highlight=False).print(shown, soft_wrap=True)
        else:
            print(text, flush=True)

    def table(
        self,
        bodies: Iterable[Mapping[str, Any]],
        header: Sequence[str],
        rows: Iterable[Sequence[str]],
        plain: Iterable[str],
        *,
        numbers: Sequence[int] = (),
        whole: Sequence[int] = (),
    ) -> None:
        """Print many things of one kind.

        Args:
            bodies: the things as JSON; all of them become one array.
            header: of the columns.
            rows: the same for a terminal.
            plain: the same as lines, where there is none.
            numbers: the columns that are numbers.
            whole: the columns that are never broken, however narrow the terminal is.
        """
        if self.as_json:
            print(json.dumps(list(bodies), ensure_ascii=False, default=str))
        elif on_terminal(sys.stdout):
            from rich import box
            from rich.console import Console
            from rich.table import Table
            from rich.text import Text

            table = Table(box=box.SIMPLE, pad_edge=False)
            for number, name in enumerate(header):
                right = "right" if number in numbers else "left"
                table.add_column(
                    name,
                    justify=right,  # type: ignore[arg-type]
                    overflow="fold",
                    no_wrap=number in whole,
                )
            rows = list(rows)
            if not rows:
                print("There are none.")
                return
            for row in rows:
                table.add_row(*(Text(cell, _STYLES.get(cell, "")) for cell in row))
            Console(highlight=False).print(table)
        else:
            for line in plain:
                print(line)


def wrap_text(text: str, width: int) -> str:
    """Return Markdown whose lines are no wider than a terminal where whole words allow it.

    Code stays as it is; what continues an item of a list stands below its words.

    Args:
        text: to be printed.
        width: of the terminal, in columns.
    """
    lines: list[str] = []
    fenced = False
    for line in text.split("\n"):
        fence = line.lstrip().startswith("```")
        fenced ^= fence
        if fenced or fence or len(line) <= width:
            lines.append(line)
            continue
        begin = _BEGIN.match(line)
        indent = " " * len(begin[0]) if begin else ""
        lines += textwrap.wrap(
            line,
            width,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join(lines)
