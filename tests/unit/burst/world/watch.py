"""Invariants that hold at every moment, whatever fails; each breach is one line."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from landbridge.burst.model import BurstPolicy, State
from tests.unit.burst.world.clock import START
from tests.unit.burst.world.ec2 import Ec2World, Machine
from tests.unit.burst.world.sims import SimJob, SimNode
from tests.unit.burst.world.slurm import SlurmWorld

PASS = 30.0
#: How long a restricted job may sit on a machine that was up before it came: two passes.
NOTICE = 2 * PASS
#: Slow calls that a pass may make before it comes to what it is measured by.
CALLS = 8
#: How long the controller must have worked undisturbed before the reaper's knife is its fault.
UNDISTURBED = 240.0
#: AWS refuses what was signed by a clock that is further off (Signature Version 4); here it does not, and leases are as wrong.
SIGNED = 300.0


class Breach(AssertionError):
    """An invariant does not hold."""


@dataclass
class Watch:
    """Counts, in time without troubles, how long anything has been as it must not stay."""

    policy: BurstPolicy
    slurm: SlurmWorld
    ec2: Ec2World
    clean_for: float = 0.0
    last: float = START
    ages: dict[str, float] = field(default_factory=dict)
    baseline: float = 0.0  # spending before this moment is not known to the journal any more
    jumped: bool = False
    drained: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.slurm.ran = self.on_run
        self.slurm.downed = self.on_down
        self.slurm.promoted = self.on_promote
        self.ec2.started = self.on_start
        self.ec2.ending = self.on_end

    # At the moment it happens.

    def on_start(self, machine: Machine) -> None:
        """An instance was launched."""
        jobs = set(machine.jobs)
        node = self.slurm.nodes.get(machine.node)
        # Where calls are slow, Slurm may have given a starting node away since it was asked: that is for the next pass.
        if node is not None and node.job and not self.slurm.faults.latency:
            jobs.add(node.job)
        for id in jobs:
            if id in self.slurm.jobs and not self.allowed(self.slurm.jobs[id], machine.offering.region):
                raise Breach(f"{machine.id} launched for restricted job {id}")
        if self.ec2.launches.get(machine.token, 0) > 0:
            raise Breach(f"{machine.token} launched twice")
        if node is None:
            raise Breach(f"{machine.id} launched for no node of ours: {machine.node!r}")
        if machine.pool in self.drained:
            raise Breach(f"{machine.id} launched in {machine.pool}, which is drained")
        self._block(machine, [self.slurm.jobs[id] for id in jobs if id in self.slurm.jobs])

    def _block(self, machine: Machine, jobs: Sequence[SimJob]) -> None:
        """A capacity block ends on time: nothing is started in it that would still run then."""
        opens, closes, now = machine.offering.opens, machine.offering.closes, self.slurm.clock.now
        if opens is not None and now < opens:
            raise Breach(f"{machine.id} launched before its block opens")
        minutes = [job.minutes for job in jobs if job.state != "PENDING" and not job.over]
        if closes is not None and any(m is None or now + 60 * m > closes for m in minutes):
            raise Breach(f"{machine.id} launched in a block that closes under its job")

    def on_promote(self, job: SimJob) -> None:
        if not self.allowed(job):
            raise Breach(f"restricted job {job.id} is let into the cloud")

    def on_run(self, parts: Sequence[SimJob]) -> None:
        """A job has all its nodes and starts."""
        for job in parts:
            machines = [self.ec2.machines[self.slurm.nodes[name].machine] for name in job.nodes]
            if not all(m.answers for m in machines):
                raise Breach(f"half of job {job.id} runs")
            own = {(m.offering.zone, m.offering.instance_type) for m in machines if job.id in m.jobs}
            # What was up before may be of an earlier start; where Slurm takes it from two zones, nothing joins both.
            new = {(m.offering.zone, m.offering.instance_type) for m in machines if m.launched >= job.allocated}
            before = {m.offering.zone for m in machines if m.launched < job.allocated}
            if len(own & new) > 1 or (len(own) > 1 and len(before) < 2):
                raise Breach(f"job {job.id} runs in {sorted(own)}")

    def on_down(self, node: SimNode, reason: str) -> None:
        """The controller is about to set a node down."""
        job = self.slurm.jobs.get(node.job)
        if job is None or not self._in_its_right(job):
            return
        if "BUDGET" in reason and self.caps():
            return  # a job that came upon a machine that was up: nobody can refuse it earlier
        if all(self._serves(name) for name in job.nodes):
            raise Breach(f"job {job.id} runs well and {node.name} is set down: {reason}")

    def on_end(self, machine: Machine, why: str) -> None:
        """An instance is about to be ended."""
        node = self.slurm.nodes[machine.node]
        job = self.slurm.jobs.get(node.job)
        if node.machine != machine.id or job is None or not self._in_its_right(job):
            return
        if not all(self._serves(name) for name in job.nodes):
            return
        if why == "controller":
            raise Breach(f"{machine.id} of {node.name} is ended while job {job.id} runs well")
        signed = abs(self.slurm.clock.skew) <= SIGNED
        if why == "reaper" and self.clean_for > UNDISTURBED and signed and not self._over_its_limit(job):
            raise Breach(f"the lease of {machine.id} ran out while job {job.id} runs")

    def on_save(self, before: State, after: State) -> None:
        """The journal is about to be written: money is held before it is spent."""
        grown = {
            token
            for token, hold in after.holds.items()
            if (token in before.holds and hold.usd > before.holds[token].usd + 1e-6)
            or (token not in before.holds and (a := after.attempts.get(token)) is not None and a.ended is None)
        }
        if not grown:
            return
        for scope, cap, match in self.caps():
            if not any(match(after.holds[token].account, after.holds[token].pool) for token in grown):
                continue
            held = sum(h.usd for h in after.holds.values() if match(h.account, h.pool))
            gone = sum(usd for (_, account, pool), usd in after.spent.items() if match(account, pool))
            if held + gone > cap + 1e-6:
                raise Breach(
                    f"{scope}: {gone:.2f} spent and {held:.2f} held of {cap:.2f}, and more for {sorted(grown)}"
                )

    # After each pass.

    def after_pass(self, clean: bool) -> None:
        true = self.slurm.clock.true
        passed = true - self.last if clean and not self.jumped else 0.0
        self.clean_for = self.clean_for + passed if clean else 0.0
        self.last, self.jumped = true, False
        present: dict[str, float] = {}
        slow = CALLS * self.slurm.faults.latency  # a pass is as long as its calls
        slack = self.policy.orphan_seconds + 3 * (PASS + slow)
        for machine in self.ec2.alive():
            if not self.slurm.nodes[machine.node].wanted:
                present[f"{machine.id} ({machine.node}) has no owner"] = slack
        for name in self.slurm.nodes:
            if len(self.ec2.alive(name)) > 1:
                present[f"{name} has two instances"] = slack
        for job in self.slurm.jobs.values():
            if job.state == "RUNNING" and job.nodes and not all(self.allowed(job, one) for one in self.regions(job)):
                # Slurm may start it again on the next machine that is up, while others are still to be given up.
                present[f"restricted job {job.id} runs, start {job.restarts}"] = NOTICE + 2 * slow
            if job.state == "CONFIGURING" and 0 < sum(bool(self.ec2.alive(n)) for n in job.nodes) < len(job.nodes):
                present[f"job {job.id} holds half a gang, start {job.restarts}"] = slack + self.policy.settle_seconds
        self.ages = {what: self.ages.get(what, 0.0) + passed for what in present}
        for what, age in self.ages.items():
            if age > present[what]:
                raise Breach(f"{what} for {age:.0f} s without any trouble (bound {present[what]:.0f} s)")

    def check(self) -> None:
        for token, times in self.ec2.launches.items():
            if times > 1:
                raise Breach(f"{token} launched {times} times")
        if self.ec2.mismatches and not self.baseline:
            raise Breach(f"asked again with other parameters: {self.ec2.mismatches[0]}")
        true = self.slurm.clock.true
        for scope, cap, match in self.caps():
            usd = sum(
                m.cost(min(true, m.lease))
                for m in self.ec2.machines.values()
                if match(m.account, m.pool) and m.launched > self.baseline
            )
            if usd > cap:
                raise Breach(f"{scope}: {usd:.2f} spent of {cap:.2f}")

    # Words.

    def allowed(self, job: SimJob, region: str = "") -> bool:
        account = self.policy.accounts.get(job.account)
        return account is not None and account.aws and region in ("", *account.regions)

    def regions(self, job: SimJob) -> set[str]:
        """Return the regions of its machines."""
        machines = (self.ec2.machines.get(self.slurm.nodes[name].machine) for name in job.nodes)
        return {machine.offering.region for machine in machines if machine is not None}

    def _in_its_right(self, job: SimJob) -> bool:
        """It runs, and nothing speaks against that: all components of its het job may, and Slurm has not started it while a slow pass
        was on its way."""
        known = self.slurm.clock.true - 2 * CALLS * self.slurm.faults.latency
        since = job.running if job.running is not None else self.slurm.clock.true
        permitted = all(
            self.allowed(part, one) for part in self.slurm.together(job) for one in {"", *self.regions(part)}
        )
        return job.state == "RUNNING" and permitted and since <= known

    def _over_its_limit(self, job: SimJob) -> bool:
        """Slurm would have ended it by now, but for a clock that went back."""
        return job.minutes is not None and self.slurm.clock.true - (job.running or 0.0) > 60 * job.minutes

    def caps(self) -> "list[tuple[str, float, Match]]":
        """Every hard cap: its name, its dollars, and which account and pool it counts."""
        found: list[tuple[str, float, Match]] = []
        for account in self.policy.accounts.values():
            if account.hard and account.monthly_usd is not None:
                found.append((f"account {account.name}", account.monthly_usd, Match(account=account.name)))
        if self.policy.hard and self.policy.monthly_usd is not None:
            found.append(("cluster", self.policy.monthly_usd, Match()))
        return found

    def forget(self) -> None:
        """The journal is lost: what it knew cannot be asked of it."""
        self.baseline = self.slurm.clock.true
        self.ages.clear()
        self.clean_for = 0.0

    def away(self) -> None:
        """Time has passed without the controller."""
        self.jumped = True
        self.ages.clear()
        self.clean_for = 0.0

    def jump(self) -> None:
        """The controller's clock has moved."""
        self.away()
        self.baseline = self.slurm.clock.true  # what was counted by the clock before is off now

    def _serves(self, name: str) -> bool:
        machine = self.ec2.machines.get(self.slurm.nodes[name].machine)
        return machine is not None and machine.answers


@dataclass(frozen=True)
class Match:
    account: str | None = None
    pool: str | None = None

    def __call__(self, account: str, pool: str) -> bool:
        return self.account in (None, account) and self.pool in (None, pool)
