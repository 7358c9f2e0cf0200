"""Finding a lost thing in a service that lists what it has, without a filter by tag."""

from collections.abc import Callable, Mapping
from typing import Any

from landbridge.live.aws import AwsClient
from landbridge.live.recovery.match import Find, Inputs, Item, ours, same, tags_of, value_at


def listed(
    service: str,
    operation: str,
    key: str,
    id_path: str,
    pairs: Mapping[str, str],
    *,
    asked: Mapping[str, str] | None = None,
    given: Mapping[str, Any] | None = None,
    tags: str | None = None,
    told: Callable[[AwsClient, Item], Mapping[str, str]] | None = None,
    pages: bool = True,
) -> Find:
    """Things that are alike in `pairs`, each of which has to be known: a name of the program's own choosing is one.

    `asked` are inputs for the question's parameters, `given` parameters that are always the same. With `tags`, the key under
    which an item has its tags, or `told`, which asks for them, it also has to bear those of the inputs.
    """

    def find(aws: AwsClient, inputs: Inputs) -> list[str]:
        parameters = {**(given or {}), **{name: inputs[of] for name, of in (asked or {}).items()}}
        items = (
            aws.all(service, operation, key, **parameters) if pages else aws.ask(service, operation, **parameters)[key]
        )
        alike = [one for one in items if _is(inputs, one, pairs, tags)]
        return [str(value_at(one, id_path)) for one in alike if told is None or ours(inputs, told(aws, one))]

    return find


def _is(inputs: Inputs, item: Item, pairs: Mapping[str, str], tags: str | None) -> bool:
    if any(key not in inputs for key in pairs) or not same(inputs, item, pairs):
        return False
    ended = {str(item.get(word, "")).upper() for word in ("Status", "status", "State", "DBInstanceStatus")}
    return not ended & {"DELETING", "DELETED", "FAILED"} and (tags is None or ours(inputs, tags_of(item, tags)))


def tags_told(service: str, parameter: str, arn: str, key: str) -> Callable[[AwsClient, Item], Mapping[str, str]]:
    """A service's own answer to which tags something bears: `parameter` takes the ARN, which the item has under `arn`."""

    def ask(aws: AwsClient, item: Item) -> Mapping[str, str]:
        return tags_of(aws.ask(service, "list_tags_for_resource", **{parameter: item[arn]}), key)

    return ask


def relation(operation: str, key: str) -> Find:
    """An attachment of a transit gateway and one of its route tables; the id is the provider's own."""

    def find(aws: AwsClient, inputs: Inputs) -> list[str]:
        table, attachment = inputs["transitGatewayRouteTableId"], inputs["transitGatewayAttachmentId"]
        filters = [{"Name": "transit-gateway-attachment-id", "Values": [attachment]}]
        found = aws.all("ec2", operation, key, TransitGatewayRouteTableId=table, Filters=filters)
        return [f"{table}_{attachment}"] if found else []

    return find


def accepted_peering(aws: AwsClient, inputs: Inputs) -> list[str]:
    """A peering that this side has accepted; its id is the accepter's."""
    wanted = str(inputs["transitGatewayAttachmentId"])
    filters = [{"Name": "transit-gateway-attachment-id", "Values": [wanted]}]
    key = "TransitGatewayPeeringAttachments"
    items = aws.all("ec2", "describe_transit_gateway_peering_attachments", key, Filters=filters)
    return [wanted] if any(one["State"] == "available" for one in items) else []


def transit_route(aws: AwsClient, inputs: Inputs) -> list[str]:
    """A static route of a transit gateway; the id is the provider's own."""
    table, cidr = inputs["transitGatewayRouteTableId"], inputs["destinationCidrBlock"]
    filters = [{"Name": "type", "Values": ["static"]}, {"Name": "route-search.exact-match", "Values": [cidr]}]
    found = aws.ask("ec2", "search_transit_gateway_routes", TransitGatewayRouteTableId=table, Filters=filters)["Routes"]
    return [f"{table}_{cidr}"] if found else []


def gateway_association(aws: AwsClient, inputs: Inputs) -> list[str]:
    """A transit gateway at a Direct Connect gateway; the id is the provider's own."""
    gateway, hub = inputs["dxGatewayId"], inputs["associatedGatewayId"]
    key = "directConnectGatewayAssociations"
    items = aws.all(
        "directconnect", "describe_direct_connect_gateway_associations", key, directConnectGatewayId=gateway
    )
    there = [one for one in items if value_at(one, "associatedGateway.id") == hub]
    return [f"ga-{gateway}{hub}"] if there else []


def zone(aws: AwsClient, inputs: Inputs) -> list[str]:
    """A private zone of this name with the cluster's tags."""
    wanted = str(inputs["name"]).rstrip(".") + "."
    found = []
    for one in aws.all("route53", "list_hosted_zones", "HostedZones"):
        number = str(one["Id"]).rsplit("/", 1)[-1]
        if one["Name"] == wanted:
            told = aws.ask("route53", "list_tags_for_resource", ResourceType="hostedzone", ResourceId=number)
            found += [number] if ours(inputs, tags_of(told["ResourceTagSet"])) else []
    return found


def record(aws: AwsClient, inputs: Inputs) -> list[str]:
    """A record of this name and kind in the zone; the id is the provider's own."""
    records = aws.all("route53", "list_resource_record_sets", "ResourceRecordSets", HostedZoneId=inputs["zoneId"])
    name = str(inputs["name"]).rstrip(".")
    there = [one for one in records if str(one["Name"]).rstrip(".") == name and one["Type"] == inputs["type"]]
    return [f"{inputs['zoneId']}_{name}_{inputs['type']}"] if there else []


def model_group(aws: AwsClient, inputs: Inputs) -> list[str]:
    """A group of models of this name."""
    name = inputs["modelPackageGroupName"]
    aws.ask("sagemaker", "describe_model_package_group", ModelPackageGroupName=name)
    return [str(name)]


def image_component(aws: AwsClient, inputs: Inputs) -> list[str]:
    """The first build of this version of a component."""
    key = "componentVersionList"
    items = aws.all("imagebuilder", "list_components", key, owner="Self")
    versions = [str(one["arn"]) for one in items if same(inputs, one, {"name": "name", "version": "version"})]
    return [arn if arn.count("/") > 2 else f"{arn}/1" for arn in versions]


def budget_action(aws: AwsClient, inputs: Inputs) -> list[str]:
    """An action of this kind of a budget; the id is the provider's own."""
    caller = aws.ask("sts", "get_caller_identity")
    account, partition = str(inputs.get("accountId") or caller["Account"]), caller["Arn"].split(":")[1]
    budget = inputs["budgetName"]
    items = aws.all("budgets", "describe_budget_actions_for_budget", "Actions", AccountId=account, BudgetName=budget)
    pairs = {"actionType": "ActionType", "notificationType": "NotificationType"}
    found = []
    for one in items:
        own = f"arn:{partition}:budgets::{account}:budget/{budget}/action/{one['ActionId']}"
        tags = tags_told("budgets", "ResourceARN", "arn", "ResourceTags")(aws, {"arn": own})
        if same(inputs, one, pairs) and ours(inputs, tags):
            found.append(f"{account}:{one['ActionId']}:{budget}")
    return found
