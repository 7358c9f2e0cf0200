"""Slurm controller in AWS: its EC2 instance, state volume, database and IAM policies."""

from collections.abc import Iterator, Mapping, Sequence

from landbridge.environment import CloudServices, Environment
from landbridge.plan.args import Args, tags
from landbridge.plan.aws import iam_policies
from landbridge.plan.aws.accounting_database import AccountingDatabaseArgs, accounting_database_args
from landbridge.plan.aws.data_hub import bucket_prefix
from landbridge.plan.aws.iam_policies import ArnContext
from landbridge.plan.aws.machine import (
    MachinePlan,
    internet_egress_rules,
    machine_plan,
    node_cidrs,
    security_group_rule,
)
from landbridge.plan.aws.pool import SecurityGroupRule
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.policy_document import document
from landbridge.plan.slurm_ports import SLURMCTLD_PORT, SLURMD_PORT, SLURMDBD_PORT, SRUN_PORTS

#: Where the volume is attached; the host finds it by its id, whatever the kernel calls it.
#: Source: EC2 User Guide, "Device names for volumes on Amazon EC2 instances".
STATE_DEVICE = "/dev/sdf"

_RIGHTS = ("launch", "terminate", "read", "database", "session")


class StatePlan(Args):
    """EBS volume that outlives the instance: Slurm's state, the burst controller's journal, MLflow's database."""

    name: str
    gib: int
    device: str


class SlurmControllerArgs(Args):
    """Plan of the Slurm controller. `restricted` are the data classes that no role may touch, with their bucket
    prefixes.
    """

    cluster: str
    region: str
    machine: MachinePlan
    security_group_rules: tuple[SecurityGroupRule, ...]
    state: StatePlan
    database: AccountingDatabaseArgs
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
    """ARNs of the resources that the controller's IAM policies name, known once AWS has created them."""

    buckets: tuple[str, ...]
    bucket_keys: tuple[str, ...]
    node_role: str
    slurm_key: str
    database_secret: str
    key: str


def slurm_controller_args(
    environment: Environment, locked: Mapping[str, str] | None = None
) -> SlurmControllerArgs | None:
    """Plan the controller; None where a site has one. Raises FindingsError for a host without an address, or one zone only."""
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
        restricted=onprem_classes,
        restricted_buckets=tuple(bucket_prefix(environment.name, name) for name in onprem_classes),
        path=iam.path,
        permissions_boundary=iam.permissions_boundary,
        protect=environment.aws.protect,
        tags=tags(environment),
    )


def _security_group_rules(environment: Environment, services: CloudServices) -> Iterator[SecurityGroupRule]:
    """Yield the rules between the controller, nodes and login hosts. No ssh port: Session Manager opens sessions from
    inside.
    """
    mlflow, beside = environment.mlops.mlflow.port, str(service_hosts(environment).cidr)
    for key, cidr in node_cidrs(environment):
        yield security_group_rule(
            f"slurmctld-{key}", "in", cidr, "tcp", SLURMCTLD_PORT, "slurmd, sackd and commands reach slurmctld"
        )
        yield security_group_rule(f"mlflow-{key}", "in", cidr, "tcp", mlflow, "runs and people reach MLflow")
        yield security_group_rule(f"icmp-{key}", "in", cidr, "icmp", -1, "path MTU discovery, and netcheck")
        yield security_group_rule(
            f"slurmd-{key}", "out", cidr, "tcp", SLURMD_PORT, "slurmctld reaches slurmd and sackd"
        )
        if services.login.count == 0:
            yield security_group_rule(
                f"srun-{key}", "in", cidr, "tcp", SRUN_PORTS, "tasks reach the srun that started them"
            )
    yield security_group_rule("slurmdbd", "in", beside, "tcp", SLURMDBD_PORT, "sacct and sacctmgr on login hosts")
    yield from internet_egress_rules(services)


def controller_documents(args: SlurmControllerArgs, place: ArnContext, reach: ControllerResources) -> dict[str, str]:
    """Return the policies of the controller's role, by name. An on-prem host takes one role for each; this instance has
    them all.

    Launching and ending stay bound to this cluster's tag; of secrets it reads the database's and keeps Slurm's key.
    """
    buckets, keys = list(reach.buckets), list(reach.bucket_keys)
    never = iam_policies.deny_restricted_classes(place.partition, args.restricted, args.restricted_buckets)
    documents: dict[str, Sequence[iam_policies.Statement]] = {
        "launch": iam_policies.launch(place, reach.node_role, reach.slurm_key),
        "terminate": iam_policies.terminate(place),
        "read": iam_policies.read(place),
        "hub": iam_policies.hub(buckets, keys),
        "database": iam_policies.secret(place, reach.database_secret, reach.key),
        "session": iam_policies.session(place),
        "never": never,
    }
    return {name: document(list(documents[name])) for name in args.rights(hub=bool(buckets))}
