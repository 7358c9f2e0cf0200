"""Slurm's REST interface: who runs it, and what the controllers need to believe its callers' tokens.

Source: slurm.schedmd.com/jwt.html (AuthAltTypes, AuthAltParameters, the key on slurmctld's and slurmdbd's hosts alone).
"""

from typing import Any

from landbridge.environment import Environment
from landbridge.environment.base import Scalar

#: On the hosts of slurmctld and slurmdbd, where the role slurm_common puts it; whoever reads it is anybody.
KEY_FILE = "/etc/slurm/jwt_hs256.key"


def rest_settings(environment: Environment) -> dict[str, Scalar]:
    """The keys of slurm.conf by which slurmctld takes tokens; none where nothing asks with one."""
    if environment.scheduler.rest is None:
        return {}
    return {"AuthAltTypes": "auth/jwt", "AuthAltParameters": f"jwt_key={KEY_FILE}"}


def token_variables(environment: Environment) -> dict[str, Any]:
    """What the hosts of slurmctld and slurmdbd are told, besides the key, which is a secret of the operator's."""
    return {"slurm_common_jwt": True} if environment.scheduler.rest is not None else {}


def rest_variables(environment: Environment) -> dict[str, Any]:
    """Variables of the role slurm_rest. It listens on its own host alone: there is no TLS in it, and a token is a password."""
    rest = environment.scheduler.rest
    if rest is None:
        return {}
    return {"slurm_rest_listen": [f"127.0.0.1:{rest.port}"], "slurm_rest_memory_mib": rest.memory_mib}
