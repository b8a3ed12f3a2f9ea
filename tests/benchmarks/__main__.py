"""``make bench`` or ``python -m tests.benchmarks``: prints the tables of :mod:`benchmarks.run`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.run import main

main()
