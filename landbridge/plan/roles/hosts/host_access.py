"""Role host_access: the requests that a host accepts from the site's timers through a forced command."""

from collections.abc import Mapping
from typing import Any

from landbridge.environment import Environment
from landbridge.plan.network.host_role import HostRole
from landbridge.plan.network.hosts import InventoryHost, service_hosts
from landbridge.plan.network.services.monitoring import timers_of
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.site.health import PROGRAM, failure_budget

#: Account on nodes and gateways, and the folder of the timers' settings on the first controller.
ACCOUNT, FOLDER = "landbridge-access", "/etc/landbridge/timers"
ROOT = "/opt/landbridge"
#: Names of the key pairs on the first controller.
NODES_KEY, GATEWAYS_KEY = "nodes", "gateways"
_PROBE = f"{ROOT}/lib/host_access/probe.py"


def timer_host(environment: Environment) -> str | None:
    """Return the first controller, on which the timers run; None without timers."""
    return service_hosts(environment).controllers[0] if timers_of(environment) is not None else None


def environment_file(environment: Environment) -> str:
    """Return the path of the environment file on the first controller."""
    return f"{FOLDER}/Pulumi.{environment.name}.yaml"


def host_access_variables(
    environment: Environment, host: InventoryHost, outputs: StackOutputs | None
) -> dict[str, Any]:
    """Return one host's variables of the role host_access; empty for a host that the timers do not ask."""
    controller = timer_host(environment)
    if controller is None:
        return {}
    words: dict[str, list[str]] = {}
    keys: list[str] = []
    if "slurm_node" in host.groups:
        words |= {"facts": [PROGRAM, "facts"], "samples": [PROGRAM, "samples"], "reset": [], "reboot": []}
        keys.append(NODES_KEY)
    if "site_gateway" in host.groups and environment.link is not None:
        words["link"] = link_words(environment, host.name, outputs)
        keys.append(GATEWAYS_KEY)
    if host.name == controller:
        # The unit has no home directory: the program reads the stack's outputs where the passes do.
        state = [f"{name}=/var/lib/landbridge-timers/slurm" for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME")]
        program = [
            "/usr/bin/env",
            *state,
            f"{ROOT}/timers/bin/python",
            "-I",
            "-B",
            "-m",
            "landbridge.acceptance.rung_job",
        ]
        words["rung"] = [*program, environment_file(environment)]
    return access_variables(environment, words, keys) if words else {}


def linked_access_variables(environment: Environment, host: str, outputs: StackOutputs | None) -> dict[str, Any]:
    """Return the variables of a linked site's gateway."""
    if timer_host(environment) is None:
        return {}
    return access_variables(environment, {"link": link_words(environment, host, outputs)}, [GATEWAYS_KEY])


def access_variables(environment: Environment, words: Mapping[str, list[str]], keys: list[str]) -> dict[str, Any]:
    """Return the variables for these requests. `keys`: the key pairs of the first controller that may log in."""
    served = service_hosts(environment)
    controller = served.controllers[0]
    return {
        "host_access_words": dict(words),
        "host_access_account": ACCOUNT,
        "host_access_budget": failure_budget(environment),
        "host_access_probe": "link" in words,
        "host_access_from": [str(served.addresses[controller])] if controller in served.addresses else [],
        "landbridge_access_keys": [f"{FOLDER}/{key}.pub" for key in keys],
        "landbridge_access_host": controller,
        **({"slurm_adopt_exempt_users": [ACCOUNT]} if "facts" in words else {}),
    }


def link_words(environment: Environment, host: str, outputs: StackOutputs | None) -> list[str]:
    """Return the command line of netcheck's probe on a gateway, with its planned request."""
    from landbridge.plan.site.link.expectations import link_expectations
    from landbridge.plan.site.link.request import encoded, gateway_request

    gateways = {each.host: each for each in link_expectations(environment, outputs).gateways}
    return ["/usr/bin/python3", "-sB", _PROBE, encoded(gateway_request(gateways[host]))]


ROLE = HostRole(host_variables=lambda site, host: host_access_variables(site.environment, host, site.outputs))
