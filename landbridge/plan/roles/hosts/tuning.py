"""Role tuning: kernel settings, the catalogue's profile for a host's purpose, with the site's overrides on GPU nodes."""

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from landbridge.environment import Environment
from landbridge.plan.network.host_role import EVERY_HOST, EVERYWHERE, HostRole

if TYPE_CHECKING:
    from landbridge.catalog.hardware.tuning import Profile


def service_tuning(environment: Environment) -> dict[str, Any]:
    """Return the role `tuning`'s variables of service hosts, with every key, because cloud node images use them too."""
    return _variables("service") if environment.hosts.tuning.enabled else {}


def node_tuning(environment: Environment) -> dict[str, Any]:
    """Return the role `tuning`'s variables of GPU nodes of both sites; empty if the site has disabled it."""
    settings = environment.hosts.tuning
    if not settings.enabled:
        return {}
    variables = _variables("gpu_node")
    merged: dict[str, int | str | None] = {**variables["tuning_kernel"], **settings.kernel}
    variables["tuning_kernel"] = {key: value for key, value in merged.items() if value is not None}
    if settings.huge_pages:
        variables["tuning_huge_pages"] = settings.huge_pages
    if settings.transparent_huge_pages:
        variables["tuning_transparent_huge_pages"] = settings.transparent_huge_pages
    return variables


def pcie_tuning(environment: Environment, platform: str) -> dict[str, Any]:
    """Return the role `tuning`'s variables of the PCIe tree of an on-prem node; empty if the site has disabled them."""
    from landbridge.catalog.hardware.tuning import pcie_settings

    settings = environment.hosts.tuning
    if not settings.enabled or not settings.pcie:
        return {}
    rows = [
        {"kind": row.kind, "value": row.value, "left_to": list(row.left_to)}
        for row in pcie_settings()
        if any(fnmatchcase(platform, pattern) for pattern in row.platforms)
    ]
    return {"tuning_pcie": rows} if rows else {}


def _variables(name: "Profile") -> dict[str, Any]:
    from landbridge.catalog.hardware.tuning import tuning_profiles

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


ROLE = HostRole(
    variables={
        # Images of nodes in AWS are built with the variables of all hosts.
        EVERYWHERE: lambda site: node_tuning(site.environment),
        EVERY_HOST: lambda site: service_tuning(site.environment),
        "slurm_node": lambda site: node_tuning(site.environment),
    },
    host_variables=lambda site, host: pcie_tuning(site.environment, host.platform) if host.platform else {},
)
