"""The sandbox's cluster with shortened times of the burst controller, shared by the tests of bursting."""

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, TypeVar

from landbridge.catalog.aws.access.service_linked_roles import service_linked_roles
from landbridge.plan.network.hosts import service_hosts
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.demo.bring_up import BringUp
from sandbox.demo.cluster import LabJob, job, wait_for
from sandbox.demo.full import clients
from sandbox.session import ensure_cloud
from tests.e2e.support.burst_conditions import all_off

T = TypeVar("T")
SERVICE = "landbridge-burst.service"
CONFIG = "/etc/landbridge/burst.json"
SLURM_CONF = "/etc/slurm/slurm.conf"
STATE = "/var/lib/landbridge"
POOL, TYPE = "p5", "p5.48xlarge"
NODES = ("p5-1", "p5-2", "p5-3", "p5-4")
ALIVE = ("pending", "running", "stopping", "shutting-down")
#: Seconds. Slurm powers an idle node down after SuspendTime, which the environment sets (20); other times are shortened here.
SLURM_TIMES = {"SuspendTimeout": 5, "ResumeTimeout": 240, "KillWait": 5}
BURST_TIMES = {
    "insufficient_capacity_seconds": [4, 12],
    "breaker_seconds": 600,
    "orphan_seconds": 10,
    "settle_seconds": 10,
}
#: Seconds until the controller has seen a change: its interval and a pass.
OBSERVATION_SECONDS = 20


@dataclass(frozen=True)
class Bursting:
    """Actions of a user and of an operator, and faults of EC2."""

    deployment: BringUp
    user: str

    @cached_property
    def cloud(self) -> EmulatorProcess:
        return ensure_cloud(self.deployment.lab, self.deployment.environment)

    @cached_property
    def controller(self) -> str:
        return service_hosts(self.deployment.environment).controllers[0]

    @cached_property
    def login(self) -> str:
        return service_hosts(self.deployment.environment).logins[0]

    def on_controller(self, *command: str, timeout: float = 300) -> str:
        return self.deployment.cluster.run(self.controller, *command, timeout=timeout)

    def shell(self, script: str) -> str:
        return self.on_controller("sh", "-c", script)

    def create_spot_role(self) -> None:
        """Create the service-linked role of spot if it does not exist, as an operator does before a pool may use it."""
        iam = clients(self.deployment, "iam")
        spot = service_linked_roles()["spot"]
        try:
            iam.get_role(RoleName=spot.role)
        except iam.exceptions.NoSuchEntityException:
            iam.create_service_linked_role(AWSServiceName=spot.service)

    # Jobs.

    def submit(self, *options: str, script: str = "sleep 600", user: str = "") -> int:
        """`sbatch` of a job that takes whole nodes, in the pool's partition unless `options` name another."""
        words = ["--parsable", "--time=10", "--gpus-per-node=8", "--chdir=/tmp", "--output=/dev/null", *options]
        if not any(word.startswith(("--partition", "-p")) for word in options):
            words.append(f"--partition={POOL}")
        output = self.deployment.cluster.run(self.login, "sbatch", *words, "--wrap", script, user=user or self.user)
        return int(output.strip().split(";")[0])

    def job(self, number: int) -> LabJob:
        return job(self.deployment.cluster, self.controller, number)

    def running(self, number: int) -> LabJob:
        """Wait until the job runs."""
        return self.wait_for(
            f"job {number} to run", lambda: self.job(number), lambda job: job.state == "RUNNING", every=0.3
        )

    def ended(self, number: int) -> LabJob:
        """Wait until the job has ended, and assert that it is COMPLETED."""
        job = self.wait_for(f"job {number} to end", lambda: self.job(number), lambda job: job.finished)
        assert job.state == "COMPLETED", job
        return job

    def refused(self, number: int, *codes: str) -> LabJob:
        """Wait until the job is pending and its AdminComment has one of `codes`."""
        return self.wait_for(
            f"an AdminComment of job {number} with one of {codes}",
            lambda: self.job(number),
            lambda job: job.state == "PENDING" and any(f"landbridge: {code}" in job.admin_comment for code in codes),
        )

    def wait_for(
        self, subject: str, probe: Callable[[], T], accept: Callable[[T], object] = bool, *, every: float = 0.5
    ) -> T:
        """Wait for a value of `probe`; a failed wait shows the queue, the nodes, the instances and the ends of the logs."""
        return wait_for(subject, probe, accept, every=every, details=self.describe)

    def describe(self) -> str:
        """Return the queue, the nodes, the instances and the ends of the logs of slurmctld and the burst controller."""
        shown = self.shell(
            "squeue --all --states=all; sinfo --Node --format='%N %T %E';"
            " tail -n 40 /var/log/slurm/slurmctld.log | grep -v Recovered;"
            f" tail -n 20 {STATE}/decisions.jsonl; journalctl --unit={SERVICE} --lines=20 --no-pager"
        )
        instances = [(instance["id"], instance["state"], instance["tags"]) for instance in self.launched()]
        return f"{shown}\ninstances: {instances}"

    def wait_until_off(self, every: float = 0.5) -> None:
        """Wait until no instance is billed and Slurm shows every cloud node as powered down."""
        self.wait_for("every instance to end", self.alive, lambda instances: not instances, every=every)
        self.wait_for("every node to be POWERED_DOWN", self.states, all_off, every=every)

    # Nodes.

    def nodes(self) -> dict[str, dict[str, Any]]:
        nodes = self.deployment.cluster.json(self.controller, "scontrol", "show", "nodes", "--json")["nodes"]
        return {node["name"]: node for node in nodes if node["name"] in NODES}

    def states(self) -> dict[str, frozenset[str]]:
        return {name: frozenset(node["state"]) for name, node in self.nodes().items()}

    def reasons(self, code: str) -> list[str]:
        """Return the nodes whose reason begins with `landbridge: code`."""
        return [name for name, node in self.nodes().items() if node.get("reason", "").startswith(f"landbridge: {code}")]

    def power(self, state: str, *nodes: str) -> None:
        self.on_controller("scontrol", "update", f"nodename={','.join(nodes)}", f"state={state}")

    # EC2.

    def launched(self, number: int | None = None) -> list[dict[str, Any]]:
        """Return all instances that EC2 started, also terminated ones; with `number` those of that job."""
        instances = self.cloud.control()["instances"]
        return [
            instance
            for instance in instances
            if number is None or str(number) in instance["tags"].get("landbridge:job", "").split(",")
        ]

    def alive(self, number: int | None = None) -> list[str]:
        """Return the ids of the instances that are billed now."""
        return [instance["id"] for instance in self.launched(number) if instance["state"] in ALIVE]

    def calls(self, action: str = "RunInstances") -> int:
        return int(self.cloud.control()["calls"].get(action, 0))

    def set_capacity(self, **zones: int) -> None:
        """Set the number of instances that EC2 has left, by zone id; `everywhere` for all zones together."""
        keys = {f"{TYPE}/{'*' if zone == 'everywhere' else zone.replace('_', '-')}": n for zone, n in zones.items()}
        self.cloud.control(pool=keys)

    # The controller.

    def pid(self) -> int:
        return int(self.on_controller("systemctl", "show", "--property=MainPID", "--value", SERVICE))

    def kill(self) -> None:
        """Kill the controller, as the kernel's out-of-memory killer does."""
        self.on_controller("kill", "-9", str(self.pid()))

    def landbridge_burst(self, *words: str) -> str:
        """Run `landbridge burst ...` on the controller and return its output."""
        return self.on_controller("/opt/landbridge/bin/landbridge-burst", *words)

    def offerings(self) -> list[dict[str, Any]]:
        """Return the pool's offerings, in their order."""
        return list(json.loads(self.on_controller("cat", CONFIG))["pools"][POOL]["offerings"])

    def records(self, event: str = "", number: int | None = None) -> list[dict[str, Any]]:
        """Return the controller's decisions since the test began, from its decision log."""
        lines = self.shell(f"cat {STATE}/decisions.jsonl 2>/dev/null || true").splitlines()
        decisions = [json.loads(line) for line in lines]
        return [
            record
            for record in decisions
            if (not event or record["event"] == event) and (number is None or number in record.get("jobs", []))
        ]

    def reset_journal(self) -> None:
        """Delete the journal: a test must not see the state of offerings, pools and jobs of an earlier one."""
        self.shell(
            f"systemctl stop {SERVICE}; rm -f {STATE}/burst.db* {STATE}/decisions.jsonl*; systemctl start {SERVICE}"
        )

    def configure(self, change: Callable[[dict[str, Any]], None]) -> None:
        """Change burst.json on the controller and reload it."""
        content = json.loads(self.on_controller("cat", CONFIG))
        change(content)
        self.write(CONFIG, json.dumps(content))
        self.on_controller("systemctl", "kill", "--signal=HUP", SERVICE)

    def settle(self) -> None:
        """Cancel all jobs, terminate all instances, and wait until every node is off."""
        self.shell("squeue --noheader --format=%A | sort -u | xargs --no-run-if-empty scancel")

        def observe() -> tuple[list[str], list[str], dict[str, frozenset[str]]]:
            states = self.states()
            on = [
                name
                for name, state in states.items()
                if "DOWN" in state or not state & {"POWERED_DOWN", "POWERING_DOWN", "POWER_DOWN"}
            ]
            if on:
                self.power("power_down_force", *on)
            return on, self.alive(), states

        def is_off(observed: tuple[list[str], list[str], dict[str, frozenset[str]]]) -> bool:
            on, instances, states = observed
            return not on and not instances and all_off(states)

        self.wait_for("every node and instance to be off", observe, is_off, every=1)

    def write(self, path: str, content: str) -> None:
        # Written in place: its owner and mode do not change.
        self.deployment.cluster.run(self.controller, "sh", "-c", f"printf %s {shlex.quote(content)} > {path}")

    @contextmanager
    def slurm_with(self, settings: Mapping[str, object]) -> Iterator[None]:
        """Run with other values in slurm.conf."""
        original = self.on_controller("cat", SLURM_CONF)
        lines = [line for line in original.splitlines() if line.partition("=")[0] not in settings]
        # Settings must come before the first node.
        changed = [f"{key}={value}" for key, value in settings.items() if value is not None]
        self.write(SLURM_CONF, "\n".join([*changed, *lines]) + "\n")
        try:
            self.reconfigure()
            yield
        finally:
            self.write(SLURM_CONF, original)
            self.reconfigure()

    def reconfigure(self) -> None:
        self.on_controller("scontrol", "reconfigure")
        wait_for("slurmctld to answer", self.states)

    def log_times(self, pattern: str) -> list[float]:
        """Return the times of matching lines in slurmctld's log, in seconds since 1970."""
        moments = []
        for line in self.on_controller("tail", "-n", "400", "/var/log/slurm/slurmctld.log").splitlines():
            stamp, _, text = line.removeprefix("[").partition("] ")
            if re.search(pattern, text):
                moments.append(datetime.fromisoformat(stamp).replace(tzinfo=UTC).timestamp())
        return moments


@contextmanager
def scaled(deployment: BringUp, **settings: object) -> Iterator[Bursting]:
    """Run with short times in Slurm and the controller, and restore them afterwards."""
    bursting = Bursting(deployment, deployment.environment.users[0].name)
    original = bursting.on_controller("cat", CONFIG)

    def change(content: dict[str, Any]) -> None:
        content.update(BURST_TIMES)
        for pool in content["pools"].values():
            pool["resume_timeout"] = SLURM_TIMES["ResumeTimeout"]

    try:
        with bursting.slurm_with(SLURM_TIMES | settings):
            bursting.configure(change)
            bursting.settle()
            yield bursting
            bursting.cloud.control(reset=True)
            bursting.settle()
    finally:
        bursting.cloud.control(reset=True)
        bursting.write(CONFIG, original)
        bursting.reset_journal()


def fresh(bursting: Bursting) -> Iterator[None]:
    """Fixture of each test: EC2 has capacity and answers at once, the journal is empty, all nodes are off."""
    bursting.cloud.control(reset=True)
    bursting.reset_journal()
    yield
    bursting.cloud.control(reset=True)
    bursting.settle()
