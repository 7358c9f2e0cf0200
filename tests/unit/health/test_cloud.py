"""Health checks of a cloud node: expectations from its pool's settings and instance type, EFA devices and the fabric."""

import json
from pathlib import Path
from typing import Any

import pytest

from landbridge.plan.aws.pool import pool_args
from tests.unit.core.samples import environment
from tests.unit.health.standins import ROOT, Standins, machine

__all__ = ["machine"]

from node_health import __main__ as program
from node_health import cloud, gpus, host, kernel
from node_health.problem import reason

MOUNTS = [{"source": "fs-1:/", "type": "lustre", "options": "", "mount": "/scratch"}]


def settings(**fields: Any) -> dict[str, Any]:
    """Return pool.json as cloud-init writes it from the launch template's user data."""
    site = environment()
    user_data = pool_args(site, site.aws.pools[0]).user_data(MOUNTS)
    content = json.loads(user_data.removeprefix("#cloud-config\n"))["write_files"][0]["content"]
    return {**json.loads(content), **fields}


@pytest.fixture
def node(machine: Standins, monkeypatch: pytest.MonkeyPatch) -> Standins:
    """Return a p5.48xlarge with the configuration of its image, its pool's settings and 32 EFA devices."""
    (machine.root / "node-health.json").write_text(json.dumps({"expected": {}, "driver_branch": "", "disks": {}, "skip": ["service", "mount", "disk"], "xids": {"79": "reboot"}}))  # fmt: skip
    (machine.root / "pool.json").write_text(json.dumps(settings()))
    for index in range(32):
        add_device(machine.root, f"rdmap{index:02}s0")
    monkeypatch.setattr(program, "CONFIG", machine.root / "node-health.json")
    monkeypatch.setattr(program, "STATE", machine.root / "state")
    monkeypatch.setattr(program, "MARK", machine.root / "mark.json")
    monkeypatch.setattr(cloud, "POOL", machine.root / "pool.json")
    monkeypatch.setattr(cloud, "METADATA", "http://127.0.0.1:1")
    monkeypatch.setattr(kernel.check, "__defaults__", (machine.log,))
    monkeypatch.setattr(host.efa, "__defaults__", (machine.root / "infiniband",))
    machine.inject()
    return machine


def add_device(root: Path, name: str, driver: str = "efa", state: str = "4: ACTIVE\n") -> None:
    """Add a device to the kernel's list of RDMA devices."""
    device = root / "infiniband" / name
    (root / "drivers" / driver).mkdir(parents=True, exist_ok=True)
    (device / "device").mkdir(parents=True)
    (device / "device/driver").symlink_to(root / "drivers" / driver)
    (device / "ports/1").mkdir(parents=True)
    (device / "ports/1/state").write_text(state)


def test_a_healthy_node_is_not_drained_and_its_expectations_are_written_at_the_first_check(node: Standins) -> None:
    assert program.main(["apply"]) == 0
    assert node.slurm()["state"] == ["IDLE"]
    expected = json.loads((node.root / "state/expected.json").read_text())["expected"]
    assert (expected["gpus"]["count"], expected["gpus"]["type"], expected["efa"]) == (8, "h100", 32)
    assert expected["services"] == ["nvidia-fabricmanager"]
    assert expected["mounts"] == ["/home", "/scratch"]


@pytest.mark.parametrize(
    ("faults", "text"),
    [
        ({"absent": [7]}, "landbridge:gpu:7 of 8 are there; do: reboot"),
        ({"recovery": {"3": "Reset"}}, "landbridge:recovery:GPU 3 needs: Reset; do: reset"),
        ({"links": {"5": 2}}, "landbridge:nvlink:GPU 5 has 16 of 18 links; do: reset"),
        ({"fabric": {"2": "In Progress"}}, "landbridge:fabric:GPU 2: registration In Progress; do: reboot"),
    ],
    ids=["gpu", "recovery", "nvlink", "fabric"],
)  # fmt: skip
def test_a_faulty_gpu_drains_the_cloud_node_with_the_reason_of_an_on_prem_node(
    node: Standins, faults: dict[str, Any], text: str
) -> None:
    node.inject(**faults)
    assert program.main(["apply"]) == 0
    assert node.slurm()["state"] == ["DRAIN", "IDLE"] and node.slurm()["reason"] == text


def test_the_program_of_an_image_checks_no_hardware_before_it_knows_a_pool(node: Standins) -> None:
    (node.root / "pool.json").unlink()
    node.inject(absent=[0, 1])
    assert program.main(["apply"]) == 0
    assert node.slurm()["state"] == ["IDLE"] and not (node.root / "state/expected.json").exists()


def test_the_instance_type_selects_the_expectations(node: Standins, monkeypatch: pytest.MonkeyPatch) -> None:
    types = settings()["health"]["types"]
    pool = settings(health={"types": {**types, "g6e.xlarge": {"gpus": {"count": 1, "type": "l40s"}}}, "mounts": []})
    assert cloud.expectations(pool, "g6e.xlarge")["expected"]["gpus"] == {"count": 1, "type": "l40s"}
    assert "gpus" not in cloud.expectations(pool, "")["expected"], "not one of the others"
    (node.root / "pool.json").write_text(json.dumps(pool))
    program.main(["check"])
    assert not (node.root / "state/expected.json").exists(), "the next check asks the metadata again"
    monkeypatch.setattr(cloud, "instance_type", lambda: "p5.48xlarge")
    program.main(["check"])
    assert json.loads((node.root / "state/expected.json").read_text())["instance_type"] == "p5.48xlarge"


def test_a_scratch_disk_may_be_full_and_must_be_mounted() -> None:
    rendered = cloud.expectations(settings(scratch="/local"), "p5.48xlarge")
    assert "/local" in rendered["expected"]["mounts"] and rendered["disks"] == {"/local": 0}


def test_missing_and_inactive_efa_devices_are_problems_and_other_rdma_devices_do_not_count(tmp_path: Path) -> None:
    folder = tmp_path / "infiniband"
    for index in range(3):
        add_device(tmp_path, f"rdmap{index}s0")
    add_device(tmp_path, "mlx5_0", driver="mlx5_core")
    assert list(host.efa(3, folder)) == []
    assert [reason([problem]) for problem in host.efa(4, folder)] == [
        "landbridge:efa:3 of 4 devices are there; do: reboot"
    ]
    (folder / "rdmap1s0/ports/1/state").write_text("1: DOWN\n")
    assert [reason([problem]) for problem in host.efa(3, folder)] == ["landbridge:efa:rdmap1s0 is DOWN; do: reboot"]


def test_a_driver_or_gpu_without_a_fabric_is_no_problem(machine: Standins) -> None:
    machine.become("pcie-v100")
    machine.inject()
    problems, _ = gpus.check({"count": 4, "type": "v100", "fabric": True})
    assert [problem for problem in problems if problem.check == "fabric"] == []


def test_the_role_is_in_the_playbook_of_the_image_before_slurmd() -> None:
    playbook = (ROOT / "ansible/playbooks/node_image.yml").read_text()
    assert 0 < playbook.index("name: node_health") < playbook.index("name: slurm_node\n")
