"""Role job_credentials: AWS credentials of jobs on nodes, at both sites."""

from typing import Any

from landbridge.environment import Environment
from landbridge.plan.aws.access.job_roles import job_roles
from landbridge.plan.network.host_role import EVERYWHERE, HostRole
from landbridge.plan.network.services.object_store import JOBS, store_buckets

#: Port of landbridge-job-credentials on the loopback address of each node.
PORT = 8169
URL = f"http://127.0.0.1:{PORT}"


def cloud_node_variables(environment: Environment) -> dict[str, Any]:
    """Return the variables of a node image: the role of the instance starts the sessions of jobs."""
    places = _places(environment, environment.aws.endpoints.cloud)
    return {"landbridge_job_credentials": places} if places else {}


def onprem_node_variables(environment: Environment) -> dict[str, Any]:
    """Return the variables of on-prem nodes; empty if they have neither certificates for IAM Roles Anywhere nor an object store.
    Without certificates jobs have no region: they get keys of the object store only.
    """
    places = _places(environment, environment.aws.endpoints.onprem)
    stored = [
        account for bucket in store_buckets(environment) for account in bucket.accounts if account.service == JOBS
    ]
    has_store = bool(stored and environment.scheduler.accounts)
    if environment.aws.iam.anywhere is None or not places:
        places = {"url": URL, "region": "", "endpoint": ""} if has_store else {}
    if not places:
        return {}
    variables: dict[str, Any] = {
        "job_credentials_source": "profile",
        "job_credentials_port": PORT,
        "job_credentials_region": places["region"] or environment.region,
        "job_credentials_endpoint": places["endpoint"],
        "slurm_job_environment_aws": places,
    }
    if has_store:
        variables["landbridge_store_accounts"] = [
            {"data_class": account.data_class, "access_key": account.access_key, "secret": account.secret}
            for account in stored
        ]
    return variables


def _places(environment: Environment, endpoint: str | None) -> dict[str, str]:
    """Return the address of the endpoint, and region and AWS endpoint of jobs' programs; empty without accounts."""
    if not environment.scheduler.accounts or not job_roles(environment):
        return {}
    return {"url": URL, "region": environment.region, "endpoint": endpoint or ""}


ROLE = HostRole(
    variables={
        EVERYWHERE: lambda site: cloud_node_variables(site.environment),
        "slurm_node": lambda site: onprem_node_variables(site.environment),
    }
)
