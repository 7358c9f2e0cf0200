"""The components for programs in any language: `pulumi package add` makes their SDKs from the schema that these classes give.

Each takes a few plain values, plans with the same functions as an environment does, and makes the component of the same name.

What is not among them is a part of one that is: accounting of the controller, records of the resolver, reaper and trail of the
guardrails; an existing network is one's own, and a leased line comes with a site's link in an environment.
"""

from components.package.data_hub import DataHub
from components.package.dns import Dns
from components.package.file_system import FileSystem
from components.package.flow_logs import FlowLogs
from components.package.guardrails import Guardrails
from components.package.identity import Identity
from components.package.link import Link
from components.package.login import Login
from components.package.network import Network
from components.package.node_image import NodeImage
from components.package.pool import Pool
from components.package.sagemaker import SageMaker
from components.package.slurm_controller import SlurmController

__all__ = [
    "DataHub",
    "Dns",
    "FileSystem",
    "FlowLogs",
    "Guardrails",
    "Identity",
    "Link",
    "Login",
    "Network",
    "NodeImage",
    "Pool",
    "SageMaker",
    "SlurmController",
]
