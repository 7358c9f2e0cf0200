"""Metrics and logs of a node in AWS on real machines: published certificate, boot program, exporter, discovery, Prometheus, shipper and log store."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

from landbridge.catalog.site_secrets import site_secrets
from landbridge.certificates import certificates_in
from landbridge.environment import Environment, environment_from_config
from landbridge.ops.secrets.store import LocalFolder, describe_store
from landbridge.ops.site_certificates.issue import AUTHORITY
from landbridge.plan.ansible.inventory import inventory
from landbridge.plan.aws.access.iam_policies import ArnContext
from landbridge.plan.aws.access.identity import documents, identity_args
from landbridge.plan.aws.access.role_trust import instance_trust
from landbridge.plan.roles.hosts.cloud_metrics import certificate_publication
from landbridge.plan.roles.log_store import log_files, log_sources
from landbridge.realise import wheel
from sandbox.aws_emulator.process import EmulatorProcess, running
from sandbox.nspawn import cleanup
from sandbox.nspawn import lab as whole
from sandbox.nspawn.layout import Layout, layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.site import METADATA, Machine, operator_address, plan
from tests.roles.ansible_run import Played, connection, play
from tests.roles.hosts.test_monitoring import WAIT
from tests.unit.aws_emulator.conftest import build, client_of
from tests.unit.burst.conftest import described

pytestmark = [pytest.mark.lab, pytest.mark.long]
ONPREM, CLOUD = IPv4Network("10.39.0.0/16"), IPv4Network("10.95.0.0/16")
HOSTS = {"mon01": "10.39.0.17", "p5-1": "10.39.1.11"}
SITE = plan(ONPREM, CLOUD, None, tuple(Machine(name, address) for name, address in HOSTS.items()))
OPERATOR = operator_address(ONPREM)
ENDPOINT, ACCOUNT = f"{OPERATOR}:4591", "123456789012"
PASSWORDS = {"prometheus": "lab-password-of-scrapes-0123456789", "operator": "lab-password-of-operators-0123456"}
#: As in playbooks/node_image.yml.
SHIPPER = {
    "role": "log_shipper",
    "log_shipper_url": "{{ landbridge_cloud_logs.url }}",
    "log_shipper_certificate": "{{ landbridge_cloud_logs.certificate }}",
    "log_shipper_authority": "{{ landbridge_cloud_logs.authority }}",
    "log_shipper_of_node": True,
    "log_shipper_started": False,
}
#: Roles of a node image and of the monitoring host, in the order of the playbooks.
PLAYS: list[dict[str, Any]] = [
    {
        "hosts": "p5-1",
        "gather_facts": False,
        "vars": {
            "node_exporter_started": False,
            "node_exporter_certificate": "/etc/landbridge/metrics/host.pem",
            "node_exporter_password": "",
            "node_exporter_certificates": {"aws-nodes": "/etc/landbridge/metrics/host.pem"},
        },
        "roles": ["metadata_guard", "node_exporter", "cloud_metrics", SHIPPER],
    },
    {
        "hosts": "mon01",
        "gather_facts": False,
        "roles": ["site_tls", "node_exporter"],
        "post_tasks": [
            {
                "name": "Include the Python environment of the burst controller",
                "ansible.builtin.include_role": {"name": "python_runtime"},
                "vars": {
                    "python_runtime_name": "burst",
                    "python_runtime_lock": "{{ role_path }}/../burst/files/requirements.lock",
                    "python_runtime_wheels": ["{{ prometheus_discovery_wheel }}"],
                    "python_runtime_find_links": "{{ prometheus_discovery_find_links }}",
                },
            },
            {
                "name": "Copy the settings of the burst controller",
                "ansible.builtin.copy": {
                    "content": "{{ burst_config | to_json }}",
                    "dest": "/etc/landbridge/burst.json",
                    "mode": "0644",
                },
            },
            {
                "name": "Include the publication of the certificate",
                "ansible.builtin.include_role": {"name": "burst", "tasks_from": "publish_certificate"},
            },
            {"name": "Include prometheus", "ansible.builtin.include_role": {"name": "prometheus"}},
            {"name": "Include log_store", "ansible.builtin.include_role": {"name": "log_store"}},
            {"name": "Include log_shipper", "ansible.builtin.include_role": {"name": "log_shipper"}},
        ],
    },
]


def site_environment() -> Environment:
    services = dict.fromkeys(("database", "storage", "gateway", "mlops", "monitoring", "logs"), "mon01")
    pool = {"name": "p5", "instance": "m7i.large", "max_nodes": 2, "image": "ami-0123456789abcdef0"}
    url = f"http://{ENDPOINT}"
    content = {
        "owner": "a@example.org",
        "onprem": {
            "cidr": str(ONPREM),
            "nodes": [],
            "services": {**services, "controller": ["mon01"], "login": ["mon01"]},
            "addresses": {"mon01": HOSTS["mon01"]},
            "aws_credentials": "files",
        },
        "aws": {
            "cidr": str(CLOUD),
            "pools": [pool],
            "endpoints": {"operator": url, "onprem": url, "cloud": url},
        },
        "scheduler": {"slurm": {"version": "24.11"}},
        "link": {"kind": "vpn", "gateway_address": "203.0.113.10", "onprem_asn": 65010},
    }
    return environment_from_config("test", "us-east-1", content)


@dataclass(frozen=True)
class Lab:
    """Monitoring host, and a machine that is an instance of the emulated AWS."""

    lab: Layout
    folder: Path
    cloud: EmulatorProcess
    instance: str
    burst: dict[str, Any]

    def run(self, host: str, command: str) -> str:
        done = nodes.exec(self.lab, host, [command], timeout=600)
        assert done.returncode == 0, f"{command}: {done.stderr}{done.stdout}"
        return str(done.stdout).strip()

    def converge(self) -> Played:
        chosen = site_environment()
        store = LocalFolder(self.folder / "secrets")
        store.generate(AUTHORITY, site_secrets().generated[AUTHORITY])
        planned = inventory(chosen)
        site = planned["monitoring"]["vars"] | planned["log_store"]["vars"] | planned["_meta"]["hostvars"]["mon01"]
        site |= certificate_publication(chosen, identity_args(chosen).metrics_secret_name)
        site["prometheus_settings"]["global"] |= dict.fromkeys(
            ("scrape_interval", "scrape_timeout", "evaluation_interval"), "1s"
        )
        keys = self.cloud.operator_credentials.read_text()
        site |= {
            "burst_config": self.burst
            | {"endpoint": f"http://{ENDPOINT}", "credentials_file": "/etc/landbridge/aws-credentials-discovery"},
            "burst_root": "/opt/landbridge",
            "burst_metadata": False,
            "burst_metrics_password": PASSWORDS["prometheus"],
            "node_exporter_password": PASSWORDS["prometheus"],
            "node_exporter_probes": {},
            "node_exporter_gateway": False,
            "prometheus_scrape_password": PASSWORDS["prometheus"],
            "prometheus_operator_password": PASSWORDS["operator"],
            "prometheus_discovery_credentials": keys,
            "prometheus_discovery_find_links": f"http://{OPERATOR}:3143/",
            "prometheus_discovery_wheel": str(wheel.build(self.folder)),
            "site_tls_authority": "\n".join(certificates_in(store.read()[AUTHORITY])),
            "site_tls_store": describe_store(store),
        }
        # The publication needs credentials before the discovery has its own.
        self.run(
            "mon01",
            f"mkdir -p /etc/landbridge && printf %s {quote(keys)} > /etc/landbridge/aws-credentials-discovery",
        )
        common = {**planned["all"]["vars"], **connection(self.lab)}
        hosts = {
            "mon01": {**site, "ansible_host": HOSTS["mon01"]},
            "p5-1": {"ansible_host": HOSTS["p5-1"], "inventory_hostname_short": "p5-1"},
        }
        return play(self.lab, self.folder, PLAYS, {"all": {"hosts": hosts, "vars": common}}, timeout=900)

    def wait(self, query: str, wanted: Any) -> None:
        url = f"https://{HOSTS['mon01']}:9090/api/v1/query?query={query}"
        words = [url, PASSWORDS["operator"], json.dumps(wanted), "[]"]
        done = nodes.exec(self.lab, "mon01", [f"python3 -c {quote(WAIT)} {' '.join(map(quote, words))}"], timeout=600)
        assert done.returncode == 0, f"{query}: {done.stderr}{done.stdout}\n{self.describe()}"

    def describe(self) -> str:
        """Return what the discovery wrote, and the ends of the logs of the units that a target needs."""
        seen = self.run("mon01", "cat /var/lib/landbridge-discovery/*.json || true")
        units = {"mon01": "landbridge-discovery", "p5-1": "landbridge-node-metrics"}
        for host, unit in units.items():
            seen += "\n" + self.run(host, f"journalctl --quiet --no-pager --lines=30 --unit={unit} || true")
        return seen

    def received(self, node: str, words: str) -> str:
        """Return the entries of a node at the log store with these words; the wait ends when there is one."""
        files = f"/var/log/landbridge-logs/{log_files(log_sources(site_environment())[node])}"
        search = (
            f"journalctl --quiet --output=json --output-fields=MESSAGE,_HOSTNAME --file='{files}' --grep={quote(words)}"
        )
        return self.run("mon01", f"timeout 400 sh -c {quote(f'until {search}; do sleep 0.3; done')}")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    lab, folder = layout("landbridge-test-cloud-metrics"), tmp_path_factory.mktemp("cloud-metrics")
    cleanup.down(lab)
    try:
        whole.up(lab, SITE)
        options = ["--require-credentials", "--netns", lab.netns, "--listen-netns", ENDPOINT, "--with-parent"]
        options += ["--imds", f"{METADATA}:80", "--boot-delay", "0"]
        with running(folder / "cloud", *options) as cloud:
            burst = described(cloud, build(client_of(cloud, "ec2")))
            started = Lab(lab, folder, cloud, _instance(cloud), burst)
            started.converge().good()
            yield started
    finally:
        cleanup.down(lab)


def _instance(cloud: EmulatorProcess) -> str:
    """Create the secret, the nodes' role with the rights of the plan, and the instance that the lab's machine is."""
    iam, ec2, secrets = (client_of(cloud, name) for name in ("iam", "ec2", "secretsmanager"))
    args = identity_args(site_environment())
    arn = secrets.create_secret(Name=args.metrics_secret_name)["ARN"]
    place = ArnContext("test", "aws", "us-east-1", ACCOUNT)
    names = {job.data_class: f"arn:aws:s3:::{job.data_class}" for job in args.jobs}
    policy = documents(args, place, names, names, ["arn:aws:iam::1:role/n"], names, "arn:aws:secretsmanager:::k", arn)
    iam.create_role(RoleName="test-node", AssumeRolePolicyDocument=instance_trust())
    iam.put_role_policy(RoleName="test-node", PolicyName="landbridge", PolicyDocument=policy.node)
    profile = iam.create_instance_profile(InstanceProfileName="node")["InstanceProfile"]["Arn"]
    iam.add_role_to_instance_profile(InstanceProfileName="node", RoleName="test-node")
    vpc = ec2.create_vpc(CidrBlock=str(ONPREM))["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.39.1.0/24", AvailabilityZoneId="use1-az4")["Subnet"]["SubnetId"]
    tags = {"landbridge:cluster": "test", "landbridge:pool": "p5", "landbridge:nodes": "p5-1"}
    launched = ec2.run_instances(
        ImageId="ami-0a11ce5a9db0c5000",
        InstanceType="m7i.large",
        MinCount=1,
        MaxCount=1,
        IamInstanceProfile={"Arn": profile},
        NetworkInterfaces=[{"DeviceIndex": 0, "SubnetId": subnet, "PrivateIpAddress": HOSTS["p5-1"]}],
        MetadataOptions={"HttpTokens": "required"},
        TagSpecifications=[
            {"ResourceType": "instance", "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}
        ],
    )
    return str(launched["Instances"][0]["InstanceId"])


def test_an_image_has_the_exporter_and_neither_certificate_nor_account(site: Lab) -> None:
    assert site.run("p5-1", "ls /etc/landbridge/metrics") == "host-metrics.json"
    units = "prometheus-node-exporter landbridge-node-metrics systemd-journal-upload"
    assert site.run("p5-1", f"systemctl is-enabled {units}").split() == ["enabled"] * 3
    assert site.run("p5-1", "systemctl is-active systemd-journal-upload || true") == "inactive"


def test_a_second_run_on_the_builder_changes_nothing(site: Lab) -> None:
    assert site.converge().good().changed == {"mon01": 0, "p5-1": 0}


def test_a_node_appears_after_its_boot(site: Lab) -> None:
    nodes.stop(site.lab, "p5-1")
    nodes.boot(site.lab, "p5-1")
    nodes.wait_ssh(site.lab, ["p5-1"])
    site.wait("up%7Bsite%3D%22aws%22%7D", [["node", "1"]])
    assert site.run("p5-1", "stat -c '%U %G %a' /etc/landbridge/metrics/host.pem") == "root prometheus 640"
    assert "denied" in site.run("p5-1", "runuser -u nobody -- cat /etc/landbridge/metrics/host.pem 2>&1 || true")
    site.wait("landbridge_certificate_expiry_timestamp_seconds%7Bnode%3D%22p5-1%22%7D%3E%20bool%200", [["node", "1"]])


def test_its_log_is_at_the_site_while_it_runs_and_after_it_ended(site: Lab) -> None:
    site.run("p5-1", "logger --tag slurmd 'launch task StepId=7.0'")
    entry = json.loads(site.received("p5-1", "StepId=7.0").splitlines()[0])
    assert (entry["MESSAGE"], entry["_HOSTNAME"]) == ("launch task StepId=7.0", "p5-1")
    # Entries of an outage stay in the node's journal, and are sent after it.
    site.run("mon01", "systemctl stop landbridge-log-receiver")
    site.run("p5-1", "logger --tag slurmd 'done with StepId=8.0'")
    site.run("mon01", "systemctl start landbridge-log-receiver")
    assert "done with StepId=8.0" in site.received("p5-1", "StepId=8.0")
    # A planned end loses nothing: the stop of the shipper waits for the store.
    site.run("p5-1", 'for number in $(seq 2000); do echo "last words $number"; done | systemd-cat --identifier=slurmd')
    nodes.stop(site.lab, "p5-1", 120)
    seen = {json.loads(line)["MESSAGE"] for line in site.received("p5-1", "last words").splitlines()}
    assert {f"last words {number}" for number in range(1, 2001)} <= seen


def test_a_node_vanishes_with_its_instance(site: Lab) -> None:
    client_of(site.cloud, "ec2").terminate_instances(InstanceIds=[site.instance])
    site.wait("up%7Bsite%3D%22aws%22%7D", [])
