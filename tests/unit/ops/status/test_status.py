"""Command `landbridge status`: judgement of facts, exit status, and hosts that do not answer."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest

from landbridge.ops.netcheck.collect import LinkHost
from landbridge.ops.netcheck.probe import program
from landbridge.ops.netcheck.record import write_facts
from landbridge.ops.status.collect import collect_status
from landbridge.ops.status.judge import judge
from landbridge.ops.status.report import StatusReport, duration
from landbridge.ops.status.sources import StatusSource, status_sources, unread_nodes
from landbridge.plan.network.host_role import configured_hosts
from tests.unit.core.samples import ROOT, changed
from tests.unit.ops.netcheck import records
from tests.unit.ops.status.hosts import BURST, CHANGES, NODES, NOW, environment, facts

#: Line about the nodes of the site, which the command does not read.
LEFT_OUT = (
    "logins of former users and units of dgx[01-02]: nodes are not read here; "
    "landbridge configure -s test --check reads logins"
)


def judged(changes: Mapping[str, Mapping[str, str | None]]) -> StatusReport:
    return judge(environment(), facts(changes), NOW)


def lines(report: StatusReport, area: str) -> list[tuple[str, str]]:
    return [(line.level, line.text) for line in report.lines if line.area == area]


def test_a_healthy_environment_has_no_task_and_status_0() -> None:
    report = judged({})
    assert report.tasks == () and report.exit_status == 0
    assert {line.level for line in report.lines if line.text != LEFT_OUT} == {"ok"}
    assert lines(report, "queue") == [
        ("ok", "1 running, 3 pending, longest wait 2h 0min"),
        ("ok", "pending for: Dependency 1, Priority 1, Resources 1"),
    ]
    assert ("ok", "3 instances: p5 3") in lines(report, "burst")
    assert ("ok", "200.00 USD spent this month, 50.50 held, 25% of 1,000.00") in lines(report, "burst")
    assert ("ok", "mlops01: dump of mlflow, 1h 0min old, 5000 bytes") in lines(report, "backups")
    assert lines(report, "link") and "bgp aws1" in lines(report, "link")[0][1]
    assert ("ok", "certificate of mlops01: 59 days left") in lines(report, "certificates")


@pytest.mark.parametrize(
    ("host", "outputs", "message", "command"),
    [
        ("ctl01", {"nodes": json.dumps(NODES)}, "dgx02: when its last job has ended, reboot the node", "landbridge node why 'dgx02' -s test"),
        ("ctl01", {"burst": BURST.replace("active 1", "active 0")}, "no burst controller acts", "burst doctor"),
        ("ctl01", {"burst": None}, "no burst controller acts", "burst doctor"),
        ("ctl01", {"burst": BURST.replace(f"{NOW - 5:.0f}", f"{NOW - 500:.0f}")}, "makes no pass", "burst doctor"),
        ("ctl01", {"burst": BURST.replace("} 200", "} 900")}, "95% of 1,000.00", "landbridge burst cost"),
        ("ctl01", {"burst": BURST + 'landbridge_burst_breaker_open{code="UnauthorizedOperation",pool="p5"} 1\n'}, "launches stopped by UnauthorizedOperation", "reset-breaker p5"),
        ("ctl01", {"burst": BURST + 'landbridge_burst_refused_terminations{code="OperationNotPermitted"} 2\n'}, "2 instances that EC2 refuses to terminate", "burst status"),
        ("nfs01", {"failed units": "nfs-ganesha.service loaded failed failed NFS\n"}, "nfs-ganesha.service", "systemctl status nfs-ganesha.service (on nfs01)"),
        ("nfs01", {"logins": "alice ansible carol\n"}, "nfs01: carol is not in users and still has a login", "landbridge configure -s test"),
        ("mlops01", {"dumps": ""}, "have no dump", "landbridge-mlflow-dump"),
        ("mlops01", {"dumps": f"{NOW - 200000} 5 mlflow-periodic-1.dump\n"}, "2d 7h old", "landbridge-mlflow-dump"),
        ("mlops01", {"certificate": "notAfter=2026-11-30 00:00:00Z\n"}, "certificate of mlops01: 8 days left", "landbridge configure -s test"),
        ("mlops01", {"authority": "notAfter=2026-11-20 00:00:00Z\n"}, "ended on 2026-11-20", "rotate_site_ca.yml"),
    ],
)  # fmt: skip
def test_each_fault_is_a_task_with_its_command(
    host: str, outputs: dict[str, str | None], message: str, command: str
) -> None:
    report = judged({host: outputs})
    assert report.exit_status == 1
    assert any(message in task.message and command in task.command for task in report.tasks), report.tasks


def test_nodes_are_left_out_and_not_healthy() -> None:
    """No fact of a node is read: its report says so, whatever the other hosts have."""
    for changes in ({}, {"nfs01": {"logins": "carol\n"}}):
        assert [text for level, text in lines(judged(changes), "sites") if level == "left out"] == [LEFT_OUT]
    read = {source.host.name for source in status_sources(environment(), records.STACK_OUTPUTS)}
    configured = {host.name for host in configured_hosts(environment())}
    assert configured - read == set(unread_nodes(environment())) == {"dgx01", "dgx02"}


def test_logins_are_accounts_of_this_cluster_that_no_run_has_locked(tmp_path: Path) -> None:
    """The record and the locked account are those that host_record and the role base write."""
    records = tmp_path / "etc/landbridge/records"
    words = status_sources(environment(), None)[0].programs["logins"]
    here = [word.replace("/etc/", f"{tmp_path}/etc/") for word in words]
    records.mkdir(parents=True)
    rows = {
        "alice": (20001, "bash"),
        "bob": (20002, "nologin"),
        "carol": (20003, "bash"),
        "dora": (20004, "zsh"),
        "erin": (7, "sh"),
    }
    text = "".join(f"{name}:x:{uid}:{uid}:,:/home/{name}:/bin/{shell}\n" for name, (uid, shell) in rows.items())
    (tmp_path / "etc/passwd").write_text(f"{text}+\nroot:x:0:0::/root:/bin/bash\n")
    assert program(here) == {"code": 0, "out": "\n", "err": ""}
    users = {name: 20001 + number for number, name in enumerate(("alice", "bob", "carol", "dora", "erin", "gone"))}
    (records / "test.json").write_text(json.dumps({"users": users, "files": []}))
    (records / "other.json").write_text(json.dumps({"users": {"carol": 20003}}))
    (records / "older.json").write_text(json.dumps({"files": []}))
    assert program(here)["out"] == "alice dora\n"


def test_faults_of_the_link_are_those_of_netcheck() -> None:
    broken = records.broken(records.expectations(), "bgp-down")[records.GATEWAY].data["programs"]
    every = tuple(
        replace(host, data={**host.data, "programs": {**host.data["programs"], "neighbors": broken["neighbors"]}})
        if host.host.gateway is not None
        else host
        for host in facts()
    )
    report = judge(environment(), every, NOW)
    assert [(task.rank, task.message, task.command) for task in report.tasks] == [
        (1, "fault of the link: bgp-down", "landbridge netcheck -s test")
    ]


def test_tasks_are_in_the_order_of_their_urgency_and_each_once() -> None:
    report = judged({
        "mlops01": {"dumps": ""},
        "ctl01": {"burst": None, "nodes": json.dumps(NODES)},
        "nfs01": {"failed units": "a.service loaded failed failed\n"},
    })  # fmt: skip
    assert [task.rank for task in report.tasks] == [1, 2, 2, 3]


def test_a_fact_that_is_missing_is_not_read_and_never_ok() -> None:
    report = judged({"ctl01": {"queue": None}, "mlops01": {"certificate": "unable to load certificate"}})
    assert lines(report, "queue") == [("not read", "ctl01: queue: refused")]
    assert ("not read", "mlops01: certificate: unreadable output") in [
        (level, text.split(" (")[0]) for level, text in lines(report, "certificates")
    ]
    assert report.tasks == () and report.exit_status == 1


def test_hosts_that_do_not_answer_are_one_task_and_all_of_them_status_2() -> None:
    every = tuple(replace(host, data={}, error="Permission denied (publickey).") for host in facts())
    report = judge(environment(), every[:1] + facts()[1:], NOW)
    assert report.exit_status == 1 and report.tasks[0].message == f"no answer from {every[0].host.name}"
    report = judge(environment(), every, NOW)
    assert report.exit_status == 2 and {line.level for line in report.lines} == {"not read", "left out"}
    assert len(report.tasks) == 1
    assert {line.area for line in report.lines} == {
        "sites",
        "link",
        "queue",
        "burst",
        "nodes",
        "backups",
        "certificates",
    }


def test_a_host_without_an_answer_has_the_limit_or_the_error_as_its_reason(tmp_path: Path) -> None:
    """Real runs of the probe: one host answers, one never does, and one cannot be reached."""

    def source(name: str, *words: str) -> StatusSource:
        return StatusSource(LinkHost(name, "onprem", "127.0.0.1", words), {"a": ["echo", "yes"]})

    script = tmp_path / "host"
    script.write_text('#!/bin/sh\nexec sh -c "$1"\n')
    script.chmod(0o755)
    (answer,) = collect_status((source("answers", str(script)),), 300)
    assert answer.data["programs"]["a"] == {"code": 0, "out": "yes\n", "err": ""}
    hanging, absent = collect_status(
        (source("hangs", "sh", "-c", "exec sleep 600", "--"), source("absent", str(tmp_path / "nothing"))), 1
    )
    assert hanging.error == "no answer within 1 s" and "nothing" in absent.error
    assert program(["sleep", "600"], 0.1) == {"code": None, "out": "", "err": "did not end within 0.1 s"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: landbridge\n")
    (tmp_path / "stacks/Pulumi.test.yaml").write_text(changed(CHANGES))
    state = tmp_path / "state/landbridge/test"
    state.mkdir(parents=True)
    (state / "outputs.json").write_text(json.dumps(records.OUTPUT_VALUES))
    return tmp_path


STATUS = (sys.executable, "-m", "landbridge.cli.main", "status", "-s", "test")


def command_variables(folder: Path) -> dict[str, str]:
    return {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "PYTHONPATH": str(ROOT)}


def status(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    variables = command_variables(folder)
    return subprocess.run([*STATUS, *words], cwd=folder, env=variables, capture_output=True, text=True, check=False)


def test_the_command_judges_saved_facts_in_both_formats(folder: Path) -> None:
    write_facts(folder / "facts.json", records.expectations(), facts({"ctl01": {"nodes": json.dumps(NODES)}}))
    done = status(folder, "--facts", "facts.json")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("test at 2026-11-21T22:00:00Z: 6 of 6 hosts read")
    assert "to do, in this order:\n  1. dgx02: " in done.stdout
    report = json.loads(status(folder, "--facts", "facts.json", "--format", "json").stdout)
    assert set(report) == {"environment", "at", "hosts_read", "lines", "tasks"}
    assert set(report["tasks"][0]) == {"rank", "message", "command"}
    done = status(folder, "--facts", "absent.json")
    assert done.returncode == 2 and "Traceback" not in done.stderr


def test_watch_reads_the_facts_again_until_it_is_interrupted(folder: Path) -> None:
    write_facts(folder / "facts.json", records.expectations(), facts({"ctl01": {"nodes": json.dumps(NODES)}}))
    words = [*STATUS, "--facts", "facts.json", "--watch", "1"]
    variables = {**command_variables(folder), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True, env=variables) as process:
        assert process.stdout is not None
        first = read_until(process.stdout, "to do, in this order:")
        write_facts(folder / "facts.json", records.expectations(), facts())
        second = read_until(process.stdout, "nothing needs an operator")
        process.send_signal(signal.SIGINT)
        process.stdout.read()
    assert "dgx02" in first and "dgx02" not in second.rpartition(" hosts read in ")[2]
    # The exit status is that of the last report, which has no task.
    assert process.returncode == 0
    assert status(folder, "--facts", "facts.json", "--watch", "1", "--format", "json").returncode == 2


def read_until(stream: IO[str], words: str) -> str:
    """Return the lines of a stream up to the one with these words."""
    read = ""
    for line in stream:
        read += line
        if words in line:
            break
    assert words in read, read
    return read


def test_waits_are_shown_in_two_units() -> None:
    assert [duration(seconds) for seconds in (59, 3660, 90000)] == ["0min", "1h 1min", "1d 1h"]
