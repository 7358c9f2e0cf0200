"""Faults of the tests' cluster, each with the alert that it raises and the command of the runbook that mends it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sandbox.demo.cluster import wait_for
from sandbox.hardware import faults as hardware
from sandbox.nspawn.network import bridges as network
from tests.e2e.support import gpu_exporter
from tests.e2e.support.bursting import POOL, Bursting
from tests.e2e.support.full_disk import fill, release
from tests.e2e.support.monitored_site import HOST, MonitoredSite

Action = Callable[[MonitoredSite], None]
TEXTFILES = "/var/lib/prometheus/node-exporter"
RULES = "/etc/prometheus/rules/landbridge.yml"


@dataclass(frozen=True)
class Fault:
    """Fault: how it is made, its alert (name and node), alerts that are sent beside it, and its repair.

    `runbook`: the command as it is written in the section of the alert; `repair` runs it with its words filled in.
    """

    name: str
    inject: Action
    alert: str
    node: str
    runbook: str
    repair: Action
    also: tuple[tuple[str, str], ...] = ()


def shell(host: str, script: str) -> Action:
    """Return the action that runs a shell script on a host."""

    def action(site: MonitoredSite) -> None:
        site.run(host, script)

    return action


def stopped(host: str, unit: str, alert: str, node: str, runbook: str, also: tuple[tuple[str, str], ...] = ()) -> Fault:
    """Return the fault of a service that does not run; its repair is the runbook's command as it is."""
    return Fault(
        f"{unit} on {host}", shell(host, f"systemctl stop {unit}"), alert, node, runbook, shell(host, runbook), also
    )


def old_metrics(host: str, timer: str, metric: str) -> Action:
    """Return the action that stops a timer which writes metrics, as if eleven minutes ago."""
    # A stopped pass would be a failed unit: the last one ends first.
    return shell(
        host,
        f"systemctl stop {timer}; systemctl start {timer.removesuffix('.timer')}.service; sed -i 's/^{metric} .*/{metric} '$(($(date +%s) - 660))/ {TEXTFILES}/*.prom",
    )


def bgp(word: str) -> Action:
    """Return the action that shuts the gateway's BGP sessions down, or (`no`) allows them again."""
    names = "vtysh -c 'show bgp neighbors json' | python3 -c 'import json, sys; print(*json.load(sys.stdin))'"
    asn = "vtysh -c 'show running-config' | sed -n 's/^router bgp \\([0-9]*\\)$/\\1/p'"
    line = f'vtysh -c \'configure terminal\' -c "router bgp $({asn})" -c "{word} neighbor $n shutdown"'
    return shell("gw01", f"for n in $({names}); do {line}; done")


def cut(site: MonitoredSite) -> None:
    """Cut the cable of AWS's end of the tunnel."""
    network.link_down(site.deployment.lab, network.interface("awsgw", 1))


def connect(site: MonitoredSite) -> None:
    """Plug the cable in again, as the network team does when `landbridge netcheck` names the line."""
    network.link_up(site.deployment.lab, network.interface("awsgw", 1))
    site.deployment.wait_for_tunnel()


def expired_certificate(site: MonitoredSite) -> None:
    """Replace the storage host's certificate for AWS by one that has ended."""
    dates = "-not_before 20250101000000Z -not_after 20250201000000Z"
    make = f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout k -out c -subj /CN=nfs01 {dates}"
    site.run("nfs01", f"cd $(mktemp -d) && {make} && cat k c > /etc/landbridge/anywhere/host.pem")


def gpu(**faults: Any) -> Action:
    """Return the action that sets the hardware faults of a GPU node; without any its GPUs are repaired."""

    def action(site: MonitoredSite) -> None:
        hardware.inject(site.deployment.lab, gpu_exporter.NODE, **faults)

    return action


def xid(site: MonitoredSite) -> None:
    """Let the driver report that a GPU has fallen off the bus."""
    hardware.xid(site.deployment.lab, gpu_exporter.NODE, 79, gpu=1)


def reset_gpu(site: MonitoredSite) -> None:
    """Let a new host engine forget the Xid, as after a reset, and return the node that the health check has drained."""
    site.run(gpu_exporter.NODE, f"systemctl restart {gpu_exporter.UNIT}")
    wait_for(
        "the health check to drain the node",
        lambda: site.run("ctl01", "sinfo --noheader --list-reasons --format='%E %n'"),
        lambda reasons: "landbridge:xid" in reasons,
    )
    site.run("ctl01", f"scontrol update nodename={gpu_exporter.NODE} state=resume")


def bursting(site: MonitoredSite) -> Bursting:
    """Return the actions of a user and of an operator on the cluster."""
    return Bursting(site.deployment, site.deployment.environment.users[0].name)


def wrong_template(site: MonitoredSite) -> None:
    """Let the pool use a launch template that does not exist, and submit a job."""

    def change(content: dict[str, Any]) -> None:
        for offering in content["pools"][POOL]["offerings"]:
            offering["launch_template_id"] = "lt-0123456789abcdef0"

    user = bursting(site)
    user.configure(change)
    user.refused(user.submit("--nodes=1"), "CONFIG")


def reset_breaker(site: MonitoredSite) -> None:
    """Correct the settings of the controller, close the breaker, and cancel the waiting job."""
    user = bursting(site)
    user.shell("squeue --noheader --format=%A | sort -u | xargs --no-run-if-empty scancel")
    site.landbridge_configure("--tags", "burst")
    user.landbridge_burst("reset-breaker", POOL)


def small_budget(site: MonitoredSite) -> None:
    """Lower the monthly limit of the cluster below what the ordinary work has cost."""
    bursting(site).configure(lambda content: content.update(monthly_usd=0.01))


def corrupt_rules(site: MonitoredSite) -> None:
    """Let somebody's edit break the rules, and reload them."""
    site.run(HOST, f"echo 'groups: [' > {RULES}; systemctl reload prometheus")


LINK = "landbridge netcheck -s ENV"
FAULTS: tuple[Fault, ...] = (
    Fault(
        "a unit that fails",
        shell("login01", "systemd-run --quiet --unit=landbridge-fault.service false || true"),
        "ServiceFailed",
        "login01",
        "systemctl reset-failed UNIT",
        shell("login01", "systemctl reset-failed landbridge-fault.service"),
    ),
    stopped(
        "ctl01", "prometheus-node-exporter", "ServiceHostDown", "ctl01", "systemctl restart prometheus-node-exporter"
    ),
    stopped("dgx01", "prometheus-node-exporter", "NodeDown", "dgx01", "systemctl restart prometheus-node-exporter"),
    Fault(
        "a file of metrics that cannot be read",
        shell("login01", f"echo 'landbridge_fault{{' > {TEXTFILES}/fault.prom"),
        "TextfileUnreadable",
        "login01",
        f"rm {TEXTFILES}/FILE",
        shell("login01", f"rm {TEXTFILES}/fault.prom"),
    ),
    Fault("a full disk", fill, "DiskFull", "login01", "rm", release),
    Fault("a hot GPU", gpu(thermal=[0]), "GpuHot", gpu_exporter.NODE, "nvidia-smi -q -d TEMPERATURE", gpu()),
    Fault(
        "memory that cannot be remapped",
        gpu(unremapped=[2]),
        "GpuRowRemapFailed",
        gpu_exporter.NODE,
        "Replace the GPU",
        gpu(),
    ),
    Fault("a GPU that is missing", gpu(absent=[3]), "GpuMissing", gpu_exporter.NODE, "nvidia-smi -L", gpu()),
    Fault(
        "an Xid",
        xid,
        "GpuXid",
        gpu_exporter.NODE,
        "systemctl restart nvidia-dcgm",
        reset_gpu,
    ),
    stopped(
        gpu_exporter.NODE,
        gpu_exporter.UNIT,
        "GpuMetricsAbsent",
        gpu_exporter.NODE,
        "systemctl restart nvidia-dcgm-exporter",
    ),
    stopped("ctl01", "slurmctld", "SlurmctldStopped", "", "systemctl start slurmctld"),
    Fault(
        "drained nodes",
        shell("ctl01", "scontrol update nodename=dgx[01-02] state=drain reason=fault"),
        "SlurmNodesUnusable",
        "",
        "scontrol update nodename=NODES state=resume",
        shell("ctl01", "scontrol update nodename=dgx[01-02] state=resume"),
    ),
    stopped("db01", "slurmdbd", "SlurmdbdStopped", "", "systemctl start slurmdbd"),
    stopped("db01", "mariadb", "MariadbDown", "db01", "systemctl start mariadb slurmdbd"),
    stopped(
        HOST, "prometheus-postgres-exporter", "SourceUnread", HOST, "systemctl restart prometheus-postgres-exporter"
    ),
    stopped(HOST, "postgresql", "PostgresqlDown", HOST, "systemctl start postgresql"),
    Fault(
        "MLflow",
        shell(HOST, "systemctl stop mlflow"),
        "MlflowDown",
        HOST,
        "systemctl restart UNIT",
        shell(HOST, "systemctl restart mlflow"),
    ),
    stopped(
        "ctl01",
        "landbridge-burst",
        "BurstMetricsAbsent",
        "",
        "systemctl start landbridge-burst landbridge-host-metrics.timer",
    ),
    Fault(
        "a wrong launch template",
        wrong_template,
        "BurstBreakerOpen",
        "ctl01",
        "landbridge burst reset-breaker POOL",
        reset_breaker,
    ),
    Fault(
        "a budget that is used up",
        small_budget,
        "BurstBudgetUsed",
        "ctl01",
        "landbridge configure --tags burst",
        lambda site: site.landbridge_configure("--tags", "burst"),
    ),
    Fault("a cut line", cut, "LinkDown", "", LINK, connect),
    Fault("BGP sessions that are shut down", bgp(""), "LinkDown", "", "vtysh -c 'show bgp summary'", bgp("no")),
    stopped("gw01", "frr", "LinkDown", "", "systemctl start strongswan frr", (("GatewayUnread", "gw01"),)),
    stopped("gw01", "strongswan", "LinkDown", "", "systemctl start strongswan frr", (("GatewayUnread", "gw01"),)),
    Fault(
        "a timer of a gateway's metrics",
        old_metrics("gw01", "landbridge-gateway-metrics.timer", "landbridge_gateway_metrics_timestamp_seconds"),
        "GatewayMetricsAbsent",
        "gw01",
        "systemctl start landbridge-gateway-metrics.timer",
        shell("gw01", "systemctl start landbridge-gateway-metrics.timer"),
    ),
    Fault(
        "a timer of a host's metrics",
        old_metrics("login01", "landbridge-host-metrics.timer", "landbridge_host_metrics_timestamp_seconds"),
        "HostMetricsOld",
        "login01",
        "systemctl start landbridge-host-metrics.timer",
        shell("login01", "systemctl start landbridge-host-metrics.timer"),
    ),
    Fault(
        "an old copy of a database",
        shell("db01", "touch --date='3 days ago' /var/backups/landbridge-slurm/*-periodic-*.sql.gz"),
        "BackupOld",
        "db01",
        "systemctl start` of the same unit",
        shell("db01", "systemctl start landbridge-slurm-dump"),
    ),
    Fault(
        "a certificate that has ended",
        expired_certificate,
        "CertificateEnded",
        "nfs01",
        "landbridge configure --tags credentials",
        lambda site: site.landbridge_configure("--tags", "credentials", "--limit", "nfs01"),
    ),
    Fault(
        "rules that Prometheus refuses",
        corrupt_rules,
        "PrometheusConfigurationRefused",
        "",
        "landbridge configure --tags monitoring",
        lambda site: site.configure_monitoring(),
    ),
    Fault(
        "the NFS server of homes",
        shell("nfs01", "systemctl stop nfs-ganesha"),
        "NfsServerStopped",
        "nfs01",
        "systemctl start nfs-server",
        shell("nfs01", "systemctl start nfs-ganesha"),
    ),
)
