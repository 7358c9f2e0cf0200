"""S3: buckets, their settings and objects."""

from landbridge.aws_api.client import AwsClient
from landbridge.aws_api.refusal import AwsRefusal
from landbridge.aws_resources.resource_type import FIXED_NAME, SETS, Inputs, ResourceType
from landbridge.aws_resources.search import account_of, bears_tags, tags_of


def _recover(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the account's bucket of this name if it has the inputs' tags, or no tags yet.

    Tags are set by a second call after the creation; the name contains the account's number.
    """
    name, owner = inputs["bucket"], account_of(aws)
    aws.ask("s3", "head_bucket", Bucket=name, ExpectedBucketOwner=owner)
    tags = _tags(aws, name)
    return [str(name)] if tags is None or bears_tags(inputs, tags) else []


def _tags(aws: AwsClient, bucket: str) -> dict[str, str] | None:
    try:
        return tags_of(aws.ask("s3", "get_bucket_tagging", Bucket=bucket), "TagSet")
    except AwsRefusal as refused:
        if refused.code == "NoSuchTagSet":
            return None
        raise


RESOURCE_TYPES = (
    ResourceType(
        "S3 bucket", "aws:s3/bucket:Bucket", recover=_recover, billed=True, holds_data=True, not_swept=FIXED_NAME),
    ResourceType(
        "bucket lifecycle configuration", "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
        repeatable=SETS),
    ResourceType(
        "bucket object lock configuration", "aws:s3/bucketObjectLockConfiguration:BucketObjectLockConfiguration",
        repeatable=SETS),
    ResourceType(
        "bucket ownership controls", "aws:s3/bucketOwnershipControls:BucketOwnershipControls", repeatable=SETS),
    ResourceType("bucket policy", "aws:s3/bucketPolicy:BucketPolicy", repeatable=SETS),
    ResourceType(
        "bucket public access block", "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock", repeatable=SETS),
    ResourceType(
        "bucket replication configuration", "aws:s3/bucketReplicationConfig:BucketReplicationConfig",
        repeatable=SETS),
    ResourceType(
        "bucket encryption configuration",
        "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration", repeatable=SETS),
    ResourceType("bucket versioning", "aws:s3/bucketVersioning:BucketVersioning", repeatable=SETS),
    ResourceType("S3 object", "aws:s3/bucketObject:BucketObject", repeatable=SETS),
)  # fmt: skip
