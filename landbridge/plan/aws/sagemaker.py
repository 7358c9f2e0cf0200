"""SageMaker training jobs: IAM role of the jobs, IAM policy to start them, and model package groups.

Source: Amazon SageMaker Developer Guide, "Give SageMaker training jobs access to resources in your Amazon VPC" and "SageMaker
roles"; Service Authorization Reference, Amazon SageMaker and Amazon EC2 (condition keys).
"""

from collections.abc import Sequence

from landbridge.environment import Environment
from landbridge.plan.args import Args, tags
from landbridge.plan.aws.access import iam_policies
from landbridge.plan.aws.access.iam_policies import READ, USE_KEY, WRITE, ArnContext, Statement, allow
from landbridge.plan.aws.storage.data_hub import bucket_prefix
from landbridge.plan.policy_document import document

SERVICE = "sagemaker.amazonaws.com"
#: Object prefix of the hub that only SageMaker writes: every prefix has one writer.
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
    """Model package group. `key` is its name in the environment file."""

    key: str
    name: str


class SageMakerClass(Args):
    """Names of the jobs of one data class: their role, the policy to start them, and their security group.

    One role of two classes could copy from the bucket of one to that of the other.
    """

    data_class: str
    role: str
    policy: str
    security_group: str


class SageMakerArgs(Args):
    """Plan of the roles of jobs, the permissions to start them, and the model package groups."""

    cluster: str
    classes: tuple[SageMakerClass, ...]
    groups: tuple[ModelGroup, ...]
    #: Name of the policy to approve model packages; None without groups.
    approver: str | None = None
    restricted: tuple[str, ...] = ()
    restricted_buckets: tuple[str, ...] = ()
    path: str = "/"
    permissions_boundary: str | None = None
    protect: bool
    tags: dict[str, str]


class Inside(Args):
    """Ids and ARNs that AWS assigned: VPC, subnets and security group of a class's jobs, and its bucket and key."""

    vpc: str
    subnets: tuple[str, ...]
    security_group: str
    bucket: str
    key: str


def sagemaker_args(environment: Environment) -> SageMakerArgs | None:
    """Plan SageMaker's resources; None if the environment does not enable them."""
    settings = environment.mlops.sagemaker
    if settings is None:
        return None
    onprem_classes = tuple(
        sorted(name for name, data_class in environment.data_classes.items() if "aws" not in data_class.sites)
    )
    return SageMakerArgs(
        cluster=environment.name,
        classes=tuple(
            SageMakerClass(
                data_class=name,
                role=f"{environment.name}-sagemaker-{name}",
                policy=f"{environment.name}-train-{name}",
                security_group=f"{environment.name}-sagemaker-{name}",
            )
            for name in job_classes(environment)
        ),
        groups=tuple(ModelGroup(key=key, name=group_name(environment, key)) for key in settings.model_groups),
        approver=f"{environment.name}-approve-models" if settings.model_groups else None,
        restricted=onprem_classes,
        restricted_buckets=tuple(bucket_prefix(environment.name, name) for name in onprem_classes),
        path=environment.aws.iam.path,
        permissions_boundary=environment.aws.iam.permissions_boundary,
        protect=environment.aws.protect,
        tags=tags(environment),
    )


def job_classes(environment: Environment) -> tuple[str, ...]:
    """Return the data classes whose buckets jobs use, sorted: those configured (default: all), as far as they may be in
    AWS.
    """
    settings, data_classes = environment.mlops.sagemaker, environment.data_classes
    configured = settings.data_classes if settings is not None and settings.data_classes else tuple(data_classes)
    return tuple(sorted({name for name in configured if name in data_classes and "aws" in data_classes[name].sites}))


def group_name(environment: Environment, key: str) -> str:
    """Return a model package group's name, unique in account and region: at most 57 characters, SageMaker's limit is
    63.
    """
    return f"{environment.name}-{key}"


def job_trust(account: str) -> str:
    """Return the trust policy of the job role: only SageMaker on behalf of this account."""
    return document([iam_policies.service_trust(SERVICE, account)])


def job_policy(args: SageMakerArgs, place: ArnContext, inside: Inside) -> str:
    """Return a training job's permissions: objects of its data class, network interfaces in the VPC, a container
    image, logs and metrics. Deny statements come last.
    """
    return document([*_objects(inside), *_network(place, inside), *_service(place), *_denials(args, place)])


def starter_policy(args: SageMakerArgs, place: ArnContext, inside: Inside, role_arn: str) -> str:
    """Return the permissions to start jobs. A job outside the VPC, with another role or with another key is denied."""
    jobs = _arn(place, "training-job", f"{place.cluster}-*")
    groups = [_arn(place, "model-package-group", group.name) for group in args.groups]
    versions = [_arn(place, "model-package", f"{group.name}/*") for group in args.groups]
    tag_condition = {"StringEquals": {"aws:RequestTag/landbridge:cluster": place.cluster}}
    start_condition = {
        **tag_condition,
        "Bool": {"sagemaker:InterContainerTrafficEncryption": "true"},
        # A warm pool is billed after its job, and the ledger counts jobs only. Source: SageMaker Developer Guide, "Use
        # SageMaker AI managed warm pools".
        "NumericEqualsIfExists": {"sagemaker:KeepAlivePeriod": "0"},
        "ArnEquals": {"sagemaker:OutputKmsKey": inside.key},
        "ForAllValues:StringEquals": {
            "sagemaker:VpcSubnets": list(inside.subnets),
            "sagemaker:VpcSecurityGroupIds": [inside.security_group],
        },
        # IAM's ForAllValues is true for an absent key: without these conditions a job without a VPC would be permitted.
        "Null": {"sagemaker:VpcSubnets": "false", "sagemaker:VpcSecurityGroupIds": "false"},
    }
    # The name alone also matches jobs of an environment whose name continues this one's.
    tagged = {"StringEquals": {"aws:ResourceTag/landbridge:cluster": place.cluster}}
    tagging = {"StringEquals": {"sagemaker:TaggingAction": ["CreateTrainingJob", "CreateModelPackage"]}}
    return document(
        [
            allow("CreateTrainingJobs", ["sagemaker:CreateTrainingJob"], jobs, start_condition),
            allow("DescribeTrainingJobs", ["sagemaker:DescribeTrainingJob", "sagemaker:StopTrainingJob"], jobs, tagged),
            allow("ListTrainingJobs", ["sagemaker:ListTrainingJobs"], "*"),
            allow("ListTagsOfTrainingJobs", ["sagemaker:ListTags"], jobs, tagged),
            allow("AddTagsAtCreation", ["sagemaker:AddTags"], [jobs, *versions], tagging),
            allow("PassTrainingRole", ["iam:PassRole"], role_arn, {"StringEquals": {"iam:PassedToService": SERVICE}}),
            *_registry(groups, versions),
            *_denials(args, place),
        ]
    )


def approver_policy(args: SageMakerArgs, place: ArnContext) -> str:
    """Return the permissions to approve and reject the model packages of the groups, without those to start a job."""
    groups = [_arn(place, "model-package-group", group.name) for group in args.groups]
    versions = [_arn(place, "model-package", f"{group.name}/*") for group in args.groups]
    list_group = ["sagemaker:DescribeModelPackageGroup", "sagemaker:ListModelPackages"]
    return document(
        [
            allow("DescribeModelPackages", [*list_group, "sagemaker:DescribeModelPackage"], [*groups, *versions]),
            allow("ApproveModelPackages", ["sagemaker:UpdateModelPackage"], versions),
        ]
    )


def _registry(groups: Sequence[str], versions: Sequence[str]) -> list[Statement]:
    """Return statements to register and describe model package versions; approval (UpdateModelPackage) is not
    permitted.
    """
    if not groups:
        return []
    describe_group = ["sagemaker:DescribeModelPackageGroup", "sagemaker:ListModelPackages"]
    return [
        allow("RegisterModelPackages", ["sagemaker:CreateModelPackage"], [*groups, *versions]),
        allow("DescribeModelPackages", [*describe_group, "sagemaker:DescribeModelPackage"], [*groups, *versions]),
    ]


def _objects(inside: Inside) -> list[Statement]:
    return [
        allow("ListHubBucket", iam_policies.LIST, inside.bucket),
        allow("ReadHubObjects", READ, f"{inside.bucket}/*"),
        allow("WriteHubObjects", WRITE, f"{inside.bucket}/{PREFIX}/*"),
        # Source: SageMaker API Reference, OutputDataConfig: the role encrypts with the key of the request.
        allow("UseHubKey", [*USE_KEY, "kms:Encrypt"], inside.key),
        iam_policies.deny_backups((inside.bucket,)),
    ]


def _network(place: ArnContext, inside: Inside) -> list[Statement]:
    """Return statements for network interfaces in these subnets and this security group: create, grant to SageMaker,
    delete.
    """
    arn_prefix = place.ec2("subnet").removesuffix("/*").removesuffix("subnet")
    interfaces, vpc = place.ec2("network-interface"), f"{arn_prefix}vpc/{inside.vpc}"
    subnet_arns = [f"{arn_prefix}subnet/{subnet}" for subnet in inside.subnets]
    in_vpc = {"ArnEquals": {"ec2:Vpc": vpc}}
    granted_to_sagemaker = {**in_vpc, "StringEquals": {"ec2:AuthorizedService": SERVICE}}
    group = f"{arn_prefix}security-group/{inside.security_group}"
    return [
        allow("DescribeNetwork", _DESCRIBE_NETWORK, "*"),
        allow("CreateNetworkInterfaces", ["ec2:CreateNetworkInterface"], [interfaces, *subnet_arns, group]),
        allow("GrantNetworkInterfaces", ["ec2:CreateNetworkInterfacePermission"], interfaces, granted_to_sagemaker),
        allow("DeleteNetworkInterfaces", _DELETE_INTERFACES, interfaces, in_vpc),
    ]


def _service(place: ArnContext) -> list[Statement]:
    arn_prefix = f"arn:{place.partition}:%s:{place.region}:{place.account}"
    logs = f"{arn_prefix % 'logs'}:log-group:/aws/sagemaker/TrainingJobs"
    in_namespace = {"StringEquals": {"cloudwatch:namespace": "/aws/sagemaker/TrainingJobs"}}
    return [
        allow("WriteLogs", _LOG, [logs, f"{logs}:*"]),
        allow("PutMetricData", ["cloudwatch:PutMetricData"], "*", in_namespace),
        allow("GetEcrToken", ["ecr:GetAuthorizationToken"], "*"),
        allow("PullEcrImages", _PULL, f"{arn_prefix % 'ecr'}:repository/*"),
    ]


def _denials(args: SageMakerArgs, place: ArnContext) -> list[Statement]:
    return iam_policies.deny_restricted_classes(place.partition, args.restricted, args.restricted_buckets)


def _arn(place: ArnContext, kind: str, name: str) -> str:
    return f"arn:{place.partition}:sagemaker:{place.region}:{place.account}:{kind}/{name}"
