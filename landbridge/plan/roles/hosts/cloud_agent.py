"""Role cloud_agent: the lease of nodes in AWS."""

from landbridge.plan.network.host_role import EVERYWHERE, HostRole

ROLE = HostRole(variables={EVERYWHERE: lambda site: {"cloud_agent_lease_minutes": site.environment.aws.lease_minutes}})
