"""Checks of names that must be free for `up`: bucket names are global, and deleted secrets keep their names."""

from collections.abc import Iterator
from typing import Any

from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.findings import Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error, warning
from landbridge.plan.aws.access.identity import identity_args
from landbridge.plan.aws.storage.data_hub import data_hub_args

_FREE = ("404", "NoSuchBucket", "NotFound")
_FOREIGN = ("403", "Forbidden", "AccessDenied", "301", "PermanentRedirect")


@check("names of the hub's buckets", "s3:ListBucket", "s3:GetBucketTagging")
def bucket(scene: Scene) -> Iterator[Finding]:
    """The names of the data hub's buckets are free, or the buckets belong to this environment.

    The names end in the account's number. A bucket that remains from an earlier environment of the same name has the
    same name.
    Source: S3 API reference, HeadBucket (404: free; 403: another account's); S3 User Guide, "Bucket naming rules".
    """
    if scene.account is None:
        return
    for plan in data_hub_args(scene.environment).buckets:
        name, path = plan.bucket_name(scene.account), ("data_classes", plan.data_class)
        try:
            scene.aws.ask("s3", "head_bucket", Bucket=name)
        except AwsRefusal as refused:
            if refused.code in _FREE:
                continue
            if refused.code in _FOREIGN:
                # S3 answers the same to a caller without s3:ListBucket for a bucket of this account.
                message = f"the bucket {name} belongs to another account, or these credentials may not read it"
                yield warning(
                    "live-bucket", message, path, "grant s3:ListBucket on it, or give the environment another name"
                )
                continue
            raise
        if not _ours(scene, name):
            message = f"there is a bucket {name} already, which does not belong to this environment"
            yield error("live-bucket", message, path, "empty and delete it, or give the environment another name")


@check("the names of the nodes' secrets", "secretsmanager:DescribeSecret")
def secret(scene: Scene) -> Iterator[Finding]:
    """No secret of the same names is scheduled for deletion.

    A deleted secret keeps its name for 7 to 30 days: an `up` on the day of a `destroy` would fail.
    Source: Secrets Manager User Guide, "Delete a secret".
    """
    args = identity_args(scene.environment)
    for name in filter(None, (args.secret_name, args.metrics_secret_name)):
        yield from _secret(scene, name)


def _secret(scene: Scene, name: str) -> Iterator[Finding]:
    try:
        existing = scene.aws.ask("secretsmanager", "describe_secret", SecretId=name)
    except AwsRefusal as refused:
        if refused.kind is not RefusalKind.ANSWER:
            raise
        return
    if existing.get("DeletedDate") is not None:
        message = f"the secret {name} is scheduled for deletion, and keeps its name until then"
        fix = f"aws secretsmanager delete-secret --secret-id {name} --force-delete-without-recovery"
        yield error("live-secret", message, (), fix)
    elif not scene.is_mine(existing.get("Tags")):
        yield error("live-secret", f"there is a secret {name} already, which does not belong to this environment", ())


def _ours(scene: Scene, name: str) -> bool:
    try:
        tags: Any = scene.aws.ask("s3", "get_bucket_tagging", Bucket=name)["TagSet"]
    except AwsRefusal as refused:
        if refused.code != "NoSuchTagSet":
            raise
        return False
    return scene.is_mine(tags)
