"""Role slurm_rest: slurmrestd on the first login host."""

from typing import Any

from landbridge.plan.network.host_role import HostRole, Site


def _variables(site: Site) -> dict[str, Any]:
    from landbridge.plan.slurm.slurmrestd import rest_variables

    return rest_variables(site.environment)


ROLE = HostRole(
    group="slurm_rest",
    place=40,
    members=lambda environment, served: served.logins[:1] if environment.scheduler.rest is not None else (),
    variables={"slurm_rest": _variables},
)
