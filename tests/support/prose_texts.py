"""Documents for the tests of prose readers, and how one is written in each format."""

from __future__ import annotations

import json

from docstow.core.model import File
from docstow.formats import Page, read

URL = "https://github.com/owner/repo/blob/main/docs/page"


def page(suffix: str, text: str | bytes, url: str = "") -> Page:
    """Read a text as a file of that suffix."""
    body = text.encode() if isinstance(text, str) else text
    return read(File(f"docs/page.{suffix}", url, "", body))


def fence(language: str, code: str) -> str:
    return f"```{language}\n{code}\n```"


def in_markdown(title: str, sections: list[tuple[str, str, str]]) -> str:
    parts = [f"# {title}"]
    for heading, language, code in sections:
        parts += [f"## {heading}", "Some words.", fence(language, code)]
    return "\n\n".join(parts) + "\n"


def in_mdx(title: str, sections: list[tuple[str, str, str]]) -> str:
    return "import X from './x'\n\n" + in_markdown(title, sections) + "\n<X a={1}>end</X>\n"


def in_rst(title: str, sections: list[tuple[str, str, str]]) -> str:
    line = "=" * (len(title) + 2)
    parts = [f"{line}\n{title}\n{line}"]
    for heading, language, code in sections:
        parts += [f"{heading}\n{'-' * (len(heading) + 2)}", f".. code-block:: {language}"]
        parts.append("\n".join(f"   {each}" for each in code.split("\n")))
    return "\n\n".join(parts) + "\n"


def in_adoc(title: str, sections: list[tuple[str, str, str]]) -> str:
    parts = [f"= {title}"]
    for heading, language, code in sections:
        parts += [f"== {heading}", f"[source,{language}]\n------\n{code}\n------"]
    return "\n\n".join(parts) + "\n"


def in_notebook(title: str, sections: list[tuple[str, str, str]]) -> str:
    cells: list[dict[str, object]] = [{"cell_type": "markdown", "source": [f"# {title}"]}]
    for heading, _, code in sections:
        cells.append({"cell_type": "markdown", "source": f"## {heading}"})
        cells.append({"cell_type": "code", "source": code.splitlines(keepends=True), "outputs": []})
    metadata = {"language_info": {"name": "python"}}
    return json.dumps({"nbformat": 4, "metadata": metadata, "cells": cells})


def pdf(texts: list[str], title: str = "") -> bytes:
    """A PDF file with one line of text on each page."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(texts)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(texts)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    resources = "/MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
    for number, text in enumerate(texts):
        content = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        objects += [
            f"<< /Type /Page /Parent 2 0 R {resources} /Contents {5 + 2 * number} 0 R >>",
            f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        ]
    objects.append(f"<< /Title ({title}) >>")
    body = "%PDF-1.4\n"
    places = []
    for number, each in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{each}\nendobj\n"
    start = len(body)
    body += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n"
    body += "".join(f"{place:010} 00000 n \n" for place in places)
    body += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\n"
    return f"{body}startxref\n{start}\n%%EOF\n".encode("latin-1")
