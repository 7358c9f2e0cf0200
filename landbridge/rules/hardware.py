"""Rules about on-prem machines and the packages that run on them."""

from collections.abc import Iterator

from landbridge.catalog import platforms, slurm_releases
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding
from landbridge.rules.registry import rule
from landbridge.rules.walk import suggestion


@rule
def unknown_platform(environment: Environment) -> Iterator[Finding]:
    """A group of nodes names a platform of the catalogue: its GPUs, processors and memory follow from it.

    Source: the platforms' data sheets, as in landbridge/catalog/platforms.yaml.
    """
    for index, group in enumerate(environment.onprem.nodes):
        if group.platform not in platforms():
            path: DataPath = ("onprem", "nodes", index, "platform")
            message, fix = f'unknown platform "{group.platform}"', suggestion(group.platform, platforms())
            yield Finding("unknown-platform", message, path, fix)


@rule
def slurm_without_packages(environment: Environment) -> Iterator[Finding]:
    """Some Slurm versions are in no Debian release: then the site says where its packages come from.

    Source: Debian's package archive, as in landbridge/catalog/slurm.yaml.
    """
    slurm = environment.scheduler.slurm
    if slurm_releases()[slurm.version].debian_release is None and slurm.packages_release is None:
        packaged = [version for version, release in slurm_releases().items() if release.debian_release is not None]
        message = f"no Debian release carries Slurm {slurm.version}"
        fix = f"use {' or '.join(packaged)}, or name your own in scheduler.slurm.packages_release"
        yield Finding("slurm-without-packages", message, ("scheduler", "slurm", "version"), fix)
