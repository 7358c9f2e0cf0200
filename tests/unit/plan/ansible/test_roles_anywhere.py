"""Variables of the role roles_anywhere: each service has the profiles of its own roles only."""

from datetime import UTC, datetime
from typing import Any

from landbridge.certificates import new_authority
from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.outputs import BucketOutput, DataHubOutput, IdentityOutput
from landbridge.plan.roles.hosts.roles_anywhere import credential_hosts
from tests.unit.core.samples import REMOVED, environment
from tests.unit.plan.ansible.test_burst import built

CERTIFICATE = new_authority("acme", datetime(2026, 11, 25, tzinfo=UTC))[1].decode()
ANYWHERE: dict[DataPath, Any] = {
    ("onprem", "aws_credentials"): REMOVED,
    ("aws", "iam"): {"anywhere": {"certificate": CERTIFICATE, "minutes": 30}},
}
KEYS = ("launch", "terminate", "read", "hub", "mover")
IDENTITY = IdentityOutput(
    node_instance_profile="node",
    node_role_arn="arn:node",
    trust_anchor_arn="arn:anchor",
    profile_arns={key: f"arn:profile/{key}" for key in KEYS},
    **{f"{key}_role_arn": f"arn:role/{key}" for key in KEYS},  # type: ignore[arg-type]
)


def variables(site: Environment, identity: IdentityOutput = IDENTITY) -> dict[str, Any]:
    bucket = BucketOutput(name="acme-internal-123456789012", key_arn="arn:key")
    hub = DataHubOutput(buckets={"internal": bucket})
    outputs = built(site).model_copy(update={"identity": identity, "data_hub": hub})
    data: dict[str, Any] = inventory(site, outputs)
    return data


def test_each_account_has_the_profiles_of_its_purpose() -> None:
    data = variables(environment(ANYWHERE))
    hosts = data["_meta"]["hostvars"]
    files = {
        (host, entry["owner"]): {profile["name"]: profile["role_arn"] for profile in entry["profiles"]}
        for host, values in hosts.items()
        for entry in values.get("roles_anywhere_files", ())
    }
    assert files == {
        ("ctl01", "slurm"): {"default": "arn:role/launch", "terminate": "arn:role/terminate"},
        ("ctl01", "root"): {"read": "arn:role/read"},
        ("mlops01", "mlflow"): {"default": "arn:role/hub"},
        ("mlops01", "root"): {"read": "arn:role/read"},
        ("nfs01", "root"): {"mover": "arn:role/mover"},
    }
    assert hosts["ctl01"]["roles_anywhere_common_name"] == "ctl01"
    assert hosts["ctl01"]["roles_anywhere_session_seconds"] == 1800
    assert hosts["ctl01"]["roles_anywhere_authority"] == CERTIFICATE
    files_of_servers = {
        server["name"]: server["credentials_file"] for server in data["mlflow"]["vars"]["mlflow_servers"]
    }
    assert files_of_servers["mlflow"] == "/etc/landbridge/aws-credentials-mlflow"
    assert data["burst"]["vars"]["burst_config"]["certificate_validity"] == "/etc/landbridge/anywhere/validity.json"


def test_the_first_controller_has_credentials_that_add_models_to_the_archive() -> None:
    archived: dict[DataPath, Any] = {
        ("onprem", "services", "monitoring"): "mlops01",
        ("observability",): {"timers": {}},
        ("storage", "data_hub", "classes"): {"internal": {"replica_region": "us-west-2"}},
    }
    identity = IDENTITY.model_copy(
        update={
            "archive_role_arn": "arn:role/archive",
            "profile_arns": {**IDENTITY.profile_arns, "archive": "arn:profile/archive"},
        }
    )
    files = {
        host: [entry for entry in values.get("roles_anywhere_files", ()) if entry["owner"] == "landbridge-archive"]
        for host, values in variables(environment({**ANYWHERE, **archived}), identity)["_meta"]["hostvars"].items()
    }
    (entry,) = files.pop("ctl01")
    assert entry["path"] == "/etc/landbridge/aws-credentials-model-archive"
    assert [(each["name"], each["role_arn"]) for each in entry["profiles"]] == [("default", "arn:role/archive")]
    assert not any(files.values())


def test_other_sources_need_no_certificate() -> None:
    for source, file in (("files", "/etc/landbridge/aws-credentials"), ("host", None)):
        site = environment({**ANYWHERE, ("onprem", "aws_credentials"): source})
        data = variables(site)
        assert credential_hosts(site) == ()
        assert not any("roles_anywhere_files" in values for values in data["_meta"]["hostvars"].values())
        assert data["burst"]["vars"]["burst_config"]["credentials_file"] == file
        assert "certificate_validity" not in data["burst"]["vars"]["burst_config"]


def test_before_up_no_credentials_are_configured() -> None:
    hosts = inventory(environment(ANYWHERE))["_meta"]["hostvars"]
    assert not any("roles_anywhere_files" in values for values in hosts.values())
