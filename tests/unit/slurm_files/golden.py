"""Reviewed Slurm files of several environments.

After an intended change: python -m tests.unit.slurm_files.golden, and review the difference.
"""

import shutil
from pathlib import Path

from landbridge.environment import Environment, load_text
from landbridge.plan.slurm.files import slurm_files

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"
NAMES = tuple(sorted(path.stem for path in (HERE / "environments").glob("*.yaml")))
#: Versions with Debian packages, which the lab starts; and the oldest one, which must have no newer settings.
VERSIONS = ("24.11", "26.05")
OLDEST = "23.11"
CASES = (*((name, version) for name in NAMES for version in VERSIONS), ("metal", OLDEST), ("hybrid", OLDEST))


def environment(name: str, version: str) -> Environment:
    """Return one of the environments with this version of Slurm."""
    text = (HERE / "environments" / f"{name}.yaml").read_text().replace("VERSION", version)
    result = load_text(text, Path(f"stacks/Pulumi.{name}.yaml"))
    assert result.environment is not None, result.findings
    return result.environment


def folder(name: str, version: str) -> Path:
    """Return the directory of the files."""
    return GOLDEN / f"{name}-{version}"


def main() -> None:
    """Rewrite every file."""
    shutil.rmtree(GOLDEN, ignore_errors=True)
    for name, version in CASES:
        folder(name, version).mkdir(parents=True)
        for file, text in slurm_files(environment(name, version)).items():
            (folder(name, version) / file).write_text(text)


if __name__ == "__main__":
    main()
