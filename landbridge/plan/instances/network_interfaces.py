"""Network interfaces of an instance type: one function for launch template, dry run, address budget and security group.

Source of the layouts: EC2 User Guide, "EFA-enabled accelerated instance types" and "Elastic Fabric Adapter
limitations"; the catalogue has the interface types of each network card (landbridge/catalog/instances).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from landbridge.catalog import InstanceType, NetworkCard, instances
from landbridge.environment.aws.pool import NicPolicy, PoolSettings

NicType = Literal["interface", "efa", "efa-only"]

# EC2 accepts device 0 and 1 on a card with two interfaces; one constant, so that a dry run in real AWS can decide.
EFA_DEVICE_ON_FURTHER_CARDS = 0


@dataclass(frozen=True, slots=True)
class PlannedInterface:
    """Network interface of a launch. It takes an address of the subnet only with `ip`."""

    network_card: int
    device: int
    type: NicType
    ip: bool


@dataclass(frozen=True, slots=True)
class InterfaceViolation:
    """Reason why EC2 rejects an interface: position in the list (None: the whole list), problem and fix."""

    index: int | None
    message: str
    fix: str


def nic_layout(
    instance_type: str, policy: NicPolicy = "ip_optimised", *, efa: bool = True
) -> tuple[PlannedInterface, ...]:
    """Return the interfaces of `instance_type`, primary first; without EFA, those that carry IP.

    `ip_optimised`: one address per node. `bandwidth`: addresses on every card that AWS lists for IP traffic. `legacy`:
    combined EFA interfaces, for launchers without `efa-only`. Raises KeyError for an unknown type.
    """
    kind = instances()[instance_type]
    with_efa = kind.efa_cards if efa else frozenset()
    if policy == "legacy":
        return tuple(
            _legacy(card, card.index in with_efa, 0 in with_efa) for card in kind.cards if _used(card, with_efa)
        )
    return tuple(
        nic for card in kind.cards for nic in _card(card, card.index in with_efa, bandwidth=policy == "bandwidth")
    )


def pool_interfaces(pool: PoolSettings, instance: str | None = None) -> tuple[PlannedInterface, ...]:
    """Return the interfaces of a pool's launches, of type `instance` if given: as configured, else by `nic_layout`.

    A type that is not in the catalogue gets the primary interface only.
    """
    if pool.interfaces:
        return tuple(
            PlannedInterface(interface.card, interface.device, interface.type, interface.type != "efa-only")
            for interface in pool.interfaces
        )
    name = instance or pool.instance
    if name not in instances():
        return (PlannedInterface(0, 0, "interface", ip=True),)
    return nic_layout(name, pool.nics, efa=pool.efa is not False)


def addresses_per_node(instance_type: str, policy: NicPolicy = "ip_optimised") -> int:
    """Return the number of subnet addresses that one instance takes."""
    return sum(nic.ip for nic in nic_layout(instance_type, policy))


def interface_violations(
    instance: InstanceType | None, nics: Sequence[PlannedInterface]
) -> tuple[InterfaceViolation, ...]:
    """Return the reasons why EC2 rejects `nics` on that type; none for the result of `nic_layout`.

    For an unknown type: the reasons that hold for every type.
    """
    return (*_primary(nics), *_places(instance, nics), *_cards(instance, nics))


def unused_efa(instance: InstanceType, nics: Sequence[PlannedInterface]) -> frozenset[int]:
    """Return the cards that support EFA and have no EFA interface: their fabric bandwidth is paid and unused."""
    return instance.efa_cards - {nic.network_card for nic in nics if nic.type != "interface"}


def _card(card: NetworkCard, efa: bool, *, bandwidth: bool) -> Iterator[PlannedInterface]:
    """Yield the interfaces of one card: with or without EFA, and with IP if `bandwidth` is set."""
    if card.index == 0:
        # The primary interface cannot be efa-only, so EFA is the second interface of card 0, or combined with IP.
        separate = card.efa_only and card.interfaces > 1
        yield PlannedInterface(0, 0, "efa" if efa and not separate else "interface", ip=True)
        if efa and separate:
            yield PlannedInterface(0, 1, "efa-only", ip=False)
        return
    wants_ip = bandwidth and card.ip
    if efa:
        # A card with one interface for both, or without efa-only, gets the combined interface.
        combined = not card.efa_only or (wants_ip and card.interfaces < 2 and "efa" in card.types)
        yield PlannedInterface(card.index, EFA_DEVICE_ON_FURTHER_CARDS, "efa" if combined else "efa-only", ip=combined)
        if wants_ip and not combined and card.interfaces > 1:
            yield PlannedInterface(card.index, 1 - EFA_DEVICE_ON_FURTHER_CARDS, "interface", ip=True)
    elif wants_ip:
        yield PlannedInterface(card.index, 0, "interface", ip=True)


def _used(card: NetworkCard, with_efa: frozenset[int]) -> bool:
    return card.index == 0 or card.index in with_efa


def _legacy(card: NetworkCard, efa: bool, first_has_efa: bool) -> PlannedInterface:
    if card.index == 0:
        return PlannedInterface(0, 0, "efa" if efa else "interface", ip=True)
    # If card 0 has no EFA, the cards with EFA use device 0 (p6-b300), otherwise device 1.
    device = 1 if first_has_efa and card.interfaces > 1 else 0
    combined = "efa" in card.types
    return PlannedInterface(card.index, device, "efa" if combined else "efa-only", ip=combined)


def _primary(nics: Sequence[PlannedInterface]) -> Iterator[InterfaceViolation]:
    first = next((index for index, nic in enumerate(nics) if (nic.network_card, nic.device) == (0, 0)), None)
    if first is None:
        yield InterfaceViolation(None, "there is no primary interface", "add {card: 0, device: 0, type: interface}")
    elif nics[first].type == "efa-only":
        message = "the primary interface carries the node's address, so it cannot be efa-only"
        yield InterfaceViolation(first, message, "type: interface, and efa-only as device 1 of the same card")


def _places(instance: InstanceType | None, nics: Sequence[PlannedInterface]) -> Iterator[InterfaceViolation]:
    used_devices: set[tuple[int, int]] = set()
    for index, nic in enumerate(nics):
        device = (nic.network_card, nic.device)
        if device in used_devices:
            message = f"card {nic.network_card} has device {nic.device} twice"
            yield InterfaceViolation(index, message, "give every interface of a card a different device")
        used_devices.add(device)
        if instance is None:
            continue
        last_card = len(instance.cards) - 1
        if not 0 <= nic.network_card <= last_card:
            message = f"{instance.name} has no network card {nic.network_card}"
            yield InterfaceViolation(
                index, message, f"its cards are 0 to {last_card}" if last_card else "its only card is 0"
            )
        elif not 0 <= nic.device < instance.cards[nic.network_card].interfaces:
            device_count = instance.cards[nic.network_card].interfaces
            message = f"card {nic.network_card} of {instance.name} has no device {nic.device}"
            yield InterfaceViolation(
                index,
                message,
                f"it takes {device_count}: devices 0 to {device_count - 1}" if device_count > 1 else "use device 0",
            )


def _cards(instance: InstanceType | None, nics: Sequence[PlannedInterface]) -> Iterator[InterfaceViolation]:
    efa: Counter[int] = Counter()
    for index, nic in enumerate(nics):
        card = None
        if instance is not None:
            if not 0 <= nic.network_card < len(instance.cards):
                continue
            card = instance.cards[nic.network_card]
        if instance is not None and card is not None and nic.type not in card.types:
            allowed = sorted(card.types)
            message = f"card {card.index} of {instance.name} takes no interface of type {nic.type}"
            yield InterfaceViolation(index, message, f"it takes {', '.join(allowed)}")
        elif nic.type != "interface":
            efa[nic.network_card] += 1
            if efa[nic.network_card] > 1:
                message = f"card {nic.network_card} has more than one EFA interface"
                yield InterfaceViolation(index, message, "use one for each card, and further ones on other cards")
