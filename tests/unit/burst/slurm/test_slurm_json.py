"""Parsing of Slurm's recorded output: jobs, nodes, hosts and the active controller."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.burst.slurm.slurm_json import active_host, hosts, job_of, nodes_of, number
from tests.unit.burst.slurm.commands import DATA, recorded

NEW = "26.05"


def recorded_json(name: str) -> dict[str, Any]:
    return recorded(name, NEW)


def test_a_job_whose_nodes_start_is_read_with_all_its_fields() -> None:
    job = job_of(recorded_json("gang-configuring.squeue")["jobs"][0])
    assert (job.id, job.state, job.nodes, job.partition) == (1, "CONFIGURING", ("p5-1", "p5-2"), "p5")
    assert (job.user, job.minutes, job.restarts, job.started, job.eligible) == (
        "alice",
        7,
        0,
        1795333778.0,
        1795333778.0,
    )
    assert (job.het_job, job.array_job, job.comment, job.expected_start) == (0, 0, "mine", None)


def test_array_and_heterogeneous_jobs_are_read_with_their_leader() -> None:
    array = {job.id: job for job in map(job_of, recorded_json("array.squeue")["jobs"])}
    assert {job: array[job].array_job for job in (4, 7, 8, 9)} == {4: 4, 7: 4, 8: 4, 9: 4}
    # 4 waits for its array's limit, 5 for another job, 6 for its begin time.
    assert (array[4].eligible, array[5].eligible, array[6].eligible) == (None, None, 1795337683.0)
    assert (array[5].state, array[5].nodes, array[5].wanted_nodes, array[5].expected_start) == ("PENDING", (), 4, None)
    assert (array[6].expected_start, array[6].started) == (1795337683.0, None)
    het = {job.id: job for job in map(job_of, recorded_json("het.squeue")["jobs"])}
    assert {job.het_job for job in het.values()} == {10}
    assert (het[10].nodes, het[11].nodes) == (("p5-6",), ("p5-1", "p5-3"))


def test_a_requeued_job_that_is_completing_still_has_its_nodes() -> None:
    job = job_of(recorded_json("requeued-completing.squeue")["jobs"][0])
    assert (job.state, job.nodes, job.restarts) == ("COMPLETING", ("p5-3",), 1)


@pytest.mark.parametrize(
    "path", sorted(DATA.glob("*/*.squeue.json")), ids=lambda path: f"{path.parent.name}-{path.name}"
)
def test_every_job_in_json_can_be_read(path: Path) -> None:
    jobs = [job_of(entry) for entry in json.loads(path.read_text())["jobs"]]
    assert jobs and {job.state for job in jobs} <= {"PENDING", "CONFIGURING", "RUNNING", "COMPLETING"}


def test_addresses_and_reasons_of_nodes_are_read() -> None:
    node = nodes_of(recorded_json("gang-partly-up.node"))["p5-1"]
    assert (node.states, node.address, node.reason) == (frozenset({"ALLOCATED", "CLOUD"}), "10.53.1.21", "")


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ({"set": True, "infinite": False, "number": 7}, 7),
        ({"set": False, "infinite": False, "number": 0}, None),
        ({"set": True, "infinite": True, "number": 0}, None),
        (7, 7),
        ("7", 7),
        (None, None),
        ("UNLIMITED", None),
    ],
)
def test_numbers_of_every_json_parser_version_are_read(raw: Any, value: int | None) -> None:
    assert number(raw) == value


def test_older_parsers_write_a_state_as_one_word_and_hosts_as_one_text() -> None:
    old = {"job_id": 3, "job_state": "CONFIGURING", "nodes": "p5-[1-2]", "start_time": 5, "time_limit": 60}
    job = job_of(old)
    assert (job.state, job.nodes, job.started, job.minutes) == ("CONFIGURING", ("p5-1", "p5-2"), 5.0, 60)
    node = {"name": "p5-1", "state": "IDLE+CLOUD"}
    assert nodes_of({"nodes": [node]})["p5-1"].states == {"IDLE", "CLOUD"}


@given(st.lists(st.integers(1, 400), unique=True, max_size=20))
def test_hosts_are_read_from_a_list_or_a_text(numbers: list[int]) -> None:
    names = [f"n{number}" for number in numbers]
    assert hosts(names) == names == hosts(",".join(names))


@pytest.mark.parametrize(
    ("pings", "host"),
    [
        ([{"hostname": "ctl01", "responding": True, "primary": True}], "ctl01"),
        ([{"hostname": "ctl01", "pinged": "DOWN", "mode": "primary"}, {"hostname": "ctl02", "pinged": "UP"}], "ctl02"),
        ([{"hostname": "b", "pinged": "UP", "mode": "backup1"}, {"hostname": "a.x", "pinged": "UP", "mode": "primary"}], "a"),
        ([{"hostname": "ctl01", "responding": False, "primary": True}], None),
        ([], None),
    ],
)  # fmt: skip
def test_the_active_controller_is_read_from_pings(pings: list[dict[str, Any]], host: str | None) -> None:
    assert active_host({"pings": pings}) == host


def test_the_active_controller_is_read_from_a_recorded_ping() -> None:
    assert active_host(recorded_json("scontrol-ping")) == "ctl01"
