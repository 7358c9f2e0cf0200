"""The typed model of an environment file, and the one way to load it."""

from landbridge.environment.aws import Aws, Endpoints, Pool
from landbridge.environment.capacity import (
    AnyCapacity,
    Capacity,
    CapacityBlock,
    OnDemand,
    Reservation,
    ReservationGroup,
    Spot,
    capacity_zones,
)
from landbridge.environment.cloud_services import (
    AccountingDatabase,
    CloudAccess,
    CloudServices,
    ControllerHost,
    LoginHosts,
)
from landbridge.environment.dns import Dns
from landbridge.environment.filesystems import DataRepository, Efs, FsxLustre, FsxOpenZfs
from landbridge.environment.guardrails import Budget, Guardrails
from landbridge.environment.hosts import Hosts
from landbridge.environment.hub import HubClass, ObjectLock, S3Hub
from landbridge.environment.iam import Iam, Ingress, Statement
from landbridge.environment.images import ImageBuild, ImageSource
from landbridge.environment.link import DirectConnect, Link, Vpn
from landbridge.environment.load import (
    Loaded,
    environment_from_config,
    find_environment,
    load_environment,
    load_text,
)
from landbridge.environment.lock import ImageLock, LockedImage, lock_path
from landbridge.environment.model import (
    DataClass,
    Environment,
    MLflow,
    MLOps,
    SecretRef,
    Suppression,
    User,
    Window,
)
from landbridge.environment.network import ExistingSubnet, ExistingVpc, Kubernetes
from landbridge.environment.onprem import Access, NodeGroup, OnPrem, Services
from landbridge.environment.other_regions import OtherRegion, RegionPool
from landbridge.environment.pool import Interface, NicPolicy, Placement
from landbridge.environment.qos import Qos
from landbridge.environment.sagemaker import SageMaker
from landbridge.environment.scheduler import Account, Partition, Scheduler, Slurm
from landbridge.environment.storage import EfsHome, ExternalNfsHome, NfsHome, OpenZfsHome, SiteLustre, SiteNfs, Storage

__all__ = [
    "Access",
    "Account",
    "AccountingDatabase",
    "AnyCapacity",
    "Aws",
    "Budget",
    "Capacity",
    "CapacityBlock",
    "CloudAccess",
    "CloudServices",
    "ControllerHost",
    "DataClass",
    "DataRepository",
    "DirectConnect",
    "Dns",
    "Efs",
    "EfsHome",
    "Endpoints",
    "Environment",
    "ExistingSubnet",
    "ExistingVpc",
    "ExternalNfsHome",
    "FsxLustre",
    "FsxOpenZfs",
    "Guardrails",
    "Hosts",
    "HubClass",
    "Iam",
    "ImageBuild",
    "ImageLock",
    "ImageSource",
    "Ingress",
    "Interface",
    "Kubernetes",
    "Link",
    "Loaded",
    "LockedImage",
    "LoginHosts",
    "MLOps",
    "MLflow",
    "NfsHome",
    "NicPolicy",
    "NodeGroup",
    "ObjectLock",
    "OnDemand",
    "OnPrem",
    "OpenZfsHome",
    "OtherRegion",
    "Partition",
    "Placement",
    "Pool",
    "Qos",
    "RegionPool",
    "Reservation",
    "ReservationGroup",
    "S3Hub",
    "SageMaker",
    "Scheduler",
    "SecretRef",
    "Services",
    "SiteLustre",
    "SiteNfs",
    "Slurm",
    "Spot",
    "Statement",
    "Storage",
    "Suppression",
    "User",
    "Vpn",
    "Window",
    "capacity_zones",
    "environment_from_config",
    "find_environment",
    "load_environment",
    "load_text",
    "lock_path",
]
