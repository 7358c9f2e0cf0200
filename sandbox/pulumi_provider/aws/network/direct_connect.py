"""Direct Connect gateways, associations with a transit gateway, and transit virtual interfaces."""

from typing import Any

from sandbox.pulumi_provider.aws.base import AwsResource, Bag, CloudFormationType, first_or_none, ignore_missing


class _DirectConnectResource(AwsResource):
    @property
    def directconnect(self) -> Any:
        return self.cloud.client("directconnect")

    def tags(self, news: Bag) -> dict[str, Any]:
        tags = [{"key": key, "value": value} for key, value in (news.get("tags") or {}).items()]
        return {"tags": tags} if tags else {}

    def arn(self, kind: str, id_: str) -> str:
        return self.cloud.arn("directconnect", f"{kind}/{id_}")

    def attachment(self, gateway: str, transit_gateway: str) -> str | None:
        """Return the id of the attachment that an association created at the transit gateway, or None."""
        filters = [
            {"Name": "resource-id", "Values": [gateway]},
            {"Name": "transit-gateway-id", "Values": [transit_gateway]},
        ]
        item = first_or_none(
            self.cloud.client("ec2").describe_transit_gateway_attachments, "TransitGatewayAttachments", Filters=filters
        )
        return None if item is None else str(item["TransitGatewayAttachmentId"])


class DirectConnectGatewayResource(_DirectConnectResource):
    token = "aws:directconnect/gateway:Gateway"
    cloudformation = CloudFormationType(
        "AWS::DirectConnect::DirectConnectGateway", names={"name": "DirectConnectGatewayName"}
    )
    replaces = frozenset({"amazonSideAsn"})
    autoname = "name"

    def create(self, news: Bag) -> tuple[str, Bag]:
        direct_connect_gateway = self.directconnect.create_direct_connect_gateway(
            directConnectGatewayName=news["name"], amazonSideAsn=int(news["amazonSideAsn"]), **self.tags(news)
        )["directConnectGateway"]
        id_ = direct_connect_gateway["directConnectGatewayId"]
        account = self.cloud.account
        return id_, {"arn": f"arn:aws:directconnect::{account}:dx-gateway/{id_}", "ownerAccountId": account}

    def read(self, id_: str, state: Bag) -> Bag | None:
        call = self.directconnect.describe_direct_connect_gateways
        item = first_or_none(call, "directConnectGateways", directConnectGatewayId=id_)
        if item is None:
            return None
        return {"name": item["directConnectGatewayName"], "amazonSideAsn": str(item["amazonSideAsn"])}

    def delete(self, id_: str, state: Bag) -> None:
        if self.read(id_, state) is not None:
            self.directconnect.delete_direct_connect_gateway(directConnectGatewayId=id_)


class DirectConnectGatewayAssociationResource(_DirectConnectResource):
    token = "aws:directconnect/gatewayAssociation:GatewayAssociation"
    cloudformation = CloudFormationType("AWS::DirectConnect::DirectConnectGatewayAssociation")
    replaces = frozenset({"dxGatewayId", "associatedGatewayId", "associatedGatewayOwnerAccountId", "proposalId"})

    def create(self, news: Bag) -> tuple[str, Bag]:
        gateway, transit_gateway = news["dxGatewayId"], news["associatedGatewayId"]
        association = self.directconnect.create_direct_connect_gateway_association(
            directConnectGatewayId=gateway,
            gatewayId=transit_gateway,
            addAllowedPrefixesToDirectConnectGateway=_prefixes(news["allowedPrefixes"]),
        )["directConnectGatewayAssociation"]
        return f"ga-{gateway}{transit_gateway}", {
            "dxGatewayAssociationId": association["associationId"],
            "associatedGatewayType": "transitGateway",
            "dxGatewayOwnerAccountId": self.cloud.account,
            "transitGatewayAttachmentId": self.attachment(gateway, transit_gateway),
        }

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = first_or_none(
            self.directconnect.describe_direct_connect_gateway_associations,
            "directConnectGatewayAssociations",
            directConnectGatewayId=state["dxGatewayId"],
            associatedGatewayId=state["associatedGatewayId"],
        )
        if item is None:
            return None
        return {"allowedPrefixes": [prefix["cidr"] for prefix in item["allowedPrefixesToDirectConnectGateway"]]}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if changed - {"allowedPrefixes"}:
            return super().update(id_, state, news, changed)
        before, after = set(state["allowedPrefixes"]), set(news["allowedPrefixes"])
        self.directconnect.update_direct_connect_gateway_association(
            associationId=state["dxGatewayAssociationId"],
            addAllowedPrefixesToDirectConnectGateway=_prefixes(sorted(after - before)),
            removeAllowedPrefixesToDirectConnectGateway=_prefixes(sorted(before - after)),
        )
        keys = ("dxGatewayAssociationId", "associatedGatewayType", "dxGatewayOwnerAccountId")
        return {key: state[key] for key in (*keys, "transitGatewayAttachmentId")}

    def delete(self, id_: str, state: Bag) -> None:
        if self.read(id_, state) is not None:
            ignore_missing(
                self.directconnect.delete_direct_connect_gateway_association,
                associationId=state["dxGatewayAssociationId"],
            )


def _prefixes(cidrs: list[str]) -> list[dict[str, str]]:
    return [{"cidr": cidr} for cidr in cidrs]


class TransitVirtualInterfaceResource(_DirectConnectResource):
    token = "aws:directconnect/transitVirtualInterface:TransitVirtualInterface"
    cloudformation = CloudFormationType(
        "AWS::DirectConnect::TransitVirtualInterface", names={"name": "VirtualInterfaceName"}
    )
    replaces = frozenset(
        {
            "addressFamily",
            "amazonAddress",
            "bgpAsn",
            "bgpAsnLong",
            "bgpAuthKey",
            "connectionId",
            "customerAddress",
            "dxGatewayId",
            "name",
            "vlan",
        }
    )

    def create(self, news: Bag) -> tuple[str, Bag]:
        parameters = {
            "virtualInterfaceName": news["name"],
            "vlan": news["vlan"],
            "mtu": news.get("mtu", 1500),
            "addressFamily": news["addressFamily"],
            "directConnectGatewayId": news["dxGatewayId"],
            **self.tags(news),
        }
        if "bgpAsnLong" in news:
            parameters["asnLong"] = int(news["bgpAsnLong"])
        else:
            parameters["asn"] = int(news["bgpAsn"])
        optional = {"amazonAddress": "amazonAddress", "customerAddress": "customerAddress", "bgpAuthKey": "authKey"}
        parameters |= {parameter: news[key] for key, parameter in optional.items() if key in news}
        virtual_interface = self.directconnect.create_transit_virtual_interface(
            connectionId=news["connectionId"], newTransitVirtualInterface=parameters
        )["virtualInterface"]
        id_ = virtual_interface["virtualInterfaceId"]
        return id_, {
            "arn": self.arn("dxvif", id_),
            "bgpAuthKey": virtual_interface["authKey"],
            "amazonSideAsn": str(virtual_interface["amazonSideAsn"]),
            "awsDevice": virtual_interface["awsDeviceV2"],
            "jumboFrameCapable": virtual_interface["jumboFrameCapable"],
        }

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = first_or_none(
            self.directconnect.describe_virtual_interfaces, "virtualInterfaces", virtualInterfaceId=id_
        )
        if item is None:
            return None
        return {"vlan": item["vlan"], "mtu": item["mtu"], "connectionId": item["connectionId"]}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if changed - {"mtu"}:
            return super().update(id_, state, news, changed)
        self.directconnect.update_virtual_interface_attributes(virtualInterfaceId=id_, mtu=news["mtu"])
        keys = ("arn", "bgpAuthKey", "amazonSideAsn", "awsDevice", "jumboFrameCapable")
        return {key: state[key] for key in keys if key in state}

    def delete(self, id_: str, state: Bag) -> None:
        if self.read(id_, state) is not None:
            self.directconnect.delete_virtual_interface(virtualInterfaceId=id_)
