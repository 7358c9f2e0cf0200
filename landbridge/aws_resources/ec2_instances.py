"""EC2: instances, their images, volumes, snapshots, launch templates and placement groups."""

from collections.abc import Iterable

from landbridge.aws_api.client import AwsClient
from landbridge.aws_resources.resource_type import Inputs, Item, ResourceType, Sweep
from landbridge.aws_resources.search import Ec2Listing, agrees, cluster_tag, delete_by, ids_of_tagged

_STATES = {"Name": "instance-state-name", "Values": ["pending", "running", "stopping", "stopped"]}


def _instances(aws: AwsClient, cluster: str) -> Iterable[Item]:
    tag = cluster_tag(cluster)
    filters = [{"Name": f"tag:{tag['Key']}", "Values": [cluster]}, _STATES]
    reservations = aws.all("ec2", "describe_instances", "Reservations", Filters=filters)
    return [instance for reservation in reservations for instance in reservation["Instances"]]


def _recover_instance(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the host with the inputs' tags at their private address, which only one instance can have."""
    reservations = aws.all("ec2", "describe_instances", "Reservations", Filters=[_STATES])
    instances = [instance for reservation in reservations for instance in reservation["Instances"]]
    return ids_of_tagged(instances, inputs, {"privateIp": "PrivateIpAddress", "subnetId": "SubnetId"}, "InstanceId")


def _recover_volume_attachment(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the attachment of this volume to this instance. The provider reads it by device, volume and instance."""
    volumes = aws.ask("ec2", "describe_volumes", VolumeIds=[inputs["volumeId"]])["Volumes"]
    pairs = {"instanceId": "InstanceId", "deviceName": "Device"}
    attachments = [
        attachment
        for volume in volumes
        for attachment in volume.get("Attachments") or ()
        if agrees(inputs, attachment, pairs)
    ]
    return [f"{each['Device']}:{each['VolumeId']}:{each['InstanceId']}" for each in attachments]


def _snapshots(aws: AwsClient, cluster: str) -> Iterable[Item]:
    # A snapshot of an image is deleted with the image.
    images = aws.ask("ec2", "describe_images", Owners=["self"])["Images"]
    disks = [disk.get("Ebs", {}) for image in images for disk in image.get("BlockDeviceMappings") or ()]
    of_images = {disk.get("SnapshotId") for disk in disks}
    snapshots = _SNAPSHOTS.in_states("pending", "completed")(aws, cluster)
    return [snapshot for snapshot in snapshots if snapshot["SnapshotId"] not in of_images]


def _delete_image(aws: AwsClient, item: Item) -> None:
    # Its snapshots are billed.
    aws.ask("ec2", "deregister_image", ImageId=item["ImageId"], DeleteAssociatedSnapshots=True)


_IMAGES = Ec2Listing("describe_images", "Images", "ImageId", pages=False)
_VOLUMES = Ec2Listing("describe_volumes", "Volumes", "VolumeId")
_SNAPSHOTS = Ec2Listing("describe_snapshots", "Snapshots", "SnapshotId")
_TEMPLATES = Ec2Listing("describe_launch_templates", "LaunchTemplates", "LaunchTemplateId")
_GROUPS = Ec2Listing("describe_placement_groups", "PlacementGroups", "GroupName", pages=False)

RESOURCE_TYPES = (
    ResourceType(
        "instance", "aws:ec2/instance:Instance", recover=_recover_instance, billed=True,
        sweep=Sweep(10, _instances, "InstanceId",
                    delete_by("ec2", "terminate_instances", "InstanceIds", "InstanceId", many=True))),
    # An image can be built again by its pipeline.
    ResourceType(
        "image", billed=True,
        sweep=Sweep(20, _IMAGES.in_states("available", "pending", "failed"), "ImageId", _delete_image)),
    ResourceType(
        "EBS volume", "aws:ebs/volume:Volume", billed=True, holds_data=True,
        recover=_VOLUMES.recover({"availabilityZone": "AvailabilityZone", "kmsKeyId": "KmsKeyId"}),
        sweep=Sweep(260, _VOLUMES.in_states("creating", "available"), "VolumeId",
                    delete_by("ec2", "delete_volume", "VolumeId", "VolumeId"))),
    ResourceType("volume attachment", "aws:ec2/volumeAttachment:VolumeAttachment", recover=_recover_volume_attachment),
    ResourceType(
        "EBS snapshot", billed=True, holds_data=True,
        sweep=Sweep(270, _snapshots, "SnapshotId", delete_by("ec2", "delete_snapshot", "SnapshotId", "SnapshotId"))),
    ResourceType(
        "launch template", "aws:ec2/launchTemplate:LaunchTemplate",
        recover=_TEMPLATES.recover({"name": "LaunchTemplateName"}),
        sweep=Sweep(280, _TEMPLATES.in_states(), "LaunchTemplateId",
                    delete_by("ec2", "delete_launch_template", "LaunchTemplateId", "LaunchTemplateId"))),
    ResourceType(
        "placement group", "aws:ec2/placementGroup:PlacementGroup",
        recover=_GROUPS.recover({"name": "GroupName", "strategy": "Strategy"}),
        sweep=Sweep(290, _GROUPS.in_states("pending", "available"), "GroupName",
                    delete_by("ec2", "delete_placement_group", "GroupName", "GroupName"))),
)  # fmt: skip
