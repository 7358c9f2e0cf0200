"""Prolog, epilog and ssh of a job on a real node; tests are named after complaints about other kits (onprem.md, section 5)."""

import sys
from collections.abc import Iterator

import pytest

from sandbox.demo.cluster import ClusterError, LabCluster, wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from tests.roles.jobs.jobs_lab import (
    GPUS,
    SITE,
    configure,
    describe,
    environment,
    gone,
    job_state,
    node,
    processes,
    running,
    state,
    submit,
)

pytestmark = [pytest.mark.lab, pytest.mark.timeout(900)]

NAME = "landbridge-test-jobs"


@pytest.fixture(scope="module", params=["26.05", pytest.param("24.11", marks=pytest.mark.long)])
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabCluster]:
    lab, folder = layout(NAME), tmp_path_factory.mktemp("jobs")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE, lambda line: print(f"  {line}", file=sys.stderr))
        configure(lab, environment(folder, request.param), folder / "jobs.yml")
        found = LabCluster(lab)
        in_service(found)
        yield found
    finally:
        cleanup.down(lab)


def in_service(cluster: LabCluster) -> None:
    """Wait until the node is idle."""
    wait_for(
        "the node in service",
        lambda: state(cluster),
        lambda state: state == "IDLE",
        details=lambda: describe(cluster),
    )


def drained(cluster: LabCluster) -> None:
    """Wait until the node is drained."""
    wait_for("the node drained", lambda: node(cluster)["state"], lambda state: "DRAIN" in state)


def test_a_job_has_a_folder_of_its_own_and_leaves_none(cluster: LabCluster) -> None:
    number = submit(cluster, "umask; env | grep -E '^(TMPDIR|SCRATCH)='; mktemp; ls -ld $SCRATCH; sleep 300")
    running(cluster, number)
    folder = f"/var/lib/landbridge/jobs/{number}"
    said = wait_for(
        "the job's output",
        lambda: cluster.run("dgx01", "cat", f"/tmp/{number}.out"),
        lambda text: "drwx------ 3 alice" in text,
    )
    assert f"TMPDIR={folder}/tmp" in said and f"SCRATCH={folder}\n" in said and f"{folder}/tmp/tmp." in said
    with pytest.raises(ClusterError, match="Permission denied"):
        cluster.run("dgx01", "ls", folder, user="bob")
    gone(cluster, number)
    assert cluster.run("dgx01", "ls", "/var/lib/landbridge/jobs") == ""
    assert state(cluster) == "IDLE"


def test_deepops_992_the_end_of_one_job_leaves_the_users_other_job_alone(cluster: LabCluster) -> None:
    first, second = submit(cluster, "sleep 4001"), submit(cluster, "sleep 4002")
    running(cluster, first), running(cluster, second)
    # What escapes a job's control groups is the epilog's to find: a process of each job is taken out of its own.
    wait_for(
        "a process of each job",
        lambda: processes(cluster, "sleep", "4001") + processes(cluster, "sleep", "4002"),
        lambda pids: len(pids) == 2,
    )
    for (pid,) in (processes(cluster, "sleep", "4001"), processes(cluster, "sleep", "4002")):
        cluster.run(
            "dgx01", "sh", "-c", f"for group in /sys/fs/cgroup/*/cgroup.procs; do echo {pid} > $group; done; true"
        )
        assert "job_" not in cluster.run("dgx01", "cat", f"/proc/{pid}/cgroup")
    third = running(cluster, submit(cluster, "sleep 4003"))
    outside = "setsid runuser -u alice -- sleep 4004 >/dev/null 2>&1 &"
    cluster.run("dgx01", "sh", "-c", outside)
    gone(cluster, first)
    assert processes(cluster, "sleep", "4001") == []
    assert len(processes(cluster, "sleep", "4002")) == 1, "the other job's process that left its group"
    assert len(processes(cluster, "sleep", "4003")) == 1, "the other job's process"
    assert len(processes(cluster, "sleep", "4004")) == 1, "a process of the user's that no job started"
    assert [job_state(cluster, number) for number in (second, third)] == ["RUNNING", "RUNNING"]
    gone(cluster, second, third)
    assert processes(cluster, "sleep", "4002") == processes(cluster, "sleep", "4003") == []
    cluster.run("dgx01", "kill", *map(str, processes(cluster, "sleep", "4004")))
    assert state(cluster) == "IDLE"


def test_deepops_919_what_surrounds_a_job_needs_no_search_path(cluster: LabCluster) -> None:
    """Slurm gives it none. A prolog that cannot find its programs drains every node; this one finds them and says so."""
    number = running(cluster, submit(cluster, "sleep 4010"))
    gone(cluster, number)
    assert "no nvidia-smi on this node" in cluster.run("dgx01", "journalctl", "-t", "landbridge-job", "-o", "cat")
    with pytest.raises(ClusterError):
        cluster.run("dgx01", "test", "-e", "/run/landbridge/job.failed")
    assert state(cluster) == "IDLE"


SMI = """#!/bin/sh
echo "$*" >> /run/asked
case "$*" in *--reset-gpu-clocks) test ! -e /run/lost || { echo GPU is lost; exit 15; } ;; esac
"""


@pytest.fixture
def gpu_program(cluster: LabCluster) -> Iterator[None]:
    cluster.put("dgx01", "/usr/local/bin/nvidia-smi", SMI.encode(), "root")
    cluster.run("dgx01", "chmod", "755", "/usr/local/bin/nvidia-smi")
    yield
    cluster.run("dgx01", "rm", "-f", "/usr/local/bin/nvidia-smi", "/run/asked", "/run/lost")


@pytest.mark.usefixtures("gpu_program")
def test_deepops_936_what_is_for_whole_nodes_runs_for_them_and_for_no_other_job(cluster: LabCluster) -> None:
    part = running(cluster, submit(cluster, "sleep 4020", "--gpus=2"))
    second = running(cluster, submit(cluster, "echo $SLURM_JOB_GPUS; sleep 4021", "--gpus=2"))
    # Which ones it has follows from the cores that go with them.
    own = wait_for("the job's output", lambda: cluster.run("dgx01", "cat", f"/tmp/{second}.out").strip())
    assert len(own.split(",")) == 2
    gone(cluster, second)
    asked = cluster.run("dgx01", "cat", "/run/asked").splitlines()
    assert asked == [f"-i {own} --reset-gpu-clocks", f"-i {own} --reset-memory-clocks"]
    gone(cluster, part)
    cluster.run("dgx01", "rm", "/run/asked")
    gone(cluster, running(cluster, submit(cluster, "sleep 4022", "--exclusive", f"--gpus={GPUS}")))
    (*restored, reset) = cluster.run("dgx01", "cat", "/run/asked").splitlines()
    assert len(restored) == 2 and reset.endswith(" --gpu-reset")
    assert sorted(reset.split()[1].split(",")) == [str(number) for number in range(GPUS)]


@pytest.mark.usefixtures("gpu_program")
def test_a_gpu_that_is_lost_after_a_job_drains_the_node_and_the_node_says_why(cluster: LabCluster) -> None:
    number = running(cluster, submit(cluster, "sleep 4030"))
    cluster.run("dgx01", "touch", "/run/lost")
    gone(cluster, number)
    drained(cluster)
    assert "Epilog error" in node(cluster)["reason"]
    assert cluster.run("dgx01", "cat", "/run/landbridge/job.failed").startswith("landbridge:epilog:gpu: nvidia-smi")
    cluster.run("ctl01", "scontrol", "update", "nodename=dgx01", "state=resume")
    in_service(cluster)


def test_a_scratch_disk_that_is_gone_drains_the_node_and_its_job_waits_for_another(cluster: LabCluster) -> None:
    kept = cluster.run("dgx01", "cat", "/etc/landbridge/job.json")
    cluster.put("dgx01", "/etc/landbridge/job.json", b'{"root": "/scratch/jobs", "mount": "/scratch"}', "root")
    number = submit(cluster, "sleep 4040")
    drained(cluster)
    assert "Prolog error" in node(cluster)["reason"]
    said = cluster.run("dgx01", "cat", "/run/landbridge/job.failed")
    assert said == "landbridge:prolog:scratch: nothing is mounted on /scratch\n"
    wait_for(
        "the job in the queue again",
        lambda: job_state(cluster, number),
        lambda state: state == "PENDING",
        details=lambda: describe(cluster),
    )
    cluster.put("dgx01", "/etc/landbridge/job.json", kept.encode(), "root")
    cluster.run("ctl01", "scontrol", "update", "nodename=dgx01", "state=resume")
    # Slurm itself lets a requeued job wait two minutes; another one shows that the node works again.
    gone(cluster, number, running(cluster, submit(cluster, "sleep 4041")))


@pytest.fixture(scope="module")
def keys(cluster: LabCluster) -> None:
    """alice, bob and an keeper can log in by key from the login host, to either host."""
    cluster.run("dgx01", "sh", "-c", "id keeper 2>/dev/null || useradd --create-home --shell /bin/bash keeper")
    for user in ("alice", "bob"):
        cluster.run(
            "login01", "sh", "-c", "test -e ~/.ssh/id || ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id", user=user
        )
        public = cluster.run("login01", "cat", f"/home/{user}/.ssh/id.pub").encode()
        for host in ("dgx01", "login01"):
            cluster.put(host, f"/home/{user}/.ssh/authorized_keys", public, user)
    cluster.put("dgx01", "/home/keeper/.ssh/authorized_keys", public, "keeper")


def ssh(cluster: LabCluster, user: str, command: str, host: str = "dgx01", account: str | None = None) -> str:
    options = [f"-o{one}" for one in ("BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null")]
    target = f"{account or user}@{host}"
    return cluster.run(
        "login01", "ssh", "-F", "none", "-i", f"/home/{user}/.ssh/id", *options, target, command, user=user
    )


@pytest.mark.usefixtures("keys")
def test_deepops_988_a_user_without_a_job_is_refused_and_one_with_a_job_is_in_it(cluster: LabCluster) -> None:
    with pytest.raises(ClusterError, match="Access denied by pam_slurm_adopt"):
        ssh(cluster, "alice", "true")
    number = running(cluster, submit(cluster, "sleep 4050"))
    said = ssh(cluster, "alice", "cat /proc/self/cgroup; for n in 0 1 7; do head -c1 /dev/nvidia$n; done 2>&1; true")
    assert f"/job_{number}/step_extern" in said
    # The driver that is not there answers who may open the device; who may not is stopped before.
    assert said.count("Operation not permitted") == 2 and said.count("No such device") == 1
    with pytest.raises(ClusterError, match="Access denied by pam_slurm_adopt"):
        ssh(cluster, "bob", "true")
    ssh(cluster, "alice", "setsid sleep 4051 >/dev/null 2>&1 & sleep 0.2")
    assert len(processes(cluster, "sleep", "4051")) == 1
    gone(cluster, number)
    assert processes(cluster, "sleep", "4051") == []
    with pytest.raises(ClusterError, match="Access denied by pam_slurm_adopt"):
        ssh(cluster, "alice", "true")


@pytest.mark.usefixtures("keys")
def test_awsome_777_login_hosts_let_everybody_in(cluster: LabCluster) -> None:
    assert ssh(cluster, "alice", "hostname", host="login01").strip() == "login01"
    assert "slurm_adopt" not in cluster.run("login01", "cat", "/etc/pam.d/sshd")


@pytest.mark.usefixtures("keys")
def test_deepops_1192_who_keeps_nodes_sees_every_gpu_over_ssh_while_jobs_run(cluster: LabCluster) -> None:
    """A session that may open no device looks like a node without GPUs. What Ansible and people find must be the node's."""
    number = running(cluster, submit(cluster, "sleep 4060", "--gpus=2"))
    said = ssh(cluster, "bob", "for n in $(seq 0 7); do head -c1 /dev/nvidia$n; done 2>&1; true", account="keeper")
    # The driver that is not there answers who may open the device.
    assert said.count("No such device") == GPUS, said
    gone(cluster, number)


@pytest.mark.usefixtures("keys")
def test_keepers_get_in_without_a_job_even_where_the_module_is_gone(cluster: LabCluster) -> None:
    assert ssh(cluster, "bob", "hostname", account="keeper").strip() == "dgx01"
    cluster.run("dgx01", "sh", "-c", "mv /usr/lib/*/security/pam_slurm_adopt.so /root/")
    try:
        assert ssh(cluster, "bob", "hostname", account="keeper").strip() == "dgx01"
        with pytest.raises(ClusterError):
            ssh(cluster, "alice", "true")
        assert cluster.run("dgx01", "hostname").strip() == "dgx01", "root, over a new connection"
    finally:
        cluster.run("dgx01", "sh", "-c", "mv /root/pam_slurm_adopt.so $(dirname /usr/lib/*/security/pam_unix.so)/")
