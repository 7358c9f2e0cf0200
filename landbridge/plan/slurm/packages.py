"""Slurm packages: repository, release and package names."""

from typing import Any

from landbridge.catalog import slurm_archive, slurm_releases, slurm_sources
from landbridge.catalog.hardware.published import published
from landbridge.environment import Environment

#: Operating system of service hosts.
SERVICE_SYSTEM = "debian-13"


def slurm_packages(environment: Environment, system: str = SERVICE_SYSTEM) -> dict[str, Any]:
    """Return the variables of Slurm's packages on hosts of an operating system.

    The apt suite is empty if the installed Debian release has this version. With the site's own packages every operating
    system has a suite of its name, and all suites have the same release of Slurm.
    """
    slurm, archive = environment.scheduler.slurm, slurm_archive()
    is_schedmd = slurm.packaging == "schedmd"
    suite = slurm.packages_release or (_built_suite(system) if is_schedmd else _debian_release(slurm.version))
    variables: dict[str, Any] = {"slurm_common_release": suite, "slurm_common_version": held_release(environment)}
    if suite or is_schedmd:
        variables["slurm_common_sources"] = [slurm_sources().package] if is_schedmd else list(archive.packages)
    if suite and slurm.packages_mirror:
        signed_by = slurm.packages_key or archive.keyring
        variables["slurm_common_repository"] = {
            "uris": slurm.packages_mirror,
            "components": archive.components,
            "signed_by": signed_by,
        }
    if is_schedmd:
        variables["slurm_common_names"] = {name: list(packages) for name, packages in slurm_sources().names.items()}
    return variables


def node_packages(environment: Environment, system: str) -> dict[str, Any]:
    """Return the variables of nodes whose operating system differs from the service hosts' system; empty for others."""
    if system == SERVICE_SYSTEM or environment.scheduler.slurm.packaging != "schedmd":
        return {}
    common, packages = slurm_packages(environment), slurm_packages(environment, system)
    return {name: value for name, value in packages.items() if value != common.get(name)}


def held_release(environment: Environment) -> str:
    """Return the release of Slurm that every host gets and holds; empty for the newest one of the repository.

    slurmd may not be newer than slurmctld (slurm.schedmd.com/upgrades.html), and Debian testing replaces its release.
    """
    slurm = environment.scheduler.slurm
    if slurm.release is not None:
        return "" if slurm.release == "newest" else slurm.release
    known = slurm_sources().archives.get(slurm.version)
    return known.release if known is not None else ""


def _built_suite(system: str) -> str:
    """Return the apt suite of an operating system in the repository that `landbridge packages slurm` builds."""
    return slurm_sources().systems[published().packages_of(system)].codename


def _debian_release(version: str) -> str:
    return slurm_releases()[version].debian_release or ""
