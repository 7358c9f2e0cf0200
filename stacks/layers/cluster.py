"""Cluster layer: pools, file systems, services in AWS, and guardrails."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi

from components.dns_records import DnsRecords
from components.existing_file_systems import ExistingFileSystems
from components.file_system import FileSystem
from components.governance.guardrails import Guardrails
from components.model_servers import ModelServers
from components.parts.in_region import in_region
from components.pool import Pool
from landbridge.environment import Environment
from landbridge.plan.aws.guardrails import GuardrailsArgs, guardrails_args
from landbridge.plan.aws.login import LoginArgs, login_args
from landbridge.plan.aws.model_servers import ModelServersArgs, model_servers_args
from landbridge.plan.aws.pool import PoolArgs, pool_args, region_pool_args
from landbridge.plan.aws.slurm_controller import SlurmControllerArgs, slurm_controller_args
from landbridge.plan.aws.storage.existing_file_systems import ExistingFileSystemsArgs, existing_file_systems_args
from landbridge.plan.aws.storage.file_system import FileSystemArgs, file_system_args
from landbridge.plan.network.dns_records import DnsRecordsArgs, alias, dns_records_args
from layers import services
from layers.context import Context, Exports
from layers.foundation import Foundation


@dataclass(frozen=True)
class ClusterPlan:
    """Plan of the cluster layer. `images` are AMI ids by name, from the environment's image lock."""

    controller: SlurmControllerArgs | None
    login: LoginArgs | None
    model_servers: ModelServersArgs | None
    guardrails: GuardrailsArgs
    pools: tuple[PoolArgs, ...]
    region_pools: Mapping[str, tuple[PoolArgs, ...]]
    file_systems: tuple[FileSystemArgs, ...]
    existing_file_systems: ExistingFileSystemsArgs | None
    records: DnsRecordsArgs | None

    @classmethod
    def of(cls, environment: Environment, images: Mapping[str, str]) -> "ClusterPlan":
        """Plan the layer. Raises FindingsError."""
        return cls(
            slurm_controller_args(environment, images),
            login_args(environment, images),
            model_servers_args(environment, images),
            guardrails_args(environment),
            tuple(pool_args(environment, pool, images) for pool in environment.aws.pools),
            {region: region_pool_args(environment, region, images) for region in environment.aws.other_regions},
            tuple(file_system_args(environment)),
            existing_file_systems_args(environment),
            dns_records_args(environment),
        )


@dataclass(frozen=True)
class Cluster:
    """Outputs of the cluster layer that the layer above reads."""

    pool_security_group_ids: Mapping[str, pulumi.Output[str]]


def build(
    plan: ClusterPlan, foundation: Foundation, context: Context, ends_nodes: Sequence[pulumi.Resource] = ()
) -> tuple[Cluster, Exports]:
    """Register the resources of the layer. Pools are deleted before `ends_nodes` and the reaper, which terminate nodes."""
    name, options = context.environment.name, context.options
    served = services.build(plan.controller, plan.login, foundation, context)
    launch_role = (foundation.launch_role_name, foundation.launch_role_arn) if served is None else served.launch_role
    guardrails = Guardrails(
        name,
        plan.guardrails,
        account=context.account,
        region=context.environment.region,
        launch_role_name=launch_role[0],
        launch_role_arn=launch_role[1],
        monitored_ids=foundation.monitored_ids,
        opts=options,
    )
    if plan.model_servers is not None:
        ModelServers(name, plan.model_servers, vpc_id=foundation.vpc_id, subnet_ids=foundation.subnet_ids, opts=options)
    ends_nodes = [*ends_nodes, *(() if served is None else served.ends_nodes)]
    ends_nodes += [] if guardrails.reaper is None else [guardrails.reaper]
    pool_options = pulumi.ResourceOptions.merge(options, pulumi.ResourceOptions(depends_on=ends_nodes))
    # File systems need the pools' security groups, and launch templates need the mounts: the launch templates are
    # created last.
    mounts, resolve_mounts = pulumi.deferred_output()
    pools = {
        pool_args.pool: Pool(
            pool_args.name,
            pool_args,
            vpc_id=foundation.vpc_id,
            profile_arn=foundation.profile_arn(pool_args.pool),
            mounts=mounts if pool_args.mounts else None,
            opts=pool_options,
        )
        for pool_args in plan.pools
    }
    groups = {key: pool.security_group_id for key, pool in pools.items()}
    node_roles = [foundation.node_role_arn, *foundation.pool_role_arns.values()]
    login_roles = [served.login_role_arn] if served is not None and served.login_role_arn is not None else []
    file_systems = {
        file_system.share: FileSystem(
            file_system.name,
            file_system,
            account=context.account,
            vpc_id=foundation.vpc_id,
            subnet_ids=foundation.subnet_ids,
            route_table_ids=list(foundation.route_table_ids.values()),
            clients={
                **groups,
                **(served.mounting if served is not None and file_system.settings.kind != "fsx_lustre" else {}),
            },
            buckets=foundation.buckets,
            client_roles=[*node_roles, *login_roles],
            root_roles=login_roles,
            opts=options,
        )
        for file_system in plan.file_systems
    }
    existing = None
    if plan.existing_file_systems is not None:
        mounting = served.mounting if served is not None else {}
        existing = ExistingFileSystems(name, plan.existing_file_systems, pools=groups, services=mounting, opts=options)
    available = {key: system.mounted() for key, system in file_systems.items()} | (
        existing.mounted() if existing is not None else {}
    )
    mount_names = dict.fromkeys(name for pool_args in plan.pools for name in pool_args.mounts)
    resolve_mounts(pulumi.Output.from_input([available[name] for name in mount_names]))
    if plan.records is not None and foundation.dns_zone_id is not None:
        aliases = {alias(key): system.resource.dns_name for key, system in file_systems.items()}
        DnsRecords(name, plan.records, zone_id=foundation.dns_zone_id, aliases=aliases, opts=options)
    exports = {"pools": {key: pool.exports(foundation.subnet_ids) for key, pool in pools.items()}}
    region_pools = _region_pools(plan, foundation, pool_options)
    if region_pools:
        exports["region_pools"] = region_pools
    if available:
        exports["file_systems"] = {key: system.exports() for key, system in file_systems.items()} | (
            existing.exports() if existing is not None else {}
        )
    if served is not None:
        exports["services"] = served.exports
    return Cluster(pool_security_group_ids=groups), exports


def _region_pools(plan: ClusterPlan, foundation: Foundation, options: pulumi.ResourceOptions) -> Exports:
    """Create the pools of other regions. File systems are in the home region, so these nodes mount none."""
    return {
        region: {
            pool.pool: Pool(
                f"{pool.name}-{region}",
                pool,
                vpc_id=foundation.region_vpc_ids[region],
                profile_arn=foundation.profile_arn(pool.pool),
                opts=in_region(region, options),
            ).exports(foundation.region_subnet_ids)
            for pool in pools
        }
        for region, pools in plan.region_pools.items()
    }
