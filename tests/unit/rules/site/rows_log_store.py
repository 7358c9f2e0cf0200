"""Mistakes with the log store."""

from landbridge.findings import DataPath
from tests.unit.rules.row import Row
from tests.unit.rules.slurm.rows_existing_slurm import RUNNING

HOST: DataPath = ("onprem", "services", "logs")
LOGS: DataPath = ("observability", "logs")
CLASSES: DataPath = (*LOGS, "classes")
STORED = {HOST: "mlops01"}

ROWS = [
    Row("logs-without-store", "retention without a log store", {LOGS: {"days": 30}}, LOGS, "not used"),
    Row("log-store-of-an-existing-slurm", "a log store of a site that others configure", {**RUNNING, HOST: "ctl01"}, HOST, "no shippers"),
    Row("log-class-unknown", "retention of a misspelt data class", {**STORED, LOGS: {"classes": {"internl": {}}}}, (*CLASSES, "internl"), "internal"),
    Row("log-class-without-hosts", "retention of a class that no host has alone", {**STORED, LOGS: {"classes": {"restricted": {}}}}, (*CLASSES, "restricted"), "class restricted only"),
    Row("log-store-on-login-host", "a log store where users log in", {HOST: "login01"}, HOST, "users log in"),
    Row("logs-of-nodes-in-aws", "a log store without a certificate of nodes in AWS", STORED, ("aws", "pools"), "end with the instance"),
    Row("log-store-in-images-of-others", "a log store and an image of others", {**STORED, ("onprem", "services", "monitoring"): "mlops01"}, ("aws", "pools", 0, "image"), "log_shipper"),
]  # fmt: skip
