"""Counterparts of AWS ParallelCluster's validators, from parallelcluster.yaml."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from landbridge import yaml_text


@dataclass(frozen=True)
class Validator:
    """Validator of ParallelCluster with the rules that replace it; `reason` explains what they do not cover."""

    name: str
    catches: str
    rules: tuple[str, ...] = ()
    live: tuple[str, ...] = ()
    reason: str = ""

    def table_cell(self) -> str:
        """Return the validator's cell in the table of mistakes.md."""
        parts = [f"check: {', '.join(self.rules)}"] if self.rules else []
        parts += [f"preflight: {', '.join(self.live)}"] if self.live else []
        return "; ".join([*parts, *([self.reason] if self.reason else [])])


def validators() -> Iterator[Validator]:
    """Yield the validators in the order of the file."""
    rows = yaml_text.load(Path(__file__).with_suffix(".yaml").read_text())
    for row in rows:
        yield Validator(**{**row, "rules": tuple(row.get("rules", ())), "live": tuple(row.get("live", ()))})
