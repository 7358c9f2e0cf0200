"""Data residency of Slurm accounts in AWS: one function for the burst controller and for the placement of jobs.

It reads no catalogue and no environment file, because the burst controller runs without them.
"""

from collections.abc import Collection, Mapping
from typing import Protocol


class ClassifiedAccount(Protocol):
    """Slurm account with the data class of its jobs. `aws`: whether that data may be in AWS; `regions`: the permitted
    regions besides the cluster's own."""

    @property
    def name(self) -> str:
        """Return the account's name."""
        ...

    @property
    def data_class(self) -> str:
        """Return the name of the data class."""
        ...

    @property
    def aws(self) -> bool:
        """Return whether the data may be in AWS."""
        ...

    @property
    def regions(self) -> tuple[str, ...]:
        """Return the permitted regions besides the cluster's own."""
        ...


def aws_refusal(
    accounts: Mapping[str, ClassifiedAccount],
    operators: Collection[str],
    own_region: str,
    account: str,
    wckey: str = "",
    region: str = "",
) -> str | None:
    """Return the reason why a job of `account` may not be in `region` of AWS (empty: `own_region`); None if it may.

    An account that is not in `accounts` is refused, except those of operators. A WCKey can only restrict: one that
    names an account or a data class that may not be there refuses the job too.
    """
    classified = accounts.get(account)
    if classified is None:
        return None if account in operators else f"account '{account}' is not one of those that may use AWS"
    if not classified.aws:
        return f"data of account {account} ({classified.data_class}) may not be in AWS"
    place = "AWS" if region in ("", own_region) else region
    if not _is_allowed(classified, own_region, region):
        return f"data of account {account} ({classified.data_class}) may not be in {place}"
    # Slurm marks a default wckey with a star in its output.
    label = wckey.lstrip("*")
    restricted = {
        word
        for other in accounts.values()
        if not _is_allowed(other, own_region, region)
        for word in (other.name, other.data_class)
    }
    allowed = {
        word
        for other in accounts.values()
        if _is_allowed(other, own_region, region)
        for word in (other.name, other.data_class)
    }
    if label and label in restricted - allowed:
        return f"data of '{label}' may not be in {place}"
    return None


def _is_allowed(account: ClassifiedAccount, own_region: str, region: str) -> bool:
    return account.aws and (region in ("", own_region) or region in account.regions)
