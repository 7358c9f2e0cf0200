"""Fair share: decayed usage of accounts and their users, and a queue in its order."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from landbridge.simulation.job_queue import JobQueue, Line


@dataclass(slots=True)
class _Use:
    gpu_seconds: float = 0.0
    gpus: int = 0
    at: float = 0.0

    def until(self, now: float, rate: float) -> float:
        """Return the usage at `now`, which running jobs increase and time decays."""
        decay = math.exp(-rate * (now - self.at))
        return self.gpu_seconds * decay + self.gpus * (1 - decay) / rate

    def change(self, gpus: int, now: float, rate: float) -> None:
        self.gpu_seconds, self.at = self.until(now, rate), now
        self.gpus += gpus


@dataclass(slots=True)
class DecayedUsage:
    """GPU-seconds of each account, and of each user in it, that lose half of their weight in `half_life` seconds.

    The order is that of Slurm's classic fair share with one level of accounts: usage divided by shares, of the account
    first, then of the user. Source: Slurm, "Classic Fairshare Algorithm". Job size and age do not count.
    """

    half_life: float
    shares: Mapping[str, float]
    now: float = 0.0
    _accounts: dict[str, _Use] = field(default_factory=dict)
    _users: dict[tuple[str, str], _Use] = field(default_factory=dict)

    def change(self, account: str, user: str, gpus: int, now: float) -> None:
        """Add the GPUs of a job that starts, or subtract the GPUs of a job that ends."""
        rate = math.log(2) / self.half_life
        self._accounts.setdefault(account, _Use(at=now)).change(gpus, now, rate)
        self._users.setdefault((account, user), _Use(at=now)).change(gpus, now, rate)

    def order(self, account: str, user: str) -> tuple[float, float]:
        """Return the order of a user's jobs: those with the smallest value start first."""
        rate, share = math.log(2) / self.half_life, self.shares.get(account, 1.0)
        of_account, of_user = self._accounts.get(account), self._users.get((account, user))
        account_usage = of_account.until(self.now, rate) / share if of_account is not None else 0.0
        return account_usage, of_user.until(self.now, rate) if of_user is not None else 0.0


class FairShareQueue(JobQueue):
    """Queue whose first job is the oldest one of the user with the least usage. Backfill keeps the order of submission."""

    def __init__(self, jobs: int, owners: Sequence[tuple[str, str]], usage: DecayedUsage) -> None:
        super().__init__(jobs)
        self._owners, self._usage = owners, usage
        self._by_owner: dict[tuple[str, str], Line] = {}

    def add(self, job: int, gpus: int) -> None:
        """Add a job, for the first time or again."""
        super().add(job, gpus)
        owner = self._owners[job]
        line = self._by_owner.get(owner)
        if line is None:
            line = self._by_owner[owner] = Line()
        line.add(job)

    def oldest(self) -> int | None:
        """Return the first job in the order of fair share; None without one."""
        first: tuple[tuple[float, float], int] | None = None
        for owner, line in self._by_owner.items():
            job = line.oldest(self._is_waiting)
            if job is not None:
                candidate = (self._usage.order(*owner), job)
                if first is None or candidate < first:
                    first = candidate
        return None if first is None else first[1]
