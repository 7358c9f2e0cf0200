"""Role mig: GPU instances of nodes whose GPUs are partitioned."""

from landbridge.plan.network.host_role import HostRole
from landbridge.plan.site.mig import mig_variables

ROLE = HostRole(host_variables=lambda site, host: mig_variables(site.environment, host.name))
