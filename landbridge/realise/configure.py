"""Runner of Ansible playbooks for an environment, based on ansible-runner, with events as plain values."""

import os
import shutil
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from landbridge.environment import Environment
from landbridge.findings import Finding, FindingsError
from landbridge.paths import expand, outputs_file, state_dir
from landbridge.plan.network.hosts import service_hosts
from landbridge.plan.site.ssh_access import uses_session_manager

SITE = Path("ansible/site.yml")
#: Number of runs whose artifacts are kept.
MAX_ARTIFACTS = 10


@dataclass(frozen=True)
class TaskStarted:
    """Start of a task of `play`."""

    play: str
    name: str


@dataclass(frozen=True)
class TaskOutcome:
    """Result of a task on one host: ok, changed, failed or unreachable. `message` has the reason of a failure.

    `seconds` is the task's duration on this host, as Ansible measures it. `removals` has what a run removes there, or would remove.
    """

    task: TaskStarted
    host: str
    state: str
    message: str = ""
    seconds: float = 0.0
    removals: tuple[str, ...] = ()


Event = TaskStarted | TaskOutcome
OnEvent = Callable[[Event], None]


@dataclass(frozen=True)
class Counts:
    """Counts of one host in Ansible's play recap."""

    ok: int = 0
    changed: int = 0
    failed: int = 0
    unreachable: int = 0

    @property
    def bad(self) -> bool:
        """Return whether a task failed on the host or the host could not be reached."""
        return bool(self.failed or self.unreachable)


@dataclass(frozen=True)
class ConfigureResult:
    """Result of a run. `log` is Ansible's whole output; by host, `seconds` has the duration of each task, and `removals` what was removed."""

    hosts: Mapping[str, Counts]
    failures: tuple[TaskOutcome, ...]
    status: str
    log: Path
    seconds: Mapping[str, Mapping[str, float]]
    removals: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def successful(self) -> bool:
        """Return whether Ansible was successful and no host failed."""
        return self.status == "successful" and not any(counts.bad for counts in self.hosts.values())


@dataclass
class _Listener:
    """Handler of ansible-runner's events that converts them to plain values."""

    on_event: OnEvent
    failures: list[TaskOutcome] = field(default_factory=list)
    seconds: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))
    removals: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def __call__(self, event: Mapping[str, Any]) -> bool:
        kind, data = str(event.get("event")), event.get("event_data") or {}
        if kind in ("playbook_on_task_start", "playbook_on_handler_task_start"):
            self.on_event(_task(data))
        elif kind in ("runner_on_ok", "runner_on_failed", "runner_on_unreachable"):
            self._outcome(kind, data)
        return True

    def _outcome(self, kind: str, data: Mapping[str, Any]) -> None:
        result = data.get("res") or {}
        if kind == "runner_on_ok":
            state = "changed" if result.get("changed") else "ok"
        elif kind == "runner_on_failed":
            if data.get("ignore_errors"):
                return
            state = "failed"
        else:
            state = "unreachable"
        reason = "" if kind == "runner_on_ok" else _reason(result)
        seconds, removals = float(data.get("duration") or 0.0), tuple(map(str, result.get("removals", ())))
        outcome = TaskOutcome(_task(data), str(data.get("host", "")), state, reason, seconds, removals)
        if removals:
            self.removals[outcome.host] += removals
        tasks = self.seconds[outcome.host]
        tasks[outcome.task.name] = tasks.get(outcome.task.name, 0.0) + outcome.seconds
        if outcome.message:
            self.failures.append(outcome)
        self.on_event(outcome)


def _task(data: Mapping[str, Any]) -> TaskStarted:
    """Return the task of an event. If hosts proceed independently, the last started task may belong to another host."""
    name, role = str(data.get("task") or ""), str(data.get("role") or "")
    return TaskStarted(str(data.get("play", "")), f"{role} : {name}" if role else name)


def configure(
    environment: Environment,
    path: Path,
    on_event: OnEvent,
    *,
    playbook: Path = SITE,
    limit: str | None = None,
    tags: str | None = None,
    check: bool = False,
    variables: Mapping[str, Any] | None = None,
) -> ConfigureResult:
    """Run `playbook` on the hosts of the environment in `path`; `variables` are Ansible's extra variables.

    Raises FindingsError if no folder above the file or the working directory has the playbook, if this Python's folder has no ansible-playbook,
    if there are no stack outputs yet with which hosts in AWS are reached, or if the private key of the access is not there.
    """
    if uses_session_manager(environment) and not outputs_file(environment.name).exists():
        message = "the services are in AWS, and this machine has no stack outputs with their instances"
        fix = f"landbridge up -s {environment.name} builds them and writes the outputs"
        raise FindingsError([Finding("no-outputs", message, ("aws", "services"), fix)])
    if missing := _missing_key(environment):
        raise FindingsError([missing])
    import ansible_runner

    root = _project(path, playbook)
    folder = state_dir(environment.name) / "ansible"
    folder.mkdir(mode=0o700, exist_ok=True)
    # ansible-runner keeps a run's options there and would add them to later runs: --check would never end.
    shutil.rmtree(folder / "env", ignore_errors=True)
    listener = _Listener(on_event)
    run = ansible_runner.run(
        private_data_dir=str(folder),
        playbook=str(root / playbook),
        inventory=str(path.resolve()),
        limit=limit,
        tags=tags,
        cmdline="--check --diff" if check else None,
        envvars=_variables(root),
        extravars=dict(variables) if variables else None,
        event_handler=listener,
        quiet=True,
        rotate_artifacts=MAX_ARTIFACTS,
    )
    log = Path(str(run.config.artifact_dir)) / "stdout"
    failures = tuple(listener.failures)
    return ConfigureResult(_counts(run.stats), failures, str(run.status), log, listener.seconds, listener.removals)


def _missing_key(environment: Environment) -> Finding | None:
    """Return a finding if the file of the private key does not exist: ssh would try other keys, and every host be unreachable."""
    hosts = service_hosts(environment)
    named = hosts.access.private_key
    if named is None or (key := expand(named)).is_file() or not key.is_absolute():
        return None
    message = f"there is no private key {named} on this machine"
    fix = (
        "write the path of the key with which you log in to the hosts, or leave it out: ssh then uses its default keys"
    )
    section = ("onprem",) if hosts.site == "onprem" else ("aws", "services")
    return Finding("no-private-key", message, (*section, "access", "private_key"), fix)


def _project(path: Path, playbook: Path) -> Path:
    """Return the nearest folder with the playbook, upward from the environment file, then from the working directory."""
    for start in (path.resolve().parent, Path.cwd()):
        for folder in (start, *start.parents):
            if (folder / playbook).is_file():
                return folder
    raise FindingsError(
        [Finding("no-playbook", f"no {playbook} above {path} or this folder", fix="run it from a Landbridge checkout")]
    )


def _variables(root: Path) -> dict[str, str]:
    """Return the environment variables with which Ansible uses this Python: the inventory plugin imports landbridge."""
    programs = Path(sys.executable).parent
    if not (programs / "ansible-playbook").exists():
        finding = Finding(
            "no-ansible", f"no ansible-playbook in {programs}", fix="install landbridge with its dependencies"
        )
        raise FindingsError([finding])
    return {
        "ANSIBLE_CONFIG": str(root / "ansible.cfg"),
        "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}",
    }


def _counts(stats: Mapping[str, Mapping[str, int]] | None) -> dict[str, Counts]:
    """Return the recap counts of each host. `stats`: status -> host -> number; None if Ansible ended before the recap."""
    stats = stats or {}
    words = {"ok": "ok", "changed": "changed", "failed": "failures", "unreachable": "dark"}
    hosts = sorted({host for word in ("ok", "changed", "failures", "dark") for host in stats.get(word, {})})
    return {
        host: Counts(**{field: stats.get(word, {}).get(host, 0) for field, word in words.items()}) for host in hosts
    }


def _reason(result: Mapping[str, Any]) -> str:
    """Return the reason of a failed task: Ansible's message and the program's stderr."""
    parts = [str(result.get(key)).strip() for key in ("msg", "stderr") if result.get(key)]
    parts += [_reason(item) for item in result.get("results", ()) if isinstance(item, dict) and item.get("failed")]
    return "\n".join(dict.fromkeys(part for part in parts if part)) or str(result.get("censored", "failed"))
