"""Role roles_anywhere: AWS credentials of on-prem services through IAM Roles Anywhere.

A credentials file of the AWS SDKs has one profile for each role; every profile names AWS's signing helper. Profiles of
further users of a host are further entries of `roles_anywhere_files`.
"""

from typing import Any

from landbridge.environment import Environment
from landbridge.environment.aws.iam import Anywhere
from landbridge.plan.aws.access.identity import identity_args
from landbridge.plan.aws.access.onprem_hosts import ONPREM_ROLES, OnPremRole
from landbridge.plan.aws_endpoint import aws_endpoint
from landbridge.plan.network.host_role import HostRole
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.mlflow_servers import mlflow_servers
from landbridge.plan.network.services.monitoring import monitoring_host
from landbridge.plan.outputs import IdentityOutput, StackOutputs
from landbridge.plan.slurm.controller_pair import SLURM_UID

#: Credentials file of the burst controller, on a host outside AWS.
BURST_FILE = "/etc/landbridge/aws-credentials"
#: Credentials file of the host's administrators, with the roles that no service uses.
ROOT_FILE = "/etc/landbridge/aws-profiles"
#: Facts of the host's certificate, readable by all: its end and its serial number.
VALIDITY_FILE = "/etc/landbridge/anywhere/validity.json"
#: Credentials file and account of the service that finds nodes in AWS for Prometheus.
DISCOVERY_FILE = "/etc/landbridge/aws-credentials-discovery"
DISCOVERY_ACCOUNT = "landbridge-discovery"
#: Credentials file and account of the service that starts and stops hosts of model servers in AWS.
INSTANCES_FILE = "/etc/landbridge/aws-credentials-model-instances"
INSTANCES_ACCOUNT = "landbridge-instances"
#: Credentials file and account of the timer that archives models.
ARCHIVE_FILE = "/etc/landbridge/aws-credentials-model-archive"
ARCHIVE_ACCOUNT = "landbridge-archive"
_ROOT_ROLES: tuple[OnPremRole, ...] = ("read", "mover")


def roles_anywhere(environment: Environment) -> Anywhere | None:
    """Return the settings of IAM Roles Anywhere if the site's services use it."""
    site = environment.onprem
    return environment.aws.iam.anywhere if site is not None and site.aws_credentials is None else None


def credential_hosts(environment: Environment) -> tuple[str, ...]:
    """Return the hosts that need a certificate."""
    if roles_anywhere(environment) is None:
        return ()
    by_role = identity_args(environment).hosts
    return tuple(dict.fromkeys(host for role in ONPREM_ROLES for host in by_role.get(role, ())))


def roles_anywhere_variables(
    environment: Environment, host: str, outputs: StackOutputs | None, endpoint: str | None
) -> dict[str, Any]:
    """Return the variables of one host; empty without IAM Roles Anywhere, or for a host without credentials."""
    anywhere = roles_anywhere(environment)
    if anywhere is None or host not in credential_hosts(environment):
        return {}
    variables: dict[str, Any] = {
        "roles_anywhere_common_name": host,
        "roles_anywhere_authority": f"{anywhere.certificate}\n",
        "roles_anywhere_region": environment.region,
        "roles_anywhere_endpoint": endpoint or "",
        "roles_anywhere_session_seconds": anywhere.minutes * 60,
        "roles_anywhere_certificate_days": anywhere.certificate_days,
        "roles_anywhere_renew_days": anywhere.renew_days,
        "roles_anywhere_alarm_days": anywhere.alarm_days,
    }
    if anywhere.helper is not None:
        variables |= {
            "roles_anywhere_helper_url": anywhere.helper.url,
            "roles_anywhere_helper_sha256": anywhere.helper.sha256,
        }
    if outputs is not None and outputs.identity.trust_anchor_arn is not None:
        variables["roles_anywhere_trust_anchor"] = outputs.identity.trust_anchor_arn
        variables["roles_anywhere_files"] = _files(environment, host, outputs.identity)
    return variables


def _files(environment: Environment, host: str, identity: IdentityOutput) -> list[dict[str, Any]]:
    """Return the credentials files of a host's services, and of its administrators."""
    served, by_role = service_hosts(environment), identity_args(environment).hosts
    files: list[dict[str, Any]] = []
    if host in served.controllers:
        # The account is that of Debian's packages, and of the role `burst`, or of a Slurm that runs already.
        existing = environment.existing_slurm
        uid = SLURM_UID if existing is None else existing.uid
        owner = {"owner": "slurm", "uid": uid, "home": "/nonexistent", "services": ["landbridge-burst"]}
        files.append(
            {"path": BURST_FILE, **owner, "profiles": _profiles(identity, default="launch", terminate="terminate")}
        )
    for name, path in mlflow_files(environment).items() if host == served.mlops else ():
        owner = {"owner": name, "home": f"/var/lib/{name}", "services": [name]}
        files.append({"path": path, **owner, "profiles": _profiles(identity, default="hub")})
    if host == monitoring_host(environment) and "discovery" in by_role:
        owner = {"owner": DISCOVERY_ACCOUNT, "home": "/nonexistent", "services": ["landbridge-discovery"]}
        files.append({"path": DISCOVERY_FILE, **owner, "profiles": _profiles(identity, default="discovery")})
    if host in by_role.get("serving", ()):
        owner = {"owner": INSTANCES_ACCOUNT, "home": "/nonexistent", "services": ["landbridge-model-instances"]}
        files.append({"path": INSTANCES_FILE, **owner, "profiles": _profiles(identity, default="serving")})
    if host in by_role.get("archive", ()):
        # Each pass of the timer reads the file again.
        owner = {"owner": ARCHIVE_ACCOUNT, "home": "/nonexistent"}
        files.append({"path": ARCHIVE_FILE, **owner, "profiles": _profiles(identity, default="archive")})
    of_root: dict[str, OnPremRole] = {role: role for role in _ROOT_ROLES if host in by_role.get(role, ())}
    if of_root:
        files.append({"path": ROOT_FILE, "owner": "root", "profiles": _profiles(identity, **of_root)})
    return files


def mlflow_files(environment: Environment) -> dict[str, str]:
    """Return the credentials files of the MLflow servers with artifacts in AWS, by server; empty without Roles Anywhere."""
    if roles_anywhere(environment) is None:
        return {}
    servers = mlflow_servers(environment)
    return {server.name: f"/etc/landbridge/aws-credentials-{server.name}" for server in servers if server.in_aws}


def discovery_file(environment: Environment) -> str | None:
    """Return the credentials file of the service landbridge-discovery; None for the SDK's usual sources."""
    site = environment.onprem
    return None if site is None or site.aws_credentials == "host" else DISCOVERY_FILE


def instances_file(environment: Environment) -> str | None:
    """Return the credentials file of the service landbridge-model-instances; None for the SDK's usual sources."""
    site = environment.onprem
    return None if site is None or site.aws_credentials == "host" else INSTANCES_FILE


def archive_file(environment: Environment) -> str | None:
    """Return the credentials file of the timer that archives models; None for the SDK's usual sources."""
    site = environment.onprem
    return None if site is None or site.aws_credentials == "host" else ARCHIVE_FILE


def _profiles(identity: IdentityOutput, **roles: OnPremRole) -> list[dict[str, str]]:
    """Return the profiles by name, each with the ARNs of its role."""
    arns = {name: getattr(identity, f"{role}_role_arn") for name, role in roles.items()}
    return [
        {"name": name, "role_arn": arns[name], "profile_arn": identity.profile_arns[role]}
        for name, role in roles.items()
        if arns[name] and role in identity.profile_arns
    ]


ROLE = HostRole(
    host_variables=lambda site, host: roles_anywhere_variables(
        site.environment, host.name, site.outputs, aws_endpoint(site.environment)
    )
)
