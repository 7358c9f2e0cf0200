"""What one `pulumi up -s ENV` builds: the AWS half of the environment in `Pulumi.ENV.yaml`."""

from collections.abc import Mapping
from pathlib import Path

import pulumi
import pulumi_aws as aws

from components import (
    Account,
    DataHub,
    ExistingNetwork,
    FlowLogs,
    GpuPool,
    Guardrails,
    Identity,
    Network,
    SharedFilesystem,
    SiteLink,
)
from landbridge.environment import Environment, environment_from_config
from landbridge.environment.lock import read_lock
from landbridge.findings import FindingsError
from landbridge.plan.filesystem import filesystem_args
from landbridge.plan.flow_logs import flow_log_args
from landbridge.plan.guardrails import guardrails_args
from landbridge.plan.hub import hub_args
from landbridge.plan.identity import identity_args
from landbridge.plan.link import link_args
from landbridge.plan.network import network_args
from landbridge.plan.pool import pool_args
from landbridge.plan.provider import provider_args


def main() -> None:
    """Plan everything first, so that nothing is registered when something is wrong; then build from the bottom up."""
    try:
        raw = pulumi.Config("landbridge").require_object("environment")
        environment = environment_from_config(pulumi.get_stack(), pulumi.Config("aws").require("region"), raw)
        build(environment, locked_images(environment))
    except FindingsError as error:
        raise pulumi.RunError(str(error)) from None


def locked_images(environment: Environment) -> dict[str, str]:
    """Image ids by name, from the lock beside the stack's file: no image changes unless that file does."""
    root = Path(pulumi.get_root_directory() or "")
    # Without a project of its own (a recorded graph) the program's own tree is the project.
    project = root if root.is_absolute() else Path(__file__).resolve().parents[1]
    folder = project / "stacks" if (project / "stacks").is_dir() else project
    lock, broken = read_lock(folder / f"images.{environment.name}.lock", environment.region)
    if broken:
        raise FindingsError(broken)
    return {} if lock is None else lock.amis


def build(environment: Environment, locked: Mapping[str, str]) -> None:
    """Build an environment, with the images that `locked` names, and export its StackOutputs."""
    net, link, hub, who = (
        network_args(environment),
        link_args(environment),
        hub_args(environment),
        identity_args(environment),
    )
    pools = [pool_args(environment, pool, locked) for pool in environment.aws.pools]
    shares, logged = filesystem_args(environment), flow_log_args(environment)
    name, provider = environment.name, aws.Provider("aws", **provider_args(environment))
    options = pulumi.ResourceOptions(providers=[provider])
    account = Account.of(provider)

    network = (Network if net.existing is None else ExistingNetwork)(name, net, opts=options)
    if logged is not None:
        FlowLogs(name, logged, vpc_id=network.vpc_id, opts=options)
    subnet_ids = network.subnet_ids
    site_link = SiteLink(
        name,
        link,
        onprem_cidr=net.onprem_cidr,
        vpc_id=network.vpc_id,
        subnet_ids=[subnet_ids[zone] for zone in sorted(subnet_ids)],
        route_table_ids=network.route_table_ids,
        opts=options,
    )
    data = DataHub(name, hub, account=account, opts=options)
    identity = Identity(
        name,
        who,
        account=account,
        region=environment.region,
        bucket_arns={key: bucket.arn for key, bucket in data.buckets.items()},
        key_arns={key: value.arn for key, value in data.keys.items()},
        opts=options,
    )
    Guardrails(
        name,
        guardrails_args(environment),
        account=account,
        region=environment.region,
        launch_role_name=identity.launch_role.name,
        launch_role_arn=identity.launch_role.arn,
        opts=options,
    )
    built = {
        plan.pool: GpuPool(plan.name, plan, vpc_id=network.vpc_id, profile_arn=identity.node_profile.arn, opts=options)
        for plan in pools
    }
    stored = {
        plan.share: SharedFilesystem(
            plan.name,
            plan,
            account=account,
            vpc_id=network.vpc_id,
            subnet_ids=subnet_ids,
            route_table_ids=list(network.route_table_ids.values()),
            clients={key: pool.security_group_id for key, pool in built.items()},
            buckets={key: bucket.bucket for key, bucket in data.buckets.items()},
            opts=options,
        )
        for plan in shares
    }

    pulumi.export("cluster", name)
    pulumi.export("region", environment.region)
    pulumi.export("network", network.exports())
    pulumi.export(
        "link",
        {"aws_asn": link.aws_asn, "customer_gateway_address": link.gateway_address, "tunnels": site_link.tunnels},
    )
    pulumi.export("link_pre_shared_keys", site_link.pre_shared_keys)
    pulumi.export("hub", data.exports())
    pulumi.export("identity", identity.exports())
    if identity.activation is not None:
        pulumi.export("ssm_activation_code", pulumi.Output.secret(identity.activation.activation_code))
    pulumi.export("secrets", {"slurm_key": identity.secret_name})
    pulumi.export("pools", {plan.pool: built[plan.pool].exports(subnet_ids) for plan in pools})
    if stored:
        pulumi.export("filesystems", {key: system.exports() for key, system in stored.items()})


main()
