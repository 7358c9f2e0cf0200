"""Typed model of an environment file, and its loader."""

from landbridge.environment.aws.actions import ActionScript, PoolActions
from landbridge.environment.aws.aws import Aws, Endpoints, PoolSettings
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
    AccountingDatabaseSettings,
    CloudAccess,
    CloudServices,
    ControllerHost,
    LoginHosts,
)
from landbridge.environment.aws.data_hub import HubClass, ObjectLock, S3DataHub
from landbridge.environment.aws.existing_file_systems import (
    ExistingEfs,
    ExistingLustre,
    ExistingOntap,
    ExistingOpenZfs,
    ExistingShare,
)
from landbridge.environment.aws.file_systems import DataRepository, Efs, FsxLustre, FsxOpenZfs
from landbridge.environment.aws.guardrails import Budget, GuardrailsSettings
from landbridge.environment.aws.iam import Egress, IamSettings, Ingress, Statement
from landbridge.environment.aws.images import ImageBuild, ImageSource
from landbridge.environment.aws.network import ExistingSubnet, ExistingVpc
from landbridge.environment.aws.other_regions import OtherRegion, RegionPool
from landbridge.environment.aws.pool import Interface, NicPolicy, Placement
from landbridge.environment.aws.sagemaker import SageMakerSettings
from landbridge.environment.dns import DnsSettings
from landbridge.environment.file.load import (
    Loaded,
    environment_from_config,
    find_environment,
    load_environment,
    load_text,
)
from landbridge.environment.file.lock import ImageLock, LockedImage, lock_path
from landbridge.environment.link import DirectConnectSettings, Link, VpnSettings
from landbridge.environment.model import (
    DataClass,
    Environment,
    MLflow,
    MLOps,
    Suppression,
    User,
    Window,
)
from landbridge.environment.onprem.costs import Costs, Financing, Goodput, OwnedNode, Power, Staff
from landbridge.environment.onprem.existing_slurm import ExistingSlurm
from landbridge.environment.onprem.hosts import Hosts
from landbridge.environment.onprem.object_store import ObjectStore
from landbridge.environment.onprem.onprem import Access, NodeGroup, OnPrem, SiteServices
from landbridge.environment.placement import DataSet, PlacementPolicy, WorkloadClass, WorkloadClasses
from landbridge.environment.serving import CloudModelServers, ModelService, Serving
from landbridge.environment.slurm.qos import Qos
from landbridge.environment.slurm.scheduler import AccountSettings, Partition, Scheduler, SlurmSettings
from landbridge.environment.storage import (
    DataStaging,
    EfsHome,
    ExternalNfsHome,
    NfsHome,
    OpenZfsHome,
    SiteLustre,
    SiteNfs,
    Storage,
)

__all__ = [
    "Access",
    "AccountSettings",
    "AccountingDatabaseSettings",
    "ActionScript",
    "AnyCapacity",
    "Aws",
    "Budget",
    "Capacity",
    "CapacityBlock",
    "CloudAccess",
    "CloudModelServers",
    "CloudServices",
    "ControllerHost",
    "Costs",
    "DataClass",
    "DataRepository",
    "DataSet",
    "DataStaging",
    "DirectConnectSettings",
    "DnsSettings",
    "Efs",
    "EfsHome",
    "Egress",
    "Endpoints",
    "Environment",
    "ExistingEfs",
    "ExistingLustre",
    "ExistingOntap",
    "ExistingOpenZfs",
    "ExistingShare",
    "ExistingSlurm",
    "ExistingSubnet",
    "ExistingVpc",
    "ExternalNfsHome",
    "Financing",
    "FsxLustre",
    "FsxOpenZfs",
    "Goodput",
    "GuardrailsSettings",
    "Hosts",
    "HubClass",
    "IamSettings",
    "ImageBuild",
    "ImageLock",
    "ImageSource",
    "Ingress",
    "Interface",
    "Link",
    "Loaded",
    "LockedImage",
    "LoginHosts",
    "MLOps",
    "MLflow",
    "ModelService",
    "NfsHome",
    "NicPolicy",
    "NodeGroup",
    "ObjectLock",
    "ObjectStore",
    "OnDemand",
    "OnPrem",
    "OpenZfsHome",
    "OtherRegion",
    "OwnedNode",
    "Partition",
    "Placement",
    "PlacementPolicy",
    "PoolActions",
    "PoolSettings",
    "Power",
    "Qos",
    "RegionPool",
    "Reservation",
    "ReservationGroup",
    "S3DataHub",
    "SageMakerSettings",
    "Scheduler",
    "Serving",
    "SiteLustre",
    "SiteNfs",
    "SiteServices",
    "SlurmSettings",
    "Spot",
    "Staff",
    "Statement",
    "Storage",
    "Suppression",
    "User",
    "VpnSettings",
    "Window",
    "WorkloadClass",
    "WorkloadClasses",
    "capacity_zones",
    "environment_from_config",
    "find_environment",
    "load_environment",
    "load_text",
    "lock_path",
]
