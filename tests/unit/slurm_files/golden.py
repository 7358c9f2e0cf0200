"""Slurm's files of a handful of environments, as they were at their last review.

After a wanted change: python -m tests.unit.slurm_files.golden, and review the difference.
"""

import shutil
from pathlib import Path

from landbridge.environment import Environment, load_text
from landbridge.plan.slurm.files import slurm_files

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"
NAMES = tuple(sorted(path.stem for path in (HERE / "environments").glob("*.yaml")))
#: Those that Debian has packages of, which the lab starts; and the oldest, which nothing newer may have crept into.
VERSIONS = ("24.11", "26.05")
OLDEST = "23.11"
CASES = (*((name, version) for name in NAMES for version in VERSIONS), ("metal", OLDEST), ("hybrid", OLDEST))


def environment(name: str, version: str) -> Environment:
    """One of the environments with this Slurm."""
    text = (HERE / "environments" / f"{name}.yaml").read_text().replace("VERSION", version)
    found = load_text(text, Path(f"stacks/Pulumi.{name}.yaml"))
    assert found.environment is not None, found.findings
    return found.environment


def folder(name: str, version: str) -> Path:
    """Return the folder of the files."""
    return GOLDEN / f"{name}-{version}"


def main() -> None:
    """Write every file anew."""
    shutil.rmtree(GOLDEN, ignore_errors=True)
    for name, version in CASES:
        folder(name, version).mkdir(parents=True)
        for file, text in slurm_files(environment(name, version)).items():
            (folder(name, version) / file).write_text(text)


if __name__ == "__main__":
    main()
