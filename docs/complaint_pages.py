"""docs/reference/complaints.md: complaints of users of other kits, and the tests for them."""

import re
from pathlib import Path
from typing import Any

from landbridge import yaml_text

ROOT = Path(__file__).resolve().parents[1]
REPOSITORIES = {
    "deepops": "NVIDIA/deepops",
    "appliance": "stackhpc/ansible-slurm-appliance",
    "openhpc": "stackhpc/ansible-role-openhpc",
    "driver_role": "NVIDIA/ansible-role-nvidia-driver",
    "gpu_operator": "NVIDIA/gpu-operator",
    "nccl": "NVIDIA/nccl",
    "awsome": "awslabs/awsome-distributed-ai",
}
HEAD = """# What users of other kits complain about

Each row is an issue or a pull request about another kit for GPU clusters. What can be tried on a machine without a
GPU is a test here, named after it; for the others the last column says what would be needed.

| where | what they say | tests here, or what is missing |
| --- | --- | --- |
"""


def page() -> str:
    """The whole page. Raises ValueError for a row that has neither a test nor a reason."""
    tests = _tests()
    return HEAD + "".join(_row(row, tests) for row in _rows())


def _rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = yaml_text.load((ROOT / "docs/complaints.yaml").read_text())["complaints"]
    return rows


def _row(row: dict[str, Any], found: dict[str, str]) -> str:
    cells = []
    for key in row["tests"]:
        cells += [f"`{name}` ({where})" for name, where in found.items() if re.match(rf"test_{key}(?!\d)", name)]
    if not cells and "needs" not in row:
        raise ValueError(
            f"docs/complaints.yaml: no test is named after {', '.join(row['tests'])}, and nothing says why"
        )
    return f"| {', '.join(map(_issue, row['tests']))} | {row['says']} | {' '.join([*cells, row.get('needs', '')]).strip()} |\n"


def _issue(key: str) -> str:
    name, _, number = key.rpartition("_")
    return f"{REPOSITORIES[name]}#{number}"


def _tests() -> dict[str, str]:
    """File by name of every test."""
    tests = {}
    for path in sorted((ROOT / "tests").glob("*/**/test_*.py")):
        for name in re.findall(r"^(?:async )?def (test_\w+)\(", path.read_text(), re.M):
            tests[name] = str(path.relative_to(ROOT))
    return tests
