"""Whole launch requests of the burst controller in a recorded graph, and IAM's decisions about them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from landbridge.burst.aws.launch_call import TAGGED_RESOURCE_TYPES, launch_call
from landbridge.burst.config.config import parse
from landbridge.burst.model import Attempt, BurstPolicy, Offering
from landbridge.burst.reconcile.launching.launch_attempts import tags_of
from landbridge.environment import load_environment
from landbridge.ops.iam import Decision, Document, Policies, Request, evaluate
from landbridge.ops.iam.run_instances import (
    Ec2Account,
    LaunchTemplateVersion,
    disk_key_requests,
    launch_resources,
    terminate_resources,
)
from landbridge.ops.iam.whole_request import evaluate_whole
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.roles.burst import burst_config
from sandbox.pulumi_provider.graph import Graph
from sandbox.pulumi_provider.recorder import joined, record_stacks
from tests.graph.support.policy_documents import ACCOUNT, Arns

#: EC2's name of a resource type in ARNs, by Pulumi's type.
KINDS = {
    "aws:ec2/subnet:Subnet": "subnet",
    "aws:ec2/securityGroup:SecurityGroup": "security-group",
    "aws:ec2/launchTemplate:LaunchTemplate": "launch-template",
    "aws:ec2/placementGroup:PlacementGroup": "placement-group",
    "aws:ec2/instance:Instance": "instance",
}
#: Image of a launch template whose ImageId is the name of a parameter.
RESOLVED_IMAGE = "ami-0000000000000001a"
ROLE_POLICY = "aws:iam/rolePolicy:RolePolicy"


@dataclass(frozen=True)
class Cluster:
    """Recorded graph of an environment, with the controller's policy. `tags` are by resource type and id; `further`
    are tags of resources of others.
    """

    name: str
    graph: Graph
    policy: BurstPolicy
    tags: Mapping[tuple[str, str], Mapping[str, str]]
    further: Mapping[tuple[str, str], Mapping[str, str]]
    owners: Mapping[str, str]

    def offerings(self) -> Iterator[tuple[str, Offering]]:
        """Yield each offering with its pool."""
        for pool in self.policy.pools.values():
            for offering in pool.offerings:
                yield pool.name, offering

    def request(self, pool: str, offering: Offering) -> dict[str, Any]:
        """Return the burst controller's launch call for two nodes of a pool."""
        nodes = (f"{pool}-1", f"{pool}-2")
        attempt = Attempt("lb-1", "7.0", pool, offering.key, nodes, (7,), "research", True, 2e9, 1.8e9, 0.0, 0.0)
        return launch_call(attempt, offering, tags_of(attempt, self.policy), all_or_nothing=True)

    def decide(self, request: Mapping[str, Any], region: str = "", attached: Sequence[Document] = ()) -> Decision:
        """Return IAM's decision about a launch: RunInstances, the creation of its tags, and passing the nodes' role.
        `attached` are further policies of the launch role.
        """
        account = self._account(region or self.policy.region)
        template = self._template(request)
        resources = launch_resources(request, template, account)
        launch_policies = self._policies("launch")
        launch_policies = replace(launch_policies, identity=(*launch_policies.identity, *attached))
        decision = evaluate_whole(self._asks("ec2:RunInstances"), resources, launch_policies)
        if not decision.allowed:
            return decision
        created = [
            replace(resource, context={**resource.context, "ec2:CreateAction": "RunInstances"})
            for resource in resources
            if resource.arn.endswith("/*") and resource.arn.split(":")[5].split("/")[0] in TAGGED_RESOURCE_TYPES
        ]
        tagging = evaluate_whole(self._asks("ec2:CreateTags"), created, self._policies("launch"))
        passing = replace(
            self._asks("iam:PassRole"),
            resource=self._node_role(),
            context={"iam:PassedToService": "ec2.amazonaws.com"},
        )
        return tagging if not tagging.allowed else evaluate(passing, self._policies("launch"))

    def decide_disk_key(self, key: str, right: str = "launch") -> Decision:
        """Return IAM's decision about the use of a KMS key for the disks of a launch; the key's policy delegates to the
        account.
        """
        root = {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}
        statement = {"Effect": "Allow", "Principal": root, "Action": "kms:*", "Resource": "*"}
        policies = replace(
            self._policies(right),
            resource=Document.of("key policy", {"Statement": [statement]}),
            resource_decides=True,
        )
        requests = disk_key_requests(self._asks("").principal, key, self._account(self.policy.region))
        decisions = [evaluate(request, policies) for request in requests]
        return next((decision for decision in decisions if not decision.allowed), decisions[-1])

    def decide_request(self, right: str, action: str, resource: str, context: Mapping[str, str]) -> Decision:
        """Return IAM's decision about one request of a role with one resource."""
        return evaluate(replace(self._asks(action), resource=resource, context=context), self._policies(right))

    def decide_termination(self, *instances: str, region: str = "") -> Decision:
        """Return IAM's decision about one TerminateInstances call."""
        resources = terminate_resources(instances, self._account(region or self.policy.region))
        return evaluate_whole(self._asks("ec2:TerminateInstances"), resources, self._policies("terminate"))

    def decide_spot_role(self, service: str) -> Decision:
        """Return IAM's decision about the creation of a service's service-linked role, as EC2 makes it for the caller."""
        resource = f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/{service}/AWSServiceRoleForEC2Spot"
        request = replace(
            self._asks("iam:CreateServiceLinkedRole"), resource=resource, context={"iam:AWSServiceName": service}
        )
        return evaluate(request, self._policies("launch"))

    def with_tags(self, kind: str, name: str, **tags: str) -> "Cluster":
        """Return the cluster in an account that also has this resource."""
        spelled = {f"landbridge:{key.replace('_', '-')}": value for key, value in tags.items()}
        return replace(self, further={**self.further, (kind, name): spelled})

    def sizes(self) -> dict[str, int]:
        """Return the characters of the inline policies of each role."""
        sizes: dict[str, int] = {}
        for node in self.graph.of_type(ROLE_POLICY):
            role = str(node.inputs["role"])
            sizes[role] = sizes.get(role, 0) + len("".join(str(node.inputs["policy"]).split()))
        return sizes

    def _asks(self, action: str) -> Request:
        return Request(f"arn:aws:iam::{ACCOUNT}:role/{self.name}-launch", action, "")

    def _node_role(self) -> str:
        return str(self.graph.outputs["identity"]["node_role_arn"])

    def _policies(self, right: str) -> Policies:
        """Return the policies of the role with this right: a role of its own on-prem, the controller's role in AWS."""
        names = (f"{self.name}-{right}", f"{self.name}-controller-{right}")
        nodes = [node for node in self.graph.of_type(ROLE_POLICY) if node.name in names]
        return Policies(tuple(Document.of(node.name, str(node.inputs["policy"])) for node in nodes))

    def _account(self, region: str) -> Ec2Account:
        known = {**self.tags, **self.further}

        def tags(arn: str) -> Mapping[str, str]:
            kind, _, name = arn.split(":", 5)[5].partition("/")
            return known.get((kind, name), {})

        return Ec2Account(ACCOUNT, region, tags=tags, owners={RESOLVED_IMAGE: ACCOUNT, **self.owners})

    def _template(self, request: Mapping[str, Any]) -> LaunchTemplateVersion | None:
        template_id = (request.get("LaunchTemplate") or {}).get("LaunchTemplateId")
        if template_id is None:
            return None
        nodes = self.graph.of_type("aws:ec2/launchTemplate:LaunchTemplate")
        inputs: Mapping[str, Any] = next((node.inputs for node in nodes if f"{node.name}-id" == template_id), {})
        image = str(inputs.get("imageId", "ami-0000000000000002b"))
        data = {
            "ImageId": RESOLVED_IMAGE if image.startswith("resolve:") else image,
            "InstanceType": inputs.get("instanceType", "p5.48xlarge"),
            "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 200}}],
            "MetadataOptions": {"HttpTokens": "required"},
            "TagSpecifications": [
                {
                    "ResourceType": specification["resourceType"],
                    "Tags": [{"Key": key, "Value": value} for key, value in specification["tags"].items()],
                }
                for specification in inputs.get("tagSpecifications", ())
            ],
        }
        return LaunchTemplateVersion(template_id, data)


def cluster_of(file: Path) -> Cluster:
    """Record the graph of an environment's file, and join it with the controller's configuration."""
    graph = joined(record_stacks(file, Arns()).values())
    environment = load_environment(file).environment
    assert environment is not None
    config = parse(burst_config(environment, StackOutputs.model_validate(graph.outputs)))
    tags = {
        (KINDS[node.type], str(node.inputs["name"]) if "placementGroup" in node.type else f"{node.name}-id"): dict(
            node.inputs.get("tags", {})
        )
        for node in graph.nodes.values()
        if node.type in KINDS
    }
    return Cluster(environment.name, graph, config.policy, tags, {}, {})
