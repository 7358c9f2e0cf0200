"""Credentials of jobs on nodes: variables of the roles job_credentials and slurm_job_environment, at both sites."""

from typing import Any

from landbridge.environment import Environment
from landbridge.plan.aws.access.job_roles import job_roles

#: Port of landbridge-job-credentials on the loopback address of each node.
PORT = 8169


def cloud_node_variables(environment: Environment) -> dict[str, Any]:
    """Return the variables of a node image: the role of the instance starts the sessions of jobs."""
    places = _places(environment, environment.aws.endpoints.cloud)
    return {"landbridge_job_credentials": places} if places else {}


def onprem_node_variables(environment: Environment) -> dict[str, Any]:
    """Return the variables of on-prem nodes; empty if they have no certificates for IAM Roles Anywhere."""
    places = _places(environment, environment.aws.endpoints.onprem)
    if not places or environment.aws.iam.anywhere is None:
        return {}
    return {
        "job_credentials_source": "profile",
        "job_credentials_port": PORT,
        "job_credentials_region": places["region"],
        "job_credentials_endpoint": places["endpoint"],
        "slurm_job_environment_aws": places,
    }


def _places(environment: Environment, endpoint: str | None) -> dict[str, str]:
    """Return the address of the endpoint, and region and AWS endpoint of jobs' programs; empty without accounts."""
    if not environment.scheduler.accounts or not job_roles(environment):
        return {}
    return {"url": f"http://127.0.0.1:{PORT}", "region": environment.region, "endpoint": endpoint or ""}
