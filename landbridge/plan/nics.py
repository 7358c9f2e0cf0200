"""The network interfaces of an instance type: one function for launch template, dry run, IP budget and security group."""

from dataclasses import dataclass
from typing import Literal

from landbridge.catalog import instances
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
        return tuple(
            _legacy(card, card in cards.efa, 0 in cards.efa) for card in range(cards.count) if _used(card, cards.efa)
        )
    layout = []
    for card in range(cards.count):
        has_efa = card in cards.efa
        if card == 0 and has_efa and cards.interfaces < 2:
            layout.append(Nic(0, 0, "efa", ip=True))
        elif card == 0:
            # The primary interface can never be efa-only, so EFA comes second on card 0.
            layout.append(Nic(0, 0, "interface", ip=True))
            layout += [Nic(0, 1, "efa-only", ip=False)] if has_efa else []
        elif has_efa:
            layout.append(Nic(card, EFA_DEVICE_ON_FURTHER_CARDS, "efa-only", ip=False))
        if policy == "bandwidth" and card > 0 and card in cards.ip:
            layout.append(Nic(card, 1 - EFA_DEVICE_ON_FURTHER_CARDS if has_efa else 0, "interface", ip=True))
    return tuple(layout)


def addresses_per_node(instance_type: str, policy: NicPolicy = "ip_optimised") -> int:
    """How many addresses of a subnet one instance takes."""
    return sum(nic.ip for nic in nic_layout(instance_type, policy))


def _used(card: int, efa: frozenset[int]) -> bool:
    return card == 0 or card in efa


def _legacy(card: int, has_efa: bool, first_has_efa: bool) -> Nic:
    if card == 0:
        return Nic(0, 0, "efa" if has_efa else "interface", ip=True)
    # Where card 0 is plain, the cards with EFA use device 0 (p6-b300), elsewhere device 1.
    return Nic(card, 1 if first_has_efa else 0, "efa", ip=True)
