"""The complete simulated world: time, Slurm, EC2, and a controller that makes passes and crashes."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from landbridge.burst.model import BurstPolicy, NodeKeep, SlurmNode, State
from landbridge.burst.operator import edits
from landbridge.burst.reconcile.apart import is_left_apart
from tests.unit.burst.world.clock import Clock
from tests.unit.burst.world.ec2 import Ec2World
from tests.unit.burst.world.faults import Crash, Faults
from tests.unit.burst.world.journal import Journal
from tests.unit.burst.world.money import check_charges
from tests.unit.burst.world.sims import SimJob
from tests.unit.burst.world.slurm import SlurmWorld
from tests.unit.burst.world.watch import PASS, Watch

TICK = 5.0
#: Codes that need an action of a user or operator: a job with such a comment may stay pending at the end.
FINAL = ("RESIDENCY", "BUDGET")
OnePass = Callable[..., float | None]


class World:
    """One cluster under `policy`; `one_pass` is the reconcile pass of the controller."""

    def __init__(self, policy: BurstPolicy, one_pass: OnePass, folder: Path | None = None) -> None:
        self.policy, self.one_pass = policy, one_pass
        self.clock, self.faults = Clock(), Faults()
        self.ec2 = Ec2World(self.clock, self.faults, policy)
        self.slurm = SlurmWorld(self.clock, self.faults, policy, self.ec2)
        self.watch = Watch(policy, self.slurm, self.ec2)
        self.journal = Journal(folder, self.faults, self.watch.on_save)
        self.slurm.shim = lambda kind, nodes, jobs: self.journal.append(kind, nodes, jobs, self.clock.now)
        self.slurm.left_apart = self._is_left_apart
        self.faults.passing = self.advance
        self.numbers = 0
        self.passes = 0
        self.due: float | None = None  # time of the next pass that the controller requested
        self.began = 0.0  # true time at which the last complete pass began

    def advance(self, seconds: float) -> None:
        """Advance the time by `seconds` without the controller."""
        end = self.clock.true + seconds
        while self.clock.true < end:
            seconds = min(end - self.clock.true, TICK)
            self.clock.true += seconds
            self.watch.bills.pay(seconds)
            self.ec2.tick()
            self.slurm.tick()

    def a_pass(self) -> bool:
        """Make one pass of the controller; return False if it crashed."""
        met, before, began = self.faults.met, self.journal.keeper.load(), self.clock.true
        self.passes += 1
        try:
            self.due = self.one_pass(
                self.journal,
                self.ec2,
                self.slurm,
                self.policy,
                self.clock.now,
                uptime=lambda: ("boot", self.clock.true),
            )
        except Crash:
            self.due = None
            self.journal.restart()
            self.watch.after_pass(False)
            return False
        self.began = began
        self.watch.after_pass(self.faults.met == met)
        if self.faults.met == met:
            self.watch.see_events(before)
        state, charges = self.journal.keeper.load_with_charges()
        self.watch.check_holds(state)
        check_charges(state, charges)
        return True

    def run(self, seconds: float) -> None:
        """Advance the time by `seconds`, with passes as frequent as those of the daemon."""
        end = self.clock.true + seconds
        while self.clock.true < end:
            wait = PASS if self.due is None else max(2.0, min(PASS, self.due - self.clock.now))
            self.advance(min(wait, end - self.clock.true))
            self.a_pass()
            self.watch.check()

    def _is_left_apart(self, job: SimJob) -> bool:
        """Return whether a pass that began since PrologSlurmctld holds the job, or its het job, has left it apart.

        A report on an earlier start of the job is no report on this one.
        """
        held = self.slurm.together(job)[0].held
        return held is not None and self.began >= held and is_left_apart(self.journal.keeper.load(), job.id)

    def job_id(self) -> int:
        self.numbers += 1
        return 100 + self.numbers

    def lose_journal(self) -> None:
        self.journal.lose()
        self.watch.forget()
        self.watch.drained.clear()

    def drain(self, pool: str) -> None:
        """Do `landbridge burst drain`, or `undrain` if the pool is drained."""
        before = self.journal.keeper.load()
        drained = {p: why for p, why in before.drained.items() if p != pool}
        if pool not in before.drained:
            drained[pool] = "maintenance"
        self.journal.keeper.save(before, replace(before, drained=drained))
        self.watch.drained = set(drained)

    def keep(self, node: str, seconds: float) -> None:
        """Do `landbridge burst keep`, or `keep --release` if the node is kept."""
        before, now = self.journal.keeper.load(), self.clock.now
        if node in before.keeps or node in self.slurm.excepted:
            change = edits.release([node], self.slurm.excepted, now)
        else:
            nodes = {name: SlurmNode(name, sim.states(False)) for name, sim in self.slurm.nodes.items()}
            try:
                change = edits.keep(self.policy, nodes, [node], NodeKeep(now + seconds, now, "tests", "ann"))
            except edits.EditError:
                return  # it has no instance
        self.journal.keeper.save(before, change(before))

    def jump(self, seconds: float) -> None:
        self.clock.skew += seconds
        self.watch.jump()

    def calm(self) -> None:
        """Remove all faults."""
        self.faults.script.clear()
        self.faults.ends.clear()
        self.faults.latency = 0.0
        if self.clock.skew:
            self.jump(-self.clock.skew)
        ec2, slurm = self.ec2, self.slurm
        ec2.lag, ec2.reachable, ec2.quota = 0.0, True, None
        ec2.room.clear()
        ec2.broken.clear()
        for machine in ec2.alive():
            if machine.protected:
                ec2.protect(machine)
        ec2.tags_denied = ec2.statuses_denied = False
        for machine in ec2.alive():
            machine.impaired = False
            machine.announce("", 0.0, self.clock.true)
        for node in {*self.journal.keeper.load().keeps, *slurm.excepted}:
            self.keep(node, 0.0)
        for pool in list(self.watch.drained):
            self.drain(pool)
        slurm.up, slurm.twice, slurm.lose, slurm.half = True, False, False, False

    def settle(self, limit: float = 4 * 3600) -> None:
        """Run until no item is open; raise AssertionError with the open items after `limit` seconds."""
        end = self.clock.true + limit
        while self.clock.true < end:
            self.run(PASS)
            for job in list(self.slurm.jobs.values()):
                if self.refused(job):
                    self.slurm.cancel(job.id)
            if not (open_items := self.open_items()):
                if not self.watch.baseline:
                    self.watch.bills.check(self.journal.keeper.load().spent)
                return
        raise AssertionError(f"not quiet after {limit:.0f} s: {open_items}")

    def refused(self, job: SimJob) -> bool:
        """Return whether the job waits for a reason that does not pass with time."""
        return job.state == "PENDING" and any(code in job.admin_comment for code in FINAL)

    def open_items(self) -> list[str]:
        """Return the open items: jobs, instances, nodes, holds, attempts and orders."""
        state: State = self.journal.keeper.load()
        nodes = [n for n in self.slurm.nodes.values() if (n.base, n.power) != ("IDLE", "POWERED_DOWN")]
        return [
            *(f"job {j.id} is {j.state}: {j.admin_comment!r}" for j in self.slurm.jobs.values() if not j.over),
            *(f"{m.id} of {m.node} is up" for m in self.ec2.alive()),
            *(f"{n.name} is {n.base}+{n.power} ({n.reason})" for n in nodes),
            *(f"{token} is held" for token in state.holds),
            *(f"{a.token} is open" for a in state.attempts.values() if a.ended is None),
            *(f"{node} is not suspended" for node in self.slurm.excepted),
            *(f"order {o.seq} {o.kind} waits" for o in state.orders),
        ]
