"""Bursting: when jobs of the site may start in AWS, and how patient the controller is with what goes wrong."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from landbridge.environment.base import Model, Port, Text, Usd


class Burst(Model):
    """Settings of the burst controller, besides those of pools, accounts and budgets."""

    wait_minutes: int | None = Field(
        default=None,
        ge=1,
        le=10_080,
        description="jobs of the queue gpu start on-prem, and may use the pools' queues too once they would wait longer; "
        "none: gpu is over both sites, and a job starts in AWS as soon as the site is full",
    )
    grace_minutes: int = Field(
        default=15, ge=1, le=1440, description="from a job's time limit to the end of its nodes' leases"
    )
    orphan_minutes: int = Field(
        default=5,
        ge=2,
        le=60,
        description="an instance without a node, or a node without its instance, may be that old",
    )
    breaker_minutes: int = Field(
        default=10,
        ge=1,
        le=1440,
        description="after a refusal that only a person can mend, a pool is asked once in this time",
    )
    prices: Mapping[Text, Annotated[Usd, Field(gt=0)]] = Field(
        default={},
        description="USD an hour of a type, where Landbridge knows none (`landbridge catalog list` shows what it knows)",
    )
    unpriced: bool = Field(
        default=False, description="capacity without a known price may be used although a hard budget is set"
    )
    metrics_port: Port | None = Field(
        default=9810, description="port of the Prometheus metrics on the controller's loopback; none: no metrics"
    )
