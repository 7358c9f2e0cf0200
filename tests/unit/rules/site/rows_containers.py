"""Mistakes with containers of jobs."""

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

CONF: DataPath = ("scheduler", "overrides")
USERS = [{"name": "alice", "uid": 20001}, {"name": "bob", "uid": 85001}]

ROWS = [
    Row("overlapping-subuids", "two users with the same numbers in containers", {("users",): USERS}, ("users", 1, "uid"), "alice"),
    Row("container-packages", "enroot without a repository", {("containers",): {"engines": ["enroot"]}}, ("containers", "engines", 0), "repository"),
    Row("mpi-kind", "PMIx with packages that have none", {CONF: {"slurm_conf": {"MpiDefault": "pmix"}}}, (*CONF, "slurm_conf", "MpiDefault"), "pmi2"),
]  # fmt: skip
