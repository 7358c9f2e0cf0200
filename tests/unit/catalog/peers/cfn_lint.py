"""cfn-lint's data: price lists by region, CloudFormation's schemas, and constraints that its authors wrote by hand."""

import functools
import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from landbridge.catalog import instances, limits, offered, regions, storage
from tests.unit.catalog.peers.compared import Compared, joined, snake


def cfn_lint_offerings() -> Iterator[Compared]:
    """Yield whether the price list of a region has each type."""
    path = ("data", "schemas", "extensions", "aws_ec2_instance", "instancetype_enum.json")
    listed = json.loads(files("cfnlint").joinpath(*path).read_text())
    for region in regions():
        if region not in listed:
            continue
        theirs = set(listed[region]["enum"])
        for name, kind in instances().items():
            yield Compared("cfn-lint", name, f"in {region}", str(offered(kind, region)), str(name in theirs))


@functools.cache
def _schema(kind: str) -> Mapping[str, Any]:
    from cfnlint.schema import PROVIDER_SCHEMA_MANAGER

    schema: Mapping[str, Any] = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", kind).schema
    return schema


def cfn_lint_schemas() -> Iterator[Compared]:
    """Yield enums, ranges and patterns of CloudFormation's schemas."""
    all_limits, facts = limits(), storage()
    days = _schema("AWS::Logs::LogGroup")["properties"]["RetentionInDays"]["enum"]
    yield Compared("cfn-lint", "logs Days", "values", joined(all_limits.log_retention.days), joined(days))
    efs = _schema("AWS::EFS::FileSystem")["properties"]
    for ours, property_ in ((facts.efs.performance, "PerformanceMode"), (facts.efs.throughput, "ThroughputMode")):
        theirs = {snake(word) for word in efs[property_]["enum"]}
        yield Compared("cfn-lint", f"efs {property_}", "words", joined(sorted(ours)), joined(sorted(theirs)))
    least = int(efs["ProvisionedThroughputInMibps"]["minimum"])
    yield Compared("cfn-lint", "efs", "provisioned", facts.efs.provisioned_least_mibps, least)
    strategies = _schema("AWS::EC2::PlacementGroup")["properties"]["Strategy"]["enum"]
    ours = sorted({word for kind in instances().values() for word in kind.placement})
    yield Compared("cfn-lint", "placement group", "words", joined(ours), joined(sorted(strategies)))
    tunnel = _schema("AWS::EC2::VPNConnection")["definitions"]["VpnTunnelOptionsSpecification"]["properties"]
    for phase, seconds in ((1, all_limits.vpn.phase1_seconds), (2, all_limits.vpn.phase2_seconds)):
        lifetime = tunnel[f"Phase{phase}LifetimeSeconds"]
        yield Compared(
            "cfn-lint", "vpn", f"phase {phase}", joined(seconds), joined((lifetime["minimum"], lifetime["maximum"]))
        )
    yield Compared("cfn-lint", "vpn", "dpd", all_limits.vpn.dpd_least_seconds, tunnel["DPDTimeoutSeconds"]["minimum"])
    asn = _schema("AWS::EC2::CustomerGateway")["properties"]["BgpAsnExtended"]["maximum"]
    yield Compared("cfn-lint", "vpn", "asn", all_limits.vpn.asn[1], asn)
    group, role = _schema("AWS::Logs::LogGroup")["properties"], _schema("AWS::IAM::Role")["properties"]
    for ours_, theirs_ in (
        (all_limits.names.rules["log_group"], group["LogGroupName"]),
        (all_limits.names.rules["iam_role"], role["RoleName"]),
    ):
        length = joined((theirs_["minLength"], theirs_["maxLength"]))
        yield Compared("cfn-lint", "names", theirs_["pattern"], joined(ours_.characters), length)
    tag = _schema("AWS::IAM::Role")["definitions"]["Tag"]["properties"]
    lengths = (role["Tags"]["maxItems"], tag["Key"]["maxLength"], tag["Value"]["maxLength"])
    ours_tags = (all_limits.tags.most, all_limits.tags.key_characters, all_limits.tags.value_characters)
    yield Compared("cfn-lint", "tags", "most", joined(ours_tags), joined(lengths))
    yield from _cfn_lint_extensions()


def _cfn_lint_extensions() -> Iterator[Compared]:
    """Yield constraints that cfn-lint's authors wrote by hand."""
    folder = files("cfnlint").joinpath("data", "schemas", "extensions")
    sizes = json.loads(folder.joinpath("aws_fsx_filesystem", "storage_capacity.json").read_text())
    ranges = {
        condition["if"]["properties"]["FileSystemType"]["enum"][0]: condition["then"]["properties"]["StorageCapacity"]
        for condition in sizes["allOf"]
    }
    least = min(size for row in storage().fsx_lustre.deployments for size in row.sizes)
    yield Compared("cfn-lint", "fsx lustre", "least capacity", least, ranges["LUSTRE"]["minimum"])
    zfs = (ranges["OPENZFS"]["minimum"], ranges["OPENZFS"]["maximum"])
    yield Compared("cfn-lint", "fsx openzfs", "capacity", joined(storage().fsx_openzfs.capacity_gib), joined(zfs))
    volumes = json.loads(folder.joinpath("aws_ec2_instance", "blockdevicemappings.json").read_text())
    for condition in volumes["allOf"]:
        name, iops = condition["if"]["properties"]["VolumeType"]["const"], condition["then"]["properties"]["Iops"]
        ours = limits().volumes.types[name].iops
        theirs = joined((iops["minimum"], iops["maximum"]))
        yield Compared("cfn-lint", f"ebs {name}", "iops", joined(ours or ()), theirs)


def cfn_lint_services() -> Iterator[Compared]:
    """Yield whether each region has the CloudFormation types of a service."""
    kinds = {"efs": "AWS::EFS::FileSystem", "batch": "AWS::Batch::ComputeEnvironment"}
    kinds |= {"hyperpod": "AWS::SageMaker::Cluster", "pcs": "AWS::PCS::Cluster", "backup": "AWS::Backup::BackupVault"}
    kinds |= {"rolesanywhere": "AWS::RolesAnywhere::Profile", "managed_prometheus": "AWS::APS::Workspace"}
    kinds |= {"managed_grafana": "AWS::Grafana::Workspace", "direct_connect": "AWS::DirectConnect::Connection"}
    kinds |= {"datasync": "AWS::DataSync::Task"}
    for region, ours in regions().items():
        path = files("cfnlint").joinpath("data", "schemas", "providers", f"{region}.json")
        theirs = json.loads(path.read_text()) if path.is_file() else None
        yield Compared("cfn-lint", region, "region", "known", "known" if theirs is not None else None)
        for word, kind in kinds.items() if theirs is not None else ():
            yield Compared("cfn-lint", region, word, str(word in ours.services), str(kind in theirs))
        if theirs is not None:
            mine = not ours.services.isdisjoint(("fsx_lustre", "fsx_openzfs"))
            yield Compared("cfn-lint", region, "fsx", str(mine), str("AWS::FSx::FileSystem" in theirs))
