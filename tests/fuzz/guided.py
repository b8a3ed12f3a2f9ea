"""Inputs that lead a reader to code that no other input reached, by Atheris and libFuzzer.

``python -m fuzz.guided --seconds 60 "lock files" pdf`` tries each of some readers, or all, for so
long, and fails with the inputs that it leaves in ``build/fuzz``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from fuzz.attempts import MOST_BYTES, judge, try_one, try_priced
from fuzz.seeds import LONGEST
from paths import REPOSITORY

_FOUND = REPOSITORY / "build" / "fuzz"


def main(names: Sequence[str], seconds: int) -> int:
    """Try readers one after the other, each in a process of its own; return the exit status."""
    if find_spec("atheris") is None:
        print("Atheris has no wheel for this Python and system; inputs are Hypothesis' alone.")
        return 0
    from fuzz.readers import READERS

    unknown = set(names) - READERS.keys()
    if unknown:
        print(f"There is no reader {', '.join(sorted(unknown))}; there are {', '.join(READERS)}.")
        return 2
    _FOUND.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in names or READERS:
        command = [sys.executable, "-m", "fuzz.guided", "--seconds", str(seconds), "--in", name]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
        counts = [line for line in done.stderr.splitlines() if "executed_units" in line]
        print(f"{name}: {counts[0].split()[-1] if counts else 'no'} inputs", flush=True)
        if done.returncode:
            failed.append(name)
            print(done.stderr[-4000:], flush=True)
    if failed:
        print(f"Failed: {', '.join(failed)}; the inputs are in {_FOUND}")
    return 1 if failed else 0


def guide(name: str, seconds: int) -> None:
    """Try inputs of one reader until the time is over, and then exit."""
    import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

    with atheris.instrument_imports(include=["docstow"], enable_loader_override=False):
        from fuzz.readers import READERS

    reader = READERS[name]
    bodies = list(dict.fromkeys(reader.seeds()))
    # What is imported and loaded once is not the price of an input.
    try_one(reader.read, bodies[0])

    def try_body(body: bytes) -> None:
        _, failed, price = try_priced(reader.read, body)
        if failed:
            raise AssertionError(f"{name}: {failed}")
        judge(name, body, price)

    with tempfile.TemporaryDirectory() as corpus:
        for number, body in enumerate(bodies):
            Path(corpus, str(number)).write_bytes(body)
        options = [
            f"-max_total_time={seconds}",
            f"-max_len={LONGEST}",
            # Code that counts where it goes takes more itself.
            f"-rss_limit_mb={2 * MOST_BYTES >> 20}",
            "-timeout=120",
            "-print_final_stats=1",
            f"-artifact_prefix={_FOUND}/{name.replace('/', '-').replace(' ', '-')}-",
        ]
        atheris.Setup([sys.argv[0], *options, corpus], try_body)
        atheris.Fuzz()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readers", nargs="*")
    parser.add_argument("--seconds", type=int, default=60, help="for each reader")
    parser.add_argument("--in", dest="inside", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        guide(options.inside, options.seconds)
    else:
        sys.exit(main(options.readers, options.seconds))
