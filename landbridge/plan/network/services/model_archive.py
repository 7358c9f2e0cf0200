"""MLflow servers whose signed models a timer writes into the bucket of their data class, which S3 replicates to a second region."""

from landbridge.environment import Environment
from landbridge.plan.network.services.mlflow_servers import MlflowServer, mlflow_servers
from landbridge.plan.network.services.monitoring import timers_of


def archived_servers(environment: Environment) -> tuple[MlflowServer, ...]:
    """Return the servers of the classes whose bucket has a replica; none without timers or without the site's CA.

    A class that must stay on-prem has neither a bucket nor a replica.
    """
    if timers_of(environment) is None or not environment.mlops.mlflow.tls:
        return ()
    classes = environment.storage.data_hub.classes
    replicated = {name for name, hub_class in classes.items() if hub_class.replica_region is not None}
    return tuple(server for server in mlflow_servers(environment) if server.in_aws and server.data_class in replicated)
