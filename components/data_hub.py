"""The exchange between the sites."""

from typing import Any

import pulumi
import pulumi_aws as aws

from components.account import Account
from landbridge.plan.args import named
from landbridge.plan.hub import BucketPlan, HubArgs, bucket_policy, key_policy


class DataHub(pulumi.ComponentResource):
    """A bucket and a key for each data class that AWS may hold.

    Costs 1 USD a month for each key, and what is stored. Protects: TLS only, encrypted with the class's own key (rotated
    every year), versioned, no ACLs, nothing public; with `protect` nothing of it can be destroyed by Pulumi.
    Opens nothing: who may read is said by the roles.
    """

    buckets: dict[str, aws.s3.Bucket]
    keys: dict[str, aws.kms.Key]

    def __init__(
        self, name: str, args: HubArgs, *, account: Account, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(
            "landbridge:index:DataHub", name, {"classes": [plan.data_class for plan in args.buckets]}, opts
        )
        self._name, self._args, self._account = name, args, account
        # What guards the data is kept with it: a bucket that outlives its policy would stand open.
        self._own = pulumi.ResourceOptions(parent=self, protect=args.protect)
        self.buckets, self.keys = {}, {}
        for plan in args.buckets:
            key = self._key(plan)
            self.keys[plan.data_class] = key
            self.buckets[plan.data_class] = self._bucket(plan, key)
        self.register_outputs({"buckets": {name: bucket.bucket for name, bucket in self.buckets.items()}})

    def exports(self) -> dict[str, Any]:
        """The stack's `hub` output."""
        found = {key: {"name": bucket.bucket, "key_arn": self.keys[key].arn} for key, bucket in self.buckets.items()}
        return {"buckets": found}

    def _key(self, plan: BucketPlan) -> aws.kms.Key:
        child = f"{self._name}-{plan.data_class}"
        key = aws.kms.Key(
            child,
            description=f"Landbridge {self._args.cluster}: data class {plan.data_class}",
            enable_key_rotation=True,
            deletion_window_in_days=30 if self._args.protect else 7,
            policy=pulumi.Output.all(self._account.partition, self._account.id).apply(
                lambda known: key_policy(*known, shown_in=self._args.region if plan.shown else None)
            ),
            tags=named(plan.tags, plan.name_prefix),
            opts=self._own,
        )
        aws.kms.Alias(child, name=f"alias/{plan.name_prefix}", target_key_id=key.key_id, opts=self._own)
        return key

    def _bucket(self, plan: BucketPlan, key: aws.kms.Key) -> aws.s3.Bucket:
        child = f"{self._name}-{plan.data_class}"
        bucket = aws.s3.Bucket(
            child,
            bucket=self._account.id.apply(plan.bucket_name),
            force_destroy=not self._args.protect,
            tags=named(plan.tags, plan.name_prefix),
            opts=self._own,
        )
        closed = aws.s3.BucketPublicAccessBlock(
            child,
            bucket=bucket.id,
            block_public_acls=True,
            block_public_policy=True,
            ignore_public_acls=True,
            restrict_public_buckets=True,
            opts=self._own,
        )
        aws.s3.BucketOwnershipControls(
            child, bucket=bucket.id, rule={"object_ownership": "BucketOwnerEnforced"}, opts=self._own
        )
        versioning = aws.s3.BucketVersioning(
            child, bucket=bucket.id, versioning_configuration={"status": "Enabled"}, opts=self._own
        )
        encryption = {"sse_algorithm": "aws:kms", "kms_master_key_id": key.arn}
        aws.s3.BucketServerSideEncryptionConfiguration(
            child,
            bucket=bucket.id,
            # A bucket key asks KMS once for many objects: KMS would otherwise cost more than the storage.
            rules=[{"apply_server_side_encryption_by_default": encryption, "bucket_key_enabled": True}],
            opts=self._own,
        )
        aws.s3.BucketLifecycleConfiguration(
            child,
            bucket=bucket.id,
            rules=[
                {
                    "id": "old-versions",
                    "status": "Enabled",
                    "filter": {"prefix": ""},
                    "noncurrent_version_expiration": {"noncurrent_days": self._args.noncurrent_days},
                    "abort_incomplete_multipart_upload": {"days_after_initiation": 7},
                }
            ],
            opts=pulumi.ResourceOptions(parent=self, protect=self._args.protect, depends_on=[versioning]),
        )
        aws.s3.BucketPolicy(
            child,
            bucket=bucket.id,
            policy=pulumi.Output.all(bucket.arn, key.arn).apply(lambda known: bucket_policy(*known)),
            # S3 refuses a policy while it is still deciding whether public ones are blocked.
            opts=pulumi.ResourceOptions(parent=self, protect=self._args.protect, depends_on=[closed]),
        )
        return bucket
