"""Rules about metrics and alerts: the monitoring host, the site's own alerts, and parts without metrics."""

from collections.abc import Iterator

from landbridge.catalog.observability.alerts import alert_rules
from landbridge.catalog.observability.metrics import metrics_contract, metrics_in
from landbridge.catalog.observability.objectives import service_objectives
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, did_you_mean, error, info, warning
from landbridge.plan.network.services.monitoring import monitoring_host
from landbridge.plan.observability.gaps import unmonitored
from landbridge.plan.observability.objectives import RECORDED, planned_objectives
from landbridge.plan.observability.store_size import store_size
from landbridge.plan.observability.targets import planned_exporters
from landbridge.plan.roles.nodes.dcgm import gpu_metrics_hosts
from landbridge.rules.registry import rule

_MONITORING: DataPath = ("onprem", "services", "monitoring")
_ALERTS: DataPath = ("observability", "alerts")
_OBJECTIVES: DataPath = ("observability", "objectives")


@rule
def alert_unknown_metric(environment: Environment) -> Iterator[Finding]:
    """An alert uses metrics of the catalogue only: an expression with another one has no result, so that it never fires.

    Source: landbridge/catalog/metrics.yaml.
    """
    contract = metrics_contract()
    known_names = [*RECORDED, *(name for exporter in contract.exporters.values() for name in exporter.metrics)]
    for number, alert in enumerate(environment.observability.alerts):
        path: DataPath = (*_ALERTS, number, "expression")
        for name in contract.missing(alert.expression, frozenset(RECORDED)):
            yield error(path, f"no exporter has the metric {name}", fix=did_you_mean(name, known_names))
        if not metrics_in(alert.expression):
            yield error(path, "the expression has no metric", fix="write a PromQL expression with a metric")


@rule
def alert_name_used(environment: Environment) -> Iterator[Finding]:
    """Each alert has a name of its own: Alertmanager groups messages by it, and its runbook is found by it.

    Source: Prometheus documentation, "Alerting rules"; landbridge/plan/observability/scrapes.py.
    """
    names = list(alert_rules())
    for number, alert in enumerate(environment.observability.alerts):
        if alert.name in names:
            yield error(
                (*_ALERTS, number, "name"), f"another alert has the name {alert.name}", fix="choose another name"
            )
        names.append(alert.name)


@rule
def alert_without_prometheus(environment: Environment) -> Iterator[Finding]:
    """Alerts, their messages, timers and remote write need a monitoring host.

    Source: landbridge/plan/network/services/monitoring.py.
    """
    settings = environment.observability
    fix = "name a host in onprem.services.monitoring"
    if monitoring_host(environment) is not None:
        return
    if settings.alerts or settings.mail is not None:
        path: DataPath = _ALERTS if settings.alerts else ("observability", "mail")
        yield error(path, "the environment has no monitoring host, so these alerts are not used", fix=fix)
    if settings.timers is not None:
        message = (
            "the environment has no monitoring host, whose alerts report a timer that stops, so no timer is planned"
        )
        yield error(("observability", "timers"), message, fix=fix)
    if settings.remote_write is not None:
        message = "the environment has no monitoring host, so no metric is sent to the workspace"
        yield error(("observability", "remote_write"), message, fix=fix)


@rule
def objective_unknown(environment: Environment) -> Iterator[Finding]:
    """A target belongs to an objective of the catalogue, whose metrics exist on this site.

    Source: landbridge/catalog/objectives.yaml; landbridge/plan/observability/objectives.py.
    """
    known = service_objectives().objectives
    try:
        exporters = planned_exporters(environment, frozenset())
    except ValueError:
        return  # host names that cannot be read have findings of their own
    for name in environment.observability.objectives:
        path: DataPath = (*_OBJECTIVES, name)
        if name not in known:
            yield error(path, f"there is no objective {name}", fix=did_you_mean(name, known))
        elif name not in planned_objectives(environment, exporters):
            yield warning(
                path,
                f"the metrics of the objective {name} do not exist here, so its target is not used",
                fix="remove the key",
            )


@rule
def objective_longer_than_metrics(environment: Environment) -> Iterator[Finding]:
    """The time of an error budget is not longer than that for which metrics are kept: its rest would be computed from a part.

    Source: landbridge/plan/observability/objectives.py.
    """
    settings = environment.observability
    for name, objective in settings.objectives.items():
        if objective.days is not None and objective.days > settings.retention_days:
            message = f"the error budget is counted for {objective.days} days, and metrics are kept for {settings.retention_days}"
            yield error(
                (*_OBJECTIVES, name, "days"), message, fix="raise observability.retention_days, or write fewer days"
            )


@rule
def metrics_disk_too_small(environment: Environment) -> Iterator[Finding]:
    """The disk space of metrics is enough for their time: Prometheus deletes the oldest ones when the first limit is reached.

    Source: landbridge/catalog/metrics_store.yaml; Prometheus documentation, "Storage" (bytes of a sample).
    """
    settings = environment.observability
    if monitoring_host(environment) is None:
        return
    try:
        size = store_size(environment)
    except ValueError:
        return  # host names that cannot be read have findings of their own
    if size.disk_gib > settings.retention_gib:
        days = settings.retention_days * settings.retention_gib / size.disk_gib
        message = f"{size.series:,} series use {size.disk_gib:.0f} GiB in {settings.retention_days} days: they are kept for about {days:.0f} days"
        fix = f"write {size.disk_gib:.0f} or more, or raise observability.scrape_seconds"
        yield warning(("observability", "retention_gib"), message, fix=fix)
    if settings.remote_write is not None:
        message = f"{size.monthly_samples / 1e9:.1f} billion samples a month cost about {size.managed_usd:,.0f} USD in Amazon Managed Prometheus"
        yield info(("observability", "remote_write"), message)


@rule
def monitoring_of_an_existing_slurm(environment: Environment) -> Iterator[Finding]:
    """Metrics are collected on sites that Landbridge configures: on another one it has no exporter on the hosts.

    Source: landbridge/plan/network/services/monitoring.py.
    """
    if environment.existing_slurm is not None and _named(environment):
        message = "a site whose Slurm others configure gets no exporters, so no Prometheus is configured"
        yield warning(
            _MONITORING, message, fix="remove the key, and read the burst controller's metrics on its loopback"
        )


@rule
def alerts_without_messages(environment: Environment) -> Iterator[Finding]:
    """Alerts are sent by e-mail: if they are on Alertmanager's page only, operators notice a fault late.

    Source: Prometheus documentation, "Alertmanager configuration".
    """
    if monitoring_host(environment) is not None and environment.observability.mail is None:
        fix = "write observability.mail with your mail server"
        yield warning(_MONITORING, "no message is sent when an alert fires", fix=fix)


@rule
def unmonitored_part(environment: Environment) -> Iterator[Finding]:
    """Parts without metrics of their own are known: no alert of their metrics fires.

    Source: landbridge/plan/observability/gaps.py; slurm.schedmd.com/metrics.html.
    """
    for path, reason in unmonitored(environment, gpu_metrics_hosts(environment)):
        yield info(path, reason, related=(_MONITORING,))


def _named(environment: Environment) -> bool:
    return environment.onprem is not None and environment.onprem.services.monitoring is not None
