"""Check of existing FSx for OpenZFS and ONTAP volumes: the mounted path exists, and nodes reach its endpoint."""

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Any

from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.environment import ExistingOntap, ExistingOpenZfs
from landbridge.findings import DataPath, Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error, warning
from landbridge.live.preflight.storage.existing_storage import TYPES, existing_shares, fsx_description

_RULE = "live-existing-volume"


@check(
    "volumes of existing file systems",
    "fsx:DescribeFileSystems",
    "fsx:DescribeStorageVirtualMachines",
    "fsx:DescribeVolumes",
    "ec2:DescribeRouteTables",
)
def existing_volume(scene: Scene) -> Iterator[Finding]:
    """The volume of an existing OpenZFS or ONTAP file system exists, its exports permit the nodes, and its endpoint is routed.

    In two zones the endpoint has an address that moves between the servers: nodes reach it over routes that FSx adds to the route
    tables of the file system only. The export policies of ONTAP are not readable with the FSx API.
    Source: FSx API Reference, DescribeVolumes, DescribeStorageVirtualMachines, OntapFileSystemConfiguration (RouteTableIds).
    """
    for path, share in existing_shares(scene):
        if not isinstance(share, ExistingOpenZfs | ExistingOntap):
            continue
        system = fsx_description(scene, share)
        if system is None or system["FileSystemType"] != TYPES[share.kind]:
            continue  # live-existing-file-system reports it
        if isinstance(share, ExistingOpenZfs):
            yield from _openzfs(scene, path, share)
            configuration = system.get("OpenZFSConfiguration") or {}
        else:
            yield from _ontap(scene, path, share)
            configuration = system.get("OntapConfiguration") or {}
        yield from _endpoint(scene, path, share, configuration)


def _openzfs(scene: Scene, path: DataPath, share: ExistingOpenZfs) -> Iterator[Finding]:
    volumes = _volumes(scene, "file-system-id", share.id)
    by_path = {volume["OpenZFSConfiguration"]["VolumePath"]: volume["OpenZFSConfiguration"] for volume in volumes}
    volume = by_path.get(share.volume_path)
    if volume is None:
        message = f"{share.id} has no volume {share.volume_path}"
        yield error(_RULE, message, (*path, "volume_path"), f"its volumes: {', '.join(sorted(by_path)) or 'none'}")
        return
    clients = [
        str(client["Clients"])
        for export in volume.get("NfsExports") or ()
        for client in export.get("ClientConfigurations") or ()
    ]
    aws = scene.environment.aws
    for cidr in (aws.cidr, *aws.secondary_cidrs) if clients else ():
        if not any(_exports_to(client, cidr) for client in clients):
            message = (
                f"the NFS exports of {share.volume_path} in {share.id} have no client {cidr}: {', '.join(clients)}"
            )
            fix = "its owner adds the range with aws fsx update-volume, or ignore this finding if the exports name all subnets"
            yield warning(_RULE, message, (*path, "volume_path"), fix)


def _ontap(scene: Scene, path: DataPath, share: ExistingOntap) -> Iterator[Finding]:
    try:
        (machine,) = scene.aws.ask("fsx", "describe_storage_virtual_machines", StorageVirtualMachineIds=[share.svm])[
            "StorageVirtualMachines"
        ]
    except AwsRefusal as refused:
        if refused.kind is not RefusalKind.ANSWER:
            raise
        yield error(_RULE, f"there is no storage virtual machine {share.svm}", (*path, "svm"))
        return
    if machine["FileSystemId"] != share.id:
        message = f"{share.svm} is in {machine['FileSystemId']}, not in {share.id}"
        yield error(_RULE, message, (*path, "svm"), f"write id: {machine['FileSystemId']}")
        return
    volumes = _volumes(scene, "storage-virtual-machine-id", share.svm)
    junctions = {volume["OntapConfiguration"].get("JunctionPath") for volume in volumes} - {None}
    if share.junction_path not in junctions:
        message = f"{share.svm} has no volume with the junction path {share.junction_path}"
        fix = f"its junction paths: {', '.join(sorted(junctions)) or 'none'}"
        yield error(_RULE, message, (*path, "junction_path"), fix)


def _endpoint(
    scene: Scene, path: DataPath, share: ExistingOpenZfs | ExistingOntap, configuration: Any
) -> Iterator[Finding]:
    """Yield findings about the endpoint of a file system in two zones."""
    endpoints = configuration.get("EndpointIpAddressRange")
    if endpoints is None:
        return
    aws = scene.environment.aws
    inside = any(IPv4Network(endpoints).subnet_of(cidr) for cidr in (aws.cidr, *aws.secondary_cidrs))
    covered = share.endpoint_cidr is not None and IPv4Network(endpoints).subnet_of(share.endpoint_cidr)
    if not covered and (share.security_groups or not inside):
        message = f"the endpoints of {share.id} have addresses of {endpoints}, and no rule of the nodes' group names it"
        yield error(_RULE, message, (*path, "endpoint_cidr"), f"write endpoint_cidr: {endpoints}")
    if aws.vpc is None:
        return
    filters = [{"Name": "vpc-id", "Values": [aws.vpc.id]}]
    tables = scene.aws.all("ec2", "describe_route_tables", "RouteTables", Filters=filters)
    for zone, subnet in aws.vpc.subnets.items():
        table_id = _table(tables, subnet.id)
        if table_id is not None and table_id not in (configuration.get("RouteTableIds") or ()):
            message = f"{share.id} has no routes in {table_id}, the route table of {subnet.id} ({zone})"
            fix = f"its owner adds the table: aws fsx update-file-system --file-system-id {share.id}, AddRouteTableIds"
            yield error(_RULE, message, (*path, "id"), fix)


def _table(tables: Any, subnet_id: str) -> str | None:
    """Return the route table of a subnet: its own, else the main one."""
    associations = [(table["RouteTableId"], entry) for table in tables for entry in table.get("Associations") or ()]
    of_subnet = [str(table_id) for table_id, entry in associations if entry.get("SubnetId") == subnet_id]
    main = [str(table_id) for table_id, entry in associations if entry.get("Main")]
    return next(iter([*of_subnet, *main]), None)


def _volumes(scene: Scene, name: str, value: str) -> Any:
    return scene.aws.all("fsx", "describe_volumes", "Volumes", Filters=[{"Name": name, "Values": [value]}])


def _exports_to(client: str, cidr: IPv4Network) -> bool:
    if client == "*":
        return True
    try:
        return cidr.subnet_of(IPv4Network(client, strict=False))
    except ValueError:
        return False
