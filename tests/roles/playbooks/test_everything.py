"""Four bare machines become a cluster by site.yml with plain Ansible; a second run changes nothing."""

from collections.abc import Iterator

import pytest

from sandbox.demo.cluster import ClusterError, wait_for
from sandbox.hardware.packages.repository import publish
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from sandbox.nspawn.machine import nodes
from tests.roles.playbooks.site_lab import ADDRESSES, NODES, RELEASE, SITE, Rack, project

pytestmark = [pytest.mark.lab, pytest.mark.long]


@pytest.fixture(scope="module")
def rack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    lab, folder = layout("landbridge-rack"), tmp_path_factory.mktemp("rack")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        for name in NODES:
            nodes.exec(
                lab, name, ['sed -i \'s/"driver": .*/"driver": null,/\' /usr/local/lib/lab/hardware/machine.json']
            )
        project(folder, lab, publish(lab))
        started = Rack(lab, folder)
        seconds, counts = started.configure()
        print(f"four bare machines took {seconds:.0f} s")
        assert {name for name, host_counts in counts.items() if host_counts["changed"]} == set(ADDRESSES)
        wait_for("the nodes in service", started.states, lambda states: states == {name: {"IDLE"} for name in NODES})
        yield started
    finally:
        cleanup.down(lab)


def test_a_check_and_a_second_run_change_nothing(rack: Rack) -> None:
    check_seconds, counts = rack.configure("--limit", ",".join(ADDRESSES), "--check")
    assert {name: host_counts["changed"] for name, host_counts in counts.items()} == dict.fromkeys(ADDRESSES, 0)
    second_seconds, counts = rack.configure()
    print(f"a check took {check_seconds:.0f} s, a second run {second_seconds:.0f} s")
    assert {name: host_counts["changed"] for name, host_counts in counts.items()} == dict.fromkeys(ADDRESSES, 0)


def test_nodes_have_one_release_of_the_driver_and_its_services(rack: Rack) -> None:
    for name in NODES:
        versions = rack.run(name, "nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader,nounits")
        assert set(versions.split()) == {RELEASE}
        active = rack.run(name, "systemctl", "is-active", "nvidia-fabricmanager", "nvidia-dcgm", "slurmd")
        assert active.split() == ["active"] * 3


def test_a_job_has_its_gpus_and_no_others_and_is_accounted_for(rack: Rack) -> None:
    opened = "for n in 0 1 2 3 4 5 6 7; do (exec 3<>/dev/nvidia$n) 2>&1 | grep -c 'not permitted'; done"
    output = rack.run("login01", "srun", "--gres=gpu:h100:2", "--mem=100", "bash", "-c", opened, user="alice")
    # No driver is loaded: a permitted open fails with "No such device", a denied one with "not permitted".
    assert output.split().count("1") == 6
    record = wait_for("the accounting record", lambda: _record(rack), lambda line: "gres/gpu:h100=2" in line)
    assert record.startswith("alice|vision|normal|")


def test_a_job_that_exceeds_its_memory_is_killed(rack: Rack) -> None:
    with pytest.raises(ClusterError, match=r"(?i)out.of.memory|oom"):
        rack.run("login01", "srun", "--mem=50", "python3", "-c", "x = bytearray(400 << 20)", user="alice")


def test_users_can_log_in_to_a_node_only_during_their_job(rack: Rack) -> None:
    create_key = (
        "test -e ~/.ssh/id || ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id; cp ~/.ssh/id.pub ~/.ssh/authorized_keys"
    )
    rack.run("login01", "sh", "-c", create_key, user="alice")
    options = [
        f"-o{option}" for option in ("BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null")
    ]
    ssh = ["ssh", "-F", "none", "-i", "/home/alice/.ssh/id", *options, "dgx01", "cat /proc/self/cgroup"]
    with pytest.raises(ClusterError, match="Access denied by pam_slurm_adopt"):
        rack.run("login01", *ssh, user="alice")
    words = ["sbatch", "--parsable", "--nodelist=dgx01", "--mem=100", "--output=/dev/null", "--wrap=sleep 600"]
    number = rack.run("login01", *words, user="alice").strip()
    wait_for("the job on dgx01", rack.states, lambda states: "MIXED" in states["dgx01"])
    assert f"/job_{number}/step_extern" in rack.run("login01", *ssh, user="alice")
    rack.run("login01", "scancel", number, user="alice")


def test_a_container_of_a_job_has_the_jobs_own_memory_and_home(rack: Rack) -> None:
    version = rack.run("login01", "srun", "--mem=200", "podman", "--version", user="alice")
    assert version.startswith("podman version")


def test_only_planned_ports_are_open(rack: Rack) -> None:
    reach = "timeout 3 bash -c 'exec 3<>/dev/tcp/{}/{}' && echo open || echo closed"
    assert rack.run("dgx01", "sh", "-c", reach.format(ADDRESSES["ctl01"], 6817)).strip() == "open"
    # Only the host itself can reach the database's port.
    assert rack.run("dgx01", "sh", "-c", reach.format(ADDRESSES["ctl01"], 3306) + " 2>/dev/null").strip() == "closed"


def test_a_run_limited_to_one_node_changes_no_other(rack: Rack) -> None:
    before = {name: rack.traces(name) for name in ADDRESSES if name != "dgx02"}
    _, counts = rack.configure("--limit", "dgx02")
    assert counts == {"dgx02": {**counts["dgx02"], "changed": 0, "failed": 0, "unreachable": 0}}
    assert {name: rack.traces(name) for name in before} == before


def _record(rack: Rack) -> str:
    fields = "user,account,qos,alloctres"
    lines = rack.run("ctl01", "sacct", "-X", "-a", "-n", "-P", "-o", fields).splitlines()
    return lines[-1] if lines else ""


def test_limits_and_qos_are_those_of_the_environment(rack: Rack) -> None:
    shown = rack.run(
        "ctl01", "sacctmgr", "-nP", "show", "associations", "where", "account=vision", "format=user,grptres,qos"
    )
    assert "|gres/gpu=16|normal,urgent" in shown
