"""One node of a running cluster is added, configured, repaired and removed; the other nodes do not change."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.demo.cluster import wait_for
from sandbox.hardware import faults
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from sandbox.nspawn.machine import nodes
from tests.roles.ansible_run import recap
from tests.roles.playbooks.day2_lab import MUNGE, NODES, SITE, SLURM, STACK, TAGS, Site, home, project

pytestmark = [pytest.mark.lab]


@pytest.fixture(scope="module", params=[MUNGE, pytest.param(SLURM, marks=pytest.mark.long)], ids=["munge", "slurm"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    lab, folder = layout("landbridge-day2"), tmp_path_factory.mktemp("day2")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        for name in NODES:
            home(lab, name)
        started = Site(lab, folder, project(folder, lab, request.param), request.param)
        started.landbridge("configure", "--limit", "ctl01,dgx01", "--tags", TAGS)
        wait_for("the first node in service", started.states, lambda states: states == {"dgx01": {"IDLE"}})
        yield started
    finally:
        cleanup.down(lab)


@pytest.fixture(scope="module")
def job(site: Site) -> int:
    """Start a job on the first node that runs during all tests."""
    words = ["sbatch", "--parsable", "--gpus=1", "--mem=100", "--chdir=/tmp", "--output=/dev/null", "--wrap=sleep 3000"]
    number = int(site.run("ctl01", *words))
    wait_for("the job on dgx01", site.states, lambda states: "MIXED" in states["dgx01"])
    return number


def running(site: Site, number: int) -> bool:
    """Return whether the job still runs, without a restart."""
    shown = site.json("ctl01", "scontrol", "show", "job", str(number), "--json")["jobs"][0]
    return shown["job_state"] == ["RUNNING"] and shown.get("restart_cnt", 0) == 0


def test_appliance_604_a_node_joins_a_running_cluster(site: Site, job: int) -> None:
    before = site.traces("dgx01")
    output = site.landbridge("node", "add", "dgx02", "--run", "--tags", TAGS)
    assert '+        - {hosts: "dgx[01-02]", platform' in output
    assert site.path.read_text().count("# the first") == 1
    assert "IDLE" in site.states()["dgx02"] and running(site, job)
    after = site.traces("dgx01")
    assert sorted(path for path in after if after[path] != before.get(path)) == ["/etc/hosts"]
    assert site.run("dgx01", "getent", "hosts", "dgx02").startswith("10.49.1.12")
    assert site.run("ctl01", "srun", "--nodelist=dgx02", "--gpus=1", "--mem=100", "hostname").strip() == "dgx02"


def test_deepops_307_a_run_limited_to_one_node_works_and_changes_no_other_node_or_file(site: Site, job: int) -> None:
    before = {name: site.traces(name) for name in ("dgx01", "dgx02", "ctl01")}
    # A difference on the node is corrected without a connection to another.
    site.run("dgx02", "rm", "/etc/systemd/journald.conf.d/60-base.conf")
    counts = recap(site.playbook("site.yml", "--limit", "dgx02", "--tags", TAGS))
    assert list(counts) == ["dgx02"] and counts["dgx02"]["changed"] > 0 == counts["dgx02"]["failed"]
    counts = recap(site.playbook("site.yml", "--limit", "dgx02", "--tags", TAGS, "--check", "--diff"))
    assert counts == {"dgx02": {**counts["dgx02"], "changed": 0, "failed": 0, "unreachable": 0}}
    assert {name: site.traces(name) for name in before} == before
    assert running(site, job)


def test_the_munge_key_is_rotated_while_a_job_runs(site: Site, job: int) -> None:
    hosts = ("ctl01", *NODES)
    if site.kind is not MUNGE:
        assert "auth/slurm" in site.playbook("playbooks/rotate_munge_key.yml", "--limit", ",".join(hosts), code=2)
        return
    words = ["sbatch", "--parsable", "--nodelist=dgx02", "--gpus=1", "--mem=100", "--chdir=/tmp", "--output=/dev/null"]
    last = int(site.run("ctl01", *words, "--wrap=until test -e /tmp/rotated; do sleep 0.2; done"))
    wait_for("the job on dgx02", site.states, lambda states: "MIXED" in states["dgx02"])
    old = {name: site.run(name, "cat", site.kind.key) for name in hosts}
    output = site.playbook("playbooks/rotate_munge_key.yml", "--limit", ",".join(hosts))
    (new,) = {site.run(name, "cat", site.kind.key) for name in hosts}
    assert new not in old.values() and not any(key in output for key in (*old.values(), new))
    assert (site.folder / "state/landbridge" / STACK / "secrets/slurm-key").read_text().strip() == new
    site.run("dgx02", "touch", "/tmp/rotated")
    wait_for(
        "the end of the job that started before",
        lambda: site.json("ctl01", "scontrol", "show", "job", str(last), "--json")["jobs"][0]["job_state"],
        lambda state: state == ["COMPLETED"],
    )
    assert site.run("ctl01", "srun", "--nodelist=dgx02", "--gpus=1", "--mem=100", "hostname").strip() == "dgx02"
    # Only the check of the fingerprint, which always runs.
    counts = recap(site.playbook("site.yml", "--limit", ",".join(hosts), "--tags", "none"))
    assert {name: counts[name]["changed"] for name in hosts} == dict.fromkeys(hosts, 0)
    assert running(site, job)


def test_the_ladder_runs_as_slurms_jobs(site: Site, job: int) -> None:
    def validate(node: str, *words: str, code: int) -> dict[str, Any]:
        output = site.landbridge("validate", node, "--at", "ctl01", "--format", "json", *words, code=code)
        return dict(json.loads(output[: output.rindex("}") + 1]))

    report = validate("dgx02", "--rung", "driver", code=0)
    assert report["ok"] and [check["measured"] for check in report["rungs"][-1]["checks"]][:2] == [
        8.0,
        "NVIDIA H100 80GB HBM3",
    ]
    # A job runs on the other node; the program of another rung is on no node.
    assert (
        "Slurm did not run it" in validate("dgx01", "--rung", "driver", "--wait", "2", code=2)["rungs"][-1]["message"]
    )
    missing = validate("dgx02", "--rung", "bandwidth", "--save", "kept", code=2)
    assert missing["rungs"][0]["message"] == "missing: nvbandwidth: not on the node"
    assert (
        validate("dgx02", "--rung", "bandwidth", "--from", "kept", code=2)["rungs"][0]["message"]
        == missing["rungs"][0]["message"]
    )
    # The node's own health check would see the fault too, and drain the node under the job.
    with site.without_health_checks("dgx02"):
        faults.inject(site.lab, "dgx02", absent=[7])
        failed = validate("dgx02", "--rung", "driver", code=1)["rungs"][-1]
        assert [check["what"] for check in failed["checks"] if check["passed"] is False] == ["GPUs"]
        faults.inject(site.lab, "dgx02")


def test_a_gpu_is_replaced_while_the_other_nodes_work(site: Site, job: int) -> None:
    options = ("playbooks/replace_gpu.yml", "--limit", "dgx02", "-e")
    assert "step is not out or back" in site.playbook(*options, "step=away", code=2)
    faults.inject(site.lab, "dgx02", lost=[3])
    site.playbook(*options, "step=out", "-e", "reason='GPU 3, ask Kim'")
    shown = site.json("ctl01", "scontrol", "show", "node", "dgx02", "--json")["nodes"][0]
    assert "DRAIN" in shown["state"] and shown["reason"] == "GPU 3, ask Kim"
    wait_for("the machine off", lambda: not nodes.alive(site.lab, "dgx02"))
    nodes.boot(site.lab, "dgx02")
    nodes.wait_ssh(site.lab, ["dgx02"])
    assert "is off the bus" in site.playbook(*options, "step=back", code=2)
    assert "DRAIN" in site.states()["dgx02"]
    faults.inject(site.lab, "dgx02")
    assert "NVIDIA H100" in site.playbook(*options, "step=back")
    assert site.states()["dgx02"] == {"IDLE"} and running(site, job)


def test_appliance_1032_a_restart_waits_for_the_jobs_of_its_node(site: Site, job: int) -> None:
    words = ["sbatch", "--parsable", "--nodelist=dgx02", "--gpus=1", "--mem=100", "--chdir=/tmp", "--output=/dev/null"]
    last = int(site.run("ctl01", *words, "--wrap=sleep 8"))
    wait_for("the job on dgx02", site.states, lambda states: "MIXED" in states["dgx02"])
    started = site.run("dgx02", "stat", "-c", "%Y", "/proc/1")
    site.playbook("playbooks/reboot_nodes.yml", "--limit", "dgx02")
    assert site.run("dgx02", "stat", "-c", "%Y", "/proc/1") != started
    shown = site.json("ctl01", "scontrol", "show", "job", str(last), "--json")["jobs"][0]
    assert shown["job_state"] == ["COMPLETED"] and shown.get("restart_cnt", 0) == 0
    assert site.states()["dgx02"] == {"IDLE"} and running(site, job)


def test_a_node_is_removed_only_after_its_jobs_have_ended(site: Site, job: int) -> None:
    output = site.landbridge("node", "remove", "dgx02", "--run", code=1)
    assert "landbridge node drain dgx02" in output and "dgx[01-02]" in site.path.read_text()
    before = site.traces("dgx01")
    site.landbridge("node", "drain", "dgx02", "--reason", "leaves the cluster")
    site.landbridge("node", "remove", "dgx02", "--run")
    assert list(site.states()) == ["dgx01"] and running(site, job)
    assert site.traces("dgx01") == before
    assert "dgx02" not in site.path.read_text() and site.path.read_text().count("# the first") == 1
    script = f"systemctl is-active slurmd; test -e {site.kind.key} || echo no key"
    assert site.run("dgx02", "sh", "-c", script).split("\n")[:2] == ["inactive", "no key"]
