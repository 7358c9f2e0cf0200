"""A restricted job with every documented flag of sbatch gets no node in AWS; with Slurm's checks off, the burst controller
refuses it."""

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from landbridge.catalog.residency_attempts import residency_attempts
from landbridge.environment import AccountSettings, Environment
from landbridge.plan.roles.burst import accounts
from landbridge.plan.slurm.files import slurm_files
from sandbox.demo.bring_up import BringUp
from sandbox.demo.cluster import ClusterError
from tests.e2e.support.bursting import OBSERVATION_SECONDS, SERVICE, SLURM_CONF, Bursting, fresh, scaled

pytestmark = [pytest.mark.lab, pytest.mark.engine]
ACCOUNT, USER = "clinical", "bob"
RESTRICTED = ("--account", ACCOUNT)
LATER = "--begin=now+1hour"
DENIED = r"may be on-prem only|Access"
RESERVED = "in-aws"
PROGRAMS = ("sbatch", "srun", "salloc")


def with_patients(environment: Environment) -> Environment:
    """Return the environment with an account whose data must not leave the on-prem site."""
    account_settings = AccountSettings(users=(USER,), data_class="restricted")
    scheduler = environment.scheduler
    updated = scheduler.model_copy(update={"accounts": {**scheduler.accounts, ACCOUNT: account_settings}})
    return environment.model_copy(update={"scheduler": updated})


@pytest.fixture(scope="module")
def bursting(deployment: BringUp) -> Iterator[Bursting]:
    """Configure the cluster for that environment as `landbridge configure` does: Slurm's files, the controller's accounts."""
    changed = with_patients(deployment.environment)
    files = slurm_files(changed)
    allowed = dict(re.findall(r"PartitionName=(\S+) .*AllowAccounts=(\S+)", files["slurm.conf"]))
    with scaled(deployment) as ready:
        original = {name: ready.on_controller("cat", f"/etc/slurm/{name}") for name in ("job_submit.lua", "slurm.conf")}
        ready.shell(f"sacctmgr -i add account {ACCOUNT}; sacctmgr -i add user {USER} account={ACCOUNT}")
        ready.write("/etc/slurm/job_submit.lua", files["job_submit.lua"])
        lines = [_allow(line, allowed) for line in original["slurm.conf"].splitlines()]
        ready.write(SLURM_CONF, "\n".join(lines) + "\n")
        ready.configure(lambda content: content.update(accounts=accounts(changed)))
        ready.reconfigure()
        try:
            yield ready
        finally:
            ready.shell("squeue --noheader --format=%A | sort -u | xargs --no-run-if-empty scancel")
            for name, content in original.items():
                ready.write(f"/etc/slurm/{name}", content)
            ready.reconfigure()
            ready.shell(f"sacctmgr -i delete user {USER} account={ACCOUNT}; sacctmgr -i delete account {ACCOUNT}")


def _allow(line: str, allowed: dict[str, str]) -> str:
    match = re.match(r"PartitionName=(\S+)", line)
    return re.sub(r"AllowAccounts=\S+", f"AllowAccounts={allowed[match[1]]}", line) if match else line


@pytest.fixture(autouse=True)
def _fresh(bursting: Bursting) -> Iterator[None]:
    yield from fresh(bursting)


def refused(bursting: Bursting, *options: str) -> str:
    with pytest.raises(ClusterError) as error:
        bursting.submit(*options, user=USER)
    return str(error.value)


def as_user(bursting: Bursting, *command: str) -> str:
    return bursting.deployment.cluster.run(bursting.login, *command, user=USER)


def submitted(bursting: Bursting, name: str, **words: str) -> list[str]:
    """Return the command of an attempt for the lab's account and partitions, with the options that every job has."""
    attempt = residency_attempts().attempts[name]
    known = {"account": ACCOUNT, "other": "vision", "cloud": "p5", "CLOUD": "P5", "mixed": "gpu", "onprem": "onprem"}
    settings = {**known, "node": "p5-1", "cluster": bursting.deployment.environment.name, **words}
    command = [word.format_map(settings) for word in attempt.command]
    program = next(index for index, word in enumerate(command) if word in PROGRAMS) + 1
    has_account = any(word.startswith("--account=") for word in command if ":" not in command)
    options = ["--gpus-per-node=1", "--time=1", *([] if has_account else [f"--account={ACCOUNT}"])]
    return [*command[:program], *options, *command[program:]]


def test_no_attempt_of_the_table_gets_a_restricted_job_into_aws(bursting: Bursting) -> None:
    """Slurm refuses every submission of the table. With job_submit.lua off, no batch job of the table gets a node in AWS."""
    options = ("nodes=p5-1", "starttime=now", "duration=60", f"accounts={ACCOUNT}", "partition=p5")
    bursting.on_controller("scontrol", "create", "reservation", f"reservation={RESERVED}", *options)
    try:
        messages, accepted = _submissions(bursting, PROGRAMS)
        assert not accepted
        for name in ("sbatch-partition", "sbatch-mixed", "srun-default", "salloc-default", "environment-variable"):
            assert "may be on-prem only" in messages[name], (name, messages[name])
        with bursting.slurm_with({"JobSubmitPlugins": None}):
            messages, accepted = _submissions(bursting, PROGRAMS[:1])
            assert "landbridge: " not in "".join(messages.values())
            # A job with several partitions may start in those that admit its account.
            time.sleep(OBSERVATION_SECONDS / 2)
            _nothing_started(bursting)
    finally:
        _delete_reservation(bursting)


def _submissions(bursting: Bursting, programs: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
    """Return Slurm's message about each refused submission of the table, and the names of accepted ones."""
    messages, accepted = {}, []
    for name, attempt in residency_attempts().attempts.items():
        # The lab's user is in both accounts: the proof states as an assumption that such a person copies no data.
        if name != "account-switch" and set(programs) & set(attempt.command):
            try:
                as_user(bursting, *submitted(bursting, name, reservation=RESERVED))
            except ClusterError as error:
                messages[name] = str(error)
            else:
                accepted.append(name)
    return messages, accepted


def test_no_change_of_a_job_gets_it_into_aws(bursting: Bursting) -> None:
    number = str(bursting.submit("--partition=onprem", *RESTRICTED, LATER, user=USER))
    for name in ("update-partition", "update-two-partitions"):
        command = residency_attempts().attempts[name].command
        words = {"job": number, "cloud": "p5", "onprem": "onprem"}
        with pytest.raises(ClusterError, match=DENIED):
            as_user(bursting, *(word.format_map(words) for word in command))
    with pytest.raises(ClusterError):
        bursting.on_controller(
            "scontrol", "update", f"jobid={number}", "partition=p5"
        )  # an administrator cannot either
    for change in ("features=aws", "reqnodelist=p5-1"):
        try:
            as_user(bursting, "scontrol", "update", f"jobid={number}", change, "starttime=now")
        except ClusterError:
            continue
    other = str(bursting.submit("--account=vision", LATER, user=USER))
    with pytest.raises(ClusterError, match=DENIED):
        as_user(bursting, "scontrol", "update", f"jobid={other}", f"account={ACCOUNT}")
    with pytest.raises(ClusterError):
        as_user(bursting, "scontrol", "power", "up", "p5-1")
    with pytest.raises(ClusterError):
        as_user(bursting, "scontrol", "update", "partition=onprem", "nodes=p5-1")
    _nothing_started(bursting)


def test_a_reservation_of_cloud_nodes_admits_no_restricted_job(bursting: Bursting) -> None:
    options = ("nodes=p5-1", "starttime=now", "duration=10", f"accounts={ACCOUNT}", "partition=p5")
    bursting.on_controller("scontrol", "create", "reservation", f"reservation={RESERVED}", *options)
    try:
        refused(bursting, *RESTRICTED, f"--reservation={RESERVED}", "--partition=p5")
        refused(bursting, *RESTRICTED, f"--reservation={RESERVED}", "--partition=gpu")
        try:
            number = bursting.submit(*RESTRICTED, f"--reservation={RESERVED}", "--partition=onprem", user=USER)
            assert bursting.job(number).state == "PENDING"
            bursting.on_controller("scancel", str(number))
        except ClusterError:
            pass
        _nothing_started(bursting)
    finally:
        _delete_reservation(bursting)


def test_with_slurms_checks_off_the_controller_refuses(bursting: Bursting) -> None:
    """An operator has switched job_submit off and opened the partition to all accounts: the controller checks each
    launch, and each job on a running node."""
    with bursting.slurm_with({"JobSubmitPlugins": None}):
        bursting.on_controller("scontrol", "update", "partitionname=p5", "allowaccounts=ALL")
        free = bursting.submit("--account=vision", "--nodes=1", script="sleep 1")
        (warm,) = bursting.ended(free).nodes
        calls = bursting.calls()
        single = bursting.submit(*RESTRICTED, "--exclude", warm, user=USER)
        gang = bursting.submit(*RESTRICTED, "--nodes=2", "--exclude", warm, user=USER)
        placed = bursting.submit(*RESTRICTED, "--nodelist", warm, user=USER)
        for number in (single, gang, placed):
            job = bursting.refused(number, "RESIDENCY")
            assert "restricted" in job.admin_comment
            assert bursting.launched(number) == []
        assert bursting.calls() == calls, "EC2 got no request"
        refusals: list[dict[str, Any]] = [record for record in bursting.records() if record.get("code") == "RESIDENCY"]
        assert {job for refusal in refusals for job in refusal.get("jobs", ())} >= {single, gang, placed}


def test_on_a_running_node_a_restricted_job_waits_and_starts_no_process(bursting: Bursting) -> None:
    """The controller is stopped and Slurm accepts the job: PrologSlurmctld holds it."""
    with bursting.slurm_with({"JobSubmitPlugins": None}):
        bursting.on_controller("scontrol", "update", "partitionname=p5", "allowaccounts=ALL")
        (warm,) = bursting.ended(bursting.submit("--account=vision", "--nodes=1", script="sleep 1")).nodes
        bursting.on_controller("systemctl", "stop", SERVICE)
        try:
            number = bursting.submit(*RESTRICTED, "--nodelist", warm, script="true", user=USER)
            bursting.wait_for("Slurm to place it", lambda: bursting.job(number), lambda job: job.nodes == (warm,))
            time.sleep(OBSERVATION_SECONDS / 2)
            assert "CONFIGURING" in bursting.on_controller("squeue", f"--jobs={number}", "--noheader", "--format=%T")
        finally:
            bursting.on_controller("systemctl", "start", SERVICE)
        bursting.refused(number, "RESIDENCY")
        steps = bursting.on_controller("sacct", f"--jobs={number}", "--duplicates", "--noheader", "--format=JobID")
        assert str(number) in steps and "batch" not in steps


def _delete_reservation(bursting: Bursting) -> None:
    """Cancel every job and delete the reservation: Slurm refuses while a job requests it."""
    bursting.shell("squeue --noheader --format=%A | sort -u | xargs --no-run-if-empty scancel")
    bursting.wait_for(
        "the end of the reservation",
        lambda: bursting.shell(f"scontrol delete reservation={RESERVED} 2>&1 || true"),
        lambda text: "in use" not in text,
    )


def _nothing_started(bursting: Bursting) -> None:
    # After a reconfiguration slurmctld can stop a node that is off once more: POWERING_DOWN for a few seconds. A node that
    # started has called EC2.
    bursting.wait_for(
        "every node to be off",
        bursting.states,
        lambda states: all("POWERED_DOWN" in state for state in states.values()),
    )
    assert bursting.calls() == 0 and not bursting.alive()
