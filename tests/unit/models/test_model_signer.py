"""Signer of the store of secrets, and the data classes that may be in a registry."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from landbridge.catalog.site_secrets import site_secrets
from landbridge.certificates import certificates_in
from landbridge.environment import load_environment
from landbridge.models.files import VerifiedModel, verify_folder
from landbridge.models.files.sign import sign_folder
from landbridge.models.signers import signer_end, signer_serial
from landbridge.ops.model_signer import LEAST_DAYS, SIGNER, signer_of, site_trust
from landbridge.ops.secrets.cipher import SecretsError
from landbridge.ops.secrets.store import LocalFolder
from landbridge.plan.network.services.mlflow_servers import mlflow_servers, tracking_uri
from landbridge.plan.network.services.model_registries import registry_classes
from tests.unit.core.samples import ROOT
from tests.unit.models.folders import write_folder


@pytest.fixture
def store(tmp_path: Path) -> LocalFolder:
    folder = LocalFolder(tmp_path / "secrets")
    folder.generate("site-ca", site_secrets().generated["site-ca"])
    return folder


def test_the_signer_is_made_once_and_its_signature_is_trusted(store: LocalFolder, tmp_path: Path) -> None:
    # The library verifies at the time at which the signer's certificate begins, when the CA must exist.
    now = datetime.now(UTC)
    key, certificates = signer_of(store, "acme", now)
    assert signer_of(store, "acme", now) == (key, certificates)
    assert (store.path / SIGNER).stat().st_mode & 0o077 == 0
    folder = write_folder(tmp_path / "1")
    assert sign_folder(folder, key, certificates) == []
    verified = verify_folder(folder, site_trust(store))
    assert isinstance(verified, VerifiedModel) and verified.signer.startswith("acme model signer (")


def test_a_signer_near_its_end_is_replaced(store: LocalFolder) -> None:
    key, certificates = signer_of(store, "acme", datetime.now(UTC))
    later = signer_end(certificates[0]) - timedelta(days=LEAST_DAYS - 1)
    renewed, _ = signer_of(store, "acme", later)
    assert renewed != key
    assert signer_end("\n".join(certificates_in(store.read()[SIGNER]))) > signer_end(certificates[0])


def test_a_revoked_signer_is_replaced_once(store: LocalFolder) -> None:
    key, certificates = signer_of(store, "acme", datetime.now(UTC))
    serial = signer_serial(certificates[0])
    renewed = signer_of(store, "acme", datetime.now(UTC), (serial,))
    assert renewed[0] != key
    assert signer_of(store, "acme", datetime.now(UTC), (serial,)) == renewed


def test_a_store_without_a_ca_or_with_a_damaged_signer_is_an_error(store: LocalFolder, tmp_path: Path) -> None:
    with pytest.raises(SecretsError, match="lacks site-ca"):
        signer_of(LocalFolder(tmp_path / "empty"), "acme", datetime.now(UTC))
    store.write({SIGNER: "no key"})
    with pytest.raises(SecretsError, match="0 private keys"):
        signer_of(store, "acme", datetime.now(UTC))


def test_a_class_that_stays_on_prem_is_not_in_a_registry_in_aws() -> None:
    environment = load_environment(ROOT / "stacks/Pulumi.hybrid.yaml").environment
    assert environment is not None
    outside = (
        "arn:aws:sagemaker:eu-west-1:111122223333:mlflow-tracking-server/acme",
        "https://mlflow.example.org",
        "http://127.0.0.1:5000",
        "https://mlflow.eu-west-1.amazonaws.com",
    )
    for uri in outside:
        assert registry_classes(environment, uri) == {"internal"}, uri
    for server in mlflow_servers(environment):
        assert registry_classes(environment, tracking_uri(environment, server)) == {server.data_class}
