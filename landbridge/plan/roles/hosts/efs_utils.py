"""Role efs_utils: the EFS mount helper on hosts in AWS and in node images."""

from typing import Any

from landbridge.environment import Environment
from landbridge.plan.aws.storage.efs_access import mounts_efs_over_tls
from landbridge.plan.network.host_role import EVERYWHERE, HostRole


def efs_variables(environment: Environment) -> dict[str, Any]:
    """Return the variable of ansible/playbooks/node_image.yml; empty if no file system needs the helper."""
    return {"landbridge_efs_utils": True} if mounts_efs_over_tls(environment) else {}


ROLE = HostRole(variables={EVERYWHERE: lambda site: efs_variables(site.environment)})
