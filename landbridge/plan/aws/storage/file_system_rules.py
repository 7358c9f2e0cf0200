"""Security group rules of FSx and EFS file systems."""

from collections.abc import Iterator
from typing import Literal

from landbridge.catalog.aws.limits import limits
from landbridge.catalog.aws.storage import Ports
from landbridge.environment import Environment, FsxLustre, FsxOpenZfs
from landbridge.plan.args import Args
from landbridge.plan.storage import Share, ports

_NFS_PORT = 2049
#: Security groups of the controller and of login hosts in AWS, which mount file systems too.
_SERVICE_CLIENT_GROUPS = 2


class FileSystemSecurityGroupRule(Args):
    """Security group rule of a file system. `peer` is the file system's own group, or each client's group.

    A rule with a client becomes two rules: this direction in the file system's group, the opposite one in the client's
    group.
    """

    key: str
    direction: Literal["in", "out"]
    peer: Literal["self", "client"]
    protocol: str
    ports: tuple[int, int] | None
    why: str


def file_system_security_group_rules(environment: Environment, share: Share) -> tuple[FileSystemSecurityGroupRule, ...]:
    """Return the security group rules of a file system and its clients."""
    return tuple(_security_group_rules(share, share_clients(environment, share), room_for_rules(environment)))


def share_clients(environment: Environment, share: Share) -> int:
    """Return the number of client security groups of a file system: one for each pool; services mount NFS shares too."""
    services = environment.aws.services is not None and not isinstance(share, FsxLustre)
    return len(environment.aws.pools) + (_SERVICE_CLIENT_GROUPS if services else 0)


def room_for_rules(environment: Environment) -> int:
    """Return the account's limit of rules in a security group for each direction."""
    return environment.aws.quotas.get("L-0EA8095F", limits().security_groups.rules)


def _security_group_rules(share: Share, client_count: int, max_rules: int) -> Iterator[FileSystemSecurityGroupRule]:
    """Yield the rules between the servers and the clients.

    Lustre servers connect to each other and back to their clients; NFS servers only answer. EFA needs rules for all
    protocols that refer to security groups, not to CIDR ranges. If the rules for all clients would exceed the limit of
    a group, Lustre's ports are opened as one range.
    Source: FSx for Lustre User Guide, "File system access control with Amazon VPC"; FSx for OpenZFS and EFS User
    Guides.
    """
    if isinstance(share, FsxLustre) and share.efa:
        for peer in ("self", "client"):
            for direction in ("in", "out"):
                yield _rule_with_ports(f"{peer}-{direction}", direction, peer, "-1", None, "Lustre over EFA")
        return
    is_lustre = isinstance(share, FsxLustre)
    port_ranges = _ports(share)
    if (client_count + is_lustre) * len(port_ranges) > max_rules:
        first = min(port_range.first for port_range in port_ranges)
        last = max(port_range.last for port_range in port_ranges)
        port_ranges = (port_ranges[0].model_copy(update={"first": first, "last": last}),)
    for port_range in port_ranges:
        port_span, directions = (port_range.first, port_range.last), ("in", "out") if is_lustre else ("in",)
        for peer in ("self", "client") if is_lustre else ("client",):
            for direction in directions:
                key = f"{peer}-{direction}-{port_range.protocol}-{port_range.first}"
                yield _rule_with_ports(
                    key, direction, peer, port_range.protocol, port_span, "Lustre" if is_lustre else "NFS"
                )


def _ports(share: Share) -> tuple[Ports, ...]:
    """Return the open ports. OpenZFS is mounted as NFS 4, which needs no portmapper, no mountd and no UDP.

    Source: RFC 7530, sections 1.4 and 3.1 (one well-known port, over TCP).
    components/parts/file_systems/openzfs.py mounts 4.2.
    """
    all_ports = ports(share)
    if isinstance(share, FsxOpenZfs):
        return tuple(port for port in all_ports if (port.protocol, port.first) == ("tcp", _NFS_PORT))
    return all_ports


def _rule_with_ports(
    key: str, direction: str, peer: str, protocol: str, ports: tuple[int, int] | None, why: str
) -> FileSystemSecurityGroupRule:
    rule = {"key": key, "direction": direction, "peer": peer, "protocol": protocol, "ports": ports, "why": why}
    return FileSystemSecurityGroupRule.model_validate(rule)
