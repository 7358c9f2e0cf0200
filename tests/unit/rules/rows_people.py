"""Mistakes with users, accounts, data classes and budgets."""

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

ACCOUNTS: DataPath = ("scheduler", "accounts")

ROWS = [
    Row("unknown-data-class", "misspelt data class of an account", {(*ACCOUNTS, "vision", "data_class"): "intrenal"}, (*ACCOUNTS, "vision", "data_class"), '"internal"'),
    Row("unknown-data-class", "misspelt data class of MLflow", {("mlops", "mlflow"): {"data_class": "x"}}, ("mlops", "mlflow", "data_class"), "x"),
    Row("class-without-place", "a class whose site has no nodes", {("onprem", "nodes"): [], (*ACCOUNTS, "vision", "data_class"): "restricted"}, (*ACCOUNTS, "vision", "data_class"), "no nodes"),
    Row("classified-in-aws", "ITAR data in a commercial region", {("data_classes", "secret"): {"sites": ["aws"], "regime": "itar"}}, ("data_classes", "secret", "sites"), "GovCloud"),
    Row("classified-in-aws", "classified data in AWS", {("data_classes", "secret"): {"sites": ["aws"], "regime": "classified"}}, ("data_classes", "secret", "sites"), "on-prem only"),
    Row("duplicate-user", "one name for two people", {("users", 1, "name"): "alice"}, ("users", 1, "name"), "alice"),
    Row("duplicate-user", "one uid for two people", {("users", 1, "uid"): 20001}, ("users", 1, "uid"), "20001"),
    Row("unknown-user", "misspelt user", {(*ACCOUNTS, "vision", "users", 0): "alcie"}, (*ACCOUNTS, "vision", "users", 0), '"alice"'),
    Row("unknown-account", "a budget for a misspelt account", {("budget",): {"accounts": {"visoin": {"monthly_usd": 5}}}}, ("budget", "accounts", "visoin"), '"vision"'),
    Row("unknown-account", "an unknown parent account", {(*ACCOUNTS, "vision", "parent"): "lab"}, (*ACCOUNTS, "vision", "parent"), "lab"),
    Row("unknown-account", "an account that is its own parent", {(*ACCOUNTS, "vision", "parent"): "vision"}, (*ACCOUNTS, "vision", "parent"), "own ancestor"),
    Row("budget-sum", "accounts may spend more than all", {("budget",): {"monthly_usd": 5, "accounts": {"vision": {"monthly_usd": 6}}}}, ("budget", "monthly_usd"), "6"),
    Row("artifacts-stay-home", "artifacts that may not leave the site", {("mlops", "mlflow"): {"data_class": "restricted"}}, ("mlops", "mlflow", "data_class"), "restricted"),
]  # fmt: skip
