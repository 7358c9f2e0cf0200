"""Two lab hosts with the model gateway and its shared address, and a client."""

from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from landbridge.catalog.site_secrets import site_secrets
from landbridge.certificates import certificates_in
from landbridge.environment import Environment, environment_from_config
from landbridge.ops.secrets.store import LocalFolder, describe_store
from landbridge.ops.site_certificates.issue import AUTHORITY
from landbridge.plan.serving.gateway import gateway_host_variables, model_gateway_variables
from landbridge.plan.site.site_tls import certificate_variables
from sandbox.nspawn.layout import Layout
from sandbox.nspawn.machine import nodes
from sandbox.nspawn.site import Machine, plan
from tests.roles.ansible_run import Played, connection, play

ONPREM, CLOUD = IPv4Network("10.61.0.0/16"), IPv4Network("10.101.0.0/16")
CLIENT, FIRST, SECOND = "srv01", "gwm01", "gwm02"
ADDRESSES = {CLIENT: "10.61.0.31", FIRST: "10.61.0.33", SECOND: "10.61.0.34"}
NAME, SHARED, PORT = "models", "10.61.0.40", 8443
SITE = plan(ONPREM, CLOUD, None, tuple(Machine(name, address) for name, address in ADDRESSES.items()))
TOKENS = {"lab": "lab-token-of-the-account-0123456789"}


def site_environment() -> Environment:
    """Return the environment: two gateways before the model servers of a host that has none yet."""
    services = dict.fromkeys(("database", "storage", "gateway", "mlops"), "ctl01")
    service = {"model": "digits", "data_class": "internal", "port": 8500, "accounts": ["lab"]}
    content = {
        "owner": "a@example.org",
        "data_classes": {"internal": {"sites": ["onprem", "aws"]}},
        "users": [{"name": "alice", "uid": 20001}],
        "onprem": {
            "cidr": str(ONPREM),
            "nodes": [],
            "services": {**services, "controller": ["ctl01"], "login": ["ctl01"]},
            "addresses": {**ADDRESSES, "ctl01": "10.61.0.11", NAME: SHARED},
        },
        "aws": {"cidr": str(CLOUD)},
        "link": {"kind": "vpn", "gateway_address": "203.0.113.10", "onprem_asn": 65010},
        "scheduler": {"accounts": {"lab": {"users": ["alice"], "data_class": "internal"}}},
        "serving": {
            "hosts": [CLIENT],
            "gateway": [FIRST, SECOND],
            "name": NAME,
            "port": PORT,
            "services": {"digits": service},
        },
    }
    return environment_from_config("test", "us-east-1", content)


@dataclass(frozen=True)
class GatewayPair:
    """Both gateways and the client."""

    lab: Layout
    folder: Path

    def run(self, host: str, command: str) -> str:
        """Run a shell command on a machine; it must succeed."""
        done = nodes.exec(self.lab, host, [command], timeout=300)
        assert done.returncode == 0, f"{host}: {command}: {done.stderr}{done.stdout}"
        return str(done.stdout).strip()

    def converge(self, *words: str) -> Played:
        """Run the roles with the plan's variables."""
        chosen = site_environment()
        store = LocalFolder(self.folder / "secrets")
        store.generate(AUTHORITY, site_secrets().generated[AUTHORITY])
        hosts: dict[str, dict[str, Any]] = {
            host: {
                **model_gateway_variables(chosen),
                **gateway_host_variables(chosen, host),
                **certificate_variables(chosen, host),
                "ansible_host": ADDRESSES[host],
                **connection(self.lab),
                "model_gateway_tokens": TOKENS,
                "site_tls_authority": "\n".join(certificates_in(store.read()[AUTHORITY])),
                "site_tls_store": describe_store(store),
            }
            for host in (FIRST, SECOND)
        }
        book = [{"hosts": "all", "gather_facts": False, "roles": ["site_tls", "model_gateway"]}]
        return play(self.lab, self.folder, book, {"all": {"hosts": hosts}}, *words, timeout=600)

    def holders(self) -> list[str]:
        """Return the gateways that have the shared address."""
        running = [host for host in (FIRST, SECOND) if nodes.alive(self.lab, host)]
        return [host for host in running if f"{SHARED}/" in self.run(host, "ip -4 -o address show")]
