"""S3 bucket from which an image build downloads the cluster's roles."""

import pulumi
import pulumi_aws as aws

from components.parts.account import Account
from components.parts.public_access import block_public_access
from landbridge.node_image import Bundle
from landbridge.paths import cache_dir
from landbridge.plan.args import named
from landbridge.plan.aws.storage.data_hub import tls_only
from landbridge.plan.node_image.node_image import NodeImageArgs


class ImageArchive:
    """Private bucket with one archive, a child of `component`. The archive is reproducible; `protect` protects the
    bucket only.
    """

    bucket: pulumi.Output[str]
    archive_arn: pulumi.Output[str]

    def __init__(
        self, child: str, args: NodeImageArgs, archive: Bundle, *, account: Account, component: pulumi.Resource
    ) -> None:
        resource_options = pulumi.ResourceOptions(parent=component, protect=args.protect)
        bucket = aws.s3.Bucket(
            child,
            bucket=account.id.apply(lambda account_id: f"{args.bucket_prefix}-{account_id}"),
            force_destroy=not args.protect,
            tags=named(args.tags, args.bucket_prefix),
            opts=resource_options,
        )
        access_block = block_public_access(child, bucket, resource_options)
        rule = {"object_ownership": "BucketOwnerEnforced"}
        aws.s3.BucketOwnershipControls(child, bucket=bucket.id, rule=rule, opts=resource_options)
        aws.s3.BucketPolicy(
            child,
            bucket=bucket.id,
            policy=bucket.arn.apply(tls_only),
            # S3 refuses a bucket policy while the public access block is being changed.
            opts=pulumi.ResourceOptions(parent=component, protect=args.protect, depends_on=[access_block]),
        )
        archive_object = aws.s3.BucketObject(
            child,
            bucket=bucket.id,
            key=archive.key,
            source=pulumi.FileAsset(str(archive.file(cache_dir("bundles")))),
            content_type="application/x-tar",
            tags=dict(args.tags),
            opts=pulumi.ResourceOptions(parent=component),
        )
        self.bucket = bucket.bucket
        self.archive_arn = pulumi.Output.all(bucket.arn, archive_object.key).apply("/".join)
