"""Settings of a site, and the names that a host has in each: the playbooks' conditions evaluated by Ansible with the plan's variables."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

from landbridge import yaml_text
from landbridge.findings import DataPath
from landbridge.plan.owned_names import owned_names, wanted_roles
from tests.roles.names_of_roles import names
from tests.unit.core.samples import GOOD, REMOVED, environment
from tests.unit.plan.ansible.test_roles_anywhere import ANYWHERE, variables

ANSIBLE = Path(__file__).parents[4] / "ansible"
PARTS = ANSIBLE / "playbooks/parts"
NODE = GOOD["onprem"]["nodes"][0]
MONITORED: dict[DataPath, Any] = {("onprem", "services", "monitoring"): "mlops01"}
STAGING = {"folder": "/export/home/datasets", "mount": "/home/datasets", "groups": {"internal": "lab"}}
SERVICES = {"digits": {"model": "digits", "data_class": "internal", "port": 8500, "accounts": ["vision"]}}
SETTINGS: Mapping[str, Mapping[DataPath, Any]] = {
    "plain": {},
    "anywhere": ANYWHERE,
    "mover": {("storage", "staging"): STAGING},
    "mover with anywhere": {**ANYWHERE, ("storage", "staging"): STAGING},
    "dataset cache": {
        ("onprem", "nodes"): [{**NODE, "local_scratch": "/scratch"}],
        ("storage", "staging"): {**STAGING, "cache": {"size_gib": 500}},
    },
    "no hardening": {("hosts", "hardening"): False},
    "no tuning": {("hosts", "tuning"): {"enabled": False}},
    "home copies": {("storage", "home"): {"kind": "nfs", "copies": {"repository": "sftp:kim@far01:/copies"}}},
    "ganesha": {("storage", "home"): {"kind": "nfs", "server": "ganesha"}},
    "monitoring": MONITORED,
    "monitoring on another host": {("onprem", "services", "monitoring"): "nfs01"},
    "timers": {**MONITORED, ("observability", "timers"): {}},
    "timers without the link": {
        **MONITORED,
        ("observability", "timers"): {},
        ("link",): REMOVED,
        ("aws", "pools"): REMOVED,
    },
    "auth/slurm": {("scheduler", "auth"): "slurm"},
    "log store": {("onprem", "services", "logs"): "mlops01"},
    "podman": {("containers",): {"engines": ["podman"]}},
    "apptainer": {("containers",): {"engines": ["apptainer"]}},
    "directory": {("hosts", "directory"): {"uris": ["ldaps://a.example.org"], "base": "dc=example"}},
    "REST API": {("scheduler", "rest"): {}},
    "object store": {("storage", "object_store"): {}},
    "model servers": {("serving",): {"hosts": ["dgx01"], "gateway": "mlops01", "services": SERVICES}},
    "site share": {
        ("storage", "site_shares"): {"sets": {"kind": "nfs", "host": "filer01", "export": "/sets", "mount": "/sets"}}
    },
    "name servers": {("dns",): {}},
    "MLflow on another host": {("onprem", "services", "mlops"): "nfs01"},
    "no link": {("link",): REMOVED, ("aws", "pools"): REMOVED},
}
Names = Mapping[str, list[str]]


@cache
def expression() -> str:
    """Return the expression of a host's roles from the site's playbooks."""
    plays = [play for path in sorted(PARTS.glob("*.yml")) for play in yaml_text.load(path.read_text())]
    return wanted_roles(plays, lambda name: yaml_text.load((PARTS / name).read_text()), names())


@cache
def planned(setting: str) -> Mapping[str, Names]:
    """Return the names of each host in a setting."""
    data = variables(environment(dict(SETTINGS[setting])))
    hosts = {}
    for host, values in data["_meta"]["hostvars"].items():
        groups = sorted(group for group, content in data.items() if host in content.get("hosts", ()))
        merged = dict(data["all"]["vars"])
        for group in groups:
            merged |= data[group].get("vars", {})
        hosts[host] = owned(
            {
                **merged,
                **values,
                "group_names": groups,
                "inventory_hostname": host,
                "groups": {group: content.get("hosts", []) for group, content in data.items()},
            }
        )
    return hosts


def owned(host: Mapping[str, Any]) -> Names:
    """Return the names of a host with these variables."""
    templar = Templar(DataLoader(), variables=dict(host))
    exact = yaml_text.load((ANSIBLE / "group_vars/all/owned_names.yml").read_text())["landbridge_owned_exact"]
    lists = {name: templar.template(trust_as_template(text)) for name, text in exact.items()}
    return owned_names(names(), templar.template(trust_as_template("{{ " + expression() + " }}")), lists)
