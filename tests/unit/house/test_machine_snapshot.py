"""Differences of two snapshots of a machine, and those that a role's names do not contain."""

from typing import Any

from tests.roles.hosts.foreign.foreign_runs import changed_tasks
from tests.roles.hosts.foreign.machine_snapshot import Snapshot, differences, undeclared

EMPTY: dict[str, Any] = {
    "files": {"/etc/hosts": "1", "/etc/ssh/sshd_config": "2"},
    "owned": {"/etc/ssh/sshd_config": "ssh"},
    "packages": {"ssh": "1"},
    "manual": ["ssh"],
    "held": [],
    "enabled": {"site.service": "enabled"},
    "running": ["site.service"],
    "network": {"net/ipv4/ip_forward": "0", "net/netfilter/nf_conntrack_count": "1"},
    "tables": {"inet site": "chain input"},
    "accounts": ["kim:x:3001:"],
}
NAMES = {"files": ["/etc/haproxy/*"], "shared": ["/etc/hosts"], "units": ["haproxy.service"], "packages": ["haproxy"]}


def after(**changes: Any) -> dict[str, Any]:
    return {**EMPTY, **changes}


def outside(**changes: Any) -> dict[str, list[str]]:
    return undeclared(differences(Snapshot(EMPTY), Snapshot(after(**changes))), NAMES)


def test_a_machine_that_stayed_the_same_has_no_difference() -> None:
    assert not any(differences(Snapshot(EMPTY), Snapshot(EMPTY)).values())
    assert outside(network={**EMPTY["network"], "net/netfilter/nf_conntrack_count": "9"}) == {}


def test_names_of_the_role_and_consequences_of_its_package_are_permitted() -> None:
    files = {**EMPTY["files"], "/etc/hosts": "9", "/etc/haproxy/haproxy.cfg": "3", "/etc/logrotate.d/haproxy": "4"}
    packages = {"ssh": "1", "haproxy": "3", "liblua": "5"}
    assert (
        outside(
            files=files,
            owned={**EMPTY["owned"], "/etc/logrotate.d/haproxy": "haproxy"},
            packages=packages,
            manual=["ssh", "haproxy"],
            running=["site.service", "haproxy.service"],
        )
        == {}
    )


def test_each_kind_of_difference_outside_the_names_is_reported() -> None:
    files = {"/etc/hosts": "1", "/etc/ssh/sshd_config": "9", "/etc/haproxy-of-the-site": "1"}
    assert outside(files=files) == {"files": ["/etc/haproxy-of-the-site"], "changed": ["/etc/ssh/sshd_config"]}
    assert outside(packages={"ssh": "2"}) == {"packages": ["ssh"]}
    assert outside(packages={"ssh": "1", "curl": "1"}, manual=["ssh", "curl"]) == {"packages": ["curl"]}
    assert outside(held=["ssh"]) == {"held": ["ssh"]}
    assert outside(enabled={"site.service": "disabled"}) == {"units": ["site.service"]}
    assert outside(running=[]) == {"units": ["site.service"]}
    assert outside(accounts=["kim:x:3001:", "slurm:x:64030:"]) == {"accounts": ["slurm"]}
    assert outside(accounts=["kim:x:3009:"]) == {"accounts": ["kim"], "accounts changed": ["kim"]}
    assert outside(network={**EMPTY["network"], "net/ipv4/ip_forward": "1"}) == {"network": ["net/ipv4/ip_forward"]}
    assert outside(tables={"inet site": "chain input drop"}) == {"tables": ["inet site"]}


def test_tasks_that_changed_something_are_named() -> None:
    text = "TASK [base : Copy a] ****\nok: [gpu01]\n\nTASK [base : Copy b] ****\nchanged: [gpu01]\nfatal: [gpu01]: FAILED!\n"
    assert changed_tasks(text) == ["base : Copy b", "base : Copy b"]
