"""Cache of datasets on nodes in AWS: real processes read the emulated S3 with the credentials of jobs' roles."""

import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from sandbox.aws_emulator.process import EmulatorProcess, running
from sandbox.demo.cluster import wait_for
from tests.roles.storage.dataset_cache_cloud import CLASSES, REGION, credentials, stage
from tests.roles.storage.dataset_cache_node import Node, bucket, equal
from tests.unit.aws_emulator.conftest import client_of

SIZES = [6_000_000, 100, 0, 300_000]
NODES, EPOCHS = 4, 3


@dataclass
class Relay:
    """TCP relay before the emulated S3, which counts the bytes of its answers."""

    target: tuple[str, int]
    count: int = 0
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))

    def serve(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(self.target)
            threading.Thread(target=self._copy, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._copy, args=(server, client, True), daemon=True).start()

    def _copy(self, source: socket.socket, target: socket.socket, counted: bool) -> None:
        try:
            while body := source.recv(1 << 16):
                self.count += len(body) if counted else 0
                target.sendall(body)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


@dataclass
class Cloud:
    """Emulated AWS with a bucket and a role of jobs for each class, and a staged dataset in each bucket."""

    process: EmulatorProcess
    relay: Relay
    source: Path
    folder: Path

    def credentials(self, data_class: str) -> list[str]:
        return credentials(self.process, data_class)

    def node(self, folder: Path, data_class: str = "internal") -> Iterator[Node]:
        """Yield a node whose jobs have the credentials of a class."""
        folder.mkdir(parents=True)
        lines = "".join(f"# landbridge-checkpoints {name} s3://{name}-bucket/checkpoints/\n" for name in CLASSES)
        (folder / "slurm.conf").write_text(f"ClusterName=test\n{lines}")
        port = self.relay.listener.getsockname()[1]
        buckets = {
            "region": REGION,
            "slurm_conf": str(folder / "slurm.conf"),
            "url": f"http://127.0.0.1:{port}/BUCKET",
            "mounts": {},
        }
        classes = {name: {"group": "", "keep": True} for name in CLASSES}
        with endpoint(self.credentials(data_class)) as url:
            environ = {
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": url,
                "AWS_CONTAINER_AUTHORIZATION_TOKEN": "token-of-the-job",
            }
            node = Node(folder, classes=classes, buckets=buckets, job_environ=environ)
            node.start()
            try:
                yield node
            finally:
                node.stop()


@contextmanager
def endpoint(keys: list[str]) -> Iterator[str]:
    """Serve credentials in the form of the container credential provider, for one token. Source: AWS SDKs and Tools Reference Guide."""
    content = dict(zip(("AccessKeyId", "SecretAccessKey", "Token"), keys, strict=True))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_known = self.headers["Authorization"] == "token-of-the-job"
            self.send_response(200 if is_known else 403)
            self.end_headers()
            self.wfile.write(json.dumps(content if is_known else {}).encode())

        def log_message(self, *words: Any) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/job/1"
        server.shutdown()


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    folder = tmp_path_factory.mktemp("cloud")
    with running(folder / "state", "--with-parent", "--require-credentials") as process:
        source = folder / "source"
        stage(process, source, SIZES)
        place = urlsplit(process.endpoint)
        relay = Relay((str(place.hostname), int(place.port or 80)))
        threading.Thread(target=relay.serve, daemon=True).start()
        yield Cloud(process, relay, source, folder)
        relay.listener.close()


@pytest.fixture
def node(cloud: Cloud, tmp_path: Path) -> Iterator[Node]:
    yield from cloud.node(tmp_path / "node")


def same(folder: Path, cloud: Cloud) -> bool:
    return equal(folder, cloud.source)


def test_a_request_is_signed_as_botocore_signs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    host, path = "bucket.s3.us-east-1.amazonaws.com", "/datasets/files/corpus/v1/part-1/file%20%C3%BC1~"
    keys = ["AKIDEXAMPLE", "not-a-real-secret", "not-a-real-token"]
    headers = bucket.signed(host, path, REGION, keys)
    request = AWSRequest("GET", f"https://{host}{path}")
    moment = datetime.strptime(headers["x-amz-date"], "%Y%m%dT%H%M%SZ")
    signer = S3SigV4Auth(Credentials(*keys), "s3", REGION)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda *words, **names: moment)
    signer.add_auth(request)
    assert request.headers["Authorization"] == headers["authorization"]


def test_nodes_read_the_bucket_once_each_and_not_once_an_epoch(cloud: Cloud, tmp_path: Path) -> None:
    size, before = sum(SIZES), cloud.relay.count
    for number in range(NODES):
        for node in cloud.node(tmp_path / f"node{number}"):
            for _ in range(EPOCHS):
                folder, messages = node.path("corpus:v1", 1)
                assert messages == "" and same(folder, cloud)
    cached, before = cloud.relay.count - before, cloud.relay.count
    port = cloud.relay.listener.getsockname()[1]
    for _ in range(NODES * EPOCHS):
        files = bucket.BucketFiles(
            f"http://127.0.0.1:{port}/internal-bucket", REGION, ("corpus", "v1"), cloud.credentials("internal")
        )
        for path in cloud.source.rglob("file*"):
            with files.open(path.relative_to(cloud.source).as_posix()) as stream:
                assert stream.read() == path.read_bytes()
        files.close()
    plain = cloud.relay.count - before
    print(f"{NODES} nodes, {EPOCHS} epochs, {size} bytes: {cached} with the cache, {plain} without", file=sys.stderr)
    assert NODES * size <= cached < 1.05 * NODES * size and plain >= NODES * EPOCHS * size


def test_each_job_has_a_folder_of_its_user_which_leaves_with_the_job(node: Node, cloud: Cloud) -> None:
    first, second = (node.path("corpus:v1", job)[0] for job in (1, 2))
    assert first != second and same(first, cloud) and same(second, cloud)
    copies = [next(folder.rglob("file*0")).stat().st_ino for folder in (first, second)]
    assert copies[0] == copies[1] and node.path("corpus:v1", 1)[0] == first
    assert first.parent.stat().st_mode & 0o777 == 0o700 and first.parent.stat().st_uid == os.getuid()
    assert (node.folder / "cache/internal").stat().st_mode & 0o777 == 0o700
    node.end(1)
    wait_for("the removal of the job's folder", first.exists, (False).__eq__)
    assert second.exists() and len(node.cached()) == 1


def test_iam_decides_on_each_call_also_for_a_cached_dataset(node: Node, cloud: Cloud, tmp_path: Path) -> None:
    path, messages = node.path("corpus:v1", 1, "partner")
    assert not path.name and "403 AccessDenied" in messages and node.cached("partner") == []
    # A job of partner on the same node gets a copy; a job of internal still does not.
    with endpoint(cloud.credentials("partner")) as url:
        former, node.job_environ = node.job_environ, {**node.job_environ, "AWS_CONTAINER_CREDENTIALS_FULL_URI": url}
        assert same(node.path("corpus:v1", 2, "partner")[0], cloud)
    node.job_environ = former
    path, messages = node.path("corpus:v1", 1, "partner")
    assert not path.name and "403 AccessDenied" in messages
    node.job_environ = {}
    assert "no AWS credentials" in node.path("corpus:v1", 3)[1]


def test_an_absent_version_and_a_changed_object_are_refused(node: Node, cloud: Cloud) -> None:
    assert "404" in node.path("absent:v1", 1)[1]
    s3 = client_of(cloud.process, "s3")
    key = "datasets/files/corpus/v1/part-1/file ü1"
    body = s3.get_object(Bucket="internal-bucket", Key=key)["Body"].read()
    s3.put_object(Bucket="internal-bucket", Key=key, Body=bytes(len(body)))
    assert "does not match its SHA-256" in node.path("corpus:v1", 1)[1] and node.cached() == []
    s3.put_object(Bucket="internal-bucket", Key=key, Body=body)
    assert same(node.path("corpus:v1", 1)[0], cloud)
