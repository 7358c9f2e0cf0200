"""Where MLflow is, and where it keeps artifacts."""

from landbridge.environment import Environment
from landbridge.plan.network.hosts import service_hosts


def artifact_class(environment: Environment) -> str | None:
    """The data class of MLflow's artifacts: the one chosen, else the first that may be in AWS; None when none may."""
    in_aws = [name for name, data_class in environment.data_classes.items() if "aws" in data_class.sites]
    chosen = environment.mlops.mlflow.data_class
    if chosen is not None:
        return chosen if chosen in in_aws else None
    return in_aws[0] if in_aws else None


def tracking_uri(environment: Environment) -> str:
    """Where training jobs and people reach MLflow."""
    return f"http://{service_hosts(environment).mlops}:{environment.mlops.mlflow.port}"
