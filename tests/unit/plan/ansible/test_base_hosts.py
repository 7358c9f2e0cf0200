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
    found = dict(data["all"]["vars"])
    for group in ("onprem", "slurm_controller", "slurm_node", "nfs_server"):
        if host in data[group]["hosts"]:
            found |= data[group].get("vars", {})
    return found


def test_every_setting_of_the_profiles_has_its_reason_and_none_is_said_twice() -> None:
    for profile in tuning_profiles().values():
        settings = [*profile.kernel.items(), *profile.kernel_where_known.items()]
        assert all(len(setting.why) > 5 and re.fullmatch(r"[a-z]+(\.[a-z0-9_]+)+", key) for key, setting in settings)
        assert len({key for key, _ in settings}) == len(settings)


def test_gpu_nodes_and_hosts_that_serve_have_kernels_of_their_own() -> None:
    node, controller = variables("dgx01"), variables("ctl01")
    assert (node["tuning_governor"], controller["tuning_governor"]) == ("performance", "")
    assert node["tuning_transparent_huge_pages"] == "always" and controller["tuning_transparent_huge_pages"] == ""
    # Ranks read one another's memory on nodes; people do not on login hosts.
    key = "kernel.yama.ptrace_scope"
    assert (node["tuning_kernel"][key], controller["tuning_kernel"][key]) == (0, 1)
    assert {"domain": "*", "type": "-", "item": "memlock", "value": "unlimited"} in node["tuning_limits"]


def test_cloud_nodes_images_get_what_nodes_on_metal_have() -> None:
    image = inventory(environment({}))["all"]["vars"]
    node = variables("dgx01")
    assert {key: image[key] for key in image if "tuning" in key} == {key: node[key] for key in node if "tuning" in key}


def test_a_site_changes_and_removes_settings_and_sets_huge_pages_aside() -> None:
    kernel = {"vm.swappiness": 1, "vm.max_map_count": None, "net.ipv4.tcp_rmem": "4096 131072 33554432"}
    found = variables("dgx01", tuning={"kernel": kernel, "huge_pages": 1024, "transparent_huge_pages": "madvise"})
    assert found["tuning_kernel"]["vm.swappiness"] == 1 and "vm.max_map_count" not in found["tuning_kernel"]
    assert found["tuning_kernel"]["net.ipv4.tcp_rmem"] == "4096 131072 33554432"
    assert (found["tuning_huge_pages"], found["tuning_transparent_huge_pages"]) == (1024, "madvise")
    controller = variables("ctl01", tuning={"kernel": kernel, "huge_pages": 1024})
    assert controller["tuning_huge_pages"] == 0 and controller["tuning_kernel"]["vm.swappiness"] == 10


def test_slurm_does_not_hand_out_memory_that_is_set_aside() -> None:
    plain = onprem_nodes(environment({}))[0].memory_mib
    assert onprem_nodes(environment({HOSTS: {"tuning": {"huge_pages": 1024}}}))[0].memory_mib == plain - 2048


def test_switched_off_nobody_touches_a_kernel() -> None:
    for host in ("dgx01", "ctl01"):
        assert not [key for key in variables(host, tuning={"enabled": False}) if "tuning" in key]


@pytest.mark.parametrize(
    ("wanted", "service", "node"),
    [("services", "security", "off"), ("all", "security", "security"), ("none", "off", "off")],
)
def test_updates_by_themselves_where_the_site_wants_them(wanted: str, service: str, node: str) -> None:
    found = {host: variables(host, security_updates=wanted)["hardening_updates"] for host in ("db01", "dgx01")}
    assert found == {"db01": service, "dgx01": node}


def test_time_is_asked_of_the_sites_servers_on_the_site() -> None:
    assert variables("dgx01", time_servers=["10.20.0.5"])["base_time_servers"] == ["10.20.0.5"]
    # Instances have their provider's clock next to them.
    assert "base_time_servers" not in inventory(environment({HOSTS: {"time_servers": ["10.20.0.5"]}}))["all"]["vars"]


DIRECTORY = {
    "uris": ["ldaps://ldap.example.org"],
    "base": "dc=example,dc=org",
    "groups": ["gpu-users"],
    "members": "entries",
}


def test_a_directory_is_asked_on_every_host_and_the_server_of_homes_makes_them() -> None:
    found = variables("nfs01", directory=DIRECTORY)
    assert found["users_directory"]["schema"] == "rfc2307bis"
    assert (found["users_homes_of_groups"], found["users_homes_root"]) == (["gpu-users"], "/export/home")
    assert "users_homes_of_groups" not in variables("dgx01", directory=DIRECTORY)
    assert "users_directory" not in variables("nfs01")


def test_no_password_goes_into_an_image() -> None:
    open_one = inventory(environment({HOSTS: {"directory": DIRECTORY}}))["all"]["vars"]
    assert open_one["landbridge_image_directory"] == open_one["users_directory"]
    closed = inventory(environment({HOSTS: {"directory": {**DIRECTORY, "bind_dn": "cn=hosts"}}}))["all"]["vars"]
    assert closed["landbridge_image_directory"] == {} and closed["users_directory"]["bind_dn"] == "cn=hosts"
