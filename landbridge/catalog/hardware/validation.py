"""Sources of the package with the programs of the acceptance ladder (validation_sources.yaml)."""

from collections.abc import Mapping
from datetime import date
from functools import cache

from landbridge.catalog.files import Facts, read


class ValidationArchive(Facts):
    """Source archive of nccl-tests: release, address and SHA-256."""

    release: str
    address: str
    sha256: str


class ValidationSystem(Facts):
    """Operating system whose archive has CUDA's compiler and NCCL: components of the archive, and releases of both."""

    components: tuple[str, ...]
    cuda: str
    nccl: str
    architectures: tuple[str, ...]


class ValidationSources(Facts):
    """Facts of validation_sources.yaml. `build_packages` are needed for the build, `recommends` beside the package."""

    source: str
    date: date
    package: str
    maintainer: str
    archive: ValidationArchive
    prefix: str
    recommends: tuple[str, ...]
    build_packages: tuple[str, ...]
    systems: Mapping[str, ValidationSystem]


@cache
def validation_sources() -> ValidationSources:
    """Return the sources (cached)."""
    return read("validation_sources", ValidationSources)
