"""Lab host of the model gateway, whose service starts a host of model servers in the emulated AWS."""

from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from landbridge.catalog.site_secrets import site_secrets
from landbridge.certificates import certificates_in
from landbridge.environment import Environment, environment_from_config
from landbridge.ops.secrets.store import LocalFolder, describe_store
from landbridge.ops.site_certificates.issue import AUTHORITY
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.aws.access.iam_policies import ArnContext, start_and_stop
from landbridge.plan.network.services.serving import cloud_model_servers
from landbridge.plan.policy_document import document
from landbridge.tags import CLUSTER, MODEL_SERVER, SERVING
from sandbox.aws_emulator.process import EmulatorProcess
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.site import Machine, operator_address, plan
from tests.roles.ansible_run import Played, connection, play
from tests.unit.aws_emulator.conftest import IMAGE, client_of

ONPREM, CLOUD = IPv4Network("10.62.0.0/16"), IPv4Network("10.102.0.0/16")
HOST, ADDRESS, SERVER = "gwm01", "10.62.0.33", "serve-az4-01"
SITE = plan(ONPREM, CLOUD, None, (Machine(HOST, ADDRESS),))
OPERATOR = operator_address(ONPREM)
ENDPOINT, ACCOUNT, ROLE = f"{OPERATOR}:4592", "123456789012", "test-serving"
TOKENS = {"lab": "lab-token-of-the-account-0123456789"}
PASSWORD = "password-of-the-gateway-in-mlflow"
PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG2 operator@example.org"


def site_environment(*, has_aws: bool) -> Environment:
    """Return the environment: a service that follows the registry, on a host of the site and, if chosen, on one in AWS."""
    services = dict.fromkeys(("database", "storage", "gateway", "mlops"), "ctl01")
    url = f"http://{ENDPOINT}"
    digits = {"model": "digits", "data_class": "internal", "replicas": 2 if has_aws else 1, "port": 8500}
    digits |= {"accounts": ["lab"], "canary": {}, "scale": {"least": 0, "host_rate": 50}}
    in_aws = {"zones": {"use1-az4": 1}, "image": IMAGE, "public_keys": [PUBLIC_KEY]}
    content = {
        "owner": "a@example.org",
        "data_classes": {"internal": {"sites": ["onprem", "aws"]}},
        "users": [{"name": "alice", "uid": 20001}],
        "onprem": {
            "cidr": str(ONPREM),
            "nodes": [],
            "services": {**services, "controller": ["ctl01"], "login": ["ctl01"]},
            "addresses": {HOST: ADDRESS, "ctl01": "10.62.0.11", "srv01": "10.62.0.31"},
            "aws_credentials": "files",
        },
        "aws": {"cidr": str(CLOUD), "endpoints": {"operator": url, "onprem": url, "cloud": url}},
        "link": {"kind": "vpn", "gateway_address": "203.0.113.10", "onprem_asn": 65010},
        "scheduler": {"accounts": {"lab": {"users": ["alice"], "data_class": "internal"}}},
        "serving": {
            "hosts": ["srv01"],
            "gateway": HOST,
            **({"aws": in_aws} if has_aws else {}),
            "services": {"digits": digits},
        },
    }
    return environment_from_config("test", "us-east-1", content)


@dataclass(frozen=True)
class ModelInstances:
    """The gateway's host, and the emulated AWS with the instance. `trust`: the public key whose signatures it accepts."""

    lab: Layout
    folder: Path
    wheel: Path
    trust: Path
    cloud: EmulatorProcess
    instance: str
    credentials: str

    def run(self, command: str) -> str:
        """Run a shell command on the host; it must succeed."""
        done = nodes.exec(self.lab, HOST, [command], timeout=300)
        assert done.returncode == 0, f"{command}: {done.stderr}{done.stdout}"
        return str(done.stdout).strip()

    def converge(self, *words: str, has_aws: bool = True) -> Played:
        """Run the roles with the plan's variables."""
        planned = inventory(site_environment(has_aws=has_aws))
        store = LocalFolder(self.folder / "secrets")
        store.generate(AUTHORITY, site_secrets().generated[AUTHORITY])
        variables: dict[str, Any] = {
            **planned["model_gateway"]["vars"],
            **planned["_meta"]["hostvars"][HOST],
            "ansible_host": ADDRESS,
            **connection(self.lab),
            "model_gateway_tokens": TOKENS,
            "model_gateway_wheel": str(self.wheel),
            "model_gateway_find_links": f"http://{OPERATOR}:3143/",
            "model_gateway_trust": self.trust.read_text(),
            "model_gateway_mlflow_password": PASSWORD,
            "model_gateway_host_token": "token-of-hosts-0123456789-0123456789",
            "model_gateway_instances_credentials": self.credentials,
            "site_tls_authority": "\n".join(certificates_in(store.read()[AUTHORITY])),
            "site_tls_store": describe_store(store),
        }
        book = [{"hosts": HOST, "gather_facts": False, "roles": ["site_tls", "model_gateway"]}]
        return play(self.lab, self.folder, book, {"all": {"hosts": {HOST: variables}}}, *words, timeout=600)

    def state(self) -> str:
        """Return the state of the instance in EC2's words."""
        answer = client_of(self.cloud, "ec2").describe_instances(InstanceIds=[self.instance])
        return str(answer["Reservations"][0]["Instances"][0]["State"]["Name"])


def stopped_instance(cloud: EmulatorProcess) -> str:
    """Create the planned host as an instance that is stopped; return its id."""
    ec2 = client_of(cloud, "ec2")
    (zone,) = cloud_model_servers(site_environment(has_aws=True)).values()
    vpc = ec2.create_vpc(CidrBlock=str(CLOUD))["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.102.0.0/24", AvailabilityZoneId=zone)["Subnet"]["SubnetId"]
    tags = {CLUSTER: "test", SERVING: MODEL_SERVER, "landbridge:host": SERVER}
    launched = ec2.run_instances(
        ImageId=IMAGE,
        InstanceType="m7i.large",
        MinCount=1,
        MaxCount=1,
        SubnetId=subnet,
        TagSpecifications=[
            {"ResourceType": "instance", "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}
        ],
    )
    instance = str(launched["Instances"][0]["InstanceId"])
    ec2.stop_instances(InstanceIds=[instance])
    return instance


def gateway_credentials(cloud: EmulatorProcess) -> str:
    """Return a credentials file with a session of the gateway's role, which has the planned rights."""
    iam, sts = client_of(cloud, "iam"), client_of(cloud, "sts")
    trust = [{"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}]
    iam.create_role(RoleName=ROLE, AssumeRolePolicyDocument=document(trust))
    rights = document(start_and_stop(ArnContext("test", "aws", "us-east-1", ACCOUNT)))
    iam.put_role_policy(RoleName=ROLE, PolicyName="landbridge", PolicyDocument=rights)
    keys = sts.assume_role(RoleArn=f"arn:aws:iam::{ACCOUNT}:role/{ROLE}", RoleSessionName=HOST)["Credentials"]
    return (
        f"[default]\naws_access_key_id = {keys['AccessKeyId']}\naws_secret_access_key = {keys['SecretAccessKey']}\n"
        f"aws_session_token = {keys['SessionToken']}\n"
    )
