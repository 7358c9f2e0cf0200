"""Benchmark of bursts with a few nodes: it counts calls, and its fake Slurm gets the same commands as the real one."""

import pytest

from bench.burst import job_starts
from bench.burst import parts as burst
from bench.burst import passes as burst_pass
from bench.burst.parts import COLD, OURS, bench
from bench.limits import Limit, show_limits


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


@pytest.mark.parametrize("interfaces", [1, 32])
def test_a_pass_reads_every_node_job_and_instance(interfaces: int, capsys: pytest.CaptureFixture[str]) -> None:
    """The bench itself fails if the journal does not have every instance, or if the pass has changed a node."""
    limits = burst_pass.measure(30, 40, interfaces)
    assert [limit.value for limit in limits if limit.unit == "calls of EC2"] == [1, 1, 1]
    assert all(limit.value > 0 for limit in limits)
    assert len(capsys.readouterr().out.splitlines()) == 6


def test_limits_are_shown_with_value_and_ratio(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    below, above = Limit("a", 1.0, 4.0, "s"), Limit("b", 5.0, 4.0, "MiB")
    assert show_limits([below, Limit("c", 4.0, 4.0, "calls")]) and not show_limits([below, above])
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["a,", "s", "1.00", "4", "0.25"] in rows and ["c,", "calls", "4.00", "4", "1.00"] in rows
    assert ["b,", "MiB", "5.00", "4", "1.25", "ABOVE", "THE", "LIMIT"] in rows
    # Waits for other programs say nothing on a busy machine.
    waiting = Limit("w", 5.0, 4.0, "s", wall=True)
    for load, is_good in ((0.0, False), (1e6, True)):
        monkeypatch.setattr("os.getloadavg", lambda load=load: (load, load, load))
        assert show_limits([waiting]) is is_good


def test_an_unknown_part_of_the_benchmark_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        burst.main(["launch"])
    assert "launches" in capsys.readouterr().err
