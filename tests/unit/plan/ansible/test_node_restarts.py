"""Restarts of on-prem nodes: failure budget, waiting times by platform, and settings of the PCIe tree."""

from typing import Any

import pytest

from landbridge.catalog import platforms
from landbridge.environment import Environment
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.roles.hosts.tuning import pcie_tuning
from landbridge.plan.roles.nodes.node_restart import at_once, node_restart_variables, out_of_service, restart_minutes
from tests.unit.core.samples import environment

NODE, RESTARTS = ("onprem", "nodes", 0), ("onprem", "restarts")


def site(nodes: int, restarts: dict[str, Any] | None = None, platform: str = "dgx-h100") -> Environment:
    """Return an environment with a group of nodes of one platform."""
    changes = {(*NODE, "hosts"): f"dgx[001-{nodes:03}]", (*NODE, "platform"): platform, RESTARTS: restarts or {}}
    return environment(changes)


@pytest.mark.parametrize(("nodes", "once", "budget"), [(2, 1, 2), (20, 1, 2), (100, 5, 10), (500, 25, 50)])
def test_a_site_never_drains_all_its_nodes_at_once(nodes: int, once: int, budget: int) -> None:
    assert (at_once(site(nodes)), out_of_service(site(nodes))) == (once, budget)


def test_a_written_budget_limits_the_restarts_at_once() -> None:
    assert (at_once(site(500, {"out_of_service": 3})), out_of_service(site(500, {"out_of_service": 3}))) == (3, 3)
    assert at_once(site(20, {"at_once": 4, "out_of_service": 6})) == 4


@pytest.mark.parametrize("name", sorted(name for name in platforms() if name.startswith("dgx-")))
def test_deepops_779_a_dgx_has_more_than_25_minutes_to_start(name: str) -> None:
    written = site(4, platform=name)
    assert restart_minutes(written, written.node_groups[0]) > 25


def test_the_waiting_times_of_a_node_are_those_of_its_platform_or_of_the_file() -> None:
    variables = node_restart_variables(site(4), "dgx001")
    assert variables["node_restart_timeout"] == variables["nvidia_driver_reboot_timeout"] == 45 * 60
    variables = node_restart_variables(site(4, {"minutes": 90, "drain_minutes": 600}), "dgx001")
    assert (variables["nvidia_driver_reboot_timeout"], variables["nvidia_driver_drain_minutes"]) == (90 * 60, 600)
    assert node_restart_variables(site(4), "ctl01") == {}


def test_the_role_restarts_nodes_as_the_driver_key_says() -> None:
    hosts = inventory(environment({("onprem", "driver"): {"reboot": "drained"}}))["_meta"]["hostvars"]
    assert hosts["dgx01"]["node_restart_policy"] == hosts["dgx01"]["nvidia_driver_reboot"] == "drained"
    assert not any(name.startswith("node_restart_") for name in hosts["ctl01"])


def settings(platform: str, **tuning: Any) -> dict[str, list[str]]:
    """Return the values of a platform's PCIe settings by kind."""
    rows = pcie_tuning(environment({("hosts", "tuning"): tuning}), platform).get("tuning_pcie", [])
    return {row["kind"]: [other["value"] for other in rows if other["kind"] == row["kind"]] for row in rows}


def test_nodes_on_x86_pass_dma_through_the_iommu_and_have_no_acs() -> None:
    assert settings("hgx-h100") == {"boot_argument": ["iommu=pt"], "acs_off": ["0000"]}
    assert settings("hgx-a100")["driver_parameter"] == ["NVreg_EnablePCIERelaxedOrderingMode=1"]
    assert settings("gb200-nvl72") == {} == settings("hgx-h100", pcie=False) == settings("hgx-h100", enabled=False)


@pytest.mark.parametrize("platform", ["dgx-a100", "dgx-h100"])
def test_every_pcie_setting_is_left_to_dgx_os_where_it_has_a_package(platform: str) -> None:
    rows = pcie_tuning(environment(), platform)["tuning_pcie"]
    assert all(row["left_to"] for row in rows)
    packages = {package for row in rows for package in row["left_to"]}
    # DGX OS 6 has nv-iommu-pt, DGX OS 7 nv-iommu.
    assert {"nvidia-acs-disable", "nv-iommu-pt", "nv-iommu"} <= packages


def test_only_gpu_nodes_of_the_site_get_pcie_settings() -> None:
    hosts = inventory(environment())
    assert "tuning_pcie" in hosts["_meta"]["hostvars"]["dgx01"]
    assert "tuning_pcie" not in hosts["all"]["vars"] and "tuning_pcie" not in hosts["_meta"]["hostvars"]["ctl01"]
