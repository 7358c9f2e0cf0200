"""Search on hosts at the same time, or in the site's log store: entries by time, and the hosts that could not be searched."""

import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.ops.logs.query import LogEntry, LogQuery, entries_of, journal_program, slurm_program
from landbridge.ops.netcheck.collect import HostFacts, LinkHost, read_host
from landbridge.ops.netcheck.gateway_facts import GatewayFacts, MissingFactError
from landbridge.plan.network.host_role import hosts
from landbridge.plan.roles.log_store import LOG_FOLDER, log_files, log_sources, node_log_sources

#: Time after the end of a job in which its epilog and slurmctld write about it.
_EPILOG_SECONDS = 300


@dataclass(frozen=True, slots=True)
class LogResult:
    """Entries in the order of their time, and by host the reason for which it was not searched."""

    entries: tuple[LogEntry, ...]
    unread: dict[str, str]


def search(query: LogQuery, every: Sequence[LinkHost], seconds: float) -> LogResult:
    """Return the entries of all hosts; each gives at most `query.most`, and the latest ones of all remain."""
    programs = {"journal": journal_program(query), "Slurm's log files": slurm_program(query)}
    with ThreadPoolExecutor(max(1, len(every))) as pool:
        answers = tuple(pool.map(lambda host: _run(host, programs, seconds), every))
    entries, unread = list[LogEntry](), dict[str, str]()
    for facts in answers:
        try:
            for name in programs:
                entries += _entries(facts, name)
        except MissingFactError as error:
            unread[facts.host.name] = str(error)
    return LogResult(tuple(sorted(entries, key=lambda entry: entry.at)[-query.most :]), unread)


def search_store(
    query: LogQuery, environment: Environment, store: LinkHost, names: Collection[str], seconds: float
) -> LogResult:
    """Return the entries of hosts in the log store. An entry that a shipper sent twice is one entry."""
    sources = log_sources(environment)
    files = tuple(f"{LOG_FOLDER}/{log_files(source)}" for name, source in sources.items() if name in names)
    program = journal_program(replace(query, files=files))
    try:
        entries = _entries(_run(store, {"journal": program}, seconds), "journal", of_file=True)
    except MissingFactError as error:
        return LogResult((), {store.name: str(error)})
    ordered = sorted(dict.fromkeys(entries), key=lambda entry: entry.at)
    return LogResult(tuple(ordered[-query.most :]), {})


@dataclass(frozen=True, slots=True)
class RunOfJob:
    """Run of a job: the hosts and nodes with a log, and start and end in seconds since 1970; None if it has not started."""

    hosts: tuple[str, ...]
    span: tuple[int, int] | None


def run_of_job(environment: Environment, job: int, controller: LinkHost, seconds: float) -> RunOfJob:
    """Return hosts and times of a job, by accounting. Raises MissingFactError without an answer of Slurm."""
    words = ["env", "SLURM_TIME_FORMAT=%s", "sacct", f"--jobs={job}", "--allocations", "--noheader", "--parsable2"]
    words.append("--format=NodeList,Submit,End")
    facts = _run(controller, {"sacct": words}, seconds)
    if facts.error:
        raise MissingFactError(f"{controller.name}: {facts.error}")
    known = {host.name for host in hosts(environment)} | set(node_log_sources(environment))
    names: dict[str, None] = {}
    starts, ends = list[int](), list[int]()
    for line in GatewayFacts(facts.data).parsed("sacct", str.splitlines):
        nodes, submitted, ended = (*line.strip().split("|"), "", "")[:3]
        starts += [int(submitted)] if submitted.isdigit() else []
        # A job that runs has no end.
        ends.append(int(ended) if ended.isdigit() else int(time.time()))
        try:
            names |= dict.fromkeys(hostlist.expand(nodes))
        except hostlist.HostlistError:
            continue  # "None assigned" of a job that has not started
    span = (min(starts), max(ends) + _EPILOG_SECONDS) if starts else None
    return RunOfJob(tuple(name for name in names if name in known), span)


def _entries(facts: HostFacts, name: str, *, of_file: bool = False) -> tuple[LogEntry, ...]:
    if facts.error:
        raise MissingFactError(facts.error)
    program = facts.data["programs"][name]
    # journalctl --grep ends with 1 if no entry matches.
    if program["code"] == 1 and not program["out"] and not program["err"].strip():
        return ()
    return GatewayFacts(facts.data).parsed(
        name, lambda text: tuple(entries_of("" if of_file else facts.host.name, text))
    )


def _run(host: LinkHost, programs: Mapping[str, list[str]], seconds: float) -> HostFacts:
    request = {
        "timeout": 1,
        "files": [],
        "tcp": [],
        "dns": [],
        "paths": [],
        "programs": dict(programs),
        "program_timeout": seconds,
    }
    return read_host(host, request, seconds)
