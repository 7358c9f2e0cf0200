"""Checks of network ports: by number and by device, without ports that have another use, and bonds."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.health.standins import Standins, machine

__all__ = ["machine"]

from node_health import host

FABRIC = {"ports": {"400": 8}}
FOLDER = "usr/local/lib/lab/hardware"


def wire(machine: Standins, *ports: tuple[str, int]) -> None:
    """Give the node RDMA ports of these link layers and rates: mlx5_0, mlx5_1, ..."""
    path = machine.root / FOLDER / "machine.json"
    rows = [{"name": f"mlx5_{index}", "rate": rate, "link_layer": layer} for index, (layer, rate) in enumerate(ports)]
    path.write_text(json.dumps({**json.loads(path.read_text()), "ports": rows}))


def findings(machine: Standins, expected: dict[str, Any], **faults: Any) -> list[str]:
    machine.inject(**faults)
    return [problem.detail for problem in host.ports(expected, machine.root / "infiniband")]


def test_storage_ports_with_ethernet_are_no_missing_fabric_ports(machine: Standins) -> None:
    wire(machine, *[("InfiniBand", 400)] * 8, *[("Ethernet", 100)] * 2)
    assert findings(machine, FABRIC) == []
    assert findings(machine, FABRIC, ports=["mlx5_3"]) == ["7 of 8 at 400 Gb/s; mlx5_3/1 is Down/Polling"]


def test_an_ethernet_fabric_is_counted_by_itself(machine: Standins) -> None:
    wire(machine, *[("Ethernet", 400)] * 8, *[("InfiniBand", 400)] * 2)
    assert findings(machine, {"ethernet_ports": {"400": 8}}) == []
    assert findings(machine, {"ethernet_ports": {"400": 8}}, slow={"mlx5_0": 200}) == ["7 of 8 at 400 Gb/s"]


def test_a_management_function_of_an_nvswitch_hides_no_dead_rail(machine: Standins) -> None:
    wire(machine, *[("InfiniBand", 400)] * 12)
    assert findings(machine, FABRIC, ports=["mlx5_0"]) == [], "without vital product data they are like the others"
    for number in range(8, 12):
        device = machine.root / f"infiniband/mlx5_{number}/device"
        device.mkdir(parents=True)
        (device / "vpd").write_bytes(b"\x82\x1e\x00NVIDIA\x90V3SMDL\x0fSMDL=SW_MNG\x00\xff\x78")
    (machine.root / "infiniband/mlx5_1/device").mkdir(parents=True)
    (machine.root / "infiniband/mlx5_1/device/vpd").write_bytes(b"\x82ConnectX-7\xff")
    assert findings(machine, FABRIC, ports=["mlx5_0"]) == ["7 of 8 at 400 Gb/s; mlx5_0/1 is Down/Polling"]
    assert findings(machine, FABRIC, ports=["mlx5_8"]) == [], "the checks of the fabric report it"


def test_a_member_of_a_bond_hides_no_dead_rail(machine: Standins) -> None:
    wire(machine, *[("Ethernet", 400)] * 10)
    for number in (8, 9):
        (machine.root / f"infiniband/mlx5_{number}/device/net/eth{number}/master/bonding").mkdir(parents=True)
    expected = {"ethernet_ports": {"400": 8}}
    assert findings(machine, expected, ports=["mlx5_0"]) == ["7 of 8 at 400 Gb/s; mlx5_0/1 is Down/Polling"]


@pytest.mark.parametrize(
    ("want", "faults", "text"),
    [
        ({"kind": "infiniband", "gbps": 400}, {}, None),
        ({"kind": "infiniband", "gbps": 400}, {"ports": ["mlx5_0"]}, "mlx5_0/1 is Down/Polling"),
        ({"kind": "infiniband", "gbps": 400}, {"slow": {"mlx5_0": 200}}, "mlx5_0/1 runs 200 of 400 Gb/s"),
        ({"kind": "ethernet", "gbps": 400}, {}, "mlx5_0/1 is infiniband, not ethernet"),
    ],
)
def test_a_device_is_checked_by_its_name(
    machine: Standins, want: dict[str, Any], faults: dict[str, Any], text: str | None
) -> None:
    wire(machine, *[("InfiniBand", 400)] * 2)
    expected = {"devices": {"mlx5_0": want}}
    assert findings(machine, expected, **faults) == ([text] if text else [])
    assert findings(machine, {"devices": {"mlx5_7": want}}) == ["mlx5_7 is not there"]
    # The port beside it counts for no device.
    assert findings(machine, {"devices": {"mlx5_0": want}, "ports": {"400": 2}})[-1:] == ["1 of 2 at 400 Gb/s"]


def test_a_bond_works_with_one_link(tmp_path: Path) -> None:
    expected = {"bond0": {"count": 2, "gbps": 100}}
    (tmp_path / "bond0/bonding").mkdir(parents=True)
    (tmp_path / "bond0/bonding/slaves").write_text("eth0 eth1\n")

    def set_links(**states: tuple[str, int]) -> None:
        for name, (state, speed) in states.items():
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / "operstate").write_text(f"{state}\n")
            (tmp_path / name / "speed").write_text(f"{speed}\n")

    set_links(eth0=("up", 100000), eth1=("up", 200000))
    assert host.bonds(expected, tmp_path) == ([], [])
    set_links(eth1=("down", -1))
    assert host.bonds(expected, tmp_path) == ([], ["bond0 has 1 of 2 links at 100 Gb/s"])
    set_links(eth0=("up", 25000))
    assert host.bonds(expected, tmp_path) == ([], ["bond0 has 0 of 2 links at 100 Gb/s"])
    set_links(eth0=("down", -1))
    assert [problem.detail for problem in host.bonds(expected, tmp_path)[0]] == ["bond0 has 0 of 2 links at 100 Gb/s"]
    assert [problem.check for problem in host.bonds({"bond1": expected["bond0"]}, tmp_path)[0]] == ["port"]
