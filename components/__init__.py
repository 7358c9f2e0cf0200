"""Landbridge in AWS, one Pulumi component a file. A component takes a frozen plan and makes resources; it decides nothing."""

from components.account import Account
from components.accounting_database import AccountingDatabase
from components.data_hub import DataHub
from components.direct_connect import DirectConnect
from components.dns_records import DnsRecords
from components.existing_network import ExistingNetwork
from components.flow_logs import FlowLogs
from components.gpu_pool import GpuPool
from components.guardrails import Guardrails
from components.identity import Identity
from components.login import Login
from components.network import Network
from components.node_image import NodeImage
from components.reaper import Reaper
from components.region_link import RegionLink
from components.resolver import Resolver
from components.sagemaker import SageMaker
from components.shared_filesystem import SharedFilesystem
from components.site_link import SiteLink
from components.slurm_controller import SlurmController
from components.trail import Trail

__all__ = [
    "Account",
    "AccountingDatabase",
    "DataHub",
    "DirectConnect",
    "DnsRecords",
    "ExistingNetwork",
    "FlowLogs",
    "GpuPool",
    "Guardrails",
    "Identity",
    "Login",
    "Network",
    "NodeImage",
    "Reaper",
    "RegionLink",
    "Resolver",
    "SageMaker",
    "SharedFilesystem",
    "SiteLink",
    "SlurmController",
    "Trail",
]
