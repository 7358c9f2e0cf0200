"""Whose jobs may have instances at all: default deny, decided here once more, whatever Slurm let through."""

from landbridge.burst.model import Job, Policy


def refusal(policy: Policy, account: str, wckey: str = "") -> str | None:
    """Why a job of `account` may not be in AWS; None: it may."""
    known = policy.accounts.get(account)
    if known is None:
        return None if account in policy.operators else f"account '{account}' is not one of those that may use AWS"
    if not known.aws:
        return f"data of account {account} ({known.data_class}) may not be in AWS"
    # A user marks default keys with a star in Slurm's output.
    label = wckey.lstrip("*")
    restricted = {word for a in policy.accounts.values() if not a.aws for word in (a.name, a.data_class)}
    open_ = {word for a in policy.accounts.values() if a.aws for word in (a.name, a.data_class)}
    if label and label in restricted - open_:
        return f"data of '{label}' may not be in AWS"
    return None


def refused(policy: Policy, job: Job) -> str | None:
    return refusal(policy, job.account, job.wckey)


def data_class(policy: Policy, account: str) -> str:
    known = policy.accounts.get(account)
    return known.data_class if known else ""
