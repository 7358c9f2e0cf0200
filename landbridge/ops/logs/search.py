"""Search on hosts at the same time: entries by time, and the hosts that could not be searched."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from landbridge import hostlist
from landbridge.environment import Environment
from landbridge.ops.logs.query import LogEntry, LogQuery, entries_of, journal_program, slurm_program
from landbridge.ops.netcheck.collect import HostFacts, LinkHost, read_host
from landbridge.ops.netcheck.gateway_facts import GatewayFacts, MissingFactError
from landbridge.plan.network.hosts import hosts


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


def hosts_of_job(environment: Environment, job: int, controller: LinkHost, seconds: float) -> tuple[str, ...]:
    """Return the site's hosts on which a job ran, by accounting. Raises MissingFactError without an answer of Slurm."""
    words = ["sacct", f"--jobs={job}", "--allocations", "--noheader", "--parsable2", "--format=NodeList"]
    facts = _run(controller, {"sacct": words}, seconds)
    if facts.error:
        raise MissingFactError(f"{controller.name}: {facts.error}")
    known = {host.name for host in hosts(environment)}
    names: dict[str, None] = {}
    for line in GatewayFacts(facts.data).parsed("sacct", str.splitlines):
        try:
            names |= dict.fromkeys(hostlist.expand(line.strip()))
        except hostlist.HostlistError:
            continue  # "None assigned" of a job that has not started
    return tuple(name for name in names if name in known)


def _entries(facts: HostFacts, name: str) -> tuple[LogEntry, ...]:
    if facts.error:
        raise MissingFactError(facts.error)
    program = facts.data["programs"][name]
    # journalctl --grep ends with 1 if no entry matches.
    if program["code"] == 1 and not program["out"] and not program["err"].strip():
        return ()
    return GatewayFacts(facts.data).parsed(name, lambda text: tuple(entries_of(facts.host.name, text)))


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
