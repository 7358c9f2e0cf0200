"""Route 53: hosted zones and their records."""

from collections.abc import Iterator

from landbridge.aws_api.client import AwsClient
from landbridge.aws_resources.resource_type import Inputs, Item, ResourceType, Sweep
from landbridge.aws_resources.search import bears_tags, cluster_tag, tags_of


def _tags(aws: AwsClient, zone_id: str) -> Item:
    answer = aws.ask("route53", "list_tags_for_resource", ResourceType="hostedzone", ResourceId=zone_id)
    tags: Item = answer["ResourceTagSet"]
    return tags


def _recover_zone(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the hosted zones of this name with the inputs' tags."""
    name = str(inputs["name"]).rstrip(".") + "."
    zones = [zone for zone in aws.all("route53", "list_hosted_zones", "HostedZones") if zone["Name"] == name]
    zone_ids = [str(zone["Id"]).rsplit("/", 1)[-1] for zone in zones]
    return [zone_id for zone_id in zone_ids if bears_tags(inputs, tags_of(_tags(aws, zone_id)))]


def _recover_record(aws: AwsClient, inputs: Inputs) -> list[str]:
    """Return the record of this name and type in the zone. The provider's id joins all three."""
    records = aws.all("route53", "list_resource_record_sets", "ResourceRecordSets", HostedZoneId=inputs["zoneId"])
    name = str(inputs["name"]).rstrip(".")
    same = [record for record in records if (str(record["Name"]).rstrip("."), record["Type"]) == (name, inputs["type"])]
    return [f"{inputs['zoneId']}_{name}_{inputs['type']}"] if same else []


def _private_zones(aws: AwsClient, cluster: str) -> Iterator[Item]:
    for zone in aws.all("route53", "list_hosted_zones", "HostedZones"):
        if not zone["Config"]["PrivateZone"]:
            continue
        zone_id = str(zone["Id"]).rpartition("/")[2]
        tags = _tags(aws, zone_id)["Tags"]
        if cluster_tag(cluster) in tags:
            yield {**zone, "Id": zone_id, "Tags": tags}


def _delete_zone(aws: AwsClient, item: Item) -> None:
    # Route 53 deletes a zone that has only its own NS and SOA records.
    records = aws.all("route53", "list_resource_record_sets", "ResourceRecordSets", HostedZoneId=item["Id"])
    changes = [
        {"Action": "DELETE", "ResourceRecordSet": record} for record in records if record["Type"] not in ("NS", "SOA")
    ]
    if changes:
        batch = {"Changes": changes}
        aws.ask("route53", "change_resource_record_sets", HostedZoneId=item["Id"], ChangeBatch=batch)
    aws.ask("route53", "delete_hosted_zone", Id=item["Id"])


RESOURCE_TYPES = (
    # Other programs can have added records.
    ResourceType(
        "hosted zone", "aws:route53/zone:Zone", recover=_recover_zone, billed=True, holds_data=True,
        sweep=Sweep(170, _private_zones, "Id", _delete_zone)),
    ResourceType("DNS record", "aws:route53/record:Record", recover=_recover_record),
)  # fmt: skip
