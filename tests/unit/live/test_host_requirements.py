"""Programs of hosts and the lock of their packages: each package that Landbridge's modules import is in it."""

import ast
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
LOCK = ROOT / "ansible/roles/burst/files/requirements.lock"
#: Modules of the programs in the environments that the roles burst, data_mover, prometheus and site_timers install from the lock.
PROGRAMS = (
    "landbridge.burst.daemon.daemon, landbridge.aws_api",
    "landbridge.live.staging.service",
    "landbridge.cli.main, landbridge.cli.data.put, landbridge.live.datasets, landbridge.environment",
    "landbridge.burst.aws.metrics_targets, landbridge.burst.aws.publish_certificate",
    "landbridge.cli.main, landbridge.cli.health.steps, landbridge.cli.idle.commands, landbridge.cli.cost.tag, landbridge.cli.netcheck, "
    "landbridge.ops.gpu_health.observe, landbridge.acceptance.rung_job, landbridge.live.mlflow_client, landbridge.ops.netcheck.collect",
)
#: Those of the environment in which the role site_timers archives models, with packages that are imported when they are used.
ARCHIVE = (
    "landbridge.cli.main, landbridge.cli.model.archive, landbridge.live.models.archive, landbridge.live.mlflow_client, "
    "landbridge.models.files.verify, landbridge.aws_api.objects, landbridge.plan.roles.hosts.roles_anywhere"
)


def test_the_lock_of_the_archive_of_models_has_each_package_that_it_imports() -> None:
    lock = ROOT / "ansible/roles/site_timers/files/requirements.lock"
    assert lacking(ARCHIVE, lock) == set()
    locked = set(re.findall(r"^(\S+)==", lock.read_text(), re.MULTILINE))
    assert {"mlflow-skinny", "model-signing", "pyopenssl", "safetensors"} <= locked


@pytest.mark.parametrize("modules", PROGRAMS)
def test_the_lock_of_host_programs_has_each_package_that_they_import(modules: str) -> None:
    assert lacking(modules, LOCK) == set()


def lacking(modules: str, lock: Path) -> set[str]:
    """Return the packages that modules import and a lock does not have."""
    code = f"import sys, {modules}; print(*(m.__file__ for n, m in sys.modules.items() if n.startswith('landbridge.')))"
    files = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = {name for file in files.split() for name in imported(Path(file))} - {"landbridge", *sys.stdlib_module_names}
    locked = set(re.findall(r"^(\S+)==", lock.read_text(), re.MULTILINE))
    distributions = packages_distributions()
    assert names
    return {name for name in names if not {_normal(package) for package in distributions[name]} & locked}


def imported(file: Path) -> set[str]:
    """Return the first words of the modules that a file imports when it is loaded."""
    statements = ast.parse(file.read_text()).body
    named = [alias.name for node in statements if isinstance(node, ast.Import) for alias in node.names]
    named += [node.module or "" for node in statements if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in named}


def _normal(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()
