"""Slurm packages, built once from Slurm's own source and packaging into a signed repository: no node needs a compiler."""

from landbridge.realise.slurm_packages.build import PackageBuild, build
from landbridge.realise.slurm_packages.errors import PackagesError
from landbridge.realise.slurm_packages.mirror import debian_mirror

__all__ = ["PackageBuild", "PackagesError", "build", "debian_mirror"]
