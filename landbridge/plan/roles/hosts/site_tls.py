"""Role site_tls: the site's CA, and certificates of its servers."""

from landbridge.plan.network.host_role import EVERYWHERE, HostRole
from landbridge.plan.site.site_tls import certificate_variables, site_tls_variables

ROLE = HostRole(
    variables={EVERYWHERE: lambda site: site_tls_variables(site.environment)},
    host_variables=lambda site, host: certificate_variables(site.environment, host.name),
)
