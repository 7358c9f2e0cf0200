"""Data residency: the accounts that may use AWS, and in which regions. Default deny, independent of Slurm's own checks."""

from collections.abc import Iterable

from landbridge.burst.model import BurstPolicy, SlurmJob
from landbridge.residency import aws_refusal


def reject_if_restricted(policy: BurstPolicy, account: str, wckey: str = "", region: str = "") -> str | None:
    """Return the reason why a job of `account` may not be in `region` of AWS (empty: the policy's own); None if it may."""
    return aws_refusal(policy.accounts, policy.operators, policy.region, account, wckey, region)


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
