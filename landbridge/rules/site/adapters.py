"""Rules about the network ports of on-prem nodes."""

from collections.abc import Iterator

from landbridge import hostlist
from landbridge.catalog import platforms
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.site.adapters import ports_of
from landbridge.rules.environment_paths import suggestion
from landbridge.rules.registry import rule


@rule
def unknown_wiring(environment: Environment) -> Iterator[Finding]:
    """The wiring of a node group is one of its platform's, and its ports are stated once.

    Source: NVIDIA's reference architectures, as in landbridge/catalog/platforms.
    """
    for index, group in enumerate(environment.node_groups):
        hardware = group.hardware
        if hardware.wiring is None or group.platform not in platforms():
            continue
        path: DataPath = ("onprem", "nodes", index, "hardware", "wiring")
        wirings = platforms()[group.platform].wirings
        if hardware.adapters:
            fix = "remove wiring, or adapters"
            yield error(
                path, "the ports are stated twice: wiring and adapters", fix=fix, related=((*path[:-1], "adapters"),)
            )
        elif hardware.wiring not in wirings:
            fix = suggestion(hardware.wiring, wirings) if wirings else "write adapters instead"
            yield error(path, f'{group.platform} has no wiring "{hardware.wiring}"', fix=fix)


@rule
def adapter_ports(environment: Environment) -> Iterator[Finding]:
    """The adapters of a node group have a number of ports, each port is in one of them, and only Ethernet is bonded.

    Source: Linux, Documentation/networking/bonding.rst and ipoib.rst (a bond of IPoIB interfaces carries no RDMA).
    """
    for index, group in enumerate(environment.node_groups):
        seen: set[str] = set()
        for number, adapter in enumerate(group.hardware.adapters):
            path: DataPath = ("onprem", "nodes", index, "hardware", "adapters", number)
            if adapter.count is None and not adapter.devices:
                yield error(path, "neither count nor devices is written", fix="write count: 8, or the devices")
            elif adapter.count is not None and adapter.devices and adapter.count != len(adapter.devices):
                message = f"count is {adapter.count}, and there are {len(adapter.devices)} devices"
                yield error((*path, "count"), message, fix="remove count", related=((*path, "devices"),))
            if adapter.bond is not None and adapter.kind == "infiniband":
                message, fix = "InfiniBand ports in a bond carry no RDMA", "write kind: ethernet, or remove bond"
                yield error((*path, "bond"), message, fix=fix, related=((*path, "kind"),))
            for place, device in enumerate(adapter.devices):
                if device in seen:
                    message = f"the device {device} is written twice"
                    yield error((*path, "devices", place), message, fix="remove one of them")
                seen.add(device)


@rule
def fabric_not_stated(environment: Environment) -> Iterator[Finding]:
    """The ports of the fabric between nodes are known: only then are they checked, and all-reduce has a threshold.

    Servers of other vendors have adapters of the site's choice, and a DGX B300 has InfiniBand or Ethernet.
    Source: NVIDIA's reference architectures, as in landbridge/catalog/platforms.
    """
    for index, group in enumerate(environment.node_groups):
        if group.platform not in platforms() or group.hardware.wiring is not None:
            continue
        platform = platforms()[group.platform]
        is_switched = platform.nvswitch is not None and len(hostlist.expand(group.hosts)) > 1
        if not is_switched or any(port.use == "fabric" for port in ports_of(group)):
            continue
        wirings = ", ".join(platform.wirings)
        fix = "write hardware: {adapters: [{use: fabric, kind: infiniband, gbps: 400, count: 8}]}"
        if wirings:
            fix += f", or a wiring: {wirings}"
        message = f"the fabric ports of {group.hosts} are not known: failed ports drain no node, and all-reduce between nodes is not judged"
        yield warning(("onprem", "nodes", index, "platform"), message, fix=fix)
