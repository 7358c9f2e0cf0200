"""Landbridge in AWS, one Pulumi component a file. A component takes a frozen plan and makes resources; it decides nothing."""

from components.account import Account
from components.data_hub import DataHub
from components.existing_network import ExistingNetwork
from components.flow_logs import FlowLogs
from components.gpu_pool import GpuPool
from components.guardrails import Guardrails
from components.identity import Identity
from components.network import Network
from components.reaper import Reaper
from components.shared_filesystem import SharedFilesystem
from components.site_link import SiteLink
from components.trail import Trail

__all__ = [
    "Account",
    "DataHub",
    "ExistingNetwork",
    "FlowLogs",
    "GpuPool",
    "Guardrails",
    "Identity",
    "Network",
    "Reaper",
    "SharedFilesystem",
    "SiteLink",
    "Trail",
]
