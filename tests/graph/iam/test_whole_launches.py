"""Launches and terminations as whole requests: IAM has to allow each resource that a request presents."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from landbridge.catalog.aws.access.iam import iam
from tests.graph.components.pools.node_images import OTHER_REGION, built
from tests.graph.components.test_existing_network import IDS, existing_vpc
from tests.graph.conftest import ROOT, SANDBOX
from tests.graph.iam.whole_launch import Cluster, cluster_of
from tests.graph.support.cloud_only_environment import write
from tests.graph.support.policy_documents import ACCOUNT

STACKS = sorted((ROOT / "stacks").glob("Pulumi.*.yaml"))
OWN_GROUP, RESERVATION = "sg-0fedcba9876543210", "cr-0123456789abcdef0"
RESOURCE_GROUP = "arn:aws:resource-groups:us-east-1:123456789012:group/research"
CAPACITY = "            - {kind: on_demand, zones: [use1-az4, use1-az6]}"
#: The sandbox in a VPC of the organisation, with its own security group, placement group, reservations and a group of
#: them, none of which has Landbridge's tags.
EXISTING = (
    existing_vpc(*IDS),
    ("max_nodes: 4", f"max_nodes: 4\n          security_groups: [{OWN_GROUP}]\n          placement_group: research"),
    (
        CAPACITY,
        "\n".join(
            (
                f"            - {{kind: reservation, reservation: {RESERVATION}, zone: use1-az4, placement_group: held}}",
                f"            - {{kind: reservation_group, group: '{RESOURCE_GROUP}', zones: [use1-az6]}}",
                "            - {kind: capacity_block, reservation: cr-0123456789abcdef1, zone: use1-az4}",
                "            - {kind: spot, zones: [use1-az6], instance: p4d.24xlarge}",
                CAPACITY,
            )
        ),
    ),
)
Change = Callable[[dict[str, Any]], None]


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


def recorded(tmp_path_factory: pytest.TempPathFactory, *changes: tuple[str, str]) -> Cluster:
    text = SANDBOX.read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    file = tmp_path_factory.mktemp("launches") / "Pulumi.variant.yaml"
    file.write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(SANDBOX.parent)
        return cluster_of(file)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    """Return the sandbox's cluster, whose network Landbridge creates."""
    return recorded(tmp_path_factory)


@pytest.fixture(scope="module")
def existing(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    """Return a cluster in resources that exist already."""
    return recorded(tmp_path_factory, *EXISTING)


@pytest.fixture(scope="module")
def in_aws(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    """Return a cluster whose controller is in AWS."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(SANDBOX.parent)
        return cluster_of(write(tmp_path_factory.mktemp("cloud"), "variant", endpoint="http://127.0.0.1:4580"))


def first_request(cluster: Cluster) -> dict[str, Any]:
    return cluster.request(*next(cluster.offerings()))


@pytest.mark.parametrize("file", STACKS, ids=lambda file: file.name.split(".")[1])
def test_every_launch_of_an_environment_is_allowed_and_the_policies_are_below_iams_limit(file: Path) -> None:
    """Source of the limit: IAM User Guide, quotas: the inline policies of a role together, white space apart."""
    cluster = cluster_of(file)
    offerings = list(cluster.offerings())
    assert offerings
    for pool, offering in offerings:
        decision = cluster.decide(cluster.request(pool, offering), offering.region)
        assert decision.allowed, (offering.key, decision.why)
    assert max(cluster.sizes().values()) < iam().limits.inline_policy_characters, cluster.sizes()


def test_launches_in_an_existing_vpc_are_allowed_in_its_named_resources(existing: Cluster) -> None:
    keys = set()
    for pool, offering in existing.offerings():
        request = existing.request(pool, offering)
        decision = existing.decide(request)
        assert decision.allowed, (offering.key, decision.why)
        keys.add(offering.kind)
    assert keys == {"reservation", "reservation_group", "capacity_block", "spot", "on_demand"}
    assert OWN_GROUP in str(first_request(existing)) and IDS[1] in str(first_request(existing))


def test_a_subnet_that_another_account_shares_is_allowed(existing: Cluster) -> None:
    shared = Cluster(
        existing.name, existing.graph, existing.policy, existing.tags, existing.further, {IDS[1]: "210987654321"}
    )
    assert shared.decide(first_request(shared)).allowed


def test_a_controller_in_aws_launches_its_pools(in_aws: Cluster) -> None:
    for pool, offering in in_aws.offerings():
        assert in_aws.decide(in_aws.request(pool, offering)).allowed
    request = first_request(in_aws)
    del request["LaunchTemplate"]
    assert not in_aws.decide({**request, "ImageId": "ami-0a11ce5a9db0c5000"}).allowed


def key(name: str, region: str = "us-east-1") -> str:
    return f"arn:aws:kms:{region}:{ACCOUNT}:key/{name}"


def test_disks_have_the_keys_of_images_and_of_the_account_in_every_region(tmp_path_factory: Any) -> None:
    """EBS uses a customer managed key with the rights of the launch role, and no other key of the account."""
    images = {region: key("image", region) for region in ("us-east-1", "us-east-2")}
    cluster = recorded(
        tmp_path_factory,
        built(f"kms_keys: {json.dumps(images)}"),
        ("protect: false", f"protect: false\n      disk_keys: ['{key('default')}']"),
        OTHER_REGION,
        ("image: ami-0a11ce5a9db0c5000", "image: node"),
    )
    for name in (*images.values(), key("default")):
        decision = cluster.decide_disk_key(name)
        assert decision.allowed, (name, decision.why)
    for name in (key("other"), key("default", "us-east-2")):
        assert not cluster.decide_disk_key(name).allowed
    # Not for its own calls: only through EC2, and grants only for the disks.
    for action, context in (
        ("kms:Decrypt", {}),
        ("kms:Decrypt", {"kms:ViaService": "s3.us-east-1.amazonaws.com"}),
        ("kms:CreateGrant", {"kms:ViaService": "ec2.us-east-1.amazonaws.com"}),
        ("kms:RevokeGrant", {"kms:ViaService": "ec2.us-east-1.amazonaws.com"}),
    ):
        assert not cluster.decide_request("launch", action, key("default"), context).allowed, (action, context)


def test_without_keys_in_the_file_the_launch_role_may_use_none(site: Cluster) -> None:
    assert not site.decide_disk_key(key("default")).allowed


def interface(**values: Any) -> Change:
    """Return a change of the primary interface of a request."""
    return lambda request: request["NetworkInterfaces"][0].update(values)


def tag(key: str, value: str | None) -> Change:
    """Return a change of one tag of all created resources; None removes it."""

    def change(request: dict[str, Any]) -> None:
        for specification in request["TagSpecifications"]:
            pairs = {pair["Key"]: pair["Value"] for pair in specification["Tags"]} | {key: value}
            specification["Tags"] = [{"Key": key, "Value": value} for key, value in pairs.items() if value is not None]

    return change


def parameter(**values: Any) -> Change:
    """Return a change of parameters; None removes one."""

    def change(request: dict[str, Any]) -> None:
        request.update(values)
        for key in [key for key, value in request.items() if value is None]:
            del request[key]

    return change


def reservation(name: str) -> Change:
    return parameter(CapacityReservationSpecification={"CapacityReservationTarget": {"CapacityReservationId": name}})


REFUSED: Mapping[str, tuple[Change, str]] = {
    "no template": (parameter(LaunchTemplate=None, ImageId="ami-0a11ce5a9db0c5000"), "instance/*"),
    "a template of another cluster": (
        parameter(LaunchTemplate={"LaunchTemplateId": "lt-other"}),
        "launch-template/lt-other",
    ),
    "a template without tags": (parameter(LaunchTemplate={"LaunchTemplateId": "lt-plain"}), "launch-template/lt-plain"),
    "a template of this cluster that is not a pool's": (
        parameter(LaunchTemplate={"LaunchTemplateId": "lt-builder"}),
        "launch-template/lt-builder",
    ),
    "another image": (parameter(ImageId="ami-0fedcba9876543210"), "image/ami-0fedcba9876543210"),
    "another type": (parameter(InstanceType="p5en.48xlarge"), "instance/*"),
    "a foreign subnet": (interface(SubnetId="subnet-foreign"), "subnet/subnet-foreign"),
    "a public subnet of this cluster": (interface(SubnetId="subnet-public"), "subnet/subnet-public"),
    "a foreign security group": (interface(Groups=["sg-foreign"]), "security-group/sg-foreign"),
    "the controller's security group": (interface(Groups=["sg-controller"]), "security-group/sg-controller"),
    "an interface of another host": (interface(NetworkInterfaceId="eni-gateway"), "network-interface/eni-gateway"),
    "a foreign placement group": (parameter(Placement={"GroupName": "foreign"}), "placement-group/foreign"),
    "a foreign reservation": (reservation("cr-0fedcba9876543210"), "capacity-reservation/cr-0fedcba9876543210"),
    "a foreign group of reservations": (
        parameter(
            CapacityReservationSpecification={
                "CapacityReservationTarget": {"CapacityReservationResourceGroupArn": f"{RESOURCE_GROUP}-2"}
            }
        ),
        "group/research-2",
    ),
    "a snapshot": (
        parameter(BlockDeviceMappings=[{"DeviceName": "/dev/sdf", "Ebs": {"SnapshotId": "snap-foreign"}}]),
        "snapshot/snap-foreign",
    ),
    "a key pair": (parameter(KeyName="mine"), "key-pair/mine"),
    # The launch template has the tag for instances and volumes; a request cannot remove it.
    "no tag of the cluster": (tag("landbridge:cluster", None), "network-interface/*"),
    "another cluster's tag": (tag("landbridge:cluster", "other"), "instance/*"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("network", ["site", "existing"])
def test_a_launch_outside_of_the_clusters_resources_is_denied(
    request: pytest.FixtureRequest, network: str, case: str
) -> None:
    cluster: Cluster = request.getfixturevalue(network)
    name = cluster.name
    cluster = (
        cluster.with_tags("launch-template", "lt-other", cluster="other", pool="p5")
        .with_tags("launch-template", "lt-builder", cluster=name)
        .with_tags("subnet", "subnet-public", cluster=name)
        .with_tags("security-group", "sg-controller", cluster=name)
        .with_tags("network-interface", "eni-gateway", cluster=name)
    )
    call = first_request(cluster)
    assert cluster.decide(call).allowed
    change, resource = REFUSED[case]
    change(call)
    decision = cluster.decide(call)
    assert not decision.allowed and f"{resource}:" in decision.why, decision.why


def test_a_node_without_the_tag_of_a_pool_is_denied(site: Cluster) -> None:
    """The launch template sets the tag too, so only a launch from a template without it lacks the tag."""
    call = first_request(site)
    tag("landbridge:pool", None)(call)
    template = call["LaunchTemplate"]["LaunchTemplateId"]
    (node,) = [
        node for node in site.graph.of_type("aws:ec2/launchTemplate:LaunchTemplate") if f"{node.name}-id" == template
    ]
    tags = [specification["tags"] for specification in node.inputs["tagSpecifications"]]
    assert all("landbridge:pool" in entry for entry in tags)
    other = site.with_tags("launch-template", "lt-pool", cluster=site.name, pool="p5")
    decision = other.decide({**call, "LaunchTemplate": {"LaunchTemplateId": "lt-pool"}})
    assert not decision.allowed and "instance/*:" in decision.why


@pytest.mark.parametrize("network", ["site", "existing", "in_aws"])
def test_only_nodes_are_terminated(request: pytest.FixtureRequest, network: str) -> None:
    cluster: Cluster = request.getfixturevalue(network)
    cluster = (
        cluster.with_tags("instance", "i-node", cluster=cluster.name, pool="p5")
        .with_tags("instance", "i-gateway", cluster=cluster.name)
        .with_tags("instance", "i-foreign", cluster="other", pool="p5")
    )
    assert cluster.decide_termination("i-node").allowed
    for others in (("i-gateway",), ("i-foreign",), ("i-untagged",), ("i-node", "i-gateway")):
        assert not cluster.decide_termination(*others).allowed, others


def test_the_controller_and_login_hosts_in_aws_are_not_terminated(in_aws: Cluster) -> None:
    hosts = [f"{node.name}-id" for node in in_aws.graph.of_type("aws:ec2/instance:Instance")]
    assert len(hosts) == 2
    for host in hosts:
        assert in_aws.tags["instance", host]["landbridge:cluster"] == "variant"
        assert not in_aws.decide_termination(host).allowed


def test_spot_needs_its_service_linked_role_and_other_markets_do_not(existing: Cluster, site: Cluster) -> None:
    for cluster, expected in ((existing, True), (site, False)):
        assert (cluster.decide_spot_role("spot.amazonaws.com").allowed) is expected
        assert not cluster.decide_spot_role("autoscaling.amazonaws.com").allowed
