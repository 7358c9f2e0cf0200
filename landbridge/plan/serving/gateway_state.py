"""Judgement of a model gateway's state: answers of its program `landbridge-model-gateway list`. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from landbridge.findings import Finding, Severity

#: States of a server in HAProxy that gets requests. Source: HAProxy 3.0 Management Guide, "show stat", field status.
_GETS_REQUESTS = "UP"


def state_findings(services: Sequence[str], answer: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the faults of services: no server, a server that is down, and a champion that does not serve."""
    followed = answer.get("followed", {})
    for name in services:
        servers = [row for row in answer["servers"] if row["service"] == name]
        weighted = [row for row in servers if row["weight"] > 0]
        usable = [row for row in weighted if row["state"].startswith(_GETS_REQUESTS)]
        is_stopped = followed.get(name, {}).get("scale") == 0
        is_idle = ((followed.get(name) or {}).get("by_load") or {}).get("hosts") == 0
        if not servers:
            yield Finding("serve-unknown", f"{name}: the gateway has no such service", fix="run landbridge configure")
        elif is_stopped:
            message = f"{name} is stopped by an order"
            fix = f"landbridge serve start {name}"
            yield Finding("serve-stopped", message, fix=fix, severity=Severity.INFO)
        elif not usable and is_idle:
            message = f"{name} has no load, and no host: the next request starts one"
            yield Finding("serve-idle", message, severity=Severity.INFO)
        elif not usable:
            fix = "systemctl status of its units has the reason"
            yield Finding("serve-down", f"{name}: no model server answers", fix=fix)
        else:
            for row in weighted:
                if row not in usable:
                    message = f"{name}: {row['server']} is {row['state']}, and has the weight {row['weight']}"
                    yield Finding("serve-server", message, severity=Severity.WARNING)
        yield from _placement(name, followed.get(name), is_stopped)
        for host in (followed.get(name) or {}).get("absent") or ():
            message = (
                f"{name}: AWS has refused the start of {host}, or it has no instance; the next host is used instead"
            )
            fix = "the log of landbridge-model-instances on the gateway has the reason"
            yield Finding("serve-instance", message, fix=fix, severity=Severity.WARNING)


def last_servers(answer: Mapping[str, Any], host: str) -> tuple[str, ...]:
    """Return the services whose last server that gets requests is on a host."""
    usable: dict[str, set[str]] = {}
    for row in answer["servers"]:
        if row["weight"] > 0 and row["state"].startswith(_GETS_REQUESTS):
            usable.setdefault(row["service"], set()).add(row["server"].partition("-")[2])
    return tuple(service for service, hosts in usable.items() if hosts == {host})


def _placement(name: str, followed: Mapping[str, Any] | None, is_stopped: bool) -> Iterator[Finding]:
    if followed is None:
        return
    placement = followed["placement"]
    if placement is None:
        fix = "systemctl status landbridge-serving on the gateway has the reason"
        yield Finding("serve-follow", f"{name}: the gateway has made no pass", fix=fix, severity=Severity.WARNING)
    elif not placement["aliases"]["champion"]:
        fix = "landbridge model promote NAME/VERSION champion"
        yield Finding("serve-champion", f"{name}: the model has no champion", fix=fix, severity=Severity.WARNING)
    elif placement["serving"] != placement["aliases"]["champion"] and not is_stopped:
        message = f"{name}: version {placement['aliases']['champion']} is champion, and {placement['serving'] or 'none'} serves"
        yield Finding("serve-champion", message, severity=Severity.WARNING)
