"""IAM policies of the burst controller: which launches and terminations IAM allows, judged for whole requests.

A launch presents several resources (instance, volume, interface, image, subnet, security group, template, ...), and IAM
has to allow it on each. A resource that a request does not contain is not presented: a launch without a launch template
is refused by the condition on the instance, which every launch presents. tests/graph/iam evaluates whole requests.
Source: Service Authorization Reference, "Actions defined by Amazon EC2", RunInstances and TerminateInstances; EC2 User
Guide, "Example policies to control access to the Amazon EC2 API", launch templates and spot (2026-11-25).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from landbridge.catalog.aws.access.service_linked_roles import service_linked_roles
from landbridge.environment import CapacityBlock, Environment, Reservation, ReservationGroup, Spot
from landbridge.plan.args import Args
from landbridge.plan.aws.access.disk_keys import disk_keys, use_disk_keys
from landbridge.plan.aws.access.iam_policies import ArnContext, Statement, allow, single_or_list
from landbridge.plan.aws.images import pool_image
from landbridge.plan.instances.capacity import fallbacks
from landbridge.plan.other_regions import other_regions
from landbridge.plan.zones import pool_zones
from landbridge.tags import CLUSTER, LEASE_EXPIRES, NAME, POOL

#: The only tag that the burst controller changes after a launch (the launch sets all tags): the node's lease expiry.
LEASE_TAGS = [LEASE_EXPIRES]

_PUBLIC_PARAMETERS = "/aws/service/"
_RUN = ["ec2:RunInstances"]


class ExistingResource(Args):
    """EC2 resource that exists already, as the environment file specifies it; Landbridge does not tag it.

    Subnets, security groups and capacity reservations may be shared by another account, whose id is then in their ARN;
    their own ids are unique in AWS.
    """

    region: str
    kind: Literal["subnet", "security-group", "placement-group", "capacity-reservation"]
    id: str

    def arn(self, place: ArnContext) -> str:
        """Return the ARN; a placement group is found by its name, which is unique in one account only."""
        account = None if self.kind == "placement-group" else "*"
        return place.named(self.region, f"{self.kind}/{self.id}", account)


class LaunchTargets(Args):
    """Instance types and resources that launches of the cluster's nodes use.

    Resources that Landbridge creates are found by their tags, `existing` ones by their ARNs; `parameters` are the
    Systems Manager parameters of images, without AWS's public ones and the cluster's own.
    """

    instance_types: tuple[str, ...] = ()
    existing: tuple[ExistingResource, ...] = ()
    reservation_groups: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    #: ARNs of customer managed KMS keys of disks.
    disk_keys: tuple[str, ...] = ()
    #: True if Landbridge creates the subnets of a region.
    creates_subnets: bool = True
    spot: bool = False


def launch_targets(environment: Environment) -> LaunchTargets:
    """Return the targets of an environment with all its regions."""
    environments = [environment, *other_regions(environment).values()]
    regional = [_regional(region_environment) for region_environment in environments]
    return LaunchTargets(
        instance_types=_sorted(name for targets in regional for name in targets.instance_types),
        existing=tuple(dict.fromkeys(resource for targets in regional for resource in targets.existing)),
        reservation_groups=_sorted(arn for targets in regional for arn in targets.reservation_groups),
        parameters=_sorted(name for targets in regional for name in targets.parameters),
        disk_keys=tuple(sorted(disk_keys(environment))),
        creates_subnets=any(targets.creates_subnets for targets in regional),
        spot=any(targets.spot for targets in regional),
    )


def _sorted(values: Iterator[str]) -> tuple[str, ...]:
    return tuple(sorted(set(values)))


def _regional(environment: Environment) -> LaunchTargets:
    pools, region = environment.aws.pools, environment.region
    capacities = [capacity for pool in pools for capacity in pool.capacity]
    parameters = {pool_image(environment, pool).parameter for pool in pools}
    own_parameters = f"/landbridge/{environment.name}/"
    return LaunchTargets(
        instance_types=tuple(terms.instance for pool in pools for terms in fallbacks(pool, region)),
        existing=tuple(_existing(environment)),
        reservation_groups=tuple(capacity.group for capacity in capacities if isinstance(capacity, ReservationGroup)),
        parameters=tuple(
            name
            for name in parameters
            if name is not None and not name.startswith((_PUBLIC_PARAMETERS, own_parameters))
        ),
        creates_subnets=environment.aws.vpc is None,
        spot=any(isinstance(capacity, Spot) for capacity in capacities),
    )


def _existing(environment: Environment) -> Iterator[ExistingResource]:
    pools, region, vpc = environment.aws.pools, environment.region, environment.aws.vpc
    if vpc is not None:
        for zone in dict.fromkeys(zone for pool in pools for zone in pool_zones(pool, region)):
            if zone in vpc.subnets:
                yield ExistingResource(region=region, kind="subnet", id=vpc.subnets[zone].id)
    for pool in pools:
        for group in pool.security_groups:
            yield ExistingResource(region=region, kind="security-group", id=group)
        for terms in fallbacks(pool, region):
            if terms.placement_group is not None:
                yield ExistingResource(region=region, kind="placement-group", id=terms.placement_group)
        for capacity in pool.capacity:
            if isinstance(capacity, Reservation | CapacityBlock):
                yield ExistingResource(region=region, kind="capacity-reservation", id=capacity.reservation)


def launch(
    place: ArnContext, targets: LaunchTargets, node_role_arns: Sequence[str], secret_arn: str
) -> list[Statement]:
    """Return the burst controller's statements: launch and tag nodes of its cluster, and publish Slurm's key.

    `node_role_arns`: the roles of nodes, the only ones that a launch can pass.
    """
    return [
        allow(
            "DescribeInstances",
            ["ec2:DescribeInstances", "ec2:DescribeInstanceStatus", "ec2:DescribeInstanceTopology"],
            "*",
        ),
        *(_run(place, targets, node_role_arns) if targets.instance_types else []),
        *use_disk_keys(place, targets.disk_keys),
        allow(
            "UpdateLeaseTag",
            ["ec2:CreateTags"],
            single_or_list(place.nodes("instance")),
            {
                **place.owned,
                "ForAllValues:StringEquals": {"aws:TagKeys": LEASE_TAGS},
                "Null": {"aws:TagKeys": "false"},
            },
        ),
        allow(
            "PublishSlurmKey",
            ["secretsmanager:PutSecretValue", "secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"],
            secret_arn,
        ),
    ]


def publish_certificate(secret_arn: str | None) -> list[Statement]:
    """Return the statement to publish the certificate of the exporters of nodes; none without its secret."""
    if secret_arn is None:
        return []
    actions = ["secretsmanager:PutSecretValue", "secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"]
    return [allow("PublishMetricsCertificate", actions, secret_arn)]


def compare_training(place: ArnContext) -> list[Statement]:
    """Return the statements to compare the ledger with SageMaker's training jobs: neither a start nor a stop."""
    jobs = f"arn:{place.partition}:sagemaker:{place.region}:{place.account}:training-job/{place.cluster}-*"
    tagged = {"StringEquals": {f"aws:ResourceTag/{CLUSTER}": place.cluster}}
    return [
        allow("ListTrainingJobs", ["sagemaker:ListTrainingJobs"], "*"),
        allow("DescribeTrainingJobs", ["sagemaker:DescribeTrainingJob", "sagemaker:ListTags"], jobs, tagged),
    ]


def _run(place: ArnContext, targets: LaunchTargets, node_role_arns: Sequence[str]) -> Iterator[Statement]:
    tagged = {f"aws:RequestTag/{CLUSTER}": place.cluster}
    # Every part that looks for nodes, such as the reaper, finds them by the tag of their pool.
    with_pool: Mapping[str, Any] = {"Null": {f"aws:RequestTag/{POOL}": "false"}}
    yield allow(
        "RunNodes",
        _RUN,
        single_or_list(place.nodes("instance")),
        {
            "StringEquals": {**tagged, "ec2:InstanceType": list(targets.instance_types)},
            "ArnLike": {"ec2:LaunchTemplate": single_or_list(place.nodes("launch-template"))},
            **with_pool,
        },
    )
    yield allow(
        "RunWithTaggedDevices", _RUN, place.nodes("volume", "network-interface"), {"StringEquals": tagged, **with_pool}
    )
    yield allow(
        "RunInPoolResources",
        _RUN,
        place.nodes("launch-template", "security-group", "placement-group"),
        {**place.owned, "Null": {f"aws:ResourceTag/{POOL}": "false"}},
    )
    if targets.creates_subnets:
        # The public subnets are for NAT gateways only.
        private = {"StringLike": {f"aws:ResourceTag/{NAME}": f"{place.cluster}-private-*"}}
        yield allow("RunInPrivateSubnets", _RUN, single_or_list(place.nodes("subnet")), {**place.owned, **private})
    arns = [*(resource.arn(place) for resource in targets.existing), *targets.reservation_groups]
    if arns:
        yield allow("RunInExistingResources", _RUN, arns)
    # The image is the launch template's: a request with another one is refused.
    yield allow(
        "RunFromTemplateImages",
        _RUN,
        [*place.in_regions("ec2", "image/*", ""), *place.in_regions("ec2", "snapshot/*", "")],
        {"Bool": {"ec2:IsLaunchTemplateResource": "true"}},
    )
    yield allow("GetImageParameters", ["ssm:GetParameters"], _parameters(place, targets))
    yield allow(
        "CreateTagsAtLaunch",
        ["ec2:CreateTags"],
        place.nodes("instance", "volume", "network-interface"),
        {"StringEquals": {"ec2:CreateAction": ["RunInstances"]}},
    )
    to_ec2 = {"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}}
    yield allow("PassNodeRole", ["iam:PassRole"], single_or_list(node_role_arns), to_ec2)
    if targets.spot:
        # EC2 creates this role at the first spot launch of an account, with the permission of the caller.
        spot = service_linked_roles()["spot"]
        role = f"arn:{place.partition}:iam::{place.account}:role/{spot.path}"
        only_spot = {"StringEquals": {"iam:AWSServiceName": spot.service}}
        yield allow("CreateSpotServiceLinkedRole", ["iam:CreateServiceLinkedRole"], role, only_spot)


def _parameters(place: ArnContext, targets: LaunchTargets) -> list[str]:
    """Return the ARNs of the parameters from which a launch template reads its image.

    Source: EC2 User Guide, "Use a Systems Manager parameter instead of an AMI ID in launch templates".
    """
    return [
        *place.in_regions("ssm", f"parameter/landbridge/{place.cluster}/*"),
        *place.in_regions("ssm", f"parameter{_PUBLIC_PARAMETERS}*", ""),
        *(arn for name in targets.parameters for arn in place.in_regions("ssm", f"parameter{name}")),
    ]


def terminate(place: ArnContext) -> list[Statement]:
    """Return statements to terminate this cluster's nodes, and to delete unattached volumes and network interfaces of a
    launch. A node is an instance with the tag of a pool; service hosts and gateways have none.
    """
    is_node = {**place.owned, "Null": {f"aws:ResourceTag/{POOL}": "false"}}
    of_a_launch = {**place.owned, "StringLike": {"aws:ResourceTag/landbridge:launch": "lb-*"}}
    return [
        allow(
            "DescribeInstancesAndDevices",
            ["ec2:DescribeInstances", "ec2:DescribeVolumes", "ec2:DescribeNetworkInterfaces"],
            "*",
        ),
        allow("TerminateNodes", ["ec2:TerminateInstances"], single_or_list(place.nodes("instance")), is_node),
        allow("DeleteVolumes", ["ec2:DeleteVolume"], single_or_list(place.nodes("volume")), of_a_launch),
        allow(
            "DeleteNetworkInterfaces",
            ["ec2:DeleteNetworkInterface"],
            single_or_list(place.nodes("network-interface")),
            of_a_launch,
        ),
    ]
