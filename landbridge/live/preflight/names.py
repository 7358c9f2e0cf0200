"""Checks of names that have to be free when `up` builds: bucket names are global, and deleted secrets keep theirs."""

from collections.abc import Iterator
from typing import Any

from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.findings import Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error, warning
from landbridge.plan.aws.data_hub import data_hub_args
from landbridge.plan.aws.identity import identity_args

_FREE = ("404", "NoSuchBucket", "NotFound")
_FOREIGN = ("403", "Forbidden", "AccessDenied", "301", "PermanentRedirect")


@check("names of the hub's buckets", "s3:ListBucket", "s3:GetBucketTagging")
def bucket(scene: Scene) -> Iterator[Finding]:
    """The hub's bucket names are free, or the buckets are this environment's already.

    The names end in the account's number, so that they hardly ever clash; a bucket left over from an environment of the
    same name does.
    Source: S3 API reference, HeadBucket (404: free; 403: somebody else's); S3 User Guide, "Bucket naming rules".
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
                # Also what a caller without s3:ListBucket gets for a bucket of the account's own.
                message = f"the bucket {name} belongs to another account, or these credentials may not read it"
                yield warning(
                    "live-bucket", message, path, "grant s3:ListBucket on it, or name the environment otherwise"
                )
                continue
            raise
        if not _ours(scene, name):
            message = f"there is a bucket {name} already, which is not this environment's"
            yield error("live-bucket", message, path, "empty and delete it, or name the environment otherwise")


@check("the name of the key's secret", "secretsmanager:DescribeSecret")
def secret(scene: Scene) -> Iterator[Finding]:
    """No secret of the same name waits for its deletion.

    A deleted secret keeps its name for 7 to 30 days, and `up` fails after `destroy` on the same day.
    Source: Secrets Manager User Guide, "Delete a secret".
    """
    name = identity_args(scene.environment).secret_name
    try:
        found = scene.aws.ask("secretsmanager", "describe_secret", SecretId=name)
    except AwsRefusal as refused:
        if refused.kind is not RefusalKind.ANSWER:
            raise
        return
    if found.get("DeletedDate") is not None:
        message = f"the secret {name} is to be deleted, and keeps its name until then"
        fix = f"aws secretsmanager delete-secret --secret-id {name} --force-delete-without-recovery"
        yield error("live-secret", message, (), fix)
    elif not scene.is_mine(found.get("Tags")):
        yield error("live-secret", f"there is a secret {name} already, which is not this environment's", ())


def _ours(scene: Scene, name: str) -> bool:
    try:
        tags: Any = scene.aws.ask("s3", "get_bucket_tagging", Bucket=name)["TagSet"]
    except AwsRefusal as refused:
        if refused.code != "NoSuchTagSet":
            raise
        return False
    return scene.is_mine(tags)
