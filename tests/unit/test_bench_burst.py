"""Benchmark of bursts with a few nodes: it counts calls, and its fake Slurm gets the same commands as the real one."""

import pytest

from bench import job_starts
from bench.burst import COLD, OURS, bench


def test_a_gang_is_one_launch_and_each_separate_job_is_one() -> None:
    with bench(peers=False) as benchmark:
        whole, parts, cold = benchmark.ours(4, 1, 0.0), benchmark.ours(4, 2, 0.0), benchmark.cold(4, 1, 0.0)
    assert (whole.name, cold.name) == (OURS, COLD)
    # One query and one launch; with two jobs, a launch for each.
    assert [shot.ec2 for shot in (whole, parts, cold)] == [2, 3, 2]
    assert [shot.calls for shot in (whole, parts, cold)] == [2, 3, 2]
    assert [shot.updates for shot in (whole, parts, cold)] == [1, 1, 1]
    assert all(0 < shot.net <= shot.seconds and 20 < shot.mib < 80 for shot in (whole, parts, cold))


def test_programs_of_booting_jobs_share_the_calls_of_slurm(capsys: pytest.CaptureFixture[str]) -> None:
    assert job_starts.main(["--jobs", "5", "--polling", "2", "--seconds", "2"]) == 0
    answered, polling = (line.split() for line in capsys.readouterr().out.splitlines()[1:3])
    # Jobs, programs that wait, and the memory of each.
    assert answered[2:4] == ["5", "5"] and polling[1:3] == ["2", "2"]
    assert float(answered[4]) / 5 < 0.3 < float(polling[3]) / 2
