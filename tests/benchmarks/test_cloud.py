"""The simulator in short: everything goes wrong at once, and nothing is lost, mixed or doubled."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from servers import s3
from servers.weather import STORM

pytest.importorskip("runtime_client", reason="awslambdaric has no native client on this platform")
if sys.platform == "win32":
    pytest.skip("processes are killed and counted as on Unix", allow_module_level=True)

if s3.NAMED:
    reason = "killings and the queue's patience are timed for moto's speed"
    pytest.skip(reason, allow_module_level=True)

from benchmarks.cloud import Mishaps, check, clouds, samples


def test_two_workers_six_crates_and_everything_goes_wrong(tmp_path: Path) -> None:
    crates = samples(tmp_path / "crates", 6)
    climate = replace(STORM, read_s=0.005, write_s=0.01, slow_down=0.05, lost=0.1, cut=0.1)
    with clouds(tmp_path, tmp_path / "crates", seed=3, climate=climate) as make:
        cloud = make("storm")
        trouble = Mishaps(twice=0.4, killed=0.4, within_s=0.3)
        drained = cloud.drain(crates, 2, trouble)
        check(cloud, crates)
    counted, tally = drained.counted, drained.tally
    met = [counted["slow down"], counted["lost"], counted["cut"], tally.twice, tally.killed]
    assert all(met), met
    assert drained.dead == 0
    # What is begun anew is what was killed, or whose lease ran out with a killed worker.
    assert drained.fetches <= len(crates) + tally.killed
