"""Object store of the site: buckets, accounts and policies by data class, its host, its port and its secrets."""

import re
from typing import Any

import pytest

from landbridge import yaml_text
from landbridge.catalog.object_store import object_store_facts
from landbridge.catalog.site_secrets import form_of
from landbridge.environment import Environment
from landbridge.findings import DataPath
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.aws.access.identity import identity_args
from landbridge.plan.network.host_role import hosts
from landbridge.plan.network.services.object_store import store_buckets, store_url
from landbridge.plan.roles.object_store import object_store_variables
from landbridge.plan.site.secrets import generated_secrets
from landbridge.plan.site.site_tls import server_names
from landbridge.rules.site.object_store import object_store_place
from tests.unit.core.samples import REMOVED, ROOT, environment
from tests.unit.plan.ansible.test_inventory import OUTPUTS
from tests.unit.plan.site.test_firewall import CLOUD, DESK, NODE, STRANGER, open_at

STORE: DataPath = ("storage", "object_store")
CLASSES: DataPath = ("data_classes",)


def with_store(changes: dict[DataPath, Any] | None = None) -> Environment:
    return environment({STORE: {}, **(changes or {})})


def allowed(chosen: Environment, bucket: str, access_key: str) -> set[str]:
    """Return the actions that the policy of a bucket gives an account."""
    (policy,) = [entry.policy for entry in store_buckets(chosen) if entry.name == bucket]
    statements = [entry for entry in policy["Statement"] if access_key in entry["Principal"]["AWS"]]
    assert all(entry["Effect"] == "Allow" for entry in statements)
    return {action for entry in statements for action in entry["Action"]}


def test_each_class_that_may_be_on_prem_has_a_bucket_for_its_own_accounts() -> None:
    chosen = with_store({(*CLASSES, "web"): {"sites": ["aws"]}, (*CLASSES, "restricted", "jobs_may_delete"): True})
    assert [bucket.name for bucket in store_buckets(chosen)] == ["test-internal", "test-restricted"]
    assert "s3:PutObject" in allowed(chosen, "test-internal", "jobs-internal")
    assert "s3:DeleteObject" not in allowed(chosen, "test-internal", "jobs-internal")
    assert "s3:DeleteObject" in allowed(chosen, "test-restricted", "jobs-restricted")
    for bucket in store_buckets(chosen):
        principals = {name for entry in bucket.policy["Statement"] for name in entry["Principal"]["AWS"]}
        assert principals == {account.access_key for account in bucket.accounts}
        assert {account.data_class for account in bucket.accounts} == {bucket.data_class}


@pytest.mark.parametrize("right", ["s3:PutBucketPolicy", "s3:PutBucketVersioning", "s3:DeleteObjectVersion", "s3:*"])
def test_no_account_may_undo_a_policy_or_versions(right: str) -> None:
    rights = [
        right for account in object_store_facts().accounts.values() for right in (*account.bucket, *account.objects)
    ]
    assert right not in rights


def test_the_store_is_on_the_storage_host_unless_another_is_named() -> None:
    def members(chosen: Environment) -> list[str]:
        return [host.name for host in hosts(chosen) if "object_store" in host.groups]

    assert members(with_store()) == ["nfs01"] and store_url(with_store()) == "https://nfs01:7070"
    other = with_store({("onprem", "services", "object_store"): "mlops01"})
    assert members(other) == ["mlops01"] and members(environment({})) == [] and store_url(environment({})) == ""
    assert server_names(with_store())["nfs01"] == ("nfs01", "nfs01.cluster.internal", "10.20.0.14", "localhost")
    assert set(server_names(other)["mlops01"]) == set(server_names(environment({}))["mlops01"])


def test_the_store_has_tls_without_mlflow() -> None:
    chosen = with_store({("mlops",): {"mlflow": {"tls": False}}})
    assert list(server_names(chosen)) == ["nfs01"] and "site-ca" in generated_secrets(chosen)
    variables = inventory(chosen)["all"]["vars"]["slurm_job_environment_accounts"]
    assert "MLFLOW_TRACKING_SERVER_CERT_PATH" not in variables[""]


def test_the_port_is_open_to_the_site_only() -> None:
    chosen = with_store()
    assert open_at(chosen, "nfs01", NODE, 7070) and open_at(chosen, "nfs01", DESK, 7070)
    assert not open_at(chosen, "nfs01", CLOUD, 7070) and not open_at(chosen, "nfs01", STRANGER, 7070)
    assert not open_at(environment({}), "nfs01", NODE, 7070)


def test_every_account_has_a_secret_and_the_variables_have_none() -> None:
    chosen = with_store()
    secrets = generated_secrets(chosen)
    variables = inventory(chosen)["object_store"]["vars"]
    named = [account["secret"] for bucket in variables["object_store_buckets"] for account in bucket["accounts"]]
    assert named == ["object-store-jobs-internal", "object-store-jobs-restricted"]
    assert set(named) < set(secrets) and "object-store-root" in secrets
    assert all(form_of(name) == secrets[name] for name in (*named, "object-store-root"))
    assert form_of("object-store-root-x") is None and form_of("object-store-jobs") is None
    assert not any(name.startswith("object-store") for name in generated_secrets(environment({})))
    assert inventory(environment({}))["object_store"] == {"hosts": [], "vars": {}}


def test_the_defaults_of_the_role_are_the_catalogues() -> None:
    defaults = yaml_text.load((ROOT / "ansible/roles/object_store/defaults/main.yml").read_text())
    variables = object_store_variables(with_store())
    common = set(defaults) & set(variables) - {"object_store_authority"}
    assert len(common) == 8 and all(defaults[name] == variables[name] for name in common)


def test_the_file_names_a_program_instead_of_the_build() -> None:
    program = {"url": "https://mirror.example.org/versitygw", "sha256": "1f" * 32}
    chosen = environment({STORE: {"program": program, "folder": "/srv/objects"}})
    variables = object_store_variables(chosen)
    assert variables["object_store_program_url"] == program["url"]
    assert variables["object_store_program_sha256"] == program["sha256"]
    assert re.fullmatch(r"h1:[A-Za-z0-9+/]{43}=", object_store_facts().sum)


def test_a_store_without_a_site_that_landbridge_configures_is_refused() -> None:
    adopted = {"cluster": "physics", "uid": 202, "state": "/srv/slurm/state"}
    for changes in ({("onprem", "existing_slurm"): adopted}, {("onprem",): REMOVED}):
        chosen = environment({STORE: {}, **changes})
        assert [finding.path for finding in object_store_place(chosen)] == [STORE]
        assert store_buckets(chosen) == () and object_store_variables(chosen) == {}


def test_a_replicated_class_has_one_writer_for_each_prefix() -> None:
    chosen = with_store({STORE: {"replicate": ["internal", "restricted"]}})
    internal, restricted = store_buckets(chosen)
    assert [account.access_key for account in restricted.accounts] == ["jobs-restricted"], "restricted data stays"
    denied = {
        (statement["Principal"]["AWS"][0], resource)
        for statement in internal.policy["Statement"]
        for resource in statement["Resource"]
        if statement["Effect"] == "Deny" and "s3:PutObject" in statement["Action"]
    }
    arn = "arn:aws:s3:::test-internal"
    assert denied == {("jobs-internal", f"{arn}/aws/*"), ("copies-internal", f"{arn}/site/*")}
    assert "object-store-copies-internal" in generated_secrets(chosen)
    assert "object-store-copies-restricted" not in generated_secrets(chosen)
    copies = object_store_variables(chosen, OUTPUTS)["object_store_copies"]
    assert [(entry["from"], entry["source"], entry["target"], entry["prefix"]) for entry in copies] == [
        ("store", "test-internal", "test-internal-1", "site/"),
        ("hub", "test-internal-1", "test-internal", "aws/"),
    ]
    assert "object_store_copies" not in object_store_variables(chosen)


def test_the_host_of_the_store_has_the_movers_role_if_it_copies() -> None:
    services = {("onprem", "services", "object_store"): "mlops01"}
    assert identity_args(with_store(services)).hosts["mover"] == ("nfs01",)
    replicating = with_store({**services, STORE: {"replicate": ["internal"]}})
    assert identity_args(replicating).hosts["mover"] == ("nfs01", "mlops01")
