"""Benchmark of bursts with a few nodes: it counts calls, and its fake Slurm gets the same commands as the real one."""

import pytest

from bench.burst import comments, job_starts
from bench.burst import parts as burst
from bench.burst import passes as burst_pass
from bench.burst.parts import COLD, OURS, bench


def test_a_gang_is_one_launch_and_each_separate_job_is_one() -> None:
    with bench(peers=False) as benchmark:
        whole, parts, cold = benchmark.ours(4, 1, 0.0), benchmark.ours(4, 2, 0.0), benchmark.cold(4, 1, 0.0)
    assert (whole.name, cold.name) == (OURS, COLD)
    # One query and one launch; with two jobs, a launch for each.
    assert [shot.ec2 for shot in (whole, parts, cold)] == [2, 3, 2]
    assert [shot.calls for shot in (whole, parts, cold)] == [2, 3, 2]
    assert [shot.updates for shot in (whole, parts, cold)] == [1, 1, 1]
    assert all(0 < shot.net <= shot.seconds and 20 < shot.mib < 80 for shot in (whole, parts, cold))


def test_programs_of_booting_jobs_share_the_calls_of_slurm() -> None:
    measured = job_starts.values(5, 2.0)
    assert measured["booting jobs"] == 5
    assert 0 < measured["booting jobs: RPCs a second"] <= 5
    # With the daemon; a program of its own that reads Slurm needs 16 MB.
    assert measured["booting jobs, all waiting: MB"] < 80


@pytest.mark.parametrize("interfaces", [1, 32])
def test_a_pass_reads_every_node_job_and_instance(interfaces: int, capsys: pytest.CaptureFixture[str]) -> None:
    """The bench itself fails if the journal does not have every instance, or if the pass has changed a node."""
    measured = burst_pass.values(30, 40, interfaces)
    assert [value for name, value in measured.items() if name.endswith("calls of EC2")] == [1, 1, 1]
    assert all(value > 0 for value in measured.values())
    assert len(capsys.readouterr().out.splitlines()) == 6


def test_all_refused_jobs_get_a_comment(capsys: pytest.CaptureFixture[str]) -> None:
    assert comments.values(30)["comments of 30 refused jobs: CPU s"] > 0
    # One write of the journal for all of them, or a few.
    assert 0 < int(capsys.readouterr().out.split()[-1]) < 10


def test_an_unknown_part_of_the_benchmark_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        burst.main(["launch"])
    assert "launches" in capsys.readouterr().err
