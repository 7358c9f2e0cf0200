"""Cluster of Slurm's files: defaults, node sets, all nodes, and names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge import hostlist
from landbridge.existing_slurm.names import expand_names
from tests.unit.existing_slurm.samples import folder, read


def test_a_default_line_is_valid_until_another_one_changes_it() -> None:
    cluster, findings = read(
        "NodeName=a CPUs=1\nnodename=default Weight=5 CPUs=2\nNodeName=b\nNodeName=c CPUs=3\n"
        "NodeName=DEFAULT CPUs=4\nNodeName=d\nPartitionName=p Nodes=a\nPartitionName=DEFAULT Nodes=ALL\nPartitionName=q\n"
    )
    assert findings == ()
    assert [(nodes.names[0], nodes.value("cpus"), nodes.value("Weight")) for nodes in cluster.nodes] == [
        ("a", "1", ""),
        ("b", "2", "5"),
        ("c", "3", "5"),
        ("d", "4", "5"),
    ]
    assert [(part.name, part.nodes) for part in cluster.partitions] == [("p", ("a",)), ("q", ("a", "b", "c", "d"))]


def test_the_last_value_of_a_key_counts() -> None:
    cluster, _ = read("SlurmdTimeout=1\nslurmdtimeout=2\n")
    assert cluster.value("SlurmdTimeout") == "2"


def test_a_site_grown_by_hand_is_read() -> None:
    cluster, findings = read(folder("grown"))
    assert findings == ()
    assert cluster.value("ClusterName") == "physik"
    assert cluster.value("SchedulerParameters") == "bf_continue,bf_window=20160,bf_max_job_user=20"
    assert cluster.node_names[:5] == ("r1n01", "r1n02", "r1n03", "r1n04", "r2n01")
    partitions = {partition.name: partition.nodes for partition in cluster.partitions}
    assert partitions["gpu"] == ("gpu01", "gpu02")
    assert set(partitions["test"]) == set(cluster.node_names)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a", ["a"]),
        ("a[1-3]", ["a1", "a2", "a3"]),
        ("r[1-2]n[01-02]x", ["r1n01x", "r1n02x", "r2n01x", "r2n02x"]),
        ("a[1,3],b", ["a1", "a3", "b"]),
        ("10.0.0.[1-2]", ["10.0.0.1", "10.0.0.2"]),
    ],
)
def test_names_are_expanded(text: str, names: list[str]) -> None:
    assert expand_names(text) == names


@pytest.mark.parametrize("text", ["", "a,,b", "a[1-", "a]", "a[1-2]]", "a b", "a[1-300][1-300]"])
def test_a_text_that_is_no_host_list_is_refused(text: str) -> None:
    with pytest.raises(hostlist.HostlistError):
        expand_names(text)
    if text:
        _, findings = read(f'NodeName="{text}"\n')
        assert [finding.rule for finding in findings] == ["not-a-host-list"]


@given(st.lists(st.from_regex(r"[a-z]{1,3}[0-9]{1,3}", fullmatch=True), min_size=1, max_size=30, unique=True))
def test_one_pair_of_brackets_is_as_in_host_lists(names: list[str]) -> None:
    text = hostlist.compress(names)
    assert expand_names(text) == hostlist.expand(text)
