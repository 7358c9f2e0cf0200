"""Mistakes with MLflow's servers."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.row import Row
from tests.unit.rules.serving.rows_serving import served

MLFLOW: DataPath = ("mlops", "mlflow")
CLINIC = {("scheduler", "accounts", "clinic"): {"users": ["bob"], "data_class": "restricted"}}
#: Served model that follows the registry.
FOLLOWED = served({"canary": {}})
MODEL: DataPath = ("serving", "services", "digits", "model")
REPLICA: dict[DataPath, Any] = {("storage", "data_hub", "classes"): {"internal": {"replica_region": "us-west-2"}}}
TIMERS: dict[DataPath, Any] = {
    ("onprem", "services", "monitoring"): "mlops01",
    ("observability", "timers"): {"archive_minutes": 30},
}

ROWS = [
    Row("mlflow-ports", "a port of a misspelt class", {MLFLOW: {"ports": {"restrictde": 5005}}}, (*MLFLOW, "ports", "restrictde"), '"restricted"'),
    Row("mlflow-ports", "a second port of the first server", {MLFLOW: {"ports": {"internal": 5005}}}, (*MLFLOW, "ports", "internal"), "mlops.mlflow.port"),
    Row("mlflow-ports", "the server of a class at the first server's port", {**CLINIC, MLFLOW: {"ports": {"restricted": 5000}}}, (*MLFLOW, "ports", "restricted"), "that for internal"),
    Row("mlflow-ports", "the server of a class at the registry's port", {**CLINIC, ("mlops",): {"registry": {"port": 5011}}}, (*MLFLOW, "port"), "the registry"),
    Row("account-without-mlflow", "runs of data that may be in AWS only", {("data_classes", "web"): {"sites": ["aws"]}, ("scheduler", "accounts", "web"): {"users": ["bob"], "data_class": "web"}}, ("scheduler", "accounts", "web", "data_class"), "MLFLOW_TRACKING_URI"),
    Row("mlflow-in-clear-text", "MLflow without TLS", {MLFLOW: {"tls": False}}, (*MLFLOW, "tls"), "passwords"),
    Row("model-archive", "served models without a copy in a second region", FOLLOWED, MODEL, "replica_region"),
    Row("model-archive", "a replica, and no timer that archives models", {**FOLLOWED, **REPLICA}, MODEL, "observability.timers"),
    Row("model-archive", "an interval of archives without a replica", TIMERS, ("observability", "timers", "archive_minutes"), "no models are archived"),
]  # fmt: skip
