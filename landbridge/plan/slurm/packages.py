"""Slurm packages: their repository and names."""

from typing import Any

from landbridge.catalog import slurm_archive, slurm_releases, slurm_sources
from landbridge.environment import Environment


def slurm_packages(environment: Environment) -> dict[str, Any]:
    """Return the release and repository of Slurm's packages; empty if Debian itself has this version."""
    slurm, archive = environment.scheduler.slurm, slurm_archive()
    is_schedmd = slurm.packaging == "schedmd"
    release = slurm.packages_release or (built_release(slurm.version) if is_schedmd else _debians(slurm.version))
    variables: dict[str, Any] = {"slurm_common_release": release}
    if release:
        variables["slurm_common_sources"] = [slurm_sources().package] if is_schedmd else list(archive.packages)
    if release and slurm.packages_mirror:
        signed_by = slurm.packages_key or archive.keyring
        variables["slurm_common_repository"] = {
            "uris": slurm.packages_mirror,
            "components": archive.components,
            "signed_by": signed_by,
        }
    if is_schedmd:
        variables["slurm_common_names"] = {name: list(packages) for name, packages in slurm_sources().names.items()}
    return variables


def built_release(version: str) -> str:
    """Return the apt suite of the repository that `landbridge packages slurm` builds."""
    return f"slurm-{version.replace('.', '-')}"


def _debians(version: str) -> str:
    return slurm_releases()[version].debian_release or ""
