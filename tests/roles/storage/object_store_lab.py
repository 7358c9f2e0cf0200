"""Lab host with the site's object store, configured with the plan's variables, and requests of its accounts."""

import json
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from shlex import quote
from typing import Any

from landbridge.catalog.site_secrets import site_secrets
from landbridge.certificates import certificates_in
from landbridge.environment import Environment, environment_from_config
from landbridge.ops.secrets.store import LocalFolder, describe_store
from landbridge.ops.site_certificates.issue import AUTHORITY
from landbridge.plan.network.services.object_store import store_buckets, store_url
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.roles.object_store import object_store_variables
from landbridge.plan.site.site_tls import AUTHORITY_FILE, certificate_variables
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.site import Machine, operator_address, plan
from tests.roles.ansible_run import Played, connection, play

ONPREM, CLOUD = IPv4Network("10.49.0.0/16"), IPv4Network("10.89.0.0/16")
HOST, ADDRESS = "nfs01", "10.49.0.14"
ENDPOINT = f"{operator_address(ONPREM)}:4581"
HUB_BUCKET = "test-internal-123456789012"
SITE = plan(ONPREM, CLOUD, None, (Machine(HOST, ADDRESS),))
#: Sends one request with an account's keys, and prints the code of the answer or its fields.
REQUEST = """import boto3, json, sys
from botocore.config import Config
from botocore.exceptions import ClientError
r = json.loads(sys.argv[1])
client = boto3.client("s3", endpoint_url=r["url"], region_name="us-east-1", aws_access_key_id=r["access"],
    aws_secret_access_key=r["secret"], verify=r["ca"], config=Config(s3={"addressing_style": "path"}))
try:
    answer = getattr(client, r["action"])(**r["arguments"])
    if "Body" in answer:
        answer["Body"] = answer["Body"].read().decode()
    print(json.dumps({k: v for k, v in answer.items() if k != "ResponseMetadata"}, default=str))
except ClientError as error:
    print(json.dumps({"code": error.response["Error"]["Code"]}))
"""


def site_environment() -> Environment:
    """Return the environment: internal data may be in AWS, restricted data may not, web's may not be on-prem."""
    content = {
        "owner": "a@example.org",
        "data_classes": {
            "internal": {"sites": ["onprem", "aws"]},
            "restricted": {"sites": ["onprem"], "jobs_may_delete": True},
            "web": {"sites": ["aws"]},
        },
        "users": [],
        "onprem": {"cidr": str(ONPREM), "nodes": [], "addresses": {HOST: ADDRESS, "mlops01": "10.49.0.15"}},
        "aws": {"cidr": str(CLOUD)},
        "link": {"kind": "vpn", "gateway_address": "203.0.113.10", "onprem_asn": 65010},
        "storage": {"object_store": {"replicate": ["internal"]}},
    }
    return environment_from_config("test", "us-east-1", content)


def built() -> StackOutputs:
    """Return the outputs of a stack with the bucket of internal data."""
    return StackOutputs.model_validate(
        {
            "cluster": "test",
            "region": "us-east-1",
            "network": {"vpc_id": "vpc-1", "cidr": str(CLOUD), "subnets": {}},
            "data_hub": {"buckets": {"internal": {"name": HUB_BUCKET, "key_arn": "arn:aws:kms:us-east-1:1:key/1"}}},
            "identity": {"node_instance_profile": "p", "node_role_arn": "a"},
            "secrets": {"slurm_key": "test/slurm-key"},
            "pools": {},
        }
    )


@dataclass(frozen=True)
class StoreHost:
    """The host, with runs of the roles and requests of accounts."""

    lab: Layout
    folder: Path
    cloud: EmulatorProcess

    @property
    def secrets(self) -> LocalFolder:
        """Return the operator's store of secrets, with the site's CA."""
        store = LocalFolder(self.folder / "secrets")
        store.generate(AUTHORITY, site_secrets().generated[AUTHORITY])
        return store

    def run(self, command: str) -> str:
        done = nodes.exec(self.lab, HOST, [command], timeout=300)
        assert done.returncode == 0, f"{command}: {done.stderr}{done.stdout}"
        return str(done.stdout).strip()

    def converge(self, *words: str, changed: str = "") -> Played:
        """Run the roles with the plan's variables. `changed`: the end of every secret key."""
        chosen, host = site_environment(), {"ansible_host": ADDRESS, **connection(self.lab)}
        variables = object_store_variables(chosen, built(), f"http://{ENDPOINT}") | certificate_variables(chosen, HOST)
        variables["object_store_hub_profile"] = "default"
        accounts = [account.access_key for bucket in store_buckets(chosen) for account in bucket.accounts]
        variables |= {
            "object_store_secrets": {name: f"{key(name)}{changed}" for name in ("landbridge", *accounts)},
            "site_tls_authority": "\n".join(certificates_in(self.secrets.read()[AUTHORITY])),
            "site_tls_store": describe_store(self.secrets),
        }
        book = [{"hosts": HOST, "gather_facts": False, "roles": ["site_tls", "object_store"]}]
        return play(self.lab, self.folder, book, {"all": {"hosts": {HOST: host | variables}}}, *words, timeout=600)

    def send(self, account: str, action: str, secret: str = "", **arguments: Any) -> dict[str, Any]:
        """Send a request with an account's keys; return the fields of the answer, or its code."""
        request = {
            "url": store_url(site_environment()).replace(HOST, ADDRESS),
            "access": account,
            "secret": secret or key(account),
            "ca": AUTHORITY_FILE,
            "action": action,
            "arguments": arguments,
        }
        answer: dict[str, Any] = json.loads(self.run(f"python3 -c {quote(REQUEST)} {quote(json.dumps(request))}"))
        return answer


def key(account: str) -> str:
    """Return the lab's secret key of an account."""
    return f"lab-secret-key-of-{account}"
