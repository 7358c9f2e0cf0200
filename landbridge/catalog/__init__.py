"""Facts as data, each file with its source and date, and their typed readers."""

from landbridge.catalog.reader import (
    Cpus,
    Gpus,
    InstanceType,
    NetworkCards,
    OnPremRates,
    Platform,
    Prices,
    Purchase,
    SlurmRelease,
    instances,
    platforms,
    prices,
    regions,
    slurm_releases,
    zones,
)

__all__ = [
    "Cpus",
    "Gpus",
    "InstanceType",
    "NetworkCards",
    "OnPremRates",
    "Platform",
    "Prices",
    "Purchase",
    "SlurmRelease",
    "instances",
    "platforms",
    "prices",
    "regions",
    "slurm_releases",
    "zones",
]
