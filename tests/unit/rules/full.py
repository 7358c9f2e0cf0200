"""Samples that use every key of the model."""

from pathlib import Path

FULL = tuple(Path(__file__).parent / f"{name}.yaml" for name in ("full", "full-leased", "full-cloud", "full-cloud-efs"))
