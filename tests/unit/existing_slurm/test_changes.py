"""Lines of a cluster's own files that change: lists, partitions of all nodes, topologies, and what is changed by hand."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.existing_slurm.samples import CONF, GOOD, REQUEST, folder, request, written

WORDS = st.lists(st.from_regex(r"[a-z_]{2,12}", fullmatch=True), min_size=1, max_size=6, unique=True)


def changed_line(text: str, key: str) -> str:
    """Return the new value of a key in the patch; the old one if it does not change."""
    result = written(text)
    assert result.files is not None, result.findings
    added = [line[1:] for line in result.files["slurm.diff"].splitlines() if line.startswith(f"+{key}=")]
    return (added or [line for line in text.splitlines() if line.startswith(f"{key}=")])[-1].partition("=")[2]


@given(WORDS)
def test_a_list_keeps_its_words_in_their_order(words: list[str]) -> None:
    value = changed_line(f"SlurmctldParameters={','.join(words)}\n{GOOD}", "SlurmctldParameters")
    assert value.split(",")[: len(words)] == words
    assert {"enable_configless", "idle_on_node_suspend"} <= set(value.split(","))
    assert len(set(value.split(","))) == len(value.split(","))


def test_a_value_of_the_site_is_kept() -> None:
    text = f"SlurmctldParameters=power_save_interval=30\n{GOOD}"
    assert changed_line(text, "SlurmctldParameters").split(",")[0] == "power_save_interval=30"


def test_a_value_over_several_lines_is_changed_by_hand() -> None:
    result = written(f"SlurmctldParameters=cloud_reg_addrs,\\\nenable_stepmgr\n{GOOD}")
    assert [finding.rule for finding in result.findings] == ["change-by-hand"]
    assert "cloud_reg_addrs,enable_stepmgr,enable_configless" in str(result.findings[0].fix)
    assert result.files is not None and "cloud_reg_addrs" not in result.files["slurm.diff"].replace(" SlurmctldP", "")


def test_the_pool_is_in_no_partition_of_all_nodes() -> None:
    text = GOOD.replace("Nodes=cn[01-02] Default", "Nodes=ALL Default")
    result = written(text)
    assert result.files is not None
    assert "+PartitionName=batch Nodes=cn[01-02] Default=YES" in result.files["slurm.diff"]


def test_a_newer_slurm_gets_a_topology_of_its_own() -> None:
    yaml = "---\n- topology: racks\n  cluster_default: true\n  tree:\n    switches:\n      - switch: s\n        nodes: cn[01-02]\n"
    files = {CONF: GOOD, "/etc/slurm/topology.yaml": yaml}
    result = written(files, request(release="26.05.5"))
    assert result.files is not None, result.findings
    assert "+- topology: landbridge\n+  cluster_default: false\n" in result.files["slurm.diff"]
    assert "Topology=landbridge" in result.files["landbridge.conf"]
    assert "topology.yaml" not in "".join(name for name in result.files if name != "slurm.diff")


def test_one_prolog_remains_before_slurm_24_05() -> None:
    text = f"PrologSlurmctld=/usr/local/sbin/check\n{GOOD}"
    for release, count in (("23.11.10", 0), ("24.11.5", 1)):
        result = written(text, request(release=release))
        assert result.files is not None
        assert result.files["landbridge.conf"].count("PrologSlurmctld=") == count


def test_an_obstacle_leaves_nothing_written() -> None:
    result = written(GOOD.replace("select/cons_tres", "select/linear"))
    assert result.files is None and result.environment == ""


def test_an_environment_that_cannot_be_read_is_reported() -> None:
    result = written(GOOD, request(name="Not A Name"))
    assert result.files is None and result.findings


@pytest.mark.parametrize("release", ["23.11.10", "24.05.8", "24.11.5", "25.05.3", "25.11.6", "26.05.5"])
def test_every_supported_release_is_written(release: str) -> None:
    result = written(GOOD, request(release=release))
    assert result.files is not None, result.findings
    # SuspendTime of a node is known since 26.05.
    node = next(line for line in result.files["landbridge.conf"].splitlines() if line.startswith("NodeName="))
    assert ("SuspendTime=300" in node) == (release >= "26.05")


def test_the_homes_and_the_budget_of_the_request_are_written() -> None:
    options = request(home=("nfs.example.org", "/export/home"), monthly_usd=5000)
    text = written(GOOD, options).environment
    assert "host: nfs.example.org, export: /export/home, on_cloud_nodes: true" in text
    assert "budget: {monthly_usd: 5000, hard: true}" in text
    assert "on_cloud_nodes: false" in written(GOOD).environment


def test_the_files_name_no_host_that_is_not_in_the_request() -> None:
    assert str(Path.cwd()) not in written(folder("grown"), request("grown")).environment
    assert REQUEST.owner in written(GOOD).environment
