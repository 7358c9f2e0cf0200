"""Slurm's sources: every one checked by its bytes, and every name that roles use known to Slurm's own packaging."""

import re
from pathlib import Path

from landbridge.catalog import slurm_releases, slurm_sources

ROLES = Path(__file__).parents[3] / "ansible/roles"


def test_archives_are_of_versions_there_are_and_have_a_checksum() -> None:
    for version, archive in slurm_sources().archives.items():
        assert version in slurm_releases()
        assert archive.release.startswith(f"{version}.")
        assert archive.release in archive.path
        assert re.fullmatch(r"[0-9a-f]{64}", archive.sha256)


def test_every_package_that_a_role_asks_for_is_known_under_its_own_name() -> None:
    asked: set[str] = set()
    for path in ROLES.glob("slurm_*/tasks/*.yml"):
        for line in re.findall(r"slurm_common_packages: (.*)", path.read_text()):
            # A list, or an expression of some.
            names = ",".join(re.findall(r"\[([^][]*)\]", line)).split(",")
            asked.update(name.strip(" '") for name in names if name)
    assert {"slurmctld", "slurmd", "slurmdbd", "sackd"} <= asked
    assert asked <= set(slurm_sources().names)
