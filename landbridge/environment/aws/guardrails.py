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
    """Monthly budget of one Slurm account in AWS; past a hard limit no further node is launched for it."""

    monthly_usd: Usd
    hard: bool = False


class Budget(Model):
    """Budget of the AWS account. AWS Budgets reports hours late: a hard budget stops the next launches, not the last
    ones.
    """

    monthly_usd: Usd | None = Field(default=None, description="none: no alarm, only the accounts' limits")
    alarms: tuple[Percent, ...] = Field(
        default=(50, 80, 100), description="percent of it at which AWS writes; another at 100 for what it forecasts"
    )
    subscribers: tuple[Email, ...] = Field(default=(), description="who is written to; none: the owner")
    hard: bool = Field(
        default=False, description="at 100 percent the launch role is denied every launch, until a person undoes it"
    )
    accounts: Mapping[UserName, AccountBudget] = {}
    pools: Mapping[Word, Usd] = Field(
        default={}, description="what a pool's instances may cost in a month; past it nothing more is launched in it"
    )


class TrailSettings(Model):
    """CloudTrail trail, in a bucket with object lock."""

    days: int = Field(default=365, ge=1, le=3650, description="for how long nothing of it can be deleted")
    mode: Literal["governance", "compliance"] = Field(
        default="governance", description="compliance: not even the account's root can shorten it"
    )


class GuardrailsSettings(Model):
    """Guardrails that run in AWS itself, also while the site cannot be reached."""

    reaper: bool | None = Field(
        default=None, description="ends nodes whose lease is over; none: on, except in an emulated AWS"
    )
    every_minutes: int = Field(default=5, ge=2, le=60, description="how often it looks")
    grace_minutes: int = Field(default=5, ge=0, le=120, description="past a lease, for a controller that renews late")
    unleased_hours: int = Field(default=24, ge=1, le=168, description="for a node without a lease that can be read")
    cost_tags: bool = Field(
        default=False,
        description="activates the cluster's tags in billing, and counts this cluster alone in its budget; possible a day "
        "after the first `landbridge up`, in the account that pays",
    )
    anomaly_usd: Usd | None = Field(default=None, description="writes when a day costs so much more than expected")
    trail: TrailSettings | None = Field(default=None, description="none: the organisation has one of its own")


def is_email(text: str) -> bool:
    """Return true for an e-mail address."""
    return len(text) <= _MAX_EMAIL_CHARACTERS and re.fullmatch(_EMAIL, text) is not None
