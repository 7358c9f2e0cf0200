"""Invariants that hold at all times, whatever fails; each breach is one line."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from landbridge.burst.daemon.job_starts import APART_SECONDS
from landbridge.burst.model import State
from landbridge.burst.reconcile.clock_skew import TERMINATION_RETRY_SECONDS
from tests.unit.burst.world.announced import may_leave_for_event
from tests.unit.burst.world.bills import Bills
from tests.unit.burst.world.clock import START
from tests.unit.burst.world.machines import Machine
from tests.unit.burst.world.money import Breach, hard_caps, held_usd
from tests.unit.burst.world.observed import CALLS, ObservedWorld
from tests.unit.burst.world.sims import SimJob, SimNode

PASS = 30.0
#: Seconds for which a restricted job may run on an instance that was up before the job: two passes.
NOTICE = 2 * PASS
#: Seconds of work without a fault after which a termination by the reaper is the controller's error.
UNDISTURBED = 240.0
#: AWS refuses requests signed with a larger clock error (Signature Version 4). The simulation does not, so leases are
#: as wrong.
SIGNED = 300.0
#: Reasons of nodes that the controller sets down for a job that may not be there.
RESIDENCY_REASONS = ("landbridge: RESIDENCY", "landbridge: REGION")


@dataclass
class Watch(ObservedWorld):
    """Checker of the invariants; measures, in time without faults, for how long each temporary violation lasts."""

    clean_for: float = 0.0
    last: float = START
    ages: dict[str, tuple[float, float]] = field(default_factory=dict)  # violation -> time without faults, bound
    baseline: float = 0.0  # the journal no longer knows spending before this time
    disturbed: float = 0.0  # true time of the last loss of the journal, or jump of the clock
    jumped: bool = False
    drained: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)  # instances launched or shown since the loss of the journal
    # Nodes whose instance has an event that a pass has seen: name, instance, and time of the node's power state.
    announced: set[tuple[str, str, float]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.bills = Bills(self.slurm, self.ec2)
        self.slurm.ran = self.on_run
        self.slurm.downed = self.on_down
        self.slurm.requeued = self.on_requeue
        self.slurm.allocating = self.on_allocate
        self.slurm.promoted = self.on_promote
        self.ec2.started = self.on_start
        self.ec2.ending = self.on_end

    # At the time of the event.

    def on_start(self, machine: Machine) -> None:
        """Check an instance that was just launched."""
        jobs = set(machine.jobs)
        node = self.slurm.nodes.get(machine.node)
        # If calls are slow, Slurm may have given a starting node to another job since the query: the next pass sees it.
        if node is not None and node.job and not self.slurm.faults.latency:
            jobs.add(node.job)
        for id in jobs:
            if id in self.slurm.jobs and not self.allowed(self.slurm.jobs[id], machine.offering.region):
                raise Breach(f"{machine.id} launched for restricted job {id}")
        if self.ec2.launches.get(machine.token, 0) > 0:
            raise Breach(f"{machine.token} launched twice")
        if node is None:
            raise Breach(f"{machine.id} launched for no node of ours: {machine.node!r}")
        self.bills.launched(machine)
        self.known.add(machine.id)
        if machine.pool in self.drained:
            raise Breach(f"{machine.id} launched in {machine.pool}, which is drained")
        self._block(machine, [self.slurm.jobs[id] for id in jobs if id in self.slurm.jobs])

    def _block(self, machine: Machine, jobs: Sequence[SimJob]) -> None:
        """Check that no job starts in a capacity block that closes before the job ends."""
        opens, closes, now = machine.offering.opens, machine.offering.closes, self.slurm.clock.now
        if opens is not None and now < opens:
            raise Breach(f"{machine.id} launched before its block opens")
        minutes = [job.minutes for job in jobs if job.state != "PENDING" and not job.over]
        if closes is not None and any(m is None or now + 60 * m > closes for m in minutes):
            raise Breach(f"{machine.id} launched in a block that closes under its job")

    def on_promote(self, job: SimJob) -> None:
        if not self.allowed(job):
            raise Breach(f"restricted job {job.id} is permitted in the cloud")

    def on_allocate(self, job: SimJob, node: SimNode) -> None:
        """Check a node that Slurm gives to a job."""
        if (node.name, node.machine, node.since) in self.announced:
            raise Breach(f"job {job.id} begins on {node.name}, although EC2 has announced an event of {node.machine}")

    def on_run(self, parts: Sequence[SimJob]) -> None:
        """Check a job that has all its nodes and starts."""
        for job in parts:
            machines = [self.ec2.machines[self.slurm.nodes[name].machine] for name in job.nodes]
            if not all(m.answers for m in machines):
                raise Breach(f"half of job {job.id} runs")
            # Nobody knows where an instance is that EC2 has not shown since the journal was lost.
            hidden = {m.id for m in machines if m.hidden > self.slurm.clock.true} - self.known
            locations = {machine.place for machine in machines if machine.id not in hidden}
            launched = {machine.place for machine in machines if machine.launched >= job.allocated}
            # Only a controller that does not act leaves a job on idle nodes that Slurm chose in several zones.
            acts = self.clean_for > APART_SECONDS + PASS and not self.slurm.faults.latency
            if len(locations) > 1 and ((acts and not self.may_stay_apart(job)) or len(launched) > 1):
                raise Breach(f"job {job.id} runs in {sorted(locations)}")

    def on_down(self, node: SimNode, reason: str) -> None:
        """Check a node before the controller sets it down."""
        job = self.slurm.jobs.get(node.job)
        if self.ends(job) and job.id not in self.slurm.end_reports:
            raise Breach(f"job {job.id} ends with {node.name} without a reason")
        machine = self.ec2.machines.get(node.machine)
        is_others = job is not None and machine is not None and machine.alive and machine.account != job.account
        if is_others and reason.startswith(RESIDENCY_REASONS) and not self.slurm.faults.latency:
            raise Breach(f"{node.name} of {machine.account} is set down for job {job.id} of {job.account}")
        if job is None or not self.runs_legitimately(job):
            return
        if "EVENT" in reason and machine is not None:
            read_by = self.slurm.clock.true - PASS - CALLS * self.slurm.faults.latency
            if may_leave_for_event(self.policy, self.ec2, machine, job, self.last - self.clean_for, read_by):
                return
        if all(self.serves(name) for name in job.nodes):
            raise Breach(f"job {job.id} runs without a fault and {node.name} is set down: {reason}")

    def on_requeue(self, job: SimJob) -> None:
        """Check a job before the controller requeues it: it may not be there or a hard cap holds for it, and it gets a
        reason if it ends."""
        if self.ends(job) and job.id not in self.slurm.end_reports:
            raise Breach(f"job {job.id} ends without a reason")
        is_permitted = all(
            self.allowed(part, region)
            for part in self.slurm.together(job)
            for name in part.nodes
            for region in {"", *(machine.offering.region for machine in self.ec2.alive(name))}
        )
        if is_permitted and not any(match(job.account, job.pool) for _, _, match in hard_caps(self.policy)):
            raise Breach(f"job {job.id} of {job.account} is requeued, and no hard cap holds for it")

    def on_end(self, machine: Machine, why: str) -> None:
        """Check an instance before it is terminated."""
        node = self.slurm.nodes[machine.node]
        job = self.slurm.jobs.get(node.job)
        if node.machine != machine.id or job is None or not self.runs_legitimately(job):
            return
        if not all(self.serves(name) for name in job.nodes):
            return
        if why == "controller":
            raise Breach(f"{machine.id} of {node.name} is terminated while job {job.id} runs without a fault")
        signed = abs(self.slurm.clock.skew) <= SIGNED
        if why == "reaper" and self.clean_for > UNDISTURBED and signed and not self.over_its_limit(job):
            raise Breach(f"the lease of {machine.id} ran out while job {job.id} runs")

    def on_save(self, before: State, after: State) -> None:
        """Check the journal before a write: nothing more is held above a hard cap."""
        self.bills.saved(after)
        # An instance that was not in the journal costs money already.
        known = {
            id for token in before.holds if token in after.attempts for id in after.attempts[token].instances.values()
        }
        # AWS charges for a protected instance whether or not a cap permits it. EC2 may show it after its end.
        slow = CALLS * self.slurm.faults.latency
        protected = {
            machine.id
            for machine in self.ec2.machines.values()
            if self.shielded(machine) and self.ec2.seems_alive(machine, slow)
        }
        decided = {
            key: hold
            for key, hold in after.holds.items()
            if key not in protected
            and (key in before.holds or key in known or (key in after.attempts and after.attempts[key].ended is None))
        }
        # After a clock was set back, the present leases last longer.
        earlier = [
            replace(hold, since=min(hold.since, after.holds[key].since)) if key in after.holds else hold
            for key, hold in before.holds.items()
            if key not in protected
        ]
        for scope, cap, match in hard_caps(self.policy):
            held = held_usd(after.holds.values(), match)
            spent = sum(usd for (_, account, pool), usd in after.spent.items() if match(account, pool))
            more = held_usd(decided.values(), match) - held_usd(earlier, match)
            if more > 1e-6 and held + spent > cap + 1e-6:
                raise Breach(
                    f"{scope}: {spent:.2f} spent and {held:.2f} held of {cap:.2f}, {more:.2f} more than before"
                )

    def check_holds(self, state: State) -> None:
        """Check the journal after a pass: the holds cover the leases, and all costs are held or spent."""
        for id, hold in state.holds.items():
            machine = self.ec2.machines.get(id)
            if machine is not None and machine.alive and machine.lease > hold.end + 1:
                raise Breach(f"{id} may run until {machine.lease:.0f} and is held until {hold.end:.0f}")
        true = self.slurm.clock.true
        if self.baseline:
            return
        cost = sum(machine.cost(min(true, machine.lease)) for machine in self.ec2.machines.values())
        now = self.slurm.clock.now
        # Without an answer of Slurm the journal has the times from before a jump of the clock: the next pass moves them.
        jump = 0.0 if state.clock is None else self.slurm.clock.skew - state.clock.offset
        held = sum(hold.cost(hold.since + jump, max(hold.end, now)) for hold in state.holds.values())
        counted = sum(state.spent.values()) + held
        if cost > counted + 1e-6:
            raise Breach(f"the instances have cost {cost:.2f}, and {counted:.2f} are spent or held")

    # After each pass.

    def see_events(self, before: State) -> None:
        """Note the nodes with an event that the finished pass has read from the journal, where it began with `before`."""
        self.announced.clear()
        if self.slurm.faults.latency:
            return  # Slurm may have changed since the query
        for node in self.slurm.nodes.values():
            machine = self.ec2.machines.get(node.machine)
            status = before.instance_statuses.get(node.machine)
            if machine is None or not machine.alive or not (machine.event and status and status.event):
                continue
            is_known = machine.id in before.terminated_at or machine.id in before.termination_refusals
            if node.power == "UP" and not is_known and not machine.is_block_end(status.event_at):
                self.announced.add((node.name, machine.id, node.since))

    def after_pass(self, clean: bool) -> None:
        true = self.slurm.clock.true
        passed = true - self.last if clean and not self.jumped else 0.0
        self.clean_for = self.clean_for + passed if clean else 0.0
        self.last, self.jumped = true, False
        if clean:
            self.bills.passed()
            self.known |= {machine.id for machine in self.ec2.alive() if self.ec2.shows(machine)}
        present: dict[str, float] = {}
        slow = CALLS * self.slurm.faults.latency  # a pass is as long as its calls
        slack = self.policy.orphan_seconds + 3 * (PASS + slow)
        for machine in self.ec2.alive():
            if not self.slurm.nodes[machine.node].wanted and not self.shielded(machine):
                present[f"{machine.id} ({machine.node}) has no owner"] = slack
        for name, node in self.slurm.nodes.items():
            if node.base == "DOWN" and node.reason == "Node unexpectedly rebooted" and self.serves(name):
                present[f"{name} is down after its first boot"] = slack if self.baseline else NOTICE + slow
            if sum(not self.shielded(machine) for machine in self.ec2.alive(name)) > 1:
                present[f"{name} has two instances"] = slack
        for job in self.slurm.jobs.values():
            if (
                job.state == "RUNNING"
                and job.nodes
                and not all(self.allowed(job, region) for region in self.regions(job))
            ):
                # Slurm may start it again on the next instance that is up, before the controller has given up the
                # others.
                present[f"restricted job {job.id} runs, start {job.restarts}"] = NOTICE + 2 * slow
            if job.state == "CONFIGURING" and 0 < sum(map(self._has_instance, job.nodes)) < len(job.nodes):
                present[f"job {job.id} holds half a gang, start {job.restarts}"] = slack + self.policy.settle_seconds
        # The bound of a violation that began while calls were slow stays when they are fast again.
        before, self.ages = self.ages, {}
        for violation, bound in present.items():
            age, bound_before = before.get(violation, (0.0, 0.0))
            self.ages[violation] = age + passed, max(bound, bound_before)
        for violation, (age, bound) in self.ages.items():
            if age > bound:
                raise Breach(f"{violation} for {age:.0f} s without any fault (bound {bound:.0f} s)")

    def check(self) -> None:
        for token, times in self.ec2.launches.items():
            if times > 1:
                raise Breach(f"{token} launched {times} times")
        if self.ec2.mismatches and not self.baseline:
            raise Breach(f"repeated with other parameters: {self.ec2.mismatches[0]}")
        true = self.slurm.clock.true
        for scope, cap, match in hard_caps(self.policy):
            if match.account is not None:
                usd = self.bills.usd[match.account]
                if usd > cap + self.bills.unknown and not self.baseline:
                    raise Breach(f"{scope}: {usd:.2f} of {cap:.2f}, {self.bills.unknown:.2f} of it unknown")
                continue
            usd = sum(
                m.cost(min(true, m.lease))
                for m in self.ec2.machines.values()
                if match(m.account, m.pool) and m.launched > self.baseline
            )
            if usd > cap:
                raise Breach(f"{scope}: {usd:.2f} spent of {cap:.2f}")

    # Predicates.

    def shielded(self, machine: Machine) -> bool:
        """Return whether EC2 does not show an instance that was in a lost journal, or refuses to terminate it, or has done so
        before the next request or pass."""
        if self.baseline and machine.hidden + PASS > self.slurm.clock.true:
            return True
        if machine.freed is None:
            return machine.protected
        # A jump of the clock may start the time until the next request again.
        since = self.slurm.clock.true - max(machine.freed, self.disturbed)
        return machine.protected or since < TERMINATION_RETRY_SECONDS + PASS

    def _has_instance(self, name: str) -> bool:
        """Return whether the node has an instance. One that EC2 has refused to terminate counts if the node is up with it,
        or if it was launched for the node's present power-up. One that boots for ever counts: only time shows that."""
        node = self.slurm.nodes[name]
        return any(
            not (self.shielded(machine) and (machine.was_refused or machine.hidden > 0))
            or machine.id == node.machine
            or machine.launched >= node.resumed_at
            for machine in self.ec2.alive(name)
        )

    def forget(self) -> None:
        """Reset the measurements after the loss of the journal."""
        self.baseline = self.disturbed = self.slurm.clock.true
        self.known.clear()
        self.ages.clear()
        self.clean_for = 0.0

    def away(self) -> None:
        """Reset the measurements after time without the controller."""
        self.jumped = True
        self.ages.clear()
        self.clean_for = 0.0

    def jump(self) -> None:
        """Reset the measurements after a jump of the controller's clock."""
        self.away()
        self.disturbed = self.slurm.clock.true
