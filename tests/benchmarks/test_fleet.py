"""The fleet in short: many workers, a store that throttles, and a process that is killed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from servers import s3, seaweed

pytest.importorskip("runtime_client", reason="awslambdaric has no native client on this platform")
if sys.platform == "win32":
    pytest.skip("processes are killed and counted as on Unix", allow_module_level=True)

if s3.NAMED or seaweed.program() is None:
    pytest.skip("the fleet has a SeaweedFS of its own", allow_module_level=True)

from benchmarks.cloud import check, clouds
from benchmarks.fleet import THROTTLED, Fleet, renamed, stow, uncatalogued
from servers.weather import Climate


def test_sixteen_workers_of_which_half_are_killed_stow_every_crate(
    seaweedfs: str, tmp_path: Path
) -> None:
    crates = renamed(tmp_path / "crates", 40)
    fleet = Fleet(processes=2, threads=8, kills=1, twice=0.1)
    folder = tmp_path / "crates"
    with clouds(tmp_path, folder, seed=5, climate=THROTTLED, endpoint=seaweedfs) as make:
        cloud = make("fleet", 1.0)
        stowed = stow(cloud, crates, fleet, 5)
        cloud.weather.climate = Climate()
        cloud.runtime.upkeep().run()
        assert uncatalogued(cloud, crates) == 0
        check(cloud, crates, crates[:3])
    assert stowed.counts["killed"] == 1
    assert stowed.counts["twice"]
    assert stowed.requests["slow down"]
    assert stowed.dead == 0
    # What is fetched again is what was interrupted, or failed at what the store refused too often.
    assert stowed.again <= stowed.counts["interrupted"] + stowed.counts["failed"]
