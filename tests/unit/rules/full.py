"""Samples that use every key of the model."""

from pathlib import Path

_NAMES = ("full", "full-leased", "full-cloud", "full-cloud-efs", "full-existing", "full-homes")
FULL = tuple(Path(__file__).parent / f"{name}.yaml" for name in _NAMES)
