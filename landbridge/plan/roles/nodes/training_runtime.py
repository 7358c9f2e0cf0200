"""Role training_runtime: Python environment of training jobs."""

from landbridge.plan.network.host_role import EVERYWHERE, HostRole

ROLE = HostRole(
    variables={EVERYWHERE: lambda site: {"training_runtime_find_links": site.services.packages.python_find_links or ""}}
)
