"""The samples that use every key of the model."""

from pathlib import Path

FULL = (Path(__file__).parent / "full.yaml", Path(__file__).parent / "full-leased.yaml")
