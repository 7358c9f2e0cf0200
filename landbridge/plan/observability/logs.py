"""Log store and shippers of the site: variables of the roles log_store and log_shipper. Pure.

A shipper identifies itself by the certificate of its host. The log store writes the entries of each host to files of its own.
"""

from typing import Any

from landbridge.environment import Environment
from landbridge.environment.observability import LogLimits
from landbridge.plan.network.hosts import InventoryHost, hosts, service_hosts
from landbridge.plan.network.services.log_store import log_store_host
from landbridge.plan.network.services.monitoring import monitoring_host
from landbridge.plan.network.services.serving import model_slots
from landbridge.plan.site.site_tls import AUTHORITY_FILE, HOST_FILE

#: Folder of node exporter's text files.
TEXTFILES = "/var/lib/prometheus/node-exporter"
#: Folder of the received journals on the log store.
LOG_FOLDER = "/var/log/landbridge-logs"
#: Class of hosts that have data of several classes. No data class has this name.
SEVERAL = "(several)"
Variables = dict[str, Any]


def log_store_variables(environment: Environment) -> Variables:
    """Return the variables of the role log_store; empty without a log store."""
    name, settings = log_store_host(environment), environment.observability.logs
    if name is None:
        return {}
    shipping = hosts(environment)
    classes = {host.name: log_class(environment, host) for host in shipping}
    return {
        "log_store_folder": LOG_FOLDER,
        "log_store_listen": f"{service_hosts(environment).addresses[name]}:{settings.port}",
        "log_store_certificate": HOST_FILE,
        "log_store_authority": AUTHORITY_FILE,
        "log_store_hosts": [
            {"name": host.name, "source": log_source(host), "class": classes[host.name]} for host in shipping
        ],
        "log_store_textfiles": TEXTFILES if monitoring_host(environment) is not None else "",
        "log_store_retention": {
            name: log_retention(environment, name).model_dump(include={"days", "gib"})
            for name in dict.fromkeys((SEVERAL, *classes.values()))
        },
    }


def log_shipper_variables(environment: Environment) -> Variables:
    """Return the variables of the role log_shipper, which every host of the site has; empty without a log store."""
    name = log_store_host(environment)
    if name is None:
        return {}
    return {
        "landbridge_log_shipper": True,
        "log_shipper_url": f"https://{service_hosts(environment).addresses[name]}:{environment.observability.logs.port}",
        "log_shipper_certificate": HOST_FILE,
        "log_shipper_authority": AUTHORITY_FILE,
    }


def log_source(host: InventoryHost) -> str:
    """Return the loopback address that stands for a host at the log store, by which it names the host's files.

    It depends on the host's address only, so that a new host does not change the files of another one.
    """
    return f"127.{host.address.partition('.')[2]}"


def log_files(host: InventoryHost) -> str:
    """Return the pattern of a host's file names at the log store."""
    return f"remote-{log_source(host)}[.@]*journal"


def log_class(environment: Environment, host: InventoryHost) -> str:
    """Return the data class of a host's logs: its only class, or SEVERAL.

    A host with model servers and nothing else has the classes of its services. Every other host has those that may be on-prem.
    """
    if host.groups[1:] == ("model_server",) and environment.serving is not None:
        services = environment.serving.services
        classes = {services[slot.service].data_class for slot in model_slots(environment) if slot.host == host.name}
    else:
        classes = {name for name, data_class in environment.data_classes.items() if "onprem" in data_class.sites}
    return classes.pop() if len(classes) == 1 else SEVERAL


def log_retention(environment: Environment, name: str) -> LogLimits:
    """Return the retention of a class of logs."""
    return environment.observability.logs.classes.get(name, environment.observability.logs)
