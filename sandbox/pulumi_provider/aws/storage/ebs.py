"""EBS volumes and volume attachments."""

from typing import Any

from botocore.exceptions import ClientError

from sandbox.pulumi_provider.aws.base import (
    AwsResource,
    Bag,
    CloudFormationType,
    error_code,
    first_or_none,
    missing,
    tag_list,
)
from sandbox.pulumi_provider.aws.compute.instances import InstanceResource
from sandbox.pulumi_provider.aws.ec2_base import Ec2Resource

_WORDS = {
    "availabilityZone": "AvailabilityZone",
    "size": "Size",
    "type": "VolumeType",
    "iops": "Iops",
    "throughput": "Throughput",
    "encrypted": "Encrypted",
    "kmsKeyId": "KmsKeyId",
    "snapshotId": "SnapshotId",
}


class VolumeResource(Ec2Resource):
    token = "aws:ebs/volume:Volume"
    cloudformation = CloudFormationType("AWS::EC2::Volume", names={"type": "VolumeType"})
    replaces = frozenset({"availabilityZone", "encrypted", "kmsKeyId", "snapshotId", "multiAttachEnabled"})
    resource_type = "volume"
    describe = ("describe_volumes", "Volumes", "VolumeIds")

    def create(self, news: Bag) -> tuple[str, Bag]:
        parameters = {word: news[key] for key, word in _WORDS.items() if key in news}
        id_ = self.ec2.create_volume(**parameters, **self.tagging(news))["VolumeId"]
        return id_, {"arn": self.arn_of(id_)}

    def observed(self, item: Any) -> Bag:
        return {key: item[word] for key, word in _WORDS.items() if item.get(word) not in (None, "")}

    def read(self, id_: str, state: Bag) -> Bag | None:
        seen = super().read(id_, state)
        if (
            seen is not None
            and str(seen.get("kmsKeyId", "")).rpartition("/")[2] == str(state.get("kmsKeyId", "")).rpartition("/")[2]
        ):
            seen |= {"kmsKeyId": state["kmsKeyId"]} if "kmsKeyId" in state else {}
        return seen

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        modified = {key: _WORDS[key] for key in ("size", "type", "iops", "throughput") if key in changed}
        if modified:
            self.ec2.modify_volume(VolumeId=id_, **{word: news[key] for key, word in modified.items() if key in news})
        other_changes = changed - set(modified) - {"finalSnapshot"}
        super().update(id_, state, news, other_changes)
        return {"arn": state["arn"]} if "arn" in state else {}

    def delete(self, id_: str, state: Bag) -> None:
        if self.describes(id_) is None:
            return
        if state.get("finalSnapshot"):
            tags = [{"ResourceType": "snapshot", "Tags": tag_list(state["tags"])}] if state.get("tags") else []
            self.ec2.create_snapshot(VolumeId=id_, Description=f"the last of {id_}", TagSpecifications=tags)
        self.ec2.delete_volume(VolumeId=id_)


class VolumeAttachmentResource(AwsResource):
    """Attachment of an EBS volume to an instance; it is detached before the volume or the instance is deleted."""

    token = "aws:ec2/volumeAttachment:VolumeAttachment"
    cloudformation = CloudFormationType("AWS::EC2::VolumeAttachment", names={"deviceName": "Device"})
    replaces = frozenset({"deviceName", "instanceId", "volumeId"})

    def create(self, news: Bag) -> tuple[str, Bag]:
        volume, instance, device = news["volumeId"], news["instanceId"], news["deviceName"]
        self.ec2.attach_volume(VolumeId=volume, InstanceId=instance, Device=device)
        return f"vai-{volume.removeprefix('vol-')}-{instance.removeprefix('i-')}", {}

    def _attachment(self, state: Bag) -> Any | None:
        volume = first_or_none(self.ec2.describe_volumes, "Volumes", VolumeIds=[state["volumeId"]])
        attachments = volume["Attachments"] if volume else []
        return next((row for row in attachments if row["InstanceId"] == state["instanceId"]), None)

    def read(self, id_: str, state: Bag) -> Bag | None:
        attachment = self._attachment(state)
        return None if attachment is None else {"deviceName": attachment["Device"]}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        other_changes = changed - {"stopInstanceBeforeDetaching", "forceDetach", "skipDestroy"}
        return super().update(id_, state, news, other_changes) if other_changes else {}

    def delete(self, id_: str, state: Bag) -> None:
        if self._attachment(state) is None:
            return
        instance_id = state["instanceId"]
        instance_resource = InstanceResource(self.cloud)
        if state.get("stopInstanceBeforeDetaching") and instance_resource.describes(instance_id) is not None:
            self.ec2.stop_instances(InstanceIds=[instance_id])
            instance_resource.until(instance_id, "stopped")
        try:
            self.ec2.detach_volume(VolumeId=state["volumeId"], InstanceId=instance_id, Device=state["deviceName"])
        except ClientError as error:
            if not missing(error) and error_code(error) != "IncorrectState":
                raise
