"""The burst controller's configuration: /etc/landbridge/burst.json, from the environment and the stack's outputs."""

from typing import Any

from landbridge.environment import Environment
from landbridge.plan.outputs import StackOutputs

#: Written by the `burst` role for Slurm's own user, and read by boto3's ordinary chain.
CREDENTIALS_FILE = "/etc/landbridge/aws-credentials"
LOG_FILE = "/var/lib/landbridge/burst.log"


def node_prefix(pool: str) -> str:
    """Slurm's nodes of a pool are this and a number from 1."""
    return f"{pool}-"


def burst_config(environment: Environment, outputs: StackOutputs) -> dict[str, Any]:
    """Everything the burst programs need, as plain data; no secret is in it."""
    endpoints = environment.aws.endpoints
    return {
        "cluster": outputs.cluster,
        "region": outputs.region,
        "endpoint": str(endpoints.onprem) if endpoints.onprem else None,
        "credentials_file": CREDENTIALS_FILE,
        "log_file": LOG_FILE,
        "lease_minutes": environment.aws.lease_minutes,
        "slurm_key_secret": outputs.secrets.slurm_key,
        "pools": {
            name: {**pool.model_dump(mode="json"), "node_prefix": node_prefix(name)}
            for name, pool in sorted(outputs.pools.items())
        },
        "accounts": {
            name: {"data_class": account.data_class} for name, account in sorted(environment.scheduler.accounts.items())
        },
    }
