"""Role cloud_identity: the cluster's key on nodes in AWS."""

from typing import Any

from landbridge.plan.aws.access.identity import identity_args
from landbridge.plan.fips import fips_endpoints
from landbridge.plan.network.host_role import EVERYWHERE, HostRole, Site
from landbridge.plan.slurm.auth_key import key_file


def _variables(site: Site) -> dict[str, Any]:
    environment = site.environment
    variables = {
        "cloud_identity_region": environment.region,
        "cloud_identity_endpoint": environment.aws.endpoints.cloud or "",
        "cloud_identity_fips": fips_endpoints(environment, "cloud"),
        # The name is known before the stack exists, so that an image can be built first.
        "cloud_identity_key_secret": identity_args(environment).secret_name,
    }
    if environment.scheduler.auth == "slurm":
        variables |= {"cloud_identity_key_file": key_file(environment), "cloud_identity_key_owner": "slurm"}
    return variables


ROLE = HostRole(variables={EVERYWHERE: _variables})
