"""Network interfaces: the layout of every family, and what holds for all types and policies."""

from typing import get_args

import pytest

from landbridge.catalog import instances
from landbridge.environment.aws import NicPolicy
from landbridge.plan.nics import Nic, addresses_per_node, nic_layout

POLICIES = get_args(NicPolicy)


def shape(name: str, policy: NicPolicy = "ip_optimised") -> list[str]:
    return [f"{nic.network_card}/{nic.device} {nic.type}{' ip' if nic.ip else ''}" for nic in nic_layout(name, policy)]


def test_p5_has_33_interfaces_and_one_address() -> None:
    layout = nic_layout("p5.48xlarge")
    assert len(layout) == 33
    assert layout[:3] == (
        Nic(0, 0, "interface", ip=True),
        Nic(0, 1, "efa-only", ip=False),
        Nic(1, 0, "efa-only", ip=False),
    )
    assert layout[-1] == Nic(31, 0, "efa-only", ip=False)
    assert addresses_per_node("p5.48xlarge") == 1


def test_p5_for_bandwidth_has_an_address_on_every_fourth_card() -> None:
    with_ip = [nic for nic in nic_layout("p5.48xlarge", "bandwidth") if nic.ip]
    assert [(nic.network_card, nic.device) for nic in with_ip] == [(0, 0), *((card, 1) for card in range(4, 32, 4))]


@pytest.mark.parametrize(
    ("name", "policy", "expected"),
    [
        ("g5.xlarge", "ip_optimised", ["0/0 interface ip"]),
        ("g5.48xlarge", "ip_optimised", ["0/0 interface ip", "0/1 efa-only"]),
        ("g5.48xlarge", "legacy", ["0/0 efa ip"]),
        ("g6e.24xlarge", "ip_optimised", ["0/0 interface ip", "0/1 efa-only", "1/0 efa-only"]),
        ("g6e.24xlarge", "legacy", ["0/0 efa ip", "1/1 efa ip"]),
        ("p6-b300.48xlarge", "ip_optimised", ["0/0 interface ip", *(f"{card}/0 efa-only" for card in range(1, 17))]),
        ("p6-b300.48xlarge", "legacy", ["0/0 interface ip", *(f"{card}/0 efa ip" for card in range(1, 17))]),
    ],
)
def test_layouts(name: str, policy: NicPolicy, expected: list[str]) -> None:
    assert shape(name, policy) == expected


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", instances())
def test_what_ec2_asks_of_every_layout(name: str, policy: NicPolicy) -> None:
    cards, layout = instances()[name].cards, nic_layout(name, policy)
    assert (layout[0].network_card, layout[0].device) == (0, 0)
    assert layout[0].type != "efa-only" and layout[0].ip
    places = [(nic.network_card, nic.device) for nic in layout]
    assert len(set(places)) == len(places)
    efa = [nic.network_card for nic in layout if nic.type != "interface"]
    assert sorted(efa) == sorted(instances()[name].efa_cards)
    assert all(nic.network_card < len(cards) and nic.device < cards[nic.network_card].interfaces for nic in layout)
    assert not any(nic.ip for nic in layout if nic.type == "efa-only")


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(KeyError):
        nic_layout("p9.huge")
