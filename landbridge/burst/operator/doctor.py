"""Checks of this host's burst controller: each dependency is used once. Nothing is changed."""

import contextlib
import os
import re
import socket
import sqlite3
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from email.utils import parsedate_to_datetime
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError

from landbridge.burst.aws.client import clients
from landbridge.burst.config.certificate import read_validity
from landbridge.burst.config.config import BurstConfig, ConfigError, load
from landbridge.burst.journal.database import connect
from landbridge.burst.journal.store import Store
from landbridge.burst.model.errors import ErrorKind, classify, facts
from landbridge.burst.reconcile.instances.keeps import is_released_when_idle
from landbridge.burst.slurm import slurm
from landbridge.burst.slurm.accounting import runaway_jobs
from landbridge.burst.slurm.slurm import SlurmError
from landbridge.burst.slurm.suspend_exclusions import kept_nodes_of
from landbridge.findings import Finding, Severity
from landbridge.hostlist import compress
from landbridge.tags import CLUSTER
from landbridge.timestamps import iso

SERVICE = "landbridge-burst.service"
#: Maximum age of the last pass of a running daemon: two intervals and a long pass.
MAX_PASS_AGE_SECONDS = 60.0
_PROGRAMS = {
    "ResumeProgram": "landbridge-resume",
    "SuspendProgram": "landbridge-suspend",
    "ResumeFailProgram": "landbridge-resume-fail",
}
_FIXES = {
    ErrorKind.CONFIGURATION: "check the permissions of the launch role, which `landbridge up` creates",
    ErrorKind.CREDENTIALS: "on the operator's machine: `landbridge credentials status`, then `landbridge configure`; "
    "no launch is tried until then",
    ErrorKind.NETWORK: "check the link and the endpoint in burst.json",
}


def diagnose(file: Path | None = None) -> list[Finding]:
    """Return all findings, in the order in which to fix them."""
    try:
        config = load(file)
    except ConfigError as error:
        fix = "`landbridge configure` writes it; run this on the controller"
        return [Finding("burst-config", str(error), fix=fix)]
    now = time.time()
    checks: tuple[Callable[[BurstConfig, float], Iterator[Finding]], ...] = (
        journal,
        daemon,
        wake_socket,
        prolog_socket,
        metrics,
        refused_terminations,
        instance_statuses,
        certificate,
        aws,
        commands,
        programs,
        suspend_exclusions,
        runaways,
    )
    return [finding for check in checks for finding in check(config, now)]


def journal(config: BurstConfig, now: float) -> Iterator[Finding]:
    """Check that the journal can be written within the programs' lock time-out."""
    if not config.database.exists():
        fix = f"systemctl start {SERVICE}; its first start creates it"
        yield Finding("burst-journal", f"{config.database} does not exist", fix=fix)
        return
    try:
        with contextlib.closing(connect(str(config.database), 2.0)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        fix = f"run this as root or as Slurm's user; or check permissions and free space of {config.state_dir}"
        yield Finding("burst-journal", f"{config.database}: {error}", fix=fix)
    for path in sorted(config.state_dir.glob(f"{config.database.name}.damaged-*")):
        text = f"{path} is a damaged journal; the controller continued from Slurm and EC2 with a new one"
        fix = "check the disk; the file may be deleted"
        yield Finding("burst-journal-damaged", text, fix=fix, severity=Severity.WARNING)


def daemon(config: BurstConfig, now: float) -> Iterator[Finding]:
    """Check that a controller holds the lease."""
    fix = f"systemctl status {SERVICE}; journalctl -u {SERVICE}"
    if not config.database.exists():
        return
    try:
        with contextlib.closing(Store(config.database)) as store:
            lease = store.lease()
    except sqlite3.Error:
        return
    if lease is None:
        yield Finding("burst-daemon", "no controller has acted yet", fix=fix)
    elif lease[1] < now:
        yield Finding("burst-daemon", f"no controller acts: the lease of {lease[0]} ended at {iso(lease[1])}", fix=fix)
    elif lease[0] != socket.gethostname():
        text = f"{lease[0]} acts; this host stands by"
        yield Finding("burst-standby", text, fix=f"run this command there: ssh {lease[0]}", severity=Severity.INFO)


def wake_socket(config: BurstConfig, now: float) -> Iterator[Finding]:
    """Check that the daemon listens on its socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        out.setblocking(False)
        try:
            out.sendto(b"1", str(config.socket))
        except BlockingIOError:
            return  # full: the daemon reads it later
        except OSError as error:
            text = f"{config.socket}: {error.strerror}; orders are seen at the next interval only"
            fix = f"systemctl restart {SERVICE}"
            yield Finding("burst-socket", text, fix=fix, severity=Severity.WARNING)


def prolog_socket(config: BurstConfig, now: float) -> Iterator[Finding]:
    """Check that the daemon answers PrologSlurmctld."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(5)
        try:
            connection.connect(str(config.prolog_socket))
        except OSError as error:
            text = f"{config.prolog_socket}: {error.strerror or error}; PrologSlurmctld decides without the daemon"
            fix = f"systemctl restart {SERVICE}"
            yield Finding("burst-prolog-socket", text, fix=fix, severity=Severity.WARNING)


def metrics(config: BurstConfig, now: float) -> Iterator[Finding]:
    """Check that metrics are served, and that they are recent."""
    if config.metrics is None:
        return
    address = f"http://{config.metrics}/metrics"
    fix = f"journalctl -u {SERVICE}; another program may use the port (burst.metrics_port)"
    try:
        with urllib.request.urlopen(address, timeout=5) as response:
            text = response.read().decode()
    except (OSError, urllib.error.URLError, ValueError) as error:
        yield Finding("burst-metrics", f"{address}: {error}", fix=fix, severity=Severity.WARNING)
        return
    last = re.search(r"^landbridge_burst_last_pass_timestamp_seconds (\S+)$", text, re.MULTILINE)
    if last is None or now - float(last[1]) > MAX_PASS_AGE_SECONDS:
        when = iso(float(last[1])) if last is not None else "none has ended yet"
        yield Finding("burst-pass", f"no pass has ended for {MAX_PASS_AGE_SECONDS:.0f} s: {when}", fix=fix)


def refused_terminations(config: BurstConfig, now: float) -> Iterator[Finding]:
    """Check that EC2 terminates every instance that the controller has given up."""
    if not config.database.exists():
        return
    try:
        with contextlib.closing(Store(config.database)) as store:
            refusals = store.load().termination_refusals
    except sqlite3.Error:
        return
    for instance, refusal in sorted(refusals.items()):
        text = f"{instance} costs money: EC2 refuses since {iso(refusal.since)} to terminate it: {refusal.code}"
        fix = (
            f"aws ec2 modify-instance-attribute --instance-id {instance} --no-disable-api-termination; or shut it down "
            "from inside"
            if refusal.code == "OperationNotPermitted"
            else "check the permissions of the terminate role, which `landbridge up` creates"
        )
        yield Finding("burst-not-terminated", f"{text}: {refusal.message}", fix=fix)


def instance_statuses(config: BurstConfig, now: float) -> Iterator[Finding]:
    """Check that the status checks and scheduled events of instances can be read."""
    if not config.database.exists():
        return
    try:
        with contextlib.closing(Store(config.database)) as store:
            reads = store.load().status_reads
    except sqlite3.Error:
        return
    for region, read in sorted(reads.items()):
        if read.code:
            text = f"DescribeInstanceStatus{f' in {region}' if region else ''}: {read.code}: {read.message}"
            fix = _FIXES.get(classify(read.code), "wait: it is tried again every minute")
            yield Finding("burst-instance-status", text, fix=fix, severity=Severity.WARNING)


def certificate(config: BurstConfig, now: float) -> Iterator[Finding]:
    """Check that the host's certificate for AWS exists and does not end soon."""
    if config.certificate_validity is None:
        return
    fix = "on the operator's machine: `landbridge configure`, or `landbridge credentials renew`"
    validity = read_validity(config.certificate_validity)
    if validity is None:
        text = f"{config.certificate_validity} cannot be read: this host has no certificate for AWS"
        yield Finding("burst-certificate", text, fix=fix)
    elif validity.not_after <= now:
        yield Finding("burst-certificate", f"the certificate for AWS expired at {iso(validity.not_after)}", fix=fix)
    elif validity.not_after - now < validity.alarm_seconds:
        text = f"the certificate for AWS ends at {iso(validity.not_after)}"
        yield Finding("burst-certificate", text, fix=fix, severity=Severity.WARNING)


def aws(config: BurstConfig, now: float) -> Iterator[Finding]:
    """Check that the credentials may describe instances in every region, and that the clocks agree."""
    for region in config.policy.regions:
        yield from _region(config, region)


def _region(config: BurstConfig, region: str) -> Iterator[Finding]:
    try:
        client = clients(region, config.endpoint, config.credentials_file, ("default",))[0]
        cluster_filter = {"Name": f"tag:{CLUSTER}", "Values": [config.policy.cluster]}
        began = time.time()
        response = client.describe_instances(Filters=[cluster_filter], MaxResults=5)  # type: ignore[list-item]
        took = time.time() - began
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", "Unknown"))
        yield Finding("burst-credentials", f"EC2: {error}", fix=_FIXES.get(classify(code), "try again later"))
        headers = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        yield from _clock(str(headers.get("date", "")), time.time(), 0.0)
        return
    except BotoCoreError as error:
        kind = classify(type(error).__name__)
        yield Finding("burst-credentials", f"EC2: {error}", fix=_FIXES.get(kind, "try again later"))
        return
    yield from _clock(response["ResponseMetadata"]["HTTPHeaders"].get("date", ""), began + took / 2, took)


def _clock(date: str, local_time: float, took: float) -> Iterator[Finding]:
    try:
        time_of_aws = parsedate_to_datetime(date).timestamp()
    except (TypeError, ValueError):
        return
    # The header has whole seconds.
    skew = max(0.0, abs(local_time - time_of_aws) - 1.0 - took / 2)
    bound, near = facts()["clock"]["refused_seconds"], facts()["clock"]["near_seconds"]
    if skew > near:
        text = f"this host's clock differs by {skew:.0f} s from AWS's; AWS refuses calls from {bound} s on"
        severity = Severity.ERROR if skew >= bound else Severity.WARNING
        yield Finding(
            "burst-clock", text, fix="chronyc tracking; leases and signatures need the time", severity=severity
        )


def commands(config: BurstConfig, now: float) -> Iterator[Finding]:
    """Check that Slurm answers and has the nodes of all pools."""
    fix = "scontrol ping; systemctl status slurmctld"
    try:
        slurm.active()
        view = slurm.view(config.policy)
    except SlurmError as error:
        yield Finding("burst-slurm", str(error), fix=fix)
        return
    for name, pool in sorted(config.policy.pools.items()):
        missing = pool.max_nodes - sum(pool.owns(node) for node in view.nodes)
        if missing:
            text = f"Slurm does not know {missing} of {pool.max_nodes} nodes of pool {name}"
            yield Finding(
                "burst-nodes", text, fix="run `landbridge configure`: slurm.conf and burst.json are of different runs"
            )


def programs(config: BurstConfig, now: float) -> Iterator[Finding]:
    """Check that slurm.conf has the burst programs, and that they are executable."""
    try:
        text = slurm.run(["scontrol", "show", "config"])
    except SlurmError:
        return  # `commands` reports it
    for key, name in _PROGRAMS.items():
        setting = re.search(rf"^{key}\s*=\s*(\S+)$", text, re.MULTILINE)
        path = Path(setting[1]) if setting is not None else None
        if path is None or path.name != name:
            text_ = f"Slurm's {key} is {path or 'not set'}, not {name}"
            yield Finding("burst-programs", text_, fix="`landbridge configure` sets it; then scontrol reconfigure")
        elif not os.access(path, os.X_OK):
            yield Finding("burst-programs", f"{path} cannot be run", fix="`landbridge configure` installs it")


def suspend_exclusions(config: BurstConfig, now: float) -> Iterator[Finding]:
    """Check that the journal knows the keep of each node that Slurm does not suspend because of one."""
    try:
        value = slurm.suspend_exclusions()
        with contextlib.closing(Store(config.database)) as store:
            state = store.load()
    except (SlurmError, sqlite3.Error):
        return  # `commands` or `journal` reports it
    pools = [pool for pool in config.policy.pools.values() if is_released_when_idle(pool)]
    owned = {f"{pool.node_prefix}{number}" for pool in pools for number in range(1, pool.max_nodes + 1)}
    left = [node for node in kept_nodes_of(value, owned) if node not in state.keeps_in_slurm]
    if left:
        text = f"Slurm does not suspend {compress(left)} when idle, and no keep is known: a journal was lost"
        fix = f"landbridge burst keep --release {compress(left)}"
        yield Finding("burst-lost-keep", text, fix=fix, severity=Severity.WARNING)


def runaways(config: BurstConfig, now: float) -> Iterator[Finding]:
    """Check that each job that runs in accounting is one of slurmctld's: others count in usage and costs for ever."""
    try:
        jobs = runaway_jobs()
    except SlurmError as error:
        fix = "systemctl status slurmdbd; without accounting there are no runaway jobs"
        yield Finding("burst-runaway-jobs", f"not checked: {error}", fix=fix, severity=Severity.INFO)
        return
    if jobs:
        named = ", ".join(f"{job.id} of {job.user or 'unknown'}" for job in jobs[:3])
        text = f"{len(jobs)} jobs run in accounting and are not known to slurmctld: {named}{', ...' * (len(jobs) > 3)}"
        fix = "if they are still here in ten minutes (slurmdbd may be late): `sacctmgr show runawayjobs` lists and ends them"
        yield Finding("burst-runaway-jobs", text, fix=fix, severity=Severity.WARNING)
