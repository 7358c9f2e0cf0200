"""Bridges of the lab in one network namespace, and one namespace per node; none has a route outside."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sandbox.nspawn.errors import LabError
from sandbox.nspawn.host import shell
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.network import netns


@dataclass(frozen=True)
class LabBridge:
    """A network segment and the operator's addresses on it (with prefix length)."""

    name: str
    operator: tuple[str, ...]


@dataclass(frozen=True)
class LabInterface:
    """One interface of a node: eth0, eth1, ... in the order given. The first address is the primary one."""

    bridge: str
    addresses: tuple[str, ...]


def mac(*parts: object) -> str:
    """Return a fixed, locally administered MAC address: ARP entries stay valid when a node reboots."""
    digest = hashlib.sha256("-".join(str(part) for part in parts).encode()).hexdigest()
    return "02:" + ":".join(digest[at : at + 2] for at in range(0, 10, 2))


def interface(node: str, index: int) -> str:
    """Return the name of the lab's end of a node's interface; at most 15 characters, the kernel's limit."""
    short = node if len(node) <= 12 else hashlib.sha256(node.encode()).hexdigest()[:12]
    return f"v{index}-{short}"


def up(lab: Layout, bridges: Iterable[LabBridge]) -> None:
    """Create the namespace, its bridges and the operator's addresses; existing ones stay unchanged."""
    if not netns.exists(lab.netns):
        shell.run(["ip", "netns", "add", lab.netns])
    # A namespace inherits ip_forward from its host (Docker enables it): the lab's namespace would then route between
    # the sites, outside the tunnel. IPv6 is off on the bridges: its background packets would be counted in captures.
    netns.write_sysctls(lab.netns, {"net.ipv4.ip_forward": "0", "net.ipv6.conf.default.disable_ipv6": "1"})
    present = {link["ifname"] for link in _json(lab.netns, "link", "show")}
    commands = ["link set lo up"]
    for bridge in bridges:
        if bridge.name not in present:
            # Without a fixed address, a bridge takes one of its ports', which changes when a node is removed.
            commands += [
                f"link add {bridge.name} address {mac(lab.name, bridge.name)} type bridge forward_delay 0",
                f"link set {bridge.name} up",
            ]
        commands += [f"addr replace {address} dev {bridge.name}" for address in bridge.operator]
    _batch(lab.netns, commands)


def wire(lab: Layout, node: str, nics: Sequence[LabInterface], routes: Sequence[str]) -> None:
    """Create a new namespace for a node, with interfaces, addresses and routes (`default via ...`, `... dev eth0`)."""
    unwire(lab, node)
    namespace = lab.node_netns(node)
    shell.run(["ip", "netns", "add", namespace])
    netns.write_sysctls(namespace, {"net.ipv4.ip_forward": "0", "net.ipv6.conf.default.disable_ipv6": "1"})
    outside: list[str] = []
    inside = ["link set lo up"]
    for index, nic in enumerate(nics):
        lab_end = interface(node, index)
        outside += [
            f"link add {lab_end} type veth peer name eth{index} address {mac(lab.name, node, index)} netns {namespace}",
            f"link set {lab_end} master {nic.bridge} up",
        ]
        inside += [f"addr add {address} dev eth{index}" for address in nic.addresses]
        inside.append(f"link set eth{index} up")
    inside += [f"route add {route}" for route in routes]
    _batch(lab.netns, outside)
    _batch(namespace, inside)


def unwire(lab: Layout, node: str) -> None:
    """Delete a node's interfaces, then its namespace: the kernel deletes a namespace with a delay."""
    if netns.exists(lab.netns):
        present = {link["ifname"] for link in _json(lab.netns, "link", "show")}
        _batch(
            lab.netns,
            [f"link del {name}" for name in (interface(node, index) for index in range(8)) if name in present],
        )
    if netns.exists(lab.node_netns(node)):
        shell.run(["ip", "netns", "del", lab.node_netns(node)])


def port(node: str, bridge: str, nics: Sequence[LabInterface]) -> str:
    """Return the lab's end of the node's interface on that bridge: the argument of `link_down` and `link_up`."""
    for index, nic in enumerate(nics):
        if nic.bridge == bridge:
            return interface(node, index)
    raise LabError(f"node {node} has no interface on {bridge}")


def link_down(lab: Layout, port: str) -> None:
    """Set a port down, like a pulled cable: the node's interface keeps its address and loses its carrier."""
    _batch(lab.netns, [f"link set {port} down"])


def link_up(lab: Layout, port: str) -> None:
    """Set a port up again."""
    _batch(lab.netns, [f"link set {port} up"])


def down(lab: Layout) -> None:
    """Delete the lab's namespace and the namespaces of its nodes; their processes must have ended."""
    if not netns.FOLDER.is_dir():
        return
    for path in sorted(netns.FOLDER.glob(f"{lab.name}.*")):
        unwire(lab, path.name.removeprefix(f"{lab.name}."))
    if netns.exists(lab.netns):
        shell.run(["ip", "netns", "del", lab.netns])


def _json(name: str, *words: str) -> list[dict[str, str]]:
    output = shell.run(["ip", "-n", name, "-json", *words]).stdout
    return list(json.loads(output)) if output.strip() else []


def _batch(name: str, commands: Sequence[str]) -> None:
    if not commands:
        return
    if not netns.exists(name):
        raise LabError(f"the network namespace '{name}' does not exist", "run `landbridge sandbox up`")
    shell.run(["ip", "-n", name, "-batch", "-"], stdin="\n".join(commands) + "\n")
