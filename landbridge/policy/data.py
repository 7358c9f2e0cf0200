"""Policies of resources that hold data."""

from collections.abc import Iterator

from landbridge.catalog.aws.impact import impact_facts
from landbridge.policy.registry import Level, policy
from landbridge.policy.resource import Resource, as_list, as_map, maps, on, statements
from landbridge.policy.settings import PolicySettings

BUCKET, ACL, POLICY = "aws:s3/bucket:Bucket", "aws:s3/bucketAcl:BucketAcl", "aws:s3/bucketPolicy:BucketPolicy"
BLOCK = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
SSE = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
LUSTRE, EFS = "aws:fsx/lustreFileSystem:LustreFileSystem", "aws:efs/fileSystem:FileSystem"
VOLUME, DATABASE, CLUSTER = "aws:ebs/volume:Volume", "aws:rds/instance:Instance", "aws:rds/cluster:Cluster"
KEY, LOGS = "aws:kms/key:Key", "aws:cloudwatch/logGroup:LogGroup"
_ENCRYPTED = {VOLUME: "encrypted", EFS: "encrypted", DATABASE: "storageEncrypted", CLUSTER: "storageEncrypted"}
_COPIES = ("aws:ec2/amiCopy:AmiCopy", "aws:ebs/snapshotCopy:SnapshotCopy")
_FSX = (LUSTRE, "aws:fsx/openZfsFileSystem:OpenZfsFileSystem", "aws:fsx/ontapFileSystem:OntapFileSystem")


@policy(*_ENCRYPTED, *_COPIES)
def encrypted_at_rest(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """Volumes, file systems, databases and copies of images are encrypted.

    Source: AWS Foundational Security Best Practices EC2.3, EFS.1, RDS.3.
    """
    key = _ENCRYPTED.get(resource.type, "encrypted")
    if not on(resource.props.get(key)):
        yield f"{key} is not on"


@policy(*_FSX, EFS, level=Level.ADVISORY)
def own_key(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """A file system has a KMS key of the organisation, which can disable it. Scratch types of Lustre cannot have one.

    Source: FSx for Lustre User Guide, "Encrypting data at rest".
    """
    if "SCRATCH" in str(resource.props.get("deploymentType") or ("SCRATCH_1" if resource.type == LUSTRE else "")):
        return
    if "kmsKeyId" not in resource.props:
        yield "kmsKeyId is not given: AWS's own key is used"


@policy(SSE)
def bucket_key(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """Objects are encrypted with a KMS key.

    Source: S3 User Guide, "Using server-side encryption with AWS KMS keys".
    """
    for index, rule in enumerate(maps(resource.props.get("rules"))):
        default = as_map(rule.get("applyServerSideEncryptionByDefault"))
        if not str(default.get("sseAlgorithm", "")).startswith("aws:kms"):
            yield f"rules[{index}].applyServerSideEncryptionByDefault.sseAlgorithm is not aws:kms"


@policy(BLOCK, ACL, BUCKET, POLICY)
def no_public_bucket(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """No bucket is public: by an ACL, by a bucket policy, or without the public access block.

    Source: S3 User Guide, "Blocking public access to your Amazon S3 storage"; S3.8 of the best practices.
    """
    if resource.type == BLOCK:
        for key in ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets"):
            if resource.props.get(key) is not True:
                yield f"{key} is not on"
    acl = resource.props.get("acl")
    if isinstance(acl, str) and acl not in ("private", "log-delivery-write", "bucket-owner-full-control"):
        yield f"acl is {acl}"
    if resource.type == POLICY:
        for statement in statements(resource.props.get("policy")):
            principal = statement.get("Principal")
            is_public = principal == "*" or "*" in as_list(as_map(principal).get("AWS"))
            if statement.get("Effect") == "Allow" and is_public and not statement.get("Condition"):
                yield f"policy: {statement.get('Sid') or 'a statement'} allows every principal"


@policy(POLICY)
def bucket_tls(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """A bucket's policy denies requests without TLS.

    Source: AWS Foundational Security Best Practices S3.5.
    """
    all_statements = list(statements(resource.props.get("policy")))
    denied = any(
        policy_statement.get("Effect") == "Deny"
        and str(as_map(as_map(policy_statement.get("Condition")).get("Bool")).get("aws:SecureTransport")).lower()
        == "false"
        for policy_statement in all_statements
    )
    if all_statements and not denied:
        yield "policy: nothing denies requests without TLS (aws:SecureTransport)"


@policy(KEY)
def key_rotation(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """A symmetric customer managed KMS key is rotated.

    Source: AWS Foundational Security Best Practices KMS.4.
    """
    symmetric = str(resource.props.get("customerMasterKeySpec") or "SYMMETRIC_DEFAULT") == "SYMMETRIC_DEFAULT"
    if symmetric and not on(resource.props.get("enableKeyRotation")):
        yield "enableKeyRotation is not on"


@policy(DATABASE)
def closed_database(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """A database has no public address.

    Source: AWS Foundational Security Best Practices RDS.2.
    """
    if on(resource.props.get("publiclyAccessible")):
        yield "publiclyAccessible is on"


@policy(LOGS, level=Level.ADVISORY)
def logs_end(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """A log group has a retention time.

    Source: CloudWatch Logs User Guide, "Change log data retention".
    """
    if not resource.props.get("retentionInDays"):
        yield "retentionInDays is not given: logs are never deleted, and are billed"


@policy(config=("protect",))
def protected_data(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """Resources that hold data have `protect` or `retainOnDelete`.

    Source: Landbridge: landbridge/catalog/impact.yaml lists the types that hold data; Pulumi, "protect",
    "retainOnDelete".
    """
    type_impact = impact_facts().types.get(resource.type)
    if (
        not settings.protect
        or type_impact is None
        or not (type_impact.holds and type_impact.guarded)
        or resource.protect is None
    ):
        return
    if not resource.protect and not resource.retained:
        yield f"holds {type_impact.holds}, and neither protect nor retainOnDelete is set"
