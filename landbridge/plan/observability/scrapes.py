"""Configuration of Prometheus and Alertmanager, as data. Targets are in files of their own, so that a new host needs no restart."""

from collections.abc import Collection
from typing import Any

from landbridge.catalog.observability.metrics import metrics_contract
from landbridge.environment import Environment
from landbridge.plan.network.host_role import host_roles
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.network.services.monitoring import cloud_exporters, has_slurm_metrics
from landbridge.plan.observability.cloud_targets import cloud_job
from landbridge.plan.observability.inhibitions import inhibit_rules
from landbridge.plan.observability.remote_write import remote_write
from landbridge.plan.observability.targets import LOOPBACK, metrics_targets

#: Account of Prometheus at exporters, and of operators and dashboards at Prometheus and Alertmanager.
SCRAPE_ACCOUNT, OPERATOR_ACCOUNT = "prometheus", "operator"
FOLDER = "/etc/prometheus"
#: Paths of slurmctld's metrics. `jobs-users-accts` has a series for each user, and is left out. Source: slurm.schedmd.com/metrics.html.
_SLURM_PATHS = ("jobs", "nodes", "partitions", "scheduler")
#: Most samples of one target: a node with 8 GPUs has about 2,500. More are refused, so that no target fills the memory.
_SAMPLES = {
    "node": 10_000,
    "dcgm": 5_000,
    "slurm": 200_000,
    "prometheus": 10_000,
    "alertmanager": 5_000,
    "model_server": 5_000,
    "model_gateway": 20_000,
}
#: Servers whose metrics have no account: their firewall and they themselves answer Prometheus' host only.
_WITHOUT_ACCOUNT = ("model_server", "model_gateway")
#: A model server does not name its service in Prometheus: the target does.
_OWN_SERVICE = {"regex": "exported_service", "action": "labeldrop"}
#: Modes of processors that are dropped: each one is a series for each of a node's processors.
_MODES = (
    {
        "source_labels": ["__name__", "mode"],
        "regex": "node_cpu_seconds_total;(irq|nice|softirq|steal)",
        "action": "drop",
    },
)
#: Slurm's own advice is to scrape every 60 to 120 seconds.
_SLURM_SECONDS = 60


def prometheus_settings(environment: Environment, gpu_hosts: Collection[str], authority: str) -> dict[str, Any]:
    """Return prometheus.yml. `authority`: the file of the CA's certificates."""
    settings, site = environment.observability, service_hosts(environment).site
    jobs = list(dict.fromkeys(target.job for target in metrics_targets(environment, gpu_hosts)))
    return {
        "global": {
            "scrape_interval": f"{settings.scrape_seconds}s",
            "scrape_timeout": f"{min(10, settings.scrape_seconds)}s",
            "evaluation_interval": f"{settings.scrape_seconds}s",
            "external_labels": {"cluster": environment.name, "site": site},
        },
        "rule_files": [f"{FOLDER}/rules/*.yml"],
        "alerting": {
            "alertmanagers": [
                {
                    **_login(OPERATOR_ACCOUNT, authority),
                    "static_configs": [{"targets": [f"{LOOPBACK}:{settings.alertmanager_port}"]}],
                }
            ]
        },
        "scrape_configs": [
            *(_job(job, authority) for job in jobs if job != "slurm"),
            *(cloud_job(environment, job, _job(job, authority)) for job in cloud_exporters(environment)),
            *(_slurm_job(path) for path in _SLURM_PATHS if has_slurm_metrics(environment)),
        ],
        **({"remote_write": destinations} if (destinations := remote_write(environment)) else {}),
    }


def target_files(environment: Environment, gpu_hosts: Collection[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the target files of Prometheus (file_sd) by job."""
    files: dict[str, list[dict[str, Any]]] = {}
    for target in metrics_targets(environment, gpu_hosts):
        files.setdefault(target.job, []).append({"targets": [target.address], "labels": dict(target.labels)})
    return files


def alertmanager_settings(environment: Environment) -> dict[str, Any]:
    """Return alertmanager.yml: one message for all alerts of a name, and pages again every four hours."""
    mail = environment.observability.mail
    receiver: dict[str, Any] = {"name": "operators"}
    settings: dict[str, Any] = {}
    if mail is not None:
        settings = {"smtp_smarthost": mail.server, "smtp_from": mail.sender, "smtp_require_tls": mail.tls}
        receiver["email_configs"] = [{"to": ", ".join(mail.to), "send_resolved": True}]
    return {
        **({"global": settings} if settings else {}),
        "route": {
            "receiver": "operators",
            "group_by": ["alertname", "cluster", "site"],
            "group_wait": "30s",
            "group_interval": "5m",
            "repeat_interval": "12h",
            "routes": [
                {"matchers": ['severity="info"'], "receiver": "none"},
                {"matchers": ['severity="page"'], "receiver": "operators", "repeat_interval": "4h"},
            ],
        },
        "inhibit_rules": inhibit_rules(environment),
        "receivers": [receiver, {"name": "none"}],
    }


def _job(job: str, authority: str) -> dict[str, Any]:
    account = OPERATOR_ACCOUNT if job in ("prometheus", "alertmanager") else SCRAPE_ACCOUNT
    return {
        "job_name": job,
        **(_encryption(authority) if job in _WITHOUT_ACCOUNT else _login(account, authority)),
        "sample_limit": _SAMPLES[job],
        "metric_relabel_configs": [
            _kept(job),
            *(_MODES if job == "node" else ()),
            *((_OWN_SERVICE,) if job == "model_server" else ()),
        ],
        "file_sd_configs": [{"files": [f"{FOLDER}/targets/{job}.json"]}],
    }


def _slurm_job(path: str) -> dict[str, Any]:
    """Return the scrape of one path of slurmctld, which has neither TLS nor accounts: the firewall limits its clients."""
    return {
        "job_name": f"slurm-{path}",
        "metrics_path": f"/metrics/{path}",
        "scheme": "http",
        "honor_labels": True,
        "scrape_interval": f"{_SLURM_SECONDS}s",
        "sample_limit": _SAMPLES["slurm"],
        "metric_relabel_configs": [_kept("slurm")],
        "file_sd_configs": [{"files": [f"{FOLDER}/targets/slurm.json"]}],
        "relabel_configs": [
            {"target_label": "job", "replacement": "slurm"},
            # One series of `up` for each path.
            {"target_label": "path", "replacement": path},
        ],
    }


def _kept(job: str) -> dict[str, Any]:
    """Return the rule that keeps the metrics of the contract: a node with 224 processors has thousands of others."""
    exporters = metrics_contract().exporters
    through_node = (name for role in host_roles().values() for name in role.exporters)
    through = (job, *through_node) if job == "node" else (job,)
    names = sorted(name for exporter in through for name in exporters[exporter].metrics)
    return {"source_labels": ["__name__"], "regex": "|".join(names), "action": "keep"}


def _login(account: str, authority: str) -> dict[str, Any]:
    return {
        **_encryption(authority),
        "basic_auth": {"username": account, "password_file": f"{FOLDER}/{account}-password"},
    }


def _encryption(authority: str) -> dict[str, Any]:
    return {"scheme": "https", "tls_config": {"ca_file": authority}}
