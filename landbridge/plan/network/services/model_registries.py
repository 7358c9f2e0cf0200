"""Data classes whose models may be in an MLflow server, by its URI."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from landbridge.environment import Environment
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.mlflow_servers import mlflow_servers, tracking_uri


def registry_classes(environment: Environment, uri: str) -> frozenset[str]:
    """Return the data classes of a server of the environment; for a host of its site, those that may be on-prem; for any other
    server, an ARN of SageMaker among them, those that may be in AWS.
    """
    for server in mlflow_servers(environment):
        if uri.rstrip("/") == tracking_uri(environment, server):
            return frozenset({server.data_class})
    site = "onprem" if _is_onprem(environment, urlsplit(uri).hostname) else "aws"
    return frozenset(name for name, data_class in environment.data_classes.items() if site in data_class.sites)


def _is_onprem(environment: Environment, host: str | None) -> bool:
    served = service_hosts(environment)
    if environment.onprem is None or served.site != "onprem" or host is None:
        return False
    if host in served.addresses or host == served.mlops:
        return True
    try:
        return ip_address(host) in served.cidr
    except ValueError:
        return False
