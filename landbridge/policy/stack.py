"""Policies of the whole stack: resources that need each other, tags and regions."""

from collections.abc import Iterator

from landbridge.catalog.aws.access.policy import policy_facts
from landbridge.plan.aws_limits import rule_count_violations
from landbridge.policy.compute import TEMPLATE
from landbridge.policy.data import BLOCK, BUCKET, POLICY
from landbridge.policy.network import INGRESS
from landbridge.policy.registry import Level, policy, stack_policy
from landbridge.policy.resource import Resource, as_list, maps
from landbridge.policy.settings import PolicySettings

EGRESS = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
VPC, FLOW, BUDGET = "aws:ec2/vpc:Vpc", "aws:ec2/flowLog:FlowLog", "aws:budgets/budget:Budget"
StackViolations = Iterator[tuple[Resource, str]]


@policy(config=("required_tags",))
def tagged(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """Resources that support tags have the tags of owner and cost center.

    Source: AWS, "Best Practices for Tagging AWS Resources"; types without tags: landbridge/catalog/policy.yaml.
    """
    if not resource.type.startswith("aws:") or resource.type in policy_facts().untaggable:
        return
    missing = [tag for tag in settings.required_tags if not resource.tags.get(tag)]
    if missing:
        yield f"lacks the tags {', '.join(missing)}"


@policy(config=("regions",))
def allowed_regions(resource: Resource, settings: PolicySettings) -> Iterator[str]:
    """Resources are in permitted regions: the region of the resource, or else of its provider.

    Source: pulumi-aws 7: `region` of a regional resource overrides its provider's.
    """
    region = resource.props.get("region") or resource.defaults.get("region")
    if settings.regions and isinstance(region, str) and region not in settings.regions:
        yield f"is in {region}, and may be in {', '.join(settings.regions)}"


@stack_policy()
def efa_self_rule(resources: tuple[Resource, ...], settings: PolicySettings) -> StackViolations:
    """A security group of EFA interfaces permits all traffic between its members, in both directions.

    Without both rules EFA carries no traffic, and libfabric reports it only in a job's log.
    Source: EC2 User Guide, "Get started with EFA", step 1; aws-parallelcluster, EfaSecurityGroupValidator.
    """
    for template in (resource for resource in resources if resource.type == TEMPLATE):
        nics = list(maps(template.props.get("networkInterfaces")))
        fast = [nic for nic in nics if nic.get("interfaceType") in ("efa", "efa-only")]
        groups = {group for nic in fast for group in as_list(nic.get("securityGroups"))}
        # An existing group, or one whose id is not known yet, cannot be checked here.
        if not fast or None in groups:
            continue
        for kind, direction in ((INGRESS, "in"), (EGRESS, "out")):
            if not any(_self(rule, groups) for rule in resources if rule.type == kind):
                yield template, f"no security group of its EFA interfaces permits all traffic {direction} from itself"


def _self(rule: Resource, groups: set[str]) -> bool:
    group_id, peer = rule.props.get("securityGroupId"), rule.props.get("referencedSecurityGroupId")
    return (
        group_id is not None and group_id in groups and group_id == peer and str(rule.props.get("ipProtocol")) == "-1"
    )


@stack_policy()
def buckets_are_closed(resources: tuple[Resource, ...], settings: PolicySettings) -> StackViolations:
    """Every bucket has a public access block and a bucket policy.

    Source: S3 User Guide, "Security best practices for Amazon S3".
    """
    for kind, noun in ((BLOCK, "block of public access"), (POLICY, "policy")):
        closed = {resource.props.get("bucket") for resource in resources if resource.type == kind}
        if None in closed:
            continue
        for bucket in (resource for resource in resources if resource.type == BUCKET):
            if bucket.id is not None and not closed & {bucket.id, bucket.props.get("bucket")}:
                yield bucket, f"has no {noun}"


@stack_policy(config=("group_rules",))
def rules_fit(resources: tuple[Resource, ...], settings: PolicySettings) -> StackViolations:
    """A security group has at most `group_rules` rules in each direction; a group without a known id is not checked.

    Source: VPC User Guide, "Amazon VPC quotas", security groups (L-0EA8095F).
    """
    for kind, direction in ((INGRESS, "in"), (EGRESS, "out")):
        groups: dict[str, list[Resource]] = {}
        for resource in resources:
            if resource.type == kind and isinstance(resource.props.get("securityGroupId"), str):
                groups.setdefault(resource.props["securityGroupId"], []).append(resource)
        for group, rules in groups.items():
            for fault in rule_count_violations(len(rules), settings.group_rules):
                yield rules[-1], f"{group}: {fault.message} ({direction})"


@stack_policy(level=Level.ADVISORY)
def flow_logs(resources: tuple[Resource, ...], settings: PolicySettings) -> StackViolations:
    """A VPC has flow logs: without them there is no record of its connections.

    Source: AWS StackViolationsational Security Best Practices EC2.6.
    """
    logged = {resource.props.get("vpcId") for resource in resources if resource.type == FLOW}
    for vpc in (resource for resource in resources if resource.type == VPC):
        if not logged or (vpc.id is not None and None not in logged and vpc.id not in logged):
            yield vpc, "has no flow log"


@stack_policy(level=Level.ADVISORY)
def budget_alarm(resources: tuple[Resource, ...], settings: PolicySettings) -> StackViolations:
    """A stack that can start instances has a budget or an anomaly subscription with a subscriber.

    Source: AWS Well-Architected Framework, COST02-BP05.
    """
    templates = [resource for resource in resources if resource.type == TEMPLATE]
    if templates and not any(resource.type == BUDGET for resource in resources):
        yield templates[0], "instances can be started, and there is no budget"
