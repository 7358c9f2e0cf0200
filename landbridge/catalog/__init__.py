"""Facts as data, each file with its source and date, and their typed readers."""

from landbridge.catalog.endpoints import EndpointFact, endpoint_features, endpoints_of
from landbridge.catalog.files import CatalogueError
from landbridge.catalog.gpu_stack import GpuStack, gpu_stack
from landbridge.catalog.gpus import Gpu, generation, gpus
from landbridge.catalog.hardware import Accelerators, Cpus
from landbridge.catalog.images import Image, images
from landbridge.catalog.instances import Ebs, Instances, InstanceType, NetworkCard, Purchase, instances
from landbridge.catalog.limits import Limits, Quota, limits, quota_of
from landbridge.catalog.platforms import Platform, platforms
from landbridge.catalog.prices import OnPremRates, Price, PriceRange, Prices, price_of, prices
from landbridge.catalog.regimes import Regime, obligations, regimes
from landbridge.catalog.regions import Region, offered, regions, services, zones
from landbridge.catalog.slurm import SlurmRelease, slurm_archive, slurm_releases
from landbridge.catalog.slurm_sources import SlurmSources, slurm_sources
from landbridge.catalog.storage import StorageFacts, storage

__all__ = [
    "Accelerators",
    "CatalogueError",
    "Cpus",
    "Ebs",
    "EndpointFact",
    "Gpu",
    "GpuStack",
    "Image",
    "InstanceType",
    "Instances",
    "Limits",
    "NetworkCard",
    "OnPremRates",
    "Platform",
    "Price",
    "PriceRange",
    "Prices",
    "Purchase",
    "Quota",
    "Regime",
    "Region",
    "SlurmRelease",
    "SlurmSources",
    "StorageFacts",
    "endpoint_features",
    "endpoints_of",
    "generation",
    "gpu_stack",
    "gpus",
    "images",
    "instances",
    "limits",
    "obligations",
    "offered",
    "platforms",
    "price_of",
    "prices",
    "quota_of",
    "regimes",
    "regions",
    "services",
    "slurm_archive",
    "slurm_releases",
    "slurm_sources",
    "storage",
    "zones",
]
