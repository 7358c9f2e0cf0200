"""Finding lost things of the services in AWS: hosts, their volumes and kept addresses, and the database."""

from landbridge.live.answers import AwsRefusal
from landbridge.live.aws import AwsClient
from landbridge.live.recovery.match import Find, Inputs, ours, same, tags_of

_LIVING = ("pending", "running", "stopping", "stopped")


def instance(aws: AwsClient, inputs: Inputs) -> list[str]:
    """A host with the cluster's tags at this address, which only one can have."""
    filters = [{"Name": "instance-state-name", "Values": list(_LIVING)}]
    groups = aws.all("ec2", "describe_instances", "Reservations", Filters=filters)
    pairs = {"privateIp": "PrivateIpAddress", "subnetId": "SubnetId"}
    every = [one for group in groups for one in group["Instances"]]
    return [str(one["InstanceId"]) for one in every if ours(inputs, tags_of(one)) and same(inputs, one, pairs)]


def attachment(aws: AwsClient, inputs: Inputs) -> list[str]:
    """This volume in this host, at this place: there is at most one. Read by device, volume and host."""
    volumes = aws.ask("ec2", "describe_volumes", VolumeIds=[inputs["volumeId"]])["Volumes"]
    pairs = {"instanceId": "InstanceId", "deviceName": "Device"}
    there = [one for volume in volumes for one in volume.get("Attachments") or () if same(inputs, one, pairs)]
    return [f"{one['Device']}:{one['VolumeId']}:{one['InstanceId']}" for one in there]


def reservation(aws: AwsClient, inputs: Inputs) -> list[str]:
    """This range of this subnet: no two overlap."""
    told = aws.ask("ec2", "get_subnet_cidr_reservations", SubnetId=inputs["subnetId"])
    every = told.get("SubnetIpv4CidrReservations") or ()
    return [str(one["SubnetCidrReservationId"]) for one in every if same(inputs, one, {"cidrBlock": "Cidr"})]


def rds(operation: str, key: str, name_key: str, arn_key: str, name: str = "name") -> Find:
    """Something of RDS's under this name, with the cluster's tags."""

    def find(aws: AwsClient, inputs: Inputs) -> list[str]:
        try:
            items = aws.ask("rds", operation, **{name_key: inputs[name]})[key]
        except AwsRefusal as refused:
            if "NotFound" in refused.code:
                return []
            raise
        found = []
        for one in items:
            told = {"Tags": aws.ask("rds", "list_tags_for_resource", ResourceName=one[arn_key])["TagList"]}
            if ours(inputs, tags_of(told)) and one.get("DBInstanceStatus") != "deleting":
                found.append(str(one[name_key]))
        return found

    return find
