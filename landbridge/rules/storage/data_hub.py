"""Rules about the buckets of the data hub."""

from collections.abc import Iterator

from landbridge.catalog import regions
from landbridge.catalog.regimes import regimes
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.rules.environment_paths import REGION, suggestion
from landbridge.rules.registry import rule

_CLASSES: DataPath = ("storage", "data_hub", "classes")


@rule(suppressible=False)
def hub_class(environment: Environment) -> Iterator[Finding]:
    """Classes of the data hub exist and may be in AWS: other classes have no bucket.

    Source: Landbridge (docs/decisions/0006-data.md).
    """
    data_classes = environment.data_classes
    for name in environment.storage.data_hub.classes:
        path = (*_CLASSES, name)
        if name not in data_classes:
            message = f'unknown data class "{name}"'
            yield error(path, message, fix=suggestion(name, data_classes), related=(("data_classes",),))
        elif "aws" not in data_classes[name].sites:
            message = f"data of class {name} may be at {', '.join(data_classes[name].sites)} only, so it has no bucket"
            yield error(path, message, fix="remove it", related=(("data_classes", name, "sites"),))


@rule(suppressible=False)
def hub_replica(environment: Environment) -> Iterator[Finding]:
    """The replica region of a class differs from the bucket's, is in the same partition, and is allowed by the class's regime.

    Source: S3 User Guide, "Replicating objects within and across Regions" (not between partitions); the regimes' own
    citations, in landbridge/catalog/regimes.yaml.
    """
    own_region = regions().get(environment.region)
    for name, hub_class in environment.storage.data_hub.classes.items():
        region = hub_class.replica_region
        if region is None or own_region is None:
            continue
        path = (*_CLASSES, name, "replica_region")
        near = [
            region_name
            for region_name, fact in regions().items()
            if fact.geography == own_region.geography and region_name != environment.region
        ]
        region_facts = regions().get(region)
        data_class = environment.data_classes.get(name)
        regime = regimes().get((data_class.regime if data_class is not None else None) or "")
        fix = f"use {' or '.join(near[:4])}" if near else None
        if region == environment.region:
            yield error(path, f"{region} is the region of the bucket itself", fix=fix, related=(REGION,))
        elif region_facts is None:
            yield error(path, f'unknown region "{region}"', fix=suggestion(region, regions()))
        elif region_facts.partition != own_region.partition:
            message = f"S3 does not replicate from {environment.region} to {region}, which is in another partition"
            yield error(path, message, fix=fix, related=(REGION,))
        elif regime is not None and not regime.allows_region(region):
            message = f"data under {regime.title} may not be in {region} ({regime.citation})"
            related: tuple[DataPath, ...] = (("data_classes", name, "regime"),)
            yield error(path, message, fix=fix, related=related)


@rule
def hub_lock(environment: Environment) -> Iterator[Finding]:
    """An environment with protect: false has no object lock in compliance mode: its bucket could not be deleted.

    Source: S3 User Guide, "Object Lock", retention modes.
    """
    if environment.aws.protect:
        return
    for name, hub_class in environment.storage.data_hub.classes.items():
        if hub_class.object_lock is not None and hub_class.object_lock.mode == "compliance":
            message = (
                "object lock in compliance mode prevents `landbridge destroy` from emptying the bucket (protect: false)"
            )
            path = (*_CLASSES, name, "object_lock", "mode")
            yield error(path, message, fix="write mode: governance", related=(("aws", "protect"),))


@rule
def hub_expiry(environment: Environment) -> Iterator[Finding]:
    """Objects expire after their lock: S3 only hides a locked object, which is billed until the lock ends.

    Source: S3 User Guide, "Managing Object Lock", object lock and lifecycle.
    """
    for name, hub_class in environment.storage.data_hub.classes.items():
        lock, days = hub_class.object_lock, hub_class.expire_days
        if lock is not None and days is not None and days < lock.days:
            message = f"objects expire after {days} days and are locked for {lock.days}"
            path = (*_CLASSES, name, "expire_days")
            related: tuple[DataPath, ...] = ((*_CLASSES, name, "object_lock"),)
            yield warning(path, message, fix=f"write expire_days: {lock.days}", related=related)
