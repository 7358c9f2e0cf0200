"""Budget of a replay: the controller's ledger with its holds and caps, settled when instances end."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from landbridge.burst.model import Attempt, BurstPolicy, Gang, PoolPolicy, State
from landbridge.burst.reconcile.budget import Ledger, hold_of, hold_usd, roll_over_month, settle_holds
from landbridge.burst.reconcile.launching.offerings import OfferingChoice, choose


@dataclass(slots=True)
class SimulatedBudget:
    """Held and spent USD. Every instance has a separate attempt, and a hold by its id."""

    policy: BurstPolicy
    state: State = field(default_factory=State)
    _ledger: Ledger | None = None
    _unused: Ledger = field(init=False)  # of a month in which nothing is held or spent

    def __post_init__(self) -> None:
        self._unused = Ledger(self.policy, "")

    def refusal(self, amounts: list[tuple[str, str, float]], now: float) -> str | None:
        """Return why these amounts (account, pool, USD) cannot all be held; None if they can. Nothing is held."""
        ledger = self._current(now)
        added = [(account, pool, usd) for account, pool, usd in amounts if usd]
        reason = None
        for number, (account, pool, usd) in enumerate(added):
            reason = ledger.refusal(account, pool, usd)
            if reason is not None:
                added = added[:number]
                break
            ledger.add(account, pool, usd)
        for account, pool, usd in added:
            ledger.add(account, pool, -usd)
        return reason

    def choose(self, gang: Gang, pool: PoolPolicy, used: Mapping[str, int], now: float) -> OfferingChoice:
        """Return the controller's choice of an offering for a gang."""
        return choose(gang, pool, self.state, self.policy, self._current(now), used, now)

    def could_ever_hold(self, account: str, pool: str, usd: float) -> bool:
        """Return whether this amount could be held in a month without other spending."""
        return self._unused.refusal(account, pool, usd) is None

    def hold(
        self, token: str, account: str, pool: str, offering: str, until: float, usd_hour: float, now: float
    ) -> None:
        """Hold the maximum cost of an instance until `until`."""
        usd = hold_usd(1, usd_hour, now, until)
        attempt = Attempt(
            token=token,
            gang=token,
            pool=pool,
            offering=offering,
            nodes=(token,),
            jobs=(),
            account=account,
            all_or_nothing=False,
            lease=until,
            created_at=now,
            hold_usd=usd,
            usd_hour=usd_hour,
            ended=now,
            instances={token: _instance_id(token)},
        )
        attempts, holds = dict(self.state.attempts), dict(self.state.holds)
        attempts[token], holds[_instance_id(token)] = attempt, hold_of(attempt, now)
        self.state = replace(self.state, attempts=attempts, holds=holds)
        self._current(now).add(account, pool, usd)

    def missing(self, token: str, until: float) -> float:
        """Return the USD that an instance until `until` costs above its hold."""
        hold = self.state.holds[_instance_id(token)]
        return hold.cost(hold.end, until)

    def keep(self, token: str, until: float, now: float) -> None:
        """Increase the hold of an instance to its cost until `until`."""
        usd = self.missing(token, until)
        if usd:
            hold = self.state.holds[_instance_id(token)]
            holds = {**self.state.holds, _instance_id(token): replace(hold, until=until)}
            self.state = replace(self.state, holds=holds)
            self._current(now).add(hold.account, hold.pool, usd)

    def pay(self, token: str, now: float) -> None:
        """Replace the hold of an ended instance by its actual cost."""
        settled = settle_holds(self.state, {token: {token: True}}, now)
        attempts = {name: attempt for name, attempt in settled.attempts.items() if name != token}
        self.state, self._ledger = replace(settled, attempts=attempts), None

    def start_month(self, now: float) -> None:
        """Roll the holds over to a new month."""
        self.state, self._ledger = roll_over_month(self.state, now), None

    def _current(self, now: float) -> Ledger:
        if self._ledger is None:
            self._ledger = Ledger.of(self.state, self.policy, now)
        return self._ledger


def _instance_id(token: str) -> str:
    """Return the id of an attempt's instance. It differs from the token, which is the key of a launch call's hold."""
    return f"i-{token}"
