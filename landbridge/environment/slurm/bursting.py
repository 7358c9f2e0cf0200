"""Environment key `burst`: when jobs may start in AWS, and time limits of the burst controller."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from landbridge.environment.base import Model, Port, Text, Usd


class Burst(Model):
    """Settings of the burst controller. Pools, accounts and budgets have further ones."""

    wait_minutes: int | None = Field(
        default=None,
        ge=1,
        le=10_080,
        description="expected wait in minutes above which jobs of partition gpu may use the pools' partitions too; "
        "none: gpu contains both sites, and a job starts in AWS as soon as the site is full",
    )
    grace_minutes: int = Field(
        default=15, ge=1, le=1440, description="minutes from a job's time limit to the end of its nodes' leases"
    )
    orphan_minutes: int = Field(
        default=5,
        ge=2,
        le=60,
        description="age in minutes at which an instance without a node, or a node without an instance, is an orphan",
    )
    breaker_minutes: int = Field(
        default=10,
        ge=1,
        le=1440,
        description="interval of launch attempts in a pool after an error that only an operator can correct",
    )
    impaired_minutes: int = Field(
        default=5,
        ge=1,
        le=1440,
        description="minutes for which a status check of EC2 fails until the node is replaced; a running job ends before",
    )
    event_margin_minutes: int = Field(
        default=15,
        ge=0,
        le=1440,
        description="minutes before a scheduled event of EC2 (reboot, stop, retirement, maintenance) at which jobs that may be "
        "requeued are requeued; new jobs do not start on the node from the announcement on",
    )
    prices: Mapping[Text, Annotated[Usd, Field(gt=0)]] = Field(
        default={},
        description="USD per hour of instance types without a price in the catalogue (see `landbridge catalog list`)",
    )
    unpriced: bool = Field(
        default=False, description="capacity without a known price may be used even if a hard budget is set"
    )
    launch_bucket: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="number of instances that AWS launches at once in a region, if AWS has raised this limit of the account (size "
        "of the resource token bucket of RunInstances)",
    )
    launch_per_second: float | None = Field(
        default=None,
        gt=0,
        le=10_000,
        description="number of further instances that AWS launches in a second, if AWS has raised this limit of the account (its "
        "refill rate)",
    )
    metrics_port: Port | None = Field(
        default=9810, description="port of the Prometheus metrics on the controller's loopback; none: no metrics"
    )
