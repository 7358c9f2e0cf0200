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
    "aec": "seek-oss/aec",
    "airavata": "apache/airavata-custos",
    "airflow": "apache/airflow",
    "auditor": "ALU-Schumacher/AUDITOR",
    "autosubmit": "BSC-ES/autosubmit",
    "aws_cli": "aws/aws-cli",
    "aws_vpc": "terraform-aws-modules/terraform-aws-vpc",
    "castai": "castai/terraform-provider-castai",
    "cid": "aws-solutions-library-samples/cloud-intelligence-dashboards-framework",
    "cloud_cml": "CiscoDevNet/cloud-cml",
    "cloud_platform": "ministryofjustice/cloud-platform-environments",
    "cloud_provider": "kubernetes/cloud-provider-aws",
    "credential_helper": "aws/rolesanywhere-credential-helper",
    "cyclecloud": "Azure/cyclecloud-slurm",
    "cztack": "chanzuckerberg/cztack",
    "dcgm": "NVIDIA/DCGM",
    "dcgm_exporter": "NVIDIA/dcgm-exporter",
    "deepchecks": "deepchecks/deepchecks",
    "dra_driver": "kubernetes-sigs/dra-driver-nvidia-gpu",
    "dstack": "dstackai/dstack",
    "eks_module": "terraform-aws-modules/terraform-aws-eks",
    "eksctl": "eksctl-io/eksctl",
    "evidently": "evidentlyai/evidently",
    "gardener_aws": "gardener/gardener-extension-provider-aws",
    "github_runner": "github-aws-runners/terraform-aws-github-runner",
    "gpu_monitoring": "NVIDIA/gpu-monitoring-tools",
    "gpustack": "gpustack/runtime",
    "grand_challenge": "DIAGNijmegen/rse-grand-challenge",
    "hive": "openshift/hive",
    "home_ops": "rwlove/home-ops",
    "hpc_cost": "aws-samples/hpc-cost-simulator",
    "hpc_recipes": "aws-samples/aws-hpc-recipes",
    "hyperswitch": "juspay/hyperswitch-helm",
    "karpenter": "aws/karpenter-provider-aws",
    "koku": "project-koku/koku",
    "kserve": "kserve/kserve",
    "kthena": "volcano-sh/kthena",
    "lightning": "Lightning-AI/pytorch-lightning",
    "mlflow": "mlflow/mlflow",
    "nise": "project-koku/nise",
    "nvsentinel": "NVIDIA/NVSentinel",
    "ohpc": "openhpc/ohpc",
    "opencost": "opencost/opencost",
    "pai": "microsoft/pai",
    "parallelcluster": "aws/aws-parallelcluster",
    "pulumi_eks": "pulumi/pulumi-eks",
    "runs_on": "runs-on/runs-on",
    "s5cmd": "peak/s5cmd",
    "sagemaker_controller": "aws-controllers-k8s/sagemaker-controller",
    "scaffolding_kit": "aws-samples/sample-physical-ai-scaffolding-kit",
    "shine_cluster": "lyulyul/shine-cluster",
    "skypilot": "skypilot-org/skypilot",
    "slurm_bank": "jcftang/slurm-bank",
    "slurm_job_exporter": "guilbaults/slurm-job-exporter",
    "slurm_role": "fgci-org/ansible-role-slurm",
    "slurm_usage": "basnijholt/slurm-usage",
    "slurm_utils": "birc-aeh/slurm-utils",
    "soperator": "nebius/soperator",
    "sssd": "SSSD/sssd",
    "synapse": "KKloudTarus/synapse-ce",
    "syne_tune": "syne-tune/syne-tune",
    "systemd": "systemd/systemd",
    "teleport": "gravitational/teleport",
    "terraform_aws": "hashicorp/terraform-provider-aws",
    "test_infra": "pytorch/test-infra",
    "trinityx": "clustervision/trinityX",
    "triton": "triton-inference-server/server",
}
HEAD = """# Issues reported against similar projects

Each row is an issue or a pull request of another project for GPU clusters. If the problem can be tested on a machine without
a GPU, Landbridge has tests whose names contain the issue; otherwise the last column has the requirement of a test.

| issue | complaint | tests of Landbridge, or missing requirement |
| --- | --- | --- |
"""


def page() -> str:
    """Return the page. Raises ValueError for a row that has neither a test nor a reason, and KeyError for a test of `by` that does not exist."""
    tests = _tests()
    return HEAD + "".join(_row(row, tests) for row in _rows())


def _rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = yaml_text.load((ROOT / "docs/complaints.yaml").read_text())["complaints"]
    return rows


def _row(row: dict[str, Any], file_by_test: dict[str, str]) -> str:
    cells = []
    for key in row["tests"]:
        cells += [f"`{name}` ({file})" for name, file in file_by_test.items() if re.match(rf"test_{key}(?!\d)", name)]
    cells += [f"`{name}` ({file_by_test[name]})" for name in row.get("by", ())]
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
