"""botocore's service models: enums, ranges and patterns of parameters; regions and endpoints."""

import functools
import re
from collections.abc import Iterator
from typing import Any

import botocore.session

from landbridge.catalog import instances, limits, regions, storage
from tests.unit.catalog.peers.compared import COMPLETE, Compared, joined, snake


def shape(service: str, name: str) -> Any:
    """Return a shape of a service model."""
    return model(service).shape_for(name)


@functools.cache
def model(service: str) -> Any:
    """Return the model of a service."""
    return botocore.session.get_session().get_service_model(service)


def botocore_words() -> Iterator[Compared]:
    """Yield enum values of the APIs that the catalogue uses too."""
    known = set(shape("ec2", "InstanceType").enum)
    for name in instances():
        yield Compared("botocore", name, "type", "known", "known" if name in known else None)
    for name in sorted(known - set(instances())):
        if name.partition(".")[0] in COMPLETE:
            yield Compared("botocore", name, "type", None, "known")
    enums = {
        ("ec2", "UsageClassType"): {word for kind in instances().values() for word in kind.purchase},
        ("ec2", "PlacementGroupStrategy"): {word for kind in instances().values() for word in kind.placement},
        ("ec2", "VolumeType"): set(limits().volumes.types),
        ("fsx", "LustreDeploymentType"): {row.deployment for row in storage().fsx_lustre.deployments},
        ("fsx", "OpenZFSDeploymentType"): set(storage().fsx_openzfs.deployments),
        ("fsx", "StorageType"): {row.storage for row in storage().fsx_lustre.deployments} | {"intelligent_tiering"},
        ("fsx", "DataCompressionType"): set(storage().fsx_lustre.compression),
        ("fsx", "OpenZFSDataCompressionType"): set(storage().fsx_openzfs.compression),
        ("efs", "PerformanceMode"): set(storage().efs.performance),
        ("efs", "ThroughputMode"): set(storage().efs.throughput),
    }
    for (service, name), ours in enums.items():
        theirs = {snake(word) for word in shape(service, name).enum}
        yield Compared("botocore", f"{service} {name}", "words", joined(sorted(ours)), joined(sorted(theirs)))
    interface = set(shape("ec2", "NetworkInterfaceType").enum)
    for word in {word for kind in instances().values() for card in kind.cards for word in card.types}:
        yield Compared("botocore", "ec2 NetworkInterfaceType", word, "known", "known" if word in interface else None)


def botocore_ranges() -> Iterator[Compared]:
    """Yield ranges and patterns of parameters."""
    lustre, zfs, all_limits = storage().fsx_lustre, storage().fsx_openzfs, limits()
    throughputs = [value for row in lustre.deployments for value in row.throughput]
    names, tags = all_limits.names.rules, all_limits.tags
    rows: list[tuple[str, str, str, object]] = [
        ("fsx", "PerUnitStorageThroughput", "range", (min(throughputs), max(throughputs))),
        ("fsx", "AutomaticBackupRetentionDays", "range", lustre.backups.days),
        ("fsx", "AutomaticBackupRetentionDays", "range", zfs.backups.days),
        ("fsx", "MetadataIops", "range", (lustre.metadata_iops[0], lustre.metadata_iops_max)),
        ("fsx", "IntegerRecordSizeKiB", "range", zfs.record_kib),
        (
            "fsx",
            "ThroughputCapacityMbps",
            "range",
            (lustre.intelligent_tiering.throughput_step, lustre.intelligent_tiering.throughput_max),
        ),
        ("fsx", "Tags", "max", tags.most),
        ("fsx", "TagKey", "max", tags.key_characters),
        ("fsx", "TagValue", "max", tags.value_characters),
        ("efs", "ProvisionedThroughputInMibps", "min", storage().efs.provisioned_least_mibps),
        ("logs", "LogGroupName", "range", names["log_group"].characters),
        ("logs", "LogGroupName", "pattern", names["log_group"].pattern),
        ("ec2", "LaunchTemplateName", "range", names["launch_template"].characters),
        ("ec2", "LaunchTemplateName", "pattern", names["launch_template"].pattern),
        ("iam", "roleNameType", "range", names["iam_role"].characters),
        ("iam", "roleNameType", "pattern", names["iam_role"].pattern),
    ]
    for service, name, constraint, ours in rows:
        metadata = shape(service, name).metadata
        theirs = (metadata["min"], metadata["max"]) if constraint == "range" else metadata[constraint]
        if constraint == "pattern":
            ours, theirs = re.sub(r"\\(?=[().])", "", str(ours)), re.sub(r"\\(?=[().])", "", str(theirs))
            ours, theirs = joined(sorted(ours)), joined(sorted(theirs))
        elif isinstance(ours, int):
            theirs = int(theirs)
        yield Compared("botocore", f"{service} {name}", constraint, str(ours), str(theirs))


def botocore_regions() -> Iterator[Compared]:
    """Yield regions by partition, their names, and the regions with an endpoint of a service."""
    data = botocore.session.get_session().get_data("endpoints")
    words = {
        "efs": "elasticfilesystem",
        "batch": "batch",
        "sagemaker": "api.sagemaker",
        "backup": "backup",
    }
    words |= {"rolesanywhere": "rolesanywhere", "managed_prometheus": "aps", "managed_grafana": "grafana"}
    words |= {"direct_connect": "directconnect", "datasync": "datasync"}
    for partition in data["partitions"]:
        if partition["partition"] not in ("aws", "aws-us-gov", "aws-cn"):
            continue
        for region, described in partition["regions"].items():
            ours = regions().get(region)
            yield Compared("botocore", region, "partition", ours.partition if ours else None, partition["partition"])
            yield Compared("botocore", region, "name", ours.name if ours else None, described["description"])
            for word, service in words.items():
                theirs = region in partition["services"].get(service, {"endpoints": {}})["endpoints"]
                yield Compared("botocore", region, word, str(bool(ours and word in ours.services)), str(theirs))
            fsx = region in partition["services"]["fsx"]["endpoints"]
            mine = ours is not None and not ours.services.isdisjoint(("fsx_lustre", "fsx_openzfs"))
            yield Compared("botocore", region, "fsx", str(mine), str(fsx))
