"""Mistakes with served models."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.network.rows_link import pair
from tests.unit.rules.row import Row

SERVING: DataPath = ("serving",)
SERVICES: DataPath = ("serving", "services")
HOSTS = {
    ("onprem", "addresses", "srv01"): "10.20.0.31",
    ("onprem", "addresses", "srv02"): "10.20.0.32",
    ("onprem", "addresses", "gwm01"): "10.20.0.33",
}


def served(service: dict[str, Any] | None = None, **changes: Any) -> dict[DataPath, Any]:
    """Return a change of the environment: a served model."""
    first = {"model": "digits", "data_class": "internal", "replicas": 2, "port": 8500, "accounts": ["research"]} | (
        service or {}
    )
    return {
        **HOSTS,
        ("scheduler", "accounts", "research"): {"users": ["alice"], "data_class": "internal"},
        SERVING: {"hosts": ["srv01", "srv02"], "gateway": "gwm01", "services": {"digits": first}} | changes,
    }


SECOND_GATEWAY: dict[DataPath, Any] = {("onprem", "addresses", "gwm02"): "10.20.0.34"}
SHARED: DataPath = ("onprem", "addresses", "models")
TWO = {"digits": {"model": "digits", "data_class": "internal", "replicas": 2, "port": 8500, "accounts": ["research"]}}
SECOND = TWO["digits"] | {"model": "other"}
TEAMS: dict[DataPath, Any] = {("mlops", "teams"): {"lab": {"accounts": ["research"]}}}

AWS: DataPath = ("serving", "aws")
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG2 operator@example.org"


def in_aws(gateway: Any = "gwm01", name: str | None = None, **changes: Any) -> dict[DataPath, Any]:
    """Return a change of the environment: a model that is served at both sites. `changes` are of its service or of the hosts in AWS."""
    hosts = {"zones": {"use1-az4": 1}, "image": "ami-0123456789abcdef0", "public_keys": [KEY]}
    of_hosts = {key: value for key, value in changes.items() if key in ("zones", "instance")}
    service = {"replicas": 3, "canary": {}, "scale": {"host_rate": 50}}
    service |= {key: value for key, value in changes.items() if key not in of_hosts}
    named = {} if name is None else {"name": name}
    chosen = {key: value for key, value in service.items() if value is not None}
    return served(chosen, gateway=gateway, aws=hosts | of_hosts, **named)


ROWS = [
    Row("serving-place", "a host of serving without an address", served(hosts=["srv01", "srv09"]), (*SERVING, "hosts", 1), "srv09"),
    Row("serving-host-trains", "a model server on a node", served(hosts=["srv01", "dgx01"]), (*SERVING, "hosts", 1), "trains"),
    Row("serving-host-trains", "a model server on MLflow's host", served(hosts=["srv01", "mlops01"]), (*SERVING, "hosts", 1), "another service"),
    Row("serving-host-trains", "the gateway on a host of model servers", served(gateway="srv01"), (*SERVING, "gateway"), "another host"),
    Row("serving-gateway-pair", "a name with one gateway", served(name="models"), (*SERVING, "name"), "no effect"),
    Row("serving-gateway-pair", "two gateways without a name", served(gateway=["gwm01", "gwm02"]) | SECOND_GATEWAY, (*SERVING, "gateway"), "no name"),
    Row("serving-gateway-pair", "a gateway named twice", served(gateway=["gwm01", "gwm01"]), (*SERVING, "gateway"), "named twice"),
    Row("serving-gateway-pair", "a name of two gateways without an address", served(gateway=["gwm01", "gwm02"], name="models") | SECOND_GATEWAY, (*SERVING, "name"), "no address"),
    Row("serving-gateway-pair", "the shared address of a host", served(gateway=["gwm01", "gwm02"], name="models") | SECOND_GATEWAY | {SHARED: "10.20.0.33"}, (*SERVING, "name"), "address of gwm01"),
    Row("serving-gateway-pair", "the gateways of the tunnels as model gateways", pair() | served(gateway=["gw01", "gw02"], name="models") | {SHARED: "10.20.0.39"}, (*SERVING, "gateway"), "one configuration"),
    Row("serving-gateway-pair", "a shared address of another network", served(gateway=["gwm01", "gwm02"], name="models") | SECOND_GATEWAY | {SHARED: "10.99.0.1"}, (*SERVING, "name"), "not in"),
    Row("serving-data-class", "a misspelt class of a model", served({"data_class": "internl"}), (*SERVICES, "digits", "data_class"), '"internal"'),
    Row("serving-data-class", "a caller of another class", served({"data_class": "restricted"}), (*SERVICES, "digits", "accounts", 0), "leave their class"),
    Row("serving-data-class", "a misspelt caller", served({"accounts": ["reserch"]}), (*SERVICES, "digits", "accounts", 0), '"research"'),
    Row("serving-ports", "the gateway at ssh's port", served(port=22), (*SERVING, "port"), "ssh"),
    Row("serving-ports", "the gateway at the port of its own metrics", served(port=8405), (*SERVING, "port"), "its own metrics"),
    Row("serving-ports", "two services with a port", served(services=TWO | {"second": SECOND | {"port": 8501}}), (*SERVICES, "second", "port"), "the service digits"),
    Row("serving-ports", "a model served twice", served(services=TWO | {"second": TWO["digits"] | {"port": 8600}}), (*SERVICES, "second", "model"), "already"),
    Row("serving-scale", "a scale of model servers that are started by hand", served({"scale": {"host_rate": 50}}), (*SERVICES, "digits", "scale"), "by hand"),
    Row("serving-scale", "a scale at two gateways", served(gateway=["gwm01", "gwm02"], name="models", services={"digits": TWO["digits"] | {"canary": {}, "scale": {"host_rate": 50}}}) | SECOND_GATEWAY | {SHARED: "10.20.0.39"}, (*SERVICES, "digits", "scale"), "load of each other"),
    Row("serving-scale", "more hosts without load than replicas", served({"canary": {}, "scale": {"least": 3, "host_rate": 50}}), (*SERVICES, "digits", "scale", "least"), "2 replicas"),
    Row("serving-scale", "an objective above the rate of all hosts", served({"canary": {}, "scale": {"host_rate": 2}}), (*SERVICES, "digits", "scale", "host_rate"), "4 requests/s"),
    Row("serving-replicas", "more replicas than hosts", served({"replicas": 3}), (*SERVICES, "digits", "replicas"), "3 replicas on 2 hosts"),
    Row("serving-replicas", "one replica", served({"replicas": 1}), (*SERVICES, "digits", "replicas"), "not available"),
    Row("serving-canary", "a canary of a program without its metrics", served({"runtime": "triton", "canary": {}}), (*SERVICES, "digits", "canary"), "no metrics"),
    Row("serving-canary", "a canary of another alias", served({"alias": "candidate", "canary": {}}), (*SERVICES, "digits", "canary"), "alias candidate"),
    Row("serving-canary", "weights that fall", served({"canary": {"weights": [50, 10]}}), (*SERVICES, "digits", "canary", "weights"), "do not increase"),
    Row("serving-canary", "a registry without TLS", served({"canary": {}}) | {("mlops", "mlflow", "tls"): False}, (*SERVICES, "digits", "canary"), "clear text"),
    Row("serving-canary", "a model of a team without its name", served({"canary": {}}) | TEAMS, (*SERVICES, "digits", "canary"), "no team"),
    Row("serving-canary", "a misspelt team of a canary", served({"canary": {"team": "labs"}}) | TEAMS, (*SERVICES, "digits", "canary", "team"), '"lab"'),
    Row("serving-canary", "a team without workspaces", served({"canary": {"team": "lab"}}), (*SERVICES, "digits", "canary", "team"), "no workspace"),
    Row("serving-without-tls", "a program without TLS", served({"runtime": "triton"}), (*SERVICES, "digits", "runtime"), "clear text"),
    Row("serving-unsigned", "unsigned models of Landbridge's model server", served({"unsigned": True}), (*SERVICES, "digits", "unsigned"), "signed models only"),
    Row("serving-unsigned", "unsigned folders of a program", served({"runtime": "vllm", "unsigned": True}), (*SERVICES, "digits", "unsigned"), "contain code"),
    Row("serving-aws-hosts", "a host of model servers in a zone of another region", in_aws(zones={"usw2-az1": 1}), (*AWS, "zones", "usw2-az1"), "no zone"),
    Row("serving-aws-hosts", "an unknown type of a model server in AWS", in_aws(instance="m7i.larg"), (*AWS, "instance"), "m7i.large"),
    Row("serving-aws-hosts", "a model server in AWS on a type with GPUs", in_aws(instance="g6e.xlarge"), (*AWS, "instance"), "accelerators"),
    Row("serving-aws-hosts", "a host of the site with the name of one in AWS", in_aws() | {("onprem", "addresses", "serve-az4-01"): "10.20.0.77"}, (*AWS, "zones"), "another name"),
    Row("serving-aws-gateway", "hosts in AWS behind two gateways", in_aws(gateway=["gwm01", "gwm02"], name="models") | SECOND_GATEWAY | {SHARED: "10.20.0.39"}, AWS, "neither may stop"),
    Row("serving-aws-gateway", "hosts in AWS that no service uses", in_aws(replicas=2), AWS, "volumes"),
    Row("serving-aws-class", "a model of on-prem data on more hosts than the site has", in_aws(data_class="restricted") | {("scheduler", "accounts", "research", "data_class"): "restricted"}, (*SERVICES, "digits", "replicas"), "neither may its models"),
    Row("serving-aws-class", "hosts in AWS for a service without a scale", in_aws(scale=None), (*SERVICES, "digits", "replicas"), "nothing starts"),
]  # fmt: skip
