"""Parameters of RunInstances that differ from launch to launch: interfaces, CPU options, market and reservation.

The burst controller and preflight's dry run use these functions, so that EC2 is asked for the same launch. Network
interfaces are in the request only: EC2 does not document how it merges them with those of a launch template.
"""

from collections.abc import Sequence
from typing import Any

#: Network card, device index and interface type.
InterfacePlace = tuple[int, int, str]


def network_interfaces(
    places: Sequence[InterfacePlace], subnet: str, security_groups: Sequence[str], public_ip: bool
) -> dict[str, Any]:
    """Return the interfaces, each with its subnet: with interfaces EC2 accepts no subnet of the instance itself.

    A public address is possible for a single interface only. Source: EC2 API Reference, RunInstances and
    InstanceNetworkInterfaceSpecification (AssociatePublicIpAddress).
    """
    if not places:
        return {"SubnetId": subnet}
    interfaces: list[dict[str, Any]] = []
    for card, device, kind in places:
        interface: dict[str, Any] = {
            "NetworkCardIndex": card,
            "DeviceIndex": device,
            "InterfaceType": kind,
            "SubnetId": subnet,
            "DeleteOnTermination": True,
        }
        if security_groups:
            interface["Groups"] = list(security_groups)
        interfaces.append(interface)
    if public_ip and len(interfaces) == 1:
        interfaces[0]["AssociatePublicIpAddress"] = True
    return {"NetworkInterfaces": interfaces}


def market_options(market: str, max_price_usd: float | None) -> dict[str, Any]:
    """Return the market options; empty for on-demand."""
    if market == "on-demand":
        return {}
    if market != "spot":
        return {"InstanceMarketOptions": {"MarketType": market}}
    spot: dict[str, Any] = {"SpotInstanceType": "one-time", "InstanceInterruptionBehavior": "terminate"}
    if max_price_usd is not None:
        spot["MaxPrice"] = f"{max_price_usd:.4f}"
    return {"InstanceMarketOptions": {"MarketType": "spot", "SpotOptions": spot}}


def reservation_target(reservation: str | None, reservation_group: str | None) -> dict[str, Any]:
    """Return the capacity reservation of the launch; empty without one."""
    target = {"CapacityReservationId": reservation, "CapacityReservationResourceGroupArn": reservation_group}
    values = {key: value for key, value in target.items() if value}
    return {"CapacityReservationSpecification": {"CapacityReservationTarget": values}} if values else {}


def cpu_options(core_count: int | None, threads_per_core: int | None) -> dict[str, Any]:
    """Return the CPU options; empty without them: the options of the launch template or of the instance type apply."""
    if core_count is None or threads_per_core is None:
        return {}
    return {"CpuOptions": {"CoreCount": core_count, "ThreadsPerCore": threads_per_core}}
