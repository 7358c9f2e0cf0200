"""The network interfaces of an instance type: one function for launch template, dry run, IP budget and security group."""

from dataclasses import dataclass
from typing import Literal

from landbridge.catalog import NetworkCard, instances
from landbridge.environment.aws import NicPolicy

NicType = Literal["interface", "efa", "efa-only"]

# EC2 takes 0 and 1 where a card has room for two; one constant, so that a live dry run can settle it.
EFA_DEVICE_ON_FURTHER_CARDS = 0


@dataclass(frozen=True, slots=True)
class Nic:
    """One network interface of a launch. Only those with `ip` take an address of the subnet."""

    network_card: int
    device: int
    type: NicType
    ip: bool


def nic_layout(instance_type: str, policy: NicPolicy = "ip_optimised") -> tuple[Nic, ...]:
    """The interfaces of `instance_type`, primary first.

    `ip_optimised`: one address a node. `bandwidth`: addresses on every card that AWS names for IP traffic. `legacy`:
    combined EFA interfaces, for launchers that know no `efa-only`. Raises KeyError for an unknown type.
    """
    cards = instances()[instance_type].cards
    if policy == "legacy":
        return tuple(_legacy(card, cards[0].efa) for card in cards if card.index == 0 or card.efa)
    layout = []
    for card in cards:
        if card.index == 0 and card.efa and card.interfaces < 2:
            layout.append(Nic(0, 0, "efa", ip=True))
        elif card.index == 0:
            # The primary interface can never be efa-only, so EFA comes second on card 0.
            layout.append(Nic(0, 0, "interface", ip=True))
            layout += [Nic(0, 1, "efa-only", ip=False)] if card.efa else []
        elif card.efa:
            layout.append(Nic(card.index, EFA_DEVICE_ON_FURTHER_CARDS, "efa-only", ip=False))
        if policy == "bandwidth" and card.index > 0 and card.ip:
            layout.append(Nic(card.index, 1 - EFA_DEVICE_ON_FURTHER_CARDS if card.efa else 0, "interface", ip=True))
    return tuple(layout)


def addresses_per_node(instance_type: str, policy: NicPolicy = "ip_optimised") -> int:
    """How many addresses of a subnet one instance takes."""
    return sum(nic.ip for nic in nic_layout(instance_type, policy))


def _legacy(card: NetworkCard, first_has_efa: bool) -> Nic:
    if card.index == 0:
        return Nic(0, 0, "efa" if card.efa else "interface", ip=True)
    # Where card 0 is plain, the cards with EFA use device 0 (p6-b300), elsewhere device 1.
    return Nic(card.index, 1 if first_has_efa else 0, "efa", ip=True)
