"""Settings of the service landbridge-model-instances, which starts and stops hosts of model servers in AWS."""

from typing import Any

from landbridge.environment import Environment
from landbridge.plan.ansible.roles_anywhere import instances_file
from landbridge.plan.fips import fips_endpoints
from landbridge.plan.network.services.serving import cloud_model_servers, followed_services

#: Seconds between two looks at EC2: own choice. A start takes about a minute.
_SECONDS = 10


def model_instances_variables(environment: Environment, endpoint: str | None) -> dict[str, Any]:
    """Return the variables of the role model_gateway for these hosts; empty without them."""
    hosts = list(cloud_model_servers(environment))
    if not hosts or not followed_services(environment):
        return {}
    return {
        "model_gateway_instances": {
            "cluster": environment.name,
            "region": environment.region,
            "hosts": hosts,
            "seconds": _SECONDS,
            "endpoint": endpoint,
            "credentials_file": instances_file(environment),
            "fips": fips_endpoints(environment, "onprem"),
        }
    }
