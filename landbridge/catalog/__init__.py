"""Catalogue: YAML files of facts with source and date, and their typed readers."""

from landbridge.catalog.aws.endpoints import EndpointFact, endpoint_features, endpoints_of
from landbridge.catalog.aws.images import PublicImage, images
from landbridge.catalog.aws.instances import Ebs, Instances, InstanceType, NetworkCard, Purchase, instances
from landbridge.catalog.aws.limits import AwsLimits, Quota, limits, quota_of
from landbridge.catalog.aws.prices import Price, PriceRange, Prices, price_of, prices
from landbridge.catalog.aws.regions import Region, offered, regions, services, zones
from landbridge.catalog.aws.signing_helper import PublishedHelper, SigningHelper, signing_helper
from landbridge.catalog.aws.storage import StorageFacts, storage
from landbridge.catalog.files import CatalogueError
from landbridge.catalog.hardware.gpu_stack import GpuStack, gpu_stack
from landbridge.catalog.hardware.gpus import Gpu, generation, gpus
from landbridge.catalog.hardware.hardware import Accelerators, Cpus
from landbridge.catalog.hardware.onprem_costs import OnPremCosts, onprem_costs
from landbridge.catalog.hardware.platforms import Platform, platforms
from landbridge.catalog.regimes import Regime, obligations, regimes
from landbridge.catalog.slurm.sources import SlurmSources, slurm_sources
from landbridge.catalog.slurm.versions import SlurmRelease, slurm_archive, slurm_releases

__all__ = [
    "Accelerators",
    "AwsLimits",
    "CatalogueError",
    "Cpus",
    "Ebs",
    "EndpointFact",
    "Gpu",
    "GpuStack",
    "InstanceType",
    "Instances",
    "NetworkCard",
    "OnPremCosts",
    "Platform",
    "Price",
    "PriceRange",
    "Prices",
    "PublicImage",
    "PublishedHelper",
    "Purchase",
    "Quota",
    "Regime",
    "Region",
    "SigningHelper",
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
    "onprem_costs",
    "platforms",
    "price_of",
    "prices",
    "quota_of",
    "regimes",
    "regions",
    "services",
    "signing_helper",
    "slurm_archive",
    "slurm_releases",
    "slurm_sources",
    "storage",
    "zones",
]
