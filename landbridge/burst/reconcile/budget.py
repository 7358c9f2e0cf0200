"""Budget: holds, spending and caps, by account, pool and month.

A hold covers a launch until the leases of its instances end. When an instance ends, the hold decreases and the
instance's actual cost is spent. The account of a launch pays for its instances, as on the invoice by tags.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from landbridge.burst.model import Attempt, BudgetHold, BurstPolicy, State
from landbridge.timestamps import month_of, month_start


@dataclass(slots=True)
class Ledger:
    """Ledger of the current month: spent and held USD. The decisions of a pass are added."""

    policy: BurstPolicy
    month: str
    total: float = 0.0
    accounts: Counter[str] = field(default_factory=Counter)
    pools: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, state: State, policy: BurstPolicy, now: float) -> "Ledger":
        ledger = cls(policy, month_of(now))
        for (month, account, pool), usd in state.spent.items():
            if month == ledger.month:
                ledger.add(account, pool, usd)
        for hold in state.holds.values():
            ledger.add(hold.account, hold.pool, hold.usd)
        return ledger

    def copy(self) -> "Ledger":
        return Ledger(self.policy, self.month, self.total, self.accounts.copy(), self.pools.copy())

    def add(self, account: str, pool: str, usd: float) -> None:
        self.total += usd
        self.accounts[account] += usd  # type: ignore[assignment]
        self.pools[pool] += usd  # type: ignore[assignment]

    def capped(self, account: str, pool: str) -> bool:
        """Return whether a hard cap holds for the account, the pool or the whole cluster."""
        return any(hard for _, _, _, hard in self._caps(account, pool))

    def refusal(self, account: str, pool: str, usd: float) -> str | None:
        """Return the text of the hard cap that `usd` more would exceed; None if there is none."""
        return self._over(account, pool, usd, hard=True)

    def warning(self, account: str, pool: str, usd: float) -> str | None:
        """Return the text of the soft cap that `usd` more would exceed, which is recorded, not refused; None if there
        is none."""
        return self._over(account, pool, usd, hard=False)

    def _over(self, account: str, pool: str, usd: float, *, hard: bool) -> str | None:
        if usd <= 0:
            return None
        for owner, cap, committed, is_hard in self._caps(account, pool):
            if is_hard is hard and committed + usd > cap:
                return f"{owner} has {committed:.2f} of {cap:.2f} USD committed in {self.month}; {usd:.2f} more is over"
        return None

    def _caps(self, account: str, pool: str) -> Iterable[tuple[str, float, float, bool]]:
        account_policy = self.policy.accounts.get(account)
        if account_policy is not None and account_policy.monthly_usd is not None:
            yield f"account {account}", account_policy.monthly_usd, float(self.accounts[account]), account_policy.hard
        if pool in self.policy.pool_monthly_usd:
            yield f"pool {pool}", self.policy.pool_monthly_usd[pool], float(self.pools[pool]), self.policy.hard
        if self.policy.monthly_usd is not None:
            yield "the cluster", self.policy.monthly_usd, self.total, self.policy.hard


def hold_usd(nodes: int, usd_hour: float, now: float, lease: float) -> float:
    """Return the maximum cost of `nodes` nodes until their lease ends, in USD."""
    return nodes * usd_hour * max(0.0, lease - now) / 3600


def hold_of(attempt: Attempt, now: float) -> BudgetHold:
    return BudgetHold(attempt.account, attempt.pool, month_of(now), attempt.hold_usd, attempt.usd_hour, now)


def settle_holds(state: State, ended_instances: Mapping[str, Mapping[str, bool]], now: float) -> State:
    """Return the state in which the cost of ended instances (token -> node -> seen ending) is spent and not held any
    more.

    An instance that EC2 shows ending (True) has cost until now. One that EC2 does not show ended at an unknown time, at
    the latest with its lease: its hold is the maximum of its cost.
    """
    attempts, holds, spent = dict(state.attempts), dict(state.holds), dict(state.spent)
    for token, nodes in ended_instances.items():
        attempt = attempts[token]
        remaining = {node: id for node, id in attempt.instances.items() if node not in nodes}
        hold, count = holds.get(token), len(attempt.instances)
        if hold is not None and count:
            cost, share = hold.usd_hour * max(0.0, now - hold.created_at) / 3600, hold.usd / count
            _spend(spent, hold, sum(cost if is_seen_ending else min(cost, share) for is_seen_ending in nodes.values()))
            holds[token] = replace(hold, usd=hold.usd * len(remaining) / count)
            if not remaining:
                del holds[token]
        attempts[token] = replace(attempt, instances=remaining)
    return replace(state, attempts=attempts, holds=holds, spent=spent)


def roll_over_month(state: State, now: float) -> State:
    """Return the state after a change of month: the used part of older holds is spent in their month, the rest is held
    in this one."""
    month = month_of(now)
    old_holds = {token: hold for token, hold in state.holds.items() if hold.month < month}
    if not old_holds:
        return state
    holds, spent, start = dict(state.holds), dict(state.spent), month_start(month)
    for token, hold in old_holds.items():
        attempt = state.attempts.get(token)
        nodes = len(attempt.instances) if attempt else 0
        used = min(hold.usd, nodes * hold.usd_hour * max(0.0, start - hold.created_at) / 3600)
        _spend(spent, hold, used)
        holds[token] = replace(hold, month=month, usd=hold.usd - used, created_at=max(hold.created_at, start))
    return replace(state, holds=holds, spent=spent)


def _spend(spent: dict[tuple[str, str, str], float], hold: BudgetHold, usd: float) -> None:
    if usd:
        key = (hold.month, hold.account, hold.pool)
        spent[key] = spent.get(key, 0.0) + usd
