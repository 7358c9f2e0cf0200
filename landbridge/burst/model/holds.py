"""Budget holds: the cost of instances until the end of their leases, by the accounts that pay."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple


class Claim(NamedTuple):
    """Job on an instance, its account, and until when it may need the instance (None: until the lease ends). `weight`: its
    GPUs on the node, or its CPUs if no job there has a GPU."""

    job: int
    account: str
    end: float | None
    weight: float = 1.0


class JobShare(NamedTuple):
    """Share of a job (0: no job) in a time of an instance."""

    job: int
    account: str
    node_seconds: float
    usd: float


@dataclass(frozen=True, slots=True)
class BudgetHold:
    """Budget hold: the cost of one instance (by its id), or of the instances of a launch call (by its token), from `since`
    until its lease ends. The cost before `since` is spent.

    It is a function of the lease: to hold a renewal again changes nothing. `requested_until`: the end of a renewal whose result is
    not known. The jobs of `claims` pay by their weights for the time in which they are on the node; `account` pays the rest.
    `registered`: when the node registered after its boot; 0 if that is not known, None before.
    """

    account: str
    pool: str
    usd_hour: float
    since: float
    until: float
    nodes: int = 1
    requested_until: float | None = None
    claims: tuple[Claim, ...] = ()
    registered: float | None = 0.0
    instance_type: str = ""  # empty: not known

    def __post_init__(self) -> None:
        # A journal has lists, those of an earlier version without weights.
        object.__setattr__(self, "claims", tuple(Claim(*claim) for claim in self.claims))

    @property
    def end(self) -> float:
        """Return the latest end that the lease may have."""
        return self.until if self.requested_until is None else max(self.until, self.requested_until)

    @property
    def usd(self) -> float:
        return self.cost(self.since, self.end)

    def cost(self, start: float, stop: float) -> float:
        """Return the cost of a time in USD."""
        return self.nodes * self.usd_hour * max(0.0, stop - start) / 3600

    def charges(self, start: float, stop: float) -> dict[str, float]:
        """Return the cost of a time in USD, by account."""
        if all(claim.account == self.account for claim in self.claims):
            return {self.account: self.cost(start, stop)} if start < stop else {}
        usd_by_account: dict[str, float] = {}
        for share in self.shares(start, stop):
            usd_by_account[share.account] = usd_by_account.get(share.account, 0.0) + share.usd
        return usd_by_account

    def shares(self, start: float, stop: float) -> Iterator[JobShare]:
        """Yield who pays which part of a time; a job may have several shares."""
        ends = {claim.end for claim in self.claims if claim.end is not None and start < claim.end < stop}
        for first, last in pairwise(sorted({start, *ends, stop}) if start < stop else ()):
            payers = [claim for claim in self.claims if claim.end is None or claim.end >= last]
            payers = payers or [Claim(0, self.account, None)]
            seconds, usd, weight = self.nodes * (last - first), self.cost(first, last), sum(p.weight for p in payers)
            for payer in payers:
                part = payer.weight / weight
                yield JobShare(payer.job, payer.account, seconds * part, usd * part)
