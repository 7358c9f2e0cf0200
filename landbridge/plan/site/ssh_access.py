"""The operator's ssh access: direct, or through Session Manager for hosts in AWS, so that no ssh port is open."""

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


def ssh_target(environment: Environment, host: InventoryHost, outputs: StackOutputs | None) -> str:
    """Return ssh's destination: the address, or the instance id, under which known_hosts also keeps the host key.

    An instance that replaces another has a key of its own, and with the id a line of its own in known_hosts.
    """
    if outputs is None or outputs.services is None or not uses_session_manager(environment):
        return host.address
    built = outputs.services.hosts.get(host.name)
    return built.instance_id if built is not None else host.address
