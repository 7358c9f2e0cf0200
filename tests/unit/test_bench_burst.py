"""The measuring of bursts, with a few nodes: it counts what happened, and its fake Slurm is asked as the real one is."""

import pytest

from bench.burst import COLD, OURS, bench

pytestmark = pytest.mark.timeout(900)


def test_a_gang_is_one_launch_and_fifty_jobs_are_as_many_as_they_are() -> None:
    with bench(peers=False) as one:
        whole, parts, cold = one.ours(4, 1, 0.0), one.ours(4, 2, 0.0), one.cold(4, 1, 0.0)
    assert (whole.name, cold.name) == (OURS, COLD)
    # One look and one launch; a launch for each job.
    assert [shot.ec2 for shot in (whole, parts, cold)] == [2, 3, 2]
    assert [shot.calls for shot in (whole, parts, cold)] == [2, 3, 2]
    assert [shot.updates for shot in (whole, parts, cold)] == [1, 1, 1]
    assert all(0 < shot.net <= shot.seconds and 20 < shot.mib < 80 for shot in (whole, parts, cold))
