"""Buckets of data classes with the mover's credentials: one bandwidth limit for all transfers, and their prices."""

from collections.abc import Callable

from landbridge.aws_api.objects import DataAccess, ObjectBucket, TransferRate
from landbridge.findings import FindingsError
from landbridge.live.datasets import TransferLedger
from landbridge.live.staging.config import MoverConfig
from landbridge.live.staging.rate import measured_rate
from landbridge.plan.aws.storage.dataset_place import session_fault

_GB = 2**30


class ClassBuckets:
    """Buckets of all data classes. Several threads may use it."""

    def __init__(self, config: MoverConfig) -> None:
        self._config = config
        self._access = DataAccess(config.region, config.endpoint, config.profile, config.credentials, config.fips)
        self._limit = None if config.limit_mbps is None else config.limit_mbps * 1e6 / 8
        self._rate = TransferRate(self._limit)
        self.ledger = TransferLedger(config.ledger)

    def bucket(self, data_class: str, progress: Callable[[int], None] | None = None) -> ObjectBucket:
        """Return the bucket of a data class. Raises AwsRefusal."""
        name = self._config.classes[data_class].bucket or ""
        return self._access.bucket(name, self._config.workers, self._rate, progress)

    def require_role(self) -> None:
        """Raise FindingsError if the credentials do not belong to the mover's role. Raises AwsRefusal."""
        role = self._config.role
        fault = None if role is None else session_fault(role, self._access.caller())
        if fault is not None:
            raise FindingsError([fault])

    def seconds(self, command: str, size: int) -> float | None:
        """Return the time of a transfer at the measured rate, else at the bandwidth limit; None if neither is known."""
        rate = measured_rate(self.ledger, command, self._limit)
        return 0.0 if size == 0 else None if rate is None else size / rate

    def usd(self, *, reads: int, writes: int, bytes_out: int) -> float | None:
        """Return the highest price of requests and traffic; None if one is unknown."""
        prices = self._config.usd_1000_reads, self._config.usd_1000_writes, self._config.usd_gb_out
        amounts = reads / 1000, writes / 1000, bytes_out / _GB
        products = [
            0.0 if not amount else None if price is None else price * amount
            for price, amount in zip(prices, amounts, strict=True)
        ]
        return None if None in products else sum(product or 0.0 for product in products)
