"""Make ``std_definitions.txt`` of the rustdoc reader: the standard library's public paths.

    python infra/std_definitions.py FOLDER

FOLDER has ``std``, ``core`` and ``alloc``, each with the ``rustdoc.json`` (or ``.json.zst``) of
the same version.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

from docstow.languages.rust.rustdoc import read

OUT = Path(__file__).resolve().parent.parent / (
    "lib/docstow/languages/rust/rustdoc/std_definitions.txt"
)
MEMBERS = frozenset({"method", "field", "variant", "assoc_const", "assoc_type"})
#: Intrinsics of one machine, of which there are twenty thousand.
CLOSED = ("core_arch", "core_simd", "::sys::")


def main(folder: Path) -> None:
    """Write the file."""
    names: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for crate in ("std", "core", "alloc"):
        file = next(iter(sorted((folder / crate).glob("rustdoc.json*"))))
        body = file.read_bytes()
        if file.suffix == ".zst":
            import zstandard

            body = zstandard.ZstdDecompressor().decompress(body, max_output_size=1 << 30)
        docs = read(body, name=crate)
        kinds = {each.path: each.kind for each in docs.documents}
        for defined, path in sorted(docs.definitions.items()):
            closed = any(word in defined for word in CLOSED)
            if closed or kinds.get(path, "method") in MEMBERS:
                continue
            private, _, name = defined.rpartition("::")
            public, _, shown = path.rpartition("::")
            if name == shown:
                names[private, public].append(name)
    lines = [" ".join([*pair, *each]) for pair, each in sorted(names.items())]
    OUT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
