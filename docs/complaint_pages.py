"""Page docs/reference/complaints.md: complaints about similar projects, and Landbridge's tests for them."""

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
HEAD = """# Issues reported against similar projects

Each row is an issue or a pull request of another project for GPU clusters. If the problem can be tested on a machine without
a GPU, Landbridge has tests whose names contain the issue; otherwise the last column has the requirement of a test.

| issue | complaint | tests of Landbridge, or missing requirement |
| --- | --- | --- |
"""


def page() -> str:
    """Return the page. Raises ValueError for a row that has neither a test nor a reason."""
    tests = _tests()
    return HEAD + "".join(_row(row, tests) for row in _rows())


def _rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = yaml_text.load((ROOT / "docs/complaints.yaml").read_text())["complaints"]
    return rows


def _row(row: dict[str, Any], file_by_test: dict[str, str]) -> str:
    cells = []
    for key in row["tests"]:
        cells += [f"`{name}` ({file})" for name, file in file_by_test.items() if re.match(rf"test_{key}(?!\d)", name)]
    if not cells and "needs" not in row:
        raise ValueError(
            f"docs/complaints.yaml: no test is named after {', '.join(row['tests'])}, and `needs` is missing"
        )
    return f"| {', '.join(map(_issue, row['tests']))} | {row['says']} | {' '.join([*cells, row.get('needs', '')]).strip()} |\n"


def _issue(key: str) -> str:
    name, _, number = key.rpartition("_")
    return f"{REPOSITORIES[name]}#{number}"


def _tests() -> dict[str, str]:
    """Return the file of every test, by the test's name."""
    tests = {}
    for path in sorted((ROOT / "tests").glob("*/**/test_*.py")):
        for name in re.findall(r"^(?:async )?def (test_\w+)\(", path.read_text(), re.M):
            tests[name] = str(path.relative_to(ROOT))
    return tests
