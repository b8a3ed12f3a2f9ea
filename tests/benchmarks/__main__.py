"""``make bench``: prints the tables of :mod:`benchmarks.run`."""

from benchmarks.run import main

main()
