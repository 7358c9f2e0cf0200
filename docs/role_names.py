"""Page docs/reference/role-names.md: the names on a host that belong to each Ansible role."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from landbridge import yaml_text

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "ansible/role_names.yaml"
HEAD = """# Names of roles on a host

Each role changes only these names on a host: a star stands for any text, and roles in the last column add theirs. Files of packages and packages that apt
adds as dependencies are not listed. The tests run each role [alone](../how-to/use-single-roles.md) on a machine that its owner configured, and compare files, units,
packages, accounts, network settings and tables of nftables before and after with this table.

Files in the column "shared" existed before: the role changes lines of them, or sets their mode, and other lines stay. Files in the first column are the role's as a
whole. If the owner has changed the configuration of HAProxy, Prometheus, Alertmanager, node exporter, FRR, nfs-ganesha, sssd or slurmctld, the role fails before a
change, until its variable `ROLE_replace` permits the replacement.

When a host no longer has a role, files of the first column are [removed](../how-to/change-a-running-cluster.md#what-a-change-removes-from-the-hosts), except data and patterns that may reach
files of the owner.

| role | files | shared | units | packages | accounts, tables of nftables | and the names of |
| --- | --- | --- | --- | --- | --- | --- |
"""


def names() -> Mapping[str, Mapping[str, Any]]:
    """Return the table: role -> kind -> names or patterns."""
    table: Mapping[str, Mapping[str, Any]] = yaml_text.load(TABLE.read_text())["roles"]
    return table


def page() -> str:
    """Return the page."""
    return HEAD + "".join(_row(role, mine) for role, mine in sorted(names().items()))


def _row(role: str, mine: Mapping[str, Any]) -> str:
    accounts = [*mine.get("accounts", []), *mine.get("tables", [])]
    cells = [mine.get("files", []), mine.get("shared", []), mine.get("units", []), mine.get("packages", []), accounts]
    shown = [" ".join(f"`{name}`" for name in cell) for cell in (*cells, mine.get("includes", []))]
    return f"| {role} | {' | '.join(shown)} |\n"
