"""Role slurm_job_environment: folders of jobs on a node's local scratch disk."""

from landbridge.plan.network.host_role import HostRole
from landbridge.plan.slurm.jobs.prolog_epilog import prolog_epilog_variables

ROLE = HostRole(host_variables=lambda site, host: prolog_epilog_variables(site.environment, host.name))
