"""Route 53 Resolver endpoints, rules, and query log configs."""

import uuid
from typing import Any

from sandbox.pulumi_provider.aws.base import (
    AwsResource,
    Bag,
    CloudFormationType,
    ProviderError,
    first_or_none,
    ignore_missing,
    tag_list,
    tag_map,
)


class _ResolverResource(AwsResource):
    """Base of Route 53 Resolver resources: one service, tags by ARN."""

    arn_type = ""

    @property
    def resolver(self) -> Any:
        return self.cloud.client("route53resolver")

    def arn_of(self, id_: str) -> str:
        return self.cloud.arn("route53resolver", f"{self.arn_type}/{id_}")

    def tags_of(self, id_: str) -> dict[str, str] | None:
        return tag_map(self.resolver.list_tags_for_resource(ResourceArn=self.arn_of(id_))["Tags"])

    def retag(self, id_: str, state: Bag, news: Bag) -> None:
        before, after = state.get("tags") or {}, news.get("tags") or {}
        dropped = [key for key in before if key not in after]
        if dropped:
            self.resolver.untag_resource(ResourceArn=self.arn_of(id_), TagKeys=dropped)
        if after != before and after:
            self.resolver.tag_resource(ResourceArn=self.arn_of(id_), Tags=tag_list(after))

    def first_by_id(self, call: Any, key: str, **id_parameter: str) -> Any | None:
        """Return a resource by its id, or None."""
        return first_or_none(lambda **a: {"it": [call(**a)[key]]}, "it", **id_parameter)


class ResolverEndpointResource(_ResolverResource):
    token = "aws:route53/resolverEndpoint:ResolverEndpoint"
    cloudformation = CloudFormationType("AWS::Route53Resolver::ResolverEndpoint")
    replaces = frozenset({"direction", "securityGroupIds"})
    arn_type = "resolver-endpoint"

    def create(self, news: Bag) -> tuple[str, Bag]:
        if news.get("resolverEndpointType", "IPV4") != "IPV4" or news.get("protocols", ["Do53"]) != ["Do53"]:
            raise ProviderError("the sandbox has endpoints for plain DNS over IPv4 only")
        resolver_endpoint = self.resolver.create_resolver_endpoint(
            CreatorRequestId=str(uuid.uuid4()),
            Name=news.get("name", ""),
            SecurityGroupIds=news["securityGroupIds"],
            Direction=news["direction"],
            IpAddresses=[_address(ip_address) for ip_address in _set_of(news["ipAddresses"])],
            Tags=tag_list(news.get("tags")),
        )["ResolverEndpoint"]
        id_ = str(resolver_endpoint["Id"])
        seen = self._addresses(id_, news["ipAddresses"])
        return id_, {"arn": self.arn_of(id_), "hostVpcId": resolver_endpoint["HostVPCId"], "ipAddresses": seen}

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = self.first_by_id(self.resolver.get_resolver_endpoint, "ResolverEndpoint", ResolverEndpointId=id_)
        if item is None:
            return None
        seen = {
            "name": item["Name"],
            "direction": item["Direction"],
            "securityGroupIds": item["SecurityGroupIds"],
            "tags": self.tags_of(id_),
        }
        # The inputs have subnets without addresses: addresses that AWS chose are not drift, a change of them is.
        ip_addresses = state.get("ipAddresses") or []
        addresses = self._addresses(id_, ip_addresses)
        return seen if addresses == ip_addresses else {**seen, "ipAddresses": addresses}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        other_changes = changed - {"tags", "name", "ipAddresses"}
        if other_changes:
            super().update(id_, state, news, other_changes)
        if "name" in changed:
            self.resolver.update_resolver_endpoint(ResolverEndpointId=id_, Name=news["name"])
        if "ipAddresses" in changed:
            self._move(id_, news["ipAddresses"])
        self.retag(id_, state, news)
        addresses = self._addresses(id_, news["ipAddresses"])
        return {"arn": state["arn"], "hostVpcId": state["hostVpcId"], "ipAddresses": addresses}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.resolver.delete_resolver_endpoint, ResolverEndpointId=id_)

    def _listed(self, id_: str) -> list[Bag]:
        addresses: list[Bag] = self.resolver.list_resolver_endpoint_ip_addresses(ResolverEndpointId=id_)["IpAddresses"]
        return addresses

    def _addresses(self, id_: str, inputs: list[Bag]) -> list[Bag]:
        """Return the addresses in the order of the inputs; AWS's list has no order."""
        remaining: list[Bag] = [
            {"subnetId": row["SubnetId"], "ip": row["Ip"], "ipId": row["IpId"]} for row in self._listed(id_)
        ]
        ordered = []
        for item in _set_of(inputs):
            matches = [
                address
                for address in remaining
                if address["subnetId"] == item["subnetId"] and item.get("ip") in (None, address["ip"])
            ]
            ordered += matches[:1]
            remaining = [address for address in remaining if address not in matches[:1]]
        return [*ordered, *remaining]

    def _move(self, id_: str, inputs: list[Bag]) -> None:
        """Add new addresses before removing old ones: an endpoint never has fewer than two addresses."""
        existing = self._listed(id_)
        retained = {address["ipId"] for address in self._addresses(id_, inputs) if _wanted(address, inputs)}
        present = [address for address in existing if address["IpId"] in retained]
        for item in _set_of(inputs):
            match = next((address for address in present if _is_same(address, item)), None)
            if match is not None:
                present.remove(match)
                continue
            self.resolver.associate_resolver_endpoint_ip_address(ResolverEndpointId=id_, IpAddress=_address(item))
        for old in existing:
            if old["IpId"] not in retained:
                address = {"SubnetId": old["SubnetId"], "Ip": old["Ip"]}
                self.resolver.disassociate_resolver_endpoint_ip_address(ResolverEndpointId=id_, IpAddress=address)


class ResolverRuleResource(_ResolverResource):
    token = "aws:route53/resolverRule:ResolverRule"
    cloudformation = CloudFormationType("AWS::Route53Resolver::ResolverRule")
    replaces = frozenset({"domainName", "ruleType"})
    arn_type = "resolver-rule"

    def create(self, news: Bag) -> tuple[str, Bag]:
        resolver_rule = self.resolver.create_resolver_rule(
            CreatorRequestId=str(uuid.uuid4()),
            Name=news.get("name", ""),
            RuleType=news["ruleType"],
            DomainName=news["domainName"],
            TargetIps=_targets(news),
            ResolverEndpointId=news["resolverEndpointId"],
            Tags=tag_list(news.get("tags")),
        )["ResolverRule"]
        id_ = str(resolver_rule["Id"])
        return id_, {
            "arn": self.arn_of(id_),
            "ownerId": self.cloud.account,
            "shareStatus": resolver_rule["ShareStatus"],
        }

    def read(self, id_: str, state: Bag) -> Bag | None:
        item = self.first_by_id(self.resolver.get_resolver_rule, "ResolverRule", ResolverRuleId=id_)
        if item is None:
            return None
        return {
            "name": item["Name"],
            "domainName": item["DomainName"].rstrip("."),
            "ruleType": item["RuleType"],
            "resolverEndpointId": item["ResolverEndpointId"],
            "targetIps": [{"ip": target["Ip"], "port": target["Port"]} for target in item["TargetIps"]],
            "tags": self.tags_of(id_),
        }

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        other_changes = changed - {"tags", "name", "targetIps", "resolverEndpointId"}
        if other_changes:
            super().update(id_, state, news, other_changes)
        if changed - {"tags"}:
            config = {
                "Name": news["name"],
                "TargetIps": _targets(news),
                "ResolverEndpointId": news["resolverEndpointId"],
            }
            self.resolver.update_resolver_rule(ResolverRuleId=id_, Config=config)
        self.retag(id_, state, news)
        return {key: state[key] for key in ("arn", "ownerId", "shareStatus")}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.resolver.delete_resolver_rule, ResolverRuleId=id_)


class ResolverRuleAssociationResource(_ResolverResource):
    token = "aws:route53/resolverRuleAssociation:ResolverRuleAssociation"
    cloudformation = CloudFormationType("AWS::Route53Resolver::ResolverRuleAssociation")
    replaces = frozenset({"name", "resolverRuleId", "vpcId"})

    def create(self, news: Bag) -> tuple[str, Bag]:
        resolver_rule_association = self.resolver.associate_resolver_rule(
            ResolverRuleId=news["resolverRuleId"], Name=news.get("name", ""), VPCId=news["vpcId"]
        )["ResolverRuleAssociation"]
        return str(resolver_rule_association["Id"]), {}

    def read(self, id_: str, state: Bag) -> Bag | None:
        call = self.resolver.get_resolver_rule_association
        item = self.first_by_id(call, "ResolverRuleAssociation", ResolverRuleAssociationId=id_)
        return item and {"name": item["Name"], "resolverRuleId": item["ResolverRuleId"], "vpcId": item["VPCId"]}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(
            self.resolver.disassociate_resolver_rule, VPCId=state["vpcId"], ResolverRuleId=state["resolverRuleId"]
        )


class ResolverQueryLogConfigResource(_ResolverResource):
    token = "aws:route53/resolverQueryLogConfig:ResolverQueryLogConfig"
    cloudformation = CloudFormationType("AWS::Route53Resolver::ResolverQueryLoggingConfig")
    replaces = frozenset({"name", "destinationArn"})
    arn_type = "resolver-query-log-config"

    def create(self, news: Bag) -> tuple[str, Bag]:
        resolver_query_log_config = self.resolver.create_resolver_query_log_config(
            Name=news["name"],
            DestinationArn=news["destinationArn"],
            CreatorRequestId=str(uuid.uuid4()),
            Tags=tag_list(news.get("tags")),
        )["ResolverQueryLogConfig"]
        id_ = str(resolver_query_log_config["Id"])
        return id_, {
            "arn": self.arn_of(id_),
            "ownerId": self.cloud.account,
            "shareStatus": resolver_query_log_config["ShareStatus"],
        }

    def read(self, id_: str, state: Bag) -> Bag | None:
        call = self.resolver.get_resolver_query_log_config
        item = self.first_by_id(call, "ResolverQueryLogConfig", ResolverQueryLogConfigId=id_)
        if item is None:
            return None
        return {"name": item["Name"], "destinationArn": item["DestinationArn"], "tags": self.tags_of(id_)}

    def update(self, id_: str, state: Bag, news: Bag, changed: frozenset[str]) -> Bag:
        if changed - {"tags"}:
            super().update(id_, state, news, changed - {"tags"})
        self.retag(id_, state, news)
        return {key: state[key] for key in ("arn", "ownerId", "shareStatus")}

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(self.resolver.delete_resolver_query_log_config, ResolverQueryLogConfigId=id_)


class ResolverQueryLogConfigAssociationResource(_ResolverResource):
    token = "aws:route53/resolverQueryLogConfigAssociation:ResolverQueryLogConfigAssociation"
    cloudformation = CloudFormationType("AWS::Route53Resolver::ResolverQueryLoggingConfigAssociation")
    replaces = frozenset({"resolverQueryLogConfigId", "resourceId"})

    def create(self, news: Bag) -> tuple[str, Bag]:
        association = self.resolver.associate_resolver_query_log_config(
            ResolverQueryLogConfigId=news["resolverQueryLogConfigId"], ResourceId=news["resourceId"]
        )["ResolverQueryLogConfigAssociation"]
        return str(association["Id"]), {}

    def read(self, id_: str, state: Bag) -> Bag | None:
        call = self.resolver.get_resolver_query_log_config_association
        key = "ResolverQueryLogConfigAssociation"
        item = self.first_by_id(call, key, ResolverQueryLogConfigAssociationId=id_)
        return item and {
            "resolverQueryLogConfigId": item["ResolverQueryLogConfigId"],
            "resourceId": item["ResourceId"],
        }

    def delete(self, id_: str, state: Bag) -> None:
        ignore_missing(
            self.resolver.disassociate_resolver_query_log_config,
            ResolverQueryLogConfigId=state["resolverQueryLogConfigId"],
            ResourceId=state["resourceId"],
        )


def _set_of(addresses: list[Bag]) -> list[Bag]:
    """Return the entries that the real provider's set retains: one for each subnet and address."""
    return list({(item["subnetId"], item.get("ip")): item for item in addresses}.values())


def _wanted(address: Bag, inputs: list[Bag]) -> bool:
    """Return true if an address of the endpoint matches an entry of the inputs."""
    return any(item["subnetId"] == address["subnetId"] and item.get("ip") in (None, address["ip"]) for item in inputs)


def _is_same(listed: Bag, item: Bag) -> bool:
    return bool(listed["SubnetId"] == item["subnetId"] and item.get("ip") in (None, listed["Ip"]))


def _address(item: Bag) -> dict[str, str]:
    return {"SubnetId": item["subnetId"], **({"Ip": item["ip"]} if item.get("ip") else {})}


def _targets(news: Bag) -> list[dict[str, Any]]:
    return [{"Ip": target["ip"], "Port": int(target.get("port", 53))} for target in news.get("targetIps") or []]
