"""Check of the security groups of existing file systems: the servers' ports are open to the nodes."""

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Any

from landbridge.catalog.aws.storage import Ports
from landbridge.environment import ExistingEfs, ExistingLustre, ExistingShare
from landbridge.findings import DataPath, Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error, warning
from landbridge.live.preflight.storage.existing_storage import (
    efs_description,
    existing_shares,
    fsx_description,
    mount_targets,
)
from landbridge.plan.aws.storage.existing_file_systems import server_ports

_RULE = "live-existing-file-system-ports"


@check(
    "ports of existing file systems",
    "fsx:DescribeFileSystems",
    "elasticfilesystem:DescribeFileSystems",
    "elasticfilesystem:DescribeMountTargets",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSecurityGroups",
)
def existing_file_system_ports(scene: Scene) -> Iterator[Finding]:
    """The security groups of an existing file system permit the pools, or the VPC's CIDR blocks, on the servers' ports.

    Landbridge opens the ports in the pools' groups only. The groups of a file system are its owner's: without an ingress rule a mount
    waits until its timeout. Before the first `up` the pools have no groups yet, and rules can name the CIDR blocks only.
    Source: FSx User Guides, "File system access control with Amazon VPC"; EFS User Guide, "Using VPC security groups".
    """
    pool_groups = _pool_groups(scene)
    for path, share in existing_shares(scene):
        group_ids = _groups(scene, share)
        if group_ids is None:
            continue
        listed = set(share.security_groups)
        if listed and listed != set(group_ids):
            message = f"the security groups of {share.id} are {', '.join(sorted(group_ids))}"
            fix = f"write security_groups: [{', '.join(sorted(group_ids))}]"
            yield error(_RULE, message, (*path, "security_groups"), fix)
            continue
        descriptions = scene.aws.ask("ec2", "describe_security_groups", GroupIds=sorted(group_ids))["SecurityGroups"]
        yield from _closed(scene, path, share, descriptions, pool_groups)


def _closed(
    scene: Scene, path: DataPath, share: ExistingShare, groups: Any, pool_groups: dict[str, str]
) -> Iterator[Finding]:
    """Yield a finding for each direction in which ports are closed; Lustre servers also connect to clients."""
    aws = scene.environment.aws
    cidrs = [aws.cidr, *aws.secondary_cidrs]
    directions = [("IpPermissions", "ingress", "from")]
    directions += [("IpPermissionsEgress", "egress", "to")] if isinstance(share, ExistingLustre) else []
    for key, command, preposition in directions:
        rules = [rule for group in groups for rule in group.get(key) or ()]
        closed = [
            ports
            for ports in server_ports(share)
            if not all(_permits_cidr(rules, ports, cidr) for cidr in cidrs)
            and not (pool_groups and all(_permits_group(rules, ports, group) for group in pool_groups.values()))
        ]
        if not closed:
            continue
        spans = ", ".join(
            f"{ports.protocol} {ports.first}" + (f"-{ports.last}" if ports.last > ports.first else "")
            for ports in closed
        )
        peers = list(pool_groups) or [str(cidr) for cidr in cidrs]
        names = ", ".join(str(group["GroupId"]) for group in groups)
        message = f"{names} of {share.id} does not allow {spans} {preposition} {', '.join(peers)}"
        peer = "--source-group" if pool_groups else "--cidr"
        fix = f"aws ec2 authorize-security-group-{command} --group-id {groups[0]['GroupId']} for these ports" + (
            f", {peer} {', '.join(pool_groups.values() or peers)}"
        )
        # Without groups of pools, the owner may intend a rule for a group that `up` creates.
        yield (error if pool_groups else warning)(_RULE, message, path, fix)


def _groups(scene: Scene, share: ExistingShare) -> set[str] | None:
    """Return the security groups of a file system's network interfaces; None if it does not exist or has none."""
    if isinstance(share, ExistingEfs):
        targets = mount_targets(scene, share) if efs_description(scene, share) is not None else ()
        interface_ids = [str(target["NetworkInterfaceId"]) for target in targets]
    else:
        interface_ids = list((fsx_description(scene, share) or {}).get("NetworkInterfaceIds") or ())
    if not interface_ids:
        return None
    filters = [{"Name": "network-interface-id", "Values": sorted(interface_ids)}]
    interfaces = scene.aws.all("ec2", "describe_network_interfaces", "NetworkInterfaces", Filters=filters)
    return {str(group["GroupId"]) for interface in interfaces for group in interface["Groups"]} or None


def _pool_groups(scene: Scene) -> dict[str, str]:
    """Return the ids of the pools' security groups by name; empty before `up` has created them all."""
    if not scene.environment.storage.existing():
        return {}
    names = [f"{scene.environment.name}-{pool.name}" for pool in scene.environment.aws.pools]
    filters = [*scene.mine(), {"Name": "group-name", "Values": names}]
    groups = scene.aws.all("ec2", "describe_security_groups", "SecurityGroups", Filters=filters)
    by_name = {str(group["GroupName"]): str(group["GroupId"]) for group in groups}
    return {name: by_name[name] for name in names} if set(by_name) == set(names) else {}


def _permits_cidr(rules: Any, ports: Ports, cidr: IPv4Network) -> bool:
    return any(
        _covers(rule, ports)
        and any(cidr.subnet_of(IPv4Network(entry["CidrIp"], strict=False)) for entry in rule.get("IpRanges") or ())
        for rule in rules
    )


def _permits_group(rules: Any, ports: Ports, group_id: str) -> bool:
    return any(
        _covers(rule, ports) and any(pair.get("GroupId") == group_id for pair in rule.get("UserIdGroupPairs") or ())
        for rule in rules
    )


def _covers(rule: Any, ports: Ports) -> bool:
    if rule.get("IpProtocol") == "-1":
        return True
    in_range = rule.get("FromPort", 0) <= ports.first and rule.get("ToPort", -1) >= ports.last
    return bool(rule.get("IpProtocol") == ports.protocol and in_range)
