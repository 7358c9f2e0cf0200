"""Operating system settings of every host: kernel, time, updates, and accounts of a directory."""

import re
from typing import Any

import pytest

from landbridge.catalog.hardware.tuning import tuning_profiles
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.slurm.nodes import onprem_nodes
from tests.unit.core.samples import environment

HOSTS = ("hosts",)


def variables(host: str, **hosts: Any) -> dict[str, Any]:
    """Return a host's variables, merged from its groups as Ansible does."""
    data = inventory(environment({HOSTS: hosts} if hosts else {}))
    merged = dict(data["all"]["vars"])
    for group in ("onprem", "slurm_controller", "slurm_node", "nfs_server"):
        if host in data[group]["hosts"]:
            merged |= data[group].get("vars", {})
    return merged


def test_every_setting_of_a_profile_is_unique_and_has_a_reason() -> None:
    for profile in tuning_profiles().values():
        settings = [*profile.kernel.items(), *profile.kernel_where_known.items()]
        assert all(len(setting.why) > 5 and re.fullmatch(r"[a-z]+(\.[a-z0-9_]+)+", key) for key, setting in settings)
        assert len({key for key, _ in settings}) == len(settings)


def test_gpu_nodes_and_service_hosts_have_different_kernel_settings() -> None:
    node, controller = variables("dgx01"), variables("ctl01")
    assert (node["tuning_governor"], controller["tuning_governor"]) == ("performance", "")
    assert node["tuning_transparent_huge_pages"] == "always" and controller["tuning_transparent_huge_pages"] == ""
    # Ranks of a job read one another's memory on nodes; users may not on login hosts.
    key = "kernel.yama.ptrace_scope"
    assert (node["tuning_kernel"][key], controller["tuning_kernel"][key]) == (0, 1)
    assert {"domain": "*", "type": "-", "item": "memlock", "value": "unlimited"} in node["tuning_limits"]


def test_images_of_cloud_nodes_have_the_tuning_of_on_prem_nodes() -> None:
    image = inventory(environment({}))["all"]["vars"]
    node = variables("dgx01")
    assert {key: image[key] for key in image if "tuning" in key} == {key: node[key] for key in node if "tuning" in key}


def test_a_site_changes_and_removes_kernel_settings_and_reserves_huge_pages() -> None:
    kernel = {"vm.swappiness": 1, "vm.max_map_count": None, "net.ipv4.tcp_rmem": "4096 131072 33554432"}
    node = variables("dgx01", tuning={"kernel": kernel, "huge_pages": 1024, "transparent_huge_pages": "madvise"})
    assert node["tuning_kernel"]["vm.swappiness"] == 1 and "vm.max_map_count" not in node["tuning_kernel"]
    assert node["tuning_kernel"]["net.ipv4.tcp_rmem"] == "4096 131072 33554432"
    assert (node["tuning_huge_pages"], node["tuning_transparent_huge_pages"]) == (1024, "madvise")
    controller = variables("ctl01", tuning={"kernel": kernel, "huge_pages": 1024})
    assert controller["tuning_huge_pages"] == 0 and controller["tuning_kernel"]["vm.swappiness"] == 10


def test_slurm_does_not_allocate_memory_reserved_for_huge_pages() -> None:
    plain = onprem_nodes(environment({}))[0].memory_mib
    assert onprem_nodes(environment({HOSTS: {"tuning": {"huge_pages": 1024}}}))[0].memory_mib == plain - 2048


def test_disabled_tuning_sets_no_variable() -> None:
    for host in ("dgx01", "ctl01"):
        assert not [key for key in variables(host, tuning={"enabled": False}) if "tuning" in key]


@pytest.mark.parametrize(
    ("selection", "service", "node"),
    [("services", "security", "off"), ("all", "security", "security"), ("none", "off", "off")],
)
def test_security_updates_are_installed_on_the_selected_hosts(selection: str, service: str, node: str) -> None:
    updates = {host: variables(host, security_updates=selection)["hardening_updates"] for host in ("db01", "dgx01")}
    assert updates == {"db01": service, "dgx01": node}


def test_on_prem_hosts_use_the_time_servers_of_the_site() -> None:
    assert variables("dgx01", time_servers=["10.20.0.5"])["base_time_servers"] == ["10.20.0.5"]
    # Instances use the time service of AWS.
    assert "base_time_servers" not in inventory(environment({HOSTS: {"time_servers": ["10.20.0.5"]}}))["all"]["vars"]


DIRECTORY = {
    "uris": ["ldaps://ldap.example.org"],
    "base": "dc=example,dc=org",
    "groups": ["gpu-users"],
    "members": "entries",
}


def test_every_host_uses_the_directory_and_the_storage_host_creates_home_directories() -> None:
    storage_host = variables("nfs01", directory=DIRECTORY)
    assert storage_host["users_directory"]["schema"] == "rfc2307bis"
    assert (storage_host["users_homes_of_groups"], storage_host["users_homes_root"]) == (["gpu-users"], "/export/home")
    assert "users_homes_of_groups" not in variables("dgx01", directory=DIRECTORY)
    assert "users_directory" not in variables("nfs01")


def test_no_password_goes_into_an_image() -> None:
    without_password = inventory(environment({HOSTS: {"directory": DIRECTORY}}))["all"]["vars"]
    assert without_password["landbridge_image_directory"] == without_password["users_directory"]
    with_password = inventory(environment({HOSTS: {"directory": {**DIRECTORY, "bind_dn": "cn=hosts"}}}))["all"]["vars"]
    assert (
        with_password["landbridge_image_directory"] == {} and with_password["users_directory"]["bind_dn"] == "cn=hosts"
    )
