"""Judgement of the site's hosts: failed units, dumps and certificates. Pure."""

from collections.abc import Sequence

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.ops.netcheck.collect import HostFacts
from landbridge.ops.site_certificates.status import ALARM_DAYS
from landbridge.ops.status.facts import DumpFacts
from landbridge.ops.status.report import Judged, OperatorTask, StatusLine, duration
from landbridge.ops.status.sources import unread_nodes
from landbridge.plan.network.hosts import service_hosts
from landbridge.timestamps import iso

#: Landbridge's choices: days before the end of a host's certificate (as the role site_tls's alarm), and hours of a daily dump's age.
CERTIFICATE_DAYS, DUMP_HOURS = 14, 26
_DAY_SECONDS = 86_400


def hosts_judged(environment: str, every: Sequence[HostFacts]) -> Judged:
    """Yield the hosts that did not answer."""
    silent = [host for host in every if host.error]
    for host in silent:
        yield StatusLine("sites", "not read", f"{host.host.name}: {host.error}")
    if silent:
        names = ", ".join(host.host.name for host in silent)
        command = f"landbridge status -s {environment} --limit 10; then the console of the host"
        yield OperatorTask(0, f"no answer from {names}", command)


def nodes_left_out(environment: Environment) -> Judged:
    """Yield the nodes of the site, on which no login of a former user and no failed unit would be found."""
    names = unread_nodes(environment)
    if names:
        text = f"logins of former users and units of {hostlist.compress(names)}: nodes are not read here"
        yield StatusLine(
            "sites", "left out", f"{text}; landbridge configure -s {environment.name} --check reads logins"
        )


def units_judged(host: str, units: Sequence[str]) -> Judged:
    """Yield the failed units of a host."""
    if not units:
        yield StatusLine("sites", "ok", f"{host}: no unit has failed")
        return
    text = f"{host}: failed: {', '.join(units)}"
    yield StatusLine("sites", "attention", text)
    yield OperatorTask(2, text, f"systemctl status {' '.join(units)} (on {host})")


def logins_judged(environment: Environment, host: str, logins: Sequence[str]) -> Judged:
    """Yield the users whom a run of Landbridge created on a host, and whom the environment no longer has.

    The account with which Ansible connects is never locked.
    """
    wanted = {service_hosts(environment).access.user, *(user.name for user in environment.users)}
    for name in sorted(set(logins) - wanted):
        text = f"{host}: {name} is not in users and still has a login"
        yield StatusLine("sites", "attention", text)
        yield OperatorTask(1, text, f"landbridge configure -s {environment.name}")


def dumps_judged(host: str, dumps: Sequence[DumpFacts], now: float) -> Judged:
    """Yield the age of the newest dump of each of MLflow's databases."""
    service = "landbridge-mlflow-dump.service"
    if not dumps:
        yield StatusLine("backups", "attention", f"{host}: MLflow's databases have no dump")
        yield OperatorTask(3, "MLflow's databases have no dump", f"systemctl start {service} (on {host})")
    for dump in dumps:
        age = duration(now - dump.at)
        text = f"{host}: dump of {dump.database}, {age} old, {dump.size} bytes"
        if dump.size and now - dump.at <= 3600 * DUMP_HOURS:
            yield StatusLine("backups", "ok", text)
        else:
            yield StatusLine("backups", "attention", text)
            yield OperatorTask(3, text, f"journalctl --unit {service} (on {host})")


def certificate_judged(environment: str, host: str, end: float, now: float) -> Judged:
    """Yield the days until the end of a host's certificate."""
    command = f"landbridge configure -s {environment}"
    yield from _end(f"certificate of {host}", command, end, now, CERTIFICATE_DAYS)


def authority_judged(environment: str, end: float, now: float) -> Judged:
    """Yield the days until the end of the CA's certificate."""
    command = (
        f"ansible-playbook -i stacks/Pulumi.{environment}.yaml ansible/playbooks/rotate_site_ca.yml -e site_ca_step=add"
    )
    yield from _end("CA of the site's servers", command, end, now, ALARM_DAYS)


def _end(subject: str, command: str, end: float, now: float, days: int) -> Judged:
    left = int((end - now) // _DAY_SECONDS)
    text = f"{subject}: {left} days left" if left >= 0 else f"{subject}: ended on {iso(end)[:10]}"
    yield StatusLine("certificates", "ok" if left >= days else "attention", text)
    if left < days:
        yield OperatorTask(1 if left < 0 else 2, text, command)
