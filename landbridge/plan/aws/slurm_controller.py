"""Slurm controller in AWS: its EC2 instance, state volume, database and IAM policies."""

from collections.abc import Iterator, Mapping, Sequence

from landbridge.environment import CloudServices, Environment
from landbridge.plan.args import Args, tags
from landbridge.plan.aws.access import iam_policies, launch_policy
from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.aws.access.launch_policy import LaunchTargets, launch_targets
from landbridge.plan.aws.accounting_database import AccountingDatabaseArgs, accounting_database_args
from landbridge.plan.aws.machine import (
    MachinePlan,
    internet_egress_rules,
    machine_plan,
    node_cidrs,
    security_group_rule,
)
from landbridge.plan.aws.pool import SecurityGroupRule
from landbridge.plan.aws.storage.data_hub import bucket_prefix
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.mlflow_servers import mlflow_servers
from landbridge.plan.policy_document import document
from landbridge.plan.slurm_ports import SLURMCTLD_PORT, SLURMD_PORT, SLURMDBD_PORT, SRUN_PORTS

#: Device name of the attachment; the host finds the volume by its id, because the kernel's name can differ.
#: Source: EC2 User Guide, "Device names for volumes on Amazon EC2 instances".
STATE_DEVICE = "/dev/sdf"

_RIGHTS = ("launch", "terminate", "read", "database", "session")


class StatePlan(Args):
    """EBS volume that outlives the instance: Slurm's state, the burst controller's journal, MLflow's database."""

    name: str
    gib: int
    device: str


class SlurmControllerArgs(Args):
    """Plan of the Slurm controller. `restricted` are the data classes that no role may access; `restricted_buckets`
    their prefixes.
    """

    cluster: str
    region: str
    machine: MachinePlan
    security_group_rules: tuple[SecurityGroupRule, ...]
    state: StatePlan
    database: AccountingDatabaseArgs
    targets: LaunchTargets = LaunchTargets()
    restricted: tuple[str, ...] = ()
    restricted_buckets: tuple[str, ...] = ()
    path: str = "/"
    permissions_boundary: str | None = None
    protect: bool
    tags: dict[str, str]

    @property
    def name(self) -> str:
        """Name of the controller's AWS resources."""
        return f"{self.cluster}-controller"

    def rights(self, *, hub: bool) -> tuple[str, ...]:
        """Return the names of the role's policies; their number is known before AWS returns any ARN."""
        return (*_RIGHTS, *(("hub",) if hub else ()), *(("never",) if self.restricted else ()))


class ControllerResources(Args):
    """ARNs of resources in the controller's IAM policies, known after AWS has created them."""

    buckets: tuple[str, ...]
    bucket_keys: tuple[str, ...]
    node_roles: tuple[str, ...]
    slurm_key: str
    database_secret: str
    key: str


def slurm_controller_args(
    environment: Environment, locked: Mapping[str, str] | None = None
) -> SlurmControllerArgs | None:
    """Plan the controller; None if it is on-prem. Raises FindingsError for a host without an address, or a region with
    one zone.
    """
    services, database = environment.aws.services, accounting_database_args(environment)
    if services is None or database is None:
        return None
    settings, iam = services.controller, environment.aws.iam
    host = service_hosts(environment).controllers[0]
    onprem_classes = tuple(
        sorted(name for name, data_class in environment.data_classes.items() if "aws" not in data_class.sites)
    )
    return SlurmControllerArgs(
        cluster=environment.name,
        region=environment.region,
        machine=machine_plan(environment, services, host, settings.instance, settings.root_volume_gib, locked),
        security_group_rules=tuple(_security_group_rules(environment, services)),
        state=StatePlan(name=f"{environment.name}-state", gib=settings.volume_gib, device=STATE_DEVICE),
        database=database,
        targets=launch_targets(environment),
        restricted=onprem_classes,
        restricted_buckets=tuple(bucket_prefix(environment.name, name) for name in onprem_classes),
        path=iam.path,
        permissions_boundary=iam.permissions_boundary,
        protect=environment.aws.protect,
        tags=tags(environment),
    )


def _security_group_rules(environment: Environment, services: CloudServices) -> Iterator[SecurityGroupRule]:
    """Yield the rules between the controller, nodes and login hosts. No ssh port: the SSM Agent connects out to Session
    Manager.
    """
    services_cidr = str(service_hosts(environment).cidr)
    for key, cidr in node_cidrs(environment):
        yield security_group_rule(
            f"slurmctld-{key}", "in", cidr, "tcp", SLURMCTLD_PORT, "slurmd, sackd and commands reach slurmctld"
        )
        for server in mlflow_servers(environment):
            yield security_group_rule(
                f"{server.name}-{key}", "in", cidr, "tcp", server.port, "jobs and users reach MLflow"
            )
        yield security_group_rule(f"icmp-{key}", "in", cidr, "icmp", -1, "path MTU discovery, and netcheck")
        yield security_group_rule(
            f"slurmd-{key}", "out", cidr, "tcp", SLURMD_PORT, "slurmctld reaches slurmd and sackd"
        )
        if services.login.count == 0:
            yield security_group_rule(
                f"srun-{key}", "in", cidr, "tcp", SRUN_PORTS, "tasks reach the srun that started them"
            )
    yield security_group_rule(
        "slurmdbd", "in", services_cidr, "tcp", SLURMDBD_PORT, "sacct and sacctmgr on login hosts"
    )
    yield from internet_egress_rules(services)


def controller_documents(
    args: SlurmControllerArgs, place: ArnContext, resources: ControllerResources
) -> dict[str, str]:
    """Return the policies of the controller's role, by name. An on-prem host assumes one role for each; this instance
    has all of them.

    Launch and terminate are limited to this cluster's nodes. It reads the database's secret, and reads and writes Slurm's
    key.
    """
    buckets, keys = list(resources.buckets), list(resources.bucket_keys)
    denials = iam_policies.deny_restricted_classes(place.partition, args.restricted, args.restricted_buckets)
    documents: dict[str, Sequence[iam_policies.Statement]] = {
        "launch": launch_policy.launch(place, args.targets, resources.node_roles, resources.slurm_key),
        "terminate": launch_policy.terminate(place),
        "read": iam_policies.read(place),
        "hub": iam_policies.hub(buckets, keys),
        "database": iam_policies.secret(place, resources.database_secret, resources.key),
        "session": iam_policies.session(place),
        "never": denials,
    }
    return {name: document(list(documents[name])) for name in args.rights(hub=bool(buckets))}
