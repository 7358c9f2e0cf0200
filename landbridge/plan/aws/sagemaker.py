"""SageMaker beside the cluster: what its training jobs may do, who may start them, and which groups of models there are.

Source: Amazon SageMaker Developer Guide, "Give SageMaker training jobs access to resources in your Amazon VPC" and "SageMaker
roles"; Service Authorization Reference, Amazon SageMaker and Amazon EC2 (condition keys).
"""

from collections.abc import Sequence

from landbridge.environment import Environment
from landbridge.plan.args import Args, tags
from landbridge.plan.aws import iam_policies
from landbridge.plan.aws.data_hub import bucket_prefix
from landbridge.plan.aws.iam_policies import READ, USE_KEY, WRITE, ArnContext, Statement, allow
from landbridge.plan.policy_document import document

SERVICE = "sagemaker.amazonaws.com"
#: Every prefix of the hub has one writer; this one is SageMaker's.
PREFIX = "sagemaker"
_PULL = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
_LOG = ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]
_DESCRIBE_NETWORK = [
    "ec2:DescribeDhcpOptions",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeVpcs",
]
_DELETE_INTERFACES = ["ec2:DeleteNetworkInterface", "ec2:DeleteNetworkInterfacePermission"]


class ModelGroup(Args):
    """One group of model versions. `key` is the file's word for it."""

    key: str
    name: str


class SageMakerArgs(Args):
    """A role for jobs, the permissions to start them, and the registry."""

    cluster: str
    role: str
    policy: str
    data_classes: tuple[str, ...]
    groups: tuple[ModelGroup, ...]
    restricted: tuple[str, ...] = ()
    restricted_buckets: tuple[str, ...] = ()
    path: str = "/"
    permissions_boundary: str | None = None
    protect: bool
    tags: dict[str, str]


class Inside(Args):
    """AWS's answers about where jobs run and which objects they read."""

    vpc: str
    subnets: tuple[str, ...]
    security_group: str
    buckets: tuple[str, ...]
    keys: tuple[str, ...]


def sagemaker_args(environment: Environment) -> SageMakerArgs | None:
    """Plan it; None where the environment does not ask for it."""
    settings = environment.mlops.sagemaker
    if settings is None:
        return None
    onprem_classes = tuple(
        sorted(name for name, data_class in environment.data_classes.items() if "aws" not in data_class.sites)
    )
    return SageMakerArgs(
        cluster=environment.name,
        role=f"{environment.name}-sagemaker",
        policy=f"{environment.name}-train",
        data_classes=job_classes(environment),
        groups=tuple(ModelGroup(key=key, name=group_name(environment, key)) for key in settings.model_groups),
        restricted=onprem_classes,
        restricted_buckets=tuple(bucket_prefix(environment.name, name) for name in onprem_classes),
        path=environment.aws.iam.path,
        permissions_boundary=environment.aws.iam.permissions_boundary,
        protect=environment.aws.protect,
        tags=tags(environment),
    )


def job_classes(environment: Environment) -> tuple[str, ...]:
    """The data classes whose buckets jobs use, sorted: those asked for as far as they may be in AWS, or all of these."""
    settings, data_classes = environment.mlops.sagemaker, environment.data_classes
    named = settings.data_classes if settings is not None and settings.data_classes else tuple(data_classes)
    return tuple(sorted({name for name in named if name in data_classes and "aws" in data_classes[name].sites}))


def group_name(environment: Environment, key: str) -> str:
    """A model group's name, of at most 57 characters: SageMaker takes 63, and names are the account's and region's."""
    return f"{environment.name}-{key}"


def job_trust(account: str) -> str:
    """Only SageMaker may hand a job its role, and only for this account's jobs."""
    return document([iam_policies.service_trust(SERVICE, account)])


def job_policy(args: SageMakerArgs, place: ArnContext, inside: Inside) -> str:
    """Return a training job's permissions: objects of its data classes, an interface in the VPC, an image, a log and
    metrics. Refusals come last.
    """
    return document([*_objects(inside), *_network(place, inside), *_service(place), *_never(args, place)])


def starter_policy(args: SageMakerArgs, place: ArnContext, inside: Inside, role_arn: str) -> str:
    """Return the permissions to start jobs. A job outside the VPC, under another role or with another key is refused."""
    jobs = _arn(place, "training-job", f"{place.cluster}-*")
    groups = [_arn(place, "model-package-group", group.name) for group in args.groups]
    versions = [_arn(place, "model-package", f"{group.name}/*") for group in args.groups]
    tag_condition = {"StringEquals": {"aws:RequestTag/landbridge:cluster": place.cluster}}
    start = {
        **tag_condition,
        "Bool": {"sagemaker:InterContainerTrafficEncryption": "true"},
        "ArnEquals": {"sagemaker:OutputKmsKey": list(inside.keys)},
        "ForAllValues:StringEquals": {
            "sagemaker:VpcSubnets": list(inside.subnets),
            "sagemaker:VpcSecurityGroupIds": [inside.security_group],
        },
        # To IAM all of nothing is within any list: without these a job that names no VPC would be let through.
        "Null": {"sagemaker:VpcSubnets": "false", "sagemaker:VpcSecurityGroupIds": "false"},
    }
    tagging = {"StringEquals": {"sagemaker:TaggingAction": ["CreateTrainingJob", "CreateModelPackage"]}}
    return document(
        [
            allow("CreateTrainingJobs", ["sagemaker:CreateTrainingJob"], jobs, start),
            allow("DescribeTrainingJobs", ["sagemaker:DescribeTrainingJob", "sagemaker:StopTrainingJob"], jobs),
            allow("AddTagsAtCreation", ["sagemaker:AddTags"], [jobs, *versions], tagging),
            allow("PassTrainingRole", ["iam:PassRole"], role_arn, {"StringEquals": {"iam:PassedToService": SERVICE}}),
            *_registry(groups, versions),
            *_never(args, place),
        ]
    )


def _registry(groups: Sequence[str], versions: Sequence[str]) -> list[Statement]:
    """Return statements to register and describe model package versions. Approving one (UpdateModelPackage) is not allowed."""
    if not groups:
        return []
    look = ["sagemaker:DescribeModelPackageGroup", "sagemaker:ListModelPackages"]
    return [
        allow("RegisterModelPackages", ["sagemaker:CreateModelPackage"], [*groups, *versions]),
        allow("DescribeModelPackages", [*look, "sagemaker:DescribeModelPackage"], [*groups, *versions]),
    ]


def _objects(inside: Inside) -> list[Statement]:
    if not inside.buckets:
        return []
    return [
        allow("ListHubBuckets", iam_policies.LIST, inside.buckets),
        allow("ReadHubObjects", READ, [f"{arn}/*" for arn in inside.buckets]),
        allow("WriteHubObjects", WRITE, [f"{arn}/{PREFIX}/*" for arn in inside.buckets]),
        # Source: SageMaker API Reference, OutputDataConfig: the role encrypts under the key that it is given.
        allow("UseHubKeys", [*USE_KEY, "kms:Encrypt"], inside.keys),
    ]


def _network(place: ArnContext, inside: Inside) -> list[Statement]:
    """Return statements for network interfaces in these subnets and this group: create, grant to SageMaker, delete."""
    start = place.ec2("subnet").removesuffix("/*").removesuffix("subnet")
    interfaces, vpc = place.ec2("network-interface"), f"{start}vpc/{inside.vpc}"
    where = [f"{start}subnet/{subnet}" for subnet in inside.subnets]
    here = {"ArnEquals": {"ec2:Vpc": vpc}}
    granted = {**here, "StringEquals": {"ec2:AuthorizedService": SERVICE}}
    group = f"{start}security-group/{inside.security_group}"
    return [
        allow("DescribeNetwork", _DESCRIBE_NETWORK, "*"),
        allow("CreateNetworkInterfaces", ["ec2:CreateNetworkInterface"], [interfaces, *where, group]),
        allow("GrantNetworkInterfaces", ["ec2:CreateNetworkInterfacePermission"], interfaces, granted),
        allow("DeleteNetworkInterfaces", _DELETE_INTERFACES, interfaces, here),
    ]


def _service(place: ArnContext) -> list[Statement]:
    start = f"arn:{place.partition}:%s:{place.region}:{place.account}"
    logs = f"{start % 'logs'}:log-group:/aws/sagemaker/TrainingJobs"
    space = {"StringEquals": {"cloudwatch:namespace": "/aws/sagemaker/TrainingJobs"}}
    return [
        allow("WriteLogs", _LOG, [logs, f"{logs}:*"]),
        allow("PutMetricData", ["cloudwatch:PutMetricData"], "*", space),
        allow("GetEcrToken", ["ecr:GetAuthorizationToken"], "*"),
        allow("PullEcrImages", _PULL, f"{start % 'ecr'}:repository/*"),
    ]


def _never(args: SageMakerArgs, place: ArnContext) -> list[Statement]:
    return iam_policies.deny_restricted_classes(place.partition, args.restricted, args.restricted_buckets)


def _arn(place: ArnContext, kind: str, name: str) -> str:
    return f"arn:{place.partition}:sagemaker:{place.region}:{place.account}:{kind}/{name}"
