"""Lab host with MLflow's servers of two data classes, one in AWS and one on-prem, and clients at both sites' addresses."""

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
from landbridge.plan.network.services.serving import SERVING_ACCOUNT
from landbridge.plan.outputs import StackOutputs
from landbridge.plan.roles.mlflow import mlflow_variables
from landbridge.plan.site.site_tls import AUTHORITY_FILE, certificate_variables
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.site import Machine, operator_address, plan
from tests.roles.ansible_run import ROOT, Played, connection, play
from tests.unit.aws_emulator.conftest import client_of

ONPREM, CLOUD = IPv4Network("10.57.0.0/16"), IPv4Network("10.97.0.0/16")
HOST, ADDRESS = "mlops01", "10.57.0.15"
SERVING = {"srv01": "10.57.0.31", "gwm01": "10.57.0.33"}
SITE = plan(ONPREM, CLOUD, None, (Machine(HOST, ADDRESS),))
OPERATOR = operator_address(ONPREM)
ENDPOINT = f"{OPERATOR}:4580"
BUCKET = "test-internal-1"
#: Addresses of a node at each site. They are the host's own, so that its clients can have them.
NODE, CLOUD_NODE = "10.57.1.11", "10.97.5.7"
INTERNAL, RESTRICTED = 5000, 5011
#: Outputs of the stack with the bucket.
OUTPUTS: dict[str, Any] = {
    "cluster": "test",
    "region": "us-east-1",
    "network": {"vpc_id": "vpc-1", "cidr": str(CLOUD), "subnets": {}},
    "data_hub": {"buckets": {"internal": {"name": BUCKET, "key_arn": "arn:aws:kms:us-east-1:1:key/1"}}},
    "identity": {"node_instance_profile": "p", "node_role_arn": "a"},
    "secrets": {"slurm_key": "test/slurm-key"},
    "pools": {},
}
API, PROXY = "/api/2.0/mlflow", "/api/2.0/mlflow-artifacts/artifacts"
ARTIFACTS = Path("/var/lib/mlflow-restricted/artifacts")
PYTHON = "/opt/landbridge/mlflow/bin/python"
#: Logs a run with the client library as a job does, and prints its ids.
LOG = """import json, mlflow, sys
mlflow.set_experiment(sys.argv[1])
with mlflow.start_run() as run:
    mlflow.log_metric("loss", 0.5)
    mlflow.log_text("result of " + sys.argv[1], "result.txt")
print(json.dumps({"run": run.info.run_id, "experiment": run.info.experiment_id, "uri": run.info.artifact_uri}))
"""
#: Sends one request from an address, and prints the status and the response.
REQUEST = """import base64, http.client, json, ssl, sys
r = json.loads(sys.argv[1])
context = ssl.create_default_context(cafile="/etc/landbridge/tls/ca.pem")
c = http.client.HTTPSConnection(r["host"], r["port"], timeout=60, source_address=(r["source"], 0), context=context)
c.putrequest(r["method"], r["path"])
body = r["body"].encode()
for user in r["users"]:
    pair = base64.b64encode(f"{user}:{r['passwords'].get(user, 'no-such-password')}".encode()).decode()
    c.putheader("Authorization", "Basic " + pair)
for name, value in r["headers"].items():
    c.putheader(name, value)
c.putheader("Content-Type", "application/json")
c.putheader("Content-Length", str(len(body)))
c.endheaders(body)
answer = c.getresponse()
print(json.dumps([answer.status, answer.read().decode(errors="replace")]))
"""


@dataclass(frozen=True)
class Run:
    """Run in MLflow: its id, its experiment's id and its artifact URI."""

    run: str
    experiment: str
    uri: str


def site_environment(teams: bool = False, **accounts: dict[str, Any]) -> Environment:
    """Return the environment: alice has internal data, bob restricted data, carol both. `teams`: each account has a team."""
    default = {
        "vision": {"users": ["alice", "carol"], "data_class": "internal"},
        "clinic": {"users": ["bob", "carol"], "data_class": "restricted"},
    }
    content = {
        "owner": "a@example.org",
        "data_classes": {"internal": {"sites": ["onprem", "aws"]}, "restricted": {"sites": ["onprem"]}},
        "users": [{"name": name, "uid": uid} for uid, name in enumerate(("alice", "bob", "carol"), 20001)],
        "onprem": {"cidr": str(ONPREM), "nodes": [], "addresses": {HOST: ADDRESS, **SERVING}},
        "aws": {"cidr": str(CLOUD)},
        "link": {"kind": "vpn", "gateway_address": "203.0.113.10", "onprem_asn": 65010},
        "scheduler": {"accounts": accounts or default},
        "mlops": {"teams": {name: {"accounts": [name]} for name in accounts or default} if teams else {}},
        # The model gateway follows one model.
        "serving": {
            "hosts": ["srv01"],
            "gateway": "gwm01",
            "services": {
                "patients": {
                    "model": "followed",
                    "data_class": "restricted",
                    "port": 8500,
                    "accounts": ["clinic"],
                    "canary": {},
                }
            },
        },
    }
    return environment_from_config("test", "us-east-1", content)


@dataclass(frozen=True)
class Tracking:
    """The host, with commands of the operator and of clients."""

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

    def converge(
        self,
        environment: Environment | None = None,
        *words: str,
        rotated: str = "",
    ) -> Played:
        """Run the roles with the plan's variables. `rotated`: end of the servers' passwords, but not of the users'."""
        book = [{"hosts": HOST, "gather_facts": False, "roles": ["site_tls", "mlflow"]}]
        hosts = {HOST: self._variables(environment or site_environment(), rotated)}
        return play(self.lab, self.folder, book, {"all": {"hosts": hosts}}, *words, timeout=600)

    def playbook(self, name: str, *values: str) -> Played:
        """Run a playbook with extra variables."""
        described = {"all": {"children": {"mlflow": {"hosts": {HOST: self._variables(site_environment())}}}}}
        words = [word for value in values for word in ("-e", value)]
        return play(self.lab, self.folder, ROOT / f"ansible/playbooks/{name}.yml", described, *words)

    def restore(self, dumps: Path) -> None:
        """Restore the databases of which a folder has dumps, by the playbook."""
        self.playbook("restore_databases", f"mlflow_dumps={dumps}").good()

    def objects(self) -> list[str]:
        """Return the keys of the objects in the bucket of the class that may be in AWS."""
        listed = client_of(self.cloud, "s3").list_objects_v2(Bucket=BUCKET)
        return [entry["Key"] for entry in listed.get("Contents", [])]

    def _variables(self, chosen: Environment, rotated: str = "") -> dict[str, Any]:
        outputs = StackOutputs.model_validate(OUTPUTS)
        variables = mlflow_variables(chosen, outputs) | {
            "mlflow_s3_endpoint": f"http://{ENDPOINT}",
            "mlflow_find_links": f"http://{OPERATOR}:3143/",
            "mlflow_workers": 1,
            "mlflow_users": [{"name": user.name, "password": password(user.name)} for user in chosen.users],
            "mlflow_secrets": {
                name: {kind: password(f"{name}-{kind}{rotated}") for kind in ("database", "admin", "session")}
                for name in ("mlflow", "mlflow-restricted")
            },
            "mlflow_serving_password": password(SERVING_ACCOUNT),
            "mlflow_aws_credentials": self.cloud.operator_credentials.read_text(),
            "site_tls_authority": "\n".join(certificates_in(self.secrets.read()[AUTHORITY])),
            "site_tls_store": describe_store(self.secrets),
        }
        variables |= certificate_variables(chosen, HOST)
        return {"ansible_host": ADDRESS, **connection(self.lab), **variables}

    def log(self, user: str, port: int, experiment: str, **more: str) -> Run:
        """Log a run with the client library."""
        variables = {
            "MLFLOW_TRACKING_URI": f"https://{ADDRESS}:{port}",
            "MLFLOW_TRACKING_SERVER_CERT_PATH": AUTHORITY_FILE,
            "MLFLOW_TRACKING_USERNAME": user,
            "MLFLOW_TRACKING_PASSWORD": password(user),
            "MLFLOW_DISABLE_TELEMETRY": "true",
            "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
            **more,
        }
        words = " ".join(f"{name}={value}" for name, value in variables.items())
        output = self.run(f"cd /tmp; env {words} {PYTHON} -W ignore -c {quote(LOG)} {experiment}")
        return Run(**json.loads(output.splitlines()[-1]))

    def send(
        self,
        port: int,
        path: str,
        *users: str,
        body: Any = None,
        method: str = "",
        source: str = NODE,
        rotated: str = "",
        **headers: str,
    ) -> tuple[int, str]:
        """Send a request from an address; return the status and the response. Several users: as many headers."""
        name = "mlflow" if port == INTERNAL else "mlflow-restricted"
        request = {
            "host": ADDRESS,
            "port": port,
            "path": path,
            "users": users,
            "passwords": {**{user: password(user) for user in users}, "admin": password(f"{name}-admin{rotated}")},
            "body": "" if body is None else json.dumps(body),
            "method": method or ("GET" if body is None else "POST"),
            "source": source,
            "headers": {name.replace("_", "-"): value for name, value in headers.items()},
        }
        status, text = json.loads(self.run(f"python3 -c {quote(REQUEST)} {quote(json.dumps(request))}"))
        return int(status), str(text)


def password(name: str) -> str:
    """Return the lab's password of a user or of a server's secret."""
    return f"lab-password-of-{name}"
