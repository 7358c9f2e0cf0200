"""Budget holds: the cost of instances until the end of their leases, by the accounts that pay."""

from dataclasses import dataclass
from itertools import pairwise

#: Job on an instance, its account, and until when it may need the instance (None: until the lease ends).
Claim = tuple[int, str, float | None]


@dataclass(frozen=True, slots=True)
class BudgetHold:
    """Budget hold: the cost of one instance (by its id), or of the instances of a launch call (by its token), from `since`
    until its lease ends. The cost before `since` is spent.

    It is a function of the lease: to hold a renewal again changes nothing. `requested_until`: the end of a renewal whose result is
    not known. The jobs of `claims` pay equal shares of the time in which they are on the node; `account` pays the rest.
    """

    account: str
    pool: str
    usd_hour: float
    since: float
    until: float
    nodes: int = 1
    requested_until: float | None = None
    claims: tuple[Claim, ...] = ()

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
        usd_by_account: dict[str, float] = {}
        ends = {end for _, _, end in self.claims if end is not None and start < end < stop}
        for first, last in pairwise(sorted({start, *ends, stop}) if start < stop else ()):
            accounts = [account for _, account, end in self.claims if end is None or end >= last] or [self.account]
            for account in accounts:
                usd = self.cost(first, last) / len(accounts)
                usd_by_account[account] = usd_by_account.get(account, 0.0) + usd
        return usd_by_account
