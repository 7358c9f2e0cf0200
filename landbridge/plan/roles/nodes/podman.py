"""Role podman, and the variables of apptainer and enroot_pyxis: container engines of jobs."""

from landbridge.plan.network.host_role import EVERYWHERE, HostRole
from landbridge.plan.site.containers import container_folder, container_variables

ROLE = HostRole(
    variables={EVERYWHERE: lambda site: container_variables(site.environment)},
    host_variables=lambda site, host: container_folder(site.environment, host.name) if host.platform else {},
)
