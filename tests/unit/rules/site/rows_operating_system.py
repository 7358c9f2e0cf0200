"""Mistakes with the settings of every host's operating system."""

from typing import Any

from landbridge.findings import DataPath
from tests.unit.rules.row import Row

HOSTS: DataPath = ("hosts",)
FIREWALL_RULES: DataPath = (*HOSTS, "firewall", "rules")
DIRECTORY: DataPath = (*HOSTS, "directory")
LDAP: dict[str, Any] = {"uris": ["ldaps://ldap.example.org"], "base": "dc=example,dc=org"}


def firewall_rule(**more: Any) -> dict[DataPath, Any]:
    """Return the changes for one more firewall rule."""
    return {
        FIREWALL_RULES: [{"at": "slurm_node", "source": "10.30.0.5/32", "ports": "9100", "why": "monitoring", **more}]
    }


ROWS = [
    Row("firewall-rule-unknown-host", "a firewall rule at a misspelt group", firewall_rule(at="slurm_nodes"), (*FIREWALL_RULES, 0, "at"), "slurm_node"),
    Row("firewall-rule-unknown-host", "a firewall rule at an unknown host", firewall_rule(at="mlops02"), (*FIREWALL_RULES, 0, "at"), "mlops01"),
    Row("firewall-rule-open-to-all", "a port open to every address", firewall_rule(source="0.0.0.0/0"), (*FIREWALL_RULES, 0, "source"), "all addresses"),
    Row("no-firewall", "a site without a firewall on its hosts", {(*HOSTS, "firewall"): {"mode": "off"}}, (*HOSTS, "firewall", "mode"), "metrics"),
    Row("no-firewall", "hosts without hardening", {(*HOSTS, "hardening"): False}, (*HOSTS, "hardening"), "mode: log"),
    Row("uid-in-directory-range", "a listed uid in the directory's range", {DIRECTORY: LDAP}, ("users", 0, "uid"), "20001"),
    Row("huge-pages-fit", "more huge pages than memory", {(*HOSTS, "tuning"): {"huge_pages": 900000}}, (*HOSTS, "tuning", "huge_pages"), "more than half"),
]  # fmt: skip
