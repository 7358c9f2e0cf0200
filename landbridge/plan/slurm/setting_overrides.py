"""Overrides of Slurm settings, and their text form."""

from collections.abc import Mapping

from landbridge.environment.base import Scalar


def with_overrides(settings: Mapping[str, Scalar], overrides: Mapping[str, Scalar | None]) -> dict[str, Scalar]:
    """Return settings with a site's overrides: a value replaces the setting (keys are case-insensitive), None removes
    it.
    """
    spelling = {key.casefold(): key for key in settings}
    merged = dict(settings)
    for key, value in overrides.items():
        spelled = spelling.get(key.casefold(), key)
        if value is None:
            merged.pop(spelled, None)
        else:
            merged[spelled] = value
    return merged


def setting_text(value: Scalar) -> str:
    """Return a setting's value in slurm.conf's form."""
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
