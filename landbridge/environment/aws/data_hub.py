"""Environment key `storage.data_hub`: one bucket for each data class that may be in AWS."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from landbridge.environment.base import Model, Region, Word


class ObjectLock(Model):
    """S3 Object Lock: no object version can be deleted or overwritten for this time. For backups."""

    days: int = Field(ge=1, le=36500, description="retention in days, from the time an object is written")
    mode: Literal["governance", "compliance"] = Field(
        default="governance",
        description="compliance: not even the account's root user can delete objects or shorten the retention",
    )


class HubClass(Model):
    """Settings of one data class's bucket: replication, object lock and lifecycle."""

    replica_region: Region | None = Field(
        default=None, description="a second region to which new objects are replicated; storage is billed in both"
    )
    object_lock: ObjectLock | None = Field(
        default=None, description="for a data class of backups; it cannot be disabled later"
    )
    tiering_days: int | None = Field(
        default=None,
        ge=0,
        le=3650,
        description="after this number of days S3 moves objects that are not read to a cheaper storage class",
    )
    expire_days: int | None = Field(
        default=None, ge=1, le=3650, description="objects are deleted after this number of days; none: never"
    )


class S3DataHub(Model):
    """Data hub: one bucket per data class, versioned, encrypted with its own KMS key, without public access."""

    kind: Literal["s3"] = "s3"
    noncurrent_days: int = Field(
        default=30,
        ge=1,
        le=3650,
        description="number of days for which an overwritten or deleted object can be restored",
    )
    classes: Mapping[Word, HubClass] = Field(
        default={}, description="settings by data class; empty: one region, no object lock"
    )
