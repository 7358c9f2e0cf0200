"""Landbridge in AWS, one Pulumi component a file. A component takes a frozen plan and makes resources; it decides nothing."""

from components.account import Account
from components.accounting_database import AccountingDatabase
from components.data_hub import DataHub
from components.direct_connect import DirectConnect
from components.dns import Dns
from components.dns_records import DnsRecords
from components.existing_network import ExistingNetwork
from components.file_system import FileSystem
from components.flow_logs import FlowLogs
from components.guardrails import Guardrails
from components.identity import Identity
from components.link import Link
from components.login import Login
from components.network import Network
from components.node_image import NodeImage
from components.pool import Pool
from components.reaper import Reaper
from components.region_link import RegionLink
from components.sagemaker import SageMaker
from components.slurm_controller import SlurmController
from components.trail import Trail

__all__ = [
    "Account",
    "AccountingDatabase",
    "DataHub",
    "DirectConnect",
    "Dns",
    "DnsRecords",
    "ExistingNetwork",
    "FileSystem",
    "FlowLogs",
    "Guardrails",
    "Identity",
    "Link",
    "Login",
    "Network",
    "NodeImage",
    "Pool",
    "Reaper",
    "RegionLink",
    "SageMaker",
    "SlurmController",
    "Trail",
]
