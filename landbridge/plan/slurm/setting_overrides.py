"""Slurm settings as data: a site's overrides on top of defaults, and how Slurm writes values."""

from collections.abc import Mapping

from landbridge.environment.base import Scalar


def with_overrides(settings: Mapping[str, Scalar], overrides: Mapping[str, Scalar | None]) -> dict[str, Scalar]:
    """Settings with a site's own on top: a value replaces (whatever the key's case), None deletes."""
    spelling = {key.casefold(): key for key in settings}
    found = dict(settings)
    for key, value in overrides.items():
        known = spelling.get(key.casefold(), key)
        if value is None:
            found.pop(known, None)
        else:
            found[known] = value
    return found


def setting_text(value: Scalar) -> str:
    """A setting's value as Slurm writes it."""
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
