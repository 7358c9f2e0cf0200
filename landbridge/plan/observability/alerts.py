"""Alert rules of Prometheus: the catalogue's rules whose metrics are planned, and the environment's own rules."""

from collections.abc import Collection
from typing import Any

from landbridge.catalog.observability.alerts import alert_rules, runbook_of
from landbridge.environment import Environment
from landbridge.plan.network.services.serving import starts_model_servers
from landbridge.plan.observability.expected import gpu_rules, seen_rules
from landbridge.plan.observability.objectives import (
    OBJECTIVES,
    exporters_of,
    latency_rules,
    planned_objectives,
    recording_rules,
    scale_rules,
    wanted_rules,
)
from landbridge.plan.observability.targets import monitored_services, planned_exporters


def alert_groups(environment: Environment, gpu_hosts: Collection[str]) -> dict[str, Any]:
    """Return the file of rules: recorded series of the objectives, and alerts.

    Messages have no templates: the labels of an alert name the host and the part.
    """
    names = planned_alerts(environment, gpu_hosts)
    landbridge_rules = [
        _rule(name, rule.expression, rule.minutes, rule.severity, rule.owner, rule.summary, runbook_of(name))
        for name, rule in alert_rules().items()
        if name in names
    ]
    site_rules = [
        _rule(alert.name, alert.expression, alert.minutes, alert.severity, alert.owner, alert.summary, alert.runbook)
        for alert in environment.observability.alerts
    ]
    service_rules = latency_rules(_latencies(environment)) + scale_rules(_least_hosts(environment))
    service_rules += wanted_rules() if starts_model_servers(environment) else []
    used = " ".join(rule["expr"] for rule in landbridge_rules)
    service_rules += [rule for rule in (*gpu_rules(environment, gpu_hosts), *seen_rules()) if rule["record"] in used]
    groups = [
        {
            "name": "objectives",
            "interval": "1m",
            "rules": recording_rules(environment, planned_exporters(environment, gpu_hosts)),
        },
        {"name": "services", "interval": "1m", "rules": service_rules},
        {"name": "landbridge", "rules": landbridge_rules},
        {"name": "site", "rules": site_rules},
    ]
    return {"groups": [group for group in groups if group["rules"]]}


def planned_alerts(environment: Environment, gpu_hosts: Collection[str]) -> tuple[str, ...]:
    """Return the names of the catalogue's alerts for which every exporter is planned."""
    exporters = set(planned_exporters(environment, gpu_hosts))
    if planned_objectives(environment, exporters):
        exporters.add(OBJECTIVES)
    return tuple(name for name, rule in alert_rules().items() if exporters_of(rule.expression) <= exporters)


def _latencies(environment: Environment) -> dict[str, float]:
    return {name: service.objective.p95_ms / 1000 for name, service in monitored_services(environment).items()}


def _least_hosts(environment: Environment) -> dict[str, int]:
    services = monitored_services(environment).items()
    return {name: service.scale.least for name, service in services if service.scale is not None}


def _rule(
    name: str, expression: str, minutes: int, severity: str, owner: str, summary: str, runbook: str
) -> dict[str, Any]:
    return {
        "alert": name,
        "expr": expression,
        "for": f"{minutes}m",
        "labels": {"severity": severity, "owner": owner},
        "annotations": {"summary": summary, "runbook": runbook},
    }
