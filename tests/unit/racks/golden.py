"""Reviewed plans of the example racks.

After an intended change: python -m tests.unit.racks.golden, and review the difference.
"""

from pathlib import Path

from landbridge.environment import Environment, Loaded, load_environment
from tests.unit.racks.plan import plan_text

ROOT = Path(__file__).resolve().parents[3]
RACKS = ROOT / "examples" / "racks"
GOLDEN = Path(__file__).with_name("golden")
NAMES = tuple(sorted(path.stem for path in RACKS.glob("*.yaml")))


def loaded(name: str) -> Loaded:
    """Return an example with its findings."""
    return load_environment(RACKS / f"{name}.yaml")


def environment(name: str) -> Environment:
    """Return an example rack."""
    result = loaded(name)
    assert result.environment is not None, result.findings
    return result.environment


def main() -> None:
    """Write every plan, and delete those without an example."""
    GOLDEN.mkdir(exist_ok=True)
    for path in GOLDEN.glob("*.txt"):
        if path.stem not in NAMES:
            path.unlink()
    for name in NAMES:
        (GOLDEN / f"{name}.txt").write_text(plan_text(environment(name)))


if __name__ == "__main__":
    main()
