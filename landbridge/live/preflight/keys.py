"""Checks of the KMS key that encrypts the nodes' disks, if the account has chosen one."""

from collections.abc import Iterator

from landbridge.aws_api.refusal import AwsRefusal, RefusalKind
from landbridge.findings import Finding
from landbridge.live.preflight.registry import check
from landbridge.live.preflight.scene import Scene, error, info


@check("the key of the disks", "ec2:GetEbsDefaultKmsKeyId", "kms:DescribeKey")
def disk_key(scene: Scene) -> Iterator[Finding]:
    """The account's default key for volumes is usable.

    Nodes' disks are encrypted with it. With a disabled key, instances terminate right after their start, and the only
    reason that EC2 reports is Client.InternalError.
    Source: EBS User Guide, "EBS encryption" (default key); EC2 User Guide, "Instance terminates immediately".
    """
    if not scene.environment.aws.pools:
        return
    key = str(scene.aws.ask("ec2", "get_ebs_default_kms_key_id")["KmsKeyId"])
    if key.endswith("alias/aws/ebs"):
        return
    try:
        key_metadata = scene.aws.ask("kms", "describe_key", KeyId=key)["KeyMetadata"]
    except AwsRefusal as refused:
        if refused.kind is not RefusalKind.ANSWER:
            raise
        yield error(
            "live-disk-key", f"the default KMS key of EBS, {key}, does not exist: {refused.message}", ("aws", "pools")
        )
        return
    if key_metadata["KeyState"] != "Enabled":
        message = f"the default KMS key of EBS, {key}, is {key_metadata['KeyState']}: nodes would terminate right after their start"
        yield error("live-disk-key", message, ("aws", "pools"), f"aws kms enable-key --key-id {key}")
    elif key_metadata.get("KeyManager") == "CUSTOMER":
        message = (
            f"disks are encrypted with {key}: its policy must let the launching role create grants (kms:CreateGrant)"
        )
        yield info("live-disk-key", message, ("aws", "pools"))
