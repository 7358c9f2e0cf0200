"""slurmrestd, and JWT authentication in slurmctld and slurmdbd.

Source: slurm.schedmd.com/jwt.html (AuthAltTypes, AuthAltParameters, the key on slurmctld's and slurmdbd's hosts only).
"""

from typing import Any

from landbridge.environment import Environment
from landbridge.environment.base import Scalar

#: JWT key, which the role slurm_common installs on the hosts of slurmctld and slurmdbd. With it, tokens of any user can
#: be signed.
KEY_FILE = "/etc/slurm/jwt_hs256.key"


def rest_settings(environment: Environment) -> dict[str, Scalar]:
    """Return slurm.conf's settings of JWT authentication; empty without slurmrestd."""
    if environment.scheduler.rest is None:
        return {}
    return {"AuthAltTypes": "auth/jwt", "AuthAltParameters": f"jwt_key={KEY_FILE}"}


def token_variables(environment: Environment) -> dict[str, Any]:
    """Return the variables of slurmctld's and slurmdbd's hosts; the JWT key is a secret of the operator."""
    return {"slurm_common_jwt": True} if environment.scheduler.rest is not None else {}


def rest_variables(environment: Environment) -> dict[str, Any]:
    """Return the role slurm_rest's variables. It listens on loopback only: it has no TLS, and a token is a credential."""
    rest = environment.scheduler.rest
    if rest is None:
        return {}
    return {"slurm_rest_listen": [f"127.0.0.1:{rest.port}"], "slurm_rest_memory_mib": rest.memory_mib}
