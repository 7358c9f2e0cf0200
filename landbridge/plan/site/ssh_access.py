"""How the operator's ssh reaches the hosts: through Systems Manager where they are in AWS, so that no port is open."""

from landbridge.environment import Environment
from landbridge.plan.network.hosts import InventoryHost, service_hosts
from landbridge.plan.outputs import StackOutputs


def uses_session_manager(environment: Environment) -> bool:
    """Whether ssh goes through sessions of Systems Manager."""
    return environment.onprem is None and service_hosts(environment).access.proxy_command is None


def proxy_command(environment: Environment) -> str | None:
    """ssh's ProxyCommand; `%h` is what `ssh_target` says. None: hosts are reached as they are.

    Source: Systems Manager User Guide, "Allow and control permissions for SSH connections through Session Manager".
    """
    if not uses_session_manager(environment):
        return service_hosts(environment).access.proxy_command
    document = "--document-name AWS-StartSSHSession --parameters portNumber=%p"
    return f"aws ssm start-session --region {environment.region} --target %h {document}"


def ssh_target(environment: Environment, host: InventoryHost, outputs: StackOutputs | None) -> str:
    """What ssh is told to reach: the address, or the instance's id, by which it also keeps the host's key.

    An instance that replaces another has a key of its own, and with the id a line of its own in known_hosts.
    """
    if outputs is None or outputs.services is None or not uses_session_manager(environment):
        return host.address
    built = outputs.services.hosts.get(host.name)
    return built.instance_id if built is not None else host.address
