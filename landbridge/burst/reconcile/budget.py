"""Budget: holds, spending and caps, by account, pool and month.

A hold covers an instance until its lease ends. The jobs on a node pay for it, and its time without a job is the
launching account's (`charging`). When an instance ends, its actual cost is spent and nothing is held any more.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from landbridge.burst.model import Attempt, BudgetHold, BurstPolicy, Charge, ChargeKey, ChargeKind, State
from landbridge.burst.model.training_job import TRAINING
from landbridge.timestamps import day_end, day_of, month_of, month_start

Spending = dict[tuple[str, str, str], float]
#: Seconds for which EC2 may not show an instance that runs.
HIDDEN_SECONDS = 86_400.0


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
            for account, usd in committed(hold, now).items():
                ledger.add(account, hold.pool, usd)
        for job in state.training_jobs.values():
            ledger.add(job.account, TRAINING, job.held_usd)
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
        return self._over(self._caps(account, pool), usd, hard=True)

    def left(self, account: str, pool: str) -> float | None:
        """Return the USD that the hard caps leave; None without one."""
        rooms = [cap - used for _, cap, used, is_hard in self._caps(account, pool) if is_hard]
        return max(0.0, min(rooms)) if rooms else None

    def account_refusal(self, account: str, usd: float) -> str | None:
        """Return the text of the account's hard cap that `usd` of another account's holds would exceed, if any."""
        return self._over(self._account_cap(account), usd, hard=True)

    def warning(self, account: str, pool: str, usd: float) -> str | None:
        """Return the text of the soft cap that `usd` more would exceed, which is recorded, not refused; None if there
        is none."""
        return self._over(self._caps(account, pool), usd, hard=False)

    def used_ratios(self) -> dict[str, float]:
        """Return the used share of each limit above 0, by the limit's name; 1 and more is all of it."""
        policy = self.policy
        limits = [(name, account.monthly_usd, self.accounts[name]) for name, account in policy.accounts.items()]
        rows: list[tuple[str, float | None, float]] = [(f"account {name}", cap, used) for name, cap, used in limits]
        rows += [(f"pool {name}", cap, self.pools[name]) for name, cap in policy.pool_monthly_usd.items()]
        rows.append(("cluster", policy.monthly_usd, self.total))
        return {name: float(used) / cap for name, cap, used in rows if cap}

    def _over(self, caps: Iterable[tuple[str, float, float, bool]], usd: float, *, hard: bool) -> str | None:
        if usd <= 0:
            return None
        for owner, cap, used, is_hard in caps:
            if is_hard is hard and used + usd > cap:
                return f"{owner} has {used:.2f} of {cap:.2f} USD committed in {self.month}; {usd:.2f} more is over"
        return None

    def _caps(self, account: str, pool: str) -> Iterable[tuple[str, float, float, bool]]:
        yield from self._account_cap(account)
        if pool in self.policy.pool_monthly_usd:
            yield f"pool {pool}", self.policy.pool_monthly_usd[pool], float(self.pools[pool]), self.policy.hard
        if self.policy.monthly_usd is not None:
            yield "the cluster", self.policy.monthly_usd, self.total, self.policy.hard

    def _account_cap(self, account: str) -> Iterable[tuple[str, float, float, bool]]:
        account_policy = self.policy.accounts.get(account)
        if account_policy is not None and account_policy.monthly_usd is not None:
            yield f"account {account}", account_policy.monthly_usd, float(self.accounts[account]), account_policy.hard


def hold_usd(nodes: int, usd_hour: float, now: float, lease: float) -> float:
    """Return the maximum cost of `nodes` nodes until their lease ends, in USD."""
    return nodes * usd_hour * max(0.0, lease - now) / 3600


def hold_of(attempt: Attempt, now: float) -> BudgetHold:
    """Return the hold of a launch call."""
    nodes = len(attempt.nodes)
    return BudgetHold(attempt.account, attempt.pool, attempt.usd_hour, now, attempt.lease, nodes, registered=None)


def committed(hold: BudgetHold, now: float) -> dict[str, float]:
    """Return what is not spent yet of a hold's instances by account: until their leases end, or now if that is later."""
    return hold.charges(hold.since, max(hold.end, now))


def settle_holds(state: State, ended_instances: Mapping[str, Mapping[str, bool]], now: float) -> State:
    """Return the state in which the cost of ended instances (token -> node -> seen ending) is spent and not held any
    more.

    An instance that EC2 shows ending (True) has cost until the call that terminated it, or until now. One that EC2 does
    not show ended at the latest with that call, or with its lease; if EC2 shows it running again, it is charged from
    there on.
    """
    attempts, holds, spent = dict(state.attempts), dict(state.holds), dict(state.spent)
    charges: list[Charge] = []
    charged_until = {id_: at for id_, at in state.charged_until.items() if now - at < HIDDEN_SECONDS}
    for token, nodes in ended_instances.items():
        attempt = attempts[token]
        for node, is_seen_ending in nodes.items():
            instance = attempt.instances[node]
            hold = holds.pop(instance, None)
            if hold is not None:
                stop = min(now, state.terminated_at.get(instance, now), now if is_seen_ending else hold.end)
                charges += spend(spent, hold, stop)
                if not is_seen_ending:
                    charged_until[instance] = max(stop, hold.since)
        remaining = {node: id for node, id in attempt.instances.items() if node not in nodes}
        attempts[token] = replace(attempt, instances=remaining)
    return replace(
        state,
        attempts=attempts,
        holds=holds,
        spent=spent,
        charges=(*state.charges, *charges),
        charged_until=charged_until,
    )


def roll_over_month(state: State, now: float) -> State:
    """Return the state after a change of month: the cost of instances before this month is spent in its month, the rest
    is held in this one."""
    start = month_start(month_of(now))
    old_holds = {
        key: hold for key, hold in state.holds.items() if hold.since < start and key not in state.attempts
    }  # not those of launch calls: they may have cost nothing
    if not old_holds:
        return state
    holds, spent, charges = dict(state.holds), dict(state.spent), list(state.charges)
    for key, hold in old_holds.items():
        charges += spend(spent, hold, start)
        holds[key] = replace(hold, since=start)
    return replace(state, holds=holds, spent=spent, charges=tuple(charges))


def spend(spent: Spending, hold: BudgetHold, stop: float) -> list[Charge]:
    """Add the cost of a hold's instances until `stop` to `spent`, each part in its month; return its charges."""
    charges = accrued(hold, stop)
    for charge in charges:
        key = (charge.key.day[: len("2026-11")], charge.key.account, hold.pool)
        spent[key] = spent.get(key, 0.0) + charge.usd
    return charges


def accrued(hold: BudgetHold, stop: float) -> list[Charge]:
    """Return the charges of a hold's instances until `stop`, by day."""
    charges: list[Charge] = []
    start = hold.since
    while start < stop:
        registered = stop if hold.registered is None else hold.registered
        is_boot = start < registered
        end = min(stop, day_end(start), registered if is_boot else stop)
        for share in hold.shares(start, end):
            kind = ChargeKind.BOOT if is_boot else ChargeKind.JOB if share.job else ChargeKind.IDLE
            key = ChargeKey(day_of(start), hold.pool, share.account, share.job, kind, hold.instance_type)
            # An offering without a price has none in the journal either; no instance is free.
            unpriced = share.node_seconds if hold.usd_hour == 0 else 0.0
            charges.append(Charge(key, share.node_seconds, share.usd, unpriced))
        start = end
    return charges
