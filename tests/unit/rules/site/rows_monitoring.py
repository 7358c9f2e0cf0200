"""Mistakes with metrics and alerts."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.row import Row
from tests.unit.rules.slurm.rows_existing_slurm import RUNNING

HOST: DataPath = ("onprem", "services", "monitoring")
ALERTS: DataPath = ("observability", "alerts")
WORKSPACE = {
    "url": "https://aps-workspaces.us-east-1.amazonaws.com/workspaces/ws-1/api/v1/remote_write",
    "credentials_file": "/etc/landbridge/aws-credentials-prometheus",
}
OBJECTIVES: DataPath = ("observability", "objectives")
MONITORED = {HOST: "mlops01"}


def alert(**changes: Any) -> dict[str, Any]:
    good = {
        "name": "ScratchFilling",
        "expression": "node_load1 > 9",
        "summary": "x",
        "runbook": "https://wiki.example.org/x",
    }
    return {**good, **changes}


ROWS = [
    Row("alert-unknown-metric", "an alert on a misspelt metric", {**MONITORED, ALERTS: [alert(expression="node_laod1 > 9")]}, (*ALERTS, 0, "expression"), "node_load1"),
    Row("alert-unknown-metric", "an alert without a metric", {**MONITORED, ALERTS: [alert(expression="vector(1)")]}, (*ALERTS, 0, "expression"), "no metric"),
    Row("alert-name-used", "an alert with the name of one of Landbridge's", {**MONITORED, ALERTS: [alert(name="NodeDown")]}, (*ALERTS, 0, "name"), "NodeDown"),
    Row("alert-without-prometheus", "alerts without a monitoring host", {ALERTS: [alert()]}, ALERTS, "not used"),
    Row("alert-without-prometheus", "remote write without a monitoring host", {("observability", "remote_write"): WORKSPACE}, ("observability", "remote_write"), "no metric is sent"),
    Row("alert-without-prometheus", "timers without a monitoring host", {("observability", "timers"): {}}, ("observability", "timers"), "no timer"),
    Row("alerts-without-messages", "alerts that are sent to no person", MONITORED, HOST, "no message"),
    Row("objective-unknown", "a target of a misspelt objective", {**MONITORED, OBJECTIVES: {"linc": {"target": 0.9}}}, (*OBJECTIVES, "linc"), "link"),
    Row("objective-unknown", "a target of an objective without metrics", {**MONITORED, OBJECTIVES: {"burst": {"target": 0.9}}, ("aws", "pools"): []}, (*OBJECTIVES, "burst"), "not used"),
    Row("objective-longer-than-metrics", "an error budget of three months with metrics of one", {**MONITORED, OBJECTIVES: {"link": {"days": 90}}}, (*OBJECTIVES, "link", "days"), "kept for 30"),
    Row("metrics-disk-too-small", "a disk that the metrics fill", {**MONITORED, ("observability",): {"retention_gib": 1, "retention_days": 3650, "scrape_seconds": 5}}, ("observability", "retention_gib"), "kept for about"),
    Row("monitoring-of-an-existing-slurm", "metrics of a site that others configure", {**RUNNING, HOST: "ctl01"}, HOST, "no exporters"),
    Row("unmonitored-part", "a Slurm without metrics", {**MONITORED, ("scheduler", "slurm", "version"): "24.11"}, ("scheduler", "slurm", "version"), "since 25.11"),
    Row("unmonitored-part", "nodes without DCGM", {**MONITORED, ("onprem", "gpu_tools"): {"dcgm": False}}, ("onprem", "nodes", 0), "does not install DCGM on dgx[01-02]"),
]  # fmt: skip
