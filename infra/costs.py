"""What docstow costs on AWS, reckoned from prices and from what `make simulate` measured.

    python infra/costs.py            prints the tables of infra/costs.md
    python infra/costs.py --write    puts them there

Both inputs lie in infra/costs.json: put your region's prices and your own figures there. The
standard library does.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
INPUTS, PAGE = HERE / "costs.json", HERE / "costs.md"
BEGIN, END = "<!-- costs.py -->\n", "<!-- end -->\n"

GIB = 1024**3
MILLION = 1_000_000

Figures = Mapping[str, float]


class Costs:
    """Costs in dollars.

    Args:
        inputs: prices, the functions' memory, assumptions and what was measured.
    """

    def __init__(self, inputs: Mapping[str, Any]) -> None:
        self._prices: Figures = inputs["prices"]
        self._memory: Figures = inputs["memory_mib"]
        self._assumed: Figures = inputs["assumed"]
        self._measured: Mapping[str, Figures] = inputs["measured"]

    def requests(self, figures: Figures) -> float:
        """Return what S3 charges for requests; deletions are free."""
        reads = figures["GET"] + figures["HEAD"]
        writes = figures["PUT"] + figures["LIST"]
        return reads * self._prices["s3_get_each"] + writes * self._prices["s3_put_list_each"]

    def function(self, name: str, seconds: float) -> float:
        """Return what Lambda charges for one call."""
        held = seconds * self._memory[name] / 1024
        return held * self._prices["lambda_gib_second"] + self._prices["lambda_request"]

    def query(self, what: str) -> float:
        """Return the cost of one call through the HTTP API."""
        figures = self._measured[what]
        way = self._prices["http_api_request"] + self._logs()
        way += self._assumed["answer_bytes"] / GIB * self._prices["transfer_out_gib"]
        call = self.function("mcp", figures["seconds"])
        return way + call + self.requests(figures)

    def ingest(self) -> float:
        """Return the cost of ingesting one crate."""
        figures = self._measured["ingest"]
        queue = self._assumed["queue_requests_an_ingest"] * self._prices["sqs_request"]
        call = self.function("ingest", figures["seconds"] + self._assumed["docs_rs_s"])
        return queue + call + self.requests(figures) + self._logs()

    def storage(self, crates: float) -> float:
        """Return the cost of storing so many crates for a month."""
        stored = self._measured["ingest"]["stored bytes"] * crates
        return stored / GIB * self._prices["s3_gib_month"]

    def upkeep_s(self, sources: float) -> float:
        """Return the seconds that a round of upkeep over so many sources takes."""
        figures = self._measured["upkeep, a round"]
        reads = self._upkeep_reads(sources) / self._assumed["reads_at_once"]
        waits = reads + sources * self._assumed["objects_a_source"] / 1000
        return (
            figures["seconds"]
            + waits * self._assumed["s3_read_s"]
            + sources * self._assumed["inventory_s_a_source"]
        )

    def _upkeep_reads(self, sources: float) -> float:
        """Return what a round reads of the heads and records that have changed since the last."""
        changed = self._assumed["changed_a_day"] / self._assumed["upkeep_rounds_a_day"]
        return sources * changed * self._assumed["reads_a_change"]

    def upkeep_day(self, sources: float) -> float:
        """Return the cost of a day's rounds over so many sources."""
        figures = self._measured["upkeep, a round"]
        pages = sources * self._assumed["objects_a_source"] / 1000
        reads = self._upkeep_reads(sources)
        once = self.requests({**figures, "GET": reads, "LIST": figures["LIST"] + pages})
        once += self.function("upkeep", self.upkeep_s(sources)) + self._logs()
        return self._assumed["upkeep_rounds_a_day"] * once

    def _logs(self) -> float:
        return self._assumed["log_bytes"] / GIB * self._prices["logs_gib"]

    def tables(self) -> str:
        """Format all tables as Markdown."""
        asked = [name for name in self._measured if "cold" in name or "warm" in name]
        queries = [[name, dollars(self.query(name) * MILLION)] for name in asked]
        mixed = self.query("search, cold") * self._assumed["cold_share"]
        mixed += self.query("search, warm") * (1 - self._assumed["cold_share"])
        share = f"searches, {self._assumed['cold_share']:.0%} of them cold"
        queries.append([share, dollars(mixed * MILLION)])
        crates, versions = self._assumed["crates"], self._assumed["versions"]
        stows = [
            [name, dollars(self.ingest() * count), dollars(self.storage(count))]
            for name, count in (
                ("a thousand crates", 1000),
                (f"the newest of all {crates:,.0f} crates", crates),
                (f"all {versions:,.0f} versions", versions),
            )
        ]
        keeps = [
            [f"{n:,}", dollars(self.upkeep_day(n)), f"{self.upkeep_s(n):.0f}"]
            for n in (1000, 10_000, 100_000)
        ]
        return "\n".join(
            [
                *_table(["a million of", "dollars"], queries),
                *_table(["stowing", "once", "storage a month"], stows),
                *_table(["sources", "upkeep a day", "seconds a round"], keeps),
            ]
        )


def dollars(amount: float) -> str:
    """Format an amount with about three digits."""
    return (
        f"{amount:,.0f}" if amount >= 100 else f"{amount:.2f}" if amount >= 1 else f"{amount:.2g}"
    )


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [heads, ["---"] * len(heads), *rows]
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]


def page(text: str, tables: str) -> str:
    """Return the page with these tables in their place."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tables}\n{END}{after}"


def main(words: list[str] | None = None) -> int:
    """Print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("inputs", type=Path, nargs="?", default=INPUTS)
    parser.add_argument("--write", action="store_true", help="put the tables into the page")
    options = parser.parse_args(words)
    tables = Costs(json.loads(options.inputs.read_text("utf-8"))).tables()
    if options.write:
        PAGE.write_text(page(PAGE.read_text("utf-8"), tables), "utf-8")
    else:
        print(tables)
    return 0


if __name__ == "__main__":
    sys.exit(main())
