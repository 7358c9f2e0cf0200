"""Kernel settings: the catalogue's profile for a host's purpose, with the site's overrides on GPU nodes."""

from typing import Any

from landbridge.catalog.hardware.tuning import Profile, tuning_profiles
from landbridge.environment import Environment


def service_tuning(environment: Environment) -> dict[str, Any]:
    """Return the role `tuning`'s variables of service hosts, with every key, because cloud node images use them too."""
    return _variables("service") if environment.hosts.tuning.enabled else {}


def node_tuning(environment: Environment) -> dict[str, Any]:
    """Return the role `tuning`'s variables of GPU nodes of both sites; empty if the site has disabled it."""
    own = environment.hosts.tuning
    if not own.enabled:
        return {}
    found = _variables("gpu_node")
    merged: dict[str, int | str | None] = {**found["tuning_kernel"], **own.kernel}
    found["tuning_kernel"] = {key: value for key, value in merged.items() if value is not None}
    if own.huge_pages:
        found["tuning_huge_pages"] = own.huge_pages
    if own.transparent_huge_pages:
        found["tuning_transparent_huge_pages"] = own.transparent_huge_pages
    return found


def _variables(name: Profile) -> dict[str, Any]:
    profile = tuning_profiles()[name]
    limits = [limit.model_dump(include={"domain", "type", "item", "value"}) for limit in profile.limits]
    return {
        "landbridge_tuning": True,
        "tuning_kernel": {key: setting.value for key, setting in profile.kernel.items()},
        "tuning_kernel_where_known": {key: setting.value for key, setting in profile.kernel_where_known.items()},
        "tuning_limits": limits,
        "tuning_transparent_huge_pages": profile.transparent_huge_pages or "",
        "tuning_governor": profile.governor or "",
        "tuning_huge_pages": 0,
    }
