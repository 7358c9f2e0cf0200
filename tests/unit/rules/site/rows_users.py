"""Mistakes with users, accounts, data classes and budgets."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

ACCOUNTS: DataPath = ("scheduler", "accounts")
BUDGET: DataPath = ("budget",)
POOL: DataPath = ("aws", "pools", 0)
BLOCK = {"kind": "capacity_block", "reservation": "cr-0123456789abcdef0", "zone": "use1-az4", "count": 4}
WINDOW = {"starts": "2027-01-04T11:30:00Z", "ends": "2027-01-11T11:30:00Z"}

DIRECTORY: dict[DataPath, Any] = {
    ("hosts", "directory"): {
        "uris": ["ldaps://ad.example.org"],
        "base": "dc=example,dc=org",
        "bind_dn": "cn=hosts,dc=example,dc=org",
        "min_uid": 100_000,
    }
}


def budget(**more: Any) -> dict[DataPath, Any]:
    """Return the changes for a budget."""
    return {BUDGET: more}


ROWS = [
    Row("unknown-data-class", "misspelt data class of an account", {(*ACCOUNTS, "vision", "data_class"): "intrenal"}, (*ACCOUNTS, "vision", "data_class"), '"internal"'),
    Row("unknown-data-class", "misspelt data class of MLflow", {("mlops", "mlflow"): {"data_class": "x"}}, ("mlops", "mlflow", "data_class"), "x"),
    Row("class-without-nodes", "a class whose site has no nodes", {("onprem", "nodes"): [], (*ACCOUNTS, "vision", "data_class"): "restricted"}, (*ACCOUNTS, "vision", "data_class"), "no nodes"),
    Row("duplicate-user", "one name for two users", {("users", 1, "name"): "alice"}, ("users", 1, "name"), "alice"),
    Row("duplicate-user", "one uid for two users", {("users", 1, "uid"): 20001}, ("users", 1, "uid"), "20001"),
    Row("reserved-user", "a user named slurm", {("users", 1, "name"): "slurm"}, ("users", 1, "name"), "system"),
    Row("reserved-user", "a user with the uid of nobody", {("users", 1, "uid"): 65534}, ("users", 1, "uid"), "the uid 65534 is reserved by the"),
    Row("unknown-user", "misspelt user", {(*ACCOUNTS, "vision", "users", 0): "alcie"}, (*ACCOUNTS, "vision", "users", 0), '"alice"'),
    Row("user-not-in-aws", "users of a directory with a password", {**DIRECTORY, (*ACCOUNTS, "vision", "users"): ["alice", "dora"]}, (*ACCOUNTS, "vision", "users"), "no user dora"),
    Row("user-not-in-aws", "pools without users", {("users",): []}, (*ACCOUNTS, "vision", "users"), "no user alice"),
    Row("unknown-account", "a budget for a misspelt account", budget(accounts={"visoin": {"monthly_usd": 5}}), (*BUDGET, "accounts", "visoin"), '"vision"'),
    Row("unknown-account", "an unknown parent account", {(*ACCOUNTS, "vision", "parent"): "lab"}, (*ACCOUNTS, "vision", "parent"), "lab"),
    Row("unknown-account", "an account that is its own parent", {(*ACCOUNTS, "vision", "parent"): "vision"}, (*ACCOUNTS, "vision", "parent"), "own parent account"),
    Row("reserved-account", "an account named root", {(*ACCOUNTS, "root"): {"users": ["bob"], "data_class": "internal"}}, (*ACCOUNTS, "root"), "the account name root is reserved by"),
    Row("user-twice-in-account", "a user twice in an account", {(*ACCOUNTS, "vision", "users"): ["alice", "alice"]}, (*ACCOUNTS, "vision", "users", 1), "the user alice of vision is repeated"),
    Row("account-without-users", "an account without users", {(*ACCOUNTS, "speech"): {"data_class": "internal"}}, (*ACCOUNTS, "speech"), "the account speech has no users"),
    Row("mlflow-artifact-class", "artifacts that may not leave the site", {("mlops", "mlflow"): {"data_class": "restricted"}}, ("mlops", "mlflow", "data_class"), "restricted"),
    Row("budget-sum", "accounts that may spend more than the whole budget", budget(monthly_usd=5, accounts={"vision": {"monthly_usd": 6}}), (*BUDGET, "monthly_usd"), "6"),
    Row("budget-below-fixed-costs", "a budget below the fixed costs", {**budget(monthly_usd=50), ("aws", "nat"): "per_zone"}, (*BUDGET, "monthly_usd"), "the fixed costs are"),
    Row("budget-below-fixed-costs", "a budget below the cost of min_nodes", {**budget(monthly_usd=9000), (*POOL, "min_nodes"): 1}, (*BUDGET, "monthly_usd"), "p5"),
    Row("budget-below-hourly-cost", "one hour costs more than the month's budget", {**budget(monthly_usd=1500), (*POOL, "max_nodes"): 32}, (*BUDGET, "monthly_usd"), "one hour"),
    Row("budget-below-block", "a block's bill above the month's budget", {**budget(monthly_usd=20000), (*POOL, "capacity", 0): {**BLOCK, **WINDOW}, (*POOL, "min_nodes"): 4}, (*BUDGET, "monthly_usd"), "4 x p5.48xlarge, capacity block is billed"),
    Row("zero-budget", "a hard budget of zero", budget(accounts={"vision": {"monthly_usd": 0, "hard": True}}), (*BUDGET, "accounts", "vision", "monthly_usd"), "ever starts"),
    Row("zero-budget", "an alarm at the first cent", budget(monthly_usd=0), (*BUDGET, "monthly_usd"), "every cent"),
]  # fmt: skip
