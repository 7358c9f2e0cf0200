"""Records of residency: for each placement of a job in AWS its data class, the permitted sites and regions, and the rules.

They are signed (signed_records.py). Names and comments of jobs, commands and credentials are not in them.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from landbridge.burst.config.config import BurstConfig
from landbridge.burst.journal.paths import RECORDS
from landbridge.burst.model import BurstPolicy, DecisionRecord, SlurmView
from landbridge.hostlist import compress

if TYPE_CHECKING:
    from landbridge.burst.journal.signed_records import SignedRecords

#: Events of decision records about a place of a job.
EVENTS = ("launch", "launched", "not-launched", "refused", "promote")


def rules_version(policy: BurstPolicy) -> str:
    """Return a digest of the rules that decide about places: accounts with their classes and regions, and operators."""
    rules = {
        "region": policy.region,
        "operators": sorted(policy.operators),
        "accounts": {name: [row.data_class, row.aws, *row.regions] for name, row in policy.accounts.items()},
    }
    return hashlib.sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()[:16]


class ResidencyRecords:
    """Residency records of a controller. The places of running jobs are recorded again after a restart of the daemon.

    Without a log it records nothing. A log that cannot be written is reported to `failed`, and stops no launch.
    """

    def __init__(self, log: "SignedRecords | None", policy: BurstPolicy, failed: Callable[[str, str], None]) -> None:
        self._log, self._policy, self._failed = log, policy, failed
        self._rules = rules_version(policy)
        self._slurm: SlurmView | None = None
        self._placed: frozenset[tuple[int, int, tuple[str, ...]]] = frozenset()

    def seen(self, slurm: SlurmView) -> None:
        """Record the jobs that Slurm has placed on nodes since the last view."""
        self._slurm = slurm
        placed = {(job.id, job.restarts, job.nodes): job for job in slurm.jobs.values() if job.nodes}
        new = [job for key, job in placed.items() if key not in self._placed]
        bodies = (
            {"event": "placed", "jobs": [self._job(job.id)], "place": self._places(job.nodes), "rules": self._rules}
            for job in new
        )
        self._write(bodies, slurm.at)
        self._placed = frozenset(placed)

    def recorded(self, records: Iterable[DecisionRecord]) -> None:
        """Record the decisions about places of jobs."""
        about_jobs = [record for record in records if record.event in EVENTS and record.jobs]
        if about_jobs:
            self._write(map(self._body, about_jobs), about_jobs[-1].at)

    def _write(self, bodies: Iterable[Mapping[str, Any]], at: float) -> None:
        if self._log is None:
            return
        try:
            self._log.write(bodies, at)
        except OSError as error:
            self._failed("records", str(error.strerror or error))

    def _body(self, record: DecisionRecord) -> Mapping[str, Any]:
        body: dict[str, Any] = {
            "event": record.event,
            "jobs": [self._job(job) for job in record.jobs],
            "place": self._places(record.nodes),
            "rules": self._rules,
        }
        if record.code:
            body["code"] = record.code
        offering = record.details.get("offering")
        if isinstance(offering, str):
            body["offering"], body["region"] = offering, self._region(record.pool, offering)
        instances = record.details.get("instances")
        if instances and isinstance(instances, Mapping):
            body["instances"] = sorted(instances.values())
        return body

    def _job(self, number: int) -> Mapping[str, Any]:
        job = self._slurm.jobs.get(number) if self._slurm is not None else None
        account = job.account if job is not None else ""
        policy = self._policy.accounts.get(account)
        row: dict[str, Any] = {"job": number, "account": account}
        if account in self._policy.operators:
            return {**row, "class": "operators"}
        if policy is None:
            return {**row, "class": "unknown", "regions": []}
        return {
            **row,
            "class": policy.data_class,
            "regions": [self._policy.region, *policy.regions] if policy.aws else [],
        }

    def _places(self, nodes: tuple[str, ...]) -> list[str]:
        return list(self._by_pool(nodes))

    def _by_pool(self, nodes: tuple[str, ...]) -> Iterator[str]:
        by_pool: dict[str, list[str]] = {}
        for node in nodes:
            pool = self._policy.pool_of(node)
            by_pool.setdefault(f"pool {pool.name}" if pool is not None else "onprem", []).append(node)
        for name, names in sorted(by_pool.items()):
            yield f"{name}: {compress(names)}"

    def _region(self, pool: str, key: str) -> str:
        settings = self._policy.pools.get(pool)
        rows = settings.offerings if settings is not None else ()
        region = next((offering.region for offering in rows if offering.key == key), "")
        return region or self._policy.region


def open_records(config: BurstConfig, failed: Callable[[str, str], None]) -> ResidencyRecords:
    """Open the records of a controller; without a key in the configuration nothing is recorded."""
    if config.records_key is None:
        return ResidencyRecords(None, config.policy, failed)
    # Imported here: without records the daemon does not need the package of the signatures.
    from landbridge.burst.journal.signed_records import RecordsError, SignedRecords, signing_key

    log = None
    try:
        log = SignedRecords(config.state_dir / RECORDS, signing_key(config.records_key.read_text(encoding="utf-8")))
    except (OSError, RecordsError) as error:
        failed("records", str(error))
    return ResidencyRecords(log, config.policy, failed)
