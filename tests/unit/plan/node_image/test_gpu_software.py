"""Software of GPU nodes in AWS: by the pools that boot an image, and only what is published for its operating system."""

from pathlib import Path
from typing import Any

import pytest

from landbridge import yaml_text
from landbridge.catalog import gpu_stack, images
from landbridge.catalog.hardware.node_software import node_software
from landbridge.catalog.hardware.published import published
from landbridge.plan.node_image.node_image import node_image_args
from tests.unit.core.samples import environment

ROLES = Path(__file__).parents[4] / "ansible/roles"
OWN = {"packaging": "schedmd", "packages_mirror": "http://mirror.example.org/slurm", "packages_key": "key"}


def variables(parent: str, instance: str = "p5.48xlarge", architecture: Any = "x86_64", **other: Any) -> dict[str, Any]:
    parameter = images()[parent].parameter_for(architecture)
    sources = {"node": {"build": {"parent": "base"}}, "base": {"parameter": parameter}}
    changes = {
        ("aws", "images"): sources,
        ("aws", "pools", 0, "image"): "node",
        ("aws", "pools", 0, "instance"): instance,
        **{tuple(key.split("__")): value for key, value in other.items()},
    }
    (image,) = node_image_args(environment(changes), {})
    return image.variables


def included(of: dict[str, Any]) -> set[str]:
    """Return the roles of gpu_image.yml that are included."""
    flags = {"nvidia_driver", "nvidia_fabric", "dcgm", "container_toolkit", "efa", "gdrcopy", "nccl_tests"}
    return {flag for flag in flags if of.get(f"landbridge_{flag}")}


def test_a_deep_learning_ami_keeps_its_driver_and_gets_the_rest() -> None:
    image = variables("dlami-base-ubuntu-24.04")
    everything = {"nvidia_driver", "nvidia_fabric", "dcgm", "container_toolkit", "efa", "gdrcopy", "nccl_tests"}
    assert included(image) == everything
    assert image["landbridge_driver_provided"] and image["nvidia_driver_branch"] == ""
    assert image["dcgm_repository"], "no role has added NVIDIA's repository"
    assert (image["base_time_servers"], image["nccl_tests_mpi"]) == (["169.254.169.123"], "/opt/amazon/openmpi")


def test_a_plain_ubuntu_gets_the_driver_and_fabric_manager_in_one_release() -> None:
    image = variables("ubuntu-24.04-x86_64")
    assert included(image) == {"nvidia_driver", "nvidia_fabric", "dcgm", "container_toolkit", "efa", "gdrcopy"}
    assert not image["landbridge_driver_provided"] and not image["dcgm_repository"]
    assert image["nvidia_driver_version"] == gpu_stack().branches["580"].release
    assert image["nvidia_driver_locked"] == ["fabric_manager", "switch_query"]


def test_debian_13_gets_only_what_is_published_for_it() -> None:
    parameter = {"node": {"build": {"parent": "debian-13"}}}
    changes = {("aws", "images"): parameter, ("aws", "pools", 0, "image"): "node"}
    (image,) = node_image_args(environment(changes), {})
    assert included(image.variables) == {"efa"}


def test_a_blackwell_pool_gets_the_subnet_manager_and_open_modules() -> None:
    image = variables("ubuntu-24.04-x86_64", "p6-b200.48xlarge")
    assert image["nvidia_fabric_subnet_manager"] and image["nvidia_driver_beside"] == ["subnet_manager"]
    assert image["nvidia_driver_modules"] == "open" and "switch_counters" in image["nvidia_driver_locked"]


def test_a_pool_without_gpus_or_efa_gets_neither() -> None:
    image = variables("ubuntu-24.04-x86_64", "m7i.2xlarge")
    assert included(image) == set() and image["base_time_servers"]
    assert "efa" not in included(variables("dlami-base-ubuntu-24.04", aws__pools=[pool(efa=False)]))


def pool(**keys: Any) -> dict[str, Any]:
    capacity = [{"kind": "on_demand", "zones": ["use1-az4"]}]
    return {"name": "p5", "instance": "p5.48xlarge", "max_nodes": 4, "image": "node", "capacity": capacity, **keys}


def test_arm_processors_get_imex_and_arm_packages() -> None:
    image = variables("ubuntu-24.04-arm64", "p6e-gb200.36xlarge", "arm64")
    assert image["nvidia_fabric_imex"] and "imex" in image["nvidia_driver_locked"]
    assert not image["nvidia_fabric_manager"], "the rack's switches are not the node's"
    assert {"efa", "gdrcopy", "dcgm"} <= included(image)


@pytest.mark.parametrize(("parent", "suite"), [("ubuntu-24.04-x86_64", "noble"), ("debian-13-x86_64", "trixie")])
def test_slurm_comes_from_the_sites_suite_of_the_parents_system(parent: str, suite: str) -> None:
    image = variables(parent, scheduler__slurm={"version": "24.11", **OWN})
    assert (image["slurm_common_release"], image["slurm_common_version"]) == (suite, "24.11.5")
    assert image["slurm_common_repository"]["uris"] == "http://mirror.example.org/slurm"


def test_lustre_comes_from_amazon_where_it_has_packages() -> None:
    scratch = {"kind": "fsx_lustre", "capacity_gib": 4800, "throughput": 250, "zone": "use1-az4"}
    lustre = variables("ubuntu-24.04-x86_64", storage__cloud_scratch=scratch)["landbridge_cloud_lustre"]
    assert lustre["lustre_client_repository"]["suites"] == "noble"
    assert "landbridge_cloud_lustre" not in variables("debian-13-x86_64", storage__cloud_scratch=scratch)


def test_the_roles_defaults_are_the_catalogues() -> None:
    facts = node_software()
    efa, gdrcopy, tests = (
        yaml_text.load((ROLES / name / "defaults/main.yml").read_text()) for name in ("efa", "gdrcopy", "nccl_tests")
    )
    assert (efa["efa_version"], efa["efa_sha256"], efa["efa_address"]) == (
        facts.efa.version,
        facts.efa.sha256,
        facts.efa.address,
    )
    assert (gdrcopy["gdrcopy_version"], gdrcopy["gdrcopy_address"]) == (facts.gdrcopy.version, facts.gdrcopy.address)
    for name, source in (("nccl_tests", facts.nccl_tests), ("nvbandwidth", facts.nvbandwidth)):
        row = {"address": source.address, "version": source.version, "commit": source.commit}
        assert tests["nccl_tests_sources"][name] == row
    source = facts.efs_utils
    defaults = yaml_text.load((ROLES / "efs_utils/defaults/main.yml").read_text())
    row = {"address": source.address, "version": source.version, "commit": source.commit}
    assert defaults["efs_utils_source"] == row


def test_published_branches_are_those_of_the_catalogue() -> None:
    for systems in (published().driver.systems, published().driver_of_distribution.systems):
        for system, architectures in systems.items():
            assert f"{system.capitalize()}" in gpu_stack().systems, system
            assert gpu_stack().branch in {branch for branches in architectures.values() for branch in branches} or (
                system == "debian-13"
            )
