"""Whole requests of the cache of datasets on a node in AWS: the program sends them, and IAM's policies of the graph decide."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from landbridge.ops.iam import Decision, Document, Policies, Request, evaluate
from sandbox.pulumi_provider.graph import Graph
from tests.graph.components.pools.test_network_and_pools import ENDPOINT
from tests.graph.conftest import SANDBOX
from tests.graph.iam.claim import (
    BUCKET,
    FOREIGN_BUCKET,
    JOB_ROLE,
    KEY,
    NODE,
    ON_INSTANCE,
    PARTNER,
    PARTNER_KEY,
    RESTRICTED,
)
from tests.graph.support.policy_documents import ACCOUNT, everything, text_of
from tests.roles.storage.dataset_cache_node import bucket

OPEN = Document("everything", ({"Sid": "All", "Effect": "Allow", "Action": "*", "Resource": "*"},))
ROLE_POLICY = "aws:iam/rolePolicy:RolePolicy"
#: Name, bucket and key of the classes with a bucket in AWS.
CLASSES = {BUCKET: ("internal", KEY), PARTNER: ("partner", PARTNER_KEY)}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(SANDBOX.parent)
        yield everything(tmp_path_factory.mktemp("stack"))


@dataclass(frozen=True)
class Sent:
    """Request that reached a bucket's endpoint."""

    method: str
    path: str
    signed_by: str


@pytest.fixture(scope="module")
def sent() -> tuple[Sent, ...]:
    """Return the requests of the program for a dataset with one file, as a real server receives them."""
    received: list[Sent] = []

    class Endpoint(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            received.append(Sent(self.command, self.path, self.headers["authorization"]))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_HEAD = do_PUT = do_GET

        def log_message(self, *words: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        name = BUCKET.rpartition(":")[2]
        url = f"http://127.0.0.1:{server.server_address[1]}/{name}"
        files = bucket.BucketFiles(url, "us-east-1", ("corpus", "v1"), ("AKIA", "secret", "token"))
        for path in (bucket.MANIFEST, ".landbridge-dataset.json", "part-0/file 1"):
            files.open(path).read()
        files.close()
        server.shutdown()
        thread.join()
    return tuple(received)


def decide(
    graph: Graph, role: str, action: str, arn: str, key: str = "", *, secure: str = "true", owner: str = ACCOUNT
) -> Decision:
    """Return the first refusal of a whole request, else the allowance: S3's endpoint, role and bucket policy; then the role
    and the policy of the key with which S3 decrypts the object.
    """
    principal = f"arn:aws:iam::{ACCOUNT}:role/variant-{role}"
    account = {"aws:PrincipalAccount": ACCOUNT, "aws:ResourceAccount": owner, "aws:PrincipalIsAWSService": "false"}
    identity = Document.of(role, text_of(graph, ROLE_POLICY, role))
    endpoints = [node for node in graph.of_type(ENDPOINT) if node.inputs["serviceName"].endswith(".s3")]
    assert endpoints, "the graph has no endpoint of S3"
    through = tuple(Document.of(node.name, node.inputs["policy"]) for node in endpoints)
    place = next((each for each in CLASSES if arn == each or arn.startswith(f"{each}/")), None)
    resource, expected_key = None, ""
    if place is not None:
        data_class, expected_key = CLASSES[place]
        resource = Document.of("bucket", text_of(graph, "aws:s3/bucketPolicy:BucketPolicy", data_class))
    request = Request(principal, action, arn, {"aws:SecureTransport": secure, **account})
    decision = evaluate(request, Policies((identity,), resource, organization=through))
    if not decision.allowed:
        return decision
    used = key or expected_key
    named = next(name for name, each in CLASSES.values() if each == used)
    context = {"kms:ViaService": "s3.us-east-1.amazonaws.com", "kms:EncryptionContext:aws:s3:arn": arn, **account}
    of_key = Document.of("key", text_of(graph, "aws:kms/key:Key", named))
    return evaluate(
        Request(principal, "kms:Decrypt", used, context), Policies((identity,), of_key, resource_decides=True)
    )


def test_a_job_reads_each_object_that_the_program_asks_for(graph: Graph, sent: tuple[Sent, ...]) -> None:
    assert [request.method for request in sent] == ["GET"] * 3
    assert all(
        "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token" in each.signed_by for each in sent
    )
    for request in sent:
        arn = f"arn:aws:s3:::{request.path.lstrip('/').replace('%20', ' ')}"
        assert arn.startswith(f"{BUCKET}/datasets/")
        decision = decide(graph, "job-internal", "s3:GetObject", arn)
        assert decision.allowed, decision.why
        # Over TLS only; and neither the service's own role nor the job of another class.
        assert not decide(graph, "job-internal", "s3:GetObject", arn, secure="false").allowed
        assert not decide(graph, "node", "s3:GetObject", arn).allowed
        assert not decide(graph, "job-partner", "s3:GetObject", arn).allowed


FILE = "datasets/files/corpus/v1/part-0/file 1"
REFUSED = [
    pytest.param("s3:GetObject", f"{PARTNER}/{FILE}", "", ACCOUNT, id="bucket-of-another-class"),
    pytest.param("s3:GetObject", f"{RESTRICTED}/{FILE}", "", ACCOUNT, id="bucket-of-a-class-on-prem"),
    pytest.param("s3:GetObject", f"{FOREIGN_BUCKET}/{FILE}", "", ACCOUNT, id="other-bucket"),
    pytest.param("s3:GetObject", f"{BUCKET}-2/{FILE}", "", ACCOUNT, id="bucket-with-the-same-beginning"),
    pytest.param("s3:GetObject", f"{BUCKET}/{FILE}", "", "999988887777", id="bucket-of-another-account"),
    pytest.param("s3:GetObject", f"{BUCKET}/{FILE}", PARTNER_KEY, ACCOUNT, id="object-under-the-key-of-another-class"),
    pytest.param("s3:GetObject", f"{BUCKET}/landbridge-backups/{FILE}", "", ACCOUNT, id="copies-of-databases"),
    pytest.param("s3:PutObject", f"{BUCKET}/{FILE}", "", ACCOUNT, id="change-of-a-file"),
    pytest.param("s3:PutObject", f"{BUCKET}/datasets/manifests/corpus/v1.json", "", ACCOUNT, id="change-of-a-manifest"),
    pytest.param("s3:DeleteObject", f"{BUCKET}/{FILE}", "", ACCOUNT, id="removal"),
    pytest.param("s3:PutBucketPolicy", BUCKET, "", ACCOUNT, id="policy-of-the-bucket"),
]


@pytest.mark.parametrize(("action", "arn", "key", "owner"), REFUSED)
def test_iam_refuses_a_job_what_the_cache_does_not_need(
    graph: Graph, action: str, arn: str, key: str, owner: str
) -> None:
    assert not decide(graph, "job-internal", action, arn, key, owner=owner).allowed


def test_the_node_gets_the_sessions_of_jobs_and_reads_no_dataset_with_its_own_role(graph: Graph) -> None:
    identity = Document.of("node", text_of(graph, ROLE_POLICY, "node"))
    trust = Document.of("trust", text_of(graph, "aws:iam/role:Role", "job-internal"))
    for name, allowed in (("job-7", True), ("alice", False)):
        context = {**ON_INSTANCE, "sts:RoleSessionName": name}
        request = Request(NODE, "sts:AssumeRole", JOB_ROLE, context)
        both = (
            evaluate(request, Policies((identity,))).allowed,
            evaluate(request, Policies(resource=trust, resource_decides=True)).allowed,
        )
        assert both == (True, allowed), name
    for data in (BUCKET, PARTNER):
        assert not decide(graph, "node", "s3:GetObject", f"{data}/{FILE}").allowed
