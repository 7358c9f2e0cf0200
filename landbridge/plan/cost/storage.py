"""Cost of file systems and buckets."""

from collections.abc import Iterator

from landbridge.environment import Environment, FsxLustre, FsxOpenZfs
from landbridge.plan.cost.bill_lines import BillItem, Unpriced, by_volume, monthly
from landbridge.plan.cost.pools import only_data_class
from landbridge.plan.storage import Share, throughput


def storage_spend(environment: Environment) -> Iterator[BillItem]:
    """Yield the file systems in AWS, billed while they exist, and the data hub, billed by its content."""
    for path, share in environment.storage.in_aws().items():
        yield from _share(environment, path[-1], share)
    for path, existing in environment.storage.existing().items():
        why = "exists already and is not counted: its owner pays for it"
        yield Unpriced(f"{path[-1]}: {existing.id}", None, existing.data_class, why, "not_counted")
    for name, data_class in environment.data_classes.items():
        if "aws" in data_class.sites:
            yield by_volume(f"the hub's bucket of {name}", "storage", "s3_standard", environment.region, name)


def _share(environment: Environment, name: str, share: Share) -> Iterator[BillItem]:
    region, data_class = environment.region, _class_of(environment, share)
    if isinstance(share, FsxLustre):
        if share.storage_type == "intelligent_tiering" or share.capacity_gib is None:
            why = "billed by its content and its throughput"
            yield Unpriced(f"{name}: FSx for Lustre, intelligent tiering", None, data_class, why, "by_volume")
            return
        description = f"{name}: FSx for Lustre {share.deployment}, {share.capacity_gib:,} GiB"
        yield from monthly(description, lustre_price(share), region, share.capacity_gib, data_class=data_class)
    elif isinstance(share, FsxOpenZfs):
        description = f"{name}: FSx for OpenZFS {share.deployment}, {share.capacity_gib:,} GiB"
        yield from monthly(
            description, f"fsx_openzfs_{share.deployment}", region, share.capacity_gib, data_class=data_class
        )
        rate = throughput(share)
        if rate is not None:
            description = f"{name}: throughput of {rate:,} MB/s"
            yield from monthly(description, f"fsx_openzfs_{share.deployment}_mbps", region, rate, data_class=data_class)
    else:
        yield by_volume(f"{name}: EFS", "storage", "efs_standard", region, data_class)
        if share.throughput == "provisioned" and share.provisioned_mibps is not None:
            description = f"{name}: {share.provisioned_mibps:,} MiB/s provisioned"
            yield from monthly(
                description, "efs_provisioned_mibps", region, share.provisioned_mibps, data_class=data_class
            )


def lustre_price(share: FsxLustre) -> str:
    """Return the name of a Lustre file system's price: deployment, storage type unless SSD, throughput if it can be
    chosen.
    """
    rate = throughput(share)
    medium = [] if share.storage_type == "ssd" else [share.storage_type]
    return "_".join(["fsx_lustre", share.deployment, *medium, *([str(rate)] if rate is not None else [])])


def _class_of(environment: Environment, share: Share) -> str | None:
    """Return the single data class linked to a file system, else the only class that AWS may hold."""
    linked = {repository.data_class for repository in share.repositories} if isinstance(share, FsxLustre) else set()
    named = {name for name in linked if name is not None}
    return next(iter(named)) if len(named) == 1 and None not in linked else only_data_class(environment)
