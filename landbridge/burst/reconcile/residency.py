"""Data residency: the accounts that may use AWS, and in which regions. Default deny, independent of Slurm's own checks."""

from collections.abc import Iterable

from landbridge.burst.model import AccountPolicy, BurstPolicy, SlurmJob


def reject_if_restricted(policy: BurstPolicy, account: str, wckey: str = "", region: str = "") -> str | None:
    """Return the reason why a job of `account` may not be in `region` of AWS (empty: the policy's own); None if it may."""
    account_policy = policy.accounts.get(account)
    if account_policy is None:
        return None if account in policy.operators else f"account '{account}' is not one of those that may use AWS"
    if not account_policy.aws:
        return f"data of account {account} ({account_policy.data_class}) may not be in AWS"
    place = "AWS" if region in ("", policy.region) else region
    if not _is_allowed(policy, account_policy, region):
        return f"data of account {account} ({account_policy.data_class}) may not be in {place}"
    # Slurm marks a default wckey with a star in its output.
    label = wckey.lstrip("*")
    accounts = policy.accounts.values()
    restricted = {
        word
        for account_ in accounts
        if not _is_allowed(policy, account_, region)
        for word in (account_.name, account_.data_class)
    }
    allowed = {
        word
        for account_ in accounts
        if _is_allowed(policy, account_, region)
        for word in (account_.name, account_.data_class)
    }
    if label and label in restricted - allowed:
        return f"data of '{label}' may not be in {place}"
    return None


def reject_job_if_restricted(policy: BurstPolicy, job: SlurmJob, region: str = "") -> str | None:
    return reject_if_restricted(policy, job.account, job.wckey, region)


def allowed_regions(policy: BurstPolicy, jobs: Iterable[SlurmJob]) -> frozenset[str]:
    """Return the regions besides the policy's own in which all jobs may be; empty without a job."""
    labels = {(job.account, job.wckey) for job in jobs}
    others = policy.regions[1:] if labels else ()
    return frozenset(
        region for region in others if all(reject_if_restricted(policy, *label, region) is None for label in labels)
    )


def data_class_of(policy: BurstPolicy, account: str) -> str:
    account_policy = policy.accounts.get(account)
    return account_policy.data_class if account_policy else ""


def _is_allowed(policy: BurstPolicy, account: AccountPolicy, region: str) -> bool:
    return account.aws and (region in ("", policy.region) or region in account.regions)
