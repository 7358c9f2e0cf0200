"""The typed model of an environment file, and the one way to load it."""

from landbridge.environment.aws.aws import Aws, Endpoints, Pool
from landbridge.environment.aws.capacity import (
    AnyCapacity,
    Capacity,
    CapacityBlock,
    OnDemand,
    Reservation,
    ReservationGroup,
    Spot,
    capacity_zones,
)
from landbridge.environment.aws.cloud_services import (
    AccountingDatabase,
    CloudAccess,
    CloudServices,
    ControllerHost,
    LoginHosts,
)
from landbridge.environment.aws.data_hub import HubClass, ObjectLock, S3DataHub
from landbridge.environment.aws.file_systems import DataRepository, Efs, FsxLustre, FsxOpenZfs
from landbridge.environment.aws.guardrails import Budget, Guardrails
from landbridge.environment.aws.iam import Iam, Ingress, Statement
from landbridge.environment.aws.images import ImageBuild, ImageSource
from landbridge.environment.aws.network import ExistingSubnet, ExistingVpc, Kubernetes
from landbridge.environment.aws.other_regions import OtherRegion, RegionPool
from landbridge.environment.aws.pool import Interface, NicPolicy, Placement
from landbridge.environment.aws.sagemaker import SageMaker
from landbridge.environment.dns import Dns
from landbridge.environment.file.load import (
    Loaded,
    environment_from_config,
    find_environment,
    load_environment,
    load_text,
)
from landbridge.environment.file.lock import ImageLock, LockedImage, lock_path
from landbridge.environment.link import DirectConnect, Link, Vpn
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
from landbridge.environment.onprem.hosts import Hosts
from landbridge.environment.onprem.onprem import Access, NodeGroup, OnPrem, Services
from landbridge.environment.slurm.qos import Qos
from landbridge.environment.slurm.scheduler import Account, Partition, Scheduler, Slurm
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
    "S3DataHub",
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
