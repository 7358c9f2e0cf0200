"""Rules about names of AWS resources that contain the environment's name."""

from collections.abc import Iterator

from landbridge.catalog.aws.limits import limits
from landbridge.environment import Environment
from landbridge.findings import DataPath, Finding, error, warning
from landbridge.plan.aws.sagemaker import job_classes
from landbridge.plan.aws.storage.data_hub import data_hub_args, max_bucket_prefix_characters
from landbridge.rules.environment_paths import pools
from landbridge.rules.registry import rule


@rule
def bucket_name_long(environment: Environment) -> Iterator[Finding]:
    """A bucket name of environment, data class and account has at most 63 characters.

    A longer name is truncated and ends in a hash: it works, but is hard to recognise.
    Source: S3 User Guide, "General purpose bucket naming rules".
    """
    max_characters = max_bucket_prefix_characters()
    for plan in data_hub_args(environment).buckets:
        bucket_name = f"{environment.name}-{plan.data_class}"
        if len(bucket_name) > max_characters:
            message = f"the bucket name {bucket_name}-<account> is too long: {max_characters} characters are left before the account"
            path: DataPath = ("data_classes", plan.data_class)
            yield warning(path, message, fix="shorten one of the two names")


@rule
def bucket_name(environment: Environment) -> Iterator[Finding]:
    """The name of an existing bucket follows S3's naming rules: otherwise it is misspelt.

    Source: S3 User Guide, "General purpose bucket naming rules".
    """
    names = limits().names
    allowed = names.rules["s3_bucket"]
    for path, url in _buckets(environment):
        name = url.removeprefix("s3://").split("/", 1)[0]
        problem = None
        if not allowed.allows(name):
            problem = "has characters or a length that S3 does not allow"
        elif ".." in name or ".-" in name or "-." in name:
            problem = "has a dot next to a dot or a dash"
        elif name.replace(".", "").isdigit() and name.count(".") == 3:
            problem = "has the form of an IP address"
        elif name.startswith(names.reserved_bucket_prefixes) or name.endswith(names.reserved_bucket_suffixes):
            problem = "has a prefix or suffix that S3 reserves"
        if problem is not None:
            yield error(path, f'the bucket name "{name}" {problem}', fix="copy the name from the S3 console")


@rule
def pool_name_taken(environment: Environment) -> Iterator[Finding]:
    """A pool's security group has a name that no other security group of the VPC has.

    Source: EC2 API reference, CreateSecurityGroup (InvalidGroup.Duplicate).
    """
    owners = dict(_groups(environment))
    for owner in pools(environment):
        group_owner = owners.get(owner.pool.name)
        if group_owner is not None:
            message = f"{environment.name}-{owner.pool.name} is already the name of the security group of {group_owner}"
            yield error(owner.at("name"), message, fix="give the pool another name")


def _groups(environment: Environment) -> Iterator[tuple[str, str]]:
    """Yield the name suffix and the owner of each security group that is not a pool's."""
    if environment.aws.services is not None:
        yield "controller", "the controller"
        yield "login", "the login hosts"
        yield "accounting", "the accounting database"
    for data_class in job_classes(environment) if environment.mlops.sagemaker is not None else ():
        yield f"sagemaker-{data_class}", "SageMaker's jobs"
    yield "endpoints", "the endpoints of AWS's services"
    for direction in ("inbound", "outbound") if environment.dns is not None else ():
        yield f"dns-{direction}", "the resolver's endpoints"
    for path in environment.storage.in_aws():
        yield (f"share-{path[-1]}" if len(path) > 1 else path[0].replace("_", "-")), "a file system"


def _buckets(environment: Environment) -> Iterator[tuple[DataPath, str]]:
    for storage_path, share in environment.storage.in_aws().items():
        base: DataPath = ("storage", *storage_path)
        for key in ("import_path", "export_path"):
            url = getattr(share, key, None)
            if isinstance(url, str):
                yield (*base, key), url
        for index, repository in enumerate(getattr(share, "repositories", ())):
            if repository.bucket is not None:
                yield (*base, "repositories", index, "bucket"), repository.bucket
