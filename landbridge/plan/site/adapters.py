"""Network ports of a node group: ports that the environment states, else the ports of its platform's wiring. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from landbridge.catalog import Platform, platforms
from landbridge.catalog.hardware.platforms import Adapters
from landbridge.environment import NodeGroup


def ports_of(group: NodeGroup) -> tuple[Adapters, ...]:
    """Return the ports of one node of the group, in the form of the catalogue.

    Without a statement of the site only the fabric ports are returned on which all wirings of the platform agree:
    storage ports may be InfiniBand or Ethernet, and two of them may not be cabled. Empty: not known.
    """
    hardware, platform = group.hardware, platforms()[group.platform]
    if hardware.adapters:
        return tuple(
            Adapters(
                count=adapter.count or max(1, len(adapter.devices)),
                gbps=adapter.gbps,
                kind=adapter.kind,
                use=adapter.use,
                bonded=adapter.bond is not None,
            )
            for adapter in hardware.adapters
        )
    if hardware.wiring is not None:
        return platform.wirings[hardware.wiring].adapters if hardware.wiring in platform.wirings else ()
    return common_ports(platform)


def common_ports(platform: Platform) -> tuple[Adapters, ...]:
    """Return the data sheet's fabric ports; empty if a wiring of the platform has fabric ports of another kind."""
    fabric = tuple(adapter for adapter in platform.adapters if adapter.use == "fabric")
    kinds = {adapter.kind for adapter in fabric}
    wired = {
        adapter.kind for wiring in platform.wirings.values() for adapter in wiring.adapters if adapter.use == "fabric"
    }
    return fabric if len(kinds | wired) == 1 else ()


def wired_platform(group: NodeGroup) -> Platform:
    """Return the group's platform with the ports of the site."""
    return platforms()[group.platform].model_copy(update={"adapters": ports_of(group)})


def fabric_kind(group: NodeGroup) -> str | None:
    """Return the kind of the group's fabric ports; None if they are not known, or of both kinds."""
    kinds = {port.kind for port in ports_of(group) if port.use == "fabric"}
    return next(iter(kinds)) if len(kinds) == 1 else None


def needs_rdma(ports: Sequence[Adapters]) -> bool:
    """Return whether the node needs RDMA: a fabric of any kind, or InfiniBand for another use."""
    return any(adapter.use == "fabric" or adapter.kind == "infiniband" for adapter in ports)


def expected_ports(group: NodeGroup) -> Mapping[str, Any]:
    """Return the ports that the health checks expect.

    `ports` and `ethernet_ports`: number by rate in Gb/s; `devices`: kind and rate by RDMA device; `bonds`: number and
    rate of the links by interface. A bonded port without the name of its bond is not checked.
    """
    if not group.hardware.adapters:
        return count_ports(ports_of(group))
    expected: dict[str, Any] = {}
    counted: list[Adapters] = []
    for adapter, port in zip(group.hardware.adapters, ports_of(group), strict=True):
        if adapter.bond is not None:
            expected.setdefault("bonds", {})[adapter.bond] = {"count": port.count, "gbps": port.gbps}
        elif adapter.devices:
            rows = {device: {"kind": port.kind, "gbps": port.gbps} for device in adapter.devices}
            expected.setdefault("devices", {}).update(rows)
        else:
            counted.append(port)
    return expected | count_ports(counted)


def count_ports(ports: Sequence[Adapters]) -> dict[str, dict[str, int]]:
    """Return the numbers of ports by kind and rate in Gb/s, without bonded ones."""
    counts: dict[str, dict[str, int]] = {}
    for port in ports:
        if not port.bonded:
            rates = counts.setdefault("ports" if port.kind == "infiniband" else "ethernet_ports", {})
            rates[str(port.gbps)] = rates.get(str(port.gbps), 0) + port.count
    return counts
