"""Role python_runtime: Python environments of programs."""

from landbridge.plan.network.host_role import EVERYWHERE, HostRole

ROLE = HostRole(
    variables={EVERYWHERE: lambda site: {"python_runtime_find_links": site.services.packages.python_find_links or ""}}
)
