"""MLflow: its tracking URI, and the data class of its artifacts."""

from landbridge.environment import Environment
from landbridge.plan.network.hosts import service_hosts


def artifact_class(environment: Environment) -> str | None:
    """Return the data class of MLflow's artifacts: as configured, else the first that AWS may hold; None without one."""
    in_aws = [name for name, data_class in environment.data_classes.items() if "aws" in data_class.sites]
    chosen = environment.mlops.mlflow.data_class
    if chosen is not None:
        return chosen if chosen in in_aws else None
    return in_aws[0] if in_aws else None


def tracking_uri(environment: Environment) -> str:
    """Return MLflow's tracking URI for training jobs and users."""
    return f"http://{service_hosts(environment).mlops}:{environment.mlops.mlflow.port}"
