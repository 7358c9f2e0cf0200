"""Runner of Ansible's playbooks for an environment through ansible-runner, with plain events."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from landbridge.environment import Environment
from landbridge.findings import Finding, FindingsError
from landbridge.paths import outputs_file, state_dir
from landbridge.plan.site.ssh_access import uses_session_manager

SITE = Path("ansible/site.yml")
#: Runs whose artifacts are kept.
KEPT = 10


@dataclass(frozen=True)
class TaskStarted:
    """Start of a task for `hosts` hosts of `play`."""

    play: str
    name: str


@dataclass(frozen=True)
class TaskOutcome:
    """Result of a task on one host: ok, changed, failed or unreachable. `message` has the reason of a failure."""

    task: TaskStarted
    host: str
    state: str
    message: str = ""


Event = TaskStarted | TaskOutcome
OnEvent = Callable[[Event], None]


@dataclass(frozen=True)
class Counts:
    """Recap line of one host, as Ansible prints it."""

    ok: int = 0
    changed: int = 0
    failed: int = 0
    unreachable: int = 0

    @property
    def bad(self) -> bool:
        """Return true when a task failed on the host or it could not be reached."""
        return bool(self.failed or self.unreachable)


@dataclass(frozen=True)
class ConfigureResult:
    """Result of a run. `log` is Ansible's whole output."""

    hosts: Mapping[str, Counts]
    failures: tuple[TaskOutcome, ...]
    status: str
    log: Path

    @property
    def successful(self) -> bool:
        """True when Ansible ended well and no host failed."""
        return self.status == "successful" and not any(counts.bad for counts in self.hosts.values())


@dataclass
class _Listener:
    """Translator of ansible-runner's events."""

    on_event: OnEvent
    failures: list[TaskOutcome] = field(default_factory=list)

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
        outcome = TaskOutcome(
            _task(data), str(data.get("host", "")), state, "" if kind == "runner_on_ok" else _reason(result)
        )
        if outcome.message:
            self.failures.append(outcome)
        self.on_event(outcome)


def _task(data: Mapping[str, Any]) -> TaskStarted:
    """Return the task of an event: where hosts proceed independently, the task begun last may be another host's."""
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
    variables: Mapping[str, str] | None = None,
) -> ConfigureResult:
    """Run `playbook` on the hosts of the environment in `path`; `variables` are Ansible's extra ones.

    Raises FindingsError when there is no such playbook above the file, no ansible-playbook beside this Python, or nothing yet
    through which hosts in AWS are reached.
    """
    if uses_session_manager(environment) and not outputs_file(environment.name).exists():
        message = "the services are in AWS, and their instances are not known here"
        fix = f"landbridge up -s {environment.name} builds them, and writes down how they are reached"
        raise FindingsError([Finding("no-outputs", message, ("aws", "services"), fix)])
    import ansible_runner

    root = _project(path, playbook)
    folder = state_dir(environment.name) / "ansible"
    folder.mkdir(mode=0o700, exist_ok=True)
    # ansible-runner keeps a run's options there and would add them to the next one: --check would stay for ever.
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
        rotate_artifacts=KEPT,
    )
    log = Path(str(run.config.artifact_dir)) / "stdout"
    return ConfigureResult(_counts(run.stats), tuple(listener.failures), str(run.status), log)


def _project(path: Path, playbook: Path) -> Path:
    for folder in path.resolve().parents:
        if (folder / playbook).is_file():
            return folder
    raise FindingsError(
        [Finding("no-playbook", f"no {playbook} above {path}", fix="run it from a Landbridge checkout")]
    )


def _variables(root: Path) -> dict[str, str]:
    """Return variables that bind Ansible to this environment: the inventory plugin imports landbridge."""
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
    """Return the recap of each host. `stats` maps Ansible's words to hosts to numbers; there is none when Ansible did
    not get that far.
    """
    stats = stats or {}
    words = {"ok": "ok", "changed": "changed", "failed": "failures", "unreachable": "dark"}
    hosts = sorted({host for word in ("ok", "changed", "failures", "dark") for host in stats.get(word, {})})
    return {
        host: Counts(**{ours: stats.get(theirs, {}).get(host, 0) for ours, theirs in words.items()}) for host in hosts
    }


def _reason(result: Mapping[str, Any]) -> str:
    """Return the reason of a failed task, in Ansible's words and the program's own."""
    parts = [str(result.get(key)).strip() for key in ("msg", "stderr") if result.get(key)]
    parts += [_reason(item) for item in result.get("results", ()) if isinstance(item, dict) and item.get("failed")]
    return "\n".join(dict.fromkeys(part for part in parts if part)) or str(result.get("censored", "failed"))
