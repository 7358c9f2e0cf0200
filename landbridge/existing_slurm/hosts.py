"""Hosts and addresses of a cluster that runs already, from its files and from a hosts file."""

import re
from ipaddress import IPv4Address

from landbridge.existing_slurm.cluster import ExistingCluster
from landbridge.existing_slurm.names import expand_names
from landbridge.existing_slurm.request import AdoptRequest
from landbridge.hostlist import HostlistError

#: Source: slurm.conf(5), SlurmctldHost: name, and its address in parentheses if it differs.
_CONTROLLER = re.compile(r"([^()\s]+)(?:\(([^()\s]+)\))?")


def controllers(cluster: ExistingCluster) -> dict[str, str]:
    """Return the address text of each controller, primary first; empty text if slurm.conf has none.

    ControlMachine and BackupController are the names before Slurm 18.08, which Slurm still reads.
    """
    addresses: dict[str, str] = {}
    for pair in cluster.settings.get("slurmctldhost", ()):
        if (match := _CONTROLLER.fullmatch(pair.value)) is not None:
            addresses[match[1].casefold()] = match[2] or ""
    if not addresses:
        for name, address in (("ControlMachine", "ControlAddr"), ("BackupController", "BackupAddr")):
            if host := cluster.value(name):
                addresses[host.casefold()] = cluster.value(address)
    return addresses


def node_addresses(cluster: ExistingCluster) -> dict[str, str]:
    """Return the text of NodeAddr by node, or of NodeHostname, or the node's name. Slurm connects to it.

    A line whose lists differ in length is left out: Slurm itself does not start with it.
    """
    texts: dict[str, str] = {}
    for group in cluster.nodes:
        listed = group.value("NodeAddr") or group.value("NodeHostname")
        try:
            targets = expand_names(listed) if listed else list(group.names)
        except HostlistError:
            continue
        if len(targets) == len(group.names):
            texts |= dict(zip(group.names, targets, strict=True))
    return texts


def known_addresses(cluster: ExistingCluster, request: AdoptRequest) -> dict[str, IPv4Address]:
    """Return the addresses of controllers and nodes that are in slurm.conf or in the hosts file, by name in lower case."""
    texts = {**node_addresses(cluster), **{name: text or name for name, text in controllers(cluster).items()}}
    addresses: dict[str, IPv4Address] = {}
    for name, text in texts.items():
        address = _address(text, request) or request.addresses.get(name.casefold())
        if address is not None:
            addresses[name.casefold()] = address
    return addresses


def _address(text: str, request: AdoptRequest) -> IPv4Address | None:
    try:
        return IPv4Address(text)
    except ValueError:
        return request.addresses.get(text.casefold())
