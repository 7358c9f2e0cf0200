"""Jobs, nodes and instances of the simulated world, and the predicates that its invariants use."""

from dataclasses import dataclass
from typing import TypeGuard

from landbridge.burst.model import BurstPolicy
from tests.unit.burst.world.ec2 import Ec2World
from tests.unit.burst.world.machines import Machine
from tests.unit.burst.world.sims import SimJob
from tests.unit.burst.world.slurm import SlurmWorld

#: Slow calls that a pass may make before the action that is measured.
CALLS = 8


@dataclass
class ObservedWorld:
    """Policy, Slurm and EC2 of the simulated world."""

    policy: BurstPolicy
    slurm: SlurmWorld
    ec2: Ec2World

    def allowed(self, job: SimJob, region: str = "") -> bool:
        account = self.policy.accounts.get(job.account)
        return account is not None and account.aws and region in ("", *account.regions)

    def regions(self, job: SimJob) -> set[str]:
        """Return the regions of the instances on which the job runs."""
        machines = (self.ec2.machines.get(self.slurm.nodes[name].machine) for name in job.nodes)
        return {machine.offering.region for machine in machines if machine is not None}

    def ends(self, job: SimJob | None) -> TypeGuard[SimJob]:
        """Return whether the job ends with its node. If calls are slow, Slurm may have started it since the query."""
        is_interactive = job is not None and not job.batch and job.state in ("CONFIGURING", "RUNNING")
        return is_interactive and not self.slurm.faults.latency

    def runs_legitimately(self, job: SimJob) -> bool:
        """Return whether the job runs and may run: all components of its het job are permitted, and Slurm did not start it
        during a slow pass."""
        known = self.slurm.clock.true - 2 * CALLS * self.slurm.faults.latency
        since = job.running if job.running is not None else self.slurm.clock.true
        permitted = all(
            self.allowed(part, region) for part in self.slurm.together(job) for region in {"", *self.regions(part)}
        )
        return job.state == "RUNNING" and permitted and since <= known

    def over_its_limit(self, job: SimJob) -> bool:
        """Return whether the job has exceeded its time limit: the clock was set back, so Slurm has not stopped it."""
        return job.minutes is not None and self.slurm.clock.true - (job.running or 0.0) > 60 * job.minutes

    def may_stay_apart(self, job: SimJob) -> bool:
        """Return whether the controller does not move the job and has reported it: Slurm would end it, or an operator keeps
        nodes in several places."""
        parts = self.slurm.together(job)
        kept_nodes = [name for part in parts for name in part.nodes if name in self.slurm.excepted]
        places = {machine.place for machine in map(self.machine_of, kept_nodes)}
        is_fixed = len(places) > 1 or not all(part.batch for part in parts)
        return is_fixed and any(self.slurm.left_apart(part) for part in parts)

    def machine_of(self, name: str) -> Machine:
        return self.ec2.machines[self.slurm.nodes[name].machine]

    def serves(self, name: str) -> bool:
        machine = self.ec2.machines.get(self.slurm.nodes[name].machine)
        return machine is not None and machine.answers
