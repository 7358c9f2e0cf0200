"""Rules about serving: hosts, data classes, ports, accounts and TLS of model services."""

from collections.abc import Iterator

from landbridge import hostlist
from landbridge.environment import Environment, ModelService, Serving
from landbridge.findings import DataPath, Finding, did_you_mean, error, warning
from landbridge.plan.network.services.mlflow_servers import mlflow_servers
from landbridge.plan.network.services.monitoring import exporter_port
from landbridge.plan.network.services.serving import SLOTS, cloud_model_servers, model_port
from landbridge.plan.site.teams.workspaces import workspaces
from landbridge.rules.registry import rule

_SERVING: DataPath = ("serving",)
_SERVICES: DataPath = ("serving", "services")
_USED_PORTS = {22: "ssh", 9100: "the exporter of the host's metrics"}


@rule
def serving_place(environment: Environment) -> Iterator[Finding]:
    """Models are served at a site that Landbridge configures, by hosts with an address in onprem.addresses.

    Source: Landbridge (docs/explanation/models.md).
    """
    serving = environment.serving
    if serving is None:
        return
    if environment.onprem is None:
        message = "there is no site, so nothing serves these models"
        yield error(_SERVING, message, fix="remove it, or describe the site in onprem", related=(("onprem",),))
        return
    if environment.existing_slurm is not None:
        message = "Landbridge does not configure the hosts of a site whose Slurm was adopted: it serves no model there"
        fix = "remove it, and use the roles model_server and model_gateway in your own playbook"
        yield error(_SERVING, message, fix=fix, related=(("onprem", "existing_slurm"),))
        return
    named = [((*_SERVING, "hosts", number), name) for number, name in enumerate(serving.hosts)]
    nodes = _node_names(environment)
    for path, name in [*named, *_gateways(serving)]:
        if name not in environment.onprem.addresses and name not in nodes:
            related: tuple[DataPath, ...] = (("onprem", "addresses", name), ("onprem", "nodes", "*", "hosts"))
            yield error(path, f"{name} has no address", fix=f"add {name}: to onprem.addresses", related=related)


@rule(suppressible=False)
def serving_host_trains(environment: Environment) -> Iterator[Finding]:
    """A host of serving is neither a node nor the host of another service: a model server has no way to the data of training.

    With the key `canary` the gateway alone reaches MLflow, with an account of its own; model servers never do.
    Source: Landbridge (docs/explanation/models.md, docs/explanation/models.md).
    """
    serving = environment.serving
    if serving is None or environment.onprem is None:
        return
    services, nodes = set(environment.onprem.services.hosts()), _node_names(environment)
    named = [((*_SERVING, "hosts", number), name) for number, name in enumerate(serving.hosts)]
    for path, name in [*named, *_gateways(serving)]:
        use = "a node that trains" if name in nodes else "the host of another service" if name in services else ""
        if use:
            related: tuple[DataPath, ...] = (("onprem", "nodes", "*", "hosts"), ("onprem", "services"))
            yield error(path, f"{name} is {use}", fix="name hosts that have no other task", related=related)
    for path, name in _gateways(serving):
        if name in serving.hosts:
            message = f"{name} is a host of model servers: with it the gateway would be lost"
            yield error(path, message, fix="name another host", related=((*_SERVING, "hosts"),))


@rule
def serving_gateway_pair(environment: Environment) -> Iterator[Finding]:
    """Two model gateways are two hosts, and share the free address of a name of their own.

    The address moves to the second one within seconds, and clients keep the name. Source: RFC 9568, sections 1 and 8.3.1.
    """
    serving, site = environment.serving, environment.onprem
    if serving is None or site is None:
        return
    path: DataPath = (*_SERVING, "name")
    gateway: DataPath = (*_SERVING, "gateway")
    if not isinstance(serving.gateway, tuple):
        if serving.name is not None:
            yield warning(
                path, "name has no effect with one gateway", fix="remove it, or add a gateway", related=(gateway,)
            )
        return
    shared = set(serving.gateways) & set(site.services.gateways)
    if shared and environment.link is not None and environment.link.shared_address is not None:
        message = f"{min(shared)} takes the shared address of the tunnels: keepalived has one configuration on a host"
        yield error(gateway, message, fix="name other hosts", related=(("link", "shared_address"),))
    if len(serving.gateways) == 1:
        yield error(gateway, f"{serving.gateways[0]} is named twice", fix="name two hosts, or one")
    elif serving.name is None:
        message = "two model gateways have no name that both can be"
        fix = "write name, with a free address of the site in onprem.addresses"
        yield error(gateway, message, fix=fix, related=(path,))
    elif serving.name not in site.addresses:
        related: tuple[DataPath, ...] = (("onprem", "addresses", serving.name),)
        yield error(
            path, f"{serving.name} has no address", fix=f"add {serving.name}: to onprem.addresses", related=related
        )
    else:
        address = site.addresses[serving.name]
        owners = [name for name, other in environment.host_addresses().items() if other == str(address)]
        others = [name for name in owners if name != serving.name]
        if others or serving.name in _host_names(environment):
            owner = others[0] if others else serving.name
            message = f"{address} is the address of {owner}: a host keeps its address"
            yield error(path, message, fix="write a free address of the site", related=(("onprem", "addresses", "*"),))
        elif address not in site.cidr:
            message = f"{address} is not in {site.cidr}"
            yield error(path, message, fix="write a free address of the site", related=(("onprem", "cidr"),))


@rule(suppressible=False)
def serving_data_class(environment: Environment) -> Iterator[Finding]:
    """The data class of a served model may be at the site, and the accounts that call it have the same class.

    A model's answers contain what it has learnt from data of its class.
    Source: Landbridge (docs/decisions/0006-data.md).
    """
    if environment.serving is None:
        return
    classes, accounts = environment.data_classes, environment.scheduler.accounts
    for name, service in environment.serving.services.items():
        path: DataPath = (*_SERVICES, name, "data_class")
        if service.data_class not in classes:
            near = did_you_mean(service.data_class, classes)
            fix = f'did you mean "{near}"?' if near else f"known: {', '.join(classes)}"
            yield error(
                path, f'unknown data class "{service.data_class}"', fix=fix, related=(("data_classes", "*", ""),)
            )
        elif "onprem" not in classes[service.data_class].sites:
            message = f"data of class {service.data_class} may not be at the site, so its models are not served there"
            related: tuple[DataPath, ...] = (("data_classes", service.data_class, "sites"),)
            yield error(path, message, fix="remove the service", related=related)
        for number, account in enumerate(service.accounts):
            at: DataPath = (*_SERVICES, name, "accounts", number)
            if account not in accounts:
                near = did_you_mean(account, accounts)
                fix = f'did you mean "{near}"?' if near else "write it in scheduler.accounts"
                related = (("scheduler", "accounts", "*", ""),)
                yield error(at, f'unknown account "{account}"', fix=fix, related=related)
            elif accounts[account].data_class != service.data_class:
                message = (
                    f"{account} has the class {accounts[account].data_class}, and the model {service.data_class}: its "
                    "answers would leave their class"
                )
                related = (path, ("scheduler", "accounts", account, "data_class"))
                yield error(at, message, fix="remove the account", related=related)


@rule
def serving_ports(environment: Environment) -> Iterator[Finding]:
    """Each service has two ports of its own, and the gateway another than ssh. One service serves a model.

    The gateway finds a service by the model's name in the path.
    Source: KServe, "Open Inference Protocol (V2)"; IANA's port numbers.
    """
    serving = environment.serving
    if serving is None:
        return
    used = dict(_USED_PORTS)
    used_by = used | {exporter_port("model_gateway"): "its own metrics"}
    if serving.port in used_by:
        message = f"port {serving.port} of the gateway is used by {used_by[serving.port]}"
        yield error((*_SERVING, "port"), message, fix="write another port")
    models: dict[str, str] = {}
    for name, service in serving.services.items():
        path: DataPath = (*_SERVICES, name, "port")
        related: tuple[DataPath, ...] = ((*_SERVICES, "*", "port"),)
        ports = [model_port(service, slot) for slot in SLOTS]
        if ports[-1] > 65535:
            yield error(path, f"slot b would have the port {ports[-1]}", fix="write a port below 65535")
        clash = next((port for port in ports if port in used), None)
        if clash is not None:
            message = f"port {clash} is used by {used[clash]}; a service has its port and the next one"
            yield error(path, message, fix="write another port", related=related)
        used |= {port: f"the service {name}" for port in ports if port not in used}
        first = models.setdefault(service.model, name)
        if first != name:
            message = f"the model {service.model} is served by {first} already"
            yield error(
                (*_SERVICES, name, "model"), message, fix="keep one of both", related=((*_SERVICES, first, "model"),)
            )


@rule
def serving_canary(environment: Environment) -> Iterator[Finding]:
    """A service with canaries follows the alias champion in the MLflow server of its class, over TLS, with Landbridge's model server.

    Source: Landbridge (docs/explanation/models.md); the decision reads metrics that Triton and vLLM do not have.
    """
    if environment.serving is None:
        return
    servers = {server.data_class for server in mlflow_servers(environment)}
    for name, service in environment.serving.services.items():
        path: DataPath = (*_SERVICES, name, "canary")
        if service.canary is None:
            continue
        if service.runtime != "onnx":
            message = f"{service.runtime} has no metrics by which a canary decides"
            yield error(
                path, message, fix="remove it, or use the runtime onnx", related=((*_SERVICES, name, "runtime"),)
            )
        if service.alias != "champion":
            message = f"a canary compares staging with champion, and the service has the alias {service.alias}"
            yield error(path, message, fix="write alias: champion", related=((*_SERVICES, name, "alias"),))
        weights = service.canary.weights
        if list(weights) != sorted(set(weights)):
            yield error((*path, "weights"), "the weights do not increase from step to step", fix="sort them")
        if service.data_class in environment.data_classes and service.data_class not in servers:
            message = f"no MLflow server has the class {service.data_class}, so there is no registry to follow"
            related: tuple[DataPath, ...] = (("scheduler", "accounts", "*", "data_class"),)
            yield error(path, message, fix="remove it, or give an account this class", related=related)
        yield from _canary_team(environment, name, service)
        if not environment.mlops.mlflow.tls:
            message = "without TLS the password of the gateway's account crosses the network in clear text"
            yield warning(path, message, fix="write mlops.mlflow.tls: true", related=(("mlops", "mlflow", "tls"),))


def _canary_team(environment: Environment, name: str, service: ModelService) -> Iterator[Finding]:
    """Yield the fault of a canary's team: the model is in the workspace of a team if and only if the class has workspaces."""
    team = service.canary.team if service.canary is not None else None
    teams = [workspace.name for workspace in workspaces(environment, service.data_class)]
    if team in teams or (team is None and not teams):
        return
    path: DataPath = (*_SERVICES, name, "canary")
    if team is None:
        message = "models of this class are in workspaces of teams, and the canary has no team"
        yield error(path, message, fix=f"write team: with one of {', '.join(teams)}", related=(("mlops", "teams"),))
        return
    near = did_you_mean(team, teams)
    fix = f'did you mean "{near}"?' if near else "name a team of mlops.teams with an account of the service's class"
    message = f"the team {team} has no workspace for data of class {service.data_class}"
    yield error((*path, "team"), message, fix=fix, related=(("mlops", "teams"),))


@rule
def serving_replicas(environment: Environment) -> Iterator[Finding]:
    """A service has at most as many replicas as serving has hosts, and with one replica a lost host stops it.

    Source: landbridge/plan/network/services/serving.py.
    """
    serving = environment.serving
    if serving is None:
        return
    at_site, in_aws = len(dict.fromkeys(serving.hosts)), len(cloud_model_servers(environment))
    hosts = at_site + in_aws
    for name, service in serving.services.items():
        path: DataPath = (*_SERVICES, name, "replicas")
        related: tuple[DataPath, ...] = ((*_SERVING, "hosts"),)
        if service.replicas > hosts:
            yield error(path, f"{service.replicas} replicas on {hosts} hosts", fix="add hosts", related=related)
        elif service.replicas == 1:
            yield warning(
                path,
                f"if the host of {name} fails, the service is not available",
                fix="write replicas: 2",
                related=related,
            )


def _gateways(serving: Serving) -> Iterator[tuple[DataPath, str]]:
    """Yield the hosts of the model gateway with their paths."""
    path: DataPath = (*_SERVING, "gateway")
    if isinstance(serving.gateway, tuple):
        yield from (((*path, number), name) for number, name in enumerate(serving.gateway))
    else:
        yield path, serving.gateway


def _host_names(environment: Environment) -> set[str]:
    """Return the names of hosts that Landbridge configures."""
    services = set(environment.onprem.services.hosts()) if environment.onprem is not None else set()
    serving = environment.serving
    return services | _node_names(environment) | ({*serving.hosts, *serving.gateways} if serving is not None else set())


def _node_names(environment: Environment) -> set[str]:
    return {host for group in environment.node_groups for host in hostlist.expand(group.hosts)}
