"""Host with MLflow's servers of two data classes; the tests of this folder share it, and run in one process."""

from collections.abc import Iterator

import pytest

from sandbox.aws_emulator.process import running
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from tests.roles.hosts.mlflow_servers.lab import (
    BUCKET,
    CLOUD_NODE,
    ENDPOINT,
    INTERNAL,
    NODE,
    RESTRICTED,
    SITE,
    Run,
    Tracking,
)
from tests.unit.aws_emulator.conftest import client_of


@pytest.fixture(scope="package")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tracking]:
    lab, folder = layout("landbridge-test-mlflow"), tmp_path_factory.mktemp("mlflow")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        options = ["--netns", lab.netns, "--listen-netns", ENDPOINT, "--with-parent"]
        with running(folder / "cloud", *options) as cloud:
            client_of(cloud, "s3").create_bucket(Bucket=BUCKET)
            tracking = Tracking(lab, folder, cloud)
            tracking.run(f"ip address add {NODE}/32 dev lo; ip address add {CLOUD_NODE}/32 dev lo")
            tracking.converge().good()
            yield tracking
    finally:
        cleanup.down(lab)


@pytest.fixture(scope="package")
def internal_run(host: Tracking) -> Run:
    return host.log("alice", INTERNAL, "digits")


@pytest.fixture(scope="package")
def restricted_run(host: Tracking) -> Run:
    return host.log("bob", RESTRICTED, "patients")
