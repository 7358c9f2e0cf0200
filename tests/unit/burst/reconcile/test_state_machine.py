"""Stateful test of the controller in the simulated world: a state machine draws jobs, faults and the points of a crash.

The invariants of every step are in world/watch.py. At the end all faults stop, and the world must settle: every job
has ended or has a comment why it cannot run, no instance is left, no money is held.
"""

import functools
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from landbridge.burst.daemon.passes import one_pass
from landbridge.burst.model import InstanceEnd
from tests.thorough import examples
from tests.unit.burst.world.faults import LaunchEnd
from tests.unit.burst.world.policies import policies
from tests.unit.burst.world.sims import SimJob
from tests.unit.burst.world.slurmctld import LOCAL
from tests.unit.burst.world.world import World

WORDS = st.sampled_from(
    ["ok", "ok", "throttle", "timeout-before", "timeout-after", "timeout-after", "crash-before", "crash-after"]
)
POOLS = st.sampled_from(["gpu", "gpu", "big"])
PARTITIONS = st.sampled_from(["gpu", "gpu", "big", LOCAL])
ACCOUNTS = st.sampled_from(["lab", "lab", "lab", "poor", "secret", "nobody"])
WORK = st.sampled_from([20.0, 90.0, 240.0, 900.0])  # the last one above the time limits
ENDS = ("Server.InsufficientInstanceCapacity", "Client.VolumeLimitExceeded", "Client.InternalError", "")
MINUTES = st.sampled_from([4, 10, None])


class Bursting(RuleBasedStateMachine):
    """State machine of jobs, operators and faults: few rules, so that each is drawn often; after most of them the
    controller makes a pass."""

    world: World

    def __init__(self) -> None:
        super().__init__()
        memory = Path("/dev/shm")
        self.folder = tempfile.mkdtemp(prefix="landbridge-world-", dir=memory if memory.is_dir() else None)

    @initialize(
        policy=policies(),
        boot=st.sampled_from([20.0, 60.0, 200.0]),
        lag=st.sampled_from([0.0, 0.0, 20.0, 60.0]),
        wants=st.integers(1, 4),
        account=ACCOUNTS,
        minutes=MINUTES,
    )
    def begin(self, policy, boot, lag, wants, account, minutes):
        # As in the daemon: a pass reads the clock again after slow calls.
        a_pass = functools.partial(one_pass, workers=1, clock=lambda: self.world.clock.now)
        self.world = World(policy, a_pass, Path(self.folder))
        self.world.ec2.boot, self.world.ec2.lag = boot, lag
        self._submit("gpu", wants, account, minutes, 90.0)

    # Jobs.

    @rule(pool=PARTITIONS, wants=st.integers(2, 4), account=ACCOUNTS, minutes=MINUTES, runs=WORK)
    def gang(self, pool, wants, account, minutes, runs):
        self._submit(pool, min(wants, {"big": 3, LOCAL: 2}.get(pool, 4)), account, minutes, runs)

    @rule(pool=PARTITIONS, account=ACCOUNTS, minutes=MINUTES, runs=WORK, count=st.integers(1, 4))
    def array(self, pool, account, minutes, runs, count):
        last = self.world.numbers + 100 + count  # the last task keeps the array's id
        for task in range(count):
            self._submit(pool, 1, account, minutes, runs, array=last, task=task)

    @rule(pool=PARTITIONS, wants=st.integers(1, 2), account=ACCOUNTS, minutes=MINUTES, runs=WORK)
    def interactive(self, pool, wants, account, minutes, runs):
        self._submit(pool, wants, account, minutes, runs, batch=False)

    @rule(wants=st.tuples(st.integers(1, 2), st.integers(1, 2)), account=ACCOUNTS, minutes=MINUTES)
    def het(self, wants, account, minutes):
        leader = self.world.numbers + 101
        for pool, count in zip(("gpu", "big"), wants, strict=True):
            self._submit(pool, count, account, minutes, 60.0, het=leader)

    @precondition(lambda self: any(n.power == "UP" and not n.job for n in self.world.slurm.nodes.values()))
    @rule(account=ACCOUNTS, minutes=MINUTES, runs=WORK)
    def on_a_warm_node(self, account, minutes, runs):
        """Start a job on a node that another account's job has left."""
        pool = next(n.pool for n in self.world.slurm.nodes.values() if n.power == "UP" and not n.job)
        self._submit(pool, 1, account, minutes, runs)
        self.world.run(30.0)

    @precondition(lambda self: any(n.power == "UP" and not n.job for n in self.world.slurm.nodes.values()))
    @rule(times=st.integers(1, 4), runs=st.sampled_from([240.0, 900.0]))
    def attack_on_warm_nodes(self, times, runs):
        """Submit jobs of an account whose cap is small, one after the other, while another account's nodes are warm."""
        for _ in range(times):
            self._submit("gpu", 1, "poor", None, runs)
            self.world.run(60.0)

    def _submit(self, pool, wants, account, minutes, runs, **fields):
        number = self.world.job_id()
        self.world.slurm.submit(SimJob(number, pool, wants, account, minutes, runs, **fields))

    # Time and passes.

    @rule(passes=st.integers(1, 6))
    def work(self, passes):
        self.world.run(30.0 * passes)

    @rule()
    def at_once(self):
        """Make a pass at once, as after a wake-up of the daemon by ResumeProgram."""
        self.world.advance(10.0)
        self.world.a_pass()

    # Users and operators.

    @rule(
        command=st.sampled_from(["cancel", "cancel", "account", "up", "down", "force", "drain", "keep", "keep"]),
        node=st.sampled_from(["g-1", "g-2", "g-7", "b-1"]),
        account=ACCOUNTS,
        data=st.data(),
    )
    def people(self, command, node, account, data):
        slurm = self.world.slurm
        if command in ("cancel", "account"):
            # An operator's `scontrol update` is not checked by any submission filter.
            jobs = [j.id for j in slurm.jobs.values() if not j.over and (command == "cancel" or j.state == "PENDING")]
            if jobs:
                number = data.draw(st.sampled_from(jobs))
                if command == "cancel":
                    slurm.cancel(number)
                else:
                    slurm.jobs[number].account = account
        elif command == "up":
            slurm.power_up(node)
        elif command == "drain":
            self.world.drain(slurm.nodes[node].pool)
        elif command == "keep":
            self.world.keep(node, data.draw(st.sampled_from([120.0, 900.0, 7200.0])))
        else:
            (slurm.power_down_force if command == "force" else slurm.power_down)(node)

    # Faults.

    @rule(script=st.lists(WORDS, min_size=1, max_size=12), passes=st.integers(1, 3))
    def calls_fail(self, script, passes):
        self.world.faults.script.extend(script)
        for _ in range(passes):
            self.world.advance(15.0)
            self.world.a_pass()
        self.world.faults.script.clear()

    @rule(calls=st.integers(0, 14), after=st.booleans(), lost=st.booleans())
    def killed(self, calls, after, lost):
        """Kill the controller (kill -9) at any call of a pass."""
        self.world.advance(10.0)
        self.world.faults.script.extend(["ok"] * calls + ["crash-after" if after else "crash-before"])
        self.world.a_pass()
        self.world.faults.script.clear()
        if lost:
            self.world.lose_journal()
        self.world.a_pass()

    @rule(
        fault=st.sampled_from(
            ["no-capacity", "no-capacity", "capacity", "quota", "template", "link", "slow", "tags", "statuses", "ends"]
        ),
        left=st.integers(0, 3),
        pool=POOLS,
        offerings=st.sets(st.integers(0, 7), min_size=1),
        reason=st.sampled_from(ENDS),
    )
    def aws(self, fault, left, pool, offerings, reason):
        ec2 = self.world.ec2
        keys = [offering.key for entry in self.world.policy.pools.values() for offering in entry.offerings]
        chosen = [keys[number % len(keys)] for number in offerings]
        match fault:
            case "no-capacity":
                ec2.room.update(dict.fromkeys(chosen, left))
            case "ends":
                # EC2 accepts launches and ends their instances before, or perhaps after, their nodes register.
                end = LaunchEnd(InstanceEnd(reason, "x"), 8.0 + 60.0 * left, each=1 + left)
                self.world.faults.ends = {} if self.world.faults.ends else dict.fromkeys(chosen, end)
            case "capacity":
                ec2.room.clear()
                ec2.quota = None
            case "quota":
                ec2.quota = left
            case "template":
                ec2.broken ^= {pool}
            case "link":
                ec2.reachable = not ec2.reachable
            case "tags":
                ec2.tags_denied = not ec2.tags_denied
            case "statuses":
                ec2.statuses_denied = not ec2.statuses_denied
            case _:
                self.world.faults.latency = 0.0 if self.world.faults.latency else 1.0 + 3 * left

    @rule(
        first=st.integers(1, 2), second=st.integers(1, 2), wants=st.integers(2, 4), account=ACCOUNTS, p5e=st.booleans()
    )
    def two_zones_idle(self, first, second, wants, account, p5e):
        """Start nodes without a job in the first zone, then in another one, and submit a job of several nodes."""
        ec2, slurm = self.world.ec2, self.world.slurm
        room, names = dict(ec2.room), iter(("g-1", "g-2", "g-3", "g-4"))
        for count, is_full in ((first, False), (second, True)):
            for offering in self.world.policy.pools["gpu"].offerings if is_full else ():
                if offering.zone == "a" or (p5e and not offering.instance_type.startswith("p5e")):
                    ec2.room[offering.key] = 0
            for _ in range(count):
                slurm.power_up(next(names))
            self.world.run(30.0)
        ec2.room = room
        self._submit("gpu", wants, account, 10, 90.0)

    @precondition(lambda self: self.world.ec2.alive())
    @rule(number=st.integers(0, 15), seconds=st.sampled_from([60.0, 200.0, 600.0]))
    def hidden(self, number, seconds):
        """Let EC2 not show an instance whose node is up for a while."""
        up = [m for m in self.world.ec2.alive() if self.world.slurm.nodes[m.node].machine == m.id]
        if up:
            up[number % len(up)].hidden = self.world.clock.true + seconds
            self.world.run(seconds)

    @rule(fault=st.sampled_from(["restart", "kill", "twice", "lose", "half"]), seconds=st.sampled_from([30.0, 120.0]))
    def slurmctld(self, fault, seconds):
        if fault == "kill":
            self.world.slurm.kill()
        elif fault == "restart":
            self.world.slurm.up = False
            self.world.run(seconds)
            self.world.slurm.up = True
        else:
            setattr(self.world.slurm, fault, True)

    @rule(
        change=st.sampled_from([-600.0, -45.0, 45.0, 600.0, 3600.0, "lost", "away", "away"]),
        seconds=st.sampled_from([60.0, 300.0]),
    )
    def controller(self, change, seconds):
        if change == "lost":
            self.world.lose_journal()
        elif change == "away":
            self.world.watch.away()
            self.world.advance(seconds)
        else:
            skew = self.world.clock.skew
            self.world.jump(change if abs(skew + change) <= 3600 else -skew)

    @precondition(lambda self: self.world.ec2.alive())
    @rule(number=st.integers(0, 15), reclaimed=st.booleans())
    def instance_dies(self, number, reclaimed):
        alive = self.world.ec2.alive()
        machine = alive[number % len(alive)]
        if reclaimed:
            self.world.ec2.end(machine, "reclaimed")
        else:
            machine.died = True

    @precondition(lambda self: self.world.ec2.alive())
    @rule(number=st.integers(0, 15), passes=st.sampled_from([0, 4, 20]))
    def protected(self, number, passes):
        """Change the termination protection of an instance, and let time pass until its job may have ended."""
        alive = self.world.ec2.alive()
        self.world.ec2.protect(alive[number % len(alive)])
        self.world.run(30.0 * passes)

    @precondition(lambda self: self.world.ec2.alive())
    @rule(
        number=st.integers(0, 15),
        event=st.sampled_from(["instance-retirement", "instance-stop", "system-reboot", "impaired"]),
        seconds=st.sampled_from([30.0, 240.0, 900.0, 7200.0]),
        passes=st.sampled_from([0, 2, 6]),
    )
    def announced(self, number, event, seconds, passes):
        """Schedule an event of an instance, or let its status check fail or pass again, and let time pass."""
        alive = self.world.ec2.alive()
        machine = alive[number % len(alive)]
        if event == "impaired":
            machine.impaired = not machine.impaired
        else:
            self.world.ec2.schedule(machine, event, seconds)
        self.world.run(30.0 * passes)

    @invariant()
    def holds(self):
        if hasattr(self, "world"):
            self.world.watch.check()

    def teardown(self):
        try:
            if hasattr(self, "world"):
                self.world.calm()
                self.world.settle()
        finally:
            if hasattr(self, "world"):
                self.world.journal.close()
            shutil.rmtree(self.folder, ignore_errors=True)


@seed(20_261_125)
class BurstingWithSeed(Bursting):
    """The same machine with a fixed seed: with the new seed of every long run, `make test-long` has two."""


TIMEOUT = pytest.mark.timeout(1800 + examples(300, 10_000))
TestBursting = pytest.mark.slow(TIMEOUT(Bursting.TestCase))
TestBurstingWithSeed = pytest.mark.long(pytest.mark.slow(TIMEOUT(BurstingWithSeed.TestCase)))
TestBursting.settings = TestBurstingWithSeed.settings = settings(
    max_examples=examples(300, 10_000),
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
