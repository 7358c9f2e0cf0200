"""Hard caps, holds and charges, as the invariants count them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from landbridge.burst.model import BudgetHold, BurstPolicy, Charge, State


class Breach(AssertionError):
    """Violation of an invariant."""


@dataclass(frozen=True)
class Match:
    account: str | None = None
    pool: str | None = None

    def __call__(self, account: str, pool: str) -> bool:
        return self.account in (None, account) and self.pool in (None, pool)


def held_usd(holds: Iterable[BudgetHold], match: Match) -> float:
    """Return what the matching accounts and pools have held in USD."""
    charges = ((hold.pool, hold.charges(hold.since, hold.end)) for hold in holds)
    return sum(usd for pool, shares in charges for account, usd in shares.items() if match(account, pool))


def hard_caps(policy: BurstPolicy) -> list[tuple[str, float, Match]]:
    """Return every hard cap: its name, its amount in USD, and a match of the accounts and pools that it counts."""
    caps: list[tuple[str, float, Match]] = []
    for account in policy.accounts.values():
        if account.hard and account.monthly_usd is not None:
            caps.append((f"account {account.name}", account.monthly_usd, Match(account=account.name)))
    if policy.hard and policy.monthly_usd is not None:
        caps.append(("cluster", policy.monthly_usd, Match()))
    return caps


def check_charges(state: State, charges: Iterable[Charge]) -> None:
    """Check that the journal has a charge for all that is spent, and nothing twice, after any crash."""
    charged: Counter[tuple[str, str, str]] = Counter()
    for charge in charges:
        charged[charge.key.day[:7], charge.key.account, charge.key.pool] += charge.usd  # type: ignore[assignment]
    for key in {*charged, *state.spent}:
        if abs(charged[key] - state.spent.get(key, 0.0)) > 1e-6:
            raise Breach(f"{charged[key]} USD of {key} are charged, and {state.spent.get(key)} are spent")
