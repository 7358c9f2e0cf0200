"""CloudTrail trail with object lock."""

from collections.abc import Mapping

import pulumi
import pulumi_aws as aws

from components.parts.account import Account
from components.parts.component import Component
from components.parts.public_access import block_public_access
from landbridge.plan.args import named
from landbridge.plan.aws.guardrails import TrailPlan, trail_key_policy, trail_policy


class Trail(Component):
    """CloudTrail trail for all regions, in a bucket with object lock for the retention time.

    Costs the storage of its files in S3, 1 USD a month for its key, and 0.10 USD for each 100,000 reads and writes of objects of data
    classes under a regime; the first copy of management events is free. Protects: files are encrypted with the trail's own key and cannot be
    deleted or changed before the end of their retention, and digest files have signatures. Opens: CloudTrail can write into the bucket,
    and encrypt with the key, for this trail only.
    """

    def __init__(
        self,
        name: str,
        args: TrailPlan,
        *,
        cluster: str,
        account: Account,
        region: str,
        tags: Mapping[str, str],
        protect: bool,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, {"days": args.days}, opts)
        resource_options = pulumi.ResourceOptions(parent=self, protect=protect)
        child, trail_name = f"{name}-audit", f"{cluster}-audit"
        bucket = aws.s3.Bucket(
            child,
            bucket=account.id.apply(args.bucket_name),
            object_lock_enabled=True,
            tags=named(tags, args.bucket_prefix),
            opts=resource_options,
        )
        access_block = block_public_access(child, bucket, resource_options)
        versioning = aws.s3.BucketVersioning(
            child, bucket=bucket.id, versioning_configuration={"status": "Enabled"}, opts=resource_options
        )
        object_lock = aws.s3.BucketObjectLockConfiguration(
            child,
            bucket=bucket.id,
            rule={"default_retention": {"mode": args.mode, "days": args.days}},
            opts=pulumi.ResourceOptions(parent=self, protect=protect, depends_on=[versioning]),
        )
        account_facts = pulumi.Output.all(account.partition, account.id)
        arn = account_facts.apply(lambda facts: f"arn:{facts[0]}:cloudtrail:{region}:{facts[1]}:trail/{trail_name}")
        key = aws.kms.Key(
            child,
            description=f"Landbridge {cluster}: audit trail",
            enable_key_rotation=True,
            deletion_window_in_days=30 if protect else 7,
            policy=pulumi.Output.all(account.partition, account.id, arn).apply(lambda facts: trail_key_policy(*facts)),
            tags=named(tags, trail_name),
            opts=resource_options,
        )
        policy = aws.s3.BucketPolicy(
            child,
            bucket=bucket.id,
            policy=pulumi.Output.all(bucket.arn, account.id, arn).apply(lambda facts: trail_policy(*facts)),
            # S3 refuses a bucket policy while the public access block is being changed.
            opts=pulumi.ResourceOptions(parent=self, protect=protect, depends_on=[access_block]),
        )
        aws.cloudtrail.Trail(
            child,
            name=trail_name,
            s3_bucket_name=bucket.bucket,
            is_multi_region_trail=True,
            include_global_service_events=True,
            enable_log_file_validation=True,
            enable_logging=True,
            kms_key_id=key.arn,
            event_selectors=[_selector(args, account)] if args.data_buckets else None,
            tags=dict(tags),
            # CloudTrail writes a test file when the trail is created.
            opts=pulumi.ResourceOptions(parent=self, depends_on=[policy, object_lock]),
        )
        self.register_outputs({"bucket": bucket.bucket})


def _selector(args: TrailPlan, account: Account) -> aws.cloudtrail.TrailEventSelectorArgs:
    """Return the selector of management events, and of reads and writes of objects in the data buckets."""
    arns = [
        pulumi.Output.concat("arn:", account.partition, f":s3:::{prefix}-", account.id, "/")
        for prefix in args.data_buckets
    ]
    return aws.cloudtrail.TrailEventSelectorArgs(
        read_write_type="All",
        include_management_events=True,
        data_resources=[aws.cloudtrail.TrailEventSelectorDataResourceArgs(type="AWS::S3::Object", values=arns)],
    )
