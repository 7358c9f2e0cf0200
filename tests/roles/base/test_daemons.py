"""Every daemon that a role starts is started again after a crash: by the role's unit or drop-in, or by its package's unit."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROLES = Path(__file__).parents[3] / "ansible/roles"
#: `Restart=` of units of packages, read on 2026-11-29 in Debian 12 (sssd, unbound, frr, haproxy, mariadb, munge, exporters), and in the
#: test machine's packages of Prometheus. mariadb: on-abnormal, munge: on-abort; both cover a signal such as that of the OOM killer.
PACKAGES = {
    "frr", "haproxy", "mariadb", "munge", "prometheus", "prometheus-alertmanager", "prometheus-mysqld-exporter", "prometheus-postgres-exporter",
    "sssd", "unbound",
}  # fmt: skip
#: The unit of NVIDIA's driver was not read: no driver was at hand. The kernel's NFS server and PostgreSQL's unit of all clusters have no process.
OTHERS = {"nvidia-persistenced", "nvidia-cdi-refresh", "nfs-kernel-server", "nfs-server", "postgresql"}
#: Names that tasks take from variables.
NAMES = {
    "{{ base_chrony_service }}": ["chrony", "chronyd"],
    "{{ nfs_server_distribution[nfs_server_implementation].service }}": [
        "nfs-kernel-server",
        "nfs-server",
        "nfs-ganesha",
    ],
    "{{ nvidia_fabric_units }}": ["nvidia-fabricmanager", "nvidia-imex"],
    "{{ mlflow_servers }}": ["mlflow"],
    "{{ model_server_slots.results }}": ["landbridge-model"],
    "site_gateway": ["strongswan", "frr", "site-gateway-watch", "keepalived"],
}
#: Units that a role writes under another name than its file's.
FILES = {"hardening-firewall": "firewall", "site-gateway-watch": "watch", "postgresql@": "mlflow"}
NO_DAEMONS = re.compile(r"[.](timer|socket|path|mount)$|^\{\{ hardening_update_timers")


def tasks(entries: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for entry in entries:
        yield entry
        for part in ("block", "rescue", "always"):
            yield from tasks(entry.get(part) or [])


def started() -> Iterator[tuple[str, str]]:
    """Yield the role and the name of each unit that a role enables or starts."""
    for path in sorted(ROLES.glob("*/tasks/*.yml")):
        role = path.relative_to(ROLES).parts[0]
        for task in tasks(yaml.safe_load(path.read_text()) or []):
            service = task.get("ansible.builtin.systemd_service") or {}
            if not (service.get("enabled") is True or "start" in str(service.get("state", ""))):
                continue
            name, loop = service["name"], task.get("loop") or ""
            if "item" in name and isinstance(loop, list):
                names = loop
            elif "item" in name and not NO_DAEMONS.search(name):
                names = NAMES[role] if role in NAMES else NAMES.get(loop, [loop])
            else:
                names = NAMES.get(name, [name])
            yield from ((role, each.removesuffix(".service")) for each in names if not NO_DAEMONS.search(each))


def unit_text(role: str, unit: str) -> str:
    """Return the text of the role's unit or drop-ins of a unit."""
    if f"/{unit}.service.d/landbridge-restart.conf" in written(role):
        return (ROLES / role / "files/restart.conf").read_text()
    names = {f"{FILES.get(unit, unit)}.service", f"{unit}.dropin"}
    files = [path for part in ("files", "templates") for path in (ROLES / role / part).glob("*")]
    own_files = [path.read_text() for path in files if path.is_file() and path.name.removesuffix(".j2") in names]
    # Drop-ins whose file has a name of its own are in a directory that the role's tasks name.
    drop_ins = [path.read_text() for path in files if path.is_file() and path.suffix in (".conf", ".j2")]
    return "\n".join(own_files or (drop_ins if f"/{unit}.service.d" in written(role) else []))


def written(role: str) -> str:
    """Return the text of all tasks of a role and of the role that it includes, with the names of chrony and ganesha."""
    text = "".join(path.read_text() for path in (ROLES / role / "tasks").glob("*.yml"))
    for raw, names in {**NAMES, "{{ item }}": NAMES["{{ nvidia_fabric_units }}"]}.items():
        text += "".join(text.replace(raw, name) for name in names if f"system/{raw}.service.d" in text)
    return text.replace("{{ nfs_server_distribution.ganesha.service }}", "nfs-ganesha")


def test_every_daemon_of_a_role_starts_again_after_a_crash() -> None:
    daemons = set(started()) | {("mlflow", "postgresql@")}
    assert len(daemons) > 40
    # sackd's drop-in is written with its package.
    where = {
        ("slurm_login", "sackd"): "slurm_common",
        ("slurm_controller", "sackd"): "slurm_common",
        ("node_restart", "slurmd"): "slurm_node",
    }
    missing = [
        f"{role}: {unit}"
        for role, unit in sorted(daemons)
        if unit not in PACKAGES | OTHERS
        and not re.search(
            r"^(Restart=(always|on-failure)|Type=oneshot)$", unit_text(where.get((role, unit), role), unit), re.M
        )
    ]
    assert missing == []


def test_a_daemon_that_cannot_start_is_failed_at_last() -> None:
    text = (ROLES / "base/files/restart.conf").read_text()
    values = {key: int(value) for key, value in re.findall(r"^(StartLimit\w+|RestartSec)=(\d+)$", text, re.M)}
    assert values["StartLimitBurst"] * values["RestartSec"] < values["StartLimitIntervalSec"]
