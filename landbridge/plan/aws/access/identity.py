"""IAM roles of nodes, of jobs, and of the on-prem services: launch, terminate, monitor, move data, write to the hub, archive models, start hosts."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from landbridge.environment import Environment, NfsHome, Statement
from landbridge.plan.args import Args, tags
from landbridge.plan.aws.access import iam_policies, job_roles, launch_policy
from landbridge.plan.aws.access.actions import ActionObject, action_objects, script_statements
from landbridge.plan.aws.access.disk_keys import grant_disk_keys
from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.aws.access.job_roles import JobRolePlan
from landbridge.plan.aws.access.launch_policy import LaunchTargets, launch_targets
from landbridge.plan.aws.access.onprem_hosts import OnPremRole, movers, optional_hosts
from landbridge.plan.aws.access.pool_roles import PoolRolePlan, pool_roles
from landbridge.plan.aws.storage.data_hub import bucket_prefix
from landbridge.plan.aws.storage.efs_access import EfsClientRight, client_statements, existing_efs_rights
from landbridge.plan.network.endpoints import endpoint_services
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.mlflow_servers import mlflow_servers
from landbridge.plan.network.services.model_archive import archived_servers
from landbridge.plan.network.services.monitoring import compares_training, monitors_cloud_nodes
from landbridge.plan.policy_document import document


class AnchorPlan(Args):
    """Trust anchor of IAM Roles Anywhere: its CA, and the duration of its credentials."""

    certificate: str
    seconds: int


class ActivationPlan(Args):
    """Systems Manager hybrid activation: registration limit and expiry date."""

    registrations: int
    expires: str


class IdentityArgs(Args):
    """Plan of the IAM roles, and the secret that holds Slurm's key for nodes (its value never passes through Pulumi).

    `hosts` are the certificate names that may assume each role; empty: there are no on-prem roles. `restricted` are the
    data classes that no role may access. `jobs` are the roles of jobs, one for each data class in AWS.
    """

    cluster: str
    secret_name: str
    #: Secret with the certificate of the exporters of nodes; None: they are not monitored.
    metrics_secret_name: str | None = None
    #: Whether a timer of the controller compares its ledger with SageMaker's training jobs.
    compares_training: bool = False
    hosts: dict[OnPremRole, tuple[str, ...]]
    #: Data classes whose artifacts MLflow stores: the role `hub` has access to their buckets only. None: every class.
    mlflow_classes: tuple[str, ...] | None = None
    #: Data classes whose models a timer archives: the role `archive` adds objects to their buckets.
    archived: tuple[str, ...] = ()
    #: Data classes that may be on-prem too: the roles of on-prem hosts have access to their buckets only. None: every class.
    onprem_too: tuple[str, ...] | None = None
    #: Data class whose bucket has the copies of the site's homes.
    home_copies: str | None = None
    targets: LaunchTargets = LaunchTargets()
    restricted: tuple[str, ...] = ()
    restricted_buckets: tuple[str, ...] = ()
    path: str = "/"
    permissions_boundary: str | None = None
    node_policies: tuple[str, ...] = ()
    node_statements: tuple[dict[str, Any], ...] = ()
    jobs: tuple[JobRolePlan, ...] = ()
    #: Roles of the nodes of single pools; the nodes of all other pools have the nodes' role.
    pool_roles: tuple[PoolRolePlan, ...] = ()
    #: Scripts of the pools: the nodes' role reads these objects.
    actions: tuple[ActionObject, ...] = ()
    #: Existing EFS file systems that nodes mount.
    efs: tuple[EfsClientRight, ...] = ()
    #: True if nodes reach Secrets Manager and STS through endpoints in their own VPC.
    bound_to_instance: bool = False
    #: Further regions of nodes, besides the provider's region.
    other_regions: tuple[str, ...] = ()
    anchor: AnchorPlan | None = None
    activation: ActivationPlan | None = None
    protect: bool
    tags: dict[str, str]


class Documents(Args):
    """Permissions policies by role, rendered once AWS has returned the ARNs."""

    node: str
    launch: str
    terminate: str
    read: str
    mover: str
    discovery: str
    serving: str
    archive: str
    #: `node` is of the nodes' role and of the roles of pools; these are of the roles of jobs, by data class.
    jobs: dict[str, str]


def identity_args(environment: Environment) -> IdentityArgs:
    """Plan the roles of an environment."""
    iam, served = environment.aws.iam, service_hosts(environment)
    controllers = served.controllers
    onprem_classes = tuple(
        sorted(name for name, data_class in environment.data_classes.items() if "aws" not in data_class.sites)
    )
    anywhere, activation = iam.anywhere, iam.ssm_activation
    return IdentityArgs(
        cluster=environment.name,
        secret_name=f"{environment.name}/slurm-key",
        metrics_secret_name=metrics_secret_name(environment),
        compares_training=compares_training(environment),
        # A controller in AWS gets its permissions from its instance profile, and no other host needs a role.
        hosts={}
        if environment.onprem is None
        else {"launch": controllers, "terminate": controllers, "read": controllers}
        if environment.existing_slurm is not None
        else {
            "launch": controllers,
            "terminate": controllers,
            "read": tuple(dict.fromkeys((*controllers, served.mlops))),
            "hub": (served.mlops,),
            "mover": movers(environment),
            **optional_hosts(environment),
        },
        mlflow_classes=mlflow_classes(environment),
        archived=tuple(sorted(server.data_class for server in archived_servers(environment))),
        onprem_too=tuple(
            sorted(name for name, data_class in environment.data_classes.items() if "onprem" in data_class.sites)
        ),
        home_copies=_home_copies(environment),
        targets=launch_targets(environment),
        restricted=onprem_classes,
        restricted_buckets=tuple(bucket_prefix(environment.name, name) for name in onprem_classes),
        path=iam.path,
        permissions_boundary=iam.permissions_boundary,
        node_policies=iam.node_policies,
        node_statements=tuple(
            _iam_statement(f"Asked{number}", statement) for number, statement in enumerate(iam.node_statements)
        ),
        jobs=job_roles.job_roles(environment),
        pool_roles=pool_roles(environment),
        actions=action_objects(environment),
        efs=existing_efs_rights(environment),
        bound_to_instance=_bound_to_instance(environment),
        other_regions=tuple(environment.aws.other_regions),
        anchor=None
        if anywhere is None
        else AnchorPlan(certificate=anywhere.certificate, seconds=anywhere.minutes * 60),
        activation=None
        if activation is None
        else ActivationPlan(registrations=activation.registrations, expires=_utc(activation.expires)),
        protect=environment.aws.protect,
        tags=tags(environment),
    )


def metrics_secret_name(environment: Environment) -> str | None:
    """Return the name of the secret with the certificate of the exporters of nodes; None if they are not monitored."""
    return f"{environment.name}/node-metrics" if monitors_cloud_nodes(environment) else None


def _home_copies(environment: Environment) -> str | None:
    home = environment.storage.home
    return home.copies.data_class if isinstance(home, NfsHome) and home.copies is not None else None


def documents(
    args: IdentityArgs,
    place: ArnContext,
    buckets: Mapping[str, str],
    keys: Mapping[str, str],
    node_role_arns: Sequence[str],
    job_role_arns: Mapping[str, str],
    secret_arn: str,
    metrics_secret_arn: str | None = None,
) -> Documents:
    """Return every role's permissions policy. Buckets, keys and roles of jobs are by data class; `node_role_arns` are
    the nodes' role and the roles of pools. Deny statements come last.

    The environment's own Allow statements are permissions of jobs; its Deny statements are in the nodes' role too.
    """
    denials = iam_policies.deny_restricted_classes(place.partition, args.restricted, args.restricted_buckets)
    moved = _onprem_too(args, buckets)
    copies = iam_policies.mover([buckets[name] for name in moved], [keys[name] for name in moved])
    if args.home_copies in moved:
        copies.append(iam_policies.remove_locks(buckets[args.home_copies]))
    job_arns = [job_role_arns[plan.data_class] for plan in args.jobs]
    archived = [name for name in moved if name in args.archived]
    archive = iam_policies.archive([buckets[name] for name in archived], [keys[name] for name in archived], place)
    node = job_roles.node_statements(place, secret_arn, job_arns, bound=args.bound_to_instance)
    certificate = job_roles.certificate_statements(place, metrics_secret_arn, bound=args.bound_to_instance)
    scripts = script_statements(args.actions, place, keys)
    denied = [statement for statement in args.node_statements if statement["Effect"] == "Deny"]
    return Documents(
        node=document([*node, *certificate, *scripts, *client_statements(place, args.efs), *denied, *denials]),
        launch=document(
            [
                *launch_policy.launch(place, args.targets, node_role_arns, secret_arn),
                *launch_policy.publish_certificate(metrics_secret_arn),
                *(launch_policy.compare_training(place) if args.compares_training else []),
                *denials,
            ]
        ),
        terminate=document([*launch_policy.terminate(place), *denials]),
        read=document([*iam_policies.read(place), *denials]),
        # IAM refuses a policy without statements.
        mover=document([*copies, *denials] or [iam_policies.NO_OBJECTS]),
        discovery=document([*iam_policies.discover(), *denials]),
        serving=document(
            [*iam_policies.start_and_stop(place), *grant_disk_keys(place, args.targets.disk_keys), *denials]
        ),
        archive=document([*archive, *denials] or [iam_policies.NO_OBJECTS]),
        jobs={
            plan.data_class: document(
                [
                    *job_roles.permissions(plan, buckets[plan.data_class], keys[plan.data_class]),
                    *args.node_statements,
                    *denials,
                ]
            )
            for plan in args.jobs
        },
    )


def mlflow_classes(environment: Environment) -> tuple[str, ...] | None:
    """Return the data classes whose artifacts MLflow stores in AWS; None, for every class, if the accounts are not in
    the environment.
    """
    if not environment.scheduler.accounts:
        return None
    return tuple(sorted(server.data_class for server in mlflow_servers(environment) if server.in_aws))


def hub_document(args: IdentityArgs, partition: str, buckets: Mapping[str, str], keys: Mapping[str, str]) -> str:
    """Return the policy of MLflow's host: the objects of the classes that MLflow stores. `buckets` and `keys` are ARNs by
    data class.
    """
    onprem_too = _onprem_too(args, buckets)
    classes = [name for name in onprem_too if args.mlflow_classes is None or name in args.mlflow_classes]
    permitted = iam_policies.hub([buckets[name] for name in classes], [keys[name] for name in classes])
    denials = iam_policies.deny_restricted_classes(partition, args.restricted, args.restricted_buckets)
    # IAM refuses a policy without statements.
    return document([*permitted, *denials] or [iam_policies.NO_OBJECTS])


def _onprem_too(args: IdentityArgs, buckets: Mapping[str, str]) -> list[str]:
    """Return the classes with a bucket whose data may be on-prem too, in the order of their names."""
    return [name for name in sorted(buckets) if args.onprem_too is None or name in args.onprem_too]


def _bound_to_instance(environment: Environment) -> bool:
    """Return true if every node reaches Secrets Manager and STS through interface endpoints in its own subnets' VPC.

    Nodes of other regions use the services of the environment's own region, and an existing VPC may use endpoints of
    another VPC.
    """
    created = {endpoint.service for endpoint in endpoint_services(environment) if endpoint.kind == "interface"}
    aws = environment.aws
    return {"secretsmanager", "sts"} <= created and aws.vpc is None and not aws.other_regions


def _utc(moment: datetime) -> str:
    """Format a time for AWS; a time without an offset counts as UTC, which check rejects."""
    aware = moment if moment.utcoffset() is not None else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _iam_statement(sid: str, statement: Statement) -> dict[str, Any]:
    """Return a statement of the environment file in IAM's form."""
    iam_statement: dict[str, Any] = {"Sid": sid, "Effect": statement.effect}
    iam_statement |= {"Action": list(statement.actions), "Resource": list(statement.resources)}
    return (
        {**iam_statement, "Condition": {key: dict(value) for key, value in statement.conditions.items()}}
        if statement.conditions
        else iam_statement
    )
