"""Collection of a bundle's parts from hosts, and of the texts that must not be in them."""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from landbridge.environment import Environment
from landbridge.ops.logs.window import LogWindow
from landbridge.ops.netcheck.collect import HostFacts, LinkHost, read_host
from landbridge.ops.secrets.cipher import SecretsError
from landbridge.ops.secrets.store import SecretStore
from landbridge.ops.support.jobs import job_programs, restricted_accounts, words_of
from landbridge.ops.support.parts import BundlePart, LeftOut
from landbridge.ops.support.redact import parts_of
from landbridge.ops.support.sources import support_programs
from landbridge.plan.network.hosts import service_hosts

_PROCESS = re.compile(r"\b((?:name|comm|task|Comm:|Process)[=: ]\s*)[^\s,)]+")


@dataclass(frozen=True, slots=True)
class HostParts:
    """Parts of all hosts, the parts that are missing, and the words of restricted jobs."""

    parts: tuple[BundlePart, ...]
    left_out: tuple[LeftOut, ...]
    words: frozenset[str]


def secret_values(store: SecretStore, folder: Path) -> frozenset[str]:
    """Return the values of the store, and the content of every file in this operator's folder. Raises SecretsError."""
    values = list(store.read().values())
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            try:
                values.append(path.read_bytes().decode(errors="replace"))
            except OSError as error:
                raise SecretsError(f"{path}: {error.strerror}") from None
    return frozenset(part for value in values for part in parts_of(value))


def host_parts(environment: Environment, hosts: Sequence[LinkHost], window: LogWindow, seconds: float) -> HostParts:
    """Return the parts of hosts. Logs of hosts are left out if the words of restricted jobs could not be read."""
    programs = {host.name: support_programs(environment, host, window) for host in hosts}
    accounts = restricted_accounts(environment)
    controllers = service_hosts(environment).controllers
    programs_of_host = {
        host.name: {
            **programs[host.name],
            **(job_programs(accounts, window.slurm) if accounts and host.name in controllers else {}),
        }
        for host in hosts
    }
    with ThreadPoolExecutor(max(1, len(hosts))) as pool:
        every = tuple(pool.map(lambda host: _read(host, programs_of_host[host.name], seconds), hosts))
    words, problem = _words(every) if accounts else (frozenset[str](), "")
    parts, left_out = list[BundlePart](), list[LeftOut]()
    for facts in every:
        if facts.error or problem:
            names = programs[facts.host.name] if problem and not facts.error else ["all"]
            left_out += [LeftOut(f"hosts/{facts.host.name}/{name}", facts.error or problem) for name in names]
            continue
        for name in programs[facts.host.name]:
            part = f"hosts/{facts.host.name}/{name}"
            program = facts.data["programs"][name]
            if program["code"] is None:
                left_out.append(LeftOut(part, program["err"]))
            elif program["out"] or program["err"]:
                parts.append(BundlePart(part, without_processes(program["out"] + program["err"]), "host"))
            else:
                left_out.append(LeftOut(part, "empty"))
    return HostParts(tuple(parts), tuple(left_out), words)


def without_processes(text: str) -> str:
    """Return a log without names of processes, which the kernel adds to lines of Xid and of killed processes."""
    return "".join(
        _PROCESS.sub(r"\1[removed]", line) if re.search(r"NVRM|Xid|oom|Killed process|hung_task", line) else line
        for line in text.splitlines(keepends=True)
    )


def _words(every: Sequence[HostFacts]) -> tuple[frozenset[str], str]:
    """Return the words of restricted jobs, and the reason if no controller could give all of them."""
    reasons = []
    for facts in every:
        programs_of_host = {
            name: facts.data.get("programs", {}).get(name) for name in ("restricted jobs", "restricted queue")
        }
        failed = [
            f"{name}: {item['err'].strip()[:200]}"
            for name, item in programs_of_host.items()
            if item and item["code"] != 0
        ]
        if all(item and item["code"] == 0 for item in programs_of_host.values()):
            return frozenset().union(*(words_of(item["out"]) for item in programs_of_host.values() if item)), ""
        reasons += [f"{facts.host.name}: {reason}" for reason in failed]
    reason = "; ".join(reasons) or "no controller answered"
    return frozenset(), f"the words of jobs of restricted classes are not known: {reason}"


def _read(host: LinkHost, programs: Mapping[str, list[str]], seconds: float) -> HostFacts:
    request = {
        "timeout": 1,
        "files": [],
        "tcp": [],
        "dns": [],
        "paths": [],
        "programs": dict(programs),
        "program_timeout": max(1.0, seconds - 5),
    }
    return read_host(host, request, seconds)
