"""Budgets, alarms, the lease reaper and the CloudTrail trail."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import Model, Usd, UserName, Word

_EMAIL = r"^[^@\s]+@[^@\s]+\.[^@\s]+$"
_MAX_EMAIL_CHARACTERS = 254
Email = Annotated[str, StringConstraints(pattern=_EMAIL, max_length=_MAX_EMAIL_CHARACTERS)]
Percent = Annotated[int, Field(ge=1, le=1000)]


class AccountBudget(Model):
    """Monthly budget of one Slurm account in AWS; above a hard limit no further node is launched for it."""

    monthly_usd: Usd
    hard: bool = False


class Budget(Model):
    """Budget of the AWS account. AWS Budgets reports hours late: a hard budget stops later launches, not running
    instances.
    """

    monthly_usd: Usd | None = Field(
        default=None,
        description="limit of the monthly cost in USD; none: no alarm, only the limits of accounts and pools",
    )
    alarms: tuple[Percent, ...] = Field(
        default=(50, 80, 100),
        description="percentages of the budget at which AWS sends e-mail; another one if the forecast exceeds 100",
    )
    subscribers: tuple[Email, ...] = Field(
        default=(), description="e-mail addresses that receive the alarms; empty: the owner"
    )
    hard: bool = Field(
        default=False,
        description="no instance is launched above a limit; at 100 percent a policy denies the launch role every "
        "launch until an operator detaches it",
    )
    accounts: Mapping[UserName, AccountBudget] = {}
    pools: Mapping[Word, Usd] = Field(
        default={},
        description="limit of a pool's monthly cost in USD; with `hard` no further instance is launched above it",
    )


class TrailSettings(Model):
    """CloudTrail trail, in a bucket with object lock."""

    days: int = Field(
        default=365, ge=1, le=3650, description="retention in days, during which no log file can be deleted"
    )
    mode: Literal["governance", "compliance"] = Field(
        default="governance", description="compliance: not even the account's root user can shorten the retention"
    )


class GuardrailsSettings(Model):
    """Guardrails that run in AWS itself, even if the site cannot be reached."""

    reaper: bool | None = Field(
        default=None,
        description="Lambda function that terminates instances with expired leases; none: on, except in emulated AWS",
    )
    every_minutes: int = Field(default=5, ge=2, le=60, description="interval of the reaper in minutes")
    grace_minutes: int = Field(
        default=5, ge=0, le=120, description="minutes after the end of a lease, for a controller that renews late"
    )
    unleased_hours: int = Field(
        default=24, ge=1, le=168, description="age in hours at which an instance without a readable lease is terminated"
    )
    alarms: bool | None = Field(
        default=None,
        description="CloudWatch alarms by e-mail to the budget's subscribers: VPN tunnels, reaper, burst controller, NAT "
        "gateways, accounting database; none: on, except in emulated AWS",
    )
    cost_tags: bool = Field(
        default=False,
        description="activates the cluster's cost allocation tags, and limits the budget to this cluster; possible one "
        "day after the first `landbridge up`, in the management (payer) account",
    )
    anomaly_usd: Usd | None = Field(
        default=None,
        description="amount in USD by which a day's cost must exceed the expected cost before AWS sends e-mail",
    )
    trail: TrailSettings | None = Field(default=None, description="none: the organisation has its own trail")


def is_email(text: str) -> bool:
    """Return true for an e-mail address."""
    return len(text) <= _MAX_EMAIL_CHARACTERS and re.fullmatch(_EMAIL, text) is not None
