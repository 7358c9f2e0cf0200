"""RoCE unit of the role rdma: one port's settings, with their defaults."""

from pathlib import Path
from typing import Any

import jinja2
import pytest

TEMPLATE = Path(__file__).parents[3] / "ansible/roles/rdma/templates/landbridge-roce.service.j2"


def commands(*ports: dict[str, Any]) -> list[str]:
    environment = jinja2.Environment(trim_blocks=True, undefined=jinja2.StrictUndefined)
    text = environment.from_string(TEMPLATE.read_text()).render(rdma_roce=ports, ansible_managed="test")
    return [line.removeprefix("ExecStart=") for line in text.splitlines() if line.startswith("ExecStart=")]


@pytest.mark.parametrize(
    ("settings", "number", "traffic_class", "pfc"),
    [
        ({}, "1", "106", "0,0,0,1,0,0,0,0"),
        ({"port": 2, "traffic_class": 96, "pfc": [0, 5]}, "2", "96", "1,0,0,0,0,1,0,0"),
        ({"pfc": []}, "1", "106", "0,0,0,0,0,0,0,0"),
    ],
    ids=["defaults", "all set", "no priority pauses"],
)
def test_a_ports_settings(settings: dict[str, Any], number: str, traffic_class: str, pfc: str) -> None:
    assert commands({"device": "mlx5_0", "interface": "enp1s0", **settings}) == [
        f"/usr/sbin/cma_roce_mode -d mlx5_0 -p {number} -m 2",
        f"/usr/sbin/cma_roce_tos -d mlx5_0 -t {traffic_class}",
        f"/bin/sh -c 'echo {traffic_class} > /sys/class/infiniband/mlx5_0/tc/{number}/traffic_class'",
        f"/usr/bin/mlnx_qos -i enp1s0 --trust dscp --pfc {pfc}",
    ]


def test_every_port_has_its_own_commands() -> None:
    ports = [{"device": f"mlx5_{number}", "interface": f"enp{number}s0"} for number in range(4)]
    assert len(commands(*ports)) == 16
