"""What a sync keeps of real manuals, a sample of them; ``make fidelity`` measures all."""

from __future__ import annotations

from pathlib import Path

import pytest

from fidelity.__main__ import GOAL, measure
from fidelity.manuals import MANUALS, Unavailable
from fidelity.measure import shares
from require import unavailable

BY_NAME = {each.name: each for each in MANUALS}


@pytest.mark.network
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("name", "most"), [("Git", 1000), ("PostgreSQL", 60), ("Rust book", 60)])
def test_a_sync_keeps_the_words_of_a_manual(name: str, most: int, tmp_path: Path) -> None:
    try:
        outcome = measure(BY_NAME[name], tmp_path, most)
    except Unavailable as error:
        unavailable(str(error))
    poorest = "\n".join(f"{path}: {words}" for path, words in outcome.lost.items())
    assert outcome.holds, f"{outcome.row()}\n{poorest}"
    # Nor is everything kept, whatever it is.
    words = [(each.wanted, each.written) for each in outcome.shares.values()]
    assert sum(written for _, written in words) < 1.2 * sum(wanted for wanted, _ in words)


PAGE = """<html><body><div class="navheader"><a href="b.html">Next: Buoys</a></div>
<p>Harbour manual</p><h1>{title}</h1><ul><li><a href="#moor">{title} first</a></li></ul>
<p>Ships <b>moor</b>ed at <i>{title}</i> pay<sup>1</sup>.</p><p hidden>Not shown at all</p>
<table><tr><td>fee<td>twelve</table><script>var word</script>
<div id="footer">Last updated 2026-01-0{day} 10:00:0{day} UTC</div></body></html>"""


def test_the_measure_counts_what_a_page_shows_and_does_not_repeat() -> None:
    titles = ["Piers", "Quays", "Locks", "Canals", "Rivers"]
    pages = {each: PAGE.format(title=each, day=day).encode() for day, each in enumerate(titles)}
    whole = {each: f"# {each}\n\nShips **moor**ed at *{each}* pay1.\n" for each in titles}
    found = shares(pages, whole)
    # Title, and the sentence; the table, header and footer stand on every page.
    assert {(each.wanted, each.kept, each.written) for each in found.values()} == {(6, 6, 6)}
    few = shares(pages, {**whole, "Piers": "# Piers\n\n[Ships](moored-at-piers.html)\n"})
    assert (few["Piers"].kept, few["Quays"].part) == (2, 1.0)
    assert few["Piers"].part < GOAL
    assert shares(pages, {})["Locks"].part == 0.0
    # Of two pages nothing repeats.
    assert shares({each: pages[each] for each in titles[:2]}, whole)["Piers"].part < 0.5
