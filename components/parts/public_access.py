"""S3 public access block."""

from typing import Any

import pulumi
import pulumi_aws as aws


def block_public_access(
    child: str, bucket: aws.s3.Bucket, opts: pulumi.ResourceOptions, **region: Any
) -> aws.s3.BucketPublicAccessBlock:
    """Create the block of public ACLs and public policies of a bucket; `region` is the resource's argument, if it has one."""
    return aws.s3.BucketPublicAccessBlock(
        child,
        bucket=bucket.id,
        block_public_acls=True,
        block_public_policy=True,
        ignore_public_acls=True,
        restrict_public_buckets=True,
        opts=opts,
        **region,
    )
