"""Variables of the roles for GPU tools beside the driver."""

from typing import Any

from landbridge.environment import Environment
from landbridge.plan.roles.nodes.dcgm import dcgm_variables
from landbridge.plan.roles.nodes.gds import gds_variables
from landbridge.plan.roles.nodes.nvidia_container_toolkit import container_toolkit_variables
from landbridge.plan.roles.nodes.rdma import rdma_variables


def gpu_tools_variables(environment: Environment, host: str) -> dict[str, Any]:
    """Return one host's variables of the roles dcgm, nvidia_container_toolkit, rdma and gds."""
    functions = (dcgm_variables, container_toolkit_variables, rdma_variables, gds_variables)
    return {name: value for function in functions for name, value in function(environment, host).items()}
