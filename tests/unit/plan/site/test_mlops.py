"""MLflow's servers: a run is stored where its account's data class may be, and only there."""

import json
from typing import Any

import pytest

from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.aws.storage.data_hub import bucket_policy
from landbridge.plan.network.services.mlflow_servers import artifact_class, mlflow_servers, server_name
from landbridge.plan.network.services.serving import SERVING_ACCOUNT
from landbridge.plan.outputs import DataHubOutput
from landbridge.plan.serving.gateway import model_gateway_variables
from landbridge.plan.site.secrets import generated_secrets
from landbridge.plan.site.teams.workspaces import workspaces
from tests.unit.core.samples import REMOVED, environment, shipped
from tests.unit.plan.ansible.test_inventory import OUTPUTS
from tests.unit.plan.site.test_firewall import CLOUD, DESK, NODE, STRANGER, open_at

ACCOUNTS: DataPath = ("scheduler", "accounts")
BOTH = {
    "vision": {"users": ["alice"], "data_class": "internal"},
    "clinic": {"users": ["bob"], "data_class": "restricted"},
}


def artifact_roots(chosen: Environment) -> dict[str, str]:
    """Return the artifact root of each account's jobs: of the server at their tracking URI."""
    buckets = {
        name: {"name": f"test-{name}-1", "key_arn": "arn:aws:kms:us-east-1:1:key/1"}
        for name, data_class in chosen.data_classes.items()
        if "aws" in data_class.sites
    }
    outputs = OUTPUTS.model_copy(update={"data_hub": DataHubOutput.model_validate({"buckets": buckets})})
    data = inventory(chosen, outputs)
    roots = {server["uri"]: server["artifacts_destination"] for server in data["mlflow"]["vars"]["mlflow_servers"]}
    variables: dict[str, dict[str, str]] = data["all"]["vars"]["slurm_job_environment_accounts"]
    uris = {account: values["MLFLOW_TRACKING_URI"] for account, values in variables.items() if account}
    return {account: roots[uri] for account, uri in uris.items() if uri}


@pytest.mark.parametrize("name", ["hybrid", "regulated", "example", "frontier", "startup", "sandbox"])
def test_artifacts_of_every_account_are_where_its_class_may_be(name: str) -> None:
    chosen = shipped(name)
    roots = artifact_roots(chosen)
    assert set(roots) == set(chosen.scheduler.accounts)
    for account, root in roots.items():
        data_class = chosen.scheduler.accounts[account].data_class
        if "aws" in chosen.data_classes[data_class].sites:
            assert root == f"s3://test-{data_class}-1/mlflow"
        else:
            assert root == f"/var/lib/mlflow-{data_class}/artifacts"


def test_the_clinic_of_the_hybrid_environment_stays_on_prem() -> None:
    first, second = mlflow_servers(shipped("hybrid"))
    assert (first.name, first.data_class, first.port, first.users) == ("mlflow", "internal", 5000, ("alice",))
    assert (second.name, second.data_class, second.port) == ("mlflow-restricted", "restricted", 5011)
    assert second.users == ("bob",) and [str(network) for network in second.sources] == ["10.20.0.0/16"]
    assert (first.database, first.users_database) == ("mlflow", "mlflow_auth"), "as before there were several servers"


def test_a_server_of_on_prem_data_is_not_open_to_aws() -> None:
    chosen = environment({ACCOUNTS: BOTH})
    for source, internal, restricted in (
        (CLOUD, True, False),
        (NODE, True, True),
        (DESK, True, True),
        (STRANGER, False, False),
    ):
        assert open_at(chosen, "mlops01", source, 5000) is internal
        assert open_at(chosen, "mlops01", source, 5011) is restricted


def test_own_firewall_rules_permit_networks_outside_of_aws_only() -> None:
    rules = [
        {"at": at, "source": source, "ports": "5011", "why": "desks"}
        for at, source in (("mlflow", "10.9.0.0/24"), ("mlops01", "10.8.0.0/24"), ("ctl01", "10.7.0.0/24"))
    ]
    cloud_rule = {"at": "mlflow", "source": "10.60.0.0/14", "ports": "5011", "why": "everything"}
    changes: dict[DataPath, Any] = {ACCOUNTS: BOTH, ("hosts",): {"firewall": {"rules": [*rules, cloud_rule]}}}
    sources = mlflow_servers(environment(changes))[1].sources
    assert [str(network) for network in sources] == ["10.8.0.0/24", "10.9.0.0/24", "10.20.0.0/16"]


def test_the_configured_class_is_that_of_the_first_server() -> None:
    first, *others = mlflow_servers(shipped("regulated"))
    assert (first.data_class, first.port) == ("federal", 5000)
    assert [(server.data_class, server.port, server.in_aws) for server in others] == [
        ("patients", 5010, False),
        ("export", 5011, True),
    ]


def test_a_class_without_account_has_no_server_and_a_port_may_be_set() -> None:
    assert [server.data_class for server in mlflow_servers(environment())] == ["internal"]
    ports = {("mlops", "mlflow"): {"ports": {"restricted": 5999}}}
    assert mlflow_servers(environment({ACCOUNTS: BOTH, **ports}))[1].port == 5999


def test_without_accounts_all_users_may_use_the_first_server() -> None:
    (server,) = mlflow_servers(environment({ACCOUNTS: {}}))
    assert server.users == ("alice", "bob")


def test_jobs_of_a_class_that_may_not_be_on_the_servers_host_have_no_server() -> None:
    changes: dict[DataPath, Any] = {
        ("data_classes", "cloudy"): {"sites": ["aws"]},
        ACCOUNTS: {**BOTH, "web": {"users": ["alice"], "data_class": "cloudy"}},
    }
    variables = inventory(environment(changes))["all"]["vars"]["slurm_job_environment_accounts"]
    ca = "MLFLOW_TRACKING_SERVER_CERT_PATH"
    assert variables["web"] == {"MLFLOW_TRACKING_URI": "", ca: "", "MLFLOW_DISABLE_TELEMETRY": "true"}
    assert variables["clinic"] == {
        "MLFLOW_TRACKING_URI": "https://mlops01:5011",
        ca: "/etc/landbridge/tls/ca.pem",
        "MLFLOW_DISABLE_TELEMETRY": "true",
    }


def test_without_tls_nothing_of_the_ca_is_left() -> None:
    chosen = environment({("mlops", "mlflow"): {"tls": False}})
    data = inventory(chosen)
    assert data["all"]["vars"]["base_environment"] == {
        "MLFLOW_TRACKING_URI": "http://mlops01:5000",
        "MLFLOW_DISABLE_TELEMETRY": "true",
    }
    assert "landbridge_site_tls" not in data["all"]["vars"] and "podman_read_only" not in data["all"]["vars"]
    assert "site_tls_names" not in data["_meta"]["hostvars"]["mlops01"]
    assert "mlflow_certificate" not in data["mlflow"]["vars"] and "site-ca" not in generated_secrets(chosen)


def test_the_certificate_has_the_names_that_clients_may_use() -> None:
    data = inventory(environment({("mlops", "mlflow"): {"allowed_hosts": ["mlflow.example.org:443"]}}))
    names = ["mlops01", "mlops01.cluster.internal", "10.20.0.15", "localhost", "mlflow.example.org"]
    assert data["_meta"]["hostvars"]["mlops01"]["site_tls_names"] == names
    assert [host for host, values in data["_meta"]["hostvars"].items() if "site_tls_names" in values] == ["mlops01"]
    assert data["all"]["vars"]["podman_read_only"] == ["/etc/landbridge/tls"]


def test_an_on_prem_site_without_data_in_aws_has_one_server_without_bucket() -> None:
    changes: dict[DataPath, Any] = {
        ("data_classes",): {"restricted": {"sites": ["onprem"]}},
        ACCOUNTS: {"vision": {"users": ["alice"], "data_class": "restricted"}},
    }
    chosen = environment(changes)
    assert artifact_class(chosen) is None
    servers = inventory(chosen)["mlflow"]["vars"]["mlflow_servers"]
    assert [server["artifacts_destination"] for server in servers] == ["/var/lib/mlflow/artifacts"]


def test_services_in_aws_have_a_server_for_each_class() -> None:
    chosen = shipped("startup")
    assert all(server.in_aws and server.sources == () for server in mlflow_servers(chosen))


def test_names_of_servers_are_names_of_unix_accounts_and_differ() -> None:
    long_names = [f"{'a' * 30}{digit}" for digit in range(3)]
    names = {server_name(name) for name in ("restricted", *long_names)}
    assert len(names) == 4 and all(len(name) <= 32 for name in names)
    classes = {name: {"sites": ["onprem"]} for name in ("auth", "x", "x-auth", *long_names)}
    accounts = {f"a{number}": {"users": ["alice"], "data_class": name} for number, name in enumerate(classes)}
    changes: dict[DataPath, Any] = {
        ("data_classes",): {"internal": {"sites": ["onprem", "aws"]}, **classes},
        ACCOUNTS: accounts,
    }
    servers = mlflow_servers(environment(changes))
    databases = [name for server in servers for name in (server.database, server.users_database)]
    assert len(set(databases)) == len(databases) == 2 * len(servers)
    assert len({server.port for server in servers}) == len(servers)


def test_the_role_of_mlflows_host_has_access_to_the_classes_that_mlflow_stores() -> None:
    from landbridge.plan.aws.access.identity import hub_document, identity_args

    chosen = shipped("regulated")
    args = identity_args(chosen)
    assert args.mlflow_classes == ("export", "federal")
    buckets = {name: f"arn:aws-us-gov:s3:::b-{name}" for name in ("export", "federal", "unused")}
    keys = {name: f"arn:aws-us-gov:kms:us-gov-west-1:1:key/{name}" for name in buckets}
    text = hub_document(args, "aws-us-gov", buckets, keys)
    assert "b-export/*" in text and "key/federal" in text and "unused" not in text
    # The accounts of a component's own user are unknown.
    assert identity_args(environment({ACCOUNTS: REMOVED})).mlflow_classes is None


def test_weights_in_a_bucket_are_encrypted_with_the_key_of_their_class() -> None:
    bucket, _, folder = artifact_roots(shipped("hybrid"))["vision"].removeprefix("s3://").partition("/")
    assert (bucket, folder) == ("test-internal-1", "mlflow")
    key = "arn:aws:kms:us-east-1:1:key/internal"
    statements = json.loads(bucket_policy(f"arn:aws:s3:::{bucket}", key))["Statement"]
    uploads = [each for each in statements if each["Effect"] == "Deny" and each["Action"] == "s3:PutObject"]
    assert {each["Resource"] for each in uploads} == {f"arn:aws:s3:::{bucket}/*"}
    permitted = {name: value for each in uploads for name, value in each["Condition"]["StringNotEquals"].items()}
    header = "s3:x-amz-server-side-encryption"
    assert permitted == {f"{header}-aws-kms-key-id": key, header: "aws:kms"}


def test_a_team_has_a_workspace_in_the_server_of_each_class_of_its_accounts() -> None:
    accounts = {
        "vision": {"users": ["alice", "carol"], "data_class": "internal"},
        "trial": {"users": ["alice"], "data_class": "restricted"},
        "clinic": {"users": ["bob"], "data_class": "restricted"},
    }
    rights = {"may_promote": ["carol"], "readers": ["ward"]}
    teams = {
        "pictures": {"accounts": ["vision", "trial"], "models": {"digits": rights}},
        "ward": {"accounts": ["clinic"]},
    }
    users = [{"name": name, "uid": uid} for uid, name in enumerate(("alice", "bob", "carol"), 20001)]
    chosen = environment({ACCOUNTS: accounts, ("users",): users, ("mlops", "teams"): teams})
    (pictures,) = workspaces(chosen, "internal")
    assert (pictures.name, pictures.members) == ("pictures", ("alice", "carol"))
    assert [(each.register, each.promote, each.read) for each in pictures.models] == [
        (("alice", "carol"), ("carol",), ())
    ]
    # Carol has no account with restricted data, and bob reads the team's models of that class only.
    pictures, ward = workspaces(chosen, "restricted")
    assert (pictures.members, ward.members, ward.models) == (("alice",), ("bob",), ())
    assert [(each.register, each.promote, each.read) for each in pictures.models] == [(("alice",), (), ("bob",))]
    variables = inventory(chosen)["all"]["vars"]["slurm_job_environment_accounts"]
    names = {account: values["MLFLOW_WORKSPACE"] for account, values in variables.items()}
    assert names == {"": "", "vision": "pictures", "trial": "pictures", "clinic": "ward"}


def test_the_model_gateway_promotes_the_followed_model_of_a_team_in_its_workspace() -> None:
    service = {"model": "digits", "data_class": "internal", "port": 8500, "accounts": ["vision"]}
    changes = {
        ACCOUNTS: BOTH,
        ("onprem", "addresses", "srv01"): "10.20.0.31",
        ("onprem", "addresses", "gwm01"): "10.20.0.33",
        ("mlops", "teams"): {"pictures": {"accounts": list(BOTH)}},
    }
    for team, names in (({}, ()), ({"team": "pictures"}, ("digits",))):
        services = {"digits": {**service, "canary": team}}
        chosen = environment({**changes, ("serving",): {"hosts": ["srv01"], "gateway": "gwm01", "services": services}})
        (workspace,) = workspaces(chosen, "internal")
        assert tuple(each.name for each in workspace.models) == names
        for each in workspace.models:
            assert each.register == workspace.members
            assert (each.promote, each.read) == ((*workspace.members, SERVING_ACCOUNT), (SERVING_ACCOUNT,))
        followed = model_gateway_variables(chosen)["model_gateway_follow"]["services"]
        assert [each["workspace"] for each in followed] == [team.get("team", "")]


def test_without_teams_nothing_of_workspaces_is_planned() -> None:
    chosen = environment({ACCOUNTS: BOTH})
    assert workspaces(chosen, "internal") == ()
    assert "MLFLOW_WORKSPACE" not in json.dumps(inventory(chosen)) and "workspaces" not in json.dumps(inventory(chosen))
