"""Inhibitions of Alertmanager: consequences of an alert are not sent while it fires. Pure."""

from collections.abc import Mapping
from typing import Any

from landbridge.catalog.observability.alerts import AlertInhibition, alert_inhibitions
from landbridge.environment import Environment
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.log_store import log_store_host


def inhibit_rules(environment: Environment) -> list[dict[str, Any]]:
    """Return the inhibitions of this environment, without inhibitions of a service with several hosts."""
    single = _single_hosts(environment)
    return [
        _rule(inhibition, single.get(inhibition.single or ""))
        for inhibition in alert_inhibitions()
        if inhibition.single is None or inhibition.single in single
    ]


def _rule(inhibition: AlertInhibition, node: str | None) -> dict[str, Any]:
    hidden = (
        f'alertname!~"{inhibition.hides_all_but}"' if inhibition.hides_all_but else f'alertname=~"{inhibition.hides}"'
    )
    labels = {**inhibition.when, **({"node": node} if node is not None else {})}
    return {
        "source_matchers": [f'alertname=~"{inhibition.alert}"', *_matchers(labels)],
        "target_matchers": [hidden, *_matchers(inhibition.only)],
        **({"equal": list(inhibition.equal)} if inhibition.equal else {}),
    }


def _matchers(labels: Mapping[str, str]) -> list[str]:
    return [f'{name}=~"{pattern}"' for name, pattern in labels.items()]


def _single_hosts(environment: Environment) -> dict[str, str]:
    """Return the host of each service that has one."""
    served = service_hosts(environment)
    every = {
        "controller": served.controllers,
        "database": (served.database,),
        "gateway": served.gateways,
        "mlops": (served.mlops,),
        "storage": (served.storage,),
        "logs": (log_store_host(environment),),
    }
    return {service: names[0] for service, names in every.items() if len(names) == 1 and names[0] is not None}
