"""The resource types that only some environments have: leased lines, names, images, models."""

from collections.abc import Mapping

from landbridge.live.recovery import listed as by
from landbridge.live.recovery.listed import listed, tags_told
from landbridge.live.recovery.match import Find, ec2


def _image_part(operation: str, key: str, **given: str) -> Find:
    return listed("imagebuilder", operation, key, "arn", {"name": "name"}, given=given, tags="tags")


def _resolver(operation: str, key: str, pairs: Mapping[str, str]) -> Find:
    return listed("route53resolver", operation, key, "Id", pairs)


_COSTS = ("ce", "ResourceArn")
_ANYWHERE = ("rolesanywhere", "resourceArn")

KINDS: Mapping[str, Find] = {
    "aws:budgets/budgetAction:BudgetAction": by.budget_action,
    "aws:costexplorer/anomalyMonitor:AnomalyMonitor": listed(
        "ce", "get_anomaly_monitors", "AnomalyMonitors", "MonitorArn", {"name": "MonitorName"},
        told=tags_told(*_COSTS, "MonitorArn", "ResourceTags")),
    "aws:costexplorer/anomalySubscription:AnomalySubscription": listed(
        "ce", "get_anomaly_subscriptions", "AnomalySubscriptions", "SubscriptionArn", {"name": "SubscriptionName"},
        told=tags_told(*_COSTS, "SubscriptionArn", "ResourceTags")),
    "aws:directconnect/gateway:Gateway": listed(
        "directconnect", "describe_direct_connect_gateways", "directConnectGateways", "directConnectGatewayId",
        {"name": "directConnectGatewayName", "amazonSideAsn": "amazonSideAsn"}),
    "aws:directconnect/gatewayAssociation:GatewayAssociation": by.gateway_association,
    "aws:directconnect/transitVirtualInterface:TransitVirtualInterface": listed(
        "directconnect", "describe_virtual_interfaces", "virtualInterfaces", "virtualInterfaceId",
        {"name": "virtualInterfaceName", "vlan": "vlan"}, asked={"connectionId": "connectionId"}, pages=False),
    "aws:ec2transitgateway/peeringAttachment:PeeringAttachment": ec2(
        "describe_transit_gateway_peering_attachments", "TransitGatewayPeeringAttachments", "TransitGatewayAttachmentId",
        {"transitGatewayId": "RequesterTgwInfo.TransitGatewayId", "peerTransitGatewayId": "AccepterTgwInfo.TransitGatewayId"}),
    "aws:ec2transitgateway/peeringAttachmentAccepter:PeeringAttachmentAccepter": by.accepted_peering,
    "aws:ec2transitgateway/route:Route": by.transit_route,
    "aws:ec2transitgateway/routeTable:RouteTable": ec2(
        "describe_transit_gateway_route_tables", "TransitGatewayRouteTables", "TransitGatewayRouteTableId",
        {"transitGatewayId": "TransitGatewayId"}),
    "aws:ec2transitgateway/routeTableAssociation:RouteTableAssociation": by.relation(
        "get_transit_gateway_route_table_associations", "Associations"),
    "aws:ec2transitgateway/routeTablePropagation:RouteTablePropagation": by.relation(
        "get_transit_gateway_route_table_propagations", "TransitGatewayRouteTablePropagations"),
    "aws:imagebuilder/component:Component": by.image_component,
    "aws:imagebuilder/distributionConfiguration:DistributionConfiguration": _image_part(
        "list_distribution_configurations", "distributionConfigurationSummaryList"),
    "aws:imagebuilder/imagePipeline:ImagePipeline": _image_part("list_image_pipelines", "imagePipelineList"),
    "aws:imagebuilder/imageRecipe:ImageRecipe": _image_part("list_image_recipes", "imageRecipeSummaryList", owner="Self"),
    "aws:imagebuilder/infrastructureConfiguration:InfrastructureConfiguration": _image_part(
        "list_infrastructure_configurations", "infrastructureConfigurationSummaryList"),
    "aws:imagebuilder/lifecyclePolicy:LifecyclePolicy": _image_part(
        "list_lifecycle_policies", "lifecyclePolicySummaryList"),
    "aws:rolesanywhere/profile:Profile": listed(
        "rolesanywhere", "list_profiles", "profiles", "profileId", {"name": "name"},
        told=tags_told(*_ANYWHERE, "profileArn", "tags")),
    "aws:rolesanywhere/trustAnchor:TrustAnchor": listed(
        "rolesanywhere", "list_trust_anchors", "trustAnchors", "trustAnchorId", {"name": "name"},
        told=tags_told(*_ANYWHERE, "trustAnchorArn", "tags")),
    "aws:route53/record:Record": by.record,
    "aws:route53/resolverEndpoint:ResolverEndpoint": _resolver(
        "list_resolver_endpoints", "ResolverEndpoints", {"name": "Name", "direction": "Direction"}),
    "aws:route53/resolverQueryLogConfig:ResolverQueryLogConfig": _resolver(
        "list_resolver_query_log_configs", "ResolverQueryLogConfigs", {"name": "Name"}),
    "aws:route53/resolverQueryLogConfigAssociation:ResolverQueryLogConfigAssociation": _resolver(
        "list_resolver_query_log_config_associations", "ResolverQueryLogConfigAssociations",
        {"resolverQueryLogConfigId": "ResolverQueryLogConfigId", "resourceId": "ResourceId"}),
    "aws:route53/resolverRule:ResolverRule": _resolver("list_resolver_rules", "ResolverRules", {"name": "Name"}),
    "aws:route53/resolverRuleAssociation:ResolverRuleAssociation": _resolver(
        "list_resolver_rule_associations", "ResolverRuleAssociations",
        {"resolverRuleId": "ResolverRuleId", "vpcId": "VPCId"}),
    "aws:route53/zone:Zone": by.zone,
    "aws:sagemaker/modelPackageGroup:ModelPackageGroup": by.model_group,
}  # fmt: skip
