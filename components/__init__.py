"""Landbridge in AWS, one Pulumi component a file. A component takes a frozen plan and makes resources; it decides nothing."""

from components.account import Account
from components.data_hub import DataHub
from components.existing_network import ExistingNetwork
from components.flow_logs import FlowLogs
from components.gpu_pool import GpuPool
from components.identity import Identity
from components.network import Network
from components.shared_filesystem import SharedFilesystem
from components.site_link import SiteLink

__all__ = [
    "Account",
    "DataHub",
    "ExistingNetwork",
    "FlowLogs",
    "GpuPool",
    "Identity",
    "Network",
    "SharedFilesystem",
    "SiteLink",
]
