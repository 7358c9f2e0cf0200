"""KMS keys of an instance's disks: EC2 accepts a launch whose caller may not use them, and then ends the instance.

Source: EC2 User Guide, "Instance terminates immediately" (reasons); EBS User Guide, "Amazon EBS encryption" (which key a
disk has), 2026-11-29.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from moto.backends import get_backend

from landbridge.ops.iam import Document, Policies, evaluate
from landbridge.ops.iam.run_instances import Ec2Account, disk_key_requests
from sandbox.aws_emulator.ec2 import images
from sandbox.aws_emulator.emulator_state import EmulatorState
from sandbox.aws_emulator.identity import principals
from sandbox.aws_emulator.instances.moto_instances import ACCOUNT

#: Alias of the key with which AWS encrypts volumes that name no other.
AWS_KEY = "alias/aws/ebs"


def failure(emulator: EmulatorState, response: Any, launch: Mapping[str, Any]) -> str:
    """Return the reason with which EC2 ends the instances of a launch; empty if their disks can be created."""
    backend, role = response.ec2_backend, principals.session_role(response.region, response.access_key)
    for arn in _keys(emulator, backend, launch):
        key = get_backend("kms")[ACCOUNT][backend.region_name].keys.get(arn.rpartition("/")[2])
        if key is None or key.key_state != "Enabled":
            return "Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state"
        if role is None:
            continue
        policies = Policies(
            principals.documents(role), Document.of("key policy", str(key.policy)), resource_decides=True
        )
        account = Ec2Account(ACCOUNT, backend.region_name, response.partition)
        if not all(evaluate(request, policies).allowed for request in disk_key_requests(role.arn, key.arn, account)):
            return "Client.InternalError: Client error on launch"
    return ""


def default_key(backend: Any) -> str:
    """Return the ARN of the account's default key in the region if it is customer managed, else an empty text.

    moto makes AWS's own key with the first encrypted volume, and then has it as the default key.
    """
    kms, arn = get_backend("kms")[ACCOUNT][backend.region_name], str(backend.default_kms_key_id)
    return "" if kms.alias_exists(AWS_KEY) and kms.describe_key(AWS_KEY).arn == arn else arn


def _keys(emulator: EmulatorState, backend: Any, launch: Mapping[str, Any]) -> Iterator[str]:
    """Yield the customer managed keys of the disks: the parameter's, else the snapshot's, else the account's default."""
    image = images.known(emulator, backend.region_name).get(str(launch["ImageId"]), {})
    disks = {mapping["DeviceName"]: mapping.get("Ebs") or {} for mapping in image.get("BlockDeviceMappings", ())}
    requested = {mapping["DeviceName"]: mapping.get("Ebs") or {} for mapping in launch.get("BlockDeviceMappings") or ()}
    for device in {**disks, **requested}:
        disk = {**disks.get(device, {}), **requested.get(device, {})}
        is_encrypted = str(disk.get("Encrypted", "")).lower() == "true" or backend.ebs_encryption_by_default
        key = str(disk.get("KmsKeyId") or (is_encrypted and default_key(backend)) or "")
        if key and not key.endswith(AWS_KEY):
            yield key
