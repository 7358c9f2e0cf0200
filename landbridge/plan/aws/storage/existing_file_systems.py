"""Existing FSx and EFS file systems: their mounts, and the rules that their clients' security groups need.

AWS derives a file system's DNS name from its id and region, so that the plan needs no query.
Source: FSx for Lustre User Guide, "Mounting from an Amazon EC2 instance"; FSx for OpenZFS User Guide, "Mounting volumes"; FSx for ONTAP
User Guide, "Mounting volumes on Linux clients"; EFS User Guide, "Mounting with a DNS name" and "Mounting with EFS access points".
"""

from collections.abc import Iterator, Mapping
from typing import Literal

from landbridge.catalog.aws.storage import Ports
from landbridge.catalog.aws.storage import storage as facts
from landbridge.environment import (
    Environment,
    ExistingEfs,
    ExistingLustre,
    ExistingOntap,
    ExistingOpenZfs,
    ExistingShare,
)
from landbridge.plan.args import Args, tags
from landbridge.plan.aws.node_security_group import SecurityGroupRule, pool_security_group_rules, rule_description
from landbridge.plan.aws.storage.efs_access import mount_options
from landbridge.plan.aws.storage.file_system import LUSTRE_OPTIONS, NFS_OPTIONS
from landbridge.plan.network.dns import endpoint_domain
from landbridge.plan.storage import existing_zones

_NFS_PORT = 2049


class ExistingFileSystem(Args):
    """Existing file system and the arguments of its mount: `mount -t type -o options source mount`."""

    #: Key in the stack's outputs.
    share: str
    kind: Literal["existing_lustre", "existing_openzfs", "existing_ontap", "existing_efs"]
    id: str
    dns_name: str
    mount_name: str | None
    source: str
    type: Literal["lustre", "nfs4", "efs"]
    options: str
    mount: str
    zones: tuple[str, ...]


class ExistingFileSystemsArgs(Args):
    """Existing file systems, and the rules of their clients' groups: pools mount all, hosts of services only NFS.

    File systems with the same ports and peers share a rule: EC2 refuses a second rule that is equal to one of the same group.
    """

    cluster: str
    file_systems: tuple[ExistingFileSystem, ...]
    pool_rules: tuple[SecurityGroupRule, ...]
    service_rules: tuple[SecurityGroupRule, ...]
    tags: dict[str, str]


def existing_file_systems_args(environment: Environment) -> ExistingFileSystemsArgs | None:
    """Plan the mounts of existing file systems; None without one."""
    shares = environment.storage.existing()
    if not shares:
        return None
    return ExistingFileSystemsArgs(
        cluster=environment.name,
        file_systems=tuple(_planned(environment.region, path[-1], share) for path, share in shares.items()),
        pool_rules=existing_share_rules(environment),
        service_rules=_rules(environment, {path: share for path, share in shares.items() if on_login_hosts(share)}),
        tags=tags(environment),
    )


def on_login_hosts(share: ExistingShare) -> bool:
    """Return true if login hosts in AWS mount it: they have no Lustre client."""
    return not isinstance(share, ExistingLustre)


def existing_share_rules(environment: Environment) -> tuple[SecurityGroupRule, ...]:
    """Return the rules that each pool's security group gets for existing file systems, except those that it has anyway."""
    present = {_content(rule) for rule in pool_security_group_rules(environment)}
    rules = _rules(environment, environment.storage.existing())
    return tuple(rule for rule in rules if _content(rule) not in present)


def server_ports(share: ExistingShare) -> tuple[Ports, ...]:
    """Return the ports of the servers. NFS 4 has one port, and needs no portmapper and no mountd.

    Source: RFC 7530, sections 1.4 and 3.1; FSx User Guides, "File system access control with Amazon VPC".
    """
    storage_facts = facts()
    all_ports = {
        "existing_lustre": storage_facts.fsx_lustre.ports,
        "existing_openzfs": storage_facts.fsx_openzfs.ports,
        "existing_ontap": storage_facts.fsx_ontap.ports,
        "existing_efs": storage_facts.efs.ports,
    }[share.kind]
    if isinstance(share, ExistingLustre):
        return all_ports
    return tuple(port for port in all_ports if (port.protocol, port.first) == ("tcp", _NFS_PORT))


def _rules(environment: Environment, shares: Mapping[tuple[str, ...], ExistingShare]) -> tuple[SecurityGroupRule, ...]:
    names: dict[tuple[Literal["in", "out"], str, Ports], list[str]] = {}
    for path, share in shares.items():
        for direction, peer, ports in _connections(environment, share):
            names.setdefault((direction, peer, ports), []).append(path[-1])
    return tuple(
        SecurityGroupRule(
            # Independent of the file systems' names: a further one changes descriptions only.
            key=f"existing-{direction}-{peer.replace('/', '-')}-{ports.protocol}-{ports.first}",
            direction=direction,
            peer=peer,
            protocol=ports.protocol,
            ports=(ports.first, ports.last),
            why=rule_description(f"existing file systems: {', '.join(share_names)}"),
        )
        for (direction, peer, ports), share_names in names.items()
    )


def _connections(environment: Environment, share: ExistingShare) -> Iterator[tuple[Literal["in", "out"], str, Ports]]:
    """Yield the connections of a client. Lustre servers connect back to their clients.

    Source: FSx for Lustre User Guide, "File system access control with Amazon VPC"; FSx API Reference,
    CreateFileSystemOntapConfiguration (EndpointIpAddressRange).
    """
    cidrs = tuple(str(cidr) for cidr in (environment.aws.cidr, *environment.aws.secondary_cidrs))
    directions: tuple[Literal["in", "out"], ...] = ("out", "in") if isinstance(share, ExistingLustre) else ("out",)
    peers = list(share.security_groups or cidrs)
    # The endpoints of a file system in two zones have addresses of this range, which no network interface has.
    if isinstance(share, ExistingOpenZfs | ExistingOntap) and share.endpoint_cidr is not None:
        peers.append(str(share.endpoint_cidr))
    for direction in directions:
        for peer in dict.fromkeys(peers):
            for ports in server_ports(share):
                yield direction, peer, ports


def _content(rule: SecurityGroupRule) -> tuple[object, ...]:
    return rule.direction, rule.peer, rule.protocol, rule.ports


def _planned(region: str, name: str, share: ExistingShare) -> ExistingFileSystem:
    service = "efs" if isinstance(share, ExistingEfs) else "fsx"
    dns_name = f"{share.id}.{endpoint_domain(service, region)}"
    mount_name = share.mount_name if isinstance(share, ExistingLustre) else None
    kind: Literal["lustre", "nfs4", "efs"] = "nfs4"
    if isinstance(share, ExistingLustre):
        kind, source, options = "lustre", f"{dns_name}@tcp:/{share.mount_name}", LUSTRE_OPTIONS
    elif isinstance(share, ExistingOpenZfs):
        source, options = f"{dns_name}:{share.volume_path}", f"nfsvers=4.2,{NFS_OPTIONS}"
    elif isinstance(share, ExistingOntap):
        dns_name = f"{share.svm}.{dns_name}"
        source, options = f"{dns_name}:{share.junction_path}", f"nfsvers=4.1,{NFS_OPTIONS}"
    elif share.tls:
        # An access point sets the folder itself.
        kind, source, options = "efs", f"{share.id}:{share.path}", mount_options(share.access_point)
    else:
        source, options = f"{dns_name}:{share.path}", f"nfsvers=4.1,{NFS_OPTIONS}"
    return ExistingFileSystem(
        share=name,
        kind=share.kind,
        id=share.id,
        dns_name=dns_name,
        mount_name=mount_name,
        source=source,
        type=kind,
        options=f"{options},ro" if share.read_only else options,
        mount=share.mount,
        zones=existing_zones(share),
    )
