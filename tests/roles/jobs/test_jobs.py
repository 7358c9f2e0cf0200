"""Prolog, epilog and ssh of a job on a real node; tests named after complaints about other kits (onprem.md, 5)."""

import sys
from collections.abc import Iterator

import pytest

from landbridge.ops.logs.query import LogQuery, entries_of, journal_program, slurm_program
from landbridge.ops.logs.window import LogWindow
from landbridge.ops.status.cluster import node_judged
from landbridge.ops.status.facts import failed_units, queue_facts
from landbridge.ops.status.report import StatusLine
from landbridge.ops.status.sources import status_sources
from sandbox.demo.cluster import ClusterError, LabCluster, wait_for
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from tests.roles.jobs.jobs_lab import (
    GPUS,
    SITE,
    cancel,
    configure,
    describe,
    environment,
    job_state,
    node,
    processes,
    running,
    state,
    submit,
)
from tests.unit.core.samples import environment as sample_environment

pytestmark = [pytest.mark.lab]

NAME = "landbridge-test-jobs"


@pytest.fixture(scope="module", params=["26.05", pytest.param("24.11", marks=pytest.mark.long)])
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabCluster]:
    lab, folder = layout(NAME), tmp_path_factory.mktemp("jobs")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE, lambda line: print(f"  {line}", file=sys.stderr))
        configure(lab, environment(folder, request.param), folder / "jobs.yml")
        lab_cluster = LabCluster(lab)
        in_service(lab_cluster)
        yield lab_cluster
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


def test_a_job_has_its_own_folder_which_is_deleted_afterwards(cluster: LabCluster) -> None:
    number = submit(cluster, "umask; env | grep -E '^(TMPDIR|SCRATCH)='; mktemp; ls -ld $SCRATCH; sleep 300")
    running(cluster, number)
    folder = f"/var/lib/landbridge/jobs/{number}"
    output = wait_for(
        "the job's output",
        lambda: cluster.run("dgx01", "cat", f"/tmp/{number}.out"),
        lambda text: "drwx------ 3 alice" in text,
    )
    assert f"TMPDIR={folder}/tmp" in output and f"SCRATCH={folder}\n" in output and f"{folder}/tmp/tmp." in output
    with pytest.raises(ClusterError, match="Permission denied"):
        cluster.run("dgx01", "ls", folder, user="bob")
    cancel(cluster, number)
    assert cluster.run("dgx01", "ls", "/var/lib/landbridge/jobs") == ""
    assert state(cluster) == "IDLE"


def test_deepops_992_the_end_of_one_job_does_not_affect_the_users_other_job(cluster: LabCluster) -> None:
    first, second = submit(cluster, "sleep 4001"), submit(cluster, "sleep 4002")
    running(cluster, first), running(cluster, second)
    # The epilog must find processes outside the job's cgroups: one process of each job is moved out of its cgroup.
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
    cancel(cluster, first)
    assert processes(cluster, "sleep", "4001") == []
    assert len(processes(cluster, "sleep", "4002")) == 1, "the other job's process outside its cgroup"
    assert len(processes(cluster, "sleep", "4003")) == 1, "the other job's process"
    assert len(processes(cluster, "sleep", "4004")) == 1, "a process of the user without a job"
    assert [job_state(cluster, number) for number in (second, third)] == ["RUNNING", "RUNNING"]
    cancel(cluster, second, third)
    assert processes(cluster, "sleep", "4002") == processes(cluster, "sleep", "4003") == []
    cluster.run("dgx01", "kill", *map(str, processes(cluster, "sleep", "4004")))
    assert state(cluster) == "IDLE"


def test_deepops_919_prolog_and_epilog_need_no_search_path(cluster: LabCluster) -> None:
    """Slurm sets no PATH. A prolog that cannot find its programs drains every node; this one finds them and logs it."""
    number = running(cluster, submit(cluster, "sleep 4010"))
    cancel(cluster, number)
    assert "no nvidia-smi on this node" in cluster.run("dgx01", "journalctl", "-t", "landbridge-job", "-o", "cat")
    with pytest.raises(ClusterError):
        cluster.run("dgx01", "test", "-e", "/run/landbridge/job.failed")
    assert state(cluster) == "IDLE"


SMI = """#!/bin/sh
echo "$*" >> /run/smi-calls
case "$*" in *--reset-gpu-clocks) test ! -e /run/lost || { echo GPU is lost; exit 15; } ;; esac
"""


@pytest.fixture
def gpu_program(cluster: LabCluster) -> Iterator[None]:
    cluster.put("dgx01", "/usr/local/bin/nvidia-smi", SMI.encode(), "root")
    cluster.run("dgx01", "chmod", "755", "/usr/local/bin/nvidia-smi")
    yield
    cluster.run("dgx01", "rm", "-f", "/usr/local/bin/nvidia-smi", "/run/smi-calls", "/run/lost")


@pytest.mark.usefixtures("gpu_program")
def test_deepops_936_parts_for_whole_nodes_run_only_for_jobs_with_whole_nodes(cluster: LabCluster) -> None:
    part = running(cluster, submit(cluster, "sleep 4020", "--gpus=2"))
    second = running(cluster, submit(cluster, "echo $SLURM_JOB_GPUS; sleep 4021", "--gpus=2"))
    # Slurm selects the GPUs by the cores bound to them.
    gpus = wait_for("the job's output", lambda: cluster.run("dgx01", "cat", f"/tmp/{second}.out").strip())
    assert len(gpus.split(",")) == 2
    cancel(cluster, second)
    calls = cluster.run("dgx01", "cat", "/run/smi-calls").splitlines()
    assert calls == [f"-i {gpus} --reset-gpu-clocks", f"-i {gpus} --reset-memory-clocks"]
    cancel(cluster, part)
    cluster.run("dgx01", "rm", "/run/smi-calls")
    cancel(cluster, running(cluster, submit(cluster, "sleep 4022", "--exclusive", f"--gpus={GPUS}")))
    (*restored, reset) = cluster.run("dgx01", "cat", "/run/smi-calls").splitlines()
    assert len(restored) == 2 and reset.endswith(" --gpu-reset")
    assert sorted(reset.split()[1].split(",")) == [str(number) for number in range(GPUS)]


@pytest.mark.usefixtures("gpu_program")
def test_a_gpu_lost_after_a_job_drains_the_node_with_the_reason(cluster: LabCluster) -> None:
    number = running(cluster, submit(cluster, "sleep 4030"))
    cluster.run("dgx01", "touch", "/run/lost")
    cancel(cluster, number)
    drained(cluster)
    assert "Epilog error" in node(cluster)["reason"]
    assert cluster.run("dgx01", "cat", "/run/landbridge/job.failed").startswith("landbridge:epilog:gpu: nvidia-smi")
    cluster.run("ctl01", "scontrol", "update", "nodename=dgx01", "state=resume")
    in_service(cluster)


def test_a_missing_scratch_disk_drains_the_node_and_its_job_is_requeued(cluster: LabCluster) -> None:
    original = cluster.run("dgx01", "cat", "/etc/landbridge/job.json")
    cluster.put("dgx01", "/etc/landbridge/job.json", b'{"root": "/scratch/jobs", "mount": "/scratch"}', "root")
    number = submit(cluster, "sleep 4040")
    drained(cluster)
    assert "Prolog error" in node(cluster)["reason"]
    reason = cluster.run("dgx01", "cat", "/run/landbridge/job.failed")
    assert reason == "landbridge:prolog:scratch: nothing is mounted on /scratch\n"
    wait_for(
        "the job in the queue again",
        lambda: job_state(cluster, number),
        lambda state: state == "PENDING",
        details=lambda: describe(cluster),
    )
    cluster.put("dgx01", "/etc/landbridge/job.json", original.encode(), "root")
    cluster.run("ctl01", "scontrol", "update", "nodename=dgx01", "state=resume")
    # Slurm delays a requeued job by two minutes; another job shows that the node works again.
    cancel(cluster, number, running(cluster, submit(cluster, "sleep 4041")))


@pytest.fixture(scope="module")
def keys(cluster: LabCluster) -> None:
    """Set up keys so that alice, bob and the keeper can log in from the login host to either host."""
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
    options = [
        f"-o{option}" for option in ("BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null")
    ]
    target = f"{account or user}@{host}"
    return cluster.run(
        "login01", "ssh", "-F", "none", "-i", f"/home/{user}/.ssh/id", *options, target, command, user=user
    )


@pytest.mark.usefixtures("keys")
def test_deepops_988_a_user_without_a_job_is_refused_and_one_with_a_job_is_in_it(cluster: LabCluster) -> None:
    with pytest.raises(ClusterError, match="Access denied by pam_slurm_adopt"):
        ssh(cluster, "alice", "true")
    number = running(cluster, submit(cluster, "sleep 4050"))
    output = ssh(cluster, "alice", "cat /proc/self/cgroup; for n in 0 1 7; do head -c1 /dev/nvidia$n; done 2>&1; true")
    assert f"/job_{number}/step_extern" in output
    # No driver is loaded: a permitted open fails with "No such device", a denied one with "Operation not permitted".
    assert output.count("Operation not permitted") == 2 and output.count("No such device") == 1
    with pytest.raises(ClusterError, match="Access denied by pam_slurm_adopt"):
        ssh(cluster, "bob", "true")
    ssh(cluster, "alice", "setsid sleep 4051 >/dev/null 2>&1 & sleep 0.2")
    assert len(processes(cluster, "sleep", "4051")) == 1
    cancel(cluster, number)
    assert processes(cluster, "sleep", "4051") == []
    with pytest.raises(ClusterError, match="Access denied by pam_slurm_adopt"):
        ssh(cluster, "alice", "true")


@pytest.mark.usefixtures("keys")
def test_awsome_777_login_hosts_accept_all_users(cluster: LabCluster) -> None:
    assert ssh(cluster, "alice", "hostname", host="login01").strip() == "login01"
    assert "slurm_adopt" not in cluster.run("login01", "cat", "/etc/pam.d/sshd")


@pytest.mark.usefixtures("keys")
def test_deepops_1192_an_operator_sees_every_gpu_over_ssh_while_jobs_run(cluster: LabCluster) -> None:
    """A session without device access looks like a node without GPUs. Ansible and operators must see all GPUs."""
    number = running(cluster, submit(cluster, "sleep 4060", "--gpus=2"))
    output = ssh(cluster, "bob", "for n in $(seq 0 7); do head -c1 /dev/nvidia$n; done 2>&1; true", account="keeper")
    # No driver is loaded: a permitted open fails with "No such device".
    assert output.count("No such device") == GPUS, output
    cancel(cluster, number)


@pytest.mark.usefixtures("keys")
def test_keepers_log_in_without_a_job_even_without_the_pam_module(cluster: LabCluster) -> None:
    assert ssh(cluster, "bob", "hostname", account="keeper").strip() == "dgx01"
    cluster.run("dgx01", "sh", "-c", "mv /usr/lib/*/security/pam_slurm_adopt.so /root/")
    try:
        assert ssh(cluster, "bob", "hostname", account="keeper").strip() == "dgx01"
        with pytest.raises(ClusterError):
            ssh(cluster, "alice", "true")
        assert cluster.run("dgx01", "hostname").strip() == "dgx01", "root, over a new connection"
    finally:
        cluster.run("dgx01", "sh", "-c", "mv /root/pam_slurm_adopt.so $(dirname /usr/lib/*/security/pam_unix.so)/")


def test_status_and_logs_read_the_queue_the_nodes_and_the_log_files_of_this_slurm(cluster: LabCluster) -> None:
    programs = {
        name: words
        for source in status_sources(sample_environment(), None)
        if source.host.name == "ctl01"
        for name, words in source.programs.items()
    }
    number = running(cluster, submit(cluster, "sleep 4070"))
    held = submit(cluster, "true", "--hold")
    began = int(cluster.run("ctl01", "date", "+%s"))
    try:
        queue = queue_facts(cluster.run("ctl01", *programs["queue"]))
        assert queue.states == {"RUNNING": 1, "PENDING": 1} and queue.reasons == {"JobHeldUser": 1}
        every = queue_facts(cluster.run("ctl01", *programs["queue"]).replace("JobHeldUser", "Resources"))
        assert every.waits_since is not None and 0 <= began - every.waits_since < 3600
        (line,) = node_judged("test", cluster.json("ctl01", *programs["nodes"]))
        assert line == StatusLine("nodes", "ok", "1 of 1 in service")
        assert "slurmctld.service" not in failed_units(cluster.run("ctl01", *programs["failed units"]))
        query = LogQuery(LogWindow(1, "h"), number)
        entries = [
            entry for host in ("ctl01", "dgx01") for entry in entries_of(host, cluster.run(host, *slurm_program(query)))
        ]
        assert {entry.unit for entry in entries} == {"slurmctld", "slurmd"}
        assert all(abs(began - entry.at) < 3600 for entry in entries)
        assert not any(f"JobId={held}" in entry.message for entry in entries)
        started = LogQuery(LogWindow(1, "d"), unit="slurmctld.service")
        assert {entry.unit for entry in entries_of("ctl01", cluster.run("ctl01", *journal_program(started)))}
    finally:
        cancel(cluster, number, held)
