"""GPU tools beside the driver: repositories and CUDA version, and none if the driver is not installed by Landbridge."""

from pathlib import Path
from typing import Any

import pytest

from landbridge.catalog.hardware.node_software import node_software
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.roles.nodes.dcgm import STATISTICS
from tests.unit.core.samples import environment
from tests.unit.plan.gpu_tools import gpu_tools_variables

ROLES = Path(__file__).parents[4] / "ansible/roles"


def planned(host: str = "dgx01", platform: str = "dgx-h100", **site: Any) -> dict[str, Any]:
    changes: dict[Any, Any] = {("onprem", key): value for key, value in site.items()}
    return gpu_tools_variables(environment({("onprem", "nodes", 0, "platform"): platform, **changes}), host)


def test_a_node_gets_all_gpu_tools_and_other_hosts_none() -> None:
    tools = planned()
    assert tools["landbridge_dcgm"] and tools["landbridge_container_toolkit"] and tools["landbridge_rdma"]
    assert tools["dcgm_cuda"] == "13" and tools["rdma_stack"] == "distribution"
    assert "slurm_job_environment_statistics" not in tools
    assert planned("ctl01") == {}
    assert {key: inventory(environment())["_meta"]["hostvars"]["dgx02"][key] for key in tools} == tools


def test_a_node_with_a_preinstalled_driver_gets_no_tools() -> None:
    assert planned(driver={"install": False}) == {}


@pytest.mark.parametrize(
    ("driver", "own_repository", "cuda"),
    [({}, False, "13"), ({"repository": "distribution"}, True, "13"), ({"branch": "535"}, False, "12")],
)
def test_tools_have_the_repository_and_cuda_version_of_the_driver(
    driver: dict[str, Any], own_repository: bool, cuda: str
) -> None:
    tools = planned(driver=driver)
    assert (tools["dcgm_repository"], tools["dcgm_cuda"]) == (own_repository, cuda)


def test_rdma_is_planned_for_nodes_with_adapters_or_listed_ports() -> None:
    assert "landbridge_rdma" not in planned(platform="pcie-l40s")
    roce = {"rdma": {"roce": [{"device": "mlx5_0", "interface": "enp1s0"}]}}
    assert planned(platform="pcie-l40s", gpu_tools=roce)["rdma_roce"] == [
        {"device": "mlx5_0", "interface": "enp1s0", "port": 1, "traffic_class": 106, "pfc": [3]}
    ]
    assert "landbridge_rdma" not in planned(gpu_tools={"rdma": {"stack": "none"}})


def test_every_node_has_one_release_of_doca_ofed() -> None:
    assert planned(gpu_tools={"rdma": {"stack": "doca"}})["rdma_version"] == node_software().doca.version
    assert planned(gpu_tools={"rdma": {"stack": "doca", "version": "3.3.0"}})["rdma_version"] == "3.3.0"
    addresses = (ROLES / "rdma/vars/Ubuntu-24.04.yml").read_text()
    assert f"{node_software().doca.address}/{{version}}/ubuntu24.04/{{architecture}}/" in addresses
    assert f"rdma_version: {node_software().doca.version}\n" in (ROLES / "rdma/defaults/main.yml").read_text()


def test_disabled_tools_are_not_planned() -> None:
    none = {"dcgm": False, "container_toolkit": False, "rdma": {"stack": "none"}}
    assert planned(gpu_tools=none) == {}


@pytest.mark.parametrize(("platform", "planned_gds"), [("dgx-h100", True), ("pcie-v100", False)])
def test_gpudirect_storage_is_optional_and_needs_open_modules(platform: str, planned_gds: bool) -> None:
    assert ("landbridge_gds" in planned(platform=platform, gpu_tools={"gds": True})) is planned_gds
    assert "landbridge_gds" not in planned(platform=platform)


def test_job_statistics_are_optional_and_need_dcgm() -> None:
    assert planned(gpu_tools={"job_statistics": True})["slurm_job_environment_statistics"] == STATISTICS
    assert "slurm_job_environment_statistics" not in planned(gpu_tools={"job_statistics": True, "dcgm": False})


def test_the_key_of_a_mirror_is_in_the_mirror() -> None:
    tools = planned(gpu_tools={"container_toolkit_mirror": "http://m.example.org/ct"})
    assert tools["nvidia_container_toolkit_mirror"] == "http://m.example.org/ct/"
    assert tools["nvidia_container_toolkit_key_url"] == "http://m.example.org/ct/gpgkey"
