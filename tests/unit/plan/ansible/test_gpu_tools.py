"""Tools beside the driver: planned for NVIDIA's repository, and none where the distribution brings the driver."""

from typing import Any

import pytest

from landbridge.plan.ansible.gpu_tools import STATISTICS, gpu_tools_variables
from landbridge.plan.ansible.inventory import inventory
from tests.unit.core.samples import environment


def planned(host: str = "dgx01", platform: str = "dgx-h100", **site: Any) -> dict[str, Any]:
    changes: dict[Any, Any] = {("onprem", key): value for key, value in site.items()}
    return gpu_tools_variables(environment({("onprem", "nodes", 0, "platform"): platform, **changes}), host)


def test_a_node_gets_all_of_it_and_other_hosts_nothing() -> None:
    found = planned()
    assert found["landbridge_dcgm"] and found["landbridge_container_toolkit"] and found["landbridge_rdma"]
    assert found["dcgm_cuda"] == "13" and found["rdma_stack"] == "distribution"
    assert "slurm_job_environment_statistics" not in found
    assert planned("ctl01") == {}
    assert {key: inventory(environment())["_meta"]["hostvars"]["dgx02"][key] for key in found} == found


def test_a_machine_that_brings_its_driver_brings_the_rest() -> None:
    assert planned(driver={"install": False}) == {}


@pytest.mark.parametrize(
    ("driver", "own", "cuda"),
    [({}, False, "13"), ({"repository": "distribution"}, True, "13"), ({"branch": "535"}, False, "12")],
)
def test_one_source_of_packages_and_the_drivers_cuda(driver: dict[str, Any], own: bool, cuda: str) -> None:
    found = planned(driver=driver)
    assert (found["dcgm_repository"], found["dcgm_cuda"]) == (own, cuda)


def test_rdma_is_for_machines_with_adapters_or_with_ports_named() -> None:
    assert "landbridge_rdma" not in planned(platform="pcie-l40s")
    roce = {"rdma": {"roce": [{"device": "mlx5_0", "interface": "enp1s0"}]}}
    assert planned(platform="pcie-l40s", gpu_tools=roce)["rdma_roce"] == [
        {"device": "mlx5_0", "interface": "enp1s0", "port": 1, "traffic_class": 106, "pfc": [3]}
    ]
    assert "landbridge_rdma" not in planned(gpu_tools={"rdma": {"stack": "none"}})


def test_what_is_not_wanted_is_not_planned() -> None:
    none = {"dcgm": False, "container_toolkit": False, "rdma": {"stack": "none"}}
    assert planned(gpu_tools=none) == {}


@pytest.mark.parametrize(("platform", "there"), [("dgx-h100", True), ("pcie-v100", False)])
def test_gpudirect_storage_is_asked_for_and_needs_open_modules(platform: str, there: bool) -> None:
    assert ("landbridge_gds" in planned(platform=platform, gpu_tools={"gds": True})) is there
    assert "landbridge_gds" not in planned(platform=platform)


def test_jobs_statistics_need_dcgm_and_are_asked_for() -> None:
    assert planned(gpu_tools={"job_statistics": True})["slurm_job_environment_statistics"] == STATISTICS
    assert "slurm_job_environment_statistics" not in planned(gpu_tools={"job_statistics": True, "dcgm": False})


def test_a_mirror_has_its_key_in_it() -> None:
    found = planned(gpu_tools={"container_toolkit_mirror": "http://m.example.org/ct"})
    assert found["nvidia_container_toolkit_mirror"] == "http://m.example.org/ct/"
    assert found["nvidia_container_toolkit_key_url"] == "http://m.example.org/ct/gpgkey"
