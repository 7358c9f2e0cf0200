"""Result of `landbridge adopt`: findings, the environment file, the files beside slurm.conf, the patch and the way back."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from landbridge.environment import load_text
from landbridge.existing_slurm.changes import new_texts, patch
from landbridge.existing_slurm.cluster import ExistingCluster, placed
from landbridge.existing_slurm.entries import Opener
from landbridge.existing_slurm.environment_text import environment_text
from landbridge.existing_slurm.obstacles import obstacles
from landbridge.existing_slurm.read import read_cluster
from landbridge.existing_slurm.request import AdoptRequest
from landbridge.existing_slurm.way_back import way_back
from landbridge.findings import Finding, Severity, has_errors, in_order
from landbridge.plan.slurm.existing import HOSTS, TOPOLOGY_YAML, existing_files, existing_settings

PATCH, WAY_BACK = "slurm.diff", "way-back.md"


@dataclass(frozen=True, slots=True)
class AdoptResult:
    """Files to write, by name; none if a finding is an error. `environment` is the text of the environment file."""

    findings: tuple[Finding, ...]
    environment: str = ""
    files: Mapping[str, str] | None = None


def adopt(conf: str, open_text: Opener, request: AdoptRequest) -> AdoptResult:
    """Return the result for a slurm.conf and a request."""
    cluster, unread = read_cluster(conf, open_text)
    if _is_no_slurm_conf(cluster, unread):
        message = f"{conf} is no slurm.conf: it has no ClusterName, SlurmctldHost and NodeName"
        fix = "give the slurm.conf of the controllers, not the file from which a tool writes it"
        return AdoptResult((placed("not-slurm-conf", Severity.ERROR, cluster.at(), message, fix),))
    findings = in_order([*unread, *obstacles(cluster, request)])
    return AdoptResult(findings) if has_errors(findings) else _written(cluster, request, findings)


def _is_no_slurm_conf(cluster: ExistingCluster, unread: tuple[Finding, ...]) -> bool:
    # A file that could not be opened, or is included and not there, may have the settings.
    is_whole = not {finding.rule for finding in unread} & {"file-not-read", "include-not-sent"}
    return (
        is_whole
        and not cluster.nodes
        and not cluster.settings.keys() & {"clustername", "slurmctldhost", "controlmachine"}
    )


def _written(cluster: ExistingCluster, request: AdoptRequest, findings: tuple[Finding, ...]) -> AdoptResult:
    text = environment_text(cluster, request)
    loaded = load_text(text, Path(f"Pulumi.{request.name}.yaml"))
    if loaded.environment is None:
        return AdoptResult(in_order([*findings, *loaded.findings]))
    beside = existing_files(loaded.environment)
    texts, by_hand = new_texts(cluster, existing_settings(loaded.environment), beside)
    installed = {name: content for name, content in beside.items() if name != TOPOLOGY_YAML}
    beside_conf = [name for name in installed if name != HOSTS]
    files = {
        **installed,
        PATCH: patch(cluster, texts),
        WAY_BACK: way_back(cluster, request, beside_conf),
    }
    return AdoptResult(in_order([*findings, *by_hand]), text, files)
