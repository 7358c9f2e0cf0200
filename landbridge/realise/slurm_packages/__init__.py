"""Slurm packages, built once from Slurm's source and its Debian packaging into a signed repository, and the package of the
acceptance ladder's programs: no node needs a compiler."""

from landbridge.realise.slurm_packages.build import KEY, PackageBuild, build
from landbridge.realise.slurm_packages.errors import PackagesError
from landbridge.realise.slurm_packages.mirror import debian_mirror, host_architecture
from landbridge.realise.slurm_packages.validation import build_validation

__all__ = [
    "KEY",
    "PackageBuild",
    "PackagesError",
    "build",
    "build_validation",
    "debian_mirror",
    "host_architecture",
]
