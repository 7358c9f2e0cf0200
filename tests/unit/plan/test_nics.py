"""Network interfaces: the layout of instance families, and properties of all types and policies."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from landbridge.catalog import instances
from landbridge.environment import NicPolicy, PoolSettings
from landbridge.plan.instances.network_interfaces import (
    PlannedInterface,
    addresses_per_node,
    interface_violations,
    nic_layout,
    pool_interfaces,
    unused_efa,
)

POLICIES = get_args(NicPolicy)
TYPES = tuple(instances())


def shape(name: str, policy: NicPolicy = "ip_optimised") -> list[str]:
    return [f"{nic.network_card}/{nic.device} {nic.type}{' ip' if nic.ip else ''}" for nic in nic_layout(name, policy)]


def test_p5_has_33_interfaces_and_one_address() -> None:
    layout = nic_layout("p5.48xlarge")
    assert len(layout) == 33
    assert layout[:3] == (
        PlannedInterface(0, 0, "interface", ip=True),
        PlannedInterface(0, 1, "efa-only", ip=False),
        PlannedInterface(1, 0, "efa-only", ip=False),
    )
    assert layout[-1] == PlannedInterface(31, 0, "efa-only", ip=False)
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
def test_an_instance_type_has_its_layout(name: str, policy: NicPolicy, expected: list[str]) -> None:
    assert shape(name, policy) == expected


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", TYPES)
def test_every_layout_fulfils_the_constraints_of_ec2(name: str, policy: NicPolicy) -> None:
    kind, layout = instances()[name], nic_layout(name, policy)
    assert (layout[0].network_card, layout[0].device) == (0, 0)
    assert layout[0].type != "efa-only" and layout[0].ip
    places = [(nic.network_card, nic.device) for nic in layout]
    assert len(set(places)) == len(places)
    efa = [nic.network_card for nic in layout if nic.type != "interface"]
    assert sorted(efa) == sorted(kind.efa_cards), "every card that should carry EFA carries it once"
    for nic in layout:
        card = kind.cards[nic.network_card]
        assert nic.device < card.interfaces
        assert nic.type in card.types
        assert nic.ip == (nic.type != "efa-only")
    assert interface_violations(kind, layout) == ()
    assert unused_efa(kind, layout) == frozenset()


@pytest.mark.parametrize("name", TYPES)
def test_policies_differ_only_in_the_cards_with_addresses(name: str) -> None:
    kind = instances()[name]
    with_ip = {policy: {nic.network_card for nic in nic_layout(name, policy) if nic.ip} for policy in POLICIES}
    combined = {card.index for card in kind.cards if card.efa and not card.efa_only}
    assert with_ip["ip_optimised"] == {0} | combined
    assert with_ip["ip_optimised"] <= with_ip["bandwidth"]
    assert with_ip["bandwidth"] == {0} | combined | {card.index for card in kind.cards if card.ip}
    assert with_ip["legacy"] == {0} | {index for index in kind.efa_cards if "efa" in kind.cards[index].types}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", TYPES)
def test_a_layout_without_efa_has_interfaces_with_addresses_only(name: str, policy: NicPolicy) -> None:
    layout = nic_layout(name, policy, efa=False)
    assert all(nic.type == "interface" and nic.ip for nic in layout)
    assert interface_violations(instances()[name], layout) == ()


def test_gb200_has_efa_on_odd_cards_and_addresses_on_even_ones() -> None:
    odd = [f"{card}/0 efa-only" for card in range(1, 17, 2)]
    assert shape("p6e-gb200.36xlarge") == ["0/0 interface ip", *odd]
    wide = shape("p6e-gb200.36xlarge", "bandwidth")
    assert [line for line in wide if "ip" in line] == [f"{card}/0 interface ip" for card in range(0, 17, 2)]
    assert [line for line in wide if "efa" in line] == odd


@pytest.mark.parametrize(
    ("name", "nics", "index", "message"),
    [
        ("p5.48xlarge", [(0, 1, "interface")], None, "no primary"),
        ("p5.48xlarge", [(0, 0, "efa-only")], 0, "cannot be efa-only"),
        ("p5.48xlarge", [(0, 0, "interface"), (1, 0, "efa-only"), (1, 0, "interface")], 2, "device 0 twice"),
        ("p5.48xlarge", [(0, 0, "interface"), (32, 0, "efa-only")], 1, "no network card 32"),
        ("g5.xlarge", [(0, 0, "interface"), (1, 0, "interface")], 1, "no network card 1"),
        # A card with two interfaces has devices 0 and 1; many templates count devices from the number of cards.
        ("p5.48xlarge", [(0, 0, "interface"), (1, 2, "efa-only")], 1, "no device 2"),
        ("p6-b300.48xlarge", [(0, 0, "efa")], 0, "takes no interface of type efa"),
        ("g5.xlarge", [(0, 0, "efa")], 0, "takes no interface of type efa"),
        ("p6e-gb200.36xlarge", [(0, 0, "interface"), (1, 0, "interface")], 1, "takes no interface of type interface"),
        ("p5.48xlarge", [(0, 0, "efa"), (0, 1, "efa-only")], 1, "more than one EFA"),
    ],
)
def test_a_layout_that_ec2_refuses_has_a_fault(name: str, nics: list[Any], index: int | None, message: str) -> None:
    layout = [PlannedInterface(card, device, kind, kind != "efa-only") for card, device, kind in nics]
    faults = interface_violations(instances()[name], layout)
    assert [fault.index for fault in faults if message in fault.message] == [index], faults
    assert all(fault.fix for fault in faults)


@given(st.data())
def test_any_layout_is_checked_without_an_exception(data: st.DataObject) -> None:
    """Check a layout without faults against the constraints of EC2's API, written here a second time."""
    kind = instances()[data.draw(st.sampled_from(TYPES))]
    nic = st.tuples(st.integers(0, 18), st.integers(0, 4), st.sampled_from(["interface", "efa", "efa-only"]))
    nics = [PlannedInterface(card, device, type_, True) for card, device, type_ in data.draw(st.lists(nic, max_size=6))]
    if interface_violations(kind, nics):
        return
    places = [(nic.network_card, nic.device) for nic in nics]
    assert places.count((0, 0)) == 1 and len(places) == len(set(places))
    on_efa = [nic.network_card for nic in nics if nic.type != "interface"]
    assert len(on_efa) == len(set(on_efa))
    assert all(nic.type in kind.cards[nic.network_card].types for nic in nics)


def pool(**settings: Any) -> PoolSettings:
    data = {"name": "p5", "instance": "p5.48xlarge", "max_nodes": 2, **settings}
    return PoolSettings.model_validate(data, strict=False)


def test_interfaces_of_the_file_are_used_unchanged() -> None:
    interfaces = ({"card": 0, "device": 0, "type": "efa"}, {"card": 3, "device": 1, "type": "efa-only"})
    assert pool_interfaces(pool(interfaces=interfaces)) == (
        PlannedInterface(0, 0, "efa", True),
        PlannedInterface(3, 1, "efa-only", False),
    )


def test_a_pool_has_the_layout_of_its_settings() -> None:
    assert pool_interfaces(pool(nics="legacy")) == nic_layout("p5.48xlarge", "legacy")
    assert pool_interfaces(pool(efa=False)) == (PlannedInterface(0, 0, "interface", True),)
    assert pool_interfaces(pool(), "p4d.24xlarge") == nic_layout("p4d.24xlarge")
    assert pool_interfaces(pool(instance="p9.huge")) == (PlannedInterface(0, 0, "interface", True),)


def test_addresses_of_a_p5_are_those_of_the_documentation() -> None:
    assert [addresses_per_node("p5.48xlarge", policy) for policy in ("ip_optimised", "bandwidth", "legacy")] == [
        1,
        8,
        32,
    ]


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(KeyError):
        nic_layout("p9.huge")
