"""S3 buckets and KMS keys of the data hub."""

from typing import Any

import pulumi
import pulumi_aws as aws

from components.parts.account import Account
from components.parts.component import Component
from components.parts.hub_bucket import HubBucket
from landbridge.plan.args import named
from landbridge.plan.aws.storage.data_hub import BucketPlan, DataHubArgs, replication_policy, replication_trust


class DataHub(Component):
    """S3 bucket and KMS key for each data class that may be in AWS; a replica in a second region if the class has one.

    Costs 1 USD a month for each key, and storage; a replica costs as much again, and its transfer to the other region about
    0.02 USD a GB. Protects: TLS only, encryption with the class's own key (rotated every year), versions, no ACLs, no public
    access; object lock if the class has it; with `protect`, Pulumi refuses to delete buckets and keys.
    Opens nothing: roles have the permissions to read. The replication role reads one bucket and writes the other.
    """

    buckets: dict[str, aws.s3.Bucket]
    keys: dict[str, aws.kms.Key]
    replicas: dict[str, aws.s3.Bucket]

    def __init__(
        self, name: str, args: DataHubArgs, *, account: Account, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, {"classes": [plan.data_class for plan in args.buckets]}, opts)
        self._name, self._args, self._account = name, args, account
        self.buckets, self.keys, self.replicas = {}, {}, {}
        for plan in args.buckets:
            child = f"{name}-{plan.data_class}"
            hub_bucket = HubBucket(child, args, plan, account=account, component=self)
            self.buckets[plan.data_class], self.keys[plan.data_class] = hub_bucket.bucket, hub_bucket.key
            if plan.replica_region is not None:
                self.replicas[plan.data_class] = self._replica(
                    f"{child}-replica", plan, hub_bucket, plan.replica_region
                )
        self.register_outputs({"buckets": {name: bucket.bucket for name, bucket in self.buckets.items()}})

    def exports(self) -> dict[str, Any]:
        """Return the stack\'s `hub` output."""
        bucket_exports = {
            key: {"name": bucket.bucket, "key_arn": self.keys[key].arn} for key, bucket in self.buckets.items()
        }
        return {"buckets": bucket_exports}

    def _replica(self, child: str, plan: BucketPlan, source: HubBucket, region: str) -> aws.s3.Bucket:
        """Create a bucket in another region and the replication rule. Deletions are not replicated: the replica
        protects against them.
        """
        args, child_options = self._args, pulumi.ResourceOptions(parent=self, protect=self._args.protect)
        replica = HubBucket(child, args, plan, account=self._account, component=self, region=region)
        role = aws.iam.Role(
            child,
            name=plan.replica_role,
            path=args.path,
            permissions_boundary=args.permissions_boundary,
            description=f"Landbridge {args.cluster}: copies data class {plan.data_class} to {region}",
            assume_role_policy=pulumi.Output.all(self._account.id, source.bucket.arn).apply(
                lambda facts: replication_trust(*facts)
            ),
            tags=named(plan.tags, plan.replica_role),
            opts=child_options,
        )
        role_policy = aws.iam.RolePolicy(
            child,
            name="copy",
            role=role.name,
            policy=pulumi.Output.all(source.bucket.arn, source.key.arn, replica.bucket.arn, replica.key.arn).apply(
                lambda facts: replication_policy(*facts, places=(args.region, region))
            ),
            opts=child_options,
        )
        encrypted = {"replica_kms_key_id": replica.key.arn}
        aws.s3.BucketReplicationConfig(
            child,
            bucket=source.bucket.id,
            role=role.arn,
            rules=[
                {
                    "id": region,
                    "status": "Enabled",
                    "priority": 0,
                    "filter": {"prefix": ""},
                    "delete_marker_replication": {"status": "Disabled"},
                    "source_selection_criteria": {"sse_kms_encrypted_objects": {"status": "Enabled"}},
                    "destination": {"bucket": replica.bucket.arn, "encryption_configuration": encrypted},
                }
            ],
            # S3 refuses the rule unless both buckets have versioning, and replicates no object of a bucket with Object Lock
            # to a bucket without it.
            opts=pulumi.ResourceOptions(
                parent=self,
                protect=args.protect,
                depends_on=[*source.before_replication, *replica.before_replication, role_policy],
            ),
        )
        return replica.bucket
