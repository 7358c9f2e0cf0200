"""Login hosts in AWS: EC2 instances where users log in and submit jobs."""

from collections.abc import Iterator, Mapping, Sequence

from landbridge.environment import CloudServices, Environment
from landbridge.plan.args import Args, tags
from landbridge.plan.aws.access import iam_policies
from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.aws.machine import (
    MachinePlan,
    internet_egress_rules,
    machine_plan,
    node_cidrs,
    security_group_rule,
)
from landbridge.plan.aws.pool import SecurityGroupRule
from landbridge.plan.aws.storage.efs_access import EfsClientRight, client_statements, existing_efs_rights
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.mlflow_servers import mlflow_servers
from landbridge.plan.policy_document import document
from landbridge.plan.slurm_ports import SLURMCTLD_PORT, SLURMD_PORT, SLURMDBD_PORT, SRUN_PORTS


class LoginArgs(Args):
    """Identical login hosts, each with its own name: adding or removing one changes no other."""

    cluster: str
    region: str
    machines: tuple[MachinePlan, ...]
    security_group_rules: tuple[SecurityGroupRule, ...]
    path: str = "/"
    permissions_boundary: str | None = None
    #: Existing EFS file systems that login hosts mount.
    efs: tuple[EfsClientRight, ...] = ()
    tags: dict[str, str]

    @property
    def name(self) -> str:
        """Name of the login hosts' shared AWS resources."""
        return f"{self.cluster}-login"


def login_args(environment: Environment, locked: Mapping[str, str] | None = None) -> LoginArgs | None:
    """Plan the login hosts; None if they are on-prem or their count is 0. Raises FindingsError like
    slurm_controller_args.
    """
    services = environment.aws.services
    if services is None or services.login.count == 0:
        return None
    settings, iam = services.login, environment.aws.iam
    return LoginArgs(
        cluster=environment.name,
        region=environment.region,
        machines=tuple(
            machine_plan(environment, services, host, settings.instance, settings.root_volume_gib, locked)
            for host in service_hosts(environment).logins
        ),
        security_group_rules=tuple(_security_group_rules(environment, services)),
        path=iam.path,
        permissions_boundary=iam.permissions_boundary,
        efs=existing_efs_rights(environment),
        tags=tags(environment),
    )


def _security_group_rules(environment: Environment, services: CloudServices) -> Iterator[SecurityGroupRule]:
    """Yield the rules for job submission and configuration updates. Users connect through Session Manager, not through
    a port.
    """
    served = service_hosts(environment)
    controller = f"{served.addresses[served.controllers[0]]}/32"
    yield security_group_rule(
        "sackd", "in", controller, "tcp", SLURMD_PORT, "slurmctld sends new configuration to sackd"
    )
    yield security_group_rule(
        "slurmctld", "out", controller, "tcp", SLURMCTLD_PORT, "sackd and commands reach slurmctld"
    )
    yield security_group_rule("slurmdbd", "out", controller, "tcp", SLURMDBD_PORT, "sacct and sacctmgr")
    for server in mlflow_servers(environment):
        yield security_group_rule(server.name, "out", controller, "tcp", server.port, "users reach MLflow")
    for key, cidr in node_cidrs(environment):
        yield security_group_rule(
            f"srun-{key}", "in", cidr, "tcp", SRUN_PORTS, "tasks reach the srun that started them"
        )
        yield security_group_rule(f"icmp-{key}", "in", cidr, "icmp", -1, "path MTU discovery, and netcheck")
        yield security_group_rule(f"slurmd-{key}", "out", cidr, "tcp", SLURMD_PORT, "srun reaches slurmd")
    yield from internet_egress_rules(services)


def login_documents(place: ArnContext, efs: Sequence[EfsClientRight] = ()) -> dict[str, str]:
    """Return the policies of a login host's role by name: Session Manager, and mounts of existing EFS file systems."""
    return {"session": document([*iam_policies.session(place), *client_statements(place, efs)])}
