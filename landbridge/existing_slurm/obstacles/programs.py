"""Findings about programs that slurm.conf names: nodes in AWS use the same slurm.conf, and have other files.

Source: slurm.schedmd.com/configless_slurm.html: scripts whose name has a path are not sent to nodes.
"""

from collections.abc import Iterator

from landbridge.existing_slurm.cluster import ExistingCluster, placed
from landbridge.existing_slurm.request import AdoptRequest
from landbridge.findings import Finding, Severity

#: Programs that slurmd or a step runs on its own node, and plugins with files there.
_ON_NODES = ("Prolog", "Epilog", "TaskProlog", "TaskEpilog", "HealthCheckProgram", "UnkillableStepProgram")
_RELATIVE = frozenset({"Prolog", "Epilog", "TaskProlog", "TaskEpilog"})
#: Since this version slurm.conf may have several of them. Source: read_config.c, S_P_ARRAY since 24.05.
SEVERAL_PROLOGS = "24.05"


def program_findings(cluster: ExistingCluster, request: AdoptRequest) -> Iterator[Finding]:
    """Yield the findings about programs, plugins and paths."""
    for key in _ON_NODES:
        for pair in cluster.settings.get(key.casefold(), ()):
            if pair.value.startswith("/"):
                message = f"{key}={pair.value} is not on nodes in AWS, and configless slurmctld does not send it there"
                sent = "put it beside slurm.conf and write its name without a path, or " if key in _RELATIVE else ""
                fix = f"{sent}add it to the node image"
                yield placed("program-on-cloud-nodes", Severity.WARNING, pair.at, message, fix)
    plugstack = cluster.pair("PlugStackConfig")
    if plugstack is not None and plugstack.value.startswith("/"):
        message = f"{plugstack.value} is not on nodes in AWS; a required SPANK plugin that is missing fails every job"
        fix = "write plugstack.conf beside slurm.conf and remove PlugStackConfig; mark plugins optional"
        yield placed("spank-plugins", Severity.WARNING, plugstack.at, message, fix)
    for key in ("SlurmdSpoolDir", "SlurmdPidFile"):
        path = cluster.pair(key)
        if path is not None and "%n" in path.value:
            message = f"configless slurmd does not replace %n in {key}={path.value}: the name then contains it"
            fix = "nothing to do if one slurmd runs on each host; else write the path without %n"
            yield placed("node-name-in-path", Severity.INFO, path.at, message, fix)
    yield from _slurmctld_prolog(cluster, request)


def _slurmctld_prolog(cluster: ExistingCluster, request: AdoptRequest) -> Iterator[Finding]:
    pair = cluster.pair("PrologSlurmctld")
    if pair is None:
        return
    if request.version >= SEVERAL_PROLOGS:
        message = f"{pair.value} stays; slurmctld runs Landbridge's program in addition"
        yield placed("slurmctld-prolog", Severity.INFO, pair.at, message, "nothing to do")
        return
    message = f"Slurm {request.version} runs one PrologSlurmctld, {pair.value}: it does not wait for the nodes of a job"
    fix = "end that program with: exec /opt/landbridge/bin/landbridge-prolog-wait"
    yield placed("slurmctld-prolog", Severity.WARNING, pair.at, message, fix)
