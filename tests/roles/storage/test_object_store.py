"""Object store of the site on a host: accounts of two data classes, refused requests, versions, and what its files show."""

import io
import tarfile
from base64 import b64encode
from collections.abc import Iterator
from shlex import quote

import pytest

from sandbox.aws_emulator.process import running
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import layout
from tests.roles.ansible_run import ROOT
from tests.roles.storage.object_store_lab import ADDRESS, ENDPOINT, HOST, HUB_BUCKET, SITE, StoreHost, key
from tests.unit.aws_emulator.conftest import client_of

# The server is built from its Go module, once for a machine.
pytestmark = [pytest.mark.lab, pytest.mark.long]
#: Restores the newest checkpoint, saves the given step, and prints both steps.
TRAINER = """import sys
from landbridge_checkpoints import CheckpointStore
store = CheckpointStore()
restored = store.restore()
with store.writing(int(sys.argv[1]), {}) as folder:
    (folder / "state.bin").write_bytes(bytes(100_000))
assert store.finish(60)
print(restored and restored.step, sys.argv[1])
"""
INTERNAL, RESTRICTED = "jobs-internal", "jobs-restricted"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreHost]:
    lab, folder = layout("landbridge-test-objects"), tmp_path_factory.mktemp("objects")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        options = ["--netns", lab.netns, "--listen-netns", ENDPOINT, "--with-parent"]
        with running(folder / "cloud", *options) as cloud:
            client_of(cloud, "s3").create_bucket(Bucket=HUB_BUCKET)
            store = StoreHost(lab, folder, cloud)
            store.converge("--check").good()
            store.converge().good()
            yield store
    finally:
        cleanup.down(lab)


def test_a_second_run_and_a_check_change_nothing(host: StoreHost) -> None:
    assert host.converge("--check").good().changed == {HOST: 0}
    assert host.converge().good().changed == {HOST: 0}


def test_an_account_has_the_bucket_of_its_class_only(host: StoreHost) -> None:
    assert "VersionId" in host.send(INTERNAL, "put_object", Bucket="test-internal", Key="a/b", Body="one")
    assert host.send(INTERNAL, "get_object", Bucket="test-internal", Key="a/b")["Body"] == "one"
    for action, arguments in (
        ("put_object", {"Key": "x", "Body": ""}),
        ("get_object", {"Key": "x"}),
        ("list_objects_v2", {}),
        ("get_bucket_policy", {}),
    ):
        answer = host.send(INTERNAL, action, Bucket="test-restricted", **arguments)
        assert answer["code"] == "AccessDenied", (action, answer)
    assert host.send(INTERNAL, "create_bucket", Bucket="test-mine")["code"] == "AccessDenied"
    assert host.send(INTERNAL, "list_objects_v2", "wrong", Bucket="test-internal")["code"] == "SignatureDoesNotMatch"
    names = [bucket["Name"] for bucket in host.send("landbridge", "list_buckets")["Buckets"]]
    assert names == ["test-internal", "test-restricted"], "no bucket of a class that may be in AWS only"


def test_an_account_can_neither_undo_versioning_nor_delete_without_the_right(host: StoreHost) -> None:
    host.send(INTERNAL, "put_object", Bucket="test-internal", Key="kept", Body="1")
    assert host.send(INTERNAL, "delete_object", Bucket="test-internal", Key="kept")["code"] == "AccessDenied"
    suspended = {"Status": "Suspended"}
    for account, bucket in ((INTERNAL, "test-internal"), (RESTRICTED, "test-restricted")):
        answer = host.send(account, "put_bucket_versioning", Bucket=bucket, VersioningConfiguration=suspended)
        assert answer["code"] == "AccessDenied"
    # `jobs_may_delete`: the object is hidden, its version remains.
    version = host.send(RESTRICTED, "put_object", Bucket="test-restricted", Key="old", Body="1")["VersionId"]
    host.send(RESTRICTED, "delete_object", Bucket="test-restricted", Key="old")
    assert host.send(RESTRICTED, "get_object", Bucket="test-restricted", Key="old")["code"] == "NoSuchKey"
    answer = host.send("landbridge", "get_object", Bucket="test-restricted", Key="old", VersionId=version)
    assert answer["Body"] == "1"


def test_a_conditional_write_is_refused_if_the_object_exists_or_has_changed(host: StoreHost) -> None:
    at = {"Bucket": "test-internal", "Key": "latest"}
    first = host.send(INTERNAL, "put_object", **at, Body="1", IfNoneMatch="*")["ETag"]
    assert host.send(INTERNAL, "put_object", **at, Body="2", IfNoneMatch="*")["code"] == "PreconditionFailed"
    assert "ETag" in host.send(INTERNAL, "put_object", **at, Body="2", IfMatch=first)
    assert host.send(INTERNAL, "put_object", **at, Body="3", IfMatch=first)["code"] == "PreconditionFailed"


def test_no_secret_is_in_the_process_list_or_in_a_file_that_others_read(host: StoreHost) -> None:
    listing = host.run("ps -ww -e -o args; systemctl show object-store; systemctl cat object-store")
    assert "versitygw posix" in listing
    assert not any(key(account) in listing for account in ("landbridge", INTERNAL, RESTRICTED))
    modes = host.run("stat -c '%a %U:%G' /etc/object-store/environment /etc/object-store/accounts/users.json")
    assert modes.splitlines() == ["640 root:object-store"] * 2
    assert host.run("find /srv/object-store/buckets -type f -perm /077 | wc -l") == "0"
    # The requests that administer accounts are not on the network.
    administration = "curl --silent --output /dev/null --write-out '%{http_code}' --cacert /etc/landbridge/tls/ca.pem"
    assert host.run(f"{administration} -X PATCH https://{ADDRESS}:7070/list-users") in ("403", "404", "405")


def test_checkpoints_of_a_job_are_restored_from_the_store(host: StoreHost) -> None:
    """The variables are those that the prolog sets for data that must stay on-prem."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path in (ROOT / "examples/checkpoints/landbridge_checkpoints").glob("*.py"):
            archive.add(path, f"landbridge_checkpoints/{path.name}")
    host.run(f"printf %s {b64encode(packed.getvalue()).decode()} | base64 -d | tar -xz -C /root")
    host.run(f"printf %s {quote(TRAINER)} > /root/trainer.py")
    words = {
        "LANDBRIDGE_CHECKPOINT_URL": "s3://test-restricted/checkpoints",
        "AWS_ENDPOINT_URL_S3": f"https://{ADDRESS}:7070",
        "AWS_CA_BUNDLE": "/etc/landbridge/tls/ca.pem",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": RESTRICTED,
        "AWS_SECRET_ACCESS_KEY": key(RESTRICTED),
        "SLURM_JOB_ID": "7",
        "SLURM_CLUSTER_NAME": "lab",
    }
    variables = " ".join(f"{name}={value}" for name, value in words.items())
    assert host.run(f"cd /root; env {variables} SCRATCH=/var/tmp/first python3 trainer.py 5").endswith("None 5")
    assert host.run(
        f"cd /root; env {variables} SCRATCH=/var/tmp/second SLURM_RESTART_COUNT=1 python3 trainer.py 9"
    ).endswith("5 9")
    keys = [entry["Key"] for entry in host.send(RESTRICTED, "list_objects_v2", Bucket="test-restricted")["Contents"]]
    assert "checkpoints/lab-7/latest.json" in keys
    assert len([name for name in keys if "/manifests/" in name]) == 2


def test_objects_below_site_are_copied_to_aws_and_those_below_aws_from_there(host: StoreHost) -> None:
    hub = client_of(host.cloud, "s3")
    host.run(f"printf %s {quote(host.cloud.operator_credentials.read_text())} > /etc/landbridge/aws-profiles")
    host.send(INTERNAL, "put_object", Bucket="test-internal", Key="site/result", Body="of the site")
    hub.put_object(Bucket=HUB_BUCKET, Key="aws/result", Body=b"of aws")
    host.run("systemctl start landbridge-object-copy.service")
    assert hub.get_object(Bucket=HUB_BUCKET, Key="site/result")["Body"].read() == b"of the site"
    assert host.send(INTERNAL, "get_object", Bucket="test-internal", Key="aws/result")["Body"] == "of aws"
    keys = [entry["Key"] for entry in hub.list_objects_v2(Bucket=HUB_BUCKET)["Contents"]]
    assert keys == ["aws/result", "site/result"], "objects of other prefixes stay"
    # One writer for each prefix.
    for account, name in ((INTERNAL, "aws/x"), ("copies-internal", "site/x"), ("copies-internal", "private")):
        answer = host.send(account, "put_object", Bucket="test-internal", Key=name, Body="")
        assert answer["code"] == "AccessDenied", (account, name)
    assert "NEXT" in host.run("systemctl list-timers landbridge-object-copy.timer")


def test_a_changed_secret_key_and_a_foreign_policy_are_set_by_the_next_run(host: StoreHost) -> None:
    host.converge(changed="-2").good()
    assert host.send(INTERNAL, "list_objects_v2", Bucket="test-internal")["code"] == "SignatureDoesNotMatch"
    assert "Contents" in host.send(INTERNAL, "list_objects_v2", f"{key(INTERNAL)}-2", Bucket="test-internal")
    root = f"{key('landbridge')}-2"
    host.send("landbridge", "delete_bucket_policy", root, Bucket="test-restricted")
    assert host.send(RESTRICTED, "list_objects_v2", f"{key(RESTRICTED)}-2", Bucket="test-restricted")["code"]
    assert host.converge(changed="-2").good().changed == {HOST: 1}
    assert "KeyCount" in host.send(RESTRICTED, "list_objects_v2", f"{key(RESTRICTED)}-2", Bucket="test-restricted")
