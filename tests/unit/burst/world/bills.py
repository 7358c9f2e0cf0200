"""True cost of instances by the account that has to pay, and how much of it no controller can know."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from landbridge.burst.model import State
from tests.unit.burst.world.ec2 import Ec2World
from tests.unit.burst.world.machines import Machine
from tests.unit.burst.world.money import Breach
from tests.unit.burst.world.slurm import SlurmWorld


@dataclass
class Bills:
    """True bills. `unknown`: cost whose payer a pass could not know yet, such as a job that began after it."""

    slurm: SlurmWorld
    ec2: Ec2World
    usd: Counter[str] = field(default_factory=Counter)
    unknown: float = 0.0
    seen: dict[str, str] = field(default_factory=dict)  # instance -> its payer at the last pass without a fault
    held: frozenset[str] = frozenset()
    requested_at: dict[str, float] = field(
        default_factory=dict
    )  # token -> true time at which the journal got its launch

    def saved(self, state: State) -> None:
        """Note the holds and the launches of the journal."""
        self.held = frozenset(state.holds)
        for token in state.attempts:
            self.requested_at.setdefault(token, self.slurm.clock.true)

    def launched(self, machine: Machine) -> None:
        """Count the time from the launch in the journal to the instance: it is held, and a call may be repeated."""
        waited = self.slurm.clock.true - self.requested_at.get(machine.token, self.slurm.clock.true)
        self.unknown += machine.usd_hour * waited / 3600

    def passed(self) -> None:
        """Note the payers that a pass without a fault has seen, by EC2 or by a node that slurmctld hears."""
        nodes = self.slurm.nodes
        seen = (m for m in self.ec2.alive() if self.ec2.shows(m) or nodes[m.node].machine == m.id)
        self.seen = {machine.id: self._payer(machine) for machine in seen}

    def pay(self, seconds: float) -> None:
        """Add the cost of the last `seconds`."""
        for machine in self.ec2.machines.values():
            usd = machine.usd_hour * seconds / 3600
            if not machine.alive:
                self.unknown += usd if machine.id in self.held else 0.0
                continue
            payer = self._payer(machine)
            self.usd[payer] += usd  # type: ignore[assignment]
            is_late = machine.protected or machine.lease < self.slurm.clock.true  # AWS charges for it all the same
            if is_late or self.seen.get(machine.id) != payer or not self._serves(machine):
                self.unknown += usd

    def check(self, spent: Mapping[tuple[str, str, str], float]) -> None:
        """Compare the spending of accounts with their bills, when no instance runs."""
        by_account: Counter[str] = Counter()
        for (_, account, _), usd in spent.items():
            by_account[account] += usd  # type: ignore[assignment]
        for account in {*by_account, *self.usd}:
            more = by_account[account] - self.usd[account]
            if abs(more) > self.unknown + 0.01:
                raise Breach(
                    f"{account}: {by_account[account]:.2f} spent, and {self.usd[account]:.2f} are right"
                    f" (unknown: {self.unknown:.2f})"
                )

    def _serves(self, machine: Machine) -> bool:
        """Return whether the instance is the node's present one, and not an earlier one that EC2 does not terminate."""
        node = self.slurm.nodes[machine.node]
        return node.machine == machine.id or (node.power == "POWERING_UP" and machine.launched >= node.resumed_at)

    def _payer(self, machine: Machine) -> str:
        job = self.slurm.jobs.get(self.slurm.nodes[machine.node].job)
        return job.account if job is not None and self._serves(machine) else machine.account
