"""Route 53 Resolver operations that moto does not have, and Resolver's errors.

Source: Route 53 Resolver API Reference, UpdateResolverRule, DeleteResolverQueryLogConfig,
DisassociateResolverQueryLogConfig, AssociateResolverRule (a VPC has at most one rule per domain).
"""

import json
from typing import Any

from moto.route53resolver.exceptions import InvalidRequestException, ResourceInUseException, ResourceNotFoundException
from moto.route53resolver.models import Route53ResolverBackend
from moto.route53resolver.responses import Route53ResolverResponse

from sandbox.aws_emulator.emulator_state import EmulatorState

_associate = Route53ResolverBackend.associate_resolver_rule
_matched = Route53ResolverBackend._matched_arn
_verify_addresses = Route53ResolverBackend._verify_subnet_ips


def install(emulator: EmulatorState) -> None:
    """Install these operations in moto. Global to the process, as moto's state is."""
    for name, action in {
        "update_resolver_rule": _update_rule,
        "delete_resolver_query_log_config": _delete_config,
        "disassociate_resolver_query_log_config": _disassociate_config,
    }.items():
        setattr(Route53ResolverResponse, name, action)
    Route53ResolverBackend.associate_resolver_rule = _one_rule_a_domain
    Route53ResolverBackend._verify_subnet_ips = _unused_addresses
    Route53ResolverBackend._matched_arn = _matched_or_query_log_config


def _one_rule_a_domain(backend: Any, resolver_rule_id: str, name: str, vpc_id: str) -> Any:
    """Associate a rule; raise if the VPC has a rule of the same domain (moto compares only rule ids)."""
    rule = backend.resolver_rules.get(resolver_rule_id)
    for resolver_rule_association in backend.resolver_rule_associations.values():
        other = backend.resolver_rules.get(resolver_rule_association.resolver_rule_id)
        if rule and other and resolver_rule_association.vpc_id == vpc_id and other.domain_name == rule.domain_name:
            message = "Cannot associate rules with same domain name with same VPC."
            raise InvalidRequestException(f"{message} Conflict with resolver rule '{other.id}'")
    return _associate(backend, resolver_rule_id, name, vpc_id)


def _unused_addresses(backend: Any, ip_addresses: list[dict[str, Any]], initial: bool = True) -> None:
    """Refuse an address that another network interface has (moto compares only the addresses of one call).

    moto has assigned the addresses that the request leaves out, so that they count as used already.
    """
    _verify_addresses(backend, ip_addresses, initial)
    for row in ip_addresses:
        subnet = backend.ec2_backend.get_subnet(row["SubnetId"])
        if subnet._subnet_ips.get(row["Ip"], backend) is not backend:
            raise InvalidRequestException(f"[RSLVR-00400] The IP address '{row['Ip']}' is already in use.")


def _matched_or_query_log_config(backend: Any, resource_arn: str) -> None:
    """Accept the ARN of a query log config, which can also have tags."""
    if not any(
        resolver_query_log_config.arn == resource_arn
        for resolver_query_log_config in backend.resolver_query_log_configs.values()
    ):
        _matched(backend, resource_arn)


def _update_rule(response: Any) -> str:
    backend, config = response.route53resolver_backend, response._get_param("Config")
    rule = backend.get_resolver_rule(response._get_param("ResolverRuleId"))
    endpoint = config.get("ResolverEndpointId", rule.resolver_endpoint_id)
    if endpoint not in backend.resolver_endpoints:
        raise ResourceNotFoundException(f"Resolver endpoint with ID '{endpoint}' does not exist.")
    rule.name, rule.resolver_endpoint_id = config.get("Name", rule.name), endpoint
    rule.target_ips = config.get("TargetIps", rule.target_ips)
    return json.dumps({"ResolverRule": rule.description()})


def _delete_config(response: Any) -> str:
    backend, id_ = response.route53resolver_backend, response._get_param("ResolverQueryLogConfigId")
    config = backend.get_resolver_query_log_config(id_)
    associations = backend.resolver_query_log_config_associations.values()
    if any(association.resolver_query_log_config_id == id_ for association in associations):
        raise ResourceInUseException(f"Query log config '{id_}' is associated with a VPC.")
    del backend.resolver_query_log_configs[id_]
    return json.dumps({"ResolverQueryLogConfig": {**config.description(), "Status": "DELETING"}})


def _disassociate_config(response: Any) -> str:
    backend, id_ = response.route53resolver_backend, response._get_param("ResolverQueryLogConfigId")
    config = backend.get_resolver_query_log_config(id_)
    vpc = response._get_param("ResourceId")
    for key, association in backend.resolver_query_log_config_associations.items():
        if (association.resolver_query_log_config_id, association.resource_id) == (id_, vpc):
            del backend.resolver_query_log_config_associations[key]
            config.association_count -= 1
            deleted = {**association.description(), "Status": "DELETING"}
            return json.dumps({"ResolverQueryLogConfigAssociation": deleted})
    raise ResourceNotFoundException(f"Query log config '{id_}' is not associated with '{vpc}'.")
