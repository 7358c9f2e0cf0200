"""Mistakes with secrets."""

from tests.unit.rules.row import Row

ROWS = [
    Row("missing-secret", "a secret that is not in the file", {("secrets",): {"slurm_key": {"config": "landbridge:k"}}}, ("secrets", "slurm_key", "config"), "landbridge:k"),
]  # fmt: skip
