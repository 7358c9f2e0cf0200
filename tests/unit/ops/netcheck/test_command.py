"""Command `landbridge netcheck` on recorded facts: exit status, output for people and programs, and metrics."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from landbridge.ops.netcheck.collect import HostFacts, link_hosts, request_of
from landbridge.ops.netcheck.record import write_facts
from tests.unit.core.samples import ROOT, changed
from tests.unit.ops.netcheck import records
from tests.unit.ops.netcheck.records import GATEWAY, NODE, SERVICE

EXPECTED = records.expectations()
#: Line of Prometheus' text format. Source: Prometheus, "Exposition formats".
SAMPLE = re.compile(r'[a-z_]+\{([a-z_]+="[^"\\\n]*",?)+\} [0-9.e+-]+')


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the environment, and with the outputs of its stack where `landbridge up` writes them."""
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: landbridge\n")
    (tmp_path / "stacks/Pulumi.test.yaml").write_text(changed({**records.CHANGES, ("dns",): {}}))
    state = tmp_path / "state/landbridge/test"
    state.mkdir(parents=True)
    (state / "outputs.json").write_text(json.dumps(records.OUTPUT_VALUES))
    return tmp_path


def netcheck(folder: Path, every: Mapping[str, HostFacts] | None, *words: str) -> subprocess.CompletedProcess[str]:
    if every is not None:
        write_facts(folder / "facts.json", EXPECTED, tuple(every.values()))
        words = ("--facts", "facts.json", *words)
    line = [sys.executable, "-m", "landbridge.cli.main", "netcheck", "-s", "test", *words]
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "PYTHONPATH": str(ROOT), "COLUMNS": "80"}
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_healthy_link_has_status_0_and_no_line_of_a_fault(folder: Path) -> None:
    done = netcheck(folder, records.healthy(EXPECTED))
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"test: passed, (\d+) of \1 checks passed\n", done.stdout)


def test_a_fault_has_status_1_its_cause_and_its_fix_in_both_formats(folder: Path) -> None:
    every = records.broken(EXPECTED, "proposal-mismatch")
    done = netcheck(folder, every)
    assert done.returncode == 1
    assert "[proposal-mismatch]" in done.stdout and "to do: give both ends the same proposals" in done.stdout
    report = json.loads(netcheck(folder, every, "--format", "json").stdout)
    assert (report["status"], report["causes"]) == ("failed", ["proposal-mismatch"])
    assert {"check", "host", "subject", "status", "message", "cause", "fix"} == set(report["results"][0])


def test_a_fact_that_could_not_be_read_has_status_2(folder: Path) -> None:
    every = records.healthy(EXPECTED)
    every[GATEWAY] = replace(every[GATEWAY], data={}, error="Permission denied (publickey).")
    done = netcheck(folder, every)
    assert done.returncode == 2
    assert "not judged host        gw01: no facts: Permission denied (publickey)." in done.stdout


def test_metrics_are_samples_of_what_was_judged(folder: Path) -> None:
    done = netcheck(folder, records.broken(EXPECTED, "bgp-down"), "--metrics", "link.prom")
    assert done.returncode == 1
    lines = (folder / "link.prom").read_text().splitlines()
    assert all(line.startswith("# ") or SAMPLE.fullmatch(line) for line in lines), lines
    assert 'landbridge_link_fault{environment="test",cause="bgp-down"} 1' in lines
    failed = [line for line in lines if line.startswith("landbridge_link_check") and line.endswith(" 0")]
    assert failed == ['landbridge_link_check{environment="test",check="bgp",host="gw01",subject="aws1 169.254.10.1"} 0']
    assert any(line.startswith("landbridge_link_round_trip_seconds{") for line in lines)
    assert [path.name for path in folder.glob("*link.prom*")] == ["link.prom"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--from", "nowhere"], "nowhere is not a host of test"),
        (["--facts", "absent.json"], "absent.json"),
    ],
)
def test_wrong_options_are_usage_errors(folder: Path, words: list[str], message: str) -> None:
    done = netcheck(folder, None, *words)
    assert done.returncode == 2 and message in " ".join(done.stderr.split()) and "Traceback" not in done.stderr


def test_an_environment_without_a_link_is_a_usage_error(folder: Path) -> None:
    done = netcheck(folder, None, "--file", str(ROOT / "stacks/Pulumi.startup.yaml"))
    assert done.returncode == 2 and "has no link between sites" in " ".join(done.stderr.split())


def test_a_node_in_aws_tries_the_port_matrix_and_is_the_target_of_the_site() -> None:
    chosen = {host.name: host for host in link_hosts(records.environment(), EXPECTED, [NODE])}
    assert [(host.name, host.side) for host in chosen.values()] == [
        (GATEWAY, "onprem"), (SERVICE, "onprem"), (NODE, "aws"),
    ]  # fmt: skip
    assert chosen[NODE].words[-1] == NODE and chosen[GATEWAY].words[-1] == "ansible@10.20.0.1"
    assert ["10.20.0.11", 6817] in request_of(chosen[NODE], EXPECTED, ["10.60.1.21"])["tcp"]
    assert ["10.60.1.21", 6818] in request_of(chosen[SERVICE], EXPECTED, ["10.60.1.21"])["tcp"]
    gateway = request_of(chosen[GATEWAY], EXPECTED, ["10.60.1.21"])
    assert gateway["tcp"] == [] and gateway["paths"] == [["169.254.10.1", 1400]]
