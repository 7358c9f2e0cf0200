"""Services of an environment without a site: recorded, with the protection of their data and of their network."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from landbridge.plan.outputs import StackOutputs
from landbridge.policy import Level, violations
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.pulumi_provider import partial_creation
from sandbox.pulumi_provider.aws import RESOURCE_TYPES, EmulatedAws
from sandbox.pulumi_provider.graph import Graph, GraphNode, record
from sandbox.pulumi_provider.policy_view import resources
from sandbox.pulumi_provider.program import program_of
from sandbox.pulumi_provider.recorder import apply, joined, record_stacks
from tests.graph.components.pools.test_network_and_pools import wrong
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


def only(graph: Graph, token: str, name: str) -> GraphNode:
    (node,) = [node for node in graph.of_type(token) if node.name == name]
    return node


def of_services(graph: Graph) -> dict[str, GraphNode]:
    """Return every resource of the services."""
    parts = ("SlurmController", "landbridge:components:Login", "subnetCidrReservation")
    return {key: node for key, node in graph.nodes.items() if any(part in key for part in parts)}


@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize("protect", [True, False])
def test_services_are_valid_and_follow_every_policy(tmp_path: Path, preview: bool, protect: bool) -> None:
    graph = graph_of(tmp_path, preview=preview, protect=protect)
    assert wrong(graph) == {}
    ours = {node.name for node in of_services(graph).values()}
    broken = [str(violation) for violation in violations(resources(graph)) if violation.level is Level.MANDATORY]
    assert [text for text in broken if protect or "protected-data" not in text] == []
    assert len(ours) > 25
    if not preview:
        served = StackOutputs.model_validate(graph.outputs).services
        assert served is not None and served.hosts["ctl01"].address == "10.60.128.16"
        assert served.database.user == "admin" and served.state_volume_id == "variant-controller-state-id"


@pytest.mark.parametrize("protect", [True, False])
def test_resources_with_data_are_protected_and_retained(tmp_path: Path, protect: bool) -> None:
    graph = graph_of(tmp_path, protect=protect)
    retained = [only(graph, VOLUME, "variant-controller-state"), only(graph, DATABASE, "variant-accounting")]
    retained.append(only(graph, KEY, "variant-controller"))
    for node in retained:
        assert (node.protect, node.retain) == (protect, protect), node.name
    volume, database, _ = (node.inputs for node in retained)
    assert (volume["encrypted"], volume["finalSnapshot"], volume["type"]) == (True, protect, "gp3")
    key = f"arn:aws:test:us-east-1:{ACCOUNT}:variant-controller"
    assert volume["kmsKeyId"] == database["kmsKeyId"] == database["masterUserSecretKmsKeyId"] == key
    assert database["deletionProtection"] is protect and database["skipFinalSnapshot"] is not protect
    assert database["deleteAutomatedBackups"] is not protect and database["backupRetentionPeriod"] == 14
    assert database.get("finalSnapshotIdentifier") == ("variant-accounting-final" if protect else None)
    assert only(graph, INSTANCE, "variant-controller").inputs["disableApiTermination"] is protect
    assert only(graph, INSTANCE, "variant-login-login01").protect is False, "nothing is kept on a login host"


def test_no_password_passes_through_pulumi_and_no_connection_goes_without_tls(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    database = only(graph, DATABASE, "variant-accounting").inputs
    assert database["manageMasterUserPassword"] is True and not {"password", "passwordWo"} & set(database)
    assert database["storageEncrypted"] is True and database["publiclyAccessible"] is False
    (group,) = graph.of_type("aws:rds/parameterGroup:ParameterGroup")
    parameters = {parameter["name"]: parameter["value"] for parameter in group.inputs["parameters"]}
    assert parameters["require_secure_transport"] == "1" and parameters["innodb_lock_wait_timeout"] == "900"
    assert group.inputs["family"] == "mariadb11.4" and group.inputs["name"] == "variant-accounting-mariadb11-4"


def test_user_data_of_a_host_is_complete_and_has_no_secret(tmp_path: Path) -> None:
    host = only(graph_of(tmp_path), INSTANCE, "variant-controller").inputs
    assert (
        host["metadataOptions"]["httpTokens"] == "required" and host["metadataOptions"]["httpPutResponseHopLimit"] == 1
    )
    assert host["rootBlockDevice"]["encrypted"] is True and "associatePublicIpAddress" not in host
    # The provider's `volume_tags` would also set the tags of the state volume, a resource with tags of its own.
    assert host["rootBlockDevice"]["tags"] == host["tags"] and "volumeTags" not in host
    text = base64.b64decode(host["userDataBase64"]).decode()
    assert text.startswith("#cloud-config\n")
    cloud_config = json.loads(text.partition("\n")[2])
    assert (
        cloud_config["hostname"] == "ctl01"
        and cloud_config["fqdn"] == "ctl01.cluster.internal"
        and len(cloud_config["ssh_authorized_keys"]) == 1
    )
    url = "https://s3.us-east-1.amazonaws.com/amazon-ssm-us-east-1/latest/debian_amd64/amazon-ssm-agent.deb"
    assert url in cloud_config["write_files"][0]["content"] and cloud_config["runcmd"] == [
        [cloud_config["write_files"][0]["path"]]
    ]


def test_an_arm_host_gets_its_own_agent_and_an_unlocked_image_is_queried(tmp_path: Path) -> None:
    arm = (
        ("instance: m7i.large, volume", "instance: m7g.large, volume"),
        ("image: ami-0a11ce5a9db0c5000\n        con", "con"),
    )
    host = only(graph_of(tmp_path, *arm), INSTANCE, "variant-controller").inputs
    assert "debian_arm64" in base64.b64decode(host["userDataBase64"]).decode()
    assert host["ami"] == "ami-0123456789abcdef0", "the parameter's value"


def rules(graph: Graph, kind: str, group: str) -> set[tuple[str, str, Any]]:
    """Return (peer, protocol, first port) of a group's rules of one direction."""
    return {
        (rule.get("cidrIpv4") or rule["referencedSecurityGroupId"], rule["ipProtocol"], rule.get("fromPort"))
        for rule in (node.inputs for node in graph.of_type(kind))
        if rule["securityGroupId"] == f"{group}-id"
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
    assert rules(graph, OUT, "variant-accounting") == set(), "a database opens no connections"
    assert ("variant-accounting-id", "tcp", 3306) in rules(graph, OUT, "variant-controller")
    assert not any(port == 22 for name in ("controller", "login") for _, _, port in rules(graph, IN, f"variant-{name}"))
    # Homes: the groups of the file system and of the login hosts refer to each other.
    assert ("variant-login-id", "tcp", 2049) in rules(graph, IN, "variant-home")


def test_egress_permits_the_package_sources_of_the_file(tmp_path: Path) -> None:
    proxied = graph_of(
        tmp_path, ("login: {count: 1}", "login: {count: 0}\n        packages: {apt_proxy: 'http://10.60.0.9:3142'}")
    )
    world = {(proto, port) for peer, proto, port in rules(proxied, OUT, "variant-controller") if peer == "0.0.0.0/0"}
    assert world == {("tcp", 443), ("tcp", 3142)}
    assert proxied.of_type("landbridge:components:Login") == []
    assert ("10.60.0.0/16", "tcp", 60001) in rules(proxied, IN, "variant-controller"), (
        "users submit from the controller"
    )


def test_names_do_not_depend_on_the_number_of_hosts(tmp_path: Path) -> None:
    few, many = graph_of(tmp_path), graph_of(tmp_path, ("count: 1", "count: 4"), ("volume_gib: 50", "volume_gib: 99"))
    assert set(few.nodes) < set(many.nodes)
    assert {node.name for node in of_services(many).values()} - {node.name for node in of_services(few).values()} == {
        f"variant-login-login0{number}" for number in (2, 3, 4)
    }
    for name in ("variant-controller", "variant-login-login01"):
        assert only(few, INSTANCE, name).inputs == only(many, INSTANCE, name).inputs


def test_addresses_are_reserved_in_the_subnet(tmp_path: Path) -> None:
    (reservation,) = graph_of(tmp_path).of_type("aws:ec2/subnetCidrReservation:SubnetCidrReservation")
    assert (reservation.inputs["cidrBlock"], reservation.inputs["reservationType"]) == ("10.60.128.16/28", "explicit")
    assert reservation.inputs["subnetId"] == "variant-private-use1-az4-id"


def test_there_are_no_roles_for_an_on_prem_site(tmp_path: Path) -> None:
    graph = graph_of(tmp_path)
    names = {node.inputs["name"] for node in graph.of_type("aws:iam/role:Role")}
    assert {"variant-controller", "variant-login", "variant-node"} <= names
    assert not {f"variant-{role}" for role in ("launch", "terminate", "read", "hub", "mover")} & names


def test_services_are_the_same_in_one_stack_and_in_three(tmp_path: Path) -> None:
    owner = "owner: newcomer@example.org"
    single, three = (
        joined(record_stacks(write(tmp_path, "variant", *changes, endpoint=ENDPOINT), Answering()).values())
        for changes in ((), ((owner, f"{owner}\n    stacks: three"),))
    )

    def inputs_of_services(graph: Graph) -> dict[str, Any]:
        return {key.split("::", 2)[2]: node.inputs for key, node in of_services(graph).items()}

    assert (
        inputs_of_services(single) == inputs_of_services(three)
        and single.outputs["services"] == three.outputs["services"]
    )


def test_a_change_of_the_database_waits_for_its_window_unless_the_file_says_now(tmp_path: Path) -> None:
    waiting = only(graph_of(tmp_path), DATABASE, "variant-accounting").inputs
    assert (waiting["allowMajorVersionUpgrade"], waiting["applyImmediately"]) == (False, False)
    change = ("login: {count: 1}", "login: {count: 1}\n        database: {apply_immediately: true}")
    now = only(graph_of(tmp_path, change), DATABASE, "variant-accounting").inputs
    assert (now["allowMajorVersionUpgrade"], now["applyImmediately"]) == (True, True)


def test_a_new_series_in_the_file_alone_is_refused(cloud: EmulatorProcess, tmp_path: Path) -> None:
    applied = apply(write(tmp_path, "graph", endpoint=cloud.endpoint), cloud.endpoint, "us-east-1")
    try:
        graph = graph_of(tmp_path, ("login: {count: 1}", "login: {count: 1}\n        database: {version: '11.8'}"))
        planned = only(graph, DATABASE, "variant-accounting").inputs
        api = RESOURCE_TYPES[DATABASE](EmulatedAws(cloud.endpoint, "us-east-1"))
        state = {"identifier": "graph-accounting"}
        with pytest.raises(ClientError, match="AllowMajorVersionUpgrade"):
            api.update("db", state, {**planned, **state}, frozenset({"engineVersion"}))
    finally:
        applied.destroy()


def test_a_partially_created_parameter_group_is_completed(cloud: EmulatorProcess) -> None:
    """RDS sets the parameters in a second call: without them the database would accept connections without TLS."""
    token, rds = "aws:rds/parameterGroup:ParameterGroup", client(cloud, "rds")
    inputs = {"name": "half", "family": "mariadb11.4", "description": "d"}
    inputs["parameters"] = [{"name": "require_secure_transport", "value": "1", "applyMethod": "immediate"}]
    cloud.control(faults={"ModifyDBParameterGroup": {"code": "InternalFailure", "status": 400}})
    api = EmulatedAws(cloud.endpoint, "us-east-1")
    with pytest.raises(partial_creation.PartialCreation) as caught:
        partial_creation.create(RESOURCE_TYPES[token](api), inputs)
    assert rds.describe_db_parameters(DBParameterGroupName="half")["Parameters"] == []
    partial_creation.update(RESOURCE_TYPES[token](api), caught.value.id, inputs, inputs, frozenset())
    (parameter,) = rds.describe_db_parameters(DBParameterGroupName="half")["Parameters"]
    assert parameter["ParameterValue"] == "1"
    RESOURCE_TYPES[token](api).delete("half", inputs)


def test_services_are_created_and_destroyed_in_the_emulated_aws(cloud: EmulatorProcess, tmp_path: Path) -> None:
    before, rds = left(cloud), client(cloud, "rds")
    applied = apply(write(tmp_path, "graph", endpoint=cloud.endpoint), cloud.endpoint, "us-east-1")
    try:
        served = applied.outputs.services
        assert served is not None
        (database,) = rds.describe_db_instances(DBInstanceIdentifier="graph-accounting")["DBInstances"]
        assert database["Endpoint"]["Address"] == served.database.address and database["BackupRetentionPeriod"] == 14
        secret = client(cloud, "secretsmanager").get_secret_value(SecretId=served.database.secret_arn)
        assert json.loads(secret["SecretString"])["username"] == served.database.user
        (volume,) = client(cloud, "ec2").describe_volumes(VolumeIds=[served.state_volume_id])["Volumes"]
        assert [attachment["InstanceId"] for attachment in volume["Attachments"]] == [served.hosts["ctl01"].instance_id]
    finally:
        applied.destroy()
    assert left(cloud) == before
