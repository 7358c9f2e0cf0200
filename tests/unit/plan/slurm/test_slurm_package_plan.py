"""Sources of Slurm's packages for each host."""

from typing import Any

import pytest

from landbridge.catalog import slurm_sources
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.slurm.packages import slurm_packages
from tests.unit.core.samples import environment

KEY = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----"
OWN = {"packaging": "schedmd", "packages_mirror": "http://mirror.example.org/slurm", "packages_key": KEY}


def planned(system: str = "debian-13", **slurm: Any) -> dict[str, Any]:
    return slurm_packages(environment({("scheduler", "slurm"): slurm}), system)


def test_slurm_24_11_comes_from_debian_13_in_one_release() -> None:
    assert planned(version="24.11") == {"slurm_common_release": "", "slurm_common_version": "24.11.5"}


def test_slurm_26_05_comes_from_a_newer_debian_by_its_source_packages() -> None:
    packages = planned(version="26.05")
    assert (packages["slurm_common_release"], packages["slurm_common_sources"]) == ("forky", ["slurm-wlm", "hwloc"])
    assert packages["slurm_common_version"] == "26.05.5", (
        "not the one that Debian testing has on the day of the install"
    )
    assert packages["slurm_common_repository"]["signed_by"].startswith("/usr/share/keyrings/debian")
    assert "slurm_common_names" not in packages


@pytest.mark.parametrize(
    ("slurm", "release"),
    [
        ({"version": "26.05", "release": "26.05.7"}, "26.05.7"),
        ({"version": "26.05", "release": "newest"}, ""),
        ({"version": "25.11", "packages_release": "own"}, ""),
    ],
)
def test_the_release_of_the_file_replaces_the_catalogues(slurm: dict[str, Any], release: str) -> None:
    assert planned(**slurm)["slurm_common_version"] == release


@pytest.mark.parametrize("version", ["23.11", "24.11", "25.11", "26.05"])
@pytest.mark.parametrize(
    ("system", "suite"), [("debian-12", "bookworm"), ("debian-13", "trixie"), ("ubuntu-24.04", "noble")]
)
def test_packages_built_by_the_site_have_schedmds_names_the_sites_key_and_a_suite_for_each_system(
    version: str, system: str, suite: str
) -> None:
    packages = planned(system, version=version, **OWN)
    assert (packages["slurm_common_release"], packages["slurm_common_sources"]) == (suite, ["slurm-smd"])
    assert packages["slurm_common_repository"] == {
        "uris": "http://mirror.example.org/slurm",
        "components": "main",
        "signed_by": KEY,
    }
    assert packages["slurm_common_names"].keys() == slurm_sources().names.keys()


def test_ubuntu_nodes_get_the_controllers_release_from_their_own_suite() -> None:
    nodes = [{"hosts": "dgx01", "platform": "dgx-h100", "address": "10.20.1.11", "os": "ubuntu-24.04"}]
    data = inventory(environment({("onprem", "nodes"): nodes, ("scheduler", "slurm"): {"version": "24.11", **OWN}}))
    common, node = data["all"]["vars"], data["_meta"]["hostvars"]["dgx01"]
    assert (common["slurm_common_release"], common["slurm_common_version"]) == ("trixie", "24.11.5")
    assert {name: value for name, value in node.items() if name.startswith("slurm_common")} == {
        "slurm_common_release": "noble"
    }
    assert "slurm_common_release" not in data["_meta"]["hostvars"]["login01"]
