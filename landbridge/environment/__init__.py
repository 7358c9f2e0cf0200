"""The typed model of an environment file, and the one way to load it."""

from landbridge.environment.aws import Aws, Endpoints, Pool
from landbridge.environment.capacity import (
    Capacity,
    CapacityBlock,
    OnDemand,
    Reservation,
    ReservationGroup,
    Spot,
    capacity_zones,
)
from landbridge.environment.link import DirectConnect, Link, Vpn
from landbridge.environment.load import (
    Loaded,
    environment_from_config,
    find_environment,
    load_environment,
    load_text,
)
from landbridge.environment.model import (
    Budget,
    DataClass,
    Environment,
    MLflow,
    MLOps,
    SecretRef,
    User,
)
from landbridge.environment.onprem import Access, NodeGroup, OnPrem, Services
from landbridge.environment.scheduler import Account, Partition, Scheduler, Slurm
from landbridge.environment.storage import ExternalNfsHome, FsxLustre, NfsHome, S3Hub, Storage

__all__ = [
    "Access",
    "Account",
    "Aws",
    "Budget",
    "Capacity",
    "CapacityBlock",
    "DataClass",
    "DirectConnect",
    "Endpoints",
    "Environment",
    "ExternalNfsHome",
    "FsxLustre",
    "Link",
    "Loaded",
    "MLOps",
    "MLflow",
    "NfsHome",
    "NodeGroup",
    "OnDemand",
    "OnPrem",
    "Partition",
    "Pool",
    "Reservation",
    "ReservationGroup",
    "S3Hub",
    "Scheduler",
    "SecretRef",
    "Services",
    "Slurm",
    "Spot",
    "Storage",
    "User",
    "Vpn",
    "capacity_zones",
    "environment_from_config",
    "find_environment",
    "load_environment",
    "load_text",
]
