"""Environment key `observability`: how long metrics and logs are kept, and receivers of alerts.

`onprem.services.monitoring` and `onprem.services.logs` have the hosts.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from landbridge.environment.base import AbsolutePath, Model, Port, Text, Word

Address = Annotated[str, StringConstraints(pattern=r"^[^@\s]+@[a-z0-9.-]+$")]


class AlertMail(Model):
    """E-mails of alerts, sent through a mail server of the site."""

    server: Annotated[str, StringConstraints(pattern=r"^[a-z0-9.-]+:[0-9]{1,5}$")] = Field(
        description="mail server and port, which accepts mail of the monitoring host without a password"
    )
    sender: Address
    to: Annotated[tuple[Address, ...], Field(min_length=1)]
    tls: bool = Field(default=True, description="whether the server must offer TLS (STARTTLS)")


class CustomAlert(Model):
    """Alert of the site itself. Its expression may use the metrics of the catalogue only."""

    name: Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Za-z0-9]{2,60}$")]
    expression: Text = Field(description="PromQL expression; each series of its result is an alert")
    minutes: int = Field(default=5, ge=0, le=10080, description="time for which the expression must hold")
    severity: Literal["page", "ticket", "info"] = "ticket"
    owner: Word = Field(default="operators", description="team that handles the alert")
    summary: Text
    runbook: Annotated[str, StringConstraints(pattern=r"^https?://\S+$")] = Field(
        description="page with the procedure for this alert"
    )


class RemoteWrite(Model):
    """Copy of the site's metrics in a workspace of Amazon Managed Service for Prometheus that exists."""

    url: Annotated[
        str,
        StringConstraints(
            pattern=r"^https://aps-workspaces(-fips)?\.[a-z0-9-]+\.amazonaws\.com(\.cn)?/workspaces/ws-[a-z0-9-]+/api/v1/remote_write$"
        ),
    ] = Field(description="URL of the workspace for remote write; its region signs the requests")
    credentials_file: AbsolutePath = Field(
        description="AWS credentials file on the monitoring host, which the account prometheus can read"
    )
    profile: Word = Field(
        default="default", description="profile of the file, whose role may aps:RemoteWrite to this workspace"
    )

    @property
    def region(self) -> str:
        """Return the region of the workspace."""
        return self.url.split(".")[1]


class LogLimits(Model):
    """Time for which logs are kept, and most disk space that they use. The first limit that is reached applies."""

    days: int = Field(default=90, ge=1, le=3650, description="time after which logs are deleted")
    gib: int = Field(default=20, ge=1, le=100_000, description="maximum disk space; the oldest logs are deleted first")


class LogStore(LogLimits):
    """Log store of the site, if `onprem.services.logs` names a host. `days` and `gib`: logs of hosts with several data classes."""

    port: Port = Field(
        default=19532, description="port of the log store, for clients with a certificate of the site's CA"
    )
    classes: Mapping[Word, LogLimits] = Field(
        default={}, description="logs of hosts that have one data class only, by that class; none: `days` and `gib`"
    )


class SiteTimers(Model):
    """Timers on the first controller that run the passes of health, idle GPUs, costs, the link and model archives without an operator."""

    health_minutes: int = Field(
        default=5, ge=1, le=1440, description="interval of `landbridge health step --run`, which repairs faulty GPUs"
    )
    idle_minutes: int = Field(
        default=10, ge=1, le=1440, description="interval of `landbridge idle step --run`, by `scheduler.idle_gpus`"
    )
    cost_minutes: int = Field(
        default=60, ge=5, le=10_080, description="interval of `landbridge cost tag`, for runs in MLflow"
    )
    link_minutes: int = Field(
        default=15, ge=1, le=1440, description="interval of `landbridge netcheck`, with a link between sites"
    )
    sagemaker_minutes: int = Field(
        default=5,
        ge=1,
        le=1440,
        description="interval of `landbridge sagemaker sync`, with `mlops.sagemaker` and pools in AWS",
    )
    archive_minutes: int = Field(
        default=60,
        ge=5,
        le=10_080,
        description="interval of `landbridge model archive`, for each data class with an MLflow server and with "
        "`storage.data_hub.classes.CLASS.replica_region`; it needs `mlops.mlflow.tls`",
    )


class ObjectiveTarget(Model):
    """Target of a service level objective. A key that is absent has the catalogue's value (objectives.yaml)."""

    target: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="share of good time, events or GPU-seconds, such as 0.995; the rest is the error budget",
    )
    days: int | None = Field(
        default=None,
        ge=7,
        le=366,
        description="time for which the error budget is counted, in days; not longer than `retention_days`",
    )


class Observability(Model):
    """Metrics, alerts and logs of the site, if `onprem.services` names their hosts."""

    retention_days: int = Field(default=30, ge=1, le=3650, description="time for which metrics are kept")
    retention_gib: int = Field(default=50, ge=1, le=100_000, description="maximum disk space of the metrics")
    scrape_seconds: int = Field(default=30, ge=5, le=300, description="interval of the scrapes")
    port: Port = Field(default=9090, description="port of Prometheus")
    alertmanager_port: Port = Field(default=9093, description="port of Alertmanager, on the monitoring host's loopback")
    mail: AlertMail | None = Field(
        default=None, description="e-mails of alerts; none: alerts are on Alertmanager's page only"
    )
    alerts: tuple[CustomAlert, ...] = Field(default=(), description="alerts of the site, besides those of Landbridge")
    timers: SiteTimers | None = Field(
        default=None,
        description="timers on the first controller, and accounts with forced commands on nodes and gateways; none: the "
        "operator runs the passes",
    )
    objectives: Mapping[Word, ObjectiveTarget] = Field(
        default={}, description="targets of service level objectives by name, other than the catalogue's"
    )
    remote_write: RemoteWrite | None = Field(
        default=None, description="copy of the metrics in Amazon Managed Prometheus; none: metrics stay on the site"
    )
    logs: LogStore = Field(
        default=LogStore.with_defaults(), description="logs of the site's hosts, which never leave the site"
    )
