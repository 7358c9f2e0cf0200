"""Role node_verify: the contract of a node image, and the way to report a refused node to Slurm."""

from typing import Any

from landbridge.environment import Environment
from landbridge.plan.aws.node_contract import image_expectations
from landbridge.plan.network.host_role import EVERYWHERE, HostRole
from landbridge.plan.slurm.conf import slurm_settings

#: Settings with which scontrol reaches the controllers from a node whose slurmd has not fetched slurm.conf.
_CLIENT_KEYS = ("ClusterName", "SlurmctldHost", "SlurmctldPort", "SlurmUser", "AuthType", "CredType", "AuthInfo")


def node_verify_variables(environment: Environment, image: str | None = None) -> dict[str, Any]:
    """Return the variables of an image of aws.images, or of one that all pools boot."""
    settings = slurm_settings(environment, ())
    lines = [f"{key}={value}" for key in _CLIENT_KEYS for value in settings.get(key, ())]
    return {
        "node_verify_expectations": image_expectations(environment, image),
        "node_verify_slurm_conf": lines,
        "landbridge_cloud_time_servers": _time_servers(environment),
    }


def _time_servers(environment: Environment) -> list[str]:
    """Return AWS's time source for chrony; empty where the environment does not check the time source."""
    expectations = image_expectations(environment)
    return [] if "time" in expectations["skip"] else expectations["time"][:1]


ROLE = HostRole(variables={EVERYWHERE: lambda site: node_verify_variables(site.environment)})
