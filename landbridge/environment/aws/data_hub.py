"""The hub: one bucket for each data class that may be in AWS, and what a class asks of its bucket."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from landbridge.environment.base import Model, Region, Word


class ObjectLock(Model):
    """S3 Object Lock: no object can be deleted or overwritten for this time. For backups."""

    days: int = Field(ge=1, le=36500, description="from when an object is written")
    mode: Literal["governance", "compliance"] = Field(
        default="governance", description="compliance: not even the account's root user, and never shortened"
    )


class HubClass(Model):
    """Settings of one data class's bucket, besides encryption and versions."""

    replica_region: Region | None = Field(
        default=None, description="a second region with a copy of all that is written from then on; billed twice"
    )
    object_lock: ObjectLock | None = Field(default=None, description="for a class of backups; it cannot be taken back")
    tiering_days: int | None = Field(
        default=None,
        ge=0,
        le=3650,
        description="days; then S3 moves objects that are not read to a cheaper storage class",
    )
    expire_days: int | None = Field(default=None, ge=1, le=3650, description="then objects are deleted; none: never")


class S3DataHub(Model):
    """Data hub: one bucket per data class, versioned, encrypted with its own KMS key, without public access."""

    kind: Literal["s3"] = "s3"
    noncurrent_days: int = Field(
        default=30, ge=1, le=3650, description="how long an overwritten object can be brought back"
    )
    classes: Mapping[Word, HubClass] = Field(default={}, description="by data class; none named: one region, no lock")
