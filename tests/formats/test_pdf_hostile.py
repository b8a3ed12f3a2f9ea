"""PDF files that say little and mean much."""

from __future__ import annotations

import pytest

from docstow.core.errors import UnreadableInput
from docstow.core.model import File
from docstow.formats import pdf


def document(objects: list[bytes]) -> File:
    body, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(b"%010d 00000 n \n" % len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, b"".join(places))
    end = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(body))
    return File("a.pdf", "", "application/pdf", body + table + end)


def stream(entries: bytes, content: bytes) -> bytes:
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (entries, len(content), content)


def forms(depth: int) -> File:
    """One page, and forms that show the next one twice: the last is shown ``2 ** depth`` times."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        (
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]"
            b"/Resources<</XObject<</X 5 0 R>>>>/Contents 4 0 R>>"
        ),
        stream(b"", b"/X Do"),
    ]
    for number in range(6, 6 + depth):
        inner = b"/Resources<</XObject<</X %d 0 R>>>>" % number
        form = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]" + inner
        objects.append(stream(form, b"/X Do /X Do"))
    objects.append(stream(b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]", b"q Q"))
    return document(objects)


def test_forms_that_show_each_other_without_end_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pdf, "_MOST_OPERATORS", 2000)
    assert pdf.read(forms(3)).text == ""
    with pytest.raises(UnreadableInput, match="more than 2000 operators"):
        pdf.read(forms(60))
