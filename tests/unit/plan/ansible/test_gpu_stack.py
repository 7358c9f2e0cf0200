"""NVIDIA driver of a node, and the packages that must have its version."""

from typing import Any

import pytest

from landbridge.catalog import generation, gpu_stack, platforms
from landbridge.environment.onprem.driver import Driver
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.roles.nodes.nvidia_driver import driver_variables, software
from tests.unit.core.samples import environment
from tests.unit.plan.gpu_tools import gpu_tools_variables

DEBIAN, NOBLE = gpu_stack().systems["Debian-13"]["nvidia"], gpu_stack().systems["Ubuntu-24.04"]
NODE = ("onprem", "nodes", 0)


@pytest.mark.parametrize("name", sorted(platforms()))
def test_deepops_fact_2_every_machine_with_nvswitches_has_a_fabric_manager(name: str) -> None:
    # DGX or not: without it CUDA fails with error 802, and tools that know only DGX do not install it on HGX.
    stack, platform = software(Driver(), platforms()[name]), platforms()[name]
    switches = platform.nvswitch is not None and platform.nvswitch.count > 0
    assert ("fabric_manager" in stack.locked) == ("switch_query" in stack.locked) == switches
    assert ("nvidia-fabricmanager" in stack.packages(DEBIAN)) == switches
    assert ("nvlsm" in stack.packages(DEBIAN)) == platform.subnet_manager
    assert stack.modules == generation(platform.gpu).modules[0]


def test_packages_that_must_match_the_driver_have_its_version() -> None:
    packages = software(Driver(version="580.95.05"), platforms()["dgx-b200"]).packages(DEBIAN)
    assert packages.pop("nvlsm") == ""
    assert set(packages.values()) == {"580.95.05"}
    assert {"nvidia-driver-cuda", "nvidia-kernel-open-dkms", "nvidia-fabricmanager", "libnvidia-nscq"} <= set(packages)


def test_package_names_depend_on_the_branch_and_the_repository() -> None:
    volta, hopper = platforms()["pcie-v100"], platforms()["dgx-h100"]
    assert "nvidia-dkms-580" in software(Driver(), volta).packages(NOBLE["nvidia"])
    assert "nvidia-dkms-580-open" in software(Driver(), hopper).packages(NOBLE["nvidia"])
    assert "nvidia-dkms-open" in software(Driver(branch="595"), hopper).packages(NOBLE["nvidia"])
    signed = software(Driver(repository="distribution"), hopper).packages(NOBLE["distribution"])
    assert signed["nvidia-fabricmanager-580"] == "" and "linux-modules-nvidia-580-server-open-generic" in signed


@pytest.mark.parametrize("branch", ["535", "570", "575"])
def test_names_of_older_branches_end_with_the_branch(branch: str) -> None:
    packages = software(Driver(branch=branch), platforms()["dgx-h100"]).packages(NOBLE["nvidia"])
    assert set(packages) == {
        *(f"{name}-{branch}" for name in ("libnvidia-compute", "nvidia-kernel-common", "nvidia-utils")),
        *(f"{name}-{branch}" for name in ("nvidia-compute-utils", "nvidia-fabricmanager", "libnvidia-nscq")),
        f"nvidia-dkms-{branch}-open",
    }


def test_nodes_have_one_release_of_the_long_term_branch_unless_the_file_sets_another() -> None:
    variables = driver_variables(environment(), "dgx01")
    assert (variables["nvidia_driver_branch"], variables["nvidia_driver_version"]) == ("580", "580.159.04")
    assert variables["nvidia_driver_reboot"] == "unloaded" and variables["nvidia_driver_modules"] == "open"
    named = driver_variables(environment({("onprem", "driver"): {"version": "595.71.05"}}), "dgx01")
    assert (named["nvidia_driver_branch"], named["nvidia_driver_version"]) == ("595", "595.71.05")


def test_node_health_expects_the_branch_of_any_installation() -> None:
    preinstalled = environment({("onprem", "driver"): {"install": False, "branch": "595"}})
    assert driver_variables(preinstalled, "dgx01") == {"node_health_driver_branch": "595"}
    hosts = inventory(environment())["_meta"]["hostvars"]
    assert hosts["dgx01"]["node_health_driver_branch"] == "580"
    assert not any(name.startswith("nvidia_") for name in hosts["ctl01"])


@pytest.mark.parametrize("driver", [{}, {"branch": "595"}, {"install": False}])
def test_a_system_with_a_driver_keeps_it_and_no_branch_of_ours_drains_its_nodes(driver: dict[str, Any]) -> None:
    # DGX OS 7 has R570 or R580, and one update replaces all of it.
    dgx_os = environment({(*NODE, "os"): "dgx-os-7", ("onprem", "driver"): driver})
    assert driver_variables(dgx_os, "dgx01") == {"node_health_driver_branch": ""}
    assert gpu_tools_variables(dgx_os, "dgx01") == {}
    preinstalled = environment({("onprem", "driver"): {"install": False}})
    assert driver_variables(preinstalled, "dgx01") == {"node_health_driver_branch": ""}


def test_a_site_may_have_dgx_os_beside_nodes_whose_driver_is_installed() -> None:
    groups = [
        {"hosts": "dgx[01-02]", "platform": "dgx-h100", "address": "10.20.1.11", "os": "dgx-os-7"},
        {"hosts": "smc01", "platform": "supermicro-hgx-a100", "address": "10.20.1.31", "os": "ubuntu-24.04"},
    ]
    slurm = {"packaging": "schedmd", "packages_mirror": "http://10.20.0.10/slurm", "packages_key": "x"}
    mixed = environment({("onprem", "nodes"): groups, ("scheduler", "slurm"): slurm})
    hosts = inventory(mixed)["_meta"]["hostvars"]
    assert "nvidia_driver_branch" not in hosts["dgx01"] and hosts["smc01"]["nvidia_driver_branch"] == "580"
    assert hosts["dgx01"]["slurm_common_release"] == hosts["smc01"]["slurm_common_release"] == "noble"


def test_nodes_of_one_nvlink_domain_have_the_same_imex_node_list() -> None:
    size = platforms()["gb200-nvl72"].domain.nodes  # type: ignore[union-attr]
    changes: dict[Any, Any] = {(*NODE, "platform"): "gb200-nvl72", (*NODE, "hosts"): f"gb[01-{2 * size}]"}
    both = environment(changes)
    first, last, other = (
        driver_variables(both, name)["nvidia_fabric_imex_nodes"] for name in ("gb01", f"gb{size}", f"gb{size + 1}")
    )
    assert first == last and len(first) == len(other) == size and not set(first) & set(other)
    assert "imex" in driver_variables(both, "gb01")["nvidia_driver_locked"]
    assert driver_variables(environment(), "dgx01")["nvidia_fabric_imex_nodes"] == []
