"""``python -m screening``: the share of honest passages that are marked, of each half."""

from __future__ import annotations

from docstow.text.injection import screen
from docstow.text.invisible import drop_invisible
from screening.honest import manuals, packages


def main() -> None:
    sources = [*packages(), *manuals()]
    for name, half in (("development", sources[::2]), ("set aside", sources[1::2])):
        passages = [each for source in half for each in source.sample()]
        found = [each for each in passages if screen(drop_invisible(each)[0])]
        print(f"{name}: {len(found)} of {len(passages)} passages are marked")


if __name__ == "__main__":
    main()
