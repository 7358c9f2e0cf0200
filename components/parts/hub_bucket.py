"""S3 bucket of the data hub with its policies and key: a data class's bucket, or its replica in another region."""

from typing import Any

import pulumi
import pulumi_aws as aws

from components.parts.account import Account
from components.parts.public_access import block_public_access
from landbridge.plan.args import named
from landbridge.plan.aws.storage.data_hub import BucketPlan, DataHubArgs, LockPlan, bucket_policy, key_policy


class HubBucket:
    """S3 bucket and KMS key, children of `component`. `region` None is the provider's region."""

    bucket: aws.s3.Bucket
    key: aws.kms.Key
    #: Versioning, and Object Lock if the class has it: S3 replicates between buckets only after both buckets have them.
    before_replication: tuple[pulumi.Resource, ...]

    def __init__(
        self,
        child: str,
        args: DataHubArgs,
        plan: BucketPlan,
        *,
        account: Account,
        component: pulumi.Resource,
        region: str | None = None,
    ) -> None:
        self._child, self._args, self._plan = child, args, plan
        # No region argument for the provider's own region: adding one would change existing resources.
        self._region_argument: dict[str, Any] = {} if region is None else {"region": region}
        self._component = component
        # Protect the policy and the access block like the bucket: without them it would be open.
        self._child_options = pulumi.ResourceOptions(parent=component, protect=args.protect)
        self._prefix = plan.name_prefix if region is None else plan.replica_prefix
        self.key = self._key(account)
        self.bucket = aws.s3.Bucket(
            child,
            bucket=account.id.apply(lambda account_id: plan.bucket_name(account_id, self._prefix)),
            force_destroy=not args.protect,
            tags=named(plan.tags, self._prefix),
            opts=self._child_options,
            **self._region_argument,
        )
        self._deny_access()
        versioning = aws.s3.BucketVersioning(
            child,
            bucket=self.bucket.id,
            versioning_configuration={"status": "Enabled"},
            opts=self._child_options,
            **self._region_argument,
        )
        after_versioning = pulumi.ResourceOptions(parent=component, protect=args.protect, depends_on=[versioning])
        self._lifecycle(after_versioning)
        self.before_replication = (versioning,)
        if plan.lock is not None:
            self.before_replication = (versioning, self._lock(plan.lock, after_versioning))

    def _key(self, account: Account) -> aws.kms.Key:
        args, plan = self._args, self._plan
        # Lustre file systems associate the bucket only, not its replica.
        fsx_region = args.region if plan.is_linked_to_fsx and not self._region_argument else None
        key = aws.kms.Key(
            self._child,
            description=f"Landbridge {args.cluster}: data class {plan.data_class}",
            enable_key_rotation=True,
            deletion_window_in_days=30 if args.protect else 7,
            policy=pulumi.Output.all(account.partition, account.id).apply(
                lambda facts: key_policy(facts[0], facts[1], fsx_region)
            ),
            tags=named(plan.tags, self._prefix),
            opts=self._child_options,
            **self._region_argument,
        )
        alias = f"alias/{self._prefix}"
        aws.kms.Alias(
            self._child, name=alias, target_key_id=key.key_id, opts=self._child_options, **self._region_argument
        )
        return key

    def _deny_access(self) -> None:
        """Deny public access, ACLs, requests without TLS and other keys."""
        child, bucket = self._child, self.bucket
        access_block = block_public_access(child, bucket, self._child_options, **self._region_argument)
        rule = {"object_ownership": "BucketOwnerEnforced"}
        aws.s3.BucketOwnershipControls(
            child, bucket=bucket.id, rule=rule, opts=self._child_options, **self._region_argument
        )
        encryption = {"sse_algorithm": "aws:kms", "kms_master_key_id": self.key.arn}
        aws.s3.BucketServerSideEncryptionConfiguration(
            child,
            bucket=bucket.id,
            # S3 bucket key: one KMS request for many objects. Without it KMS costs more than the storage.
            rules=[{"apply_server_side_encryption_by_default": encryption, "bucket_key_enabled": True}],
            opts=self._child_options,
            **self._region_argument,
        )
        aws.s3.BucketPolicy(
            child,
            bucket=bucket.id,
            policy=pulumi.Output.all(bucket.arn, self.key.arn).apply(lambda arns: bucket_policy(*arns)),
            # S3 refuses a bucket policy while the public access block is being changed.
            opts=pulumi.ResourceOptions(parent=self._component, protect=self._args.protect, depends_on=[access_block]),
            **self._region_argument,
        )

    def _lifecycle(self, opts: pulumi.ResourceOptions) -> None:
        plan = self._plan
        rules: list[dict[str, Any]] = [
            {
                "id": "old-versions",
                "status": "Enabled",
                "filter": {"prefix": ""},
                "noncurrent_version_expiration": {"noncurrent_days": self._args.noncurrent_days},
                "abort_incomplete_multipart_upload": {"days_after_initiation": 7},
            }
        ]
        all_objects = {"status": "Enabled", "filter": {"prefix": ""}}
        if plan.tiering_days is not None:
            transition = {"days": plan.tiering_days, "storage_class": "INTELLIGENT_TIERING"}
            rules.append({"id": "tiering", **all_objects, "transitions": [transition]})
        if plan.expire_days is not None:
            rules.append({"id": "expiry", **all_objects, "expiration": {"days": plan.expire_days}})
        aws.s3.BucketLifecycleConfiguration(
            self._child, bucket=self.bucket.id, rules=rules, opts=opts, **self._region_argument
        )

    def _lock(self, lock: LockPlan, opts: pulumi.ResourceOptions) -> aws.s3.BucketObjectLockConfiguration:
        return aws.s3.BucketObjectLockConfiguration(
            self._child,
            bucket=self.bucket.id,
            object_lock_enabled="Enabled",
            rule={"default_retention": {"mode": lock.mode, "days": lock.days}},
            opts=opts,
            **self._region_argument,
        )
