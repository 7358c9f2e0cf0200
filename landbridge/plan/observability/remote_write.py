"""Remote write of Prometheus to Amazon Managed Prometheus, without the series that name parts of restricted data classes."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from landbridge.environment import Environment
from landbridge.plan.network.services.mlflow_servers import mlflow_servers
from landbridge.plan.network.services.serving import model_slots, serving_of


def remote_write(environment: Environment) -> list[dict[str, Any]]:
    """Return the destinations of prometheus.yml; none without the key. Requests are signed with SigV4."""
    settings = environment.observability.remote_write
    if settings is None:
        return []
    return [
        {
            "name": "amazon-managed-prometheus",
            "url": settings.url,
            "sigv4": {"region": settings.region, "profile": settings.profile},
            "write_relabel_configs": [
                {"source_labels": [label], "regex": _any_of(values), "action": "drop"}
                for label, values in restricted_values(environment).items()
                if values
            ],
        }
    ]


def remote_write_variables(environment: Environment) -> dict[str, str]:
    """Return the environment variables of Prometheus with which it reads its credentials; empty without remote write."""
    settings = environment.observability.remote_write
    if settings is None:
        return {}
    # The SDK of Prometheus 2 reads credential_process, which IAM Roles Anywhere needs, with AWS_SDK_LOAD_CONFIG only.
    return {"AWS_SHARED_CREDENTIALS_FILE": settings.credentials_file, "AWS_SDK_LOAD_CONFIG": "1"}


def restricted_values(environment: Environment) -> Mapping[str, tuple[str, ...]]:
    """Return by label the values that name a part of a class that may not be in AWS: its MLflow server, databases, accounts and services."""
    restricted = {name for name, data_class in environment.data_classes.items() if "aws" not in data_class.sites}
    servers = [server for server in mlflow_servers(environment) if server.data_class in restricted]
    accounts = environment.scheduler.accounts.items()
    serving = serving_of(environment)
    services = {
        name: service
        for name, service in (serving.services.items() if serving is not None else ())
        if service.data_class in restricted
    }
    units = dict.fromkeys(slot.unit for slot in model_slots(environment) if slot.service in services)
    return {
        "probe": tuple(server.name for server in servers),
        "name": (*(f"{server.name}.service" for server in servers), *(f"{unit}.service" for unit in units)),
        "backup": tuple(server.database for server in servers),
        "datname": tuple(name for server in servers for name in (server.database, server.users_database)),
        "account": tuple(name for name, account in accounts if account.data_class in restricted),
        "service": tuple(services),
        "model": tuple(service.model for service in services.values()),
        "proxy": tuple(f"model-{name}" for name in services),
    }


def _any_of(values: Collection[str]) -> str:
    return "|".join(re.escape(value) for value in values)
