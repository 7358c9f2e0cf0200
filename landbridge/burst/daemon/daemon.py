"""Daemon of the burst controller: a pass every 15 seconds, after an order of Slurm's programs, or when one is due.

    python -m landbridge.burst.daemon.daemon [--config FILE] [--once]

Of a pair of controllers, the one with the active slurmctld acts. SIGTERM and SIGINT stop the daemon between two
actions; on SIGHUP it reads the configuration again. It may be killed at any point.
"""

import argparse
import contextlib
import gc
import signal
import socket
import sqlite3
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

from botocore.exceptions import BotoCoreError

from landbridge.burst.aws.heartbeat import heartbeat_of
from landbridge.burst.aws.regions import ec2_of_regions
from landbridge.burst.aws.unattached import UnattachedCollector
from landbridge.burst.config.certificate import read_validity
from landbridge.burst.config.config import BurstConfig, ConfigError, load
from landbridge.burst.daemon.job_starts import JobStarts
from landbridge.burst.daemon.journal_snapshots import JournalSnapshots
from landbridge.burst.daemon.log import log
from landbridge.burst.daemon.metrics import Metrics, serve_if_set
from landbridge.burst.daemon.passes import one_pass
from landbridge.burst.daemon.residency_records import open_records
from landbridge.burst.daemon.wakeups import Wakeups
from landbridge.burst.journal.decisions import DecisionLog
from landbridge.burst.journal.paths import LOCK
from landbridge.burst.journal.store import Store
from landbridge.burst.model import Action, ActionOutcome, DecisionRecord, Ec2View, ReadStatuses, SlurmView, State
from landbridge.burst.model.errors import AwsError
from landbridge.burst.reconcile.budget import Ledger
from landbridge.burst.slurm import slurm
from landbridge.burst.slurm.slurm import SlurmError
from landbridge.burst.staging.staging_pass import staging_pass
from landbridge.host_lock import lock_host
from landbridge.hostlist import compress
from landbridge.staging.exchange import last_reports
from landbridge.systemd import notify

PASS_INTERVAL_SECONDS = 15.0
#: Minimum time between two passes, in which the state of Slurm and EC2 can change.
MIN_INTERVAL_SECONDS = 0.5
#: Seconds after a pass in which no other controller may act.
LEASE_SECONDS = 60.0
#: New objects before a garbage collection. A pass over 10,000 nodes creates hundreds of thousands of objects, hardly any
#: of them in cycles; Python's 700 would take a tenth of its processor time.
COLLECTION_THRESHOLD = 10_000
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def main(argv: Sequence[str] | None = None) -> int:
    """Run until a signal stops the daemon; return 1 if it cannot start."""
    parser = argparse.ArgumentParser(prog="landbridge.burst.daemon.daemon")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--once", action="store_true", help="run one pass and exit")
    options = parser.parse_args(argv)
    gc.freeze()  # what is loaded by now stays
    gc.set_threshold(COLLECTION_THRESHOLD)
    try:
        config = load(options.config)
        lock = lock_host(config.state_dir / LOCK)
        daemon = Daemon(config, lambda: load(options.config))
    except (ConfigError, BotoCoreError, OSError, sqlite3.Error) as error:
        log(f"cannot start: {error}")
        return 1
    with lock:
        if options.once:
            daemon.turn()
            return 0
        return daemon.run()


class Daemon:
    """Burst controller on one host. It observes its passes for metrics, log and the journal's snapshot."""

    config: BurstConfig

    def __init__(self, config: BurstConfig, reload: Callable[[], BurstConfig]) -> None:
        self._reload = reload
        self._stopping = self._reloading = False
        self._acting = self._observed = False
        self.metrics = Metrics()
        self._collector = UnattachedCollector(time.time())  # the first check is one interval later
        self.holder = socket.gethostname()
        self._snapshots = JournalSnapshots(self.holder, self.failed)
        self._wakeups = Wakeups()
        self._job_starts = JobStarts(lambda nodes: slurm.node_states(compress(nodes)), self._wakeups.wake)
        self._use(config)

    def run(self) -> int:
        """Run passes until a signal stops the daemon."""
        self._wakeups.watch_signals()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._signal)
        self._listen()
        server = serve_if_set(self.metrics, self.config.metrics)
        notify("READY=1")
        log(f"started for {self.config.policy.cluster}: {', '.join(self.config.policy.pools) or 'no pool'}")
        while not self._stopping:
            if self._reloading:
                self._reload_config()
            due = self.turn()
            notify("WATCHDOG=1")
            if self._job_starts.has_failed:
                log("the server of PrologSlurmctld has ended: restart")
                return 1
            if not self._stopping:
                self._wait(due)
        notify("STOPPING=1")
        self._job_starts.close()
        if server is not None:
            server.server_close()
        self._store.close()
        log("stopped")
        return 0

    def turn(self) -> float | None:
        """Run one pass if this host's controller acts; return when the next is due. No error in it stops the daemon."""
        began = self._began = time.monotonic()
        due: float | None = None
        self._observed = False
        try:
            if self._may_act():
                with contextlib.suppress(sqlite3.OperationalError):  # the disk is full: as long as the reserve lasts
                    self._store.reserve()
                policy = self.config.policy
                data = staging_pass(policy, self._record, self.failed)
                now, ports = time.time(), (self._store, self._ec2, slurm)
                due = one_pass(*ports, policy, now, observer=self, clock=time.time, uptime=_uptime, seconds_to_aws=data)
                if self._collector.due(time.time()) and self.may_continue():
                    self._delete_unattached()
                self._send_heartbeat()
        except (SlurmError, sqlite3.Error, OSError) as error:
            self.metrics.failed("journal" if isinstance(error, sqlite3.Error) else "host", type(error).__name__)
            log(f"pass not finished: {error}")
        except Exception as error:  # noqa: BLE001 - other pools need the next pass, which observes again
            self.metrics.failed("fault", type(error).__name__)
            log(traceback.format_exc())
        file = self.config.certificate_validity
        if file is not None and (validity := read_validity(file)) is not None:
            self.metrics.certificate_ends(validity.not_after)
        staging = self.config.policy.staging
        if staging is not None:
            self.metrics.mover_reported(last_reports(Path(staging.exchange)))
        self.metrics.passed(time.monotonic() - began, time.time(), self._acting)
        return due

    def _send_heartbeat(self) -> None:
        """Send the heartbeat if it is due, and if the pass has read Slurm and EC2."""
        if self._heartbeat is not None and self._observed and self._heartbeat.due(time.time()):
            try:
                self._heartbeat.send(time.time())
            except AwsError as error:
                self.failed("cloudwatch", error.code)

    def _delete_unattached(self) -> None:
        records, failures = self._collector.sweep(self._ec2, self.config.policy, time.time())
        for error in failures:
            self.failed("ec2", error.code)
        if records:
            self._record(tuple(records))

    def _record(self, records: tuple[DecisionRecord, ...]) -> None:
        self._store.record(records)
        self.recorded(records)

    # PassObserver.

    def failed(self, side: str, code: str) -> None:
        self.metrics.failed(side, code)
        log(f"{side}: {code}")

    def seen(self, slurm: SlurmView, ec2: Ec2View | None, state: State) -> None:
        self._observed = ec2 is not None
        self._job_starts.seen(state, ec2, self._began)
        self.metrics.seen(slurm, ec2, state)
        self.metrics.budgeted(Ledger.of(state, self.config.policy, slurm.at).used_ratios())
        self._residency.seen(slurm)

    def saved(self, state: State) -> None:
        self._job_starts.saved(state, self._began)

    def recorded(self, records: tuple[DecisionRecord, ...]) -> None:
        self._log.write(records)
        self._residency.recorded(records)

    def performed(self, action: Action, outcome: ActionOutcome, now: float) -> None:
        self.metrics.performed(action, outcome, now)
        is_known = isinstance(action, ReadStatuses) and outcome.code == action.failed
        if outcome.code and not is_known:
            log(f"{type(action).__name__}: {outcome.code}: {outcome.message}")

    def written(self) -> None:
        self._snapshots.write()

    def may_continue(self) -> bool:
        notify("WATCHDOG=1")
        return not self._stopping

    # The active controller of a pair.

    def _may_act(self) -> bool:
        """Return whether this host's slurmctld is active, and no other controller holds the lease."""
        try:
            acting = slurm.active()
        except SlurmError as error:
            self.failed("slurm", "ping")
            log(str(error))
            acting = False
        is_first = not self._acting or self._store.lease() is None
        if acting and is_first:
            acting = self._snapshots.load()
        if acting:
            acting = self._store.take_lease(self.holder, time.time(), LEASE_SECONDS)
        if acting != self._acting:
            log("acting" if acting else "standing by")
        if not acting:
            self._job_starts.forget()
        self._acting = acting
        return acting

    # Configuration, signals, waiting.

    def _use(self, config: BurstConfig) -> None:
        self._ec2 = ec2_of_regions(config)
        self._heartbeat = heartbeat_of(config)
        self._store = Store(config.database)
        self._snapshots.use(self._store, config.snapshot_dir)
        self._log = DecisionLog(config.decisions)
        self._residency = open_records(config, self.failed)
        self._job_starts.use(config.policy)
        self.config = config

    def _reload_config(self) -> None:
        self._reloading = False
        before = self.config
        try:
            config = self._reload()
            self._store.close()
            self._use(config)
        except (ConfigError, BotoCoreError, OSError, sqlite3.Error) as error:
            log(f"the settings stay as they are: {error}")
            return
        if config.socket != before.socket:
            self._listen()
        log(
            "settings read again"
            + ("" if config.metrics == before.metrics else "; metrics keep their address until a restart")
        )

    def _signal(self, number: int, _: FrameType | None) -> None:
        if number == signal.SIGHUP:
            self._reloading = True
        else:
            self._stopping = True

    def _listen(self) -> None:
        self._wakeups.listen(self.config.socket, PASS_INTERVAL_SECONDS)
        self._job_starts.listen(self.config.prolog_socket)

    def _wait(self, due: float | None) -> None:
        seconds = (
            PASS_INTERVAL_SECONDS
            if due is None
            else min(PASS_INTERVAL_SECONDS, max(MIN_INTERVAL_SECONDS, due - time.time()))
        )
        self._wakeups.wait(seconds)


def _uptime() -> tuple[str, float]:
    """Return the id of the host's boot and the seconds since then, with the seconds of a suspension."""
    return BOOT_ID.read_text(encoding="ascii").strip(), time.clock_gettime(time.CLOCK_BOOTTIME)


if __name__ == "__main__":
    sys.exit(main())
