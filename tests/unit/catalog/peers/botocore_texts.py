"""Values that exist only in the documentation of botocore's service models: each is located by the words around it."""

import re
from collections.abc import Iterator

from landbridge.catalog import limits, storage
from tests.unit.catalog.peers.botocore import model, shape
from tests.unit.catalog.peers.compared import Compared, joined


def _text(documentation: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", documentation))


def _member(service: str, structure: str, member: str) -> str:
    return _text(shape(service, structure).members[member].documentation)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(digits.replace(",", "")) for digits in re.findall(r"\d[\d,]*", text))


def _between(text: str, start: str, end: str) -> tuple[int, ...]:
    return _numbers(text.partition(start)[2].partition(end)[0])


def botocore_texts() -> Iterator[Compared]:
    """Yield values that exist only in the documentation of the models."""
    yield from _fsx_texts()
    yield from _ec2_texts()
    days = _between(_text(shape("logs", "Days").documentation), "Possible values are:", ".")
    yield Compared("botocore", "logs Days", "values", joined(limits().log_retention.days), joined(days))


def _fsx_texts() -> Iterator[Compared]:
    lustre, zfs = storage().fsx_lustre, storage().fsx_openzfs
    per_unit = _member("fsx", "CreateFileSystemLustreConfiguration", "PerUnitStorageThroughput")
    for deployment, disks in (("persistent_1", "ssd"), ("persistent_1", "hdd"), ("persistent_2", "ssd")):
        theirs = _between(
            per_unit.partition("Valid values:")[2], f"{deployment.upper()} {disks.upper()} storage:", "MB/s"
        )
        ours = [value for row in lustre.rows(deployment, disks) for value in row.throughput]
        yield Compared("botocore", f"fsx {deployment} {disks}", "throughput", joined(ours), joined(theirs))
    size = _member("fsx", "CreateFileSystemRequest", "StorageCapacity")
    grid = {
        ("persistent_2", "ssd"): _between(size, "SSD storage type, the valid values are", "GiB. For"),
        ("scratch_1", "ssd"): _between(size, "For SCRATCH_1 deployment type, valid values are", "GiB. FSx"),
    }
    for (deployment, disks), theirs in grid.items():
        (row,) = lustre.rows(deployment, disks)
        yield Compared("botocore", f"fsx {deployment} {disks}", "sizes", joined((*row.sizes, row.step)), joined(theirs))
    for row in lustre.rows("persistent_1", "hdd"):
        theirs = re.search(rf"increments of (\d+) GiB for {row.throughput[0]} MB/s/TiB", size)
        yield Compared("botocore", f"fsx hdd {row.throughput[0]}", "step", row.step, int(theirs[1]) if theirs else None)
    zfs_size = _between(size.partition("FSx for OpenZFS")[2], "is from", "GiB (")
    yield Compared("botocore", "fsx openzfs", "capacity", joined(zfs.capacity_gib), joined(_numbers(joined(zfs_size))))
    text = _member("fsx", "CreateFileSystemOpenZFSConfiguration", "ThroughputCapacity")
    for pair, start in (
        (("multi_az_1", "single_az_2"), "SINGLE_AZ_2 , valid values are"),
        (("single_az_1",), "SINGLE_AZ_1 , valid values are"),
    ):
        values = joined(_between(text, start, "MBps"))
        for name in pair:
            yield Compared("botocore", f"fsx {name}", "throughput", joined(zfs.deployments[name].throughput), values)
    iops = _member("fsx", "CreateFileSystemLustreMetadataConfiguration", "Iops")
    theirs = _between(iops, "valid values are", ", and multiples")
    yield Compared("botocore", "fsx metadata", "iops", joined(lustre.metadata_iops), joined(theirs))
    step = re.search(r"multiples of (\d+) up to a maximum of (\d+)", iops)
    ours = f"{lustre.metadata_iops_step} to {lustre.metadata_iops_max}"
    yield Compared("botocore", "fsx metadata", "steps", ours, f"{step[1]} to {step[2]}" if step else None)
    tiering = _between(iops, "Intelligent-Tiering file systems, valid values are", ".")
    yield Compared("botocore", "fsx tiering", "iops", joined(lustre.intelligent_tiering.metadata_iops), joined(tiering))
    cache = _between(_member("fsx", "LustreReadCacheConfiguration", "SizeGiB"), "support a minimum of", "for SSD read")
    yield Compared("botocore", "fsx tiering", "cache", joined(lustre.intelligent_tiering.cache_gib), joined(cache))
    operation = _text(model("fsx").operation_model("CreateDataRepositoryAssociation").documentation)
    most = _between(operation, "a maximum of", "data repository")
    yield Compared("botocore", "fsx repositories", "most", lustre.repositories.most, most[0])
    excluded = re.findall(r"excluding (\w+) deployment", operation)
    yield Compared("botocore", "fsx repositories", "not on", joined(lustre.repositories.not_on), joined(excluded))
    backups = _text(model("fsx").operation_model("CreateBackup").documentation)
    yield Compared(
        "botocore", "fsx backups", "persistent alone", "True", str("A Persistent deployment type" in backups)
    )
    linked = "Are not linked to a data repository" in backups
    yield Compared("botocore", "fsx backups", "not linked", str(lustre.backups.not_with_repositories), str(linked))


def _ec2_texts() -> Iterator[Compared]:
    all_limits = limits()
    for member, part in (("Size", "gib"), ("Iops", "iops"), ("Throughput", "throughput")):
        text = _member("ec2", "CreateVolumeRequest", member)
        for name, kind in all_limits.volumes.types.items():
            ours = getattr(kind, part)
            match = re.search(rf"\b{name}\b[^:]*: ([\d,]+)(?: \( default \))? - ([\d,]+)", text)
            if part == "throughput" and name == "gp3":
                match = re.search(r"Valid Range: ([\d,]+) - ([\d,]+) MiB/s", text)
            if ours is not None:
                theirs = joined(_numbers(f"{match[1]} {match[2]}")) if match else None
                yield Compared("botocore", f"ebs {name}", part, joined(ours), theirs)
    blocks = all_limits.capacity_blocks
    count = _numbers(_member("ec2", "DescribeCapacityBlockOfferingsRequest", "InstanceCount"))
    yield Compared(
        "botocore", "capacity blocks", "instances", joined((blocks.instances, blocks.instances_all)), joined(count)
    )
    hours = _numbers(_member("ec2", "DescribeCapacityBlockOfferingsRequest", "CapacityDurationHours"))
    ours = joined((1, blocks.days, blocks.long_step_days, blocks.long_days))
    yield Compared("botocore", "capacity blocks", "days", ours, joined(hours))
    reserved = _between(_member("ec2", "CreateCapacityReservationRequest", "InstanceCount"), "Valid range:", "$")
    yield Compared("botocore", "reservations", "instances", joined(all_limits.reservations.instances), joined(reserved))
    data = _between(_member("ec2", "RequestLaunchTemplateData", "UserData"), "limited to", "KB")
    yield Compared(
        "botocore", "launch template", "user data", all_limits.launch_template.user_data_bytes, data[0] * 1024
    )
    hops = _between(_member("ec2", "InstanceMetadataOptionsRequest", "HttpPutResponseHopLimit"), "Integers from", "$")
    yield Compared(
        "botocore", "launch template", "hop limit", joined(all_limits.launch_template.hop_limit), joined(hops)
    )
    group = _between(_member("ec2", "CreateSecurityGroupRequest", "GroupName"), "Up to", "characters")
    yield Compared(
        "botocore", "security group", "name", all_limits.names.rules["security_group"].characters[1], group[0]
    )
    yield from _vpn_texts()


def _vpn_texts() -> Iterator[Compared]:
    vpn = limits().vpn

    def tunnel(member: str) -> str:
        return _member("ec2", "VpnTunnelOptionsSpecification", member)

    inside = re.findall(r"169\.254\.\d+\.\d+/30", tunnel("TunnelInsideCidr"))
    yield Compared("botocore", "vpn", "inside reserved", joined(vpn.inside_reserved), joined(inside))
    psk = _between(tunnel("PreSharedKey"), "Must be between", "characters")
    yield Compared("botocore", "vpn", "psk", joined(vpn.psk_characters), joined(psk))
    for phase in (1, 2):
        seconds = _between(tunnel(f"Phase{phase}LifetimeSeconds"), "A value between", ".")
        ours = vpn.phase1_seconds if phase == 1 else vpn.phase2_seconds
        yield Compared("botocore", "vpn", f"phase {phase}", joined(ours), joined(seconds))
    dpd = _between(tunnel("DPDTimeoutSeconds"), "greater than or equal to", ".")
    yield Compared("botocore", "vpn", "dpd", vpn.dpd_least_seconds, dpd[0])
    extended = _between(_member("ec2", "CreateCustomerGatewayRequest", "BgpAsnExtended"), "Valid values:", "$")
    yield Compared("botocore", "vpn", "asn", vpn.asn[1], extended[1])
    private = _numbers(_member("ec2", "TransitGatewayRequestOptions", "AmazonSideAsn").partition("range is")[2])
    ours = [end for pair in vpn.asn_private for end in pair]
    theirs = [number for number in private if number > 64_000]
    yield Compared("botocore", "vpn", "private asn", joined([*ours, vpn.asn_default]), joined(theirs))
