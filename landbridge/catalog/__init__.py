"""Facts as data, each file with its source and date, and their typed readers."""

from landbridge.catalog.files import CatalogueError
from landbridge.catalog.hardware import Accelerators, Cpus
from landbridge.catalog.instances import Ebs, Instances, InstanceType, NetworkCard, Purchase, instances
from landbridge.catalog.platforms import Platform, platforms
from landbridge.catalog.prices import OnPremRates, Price, PriceRange, Prices, price_of, prices
from landbridge.catalog.regions import Region, offered, regions, zones
from landbridge.catalog.slurm import SlurmRelease, slurm_releases

__all__ = [
    "Accelerators",
    "CatalogueError",
    "Cpus",
    "Ebs",
    "InstanceType",
    "Instances",
    "NetworkCard",
    "OnPremRates",
    "Platform",
    "Price",
    "PriceRange",
    "Prices",
    "Purchase",
    "Region",
    "SlurmRelease",
    "instances",
    "offered",
    "platforms",
    "price_of",
    "prices",
    "regions",
    "slurm_releases",
    "zones",
]
