"""Recording rules of service level objectives: the share of errors by window, the error budget, and its rest. Pure."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from landbridge.catalog.observability.metrics import metrics_contract, metrics_in
from landbridge.catalog.observability.objectives import WINDOW, ServiceObjective, service_objectives
from landbridge.environment import Environment
from landbridge.plan.observability.expected import NODE_GPUS, PORT_SEEN, SERVER_SEEN

#: Windows of every objective, and those of objectives with `available`, which have a value at each moment.
WINDOWS, SHORT_WINDOWS = ("6h", "3d", "28d"), ("5m", "30m", "1h")
_PREFIX = "landbridge:objective_"
BUDGET, LEFT, AVAILABLE = f"{_PREFIX}budget:ratio", f"{_PREFIX}budget_left:ratio", f"{_PREFIX}available:ratio"
#: Days for which the error budget of each objective is counted.
DAYS = f"{_PREFIX}window:days"
#: Latency objective of each service; it is recorded with the metrics of model servers.
MODEL_P95 = "landbridge:model_p95_objective:seconds"
#: Least hosts of each service that scales by load: having fewer than its replicas is not a fault.
MODEL_LEAST = "landbridge:model_scale_least:hosts"
#: Whether each host of model servers in AWS should run; empty without such hosts.
MODEL_WANTED = "landbridge:model_host_wanted:bool"
#: Series that recording rules make, with their labels.
RECORDED: Mapping[str, frozenset[str]] = (
    {
        name: frozenset({"objective"})
        for name in (
            BUDGET,
            DAYS,
            LEFT,
            AVAILABLE,
            *(f"{_PREFIX}errors:ratio_{window}" for window in (*SHORT_WINDOWS, *WINDOWS)),
        )
    }
    | dict.fromkeys((MODEL_P95, MODEL_LEAST), frozenset({"service"}))
    | {MODEL_WANTED: frozenset({"host"}), NODE_GPUS: frozenset({"node"})}
    | {PORT_SEEN: frozenset({"node", "device", "port"}), SERVER_SEEN: frozenset({"service", "node"})}
)
#: Name of the recorded series among exporters.
OBJECTIVES = "objectives"


def objectives_of(environment: Environment) -> dict[str, ServiceObjective]:
    """Return every objective with the target and the days of the environment; an unknown name is the check's."""
    changed = environment.observability.objectives
    return {
        name: objective.model_copy(update=changed[name].model_dump(exclude_none=True)) if name in changed else objective
        for name, objective in service_objectives().objectives.items()
    }


def planned_objectives(environment: Environment, exporters: Collection[str]) -> dict[str, ServiceObjective]:
    """Return the objectives for which every exporter of their metrics is planned."""
    exporter_of = metrics_contract().exporter_of
    return {
        name: objective
        for name, objective in objectives_of(environment).items()
        if {exporter_of(metric) for text in objective.expressions for metric in metrics_in(text)} <= set(exporters)
    }


def exporters_of(expression: str) -> set[str]:
    """Return the exporters of an expression's metrics; recorded series are series of `objectives`, or of model servers.

    `up` is of every job: the job that it names is needed.
    """
    contract = metrics_contract()
    recorded = dict.fromkeys(RECORDED, OBJECTIVES) | dict.fromkeys(
        (MODEL_P95, MODEL_LEAST, SERVER_SEEN), "model_server"
    )
    recorded |= {NODE_GPUS: "dcgm", PORT_SEEN: "node"}
    # An alert of every site may exclude these hosts.
    recorded[MODEL_WANTED] = "host"
    jobs = {job for job in contract.exporters if f'job="{job}"' in expression}
    return jobs | {recorded.get(name) or str(contract.exporter_of(name)) for name in metrics_in(expression)}


def latency_rules(latencies: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return the recording rules of the latency objectives of services, in seconds."""
    return [
        {"record": MODEL_P95, "expr": f"vector({seconds:.6g})", "labels": {"service": name}}
        for name, seconds in latencies.items()
    ]


def scale_rules(least: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return the recording rules of the least hosts of services that scale by load."""
    return [
        {"record": MODEL_LEAST, "expr": f"vector({hosts})", "labels": {"service": name}}
        for name, hosts in least.items()
    ]


def wanted_rules() -> list[dict[str, Any]]:
    """Return the recording rule of the hosts in AWS that should run."""
    return [{"record": MODEL_WANTED, "expr": "max by (host) (landbridge_model_instance_wanted)"}]


def recording_rules(environment: Environment, exporters: Collection[str]) -> list[dict[str, Any]]:
    """Return the recording rules, in the order in which one needs another."""
    planned = planned_objectives(environment, exporters)
    return [rule for name, objective in planned.items() for rule in _rules(name, objective)]


def _rules(name: str, objective: ServiceObjective) -> Iterator[dict[str, Any]]:
    yield _rule(BUDGET, f"vector({1 - objective.target:.6g})", name)
    yield _rule(DAYS, f"vector({objective.days})", name)
    if objective.available is not None:
        yield _rule(AVAILABLE, objective.available, name)
    for window in (*(SHORT_WINDOWS if objective.available is not None else ()), *WINDOWS):
        yield _rule(_errors(window), _error_ratio(name, objective, window), name)
    window = f"{objective.days}d"
    used = (
        f'{_errors(window)}{{objective="{name}"}}'
        if window in WINDOWS
        else f"({_error_ratio(name, objective, window)})"
    )
    # Errors without labels are divided too: a recorded series has the label of its objective.
    yield _rule(LEFT, f'1 - {used} / ignoring (objective) {BUDGET}{{objective="{name}"}}', name)


def _error_ratio(name: str, objective: ServiceObjective, window: str) -> str:
    """Return the share of bad time or events; without an event there is no series."""
    if objective.available is not None:
        return f'1 - avg_over_time({AVAILABLE}{{objective="{name}"}}[{window}])'
    good, total = (str(text).replace(WINDOW, window) for text in (objective.good, objective.total))
    # A good event may fall into the window whose cause is before it, so that there can be more of them than of all events.
    return f"clamp_min(1 - (({good}) or vector(0)) / (({total}) > 0), 0)"


def _errors(window: str) -> str:
    return f"{_PREFIX}errors:ratio_{window}"


def _rule(record: str, expression: str, objective: str) -> dict[str, Any]:
    return {"record": record, "expr": expression, "labels": {"objective": objective}}
