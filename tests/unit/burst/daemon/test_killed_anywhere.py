"""kill -9 at every call to EC2 and every write of the journal while a gang is launched, against the emulated AWS.

A child process makes one pass and kills itself at a counted point. Then the controller starts again, with the journal
of the child or with none, and must end up with exactly the instances that the gang needs.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from landbridge.burst.aws.ec2 import Ec2
from landbridge.burst.config.config import BurstConfig
from landbridge.burst.daemon.passes import one_pass
from landbridge.burst.journal.store import Store
from landbridge.burst.model import (
    AccountPolicy,
    BurstPolicy,
    DecisionRecord,
    LaunchInterface,
    Offering,
    PoolPolicy,
    SlurmJob,
    SlurmNode,
    SlurmView,
    State,
)
from sandbox.aws_emulator.process import EmulatorProcess, running
from tests.unit.aws_emulator.conftest import Stack, build, client_of

JOBS = count(7)
TYPE = "p5.48xlarge"
#: A gang that one call starts, one that needs two calls, and one whose second call finds no room in the first zone.
SHAPES = ("one call", "two calls", "rolled back")


@dataclass
class FixedSlurm:
    """A Slurm with a fixed state: a job has nodes that have no instance yet. `refused`: the reason with which they were
    set down."""

    job: int
    started: float
    nodes: tuple[str, ...] = ("g-1", "g-2", "g-3")
    addresses: dict[str, str] = field(default_factory=dict)
    refused: str = ""

    def active(self) -> bool:
        return True

    def view(
        self, policy: BurstPolicy, pending: Any = (), need_address: Any = (), *, all_pending: bool = False
    ) -> SlurmView:
        job = SlurmJob(self.job, "CONFIGURING", self.nodes, "gpu", "lab", "ann", started=self.started, minutes=60)
        if self.refused:
            job = SlurmJob(self.job, "PENDING", (), "gpu", "lab", "ann", restarts=1, minutes=60)
        up = frozenset({"ALLOCATED", "CLOUD", "NOT_RESPONDING", "POWERING_UP"})
        off = frozenset({"IDLE", "CLOUD", "POWERED_DOWN"})
        names = [f"g-{number}" for number in range(1, 9)]
        return SlurmView(self.started, {self.job: job}, {n: SlurmNode(n, up if n in job.nodes else off) for n in names})

    def down(self, nodes: Any, reason: str) -> None:
        self.refused = reason

    def set_addresses(self, addresses: Any) -> None:
        self.addresses.update(addresses)

    def set_network_paths(self, paths: Any) -> None:
        raise AssertionError("no offering has a topology")

    def comment(self, comments: Any) -> dict[int, str]:
        assert self.refused and [comment.job for comment in comments] == [self.job]
        return {}

    def report_end(self, jobs: Any, reason: str) -> None:
        raise AssertionError("Slurm requeues the job")

    def promote(self, job: int, partitions: Any) -> None:
        raise AssertionError("promoted")


class Points:
    """Counter of the points at which a process can be killed; it kills the process at the chosen one."""

    def __init__(self, deadly: int | None) -> None:
        self.deadly, self.passed = deadly, 0

    def __call__(self, *_: Any, **__: Any) -> None:
        self.passed += 1
        if self.passed == self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)


class Counted:
    """A Store with such a point before and after each write."""

    def __init__(self, store: Store, point: Callable[[], None]) -> None:
        self.store, self.point = store, point

    def load(self) -> State:
        return self.store.load()

    def save(self, before: State, after: State) -> None:
        self.point()
        self.store.save(before, after)
        self.point()

    def record(self, records: tuple[DecisionRecord, ...]) -> None:
        self.store.record(records)


@dataclass(frozen=True)
class Site:
    """The emulated AWS with a network, and an EC2 client each for the child and for the controller after it."""

    cloud: EmulatorProcess
    stack: Stack
    config: BurstConfig
    child: Ec2
    successor: Ec2

    def alive(self) -> list[dict[str, Any]]:
        return [item for item in self.cloud.control()["instances"] if item["state"] in ("pending", "running")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("cloud")
    with running(folder, "--with-parent", "--boot-delay", "0") as cloud:
        stack = build(client_of(cloud, "ec2"))
        offerings = tuple(
            Offering(
                key=f"{TYPE}/{zone}/on-demand",
                kind="on_demand",
                instance_type=TYPE,
                subnet=subnet,
                zone=zone,
                market="on-demand",
                launch_template_id=stack.template,
                launch_template_version="1",
                usd_hour=10.0,
                interfaces=(LaunchInterface(0, 0, "efa"),),
                security_groups=(stack.group,),
            )
            for zone, subnet in zip("ab", stack.subnets, strict=True)
        )
        policy = BurstPolicy(
            "site",
            "us-east-1",
            {"gpu": PoolPolicy("gpu", "g-", 8, offerings)},
            {"lab": AccountPolicy("lab", "internal", True)},
        )
        config = BurstConfig(policy, cloud.endpoint, str(cloud.launch_credentials), state_dir=folder)
        cloud.control(
            buckets={action: [1e6, 1e6] for action in ("RunInstances", "DescribeInstances", "TerminateInstances")}
        )
        yield Site(cloud, stack, config, Ec2(config), Ec2(config))


def launch(site: Site, policy: BurstPolicy, slurm: FixedSlurm, path: Path, deadly: int | None) -> int:
    """Make one pass in a child that is killed at point `deadly`; return the number of points passed, 0 if it was
    killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            point = Points(deadly)
            for client in {id(c): c for c in site.child._clients._present()}.values():
                client.meta.events.register("before-send.ec2", point)
                client.meta.events.register("response-received.ec2", point)
            one_pass(Counted(Store(path), point), site.child, slurm, policy, slurm.started + 1)
            os.write(writing, str(point.passed).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    passed = os.read(reading, 20)
    os.close(reading)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return 0
    assert os.WEXITSTATUS(status) == 0
    return int(passed)


@pytest.mark.parametrize(
    ("shape", "lost"),
    [
        pytest.param(
            shape,
            lost,
            id=f"{shape}, journal {'lost' if lost else 'kept'}",
            # The longest of the combinations run in make test-long only.
            marks=[pytest.mark.long] if (number, lost) in ((1, True), (2, False)) else [],
        )
        for number, shape in enumerate(SHAPES)
        for lost in (False, True)
    ],
)
def test_a_gang_is_complete_and_no_instance_is_left_wherever_the_controller_is_killed(
    site: Site, tmp_path: Path, shape: str, lost: bool
) -> None:
    policy = replace(site.config.policy, launch_batch=500 if shape == "one call" else 2)
    deadly = 0
    while True:
        deadly += 1
        capacity = {f"{TYPE}/use1-az4": 2 if shape == SHAPES[2] else 1000}
        site.cloud.control(pool=capacity)
        slurm = FixedSlurm(next(JOBS), time.time())
        path = tmp_path / f"{deadly}.db"
        died = launch(site, policy, slurm, path, deadly) == 0
        if lost:
            path = tmp_path / f"{deadly}-new.db"
        store = Store(path)
        for seconds in (2, 60, 200):
            one_pass(store, site.successor, slurm, policy, slurm.started + seconds)
        alive = site.alive()
        if slurm.refused:
            # Half of the launch has ended, or the killed child terminated it: the whole job is requeued with a comment.
            assert died and shape == SHAPES[2], (deadly, slurm.refused)
            assert slurm.refused.startswith(("landbridge: CAPACITY ", "landbridge: GONE ")), (deadly, slurm.refused)
        view = site.successor.view()
        names = sorted(instance.node for instance in view.instances if instance.state in ("pending", "running"))
        assert names == ([] if slurm.refused else list(slurm.nodes)), deadly
        assert len(alive) == len(names), (deadly, alive)
        assert len({item["zone"] for item in alive}) <= 1, (deadly, alive)
        assert all(attempt.ended is not None for attempt in store.load().attempts.values()), deadly
        store.close()
        site.successor.terminate(item["id"] for item in alive)
        if not died:
            break
    assert deadly > 6
