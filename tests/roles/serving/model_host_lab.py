"""Lab host with the model servers and the model gateway of one service."""

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
from landbridge.plan.serving.follow import model_host_variables
from landbridge.plan.serving.gateway import model_gateway_variables
from landbridge.plan.serving.model_servers import MODELS, account, model_server_variables
from landbridge.plan.site.site_tls import AUTHORITY_FILE, certificate_variables
from sandbox.demo.cluster import LabCluster
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.site import Machine, operator_address, plan
from tests.roles.ansible_run import Played, connection, play

ONPREM, CLOUD = IPv4Network("10.59.0.0/16"), IPv4Network("10.99.0.0/16")
HOST, ADDRESS = "srv01", "10.59.0.31"
MONITORING = "10.59.0.32"
SITE = plan(ONPREM, CLOUD, None, (Machine(HOST, ADDRESS),))
OPERATOR = operator_address(ONPREM)
SERVICE, PORT = "digits", 8443
PASSWORD, HOST_TOKEN = "password-of-the-gateway-in-mlflow", "token-of-hosts-0123456789-0123456789"
TOKENS = {"lab": "lab-token-of-the-account-0123456789"}
ROLES = ["site_tls", "model_server", "model_gateway"]


def site_environment() -> Environment:
    """Return the environment: one host with the model servers and the gateway."""
    services = dict.fromkeys(("database", "storage", "gateway", "mlops"), HOST)
    # Model servers refuse health checks from the host of Prometheus. It is no machine here.
    services["monitoring"] = "mon01"
    content = {
        "owner": "a@example.org",
        "data_classes": {"internal": {"sites": ["onprem", "aws"]}},
        "users": [{"name": "alice", "uid": 20001}],
        "onprem": {
            "cidr": str(ONPREM),
            "nodes": [],
            "services": {**services, "controller": [HOST], "login": [HOST]},
            "addresses": {HOST: ADDRESS, "mon01": MONITORING},
        },
        "aws": {"cidr": str(CLOUD)},
        "link": {"kind": "vpn", "gateway_address": "203.0.113.10", "onprem_asn": 65010},
        "scheduler": {"accounts": {"lab": {"users": ["alice"], "data_class": "internal"}}},
        "serving": {
            "hosts": [HOST],
            "gateway": HOST,
            "port": PORT,
            "services": {
                SERVICE: {
                    "model": "digits",
                    "data_class": "internal",
                    "replicas": 1,
                    "port": 8500,
                    "accounts": ["lab"],
                    "runtime": "onnx",
                    "canary": {},
                }
            },
        },
    }
    return environment_from_config("test", "us-east-1", content)


@dataclass(frozen=True)
class ModelHost:
    """The host, with commands of the operator. `trust`: the public key whose signatures it accepts."""

    lab: Layout
    folder: Path
    trust: Path

    def run(self, command: str) -> str:
        done = nodes.exec(self.lab, HOST, [command], timeout=300)
        assert done.returncode == 0, f"{command}: {done.stderr}{done.stdout}"
        return str(done.stdout).strip()

    def converge(self, *words: str) -> Played:
        """Run the roles with the plan's variables."""
        chosen = site_environment()
        store = LocalFolder(self.folder / "secrets")
        store.generate(AUTHORITY, site_secrets().generated[AUTHORITY])
        variables: dict[str, Any] = {
            **model_server_variables(chosen, HOST),
            **model_host_variables(chosen, HOST),
            **model_gateway_variables(chosen),
            **certificate_variables(chosen, HOST),
            "ansible_host": ADDRESS,
            **connection(self.lab),
            "model_server_find_links": f"http://{OPERATOR}:3143/",
            "model_server_trust": self.trust.read_text(),
            "model_gateway_tokens": TOKENS,
            "model_gateway_find_links": f"http://{OPERATOR}:3143/",
            "model_gateway_trust": self.trust.read_text(),
            "model_gateway_mlflow_password": PASSWORD,
            "model_gateway_host_token": HOST_TOKEN,
            "model_server_token": HOST_TOKEN,
            "site_tls_authority": "\n".join(certificates_in(store.read()[AUTHORITY])),
            "site_tls_store": describe_store(store),
        }
        book = [{"hosts": HOST, "gather_facts": False, "roles": ROLES}]
        return play(self.lab, self.folder, book, {"all": {"hosts": {HOST: variables}}}, *words, timeout=600)

    def install(self, folder: Path, slot: str) -> None:
        """Copy a model folder to the host, and link a slot to it."""
        target = f"{MODELS}/{SERVICE}/{folder.name}"
        for file in folder.iterdir():
            LabCluster(self.lab).put(HOST, f"{target}/{file.name}", file.read_bytes(), "root")
        self.run(
            f"chown -R root:{account(SERVICE)} {target} && chmod -R u=rwX,g=rX,o= {target} && "
            f"ln -sfn {folder.name} {MODELS}/{SERVICE}/{slot}"
        )

    def predict(self, token: str = TOKENS["lab"]) -> tuple[int, Any]:
        """Return the status and the response of a prediction through the gateway."""
        body = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 3], "data": [1.0, 2.0, 3.0]}]})
        answer = self.run(
            f"curl --silent --cacert {AUTHORITY_FILE} --header {quote(f'Authorization: Bearer {token}')} "
            f"--header 'Content-Type: application/json' --data {quote(body)} --write-out '\\n%{{http_code}}' "
            f"https://{ADDRESS}:{PORT}/v2/models/digits/infer"
        )
        text, _, status = answer.rpartition("\n")
        return int(status), json.loads(text) if text.startswith("{") else text
