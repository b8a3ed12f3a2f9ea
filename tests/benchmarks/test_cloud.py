"""The simulator in short: real processes are killed, answers get lost, and every crate answers.

What waits for whom is no chance: each message's first worker is killed, and the next one spared.
All other orders are searched in ``test_work_schedules``, without processes and without waiting.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from servers import s3
from servers.weather import STORM, Climate

pytest.importorskip("runtime_client", reason="awslambdaric has no native client on this platform")
if sys.platform == "win32":
    pytest.skip("processes are killed and counted as on Unix", allow_module_level=True)

if s3.NAMED:
    pytest.skip("a killed worker's message comes at moto's speed", allow_module_level=True)

from benchmarks.cloud import Mishaps, check, clouds, samples


def test_two_workers_that_are_killed_at_every_crate_stow_them_all(tmp_path: Path) -> None:
    crates = samples(tmp_path / "crates", 2)
    climate = replace(STORM, read_s=0.0, write_s=0.0, slow_down=0.1, lost=0.1, cut=0.1)
    with clouds(tmp_path, tmp_path / "crates", seed=3, climate=climate) as make:
        cloud = make("storm")
        trouble = Mishaps(twice=0.5, killed=1.0, within_s=0.3, spared=2)
        drained = cloud.drain(crates, 2, trouble)
        cloud.weather.climate = Climate()
        check(cloud, crates)
    counted, tally = drained.counted, drained.tally
    assert tally.killed >= len(crates)
    assert sum(counted[name] for name in ("slow down", "lost", "cut"))
    assert drained.dead == 0
    # What is begun anew is what was killed, or failed at what the store refused too often.
    assert drained.fetches <= len(crates) + tally.killed + tally.failed
