"""Sources of Slurm's packages for each host."""

from typing import Any

import pytest

from landbridge.catalog import slurm_sources
from landbridge.plan.slurm.packages import slurm_packages
from tests.unit.core.samples import environment


def planned(**slurm: Any) -> dict[str, Any]:
    return slurm_packages(environment({("scheduler", "slurm"): slurm}))


def test_debian_13_has_24_11_itself() -> None:
    assert planned(version="24.11") == {"slurm_common_release": ""}


def test_debians_newer_one_comes_by_the_names_of_its_sources() -> None:
    found = planned(version="26.05")
    assert (found["slurm_common_release"], found["slurm_common_sources"]) == ("forky", ["slurm-wlm", "hwloc"])
    assert found["slurm_common_repository"]["signed_by"].startswith("/usr/share/keyrings/debian")
    assert "slurm_common_names" not in found


@pytest.mark.parametrize("version", ["23.11", "24.11", "25.11", "26.05"])
def test_what_was_built_comes_under_slurms_own_names_with_the_sites_key(version: str) -> None:
    key = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----"
    found = planned(
        version=version, packaging="schedmd", packages_mirror="http://mirror.example.org/slurm", packages_key=key
    )
    assert (found["slurm_common_release"], found["slurm_common_sources"]) == (
        f"slurm-{version.replace('.', '-')}",
        ["slurm-smd"],
    )
    assert found["slurm_common_repository"] == {
        "uris": "http://mirror.example.org/slurm",
        "components": "main",
        "signed_by": key,
    }
    assert found["slurm_common_names"].keys() == slurm_sources().names.keys()
