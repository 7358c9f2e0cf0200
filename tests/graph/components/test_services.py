"""Services of an environment without a site: recorded, with the protection of their data and of their network."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from landbridge.plan.outputs import StackOutputs
from landbridge.policy import Level, violations
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider import partial_creation
from sandbox.pulumi_provider.aws import RESOURCE_TYPES, EmulatedAws
from sandbox.pulumi_provider.graph import Graph, GraphNode, record
from sandbox.pulumi_provider.policy_view import resources
from sandbox.pulumi_provider.recorder import apply, joined, program_of, record_stacks
from tests.graph.components.test_network_and_pools import wrong
from tests.graph.conftest import SANDBOX
from tests.graph.environments.test_program import ACCOUNT, Answering
from tests.graph.support.cloud_only_environment import write
from tests.graph.support.inventory import client, left

INSTANCE, VOLUME, DATABASE = "aws:ec2/instance:Instance", "aws:ebs/volume:Volume", "aws:rds/instance:Instance"
KEY, GROUP, POLICY = "aws:kms/key:Key", "aws:ec2/securityGroup:SecurityGroup", "aws:iam/rolePolicy:RolePolicy"
IN, OUT = (
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
)
ENDPOINT = "http://127.0.0.1:4580"


@pytest.fixture(autouse=True)
def _in_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SANDBOX.parent)


def graph_of(folder: Path, *changes: tuple[str, str], preview: bool = False, protect: bool = False) -> Graph:
    file = write(folder, "variant", *changes, endpoint=ENDPOINT, protect=protect)
    program, stack, config = program_of(file)
    return record(program, stack=stack, config=config, backing=Answering(), preview=preview)


def one(graph: Graph, token: str, name: str) -> GraphNode:
    (node,) = [node for node in graph.of_type(token) if node.name == name]
    return node


def of_services(graph: Graph) -> dict[str, GraphNode]:
    """Every resource that the services brought."""
    parts = ("SlurmController", "landbridge:components:Login", "subnetCidrReservation")
    return {key: node for key, node in graph.nodes.items() if any(part in key for part in parts)}


@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize("protect", [True, False])
def test_services_are_valid_and_keep_every_policy(tmp_path: Path, preview: bool, protect: bool) -> None:
    graph = graph_of(tmp_path, preview=preview, protect=protect)
    assert wrong(graph) == {}
    ours = {node.name for node in of_services(graph).values()}
    broken = [str(own) for own in violations(resources(graph)) if own.level is Level.MANDATORY]
    assert [text for text in broken if protect or "protected-data" not in text] == []
    assert len(ours) > 25
    if not preview:
        served = StackOutputs.model_validate(graph.outputs).services
        assert served is not None and served.hosts["ctl01"].address == "10.60.128.16"
        assert served.database.user == "admin" and served.state_volume_id == "variant-controller-state-id"


@pytest.mark.parametrize("protect", [True, False])
def test_what_holds_data_is_protected_and_left_standing(tmp_path: Path, protect: bool) -> None:
    graph = graph_of(tmp_path, protect=protect)
    kept = [one(graph, VOLUME, "variant-controller-state"), one(graph, DATABASE, "variant-accounting")]
    kept.append(one(graph, KEY, "variant-controller"))
    for node in kept:
        assert (node.protect, node.retain) == (protect, protect), node.name
    volume, database, _ = (node.inputs for node in kept)
    assert (volume["encrypted"], volume["finalSnapshot"], volume["type"]) == (True, protect, "gp3")
    key = f"arn:aws:test:us-east-1:{ACCOUNT}:variant-controller"
    assert volume["kmsKeyId"] == database["kmsKeyId"] == database["masterUserSecretKmsKeyId"] == key
    assert database["deletionProtection"] is protect and database["skipFinalSnapshot"] is not protect
    assert database["deleteAutomatedBackups"] is not protect and database["backupRetentionPeriod"] == 14
    assert database.get("finalSnapshotIdentifier") == ("variant-accounting-final" if protect else None)
    assert one(graph, INSTANCE, "variant-controller").inputs["disableApiTermination"] is protect
    assert one(graph, INSTANCE, "variant-login-login01").protect is False, "nothing is kept on a login host"


def test_no_password_passes_through_pulumi_and_no_connection_goes_without_tls(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    database = one(graph, DATABASE, "variant-accounting").inputs
    assert database["manageMasterUserPassword"] is True and not {"password", "passwordWo"} & set(database)
    assert database["storageEncrypted"] is True and database["publiclyAccessible"] is False
    (group,) = graph.of_type("aws:rds/parameterGroup:ParameterGroup")
    parameters = {own["name"]: own["value"] for own in group.inputs["parameters"]}
    assert parameters["require_secure_transport"] == "1" and parameters["innodb_lock_wait_timeout"] == "900"
    assert group.inputs["family"] == "mariadb11.4" and group.inputs["name"] == "variant-accounting-mariadb11-4"


def test_a_host_is_born_with_what_it_needs_and_nothing_secret(tmp_path: Path) -> None:
    host = one(graph_of(tmp_path), INSTANCE, "variant-controller").inputs
    assert (
        host["metadataOptions"]["httpTokens"] == "required" and host["metadataOptions"]["httpPutResponseHopLimit"] == 1
    )
    assert host["rootBlockDevice"]["encrypted"] is True and "associatePublicIpAddress" not in host
    text = base64.b64decode(host["userDataBase64"]).decode()
    assert text.startswith("#cloud-config\n")
    said = json.loads(text.partition("\n")[2])
    assert (
        said["hostname"] == "ctl01"
        and said["fqdn"] == "ctl01.cluster.internal"
        and len(said["ssh_authorized_keys"]) == 1
    )
    url = "https://s3.us-east-1.amazonaws.com/amazon-ssm-us-east-1/latest/debian_amd64/amazon-ssm-agent.deb"
    assert url in said["write_files"][0]["content"] and said["runcmd"] == [[said["write_files"][0]["path"]]]


def test_an_arm_host_gets_its_own_agent_and_an_unlocked_image_is_asked_for(tmp_path: Path) -> None:
    arm = (
        ("instance: m7i.large, volume", "instance: m7g.large, volume"),
        ("image: ami-0a11ce5a9db0c5000\n        con", "con"),
    )
    host = one(graph_of(tmp_path, *arm), INSTANCE, "variant-controller").inputs
    assert "debian_arm64" in base64.b64decode(host["userDataBase64"]).decode()
    assert host["ami"] == "ami-0123456789abcdef0", "what the parameter says"


def rules(graph: Graph, kind: str, group: str) -> set[tuple[str, str, Any]]:
    """(peer, protocol, first port) of a group's rules one way."""
    return {
        (own.get("cidrIpv4") or own["referencedSecurityGroupId"], own["ipProtocol"], own.get("fromPort"))
        for own in (node.inputs for node in graph.of_type(kind))
        if own["securityGroupId"] == f"{group}-id"
    }


def test_groups_are_closed(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    vpc, hosts, controller = "10.60.0.0/16", "10.60.128.16/28", "10.60.128.16/32"
    assert rules(graph, IN, "variant-controller") == {
        (vpc, "tcp", 6817),
        (vpc, "tcp", 5000),
        (vpc, "icmp", -1),
        (hosts, "tcp", 6819),
    }
    assert rules(graph, IN, "variant-login") == {(controller, "tcp", 6818), (vpc, "tcp", 60001), (vpc, "icmp", -1)}
    assert rules(graph, IN, "variant-accounting") == {("variant-controller-id", "tcp", 3306)}
    assert rules(graph, OUT, "variant-accounting") == set(), "a database answers, and asks nobody"
    assert ("variant-accounting-id", "tcp", 3306) in rules(graph, OUT, "variant-controller")
    assert not any(port == 22 for name in ("controller", "login") for _, _, port in rules(graph, IN, f"variant-{name}"))
    # Homes: the file system's group and the login hosts' name each other.
    assert ("variant-login-id", "tcp", 2049) in rules(graph, IN, "variant-home")


def test_packages_come_from_where_the_file_says(tmp_path: Path) -> None:
    proxied = graph_of(
        tmp_path, ("login: {count: 1}", "login: {count: 0}\n        packages: {apt_proxy: 'http://10.60.0.9:3142'}")
    )
    world = {(proto, port) for peer, proto, port in rules(proxied, OUT, "variant-controller") if peer == "0.0.0.0/0"}
    assert world == {("tcp", 443), ("tcp", 3142)}
    assert proxied.of_type("landbridge:components:Login") == []
    assert ("10.60.0.0/16", "tcp", 60001) in rules(proxied, IN, "variant-controller"), (
        "people submit from the controller"
    )


def test_names_do_not_hang_on_how_many_there_are(tmp_path: Path) -> None:
    few, many = graph_of(tmp_path), graph_of(tmp_path, ("count: 1", "count: 4"), ("volume_gib: 50", "volume_gib: 99"))
    assert set(few.nodes) < set(many.nodes)
    assert {node.name for node in of_services(many).values()} - {node.name for node in of_services(few).values()} == {
        f"variant-login-login0{number}" for number in (2, 3, 4)
    }
    for name in ("variant-controller", "variant-login-login01"):
        assert one(few, INSTANCE, name).inputs == one(many, INSTANCE, name).inputs


def test_addresses_are_kept_before_anything_else_is_put_into_the_subnet(tmp_path: Path) -> None:
    (kept,) = graph_of(tmp_path).of_type("aws:ec2/subnetCidrReservation:SubnetCidrReservation")
    assert (kept.inputs["cidrBlock"], kept.inputs["reservationType"]) == ("10.60.128.16/28", "explicit")
    assert kept.inputs["subnetId"] == "variant-private-use1-az4-id"


def test_nobody_takes_the_roles_of_a_site_that_is_not_there(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    names = {node.inputs["name"] for node in graph.of_type("aws:iam/role:Role")}
    assert {"variant-controller", "variant-login", "variant-node"} <= names
    assert not {f"variant-{role}" for role in ("launch", "terminate", "read", "hub", "mover")} & names


def test_services_are_the_same_in_one_stack_and_in_three(tmp_path: Path) -> None:
    owner = "owner: newcomer@example.org"
    one, three = (
        joined(record_stacks(write(tmp_path, "variant", *changes, endpoint=ENDPOINT), Answering()).values())
        for changes in ((), ((owner, f"{owner}\n    stacks: three"),))
    )

    def made(graph: Graph) -> dict[str, Any]:
        return {key.split("::", 2)[2]: node.inputs for key, node in of_services(graph).items()}

    assert made(one) == made(three) and one.outputs["services"] == three.outputs["services"]


def test_a_group_of_parameters_that_was_left_half_made_is_finished(cloud: EmulatorProcess) -> None:
    """RDS takes the parameters in a second call: without them the database would let anybody in without TLS."""
    token, rds = "aws:rds/parameterGroup:ParameterGroup", client(cloud, "rds")
    asked = {"name": "half", "family": "mariadb11.4", "description": "d"}
    asked["parameters"] = [{"name": "require_secure_transport", "value": "1", "applyMethod": "immediate"}]
    cloud.control(faults={"ModifyDBParameterGroup": {"code": "InternalFailure", "status": 400}})
    api = EmulatedAws(cloud.endpoint, "us-east-1")
    with pytest.raises(partial_creation.PartialCreation) as caught:
        partial_creation.create(RESOURCE_TYPES[token](api), asked)
    assert rds.describe_db_parameters(DBParameterGroupName="half")["Parameters"] == []
    partial_creation.update(RESOURCE_TYPES[token](api), caught.value.id, asked, asked, frozenset())
    (told,) = rds.describe_db_parameters(DBParameterGroupName="half")["Parameters"]
    assert told["ParameterValue"] == "1"
    RESOURCE_TYPES[token](api).delete("half", asked)


def test_services_come_up_in_the_emulated_aws_and_go_without_a_trace(cloud: EmulatorProcess, tmp_path: Path) -> None:
    before, rds = left(cloud), client(cloud, "rds")
    applied = apply(write(tmp_path, "graph", endpoint=cloud.endpoint), cloud.endpoint, "us-east-1")
    try:
        served = applied.outputs.services
        assert served is not None
        (made,) = rds.describe_db_instances(DBInstanceIdentifier="graph-accounting")["DBInstances"]
        assert made["Endpoint"]["Address"] == served.database.address and made["BackupRetentionPeriod"] == 14
        told = client(cloud, "secretsmanager").get_secret_value(SecretId=served.database.secret_arn)
        assert json.loads(told["SecretString"])["username"] == served.database.user
        (volume,) = client(cloud, "ec2").describe_volumes(VolumeIds=[served.state_volume_id])["Volumes"]
        assert [one["InstanceId"] for one in volume["Attachments"]] == [served.hosts["ctl01"].instance_id]
    finally:
        applied.destroy()
    assert left(cloud) == before
