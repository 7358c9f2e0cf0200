"""Source archives of Slurm with checksums, and the package names of Slurm's own packaging."""

import re
from pathlib import Path

from landbridge.catalog import slurm_releases, slurm_sources

ROLES = Path(__file__).parents[3] / "ansible/roles"


def test_archives_are_of_known_versions_and_have_a_checksum() -> None:
    for version, archive in slurm_sources().archives.items():
        assert version in slurm_releases()
        assert archive.release.startswith(f"{version}.")
        assert archive.release in archive.path
        assert re.fullmatch(r"[0-9a-f]{64}", archive.sha256)


def test_every_package_of_a_role_has_a_name_in_slurms_packaging() -> None:
    required: set[str] = set()
    for path in ROLES.glob("slurm_*/tasks/*.yml"):
        for line in re.findall(r"slurm_common_packages: (.*)", path.read_text()):
            # A list, or an expression with lists.
            names = ",".join(re.findall(r"\[([^][]*)\]", line)).split(",")
            required.update(name.strip(" '") for name in names if name)
    assert {"slurmctld", "slurmd", "slurmdbd", "sackd"} <= required
    assert required <= set(slurm_sources().names)
