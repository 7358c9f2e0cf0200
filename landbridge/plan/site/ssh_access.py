"""ssh access of operators: direct, or through Session Manager for hosts in AWS, which have no open ssh port."""

import hashlib

from landbridge.environment import Environment
from landbridge.plan.network.hosts import InventoryHost, service_hosts
from landbridge.plan.outputs import StackOutputs


def uses_session_manager(environment: Environment) -> bool:
    """True if ssh goes through Session Manager."""
    return environment.onprem is None and service_hosts(environment).access.proxy_command is None


def proxy_command(environment: Environment) -> str | None:
    """Return ssh's ProxyCommand; `%h` is the result of `ssh_target`. None: ssh connects directly.

    Source: Systems Manager User Guide, "Allow and control permissions for SSH connections through Session Manager".
    """
    if not uses_session_manager(environment):
        return service_hosts(environment).access.proxy_command
    document = "--document-name AWS-StartSSHSession --parameters portNumber=%p"
    return f"aws ssm start-session --region {environment.region} --target %h {document}"


def connection_id(environment: Environment) -> str:
    """Return the name of the folder of open ssh connections: 8 hexadecimal digits, as paths of sockets are short.

    Ansible names a connection by address, port and user alone. Two sites may have the same private addresses: an operator
    of both would configure the hosts of the first in place of those of the second while a connection is open.
    """
    text = f"{environment.name}\n{proxy_command(environment) or ''}"
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def ssh_target(environment: Environment, host: InventoryHost, outputs: StackOutputs | None) -> str:
    """Return ssh's destination: the address, or the instance id, under which known_hosts also keeps the host key.

    A replaced instance has a new id and a new host key: with the id it gets a separate line in known_hosts.
    """
    if outputs is None or outputs.services is None or not uses_session_manager(environment):
        return host.address
    service_host = outputs.services.hosts.get(host.name)
    return service_host.instance_id if service_host is not None else host.address
