"""Role log_shipper: sends the journal of each host to the log store."""

from landbridge.plan.network.host_role import EVERYWHERE, HostRole
from landbridge.plan.roles.log_store import cloud_log_variables, log_shipper_variables

ROLE = HostRole(
    variables={EVERYWHERE: lambda site: cloud_log_variables(site.environment)},
    host_variables=lambda site, host: log_shipper_variables(site.environment),
)
